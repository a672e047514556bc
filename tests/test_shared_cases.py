"""All of the cases beside the checkout: status, finding, place, line and number of every expectation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from case_numbers import ANSWERS, Side, numbers
from shared_cases import (
    DEFAULT,
    UNFUSED,
    Expectation,
    checked,
    differed,
    expectations,
    opened,
    row,
    session,
)

from tautology.adapters.reference import Reference
from tautology.harness.results import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMPARED = ("tau", "bias", "gravity", "mass_matrix")


def entries() -> Iterator[Any]:
    """Yield every entry, with the reason where it has to wait."""
    found = False
    for case in expectations():
        found = True
        reason = waits(case)
        yield pytest.param(case, id=case.name, marks=[pytest.mark.skip(reason=reason)] if reason else [])
    if not found:
        absent = pytest.mark.skip(reason="there is no folder ../shared/cases beside the checkout")
        yield pytest.param(None, id="absent", marks=absent)


def waits(case: Expectation) -> str:
    """Return the step that an entry waits for, or an empty string."""
    if case.engine not in DEFAULT:
        return f"{case.engine} is an engine of step 5"
    if case.version:
        return f"other versions, such as {case.engine} {case.version}, come with the workers of step 4"
    if case.options == "mimic=True":
        return "mimic=True is another call than the adapter's; constrained motion is step 6"
    return ""


@pytest.mark.parametrize("case", list(entries()))
def test_expectation_holds(case: Expectation) -> None:
    """The command says what the case says, and the numbers are as measured."""
    status = case.entry["status"]
    refused = not checked(case)["models"]
    if case.engine == "reference" or refused:
        pytest.xfail("todo")
    if status == "refused":
        return refusal(case)
    if case.command == "diff" and case.entry["file"] != case.first and case.entry.get("finding") != "feature.ignored":
        findings = differed(case.folder / case.first, case.file).to_json()["findings"]
    else:
        findings = row(case)["findings"]
        assert row(case)["status"] in ("agree", "differs"), row(case)["message"]
    placed(case, findings)
    if "quantity" in case.entry:
        number(case)
    elif case.command == "check":
        agreement(case)


def placed(case, findings):
    entry = case.entry
    if "finding" not in entry:
        return
    found = [(f["kind"], f["where"], f["line"]) for f in findings]
    assert (entry["finding"], entry.get("where"), entry.get("line")) in found


def agreement(case):
    for r in row(case)["quantities"]:
        if r["quantity"] in COMPARED:
            assert r["passed"], r


def number(case):
    entry = case.entry
    expected, found = numbers(case)
    for mine, theirs in ((expected, entry["expected"]), (found, entry["found"])):
        if isinstance(theirs, list) and isinstance(theirs[0], str):
            assert list(mine) == theirs
        else:
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=entry["tolerance"])


def refusal(case):
    r = row(case)
    assert r["status"] == "refused"
    assert case.entry.get("message", "") in r["message"]
    placed(case, r["findings"])
