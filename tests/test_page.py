"""The HTML report as a text: what is in it, what cannot get out of it, how large it is, the same at any time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines_at_hand import CORE
from page_robots import HOSTILE_NAMES, hostile_urdf, repeated
from sample_documents import DOCUMENTS, HOSTILE, saved, with_arrays
from sample_results import agreeing, differing

import tautology
from tautology import models
from tautology.harness.saved import Saved, files_of
from tautology.reports import page
from tautology.reports.page import html
from tautology.reports.page.arrays import array_data, parted
from tautology.reports.page.build import SCRIPTS
from tautology.reports.text import shown

FOLDER = Path(page.__file__).parent
WITHIN = 3_000_000  # [bytes]


class Elements(HTMLParser):
    """The elements of a page: scripts by id with their text, all attributes, the title."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: dict[str | None, str] = {}
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.words: dict[str, str] = {}
        self._open = ""
        self._script: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        self._open = tag
        if tag == "script":
            self._script = dict(attrs).get("id")
            assert self._script not in self.scripts
            self.scripts[self._script] = ""

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if self._open == "script":
            self.scripts[self._script] += data
        elif self._open in ("title", "h1", "bdi"):
            self.words[self._open] = self.words.get(self._open, "") + data

    def handle_endtag(self, _: str) -> None:
        """Close an element."""
        self._open = ""

    def data(self, name: str) -> dict[str, Any]:
        """Return one of the data parts."""
        return json.loads(self.scripts[name])


@pytest.fixture(scope="module")
def lamp() -> Saved:
    """Return a check of the desk lamp, which MuJoCo reads otherwise."""
    return Saved.of(tautology.check(models.path("desk_lamp.urdf"), engines=CORE, states=8, arrays=True))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_page_has_the_same_elements_whatever_the_names(name: str) -> None:
    """No name opens an element or an attribute, or ends one; all data parts are JSON and there once."""
    text = html(DOCUMENTS[name])
    plain, made = Elements(html(DOCUMENTS["nothing"])), Elements(text)
    parts = [f"model-{i}" for i in range(len(DOCUMENTS[name].document["models"]))]
    if DOCUMENTS[name].document["command"] == "diff":
        parts = []
    assert list(made.scripts) == ["head", *parts, None]
    assert [tag for tag in made.tags if tag != "script"] == [tag for tag in plain.tags if tag != "script"]
    assert {(tag, key) for tag, key, _ in made.attributes} == {(tag, key) for tag, key, _ in plain.attributes}
    for part in ("head", *parts):
        assert made.data(part)
        assert not re.search("[<>&]", made.scripts[part])


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_names_are_data(number: int) -> None:
    """What a file calls things comes back as it is, every sign that hides or turns text as its escape."""
    made = Elements(html(DOCUMENTS[f"hostile {number}"]))
    assert made.data("model-0")["name"] == shown(DOCUMENTS[f"hostile {number}"].document["models"][0]["name"])
    assert made.words["title"].partition(": ")[2] == made.words["bdi"]


def test_signs_that_turn_text_around_are_escapes(tmp_path: Path) -> None:
    """No character that a reader cannot see is in the page."""
    (tmp_path / "hostile.urdf").write_text(hostile_urdf(), encoding="utf-8")
    text = html(Saved.of(tautology.check(tmp_path / "hostile.urdf", engines=CORE, states=4, arrays=True)))
    data = "".join(part for name, part in Elements(text).scripts.items() if name)
    assert "\\\\u202eevil" in data
    assert [c for c in data.replace("\n", "") if not c.isprintable()] == []
    bodies = [body["name"] for body in Elements(text).data("model-0")["tree"]["file"]["bodies"]]
    assert [shown(name) for name in HOSTILE_NAMES] == bodies[1:-1]


