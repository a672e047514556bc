"""The report as SARIF 2.1.0, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ..harness.results import called
from .sarif_rules import rules
from .text import pair, sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..harness.saved import Saved

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# GitHub takes 25,000 results of one run, and 10 MB of a file after gzip; this is before.
RESULTS: Final = 25_000
BYTES: Final = 9_000_000
INDEX: Final = 24  # bytes that a result grows by when it is told the place of its rule
LEVELS: Final[Mapping[str, str]] = {"model": "error", "refusal": "error", "convention": "note"}
LINT: Final[Mapping[str, str]] = {"model": "warning", "refusal": "warning", "convention": "note"}
ORDER: Final = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class _Told:
    """One finding, and who told it.

    Attributes:
        finding: a row of the document.
        level: of the result.
        who: words before the message, such as the engine.
        names: what the finding is recognized by, beside its kind and its place: the same in the next run.
        known: why it does not count, or "".
        file: of the robot, for a finding that is in no line.
        robot: its name.
    """

    finding: Mapping[str, Any]
    level: str
    who: str
    names: tuple[str, ...]
    file: str | None
    robot: str
    known: str = ""


def sarif(saved: Saved) -> str:
    """Return the JSON text of one run, worst first; what exceeds GitHub's limits is left out and counted."""
    document = saved.document
    told = sorted(_all(document), key=lambda one: ORDER.index(one.level))
    seen: dict[str, int] = {}
    results: list[dict[str, Any]] = []
    room = BYTES
    for one in told[:RESULTS]:
        made = _result(one, seen)
        room -= len(_text(made).encode()) + INDEX
        if room < 0:
            break
        results.append(made)
    notices = list(_notices(document))
    if len(results) < len(told):
        notices.append(
            {
                "level": "warning",
                "message": {"text": f"{len(told) - len(results)} findings more are left out, the least grave of all."},
            }
        )
    described, index = rules({str(one.finding["kind"]) for one in told})
    for made in results:
        made["ruleIndex"] = index[made["ruleId"]]
    invocation = {
        "executionSuccessful": document["exit"] < 2,
        "exitCode": document["exit"],
        "toolExecutionNotifications": notices,
    }
    driver = {
        "name": "tautology",
        "version": document["versions"].get("tautology", ""),
        "rules": described,
        "properties": {"versions": {name: shown(version) for name, version in document["versions"].items()}},
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"tautology/{document['command']}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return _text(log) + "\n"


def _text(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False, allow_nan=False)


def _all(document: Mapping[str, Any]) -> Iterator[_Told]:
    """Give every finding of a document, in its order."""
    if document["command"] == "diff":
        robot = str(document["models"][0]["name"])
        for f in document["findings"]:
            level = "note" if f["kind"] in document["ignored"] else LEVELS[f["severity"]]
            yield _Told(f, level, "", ("diff",), document["models"][0]["file"], robot)
        return
    for row in document["unusable"]:
        named = {**row, "severity": "refusal", "expected": None, "found": row["message"], "fix": "", "unit": ""}
        yield _Told(named, "error", "cannot be used", ("unusable",), row["file"], "")
    for model in document["models"]:
        for f in model["lint"]:
            yield _Told(f, LINT[f["severity"]], "in the file itself", ("lint",), model["file"], model["name"])
        table = [(engine["engine"], engine["version"]) for engine in model["engines"]]
        for engine in model["engines"]:
            names = (called(engine["engine"], engine["version"], table), engine["path"])
            who = f"{shown(engine['engine'])} {shown(engine['version'])}".strip() + f", {shown(engine['path'])} path"
            for f in engine["findings"]:
                known = f.get("known", "")
                level = "note" if known else LEVELS[f["severity"]]
                yield _Told(f, level, who, names, model["file"], model["name"], known)


def _result(one: _Told, seen: dict[str, int]) -> dict[str, Any]:
    f = one.finding
    made: dict[str, Any] = {"ruleId": f["kind"], "level": one.level, "message": {"text": _message(one)}}
    made["locations"] = [_location(f["file"] or one.file, f["line"], f.get("snippet"), f["where"], one.robot)]
    if f.get("other_file"):
        other = _location(f["other_file"], f.get("other_line"), f.get("other_snippet"), None, "")
        made["relatedLocations"] = [{"id": 1, **other, "message": {"text": "what the other file says"}}]
    made["partialFingerprints"] = {"tautology/v1": _fingerprint(one, seen)}
    if one.known:
        made["suppressions"] = [{"kind": "external", "justification": shown(one.known)}]
    made["properties"] = {
        name: _shown(f[name])
        for name in ("severity", "expected", "found", "unit", "explains")
        if f.get(name) is not None
    }
    return made


def _shown(value: Any) -> Any:
    """Return a value of a finding, its words as they may be shown."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return shown(value) if isinstance(value, str) else value


def _message(one: _Told) -> str:
    """Return what differs in a sentence or two, without markup: brackets would be links."""
    f = one.finding
    place = f" at {shown(f['where'])}" if f["where"] else ""
    parts = [f"{f['kind']}{place}" + (f" ({one.who})" if one.who else "")]
    if f["expected"] is not None:
        expected, found = pair(f["expected"], f["found"])
        unit = f" {f['unit']}" if f["unit"] not in ("", "1") and not isinstance(f["found"], str) else ""
        parts.append(f"Expected {expected}{unit}, found {found}{unit}")
    elif f["found"] is not None:
        parts.append(pair(None, f["found"])[1])
    if f.get("explains") is not None:
        parts.append(f"Explains {f['explains']:.1%} of the difference")
    parts += [sentence(words) for words in (f.get("note"), f["fix"] and f"Fix: {f['fix']}") if words]
    text = ". ".join(parts)
    # A link is [words](target); escaped as the standard says.
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _location(file: str | None, line: int | None, snippet: str | None, where: str | None, robot: str) -> dict[str, Any]:
    """Return a place; of a robot that is in no file, its name."""
    location: dict[str, Any] = {}
    if file:
        region: dict[str, Any] = {"startLine": line or 1}
        if snippet:
            region["snippet"] = {"text": snippet}
        location["physicalLocation"] = {"artifactLocation": artifact(file), "region": region}
    if where or not file:
        name = shown(where or robot)
        location["logicalLocations"] = [{"name": name, "fullyQualifiedName": f"{shown(robot)}/{name}"}]
    return location


def artifact(file: str) -> dict[str, str]:
    """Return the URI of a file: relative to the root of the sources where the path is relative, else `file:///...`."""
    windows = PureWindowsPath(file)
    if windows.drive and windows.root:
        return {"uri": "file:///" + quote(windows.as_posix(), safe="/:")}
    path = PurePosixPath(file)
    if path.is_absolute():
        return {"uri": "file://" + quote(str(path))}
    return {"uri": quote(str(path)), "uriBaseId": "%SRCROOT%"}


def _fingerprint(one: _Told, seen: dict[str, int]) -> str:
    """Return what the same finding has in the next run, also when lines above it come or go."""
    f = one.finding
    parts: Sequence[Any] = (f["kind"], f["file"] or one.file, f["where"], f.get("other_file"), *one.names)
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
    seen[key] = seen.get(key, 0) + 1
    return f"{key}:{seen[key]}"


def _notices(document: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Give what kept an engine from answering, where no finding says it."""
    for model in document.get("models", ()):
        for engine in model.get("engines", ()):
            if engine["status"] not in ("crashed", "timeout", "unsupported", "absent"):
                continue
            level = "error" if engine["status"] in ("crashed", "timeout") else "note"
            who = f"{engine['engine']} {engine['version']}, {engine['path']} path, {engine['status']}"
            notice: dict[str, Any] = {"level": level, "message": {"text": sentence(f"{who}: {engine['message']}")}}
            if model["file"]:
                notice["locations"] = [_location(model["file"], None, None, None, "")]
            yield notice
