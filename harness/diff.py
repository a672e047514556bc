"""Are these two files the same robot? The same findings as between file and engine, with both lines and nobody at fault."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import registry
from .checks.agreement import agreement
from .checks.truth import Truth
from .diagnosis.closure import close, finding_of
from .diagnosis.compare import compare
from .diagnosis.diagnose import observe
from .diagnosis.matching import match
from .diagnosis.translate import Translated
from .errors import RequestError
from .findings import KINDS, Finding, finding
from .fixes import fix
from .load import open_model
from .results import QuantityRow, plain, to_text
from .states import sample

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd

    from .diagnosis.difference import Difference
    from .diagnosis.matching import Matching
    from .tree import Tree


@dataclass(frozen=True)
class DiffResult:
    """The answer of `diff`.

    Attributes:
        files: the two names.
        versions: that the answer depends on.
        status: "agree" or "differs".
        matched: pairs of joint names and of body names, ours first.
        unmatched: names of joints and bodies that have no match, by side "a" and "b".
        quantities: the dynamics of B against those of A at the same states.
        reasons: the differences, most telling first.
        ignored: kinds that were asked to be left out of the verdict.
    """

    files: tuple[str, str]
    versions: Mapping[str, str]
    status: str
    matched: Mapping[str, tuple[tuple[str, str], ...]]
    unmatched: Mapping[str, tuple[str, ...]]
    quantities: tuple[QuantityRow, ...]
    reasons: tuple[Finding, ...]
    ignored: tuple[str, ...] = ()

    @property
    def exit(self) -> int:
        """Exit code of the command: 0 the same robot, 1 not."""
        return int(self.status != "agree")

    @property
    def verdict(self) -> str:
        """The status."""
        return self.status

    @property
    def findings(self) -> pd.DataFrame:
        """One row per difference."""
        # Pandas takes as long to import as both engines: it is loaded when a frame is asked for.
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame([asdict(reason) for reason in self.reasons])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document of the schema tautology/1 as plain Python."""
        return {
            "schema": "tautology/1",
            "command": "diff",
            "exit": self.exit,
            "versions": dict(self.versions),
            "files": list(self.files),
            "status": self.status,
            "matched": {what: [list(pair) for pair in pairs] for what, pairs in self.matched.items()},
            "unmatched": {side: list(names) for side, names in self.unmatched.items()},
            "quantities": [plain(asdict(row)) for row in self.quantities],
            "findings": [plain(asdict(reason)) for reason in self.reasons],
            "ignored": list(self.ignored),
        }

    def dumps(self) -> str:
        """Return the JSON text."""
        return to_text(self.to_json())


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
) -> DiffResult:
    """Compare two models, each a path, a `Tree` or a live model of an engine.

    Args:
        a: the one that is taken as expected.
        b: the other.
        base: "auto", "fixed" or "free", for both.
        names: joint or body names of `a` to those of `b`, where they cannot be found by name or structure.
        ignore: kinds of finding that do not count.
        states: how many frozen states of `a` are drawn.
        seed: of the draw.
        tolerance: relative; below it two parameters are the same.

    Raises:
        ReadError: a file cannot be used.
        RequestError: a name or kind does not exist.
    """
    from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

    unknown = sorted(set(ignore) - set(KINDS))
    if unknown:
        raise RequestError(f"there is no kind {', '.join(unknown)}; kinds are {', '.join(KINDS)}")
    ours, theirs = open_model(a, base).tree, open_model(b, base).tree
    matching = match(ours, theirs, names)
    comparison = compare(ours, theirs, matching, tolerance, static=True)
    drawn = sample(ours, states, seed)
    other = Translated(ours, theirs, comparison.nodes, Reference)
    truth = Truth(ours, drawn, Reference(ours, np.longdouble), Reference(ours))
    rows = agreement(other, truth, drawn, "native", tolerance)
    observed = observe(other, ours, drawn, truth.scale_of)
    closed = close(ours, comparison.differences, observed, Reference)
    reasons = [
        finding_of(d, share, _fix(d, ours), engine=False)
        for d, share in zip(comparison.differences, closed.shares, strict=True)
    ]
    if closed.left.ratio > tolerance:
        left = closed.left
        reasons.append(
            finding(
                "unexplained",
                where=left.where,
                expected=tolerance,
                found=left.ratio,
                unit="1",
                explains=0.0,
                fix=f"{left.quantity} is still off by {left.error:.3g} in state {left.state} after every difference was"
                " put in",
            )
        )
    reasons.sort(key=lambda f: (f.severity != "model", -(f.explains or 0.0)))
    counted = [f for f in reasons if f.severity != "convention" and f.kind not in ignore]
    return DiffResult(
        (ours.origin.path or ours.name, theirs.origin.path or theirs.name),
        {
            "tautology": registry.engines()["reference"] or "0",
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "differs" if counted else "agree",
        _matched(ours, theirs, matching),
        _unmatched(ours, theirs, matching),
        rows,
        tuple(reasons),
        tuple(ignore),
    )


def _fix(difference: Difference, tree: Tree) -> str:
    return fix(
        difference.kind,
        where=difference.where,
        format=tree.origin.format,
        engine=None,
        expected=difference.expected,
        found=difference.found,
        unit=difference.unit,
        source=difference.source,
    )


def _matched(a: Tree, b: Tree, matching: Matching) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the names of what was matched."""
    joints = tuple((a.joints[i].name, b.joints[j].name) for i, j in sorted(matching.joints.items()))
    bodies = tuple((a.bodies[i].name, b.bodies[j].name) for i, j in sorted(matching.bodies.items()) if i)
    return {"joints": joints, "bodies": bodies}


def _unmatched(a: Tree, b: Tree, matching: Matching) -> dict[str, tuple[str, ...]]:
    """Return the joints with a dof, and the bodies, that have no match."""
    pairs = {"a": (a, set(matching.bodies)), "b": (b, set(matching.bodies.values()))}
    return {
        side: tuple(
            name
            for i, body in enumerate(tree.bodies)
            if i and i not in held
            for name in ([body.joint.name] if body.joint.nv else []) + [body.name]
        )
        for side, (tree, held) in pairs.items()
    }
