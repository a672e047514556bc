"""Two files: the same robot under another description agrees, another robot is told with both lines and in full."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest
from pair_texts import CAMERA, LINK, NAIL, TOOL, real_pair, two_links

import tautology
from tautology.harness import diff as module
from tautology.harness.diagnosis.compare import Comparison
from tautology.harness.errors import ReadError, RequestError
from tautology.harness.findings import Finding
from tautology.harness.name_map import read_map
from tautology.harness.results import QUANTITIES, QuantityRow

MODELS = Path(tautology.__file__).parent / "models"
TWINS = sorted(file.stem for file in MODELS.glob("*.urdf") if file.with_suffix(".xml").exists())
FAST = {"states": 8}


@pytest.fixture
def files(tmp_path):
    """Return a function that writes texts and gives their paths."""

    def write(*texts: str) -> list[str]:
        paths = [tmp_path / f"{side}.urdf" for side in "abcdef"[: len(texts)]]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        return [str(path) for path in paths]

    return write


@pytest.fixture
def compare(files):
    """Return a function that compares two texts."""
    return lambda a, b, **options: tautology.diff(*files(a, b), **(FAST | options))


def told(result) -> list[tuple[str, str | None]]:
    """Return kind and place of everything that counts."""
    return [(f.kind, f.where) for f in result.counted]


# Laws.


def test_a_file_is_the_same_robot_as_itself(compare):
    """Nothing differs, everything is matched, every quantity agrees to rounding."""
    result = compare(two_links(CAMERA), two_links(CAMERA))
    assert (result.status, result.exit, result.reasons) == ("agree", 0, ())
    assert result.unmatched == {"a": (), "b": ()}
    assert all(row.passed for row in result.rows)
    assert min(row.digits for row in result.rows) > 13


@pytest.mark.parametrize("name", TWINS)
def test_a_bundled_robot_is_the_same_in_both_formats(name):
    """URDF and MJCF of one robot, either way round; what is told otherwise is no difference."""
    pair = [MODELS / f"{name}.urdf", MODELS / f"{name}.xml"]
    for a, b in (pair, pair[::-1]):
        result = tautology.diff(a, b, **FAST)
        assert result.status == "agree", told(result)
        assert all(f.severity == "convention" for f in result.reasons)


@pytest.mark.parametrize(
    "changed",
    [two_links(CAMERA), two_links(TOOL), two_links(TOOL + NAIL), two_links(mass="1.1"), two_links(CAMERA, mass="1.1")],
    ids=["camera", "tool", "tool and nail", "mass", "camera and mass"],
)
def test_a_difference_is_found_from_both_sides(compare, changed):
    """A against B and B against A name the same places, and leave nothing unexplained."""
    forth, back = compare(two_links(), changed), compare(changed, two_links())
    for result in (forth, back):
        assert result.status == "differs"
        assert "unexplained" not in {f.kind for f in result.reasons}
    mirror = {"joint.extra": "joint.missing"}
    lost = {(kind, where) for kind, where in told(back) if (kind, where) not in told(forth)}
    assert {(mirror.get(kind, kind), where) for kind, where in told(forth)} <= set(told(back))
    assert {kind for kind, _ in lost} <= {"joint.missing", "body.missing"}


def test_a_body_that_one_file_has_alone_is_named_with_its_mass_and_line(compare):
    """Nothing is put on the link that it is fixed to, whichever file has it."""
    (gone,) = compare(two_links(CAMERA), two_links()).counted
    assert (gone.kind, gone.where, gone.expected, gone.found, gone.unit) == ("body.missing", "camera", 0.3, 0.0, "kg")
    (more,) = compare(two_links(), two_links(CAMERA)).counted
    assert (more.kind, more.where, more.expected, more.found) == ("body.missing", "camera", 0.0, 0.3)
    assert more.explains == pytest.approx(1)
    text = two_links(CAMERA).splitlines()
    assert 'mass value="0.3"' in text[more.other_line - 1]
    assert more.file is None


def test_a_body_more_and_another_mass_are_told_apart(compare):
    """Two differences in one rigid piece are two findings, not one piece that is otherwise."""
    assert sorted(told(compare(two_links(), two_links(CAMERA, mass="1.1")))) == [
        ("body.missing", "camera"),
        ("mass", "fore"),
    ]


def sensors(count: int) -> str:
    """Return small links fixed to the forearm, each at a place of its own."""
    rng = np.random.default_rng(7)
    texts = []
    for n, (x, y, z) in enumerate(rng.uniform(-0.4, 0.4, (count, 3))):
        texts.append(LINK.format(name=f"sensor{n}", com="0 0.001 0", rpy="0 0 0", mass=f"{0.01 * (n + 1)}"))
        texts.append(f'<joint name="fixed{n}" type="fixed"><parent link="fore"/><child link="sensor{n}"/>')
        texts.append(f'<origin xyz="{x} {y} {z}"/></joint>\n')
    return "".join(texts).replace("0.011", "1.1e-5").replace("0.102", "1.2e-5").replace("0.103", "1.3e-5")


@pytest.mark.parametrize("count", [1, 5, 14])
def test_bodies_are_missed_in_a_piece_that_is_merged(files, count):
    """What a merged file lacks is found by what its composite lacks, whichever file is merged, however many lack."""
    grip = CAMERA.replace('"camera"', '"grip"').replace('"mount"', '"gripped"')
    a, plain = files(two_links(grip + sensors(count)), two_links(grip))
    merged = mujoco.MjSpec.from_file(plain)
    merged.compiler.fusestatic = True
    lacking = sorted(("body.missing", f"sensor{n}") for n in range(count))
    assert sorted(told(tautology.diff(a, merged.compile(), **FAST))) == lacking
    assert sorted(told(tautology.diff(merged.compile(), a, **FAST))) == lacking


def test_the_most_telling_difference_stands_first(compare):
    """By what it explains; what is told otherwise stands last."""
    result = compare(two_links(), two_links(CAMERA, mass="1.00001", swapped=True))
    assert [f.kind for f in result.reasons] == ["body.missing", "mass", "joint.order"]
    assert result.reasons[0].explains > result.reasons[1].explains


def test_where_a_robot_stands_is_explained_by_its_poses(compare):
    """No effort shows it: the share is that of the poses, beside a mass whose share is that of the efforts."""
    moved = two_links(mass="1.5").replace('<origin xyz="0 1 0"/>', '<origin xyz="0 2 0"/>')
    shares = {f.kind: f.explains for f in compare(two_links(), moved).counted}
    assert shares == {"joint.placement": pytest.approx(1), "mass": pytest.approx(1)}


def test_both_lines_are_given_and_the_fix_says_what_to_do(compare):
    """Line and file of either side, its value, what to do; nobody is at fault."""
    (found,) = compare(two_links(), two_links(mass="1.5")).counted
    assert (found.expected, found.found) == (1.0, 1.5)
    assert Path(found.file).name == "a.urdf"
    assert Path(found.other_file).name == "b.urdf"
    line = two_links().splitlines()[found.line - 1]
    assert '<mass value="1"' in line
    assert found.line == found.other_line
    assert found.fix.startswith("weigh 'fore'")


def test_a_merged_link_is_a_convention_and_not_unmatched(files):
    """What one file merged into its holder is there; a frame without mass is no body that lacks."""
    frame = '<link name="tip"/><joint name="tipped" type="fixed"><parent link="fore"/><child link="tip"/></joint>'
    (a,) = files(two_links(CAMERA + frame))
    spec = mujoco.MjSpec.from_file(a)
    spec.compiler.fusestatic = True
    model = spec.compile()
    result = tautology.diff(a, model, **FAST)
    assert result.status == "agree", told(result)
    assert [(f.kind, f.where, f.severity) for f in result.reasons] == [("body.fused", "camera", "convention")]
    assert result.unmatched == {"a": (), "b": ()}
    assert "tip" in result.frames_only["a"]
    back = tautology.diff(model, a, **FAST)
    assert [(f.kind, f.where) for f in back.reasons] == [("body.fused", "camera")]


def test_another_order_of_joints_is_a_convention(compare):
    """The same joints in another order: every quantity is compared by name, and the order is told."""
    result = compare(two_links(), two_links(swapped=True))
    assert (result.status, [f.kind for f in result.reasons]) == ("agree", ["joint.order"])
    assert result.reasons[0].expected == ["hinge", "elbow", "second"]
    assert result.reasons[0].found == ["second", "hinge", "elbow"]


def test_parameters_that_no_motion_tells_apart_are_still_told():
    """Regrouped masses: every quantity agrees, and the files do not."""
    result = tautology.diff(MODELS / "three_planar_links.urdf", MODELS / "three_planar_links_regrouped.urdf", **FAST)
    assert result.status == "differs"
    assert all(row.passed for row in result.rows)
    assert {f.where for f in result.counted} == {"link_2", "link_3"}
    assert {f.explains for f in result.counted} == {0.0}


def test_a_fixed_and_a_free_base_are_one_finding_and_the_rest_is_compared(compare):
    """What hangs on the base is compared as if both bases were alike."""
    floating = two_links().replace(
        '<link name="base"/>',
        '<link name="base"/><joint name="free" type="floating"><parent link="base"/><child link="trunk"/></joint>\n'
        + LINK.format(name="trunk", com="0.1 0 0.2", rpy="0 0 0.1", mass="3"),
    )
    floating = floating.replace('parent link="base"/><child link="upper"', 'parent link="trunk"/><child link="upper"')
    floating = floating.replace('parent link="base"/><child link="other"', 'parent link="trunk"/><child link="other"')
    fixed = floating.replace('name="free" type="floating"', 'name="free" type="fixed"')
    assert told(compare(fixed, floating)) == [("base.fixed_or_free", "free")]
    assert told(compare(floating, fixed)) == [("base.fixed_or_free", "free")]
    assert compare(fixed, floating, base="free").status == "agree"


def test_a_joint_of_another_type_leaves_nothing_unexplained(compare):
    """The joint is no common dof; everything else is compared with it at home."""
    slide = two_links().replace(
        'name="elbow" type="continuous">',
        'name="elbow" type="prismatic"><limit lower="-1" upper="1" effort="1" velocity="1"/>',
    )
    assert told(compare(two_links(), slide)) == [("joint.type", "elbow")]
    locked = two_links().replace('name="elbow" type="continuous"', 'name="elbow" type="fixed"')
    assert told(compare(locked, two_links())) == [("joint.type", "elbow")]
    assert told(compare(two_links(), locked)) == [("joint.type", "elbow")]


# Real pairs.


@pytest.mark.parametrize("name", ["ur5", "go1", "xarm7", "g1"])
def test_a_real_pair_is_explained_in_full(name):
    """Whatever differs between two published descriptions of a robot has a reason, and nothing is left."""
    a, b, base = real_pair(name)
    result = tautology.diff(a, b, base=base)
    assert result.status == "differs"
    assert "unexplained" not in {f.kind for f in result.reasons}
    assert result.unmatched["b"] == ()
    assert len(result.matched["joints"]) == result.models[0].nv - 5 * (result.models[0].base == "free")
    assert result.doubtful == ()
    for f in result.counted:
        assert f.line or f.other_line, f


def test_the_mass_that_the_go1_lacks_is_named_link_by_link():
    """0.357 kg: four hip rotors, the IMU, and cameras of ten milligrams."""
    a, b, base = real_pair("go1")
    result = tautology.diff(a, b, base=base)
    gone = {f.where: f.expected for f in result.counted if f.kind == "body.missing"}
    rotors = {f"{leg}_hip_rotor": 0.089 for leg in ("FR", "FL", "RR", "RL")}
    assert gone.items() >= (rotors | {"imu_link": 0.001}).items()
    assert len(gone) == 14
    total = [model.total_mass for model in result.models]
    assert sum(gone.values()) == pytest.approx(total[0] - total[1], rel=1e-9)
    assert result.together["body.missing"] > 0.7
    from_b = tautology.diff(b, a, base=base)
    more = {f.where: f.found for f in from_b.counted if f.kind == "body.missing"}
    assert more.items() >= (rotors | {"imu_link": 0.001}).items()


def test_the_mass_of_the_g1_is_at_its_torso():
    """1.781 kg at the torso, or at the head that is fixed to it: both are named."""
    a, b, base = real_pair("g1")
    result = tautology.diff(a, b, base=base)
    top = result.reasons[0]
    assert (top.kind, top.where) == ("mass", "torso_link")
    assert top.found - top.expected == pytest.approx(1.781)
    assert "mass at head_link" in top.rivals
    armature = [f for f in result.counted if f.kind == "armature"]
    assert len(armature) == 29
    assert {(f.expected, f.found) for f in armature} == {(0.0, 0.01)}


def test_the_xarm7_differs_in_the_last_written_digits_only():
    """1.5708 against half of pi, tensors with six digits: a larger tolerance takes them for one robot."""
    a, b, _ = real_pair("xarm7")
    result = tautology.diff(a, b)
    assert {f.kind for f in result.counted} == {"joint.orientation", "inertia.value"}
    assert tautology.diff(a, b, tolerance=1e-5, **FAST).status == "agree"


# Options.


def test_ignored_kinds_do_not_count_and_are_put_in_first():
    """With the armature of B in A, the rest is measured alone; the finding is still told."""
    tree = tautology.load(MODELS / "tau_arm.urdf")
    moving = [replace(b, joint=replace(b.joint, armature=0.3)) if b.joint.nv else b for b in tree.bodies]
    heavy = replace(tree, bodies=tuple(moving))
    plain = tautology.diff(tree, heavy, **FAST)
    assert {f.kind for f in plain.counted} == {"armature"}
    assert not next(row.passed for row in plain.rows if row.quantity == "mass_matrix")
    result = tautology.diff(tree, heavy, ignore=["armature"], **FAST)
    assert (result.status, result.ignored) == ("agree", ("armature",))
    assert {f.kind for f in result.reasons} == {"armature"}
    assert {f.explains for f in result.reasons} == {None}
    assert all(row.passed for row in result.rows)


def test_ignored_kinds_that_change_the_coordinates_are_not_put_in(compare):
    """A joint less cannot be put in; it does not count all the same."""
    result = compare(two_links(TOOL), two_links(), ignore=["joint.missing", "body.missing"])
    assert result.status == "agree"
    assert {f.kind for f in result.reasons} == {"joint.missing", "body.missing"}


def test_a_map_wins_over_names(compare):
    """Names that mislead are put right by the map, of joints or of bodies."""
    crossed = two_links(hinge="second_", second="hinge").replace("second_", "second")
    misled = compare(two_links(), crossed)
    assert misled.status == "differs"
    for names in ({"hinge": "second", "second": "hinge"}, {"upper": "upper", "other": "other"}):
        result = compare(two_links(), crossed, names=names)
        assert result.status == "agree", told(result)
        assert ("hinge", "second") in result.matched["joints"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"nix": "hinge"}, "a.urdf has no 'nix': joints are hinge, elbow, second; bodies are base, upper"),
        ({"hinge": "nix"}, "b.urdf has no 'nix': joints are"),
        ({"hinge": "upper"}, "'hinge' is a joint, 'upper' a body"),
        ({"hinge": "second", "elbow": "second"}, "contradicts"),
        ({"hinge": "elbow", "upper": "upper"}, "contradicts"),
        ({"mount": "mount"}, "a fixed joint is in one of them"),
    ],
    ids=str,
)
def test_a_map_that_makes_no_sense_is_refused(compare, names, words):
    """The message says which name is wrong and which there are."""
    with pytest.raises(RequestError) as refusal:
        compare(two_links(CAMERA), two_links(CAMERA), names=names)
    assert words in str(refusal.value)


def test_a_file_of_a_map_has_comments_and_blank_lines(tmp_path):
    """Pairs of a file and of the command are one map; the same pair twice is one pair."""
    file = tmp_path / "names.txt"
    file.write_text("# the elbow\nelbow = achse2   # its joint\n\n\thinge=a#1\n", encoding="utf-8")
    assert read_map([str(file), "fore=glied2", "hinge=a#1"]) == {"elbow": "achse2", "hinge": "a#1", "fore": "glied2"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a=b\na=c\n", "names.txt:2: 'a' is mapped to 'b' already"),
        ("a=b\nc=b\n", "names.txt:2: 'b' is what 'a' is mapped to already"),
        ("\n\nelbow\n", "names.txt:3: 'elbow' is no pair"),
        ("a=\n", "'a=' is no pair"),
    ],
    ids=repr,
)
def test_a_file_of_a_map_is_refused_with_its_line(tmp_path, text, words):
    """Duplicates and lines without a pair name file and line."""
    file = tmp_path / "names.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RequestError) as refusal:
        read_map([str(file)])
    assert words in str(refusal.value)


def test_a_file_of_a_map_that_cannot_be_read_is_refused(tmp_path):
    """It is not there, or is no text."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00=")
    for file in ("nowhere", "binary"):
        with pytest.raises(ReadError, match=file):
            read_map([str(tmp_path / file)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ignore": ["armatur"]}, "did you mean armature"),
        ({"ignore": ["mass", "unexplained"]}, "'unexplained' cannot be ignored"),
        ({"base": "loose"}, "'loose' is not one of auto, fixed, free"),
        ({"tolerance": 0}, "tolerance 0 is not between 0 and 1"),
        ({"tolerance": float("nan")}, "not between 0 and 1"),
        ({"states": 0}, "at least 1 state"),
        ({"seed": -1}, "seed of 0 or more"),
    ],
    ids=str,
)
def test_an_option_out_of_range_is_refused(compare, options, words):
    """The message says what is allowed."""
    with pytest.raises(RequestError) as refusal:
        compare(two_links(), two_links(), **options)
    assert words in str(refusal.value)


