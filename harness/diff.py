"""Are two files the same robot? The same findings as between file and engine, with both lines and nobody at fault."""

from __future__ import annotations

import math
import platform
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import registry
from .checks.agreement import agreement
from .checks.truth import Truth
from .depth import joints_in_a_row
from .diagnosis.beside import beside
from .diagnosis.closure import Closed, close, finding_of
from .diagnosis.compare import compare
from .diagnosis.diagnose import observe
from .diagnosis.difference import patched
from .diagnosis.matching import match
from .diagnosis.representation import both_alone, representation
from .diagnosis.translate import Translated
from .diff_result import DiffResult, compared
from .errors import RequestError
from .findings import KINDS, Finding, finding
from .fixes import advice
from .kinds import unknown
from .load import BASES, open_model
from .name_map import require_map
from .results import off_by
from .states import States, require_memory, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from .diagnosis.difference import Difference
    from .diagnosis.matching import Matching
    from .results import QuantityRow
    from .tree import Tree

__all__ = ["DiffResult", "diff"]

NO_MAP: Final[Mapping[str, str]] = {}


def diff(
    a: Any,
    b: Any,
    *,
    base: str = "auto",
    names: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    states: int = 64,
    seed: int = 0,
    tolerance: float = 1e-9,
    read_mjcf: Callable[[str], Tree] | None = None,
) -> DiffResult:
    """Compare two models, each a path, a `Tree` or a live model of an engine.

    Args:
        a: the one that is taken as expected.
        b: the other.
        base: "auto", "fixed" or "free", for both.
        names: joint or body names of `a` to those of `b`, where they cannot be found by name or structure.
        ignore: kinds of finding that do not count; "unexplained" always does.
        states: how many frozen states of `a` are drawn.
        seed: of the draw.
        tolerance: relative; below it two parameters are the same.
        read_mjcf: reads an MJCF file, in another process; None reads it in this one.

    Raises:
        ReadError: a file cannot be used.
        RequestError: a name or kind does not exist, a kind cannot be ignored, or an option is out of range.
    """
    _require(base, ignore, tolerance)
    ours, theirs = open_model(a, base, read_mjcf).tree, open_model(b, base, read_mjcf).tree
    with np.errstate(all="ignore"):  # a number beyond all doubles is a difference, not a warning
        return _compared(ours, theirs, names or NO_MAP, ignore, states, seed, tolerance)


