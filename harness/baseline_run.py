"""Freeze a model, and check one against what was frozen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import registry
from .baseline import Baseline, rounded, terms
from .baseline_changes import against, as_frozen, renewed
from .bench import mjcf_reader
from .errors import RequestError
from .known import excused
from .load import open_model
from .request import PATHS
from .run import check_files
from .states import States, sample

if TYPE_CHECKING:
    from .request import Request
    from .results import Result
    from .tree import Tree


def freeze(file: str, request: Request) -> tuple[Result, Baseline | None]:
    """Return the check of a file at few states, and its baseline; None where an engine or the file gave no answers.

    Raises:
        HarnessError: the file cannot be read, or the request cannot be met.
    """
    states = request.states
    if not isinstance(states, States):
        states = rounded(sample(_tree(file, request), states, request.seed))
    asked = replace(request, engines=terms(request) or _installed(), states=states, answers=True)
    result = check_files([file], asked)
    sound = not result.unusable and all(model.exit < 2 for model in result.models)
    return result, Baseline.of(result, states, asked) if sound else None


def check_against(file: str, baseline: Baseline, name: str, request: Request) -> tuple[Result, Baseline | None]:
    """Return the check of a file at the states of a baseline, with what changed; and the baseline as it would be now.

    Args:
        file: the model.
        baseline: what was frozen; it says engines, path and base.
        name: of the baseline's file.
        request: its engines, when there are any, are some of the frozen ones, perhaps in other versions; path, base and
            states are those of the baseline.

    Raises:
        HarnessError: the file cannot be read, or the request cannot be met.
    """
    frozen = [str(term) for term in baseline.request["engines"]]
    wanted = terms(request)
    for term in wanted:
        if not any(baseline.counterpart(f"{term} {path}") for path in PATHS):
            raise RequestError(f"{name} holds no answers of {term}; it has those of {', '.join(frozen)}")
    asked = replace(
        request,
        engines=wanted or frozen,
        path=baseline.request["path"],
        base=baseline.request["base"],
        answers=True,
    )
    states = baseline.fitted(_tree(file, asked))
    asked = replace(asked, states=states)
    result = check_files([file], asked)
    if result.unusable:
        return result, None
    compared = against(result, baseline, name, asked)
    if any(model.exit > 1 for model in result.models) or compared.baseline is None or compared.baseline.exit > 1:
        return compared, None
    return compared, renewed(baseline, Baseline.of(result, states, asked), compared.baseline)


def accepted(result: Result) -> Result:
    """Return a result whose changes have been taken over into the baseline."""
    if result.baseline is None:
        return result
    file = result.baseline.file
    models = tuple(excused(model, [as_frozen(engine, file) for engine in model.engines]) for model in result.models)
    return replace(result, models=models, baseline=replace(result.baseline, accepted=True))


def _tree(file: str, request: Request) -> Tree:
    return open_model(file, request.base, mjcf_reader(request.limits)).tree


def _installed() -> list[str]:
    """Return the engines that are installed, the reference left out."""
    return [name for name, version in registry.engines().items() if version is not None and name != "reference"]
