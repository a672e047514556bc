"""The JSON Schema holds for every document that is written, and names every field of it."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import wrong_adapters
from jsonschema import Draft202012Validator
from sample_documents import DOCUMENTS

import tautology
from tautology import models
from tautology.harness import schema
from tautology.harness.request import Request
from tautology.harness.results import QUANTITIES
from tautology.harness.saved import Saved
from tautology.harness.selftest import selftest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def closed(part: Any) -> Any:
    """Return a schema in which no object may have a field that is not described."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    made = {key: closed(value) for key, value in part.items()}
    if part.get("type") == "object" and "properties" in part and "required" in part and "allOf" not in part:
        made["additionalProperties"] = False
    return made


def strict(command: str) -> Draft202012Validator:
    """Return a validator for the documents of one command, closed at every level."""
    whole = closed(schema.document())
    whole["$defs"][command] |= {"unevaluatedProperties": False, "type": "object"}
    return Draft202012Validator({"$ref": f"#/$defs/{command}", "$defs": whole["$defs"]})


def faults(document: dict[str, Any]) -> list[str]:
    """Return what the open schema and the closed one have against a document."""
    validators = (Draft202012Validator(schema.document()), strict(document["command"]))
    return [f"{error.json_path}: {error.message[:200]}" for v in validators for error in v.iter_errors(document)]


def test_the_schema_is_one() -> None:
    """It keeps the rules of its own language, and ships in the package."""
    Draft202012Validator.check_schema(schema.document())
    assert files("tautology.harness.schema").joinpath(schema.NAME).is_file()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_made_results_keep_it(name: str) -> None:
    """However a check or a comparison ends: agree, differs, refused, crashed, unusable, without a dof."""
    assert faults(DOCUMENTS[name].document) == []


@pytest.mark.parametrize("file", ["desk_lamp.urdf", "tau_walker.xml", "horizontal_rod.urdf", "tau_tree.xml"])
def test_real_checks_keep_it(file: str) -> None:
    """With the trees that engines hold, arrays or not."""
    assert faults(Saved.of(tautology.check(models.path(file), states=8)).document) == []


@pytest.mark.parametrize(("engine", "status"), [("silent", "cannot"), ("sign", "wrong")])
def test_real_selftests_keep_it(engine: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an engine that holds not all, and of one that is wrong."""
    wrong_adapters.known((engine,), tmp_path, monkeypatch)
    document = selftest(engine, Request(in_process=True)).to_json()
    assert status in {row["status"] for row in document["specimens"]}
    assert faults(document) == []


def test_a_live_model_keeps_it() -> None:
    """It is in no file, and has no hash."""
    mujoco = pytest.importorskip("mujoco")
    live = mujoco.MjModel.from_xml_path(str(models.path("tau_arm.xml")))
    document = Saved.of(tautology.check(live, states=4)).document
    assert document["models"][0]["file"] is None
    assert faults(document) == []


@pytest.mark.parametrize(("a", "b"), [("tau_arm.urdf", "tau_arm.xml"), ("desk_lamp.urdf", "planar_arm.urdf")])
def test_real_comparisons_keep_it(a: str, b: str) -> None:
    """The same robot, and another one."""
    assert faults(Saved.of(tautology.diff(models.path(a), models.path(b), states=8)).document) == []


def test_the_files_that_a_command_writes_keep_it(tmp_path: Path) -> None:
    """Also the field that names the side file; a file that cannot be used stands in it."""
    (tmp_path / "bad.urdf").write_text("<robot", encoding="utf-8")
    command = [sys.executable, "-m", "tautology", "check", str(models.path("planar_arm.urdf")), "bad.urdf", "--quiet"]
    ran = subprocess.run([*command, "--json", "r.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert document["arrays"]["file"] == "r.arrays.npz"
    assert document["unusable"]
    assert faults(document) == []


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to every field of a document."""
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at the end of a way."""
    for key in path:
        document = document[key]
    return document


FREE = {"known", "notes", "tree", "snippet", "other_snippet", "merged"}  # fields that may be absent
NAMED = {"versions", "strata", "engines", "merged", "together"}  # objects whose keys are names, not fields


@pytest.mark.parametrize("name", ["differing", "a pair"])
def test_every_field_is_needed(name: str) -> None:
    """A document without any one of its fields is refused: the contract says fields are never dropped."""
    document = DOCUMENTS[name].document
    validator = Draft202012Validator(schema.document())
    seen = 0
    for path in places(document):
        named = path[-2] in NAMED if len(path) > 1 else False
        if isinstance(path[-1], int) or path[-1] in FREE or (named and path[-1] != "tautology"):
            continue
        if 1 in path or 2 in path:  # the first of a list stands for all
            continue
        broken = copy.deepcopy(document)
        del at(broken, path[:-1])[path[-1]]
        assert not validator.is_valid(broken), path
        seen += 1
    assert seen > 60


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "tautology/2"),
        (("exit",), 4),
        (("models", 0, "engines", 0, "status"), "fine"),
        (("models", 0, "engines", 0, "quantities", 0, "error"), None),
        (("models", 0, "engines", 0, "quantities", 0, "error"), "-inf"),
        (("models", 0, "engines", 0, "quantities", 0, "digits"), 18),
        (("models", 0, "sha256"), "0"),
        (("models", 0, "base"), "floating"),
        (("models", 0, "states", "strata", "zero"), 1.5),
    ],
)
def test_a_wrong_value_is_refused(path: tuple[Any, ...], value: object) -> None:
    """Words and ranges are held to the contract."""
    document = copy.deepcopy(DOCUMENTS["differing"].document)
    at(document, path[:-1])[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        Draft202012Validator(schema.document()).validate(document)


def test_a_field_of_a_later_version_is_no_fault() -> None:
    """Fields are added: who validates with this schema still takes the document."""
    document = copy.deepcopy(DOCUMENTS["differing"].document)
    document["models"][0]["engines"][0]["new"] = 1
    assert Draft202012Validator(schema.document()).is_valid(document)
    assert not strict("check").is_valid(document)


def test_a_command_of_a_later_version_needs_the_head_alone() -> None:
    """What all documents have: schema, command, exit, versions."""
    validator = Draft202012Validator(schema.document())
    head = {"schema": "tautology/1", "command": "sweep", "exit": 0, "versions": {"tautology": "0.2.0"}}
    assert validator.is_valid(head)
    assert not validator.is_valid({name: value for name, value in head.items() if name != "versions"})


def test_its_quantities_are_those_of_the_code() -> None:
    """Identities and kinds are left open: both grow."""
    named = schema.document()["$defs"]["quantity"]["properties"]["quantity"]["enum"]
    assert named == list(QUANTITIES)