def test_states_and_seed_are_those_asked(compare):
    """The hash tells one draw from another."""
    seeds = [compare(two_links(), two_links(), states=9, seed=seed).states for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1]
    assert seeds[0]["sha256"] != seeds[2]["sha256"]
    assert seeds[0]["count"] == 9


def test_below_the_tolerance_two_robots_are_the_same(compare):
    """A mass that departs by 1e-7 of itself is found at 1e-9, and is none at 1e-6."""
    pair = two_links(), two_links(mass="1.0000001")
    assert told(compare(*pair)) == [("mass", "fore")]
    assert compare(*pair, tolerance=1e-6).status == "agree"


def test_live_models_stand_where_files_stand(files):
    """A model of Pinocchio or MuJoCo, and a tree, are compared as files are."""
    (a,) = files(two_links())
    for live in (pinocchio.buildModelFromUrdf(a), mujoco.MjModel.from_xml_path(a), tautology.load(a)):
        result = tautology.diff(a, live, **FAST)
        assert result.status == "agree", told(result)
    heavy = pinocchio.buildModelFromUrdf(a)
    heavy.armature = np.full(heavy.nv, 0.01)
    assert {f.kind for f in tautology.diff(a, heavy, **FAST).counted} == {"armature"}


def test_a_file_that_cannot_be_used_raises(files):
    """The message names the file."""
    (a,) = files(two_links())
    with pytest.raises(ReadError, match=r"nowhere\.urdf"):
        tautology.diff(a, "nowhere.urdf")


