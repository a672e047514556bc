"""The verdict in one sentence: who differs, refuses or crashed first, then who agrees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rich.text import Text

from .text import counted, listed, path_tail, sentence, shortened, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..harness.bisection import Bisection
    from ..harness.results import EngineResult, Finding, ModelResult, Result

# Worst first; the verb for one engine and for several.
SAYS: Final[Mapping[str, tuple[str, str]]] = {
    "crashed": ("crashed", "crashed"),
    "timeout": ("gave no answer in time", "gave no answer in time"),
    "differs": ("differs", "differ"),
    "refused": ("refused the model", "refused the model"),
    "unsupported": ("cannot answer", "cannot answer"),
    "absent": ("is absent", "are absent"),
    "agree": ("agrees", "agree"),
}
STYLES: Final[Mapping[str, str]] = {
    "agree": "bold green",
    "differs": "bold red",
    "refused": "bold red",
    "crashed": "bold magenta",
    "timeout": "bold magenta",
    "unsupported": "bold yellow",
    "absent": "bold yellow",
    "not compared": "bold yellow",
    "known": "bold yellow",
    "unusable": "bold yellow",
}
# Of a run over several files: the word for one and for many, in the order in which they are named.
COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "unusable": ("cannot be used", "cannot be used"),
    "not compared": ("could not be compared", "could not be compared"),
    "crashed": ("crashed an engine", "crashed an engine"),
    "timeout": ("kept an engine too long", "kept an engine too long"),
    "differs": ("differs", "differ"),
    "refused": ("is refused", "are refused"),
    "known": ("differs as is known", "differ as is known"),
    "agree": ("agrees", "agree"),
}
MOST_FILES: Final = 4
LABEL_WIDTH: Final = 48


def standing(model: ModelResult) -> str:
    """Return the one word for a model: the worst status, `not compared` when no engine could answer, or `known`."""
    if model.exit == 2:
        return "not compared"
    found = {"known" if result.known else result.status for result in model.engines}
    return next((word for word in ("crashed", "timeout", "differs", "refused", "known") if word in found), "agree")


def model_line(model: ModelResult, width: int = LABEL_WIDTH) -> Text:
    """Return the verdict on one model, its path cut to `width` characters."""
    word, name = standing(model), path_tail(model.label, width)
    others = [r for r in model.engines if r.engine != "reference"]
    if word == "agree" and others and all(r.status == "agree" for r in others):
        names = dict.fromkeys(model.called(r) for r in others)
        engines, where = listed([shown(name) for name in names]), path_words([r.path for r in others])
        said = f"{engines} compute{'s' if len(names) == 1 else ''} this robot as the reference does"
        return _tagged(word).append(f"{name}: {said}, on {where}{_least_digits(others)}.")
    known = sorted({result.known for result in model.engines})  # what counts comes first
    clauses = [clause for status in SAYS for why in known for clause in _clauses(model, status, why)]
    return _tagged(word).append(f"{name}: " + "; ".join(clauses) + ".")


def _least_digits(results: Sequence[EngineResult]) -> str:
    digits = [row.digits for r in results for row in r.quantities if row.quantity == "tau" and row.applies]
    return f"; tau to {floored(min(digits))} digits" if digits else ""


def floored(digits: float) -> str:
    """Return digits of agreement, rounded down: never more than there are."""
    return f"{math.floor(digits * 10) / 10:.1f}"


def overall_line(result: Result) -> Text:
    """Return the verdict on a run: that of its one model, or how many of the files stand how."""
    if len(result.models) == 1 and not result.unusable:
        return model_line(result.models[0])
    names: dict[str, list[str]] = {word: [] for word in COUNTED}
    names["unusable"] = [path_tail(row.file, LABEL_WIDTH) for row in result.unusable]
    for model in result.models:
        names[standing(model)].append(path_tail(model.label, LABEL_WIDTH))
    parts = [_count(word, names[word]) for word in COUNTED if names[word]]
    worst = next((word for word in COUNTED if names[word]), "agree")
    total = sum(map(len, names.values()))
    return _tagged(worst).append(f"of {counted(total, 'file')}, " + "; ".join(parts) + ".")


def _tagged(word: str) -> Text:
    return Text().append(word.upper(), STYLES[word]).append("  ")


def _count(word: str, names: list[str]) -> str:
    verb = COUNTED[word][len(names) > 1]
    return f"{len(names)} {verb}" + ("" if word == "agree" else f" ({listed(names, MOST_FILES)})")


def _clauses(model: ModelResult, status: str, known: str) -> Iterator[str]:
    """Give what is said of the engines with one status that are known alike, one clause for each set of words."""
    groups: dict[str, dict[str, list[EngineResult]]] = {}
    for result in model.engines:
        # That the reference agrees with itself is no news.
        news = status != "agree" or result.engine != "reference"
        if news and (result.status, result.known) == (status, known):
            groups.setdefault(_words(result), {}).setdefault(model.called(result), []).append(result)
    for words, paths in groups.items():
        who = listed([f"{shown(name)} ({path_words([r.path for r in rs], '')})" for name, rs in paths.items()])
        results = [r for rs in paths.values() for r in rs]
        reason = shortened(words, 160 if len(groups) == 1 else 100) if words else _reason(results, model)
        yield f"{who} {_verb(status, results, several=len(paths) > 1)}" + "".join(
            [f": {reason}" if reason else "", f", {sentence(known)}" if known else ""]
        )


def _words(result: EngineResult) -> str:
    """Return an engine's own reason for giving no answer, where no finding has it; notes of other engines are none."""
    silent = result.status not in ("agree", "differs")
    return sentence(result.message) if silent and not _grave([result]) else ""


def _grave(results: Sequence[EngineResult]) -> dict[tuple[str, str | None], Finding]:
    return {(f.kind, f.where): f for r in results for f in r.findings if f.severity != "convention"}


def _verb(status: str, results: Sequence[EngineResult], *, several: bool) -> str:
    """Return what the engines do; one that differs reads another robot when a finding says so."""
    if status != "differs":
        return SAYS[status][several]
    known = any(f.severity == "model" and f.kind != "unexplained" for r in results for f in r.findings)
    verb, what = ("read", "another robot") if known else ("give", "other numbers")
    return f"{verb}{'' if several else 's'} {what}"


def path_words(paths: Sequence[str], the: str = "the ") -> str:
    """Return `the native path`, or `both paths`."""
    return "both paths" if len(set(paths)) > 1 else f"{the}{shown(paths[0])} path"


def _reason(results: Sequence[EngineResult], model: ModelResult) -> str:
    """Return the finding that explains most of why engines do not agree, and how many more there are."""
    grave = _grave(results)
    if not grave:
        return ""
    first = max(grave.values(), key=lambda f: f.explains or 0)
    place = f" at {shown(first.where)}" if first.where else ""
    return f"{first.kind}{place}{located(first, model, ' (', ')')}" + (
        f" and {len(grave) - 1} more" if len(grave) > 1 else ""
    )


def located(item: object, model: ModelResult | Bisection, before: str = "", after: str = "") -> str:
    """Return `before` file:line `after` of a finding or a source; the model's own file goes by its bare name."""
    file, line = getattr(item, "file", None), getattr(item, "line", None)
    if not file:
        return ""
    name = file.replace("\\", "/").rsplit("/", 1)[-1] if file == model.file else file
    return f"{before}{shown(name)}{f':{line}' if line else ''}{after}"
