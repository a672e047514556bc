"""A document gives back what it was made from."""

from __future__ import annotations

import math

import pytest
from sample_documents import DOCUMENTS

import tautology
from tautology import models
from tautology.harness.saved import Saved
from tautology.reports.revived import check_result, diff_result


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_revived_has_the_same_document(name: str) -> None:
    """Nothing is lost on the way there and back, infinities included."""
    document = DOCUMENTS[name].document
    revive = diff_result if document["command"] == "diff" else check_result
    assert revive(document).to_json() == document


def test_a_real_check_comes_back_without_its_trees() -> None:
    """They stay in the document: a result of rows holds none."""
    document = Saved.of(tautology.check(models.path("desk_lamp.urdf"), states=4)).document
    made = check_result(document)
    assert made.models[0].tree is None
    (model,) = document["models"]
    assert made.to_json() == {**document, "models": [{name: part for name, part in model.items() if name != "tree"}]}


def test_a_missing_number_is_infinite() -> None:
    """JSON says "inf"."""
    (model,) = check_result(DOCUMENTS["differing"].document).models
    failed = next(row for row in model.engines[3].quantities if row.quantity == "acceleration")
    assert math.isinf(failed.error)


def test_a_field_of_a_later_version_is_passed_over() -> None:
    """Fields are added."""
    document = {**DOCUMENTS["agreeing"].document, "new": 1}
    document["models"] = [{**document["models"][0], "newer": 2}]
    assert check_result(document).models[0].file == "robots/arm.urdf"