def _compared(
    ours: Tree,
    theirs: Tree,
    names: Mapping[str, str],
    ignore: Collection[str],
    states: int,
    seed: int,
    tolerance: float,
) -> DiffResult:
    """See `diff`."""
    require_map(names, ours, theirs)
    matching = match(ours, theirs, names)
    comparison = compare(ours, theirs, matching, tolerance, static=True)
    found = (*comparison.differences, *beside(ours, theirs, matching, comparison.nodes, tolerance))
    put_in, start = _ignored(ours, found, ignore)
    rest = [d for d in found if d not in put_in]
    for tree in (ours, theirs):
        require_memory(tree, states)
    drawn = sample(ours, states, seed)
    # Every joint on the way to a body may depart by the tolerance: what comes out may depart by all of them.
    allowed = tolerance * (1 + joints_in_a_row(ours))
    other = Translated(start, theirs, comparison.nodes, _reference())
    rows, closed = _measured(start, other, _shared(drawn, matching), rest, allowed)
    sides = both_alone(ours, theirs, matching, found)
    told = [*put_in, *representation(ours, theirs, matching, sides)]
    reasons = [
        *(_finding(d, share, ours) for d, share in zip(rest, closed.shares, strict=True)),
        *_unexplained(rest, rows, closed, ours, allowed),
        *(_finding(d, None, ours) for d in told),
    ]
    reasons.sort(key=lambda f: (f.severity != "model", -(f.explains or 0.0)))
    counted = any(f.severity != "convention" and f.kind not in ignore for f in reasons)
    return DiffResult(
        models=(compared(ours), compared(theirs)),
        versions={
            "tautology": registry.engines()["reference"] or "0",
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        status="differs" if counted else "agree",
        matched=_matched(ours, theirs, matching),
        unmatched={"a": sides[0].lacking, "b": sides[1].lacking},
        frames_only={"a": sides[0].frames, "b": sides[1].frames},
        doubtful=tuple(ours.joints[i].name for i in sorted(matching.doubtful)),
        states={"count": len(drawn), "seed": seed, "sha256": drawn.sha256, "strata": dict(drawn.counts)},
        rows=rows,
        reasons=tuple(reasons),
        together=closed.together,
        tolerance=tolerance,
        ignored=tuple(dict.fromkeys(ignore)),
    )


def _require(base: str, ignore: Collection[str], tolerance: float) -> None:
    """Check the options.

    Raises:
        RequestError: one is out of range.
    """
    if base not in BASES:
        raise RequestError(f"base {base!r} is not one of {', '.join(BASES)}")
    if not 0 < tolerance < 1:
        raise RequestError(f"tolerance {tolerance} is not between 0 and 1")
    for kind in ignore:
        if kind not in KINDS:
            raise unknown(kind)
        if kind == "unexplained":  # any two robots would be the same
            raise RequestError("'unexplained' cannot be ignored: it is whatever no other kind accounts for")


def _reference() -> Any:
    from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

    return Reference


def _ignored(ours: Tree, found: Sequence[Difference], ignore: Collection[str]) -> tuple[list[Difference], Tree]:
    """Return the ignored differences and our tree with them put in; none, where that changes the coordinates."""
    some = [d for d in found if d.kind in ignore]
    tree = patched(ours, some)
    if tree.dofs != ours.dofs or len(tree.bodies) != len(ours.bodies):
        return [], ours
    return some, replace(tree, home=ours.home)


def _shared(states: States, matching: Matching) -> States:
    """Return the states without the wrenches on bodies that the other robot does not have."""
    wrenches = states.wrenches.copy()
    wrenches[:, [i for i in range(wrenches.shape[1]) if i not in matching.bodies]] = 0
    return replace(states, wrenches=wrenches)


def _measured(
    tree: Tree, other: Translated, drawn: States, found: Sequence[Difference], allowed: float
) -> tuple[tuple[QuantityRow, ...], Closed]:
    """Return how far the dynamics of two robots are apart, and how much of that each difference explains."""
    make = _reference()
    truth = Truth(tree, drawn, make(tree, np.longdouble), make(tree))
    rows = agreement(other, truth, drawn, "native", allowed)
    return rows, close(tree, found, observe(other, tree, drawn, truth.scale_of), make, files=True)


def _finding(difference: Difference, share: float | None, tree: Tree) -> Finding:
    advised = advice(
        difference.kind,
        where=difference.where,
        format=tree.origin.format,
        expected=difference.expected,
        found=difference.found,
        unit=difference.unit,
        source=difference.source,
    )
    return finding_of(difference, share, advised, engine=False)


def _unexplained(
    found: Sequence[Difference], rows: Sequence[QuantityRow], closed: Closed, tree: Tree, allowed: float
) -> list[Finding]:
    """Return what stays without a reason: a residual that closure leaves, or a failed row when nothing was found."""
    left = closed.left
    failed = [row for row in rows if not row.passed]
    if left.ratio > allowed:
        ratio, where = left.ratio, left.where
        words = f"{left.quantity} {off_by(left.error, left.state, still=True)} after every difference was put in"
    elif failed and not found:
        worst = max(failed, key=lambda row: row.error / row.tolerance if 0 < row.tolerance < math.inf else math.inf)
        ratio, where = worst.error / worst.scale if 0 < worst.scale < math.inf else math.inf, worst.where
        words = f"{worst.quantity} {off_by(worst.error, worst.state)}, though no parameter differs"
    else:
        return []
    joint = tree.joint_index.get((where or "").partition(",")[0].partition(".")[0])
    source = tree.joints[joint].source() if joint else None
    return [
        finding("unexplained", source, where=where, expected=allowed, found=ratio, unit="1", explains=0.0, fix=words)
    ]


def _matched(a: Tree, b: Tree, matching: Matching) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the names of what was matched."""
    joints = tuple((a.joints[i].name, b.joints[j].name) for i, j in sorted(matching.joints.items()))
    bodies = tuple((a.bodies[i].name, b.bodies[j].name) for i, j in sorted(matching.bodies.items()) if i)
    return {"joints": joints, "bodies": bodies}