# The result.


def test_the_document_has_the_promised_fields(compare):
    """Scripts rely on these names; whatever else stands there stands behind."""
    result = compare(two_links(), two_links(CAMERA, mass="1.1"))
    document = json.loads(result.dumps())
    promised = ["schema", "command", "exit", "versions", "files"]
    promised += ["status", "matched", "unmatched", "quantities", "findings"]
    assert list(document)[: len(promised)] == promised
    assert (document["schema"], document["command"], document["exit"]) == ("tautology/1", "diff", 1)
    assert document["status"] == "differs"
    assert [Path(file).name for file in document["files"]] == ["a.urdf", "b.urdf"]
    assert ["elbow", "elbow"] in document["matched"]["joints"]
    assert ["fore", "fore"] in document["matched"]["bodies"]
    assert document["unmatched"] == {"a": [], "b": ["camera"]}
    assert {row["quantity"] for row in document["quantities"]} == set(QUANTITIES)
    assert list(document["quantities"][0]) == [f.name for f in fields(QuantityRow)]
    quoted = ["snippet", "other_snippet"]  # the lines, as far as the files can be read
    assert [name for name in document["findings"][0] if name not in quoted] == [f.name for f in fields(Finding)]
    assert set(document["versions"]) == {"tautology", "python", "numpy"}
    assert [model["total_mass"] for model in document["models"]] == [pytest.approx(3.7), pytest.approx(4.1)]
    assert document["models"][0]["losses"] == []


