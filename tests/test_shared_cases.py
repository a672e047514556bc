"""All of the cases beside the checkout: status, finding, place, line and number of every expectation.

`tautology check` and `tautology diff` answer, each at the state of the case among others. `differs` means that the
number found is not the expected one: where only another call, another order or an open coupling makes it so, the
finding is a convention and the robot agrees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from case_numbers import ANSWERS, Side, in_words_of, numbers
from shared_cases import (
    UNFUSED,
    Expectation,
    alone,
    checked,
    differed,
    expectations,
    opened,
    row,
    session,
)

from tautology.adapters.reference import Reference
from tautology.harness import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# Entries whose difference we tell by another kind or at another place: the tensor of a merged link as turned, since it
# keeps its moments; the sign of a call of Drake once, at its first joint; gravity that PyBullet turns at the root link
# whose inertial frame turns it, and there once; a tensor at its link and not at the joint where it shows in M; a
# floating root on a link without inertia as the base that is fixed. Their numbers are those of the entry.
TOLD_OTHERWISE = {
    **{("02-fused-fixed-child", n): ("inertia.rotation", "tool", 14) for n in (7, 8)},
    ("22-gravity", 3): ("gravity.sign", "sway", 3),
    ("01-inertial-rotated", 9): ("inertia.value", "upper", 7),
    **{("04-root-mass", n): ("gravity.direction", "torso", 4) for n in (7, 8)},
    ("25-planar-floating", 22): ("base.fixed_or_free", "drift", 17),
}
COMPARED = ("tau", "bias", "gravity", "mass_matrix")


def entries() -> Iterator[Any]:
    """Yield every entry, with the reason where it has to wait."""
    found = False
    for case in expectations():
        found, reason = True, waits(case)
        marks = [pytest.mark.skip(reason=reason)] if reason else [pytest.mark.slow] if case.version else []
        yield pytest.param(case, id=case.name, marks=marks)
    if not found:
        absent = pytest.mark.skip(reason="there is no folder ../shared/cases beside the checkout")
        yield pytest.param(None, id="absent", marks=absent)


def waits(case: Expectation) -> str:
    """Return what an entry waits for, an engine that is not here, or an empty string."""
    card = registry.card_of(case.engine)
    return "" if registry.version(card) else f"{card.name} is not installed: {card.install}"


@pytest.mark.parametrize("case", list(entries()))
def test_expectation_holds(case: Expectation) -> None:
    """The command says what the case says, and the numbers are as measured."""
    entry = case.entry
    if not checked(case)["models"]:
        malformed(case)
    elif entry["status"] == "refused":
        refused(case)
    elif case.command == "diff" and entry["file"] != case.first and entry.get("finding") != "feature.ignored":
        compared(case)
    else:
        answered(case)


def malformed(case: Expectation) -> None:
    """Our importer refuses the file at the place of the entry; the engine, asked alone, refuses or accepts it."""
    entry, (refusal,) = case.entry, checked(case)["unusable"]
    if "finding" in entry:
        assert (refusal["where"], refusal["line"]) == (entry.get("where"), entry.get("line"))
    if entry["status"] == "refused":
        assert refusal["kind"] == entry["finding"]
    if case.engine == "reference":
        return
    found = alone(case)
    assert found["status"] == entry["status"]
    assert entry.get("message", "") in found["message"]
    if "quantity" in entry:
        name, _, place = entry["quantity"].removesuffix("]").partition("[")
        value = found[name][place.partition(",")[0]] if place else found[name]
        same(value, entry["found"], entry["tolerance"])


def refused(case: Expectation) -> None:
    """The engine refuses in its words, at the place; a mesh that MuJoCo cannot read is taken out, and said to be."""
    result = row(case)
    placed(case, result["findings"])
    if case.entry["finding"] == "refused.mesh":
        assert result["status"] == "agree"
        says = in_words_of(case.engine).get("refuses", refused_by_mujoco)
        assert case.entry["message"] in says(case.file)
    else:
        assert result["status"] == "refused"
    assert case.entry["message"] in result["message"]


def refused_by_mujoco(file: Path) -> str:
    """Return why MuJoCo alone would not load a file."""
    import mujoco  # noqa: PLC0415  no engine is needed to collect the cases

    with pytest.raises(ValueError, match=r".") as refusal:
        mujoco.MjModel.from_xml_path(str(file))
    return str(refusal.value)


def compared(case: Expectation) -> None:
    """The two files differ in that place, and the engine has the same two numbers."""
    result = differed(case.folder / case.first, case.file)
    assert result.status == "differs"
    # The line is that of the file of the entry, which says what was found.
    findings = [{**f, "line": f["other_line"] or f["line"]} for f in result.to_json()["findings"]]
    placed(case, findings)
    number(case)


def answered(case: Expectation) -> None:
    """The engine loads the file; its answers, its findings and its numbers are those of the entry."""
    result, entry = row(case), case.entry
    kinds = {f["kind"]: f["severity"] for f in result["findings"]}
    assert "unexplained" not in kinds
    placed(case, result["findings"])
    if "quantity" in entry:
        number(case)
    else:
        agrees(case)
    if "finding" in entry and not case.options and entry["status"] == "differs":
        assert result["status"] == "differs" or kinds[entry["finding"]] == "convention"


def placed(case: Expectation, findings: Sequence[Mapping[str, Any]]) -> None:
    """The finding of the entry stands at its place, on its line where one is given."""
    entry = case.entry
    if "finding" in entry:
        found = [(f["kind"], f["where"], f["line"] if "line" in entry else None) for f in findings]
        usual = (entry["finding"], entry.get("where"), entry.get("line"))
        assert TOLD_OTHERWISE.get((case.folder.name, case.number), usual) in found


def agrees(case: Expectation) -> None:
    """M, gravity, bias and tau agree in all states, and at the state of the case to the tolerance of the entry."""
    entry, path = case.entry, case.entry["path"]
    for quantity in row(case)["quantities"]:
        assert quantity["passed"] or quantity["quantity"] not in COMPARED
    tree = opened(case.file, case.base).tree
    fused = case.options != UNFUSED
    engine = session(case.file, case.engine, path, case.base, fused=fused, version=case.version)
    assert engine.dofs == tree.dofs
    one, two = (Side(x, tree, case) for x in (Reference(tree), engine))
    atol = entry.get("tolerance", 1e-9)
    for name in ANSWERS:
        np.testing.assert_allclose(two.answer(name), one.answer(name), rtol=0, atol=atol, err_msg=name)


def number(case: Expectation) -> None:
    """The quantity is what was expected on the one side and found on the other."""
    entry = case.entry
    expected, found = numbers(case)
    same(expected, entry["expected"], entry.get("tolerance", 0))
    same(found, entry["found"], entry.get("tolerance", 0))


def same(value: Any, wanted: Any, tolerance: float) -> None:
    """Names are equal, numbers are so to the tolerance."""
    if isinstance(wanted, str):
        assert value == wanted
    elif isinstance(wanted, list) and isinstance(wanted[0], str):
        assert list(value) == wanted
    else:
        # The numbers of the cases are written with twelve digits.
        np.testing.assert_allclose(value, wanted, rtol=5e-12, atol=tolerance)
