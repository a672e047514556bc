"""The report of a comparison: verdicts that a person understands, findings put together, 80 columns, hostile names."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from rich.console import Console

from tautology.harness.diff_result import Compared, DiffResult
from tautology.harness.errors import Source
from tautology.harness.findings import Finding, finding
from tautology.harness.results import QUANTITIES, QuantityRow
from tautology.harness.tree import Loss
from tautology.reports.pair_groups import apart, groups
from tautology.reports.pairs import pair_line, pair_report
from tautology.reports.text import pair, value

A, B = "robots/a/arm.urdf", "robots/b/lower_arm.xml"


def told(kind: str, where: str | None, expected: object, found: object, unit: str = "", **fields: object) -> Finding:
    """Return a finding between both files, in line 10 of A and 20 of B."""
    made = finding(kind, Source(A, 10), where=where, expected=expected, found=found, unit=unit, explains=0.0)
    return replace(made, **({"other_file": B, "other_line": 20, "fix": f"mend {where!r}"} | fields))


def side(file: str, **fields: object) -> Compared:
    """Return one of two robots of seven joints."""
    usual = {"file": file, "format": "urdf", "sha256": "0" * 64, "name": "arm", "base": "fixed", "bodies": 8, "nq": 7}
    usual |= {"nv": 7, "dofs": ("elbow",), "total_mass": 3.0, "moving_mass": 3.0, "closures": (), "losses": ()}
    return Compared(**(usual | fields))


def result(*reasons: Finding, **fields: object) -> DiffResult:
    """Return a comparison that ended with these findings."""
    ignored = fields.get("ignored", ())
    differs = any(f.severity == "model" and f.kind not in ignored for f in reasons)
    rows = [QuantityRow(q, unit, True, 0.5, 1.0, 1e-9, 1.29, 3, "elbow", not differs) for q, unit in QUANTITIES.items()]
    usual = {
        "models": (side(A), side(B, format="mjcf")),
        "versions": {"tautology": "0.1.0"},
        "status": "differs" if differs else "agree",
        "matched": {"joints": (("elbow", "elbow"), ("wrist", "hand")), "bodies": (("fore", "fore"),)},
        "unmatched": {"a": (), "b": ()},
        "frames_only": {"a": (), "b": ()},
        "doubtful": (),
        "states": {"count": 64, "seed": 0, "sha256": "1" * 64, "strata": {}},
        "rows": tuple(rows),
        "reasons": reasons,
        "together": {},
        "tolerance": 1e-9,
    }
    return DiffResult(**(usual | fields))


def text(made: DiffResult, *, verbose: bool = False, width: int = 80) -> str:
    """Return the report as a terminal of `width` columns shows it."""
    console = Console(width=width, no_color=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        pair_report(made, console, verbose=verbose)
    return captured.get()


def flowed(made: DiffResult, **options: bool) -> str:
    """Return the report on one line."""
    return " ".join(text(made, **options).split())


def verdict(made: DiffResult) -> str:
    """Return the verdict as `--quiet` prints it."""
    console = Console(width=80, no_color=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        pair_line(made, console)
    (line,) = captured.get().splitlines()
    return line


MASS = told("mass", "fore", 6.78, 8.561, "kg", explains=0.9876)
ARMATURE = [told("armature", f"joint{n}", 0.0, 0.01, "kg m^2", explains=0.1) for n in range(9)]


def test_one_robot_is_one_sentence():
    """How much was matched and how well it agrees stands in it."""
    said = "AGREE  arm.urdf and lower_arm.xml are the same robot; 2 joints and 1 body matched, tau to 1.2 digits."
    assert verdict(result()) == said
    assert "same robot to 0.001;" in verdict(result(tolerance=1e-3))


def test_two_robots_are_told_by_the_most_telling_difference():
    """How many bodies and joints, which is heavier, and the finding with both lines and its weight."""
    models = (side(A), side(B, total_mass=4.781))
    assert verdict(result(*ARMATURE, MASS, models=models, together={"mass": 0.9876, "armature": 0.01})) == (
        "DIFFERS  arm.urdf and lower_arm.xml are not the same robot: they differ in 1 body and 9 joints; B is 1.781 kg "
        "heavier. Most telling: mass at fore, 6.78 kg in A (arm.urdf:10) but 8.561 kg in B (lower_arm.xml:20), which "
        "explains 98.7% of what differs."
    )


def test_a_base_that_is_fixed_here_and_free_there_is_told_first():
    """It decides how everything else is compared."""
    base = told("base.fixed_or_free", "root", "fixed", "floating")
    said = verdict(result(MASS, base))
    assert "they differ in 1 body and the base. Most telling: base.fixed_or_free at root, fixed in A" in said


def test_differences_that_no_motion_shows_are_told_as_such():
    """All answers agree, and yet the files differ."""
    rows = [replace(row, passed=True) for row in result().rows]
    assert "the compared answers agree: no motion tells them apart" in verdict(result(MASS, rows=tuple(rows)))
    damping = told("damping", "elbow", 0.0, 0.1, "N m s/rad")
    assert "the compared answers, which hold none of these terms, agree" in verdict(result(damping, rows=tuple(rows)))


def test_one_value_on_many_joints_is_one_entry():
    """The value once, the joints in a list with both lines, the weight of all together, one fix."""
    made = result(*ARMATURE, together={"armature": 0.42})
    said = flowed(made)
    assert "armature x9: together they explain 42.0% of what differs A says 0 kg m^2, B says 0.01 kg m^2, at" in said
    assert "joint0 (A:10, B:20), joint1 (A:10, B:20)" in said
    assert "joint5 (A:10, B:20) and 3 more" in said
    assert said.count("fix:") == 1
    assert "joint8" in flowed(made, verbose=True)


def test_values_of_one_kind_are_told_one_by_one_up_to_a_few():
    """Of many different values the most telling, and the places of the others."""
    some = [told("mass", f"link{n}", 1.0, 2.0 + n, "kg", explains=1 / (n + 2)) for n in range(7)]
    said = flowed(result(*some))
    assert [f"mass at link{n}:" in said for n in range(7)] == [True] * 4 + [False] * 3
    assert "mass also at link4, link5 and link6 (one by one with --verbose)" in said
    assert "mass at link6:" in flowed(result(*some), verbose=True)


def test_what_differs_in_the_last_digits_is_condensed():
    """Numbers that depart by less than 1e-5 of themselves stand together, behind everything else."""
    tensor = [0.0120000, 0.02, 0.03, 0.0, 0.001, 0.0]
    digits = [told("inertia.value", f"link{n}", tensor, [0.01200001, *tensor[1:]], "kg m^2") for n in range(5)]
    only = result(*digits)
    assert (
        "are the same robot but for the last written digits: 5 values differ, none by more than 3.3e-07 of itself"
        in (verdict(only))
    )
    said = flowed(result(*digits, MASS))
    assert said.index("mass at fore") < said.index("Other in the last written digits only")
    weighed = flowed(result(*digits, together={"inertia.value": 0.75}))
    assert "inertia.value x5 at link0: together they explain 75.0% of what differs A says" in weighed
    assert "inertia.value x5 at link0 A says [0.012, 0.02, 0.03, 0, 0.001, 0] kg m^2" in said
    assert "B says [0.01200001, 0.02, 0.03, 0, 0.001, 0] kg m^2" in said
    assert "also at link1 (A:10, B:20), link2" in said


@pytest.mark.parametrize(
    ("expected", "found", "unit", "by"),
    [
        (2.0, 2.00001, "kg", 5e-6),
        (0.0, 1e-8, "rad", 1e-8),
        ([0.0, 0.0, 1.0], [0.0, 1e-7, 1.0], "1", 1e-7),
        (0.0, 1e-8, "m", 1.0),
        ([1.0, 2.0], [1.0], "m", float("inf")),
        ("fixed", "floating", "", float("inf")),
        (None, 1.0, "kg", float("inf")),
        (0.0, 0.0, "kg", 0.0),
    ],
    ids=str,
)
def test_values_are_measured_by_their_own_size(expected, found, unit, by):
    """Angles and unit vectors have the size one; words are apart altogether."""
    assert apart(told("mass", "x", expected, found, unit)) == pytest.approx(by, rel=1e-3)


def test_bodies_that_one_file_has_alone_are_listed_with_their_masses():
    """Link by link, the heaviest first, the sum, and which file has them."""
    gone = [told("body.missing", f"cam{n}", 0.1 * (n + 1), 0.0, "kg", other_file=None) for n in range(3)]
    more = told("body.missing", "tool", 0.0, 0.25, "kg", file=None, line=None)
    said = flowed(result(*gone, more, together={"body.missing": 0.5}))
    assert "body.missing x3: explain" not in said
    assert "only A has cam2 0.3 kg (line 10), cam1 0.2 kg (line 10) and cam0 0.1 kg (line 10), 0.6 kg in all" in said
    assert "only B has tool 0.25 kg (lower_arm.xml:20)" in said
    assert "3 bodies are missing in B, 0.6 kg in all" in verdict(result(*gone))
    assert "tool is missing in A, 0.25 kg (lower_arm.xml:20)" in verdict(result(more))


def test_rivals_and_notes_are_told_once():
    """What explains the same is named by its place."""
    rivals = ("mass at head", "com at head")
    some = [replace(MASS, rivals=rivals, note="doubtful"), told("com", "fore", [0.0], [1.0], "m", rivals=rivals)]
    said = flowed(result(*some))
    assert said.count("or instead: mass and com at head; no motion tells them apart") == 1
    assert "doubtful" in said


def test_how_much_heavier_a_body_is_stands_beside_its_mass():
    """Nobody has to subtract at night."""
    assert "B says 8.561 kg (lower_arm.xml:20): 1.781 kg more" in flowed(result(MASS))


def test_rounding_beside_large_numbers_is_shown_as_zero():
    """What turning a placement leaves is no news; where nothing else differs it stays."""
    assert value(-0.0) == "0"
    placed = told("joint.placement", "elbow", [0.0, 0.0, 0.39], [4e-12, -0.0, 0.4], "m")
    assert "B says [0, 0, 0.4] m" in flowed(result(placed))


def test_an_unexplained_residual_is_told_with_its_place():
    """Never hidden: what is off, where and by how much."""
    left = told("unexplained", "elbow", 1e-9, 0.25, "1", fix="tau is still off by 3 in state 7")
    said = flowed(result(left))
    assert "unexplained at elbow (arm.urdf:10) tau is still off by 3 in state 7; 0.25 of its scale" in said


def test_conventions_and_ignored_kinds_are_a_line_each():
    """Merged bodies by name, the order of joints, and what was asked to be left out."""
    fused = [told("body.fused", f"foot{n}", 0.06, "merged into calf", "kg") for n in range(6)]
    order = told("joint.order", None, ["a", "b"], ["b", "a"])
    made = result(*fused, order, *ARMATURE, ignored=("armature",))
    said = flowed(made)
    assert (
        "6 bodies merged into what they are fixed to (foot0, foot1, foot2, foot3 and 2 more); the joints stand" in said
    )
    assert "Ignored as asked: armature x9" in said
    assert "the same robot, apart from what was to be ignored: armature x9;" in said
    assert "foot5" in flowed(made, verbose=True)
    assert "1 body merged into what it is fixed to (foot0)" in flowed(result(fused[0]))


def test_what_was_matched_is_told():
    """Other names, doubtful matches, what one has alone, frames."""
    made = result(
        MASS,
        doubtful=("wrist",),
        unmatched={"a": ("grip", "finger"), "b": ("tool",)},
        frames_only={"a": ("tip", "eye"), "b": ()},
    )
    said = flowed(made)
    for words in (
        "matched: 2 joints, 1 body; compared at 64 frozen states of A, seed 0",
        "under another name: wrist = hand",
        "doubtful, matched by their place in the robot (settle them with --map): wrist",
        "only in A: grip and finger",
        "only in B: tool",
        "frames without mass that the other has not: 2 in A",
    ):
        assert words in said
    assert "frames without mass only in A: tip and eye" in flowed(made, verbose=True)


def test_what_no_tree_holds_is_told_of_both():
    """By element; the notes when asked."""
    loss = Loss("transmission", "elbow", Source(A, 7), True, "gears are not in the mass matrix")
    harmless = Loss("gazebo", None, Source(A, 9), False, "no dynamics")
    made = result(models=(side(A, losses=(loss, loss, harmless)), side(B)))
    assert "Left out of every answer, though it touches the dynamics (why: --verbose): A: transmission x2" in flowed(
        made
    )
    full = flowed(made, verbose=True)
    assert "transmission at elbow (arm.urdf:7): gears are not in the mass matrix" in full
    assert "gazebo" in full
    lines = text(made, verbose=True).splitlines()
    places = [line for line in lines if line.strip().startswith(("A: ", "transmission at", "gears are", "gazebo ("))]
    assert [len(line) - len(line.lstrip()) for line in places] == [2, 2, 4, 4, 4]


def test_files_of_one_name_are_told_apart():
    """By their folders, or as A and B."""
    same = result(MASS, models=(side("v1/arm.urdf"), side("v2/arm.urdf")))
    assert "v1/arm.urdf and v2/arm.urdf are not" in verdict(same)
    itself = result(models=(side(A), side(A)))
    assert f"A ({A}) and B ({A}) are the same robot" in verdict(itself)


def test_every_quantity_is_listed_when_asked():
    """Error, what is allowed, state and place."""
    said = text(result(MASS), verbose=True)
    assert "5.00e-01 1.00e-09" in said
    assert "center_of_mass" in said


def test_80_columns_are_enough():
    """No line but that of a path is wider, with names of a usual length."""
    tensor = [0.012345, 0.0234567, 0.0345678, 0.00456789, -0.00056789, 0.00067891]
    some = [told("inertia.value", f"left_shoulder_pitch_link_{n}", tensor, tensor[::-1], "kg m^2") for n in range(6)]
    made = result(*some, *ARMATURE, MASS, models=(side("/a/very/long/way/" * 6 + "arm.urdf"), side(B)))
    for verbose in (False, True):
        wide = [line for line in text(made, verbose=verbose).splitlines() if len(line.rstrip()) > 80]
        assert all("/a/very/long/way/" in line for line in wide)
        assert len(wide) == 1


HOSTILE = "el\x1b[31mbow\u202e[red]\u2028"


def test_hostile_names_are_escaped():
    """Wherever a name, a file, a note or a fix can stand."""
    loss = Loss(HOSTILE, HOSTILE, Source(HOSTILE, 3), True, HOSTILE)
    models = (side(HOSTILE, name=HOSTILE, losses=(loss,)), side(B))
    finds = [
        told(
            kind, HOSTILE, HOSTILE, HOSTILE, "", file=HOSTILE, note=HOSTILE, fix=HOSTILE, rivals=(f"mass at {HOSTILE}",)
        )
        for kind in ("mass", "unexplained", "joint.axis", "body.fused", "body.missing")
    ]
    names = {"joints": ((HOSTILE, "b"),), "bodies": ((HOSTILE, "c"),)}
    alone = {"a": (HOSTILE,), "b": (HOSTILE,)}
    made = result(*finds, models=models, matched=names, unmatched=alone, frames_only=alone, doubtful=(HOSTILE,))
    for printed in (text(made), text(made, verbose=True), verdict(made)):
        assert all(c.isprintable() or c == "\n" for c in printed)
        assert r"\x1b[31mbow\u202e[red]" in printed.replace("\n", "")


def test_shares_are_never_rounded_up_to_everything():
    """99.96 percent is not all, and a trace is not nothing."""
    assert "explains 99.9%" in flowed(result(replace(MASS, explains=0.99996)))
    assert "explains less than 0.1%" in flowed(result(replace(MASS, explains=1e-7)))
    assert "explains 100%" in flowed(result(replace(MASS, explains=1.0)))
    assert "explains" not in flowed(result(replace(MASS, explains=0.0)))


def test_groups_are_ordered_by_what_they_explain():
    """Together where it was measured."""
    found = groups(result(*ARMATURE, replace(MASS, explains=0.3), together={"armature": 0.42, "mass": 0.3}))
    assert [(group.kind, group.share) for group in found] == [("armature", 0.42), ("mass", 0.3)]
    found = groups(result(*ARMATURE, replace(MASS, explains=0.3), together={"armature": 0.2, "mass": 0.3}))
    assert [group.kind for group in found] == ["mass", "armature"]


def test_masses_are_rounded_for_people_unless_they_differ():
    """Sums of masses carry the rounding of their order, which is no difference."""
    exact, rounded = side(A, total_mass=22.11), side(B, total_mass=22.110000000000003)
    said = text(result(models=(exact, rounded)))
    assert said.count("22.11 kg") == 2
    other = text(result(models=(exact, side(B, total_mass=22.110001))))
    assert "22.11 kg" in other
    assert "22.110001 kg" in other


def test_two_values_have_as_many_digits_as_it_takes():
    """Equal ones are round."""
    assert pair(0.1 + 0.2, 0.1 + 0.2) == ("0.3", "0.3")
    assert pair(1.0, 1.0 + 1e-10) == ("1", "1.0000000001")
    assert pair(0.3, 0.1 + 0.2) == ("0.29999999999999999", "0.30000000000000004")


def test_a_residual_that_is_not_finite_has_no_share_of_a_scale():
    """Infinity of a scale says nothing."""
    left = told("unexplained", "elbow", 1e-9, math.inf, "1", fix="tau has no finite answer in state 7")
    said = flowed(result(left))
    assert "unexplained at elbow (arm.urdf:10) tau has no finite answer in state 7" in said
    assert "of its scale" not in said