def test_missing_lines_and_files_are_null(files):
    """A robot that is in no file has neither."""
    (a,) = files(two_links())
    other = pinocchio.buildModelFromUrdf(a)
    other.armature = np.full(other.nv, 0.01)
    document = tautology.diff(a, other, **FAST).to_json()
    assert document["models"][1]["file"] is None
    assert document["models"][1]["sha256"] is None
    assert document["findings"][0]["other_line"] is None


def test_the_tables_say_who_computed_what(compare):
    """Frames for notebooks: both files and the reference before the fields of the document."""
    result = compare(two_links(), two_links(CAMERA))
    assert list(result.quantities.columns) == ["model", "other", "engine", "version", "path"] + [
        f.name for f in fields(QuantityRow)
    ]
    assert set(result.quantities["engine"]) == {"reference"}
    assert result.findings["kind"].tolist() == ["body.missing"]
    assert result.findings["line"].isna().all()
    assert len(result.identities) == 0
    assert result.frames("matched")["matched"].columns.tolist() == ["what", "a", "b"]
    assert result.verdict == "differs"


def test_hostile_names_are_matched_and_kept(compare):
    """Names are data: the document keeps them as they are."""
    name = "a\u202e[red]<b>=; DROP"
    result = compare(two_links(), two_links(CAMERA, camera=name.replace("<", "&lt;")))
    (found,) = result.counted
    assert found.where == name
    assert json.loads(result.dumps())["findings"][0]["where"] == name


