"""What may be asked of `check`: every word of a request, at a prompt too."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from tautology import check, models
from tautology.harness.request import Request


def test_check_takes_the_fields_of_a_request() -> None:
    """Name, default and type of each, so that `help(check)` and editors know them; its docstring explains each."""
    wanted = {field.name: (field.default, field.type) for field in dataclasses.fields(Request)}
    _, *given = inspect.signature(check).parameters.values()
    assert {p.name: (p.default, p.annotation) for p in given} == wanted
    assert {p.kind for p in given} == {inspect.Parameter.KEYWORD_ONLY}
    assert [name for name in wanted if f"\n        {name}: " not in (check.__doc__ or "")] == []


def test_what_is_given_is_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No field is left at its default on the way."""
    asked: list[Request] = []

    def note(_model: object, request: Request, _bench: object) -> None:
        asked.append(request)
        raise InterruptedError

    monkeypatch.setattr("tautology.harness.run.gather", lambda *_: ())
    monkeypatch.setattr("tautology.harness.run.check_model", note)
    other = {"engines": ("mujoco",), "path": "native", "base": "free", "states": 3, "seed": 7, "tolerance": 1e-6}
    other |= {"progress": print, "identities": False, "arrays": True, "answers": True, "in_process": False}
    other |= {"timeout": 5.0, "memory": 0, "reasons": False}
    with pytest.raises(InterruptedError):
        check("robot.urdf", **other)
    assert {name: getattr(asked[0], name) for name in other} == other
    assert {field.name for field in dataclasses.fields(Request)} - set(other) == {"known"}


def test_a_misspelt_word_is_named() -> None:
    """By the function that was called."""
    with pytest.raises(TypeError, match=r"check\(\) got an unexpected keyword argument 'state'"):
        check(models.path("tau_arm.urdf"), state=3)