def test_the_policy_lets_one_script_run_and_nothing_load(lamp: Saved) -> None:
    """The hash is that of the one script; no attribute names an address; no script could end its element."""
    made = Elements(html(lamp))
    (policy,) = [
        value for tag, key, value in made.attributes if tag == "meta" and key == "content" and "src" in str(value)
    ]
    digest = base64.b64encode(hashlib.sha256(made.scripts[None].encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in str(policy).split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    assert {key for _, key, _ in made.attributes} & {"src", "srcset", "action", "onclick", "onload", "onerror"} == set()
    assert [value for _, key, value in made.attributes if key == "href"] == ["#main"]
    assert not re.search(r"</script|<!--|\r|\0", made.scripts[None], re.IGNORECASE)


def test_made_later_it_is_the_same(lamp: Saved, tmp_path: Path) -> None:
    """From the files that a check saves, the page has the same bytes."""
    result = tautology.check(models.path("desk_lamp.urdf"), engines=CORE, states=8, arrays=True)
    text, arrays = files_of(result, "r.arrays.npz")
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    (tmp_path / "r.arrays.npz").write_bytes(arrays)
    assert html(Saved.read(tmp_path / "r.json")) == html(Saved.of(result))
    assert "r.arrays.npz" not in html(Saved.read(tmp_path / "r.json"))
    assert html(lamp) == html(lamp)


def test_a_page_without_arrays_names_the_views_that_are_missing(lamp: Saved) -> None:
    """With them, nothing is missing."""
    assert Elements(html(lamp)).data("head")["missing"] == []
    without = Elements(html(Saved(lamp.document, None)))
    assert "torque by term" in without.data("head")["missing"]
    assert without.data("model-0")["arrays"] is None


def test_thirty_five_dofs_and_five_engines_are_under_three_megabytes() -> None:
    """A free base and 29 joints, 64 states, five engines on both paths beside the reference."""
    robot = Saved.of(tautology.check(models.path("tau_walker.urdf"), engines=CORE, states=4, arrays=True))
    large = of_size(repeated(robot, 1, 64, 5), 35, 45)
    text = html(large)
    data = Elements(text).data("model-0")
    assert len(data["engines"]) == 11
    assert data["arrays"]["engines"][10]["spread"]["poses"]["shape"] == [64, 45]
    assert data["arrays"]["tau"]["shape"] == [64, 35]
    assert len(text.encode()) < WITHIN


def of_size(saved: Saved, nv: int, bodies: int) -> Saved:
    """Return a result whose arrays and trees have so many dofs and bodies, with numbers of full length."""
    rng = np.random.default_rng(0)
    (model,) = saved.document["models"]
    count = model["states"]["count"]

    def shape(key: str, array: np.ndarray) -> tuple[int, ...]:
        if key.endswith("mass_matrix_error"):
            return nv, nv
        if array.ndim == 1:
            return (count,)
        return count, bodies if key.endswith(("poses", "velocities")) else nv

    arrays = {key: rng.uniform(size=shape(key, array)) * 1e-15 for key, array in saved.arrays.items()}
    engines = [
        engine
        | {
            "dofs": [f"left_shoulder_pitch_{i}" for i in range(nv)],
            "bodies": [f"left_arm_link_{i}" for i in range(bodies)],
        }
        for engine in model["engines"]
    ]

    def many(tree: dict[str, Any]) -> dict[str, Any]:
        body, joint = tree["bodies"][-1], tree["joints"][-1]
        body |= {
            "inertia": rng.normal(size=(3, 3)).tolist(),
            "com": rng.normal(size=3).tolist(),
            "mass": float(rng.normal()),
        }
        joint |= {"xyz": rng.normal(size=3).tolist(), "rpy": rng.normal(size=3).tolist()}
        return tree | {
            "bodies": [body | {"name": f"left_arm_link_{i}"} for i in range(bodies)],
            "joints": [joint | {"name": f"left_shoulder_pitch_{i}"} for i in range(bodies)],
        }

    trees = {"file": many(model["tree"]["file"]), "fused": many(model["tree"]["file"])}
    trees["engines"] = {f"engine {n} native": many(model["tree"]["file"]) for n in range(5)}
    made = model | {"engines": engines, "tree": trees, "nv": nv, "dofs": engines[0]["dofs"]}
    return Saved({**saved.document, "models": [made]}, arrays)


def numbers(packed: dict[str, Any]) -> np.ndarray:
    """Return an array as the page unpacks it."""
    kind = {"f8": "<f8", "f4": "<f4", "u1": "u1"}[packed["kind"]]
    return np.frombuffer(base64.b64decode(packed["bytes"]), kind).reshape(packed["shape"])


def test_arrays_arrive_as_they_were_saved(lamp: Saved) -> None:
    """Efforts in full, digits and errors of M to seven figures."""
    data = Elements(html(lamp)).data("model-0")["arrays"]
    assert lamp.arrays is not None
    assert np.array_equal(numbers(data["tau"]), lamp.arrays["m0/tau"])
    assert set(data["terms"]) == {"gravity", "velocity", "inertia", "armature", "wrenches", "passive"}
    inside = [term for term in data["terms"] if term != "passive"]
    total = sum(numbers(data["terms"][term]) for term in inside)
    assert np.allclose(total, lamp.arrays["m0/tau"], rtol=0, atol=1e-12)
    for k in range(5):
        assert np.allclose(numbers(data["engines"][k]["digits"]["tau"]), lamp.arrays[f"m0/e{k}/digits/tau"], rtol=1e-6)


def test_residuals_of_places_agree_with_the_digits_of_states(lamp: Saved) -> None:
    """The least digits over the dofs of a state are those of the state, rounded down to tenths."""
    assert lamp.arrays is not None
    data = array_data(parted(lamp.arrays, "m")[0], lamp.document["models"][0]["engines"])
    for k, engine in enumerate(data["engines"]):
        for quantity, packed in engine["spread"].items():
            tenths = numbers(packed)
            state = np.floor(lamp.arrays[f"m0/e{k}/digits/{quantity}"] * 10)
            assert np.array_equal(tenths.min(axis=1), state), (k, quantity)
            ratio = np.array([float(x) for x in engine["worst"][quantity]["ratio"]])
            with np.errstate(divide="ignore"):
                assert np.array_equal(np.floor(np.clip(-np.log10(ratio), 0, 17) * 10), tenths.min(axis=0))


def test_dofs_in_another_order_keep_their_errors() -> None:
    """The engine's own order counts; the scale is the largest of the state, whatever the order."""
    made = with_arrays(per_place={"wrist": 3e-3, "elbow": 3e-6, "shoulder": 3e-9})
    assert made.arrays is not None
    worst = array_data(parted(made.arrays, "m")[0], made.document["models"][0]["engines"])["engines"][3]["worst"]["tau"]
    assert made.document["models"][0]["engines"][3]["dofs"] == ["wrist", "elbow", "shoulder"]
    assert worst["ratio"] == pytest.approx([1e-3, 1e-6, 1e-9])  # the scale of the wrist is 3
    assert worst["error"] == pytest.approx([3e-3, 3e-6, 3e-9])


def test_a_missing_answer_is_no_agreement() -> None:
    """An infinite error is zero digits, and JSON all the same."""
    made = with_arrays()
    assert made.arrays is not None
    made.arrays["m0/e3/error/tau"][1, 0] = np.inf
    engine = Elements(html(made)).data("model-0")["arrays"]["engines"][3]
    assert engine["worst"]["tau"]["ratio"][0] == "inf"
    assert engine["worst"]["tau"]["state"][0] == 1
    assert numbers(engine["spread"]["tau"])[1, 0] == 0


def test_a_very_wrong_entry_is_still_an_answer() -> None:
    """An error of M that no float32 holds stays finite; one without an answer does not."""
    made = with_arrays()
    assert made.arrays is not None
    made.arrays["m0/e3/mass_matrix_error"][0, :2] = (1e300, np.inf)
    matrix = numbers(Elements(html(made)).data("model-0")["arrays"]["engines"][3]["matrix"])
    assert np.isfinite(matrix).tolist()[0] == [True, False, True]
    assert matrix[0, 0] > 1e38


def test_a_scale_of_zero_allows_no_error() -> None:
    """Beside it, no error is full agreement, and any error none."""
    made = with_arrays(per_place={"wrist": 0.0, "elbow": 1e-300})
    assert made.arrays is not None
    made.arrays["m0/scale/tau"][:] = 0
    worst = array_data(parted(made.arrays, "m")[0], made.document["models"][0]["engines"])["engines"][3]["worst"]["tau"]
    assert worst["ratio"] == [0.0, "inf", "inf"]


def test_kinds_that_occur_are_explained() -> None:
    """Each with what it means and the fix; others are left out."""
    kinds = Elements(html(DOCUMENTS["differing"])).data("head")["kinds"]
    assert set(kinds) == {"mass.default", "inertia.rotation", "body.fused"}
    assert all(text["means"] and text["fix"] for text in kinds.values())


def test_what_is_not_claimed_depends_on_the_result() -> None:
    """Opened loops and losses are said where there are some; of a pair, that no engine was asked."""
    plain, open_ = (" ".join(Elements(html(saved(m))).data("head")["claims"]) for m in (differing(), agreeing()))
    assert "Loops" in open_
    assert "Loops" not in plain
    assert "No engine was asked" in " ".join(Elements(html(DOCUMENTS["a pair"])).data("head")["claims"])


def test_findings_of_a_pair_come_in_groups() -> None:
    """The most telling first; one value on two joints is one group."""
    head = Elements(html(DOCUMENTS["a pair"])).data("head")
    found = [[head["pair"]["findings"][i]["kind"] for i in group["findings"]] for group in head["groups"]]
    assert found == [["mass"], ["armature", "armature"]]


def test_libraries_are_named_with_their_licences() -> None:
    """Versions are pinned, the lock names no registry, licences are those of these versions and go with the page."""
    vendor = FOLDER / "vendor"
    wanted = json.loads((vendor / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((vendor / "package-lock.json").read_text(encoding="utf-8"))
    licences = (vendor / "LICENSES.txt").read_text(encoding="utf-8")
    for name, version in wanted["dependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
        assert f"==== {name} {version} ====" in licences
    assert [name for name, part in lock["packages"].items() if "resolved" in part] == []
    assert licences.splitlines()[0] in html(DOCUMENTS["nothing"])
    assert "Apache License" in html(DOCUMENTS["nothing"])


def test_every_script_is_part_of_the_page() -> None:
    """None is forgotten in the list; none writes markup."""
    assert {file.stem for file in (FOLDER / "script").glob("*.js")} == set(SCRIPTS)
    for name in SCRIPTS:
        text = (FOLDER / "script" / f"{name}.js").read_text(encoding="utf-8")
        found = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)
        assert found == (["innerHTML"] if name == "text" else []), name  # `escaped` reads it, none writes it
        assert len(text.splitlines()) < 350