def test_what_differs_together_is_measured_together(compare):
    """Two masses of one kind: their share together, and never more than everything."""
    result = compare(two_links(), two_links(mass="1.2").replace('<mass value="2"', '<mass value="2.2"'))
    assert {f.where for f in result.counted} == {"upper", "fore"}
    assert result.together["mass"] == pytest.approx(1)
    assert all(f.explains < 1 for f in result.counted)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (two_links(mass="1.5"), "after every difference was put in"),
        (
            two_links().replace('<axis xyz="0 1 0"/>', '<origin xyz="0 0 1"/><axis xyz="0 1 0"/>'),
            "no parameter differs",
        ),
    ],
    ids=["efforts", "poses alone"],
)
def test_a_residual_without_a_reason_is_told(monkeypatch, compare, changed, words):
    """When the comparison is blind, the quantities still see that something is otherwise."""
    seeing = module.compare
    monkeypatch.setattr(module, "compare", lambda *a, **k: Comparison((), seeing(*a, **k).nodes))
    result = compare(two_links(), changed)
    assert [f.kind for f in result.counted] == ["unexplained"]
    assert words in result.counted[0].fix


def test_states_that_do_not_fit_into_memory_are_refused_before_they_are_drawn(compare):
    """The same limit as in a check, of the larger of both robots."""
    with pytest.raises(RequestError, match="350000 states do not fit into memory; 333333 are the most"):
        compare(two_links(), two_links(TOOL), states=350_000)


