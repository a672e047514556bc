"""What the page shows, as plain data: a head for all of it, and one part per model, read when it is looked at."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from ...harness.kinds import texts
from ...harness.results import called
from ..reasons import TERMS
from ..text import sentence, shown
from .arrays import array_data, missing_views, parted
from .claims import claims
from .sentence import pair_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...harness.saved import Saved
    from .sentence import Verdict

# Fields that hold sentences: their line breaks are blanks. All other texts are names, shown as they are.
SENTENCES: Final = frozenset({"message", "note", "fix", "reason", "rule", "expected", "found"})
HEAD: Final = ("schema", "command", "exit", "versions", "tolerance", "tolerances")
PAIR: Final = (
    *("files", "status", "matched", "unmatched", "frames_only", "doubtful", "ignored", "together"),
    *("quantities", "findings", "states", "models"),
)


def head(saved: Saved, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return what concerns the whole result: overview, kinds of finding in words, what is not claimed.

    Args:
        saved: the result.
        verdicts: one per model of a check.
    """
    document = saved.document
    data: dict[str, Any] = {key: document[key] for key in HEAD if key in document}
    data |= {"claims": claims(document), "kinds": _kinds(document), "terms": sorted(TERMS)}
    if document["command"] == "diff":
        pair = {key: document[key] for key in PAIR if key in document}
        return visible(data | {"pair": pair, "groups": pair_groups(document)})
    data["overview"] = [_overview(*row) for row in zip(document["models"], verdicts, strict=True)]
    data["unusable"] = document["unusable"]
    data["missing"] = [] if saved.arrays is not None else missing_views()
    return visible(data)


def model_parts(saved: Saved, verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Give what concerns each model of a check, its arrays included."""
    kept = None if saved.arrays is None else parted(saved.arrays, "m")
    for i, (model, verdict) in enumerate(zip(saved.document["models"], verdicts, strict=True)):
        table = [(result["engine"], result["version"]) for result in model["engines"]]
        engines = [{**r, "engine": called(r["engine"], r["version"], table)} for r in model["engines"]]
        data = visible({**model, "engines": engines, "verdict": asdict(verdict)})
        yield data | {"arrays": None if kept is None else array_data(kept.get(i, {}), model["engines"])}


def _overview(model: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    digits = [
        row["digits"]
        for result in model["engines"]
        for row in result["quantities"]
        if row["quantity"] == "tau" and row["applies"]
    ]
    return {
        "file": model["file"] or model["name"],
        "name": model["name"],
        **asdict(verdict),
        "digits": min(digits, default=None),
        "findings": sum(f["severity"] != "convention" for result in model["engines"] for f in result["findings"]),
        "lint": len(model["lint"]),
        **{key: model[key] for key in ("format", "base", "bodies", "nv", "total_mass")},
    }


def _kinds(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of every kind that occurs, in the order of the list of kinds."""
    found = {f["kind"] for f in _findings(document)}
    return {
        kind: {
            "severity": text.severity,
            "means": text.means,
            "numbers": text.numbers,
            "causes": dict(text.causes),
            "fix": text.fix,
        }
        for kind, text in texts().items()
        if kind in found
    }


def _findings(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from document.get("findings", ())
    for model in document["models"]:
        yield from model.get("lint", ())
        for result in model.get("engines", ()):
            yield from result["findings"]


def visible(value: Any, key: str = "") -> Any:
    """Return data in which every text shows what it holds: signs that hide or turn text stand as their escapes."""
    if isinstance(value, dict):
        return {_shown(name): visible(item, name) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible(item, key) for item in value]
    if isinstance(value, str):
        return sentence(value) if key in SENTENCES else _shown(value)
    return value


def _shown(text: str) -> str:
    # Nearly every text is printable as it is, and there are many.
    return text if text.isprintable() else shown(text)
