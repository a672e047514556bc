"""What the pytest plugin asks of a model, and how it says what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .run import check
from .settings import Settings, settings

if TYPE_CHECKING:
    from pathlib import Path

    from .results import EngineResult, ModelResult, Result


def checked(model: Any, root: Path, request: dict[str, Any]) -> Result:
    """Return the check of a model under the settings of a project.

    Args:
        model: as for `harness.run.check`.
        root: the folder whose settings hold.
        request: what is asked otherwise than the settings say.

    Raises:
        HarnessError: settings, model or request cannot be used.
    """
    return check_under(settings(root), model, **request)


def check_under(project: Settings, model: Any, **request: Any) -> Result:
    """Return the check of a model under settings that are read already, engines in processes of their own."""
    asked: dict[str, Any] = {"in_process": False, "known": project.known, **project.request, **request}
    return check(model, **asked)


def failure(result: Result) -> str:
    """Return the verdict, and what every engine that counts has against the model, a line each."""
    from ..reports.verdict import model_line  # noqa: PLC0415

    lines: list[str] = []
    for model in result.models:
        lines.append(model_line(model, len(model.label)).plain)
        for engine in model.engines:
            lines += [f"{engine.engine}, {engine.path} path: {line}" for line in reasons(engine, model)]
    return "\n".join(lines)


def reasons(engine: EngineResult, model: ModelResult) -> list[str]:
    """Return what failed in one engine: its findings, else its checks; known differences left out."""
    from ..reports.cases import engine_cases  # noqa: PLC0415

    failed = [case for case in engine_cases(engine, model) if case.outcome in ("failure", "error")]
    told = [case for case in failed if case.text]
    return [line for case in told for line in case.text.splitlines()] or [f"{c.name}: {c.message}" for c in failed]