def test_a_comparison_is_short_at_a_prompt(compare):
    """The files, the verdict, and what counts."""
    said = repr(compare(two_links(), two_links(mass="1.5")))
    assert said.endswith(": differs, exit 1; mass>")
    assert len(said) < 300


REHUNG = """<robot name="r"><link name="base"/>{links}
<joint name="j1" type="revolute"><parent link="base"/><child link="{a}"/><origin xyz="0 .1 .3" rpy="1 .2 .4"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="{a}"/><child link="{b}"/><origin xyz=".2 .1 .3" rpy=".5 .1 0"/>
<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j3" type="prismatic"><parent link="{on}"/><child link="c"/><origin xyz="{at}" rpy="0 0 .7"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j4" type="fixed"><parent link="{a}"/><child link="d"/><origin xyz="0 .3 0"/></joint></robot>"""


def hung(on: str, at: str = ".3 0 .1", *, a: str = "a", b: str = "b") -> str:
    """Return a robot of three links, the last of which hangs on a link at a place."""
    masses = {"a": "1", "b": "2", "c": "3", "d": "4"}
    links = "".join(LINK.format(name=n, com="0.1 0.2 0.3", rpy="0.1 0.2 0.3", mass=m) for n, m in masses.items())
    return REHUNG.format(links=links, on=on, at=at, a=a, b=b)


@pytest.mark.parametrize(("on", "other"), [("b", "a"), ("a", "b"), ("b", "base"), ("base", "a")])
def test_a_body_on_another_parent_is_told_as_such_and_explained_in_full(compare, on, other):
    """The joint moves with another link, wherever it stands: one finding, with nothing left."""
    result = compare(hung(on), hung(other, "0 .5 .2"))
    (found,) = result.counted
    assert (found.kind, found.where, found.note) == ("joint.placement", "j3", "on another parent")
    assert (found.expected, found.found) == tuple(f"on {'world' if x == 'base' else x}" for x in (on, other))
    assert found.explains == pytest.approx(1)


def test_two_links_in_the_other_order_are_explained_in_full(compare):
    """Each carries the other in one of the files: no order of putting the parents in may close a loop."""
    result = compare(hung("b"), hung("b", a="b", b="a"), names={"a": "a", "b": "b"})
    moved = {f.where: (f.expected, f.found) for f in result.counted if f.note == "on another parent"}
    assert moved == {"j1": ("on world", "on b"), "j2": ("on a", "on world")}
    assert "unexplained" not in {f.kind for f in result.reasons}
