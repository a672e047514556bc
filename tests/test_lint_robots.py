"""Lint of real robots: sound ones are quiet, known faults are found, and MuJoCo refuses what is said to be no body."""

from __future__ import annotations

import pytest
from example_robots import EXAMPLE_ROBOTS, NAMELESS

from tautology import check
from tautology.harness.diagnosis.lint import lint
from tautology.harness.importers.urdf import read_urdf

# What MuJoCo refuses: tensors that no body has, and moving links without inertia.
REFUSED = {"lint.triangle", "lint.not_definite", "lint.massless", "lint.no_inertial"}
SOUND = (
    "panda_description/panda",
    "ur_description/ur5_robot",
    "xarm_description/xarm7",
    "z1_description/z1",
    "solo_description/solo12",
    "talos_data/talos_full_v2",
    "g1_description/g1_29dof_rev_1_0",
    "go2_description/go2",
    "a1_description/a1",
    "so_arm_description/so101",
    "tiago_pro_description/tiago_pro",
    "iris_description/iris",
)


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_robot_is_quiet(name):
    """Arms, hands, quadrupeds, humanoids and a drone, with their dummy links and tool frames."""
    assert lint(read_urdf(EXAMPLE_ROBOTS[name])) == ()


@pytest.mark.parametrize(
    ("name", "kind", "count", "where", "line"),
    [
        ("tiago_description/tiago_dual", "lint.mirror", 4, "arm_right_1_link", 3281),
        ("talos_data/talos_reduced", "lint.mirror", 1, "arm_right_1_link", 835),
        ("romeo_description/romeo", "lint.massless", 8, "LFinger11Link", 988),
        ("human_description/human", "lint.no_inertial", 19, "left_upperleg_virtual", 32),
        ("bolt_description/bolt", "lint.massless_tensor", 2, "FL_FOOT", 201),
        ("allegro_hand_description/allegro_left_hand", "lint.triangle", 4, "link_11.0", 143),
        ("baxter_description/baxter", "lint.tensor_size", 6, "left_gripper_base_link", 1028),
        ("centauro_description/centauro", "lint.range", 4, "j_wheel_1", 828),
        ("alex_description/alex_psyonic_hands", "lint.mimic", 8, "Left_index_q2", 1037),
    ],
)
def test_a_known_fault_of_a_real_robot_is_found(name, kind, count, where, line):
    """Faults that stand in published files, each looked at by hand."""
    found = [f for f in lint(read_urdf(EXAMPLE_ROBOTS[name])) if f.kind == kind]
    assert (len(found), found[0].where, found[0].line) == (count, where, line)


@pytest.mark.parametrize("name", sorted(set(EXAMPLE_ROBOTS) - NAMELESS))
def test_mujoco_refuses_what_is_told_to_be_no_body(name, tmp_path, monkeypatch):
    """MuJoCo judges masses and tensors by itself: it refuses a file just when one of these kinds stands in it."""
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # where MuJoCo leaves its MUJOCO_LOG.TXT
    spec = mujoco.MjSpec.from_file(str(EXAMPLE_ROBOTS[name]))
    for element in [*spec.geoms, *spec.meshes, *spec.equalities]:
        spec.delete(element)
    words = ""
    try:
        spec.compile()
    except ValueError as error:
        words = str(error)
    nonphysical = any(part in words for part in ("mass and inertia", "A + B", "eigenvalues"))
    assert nonphysical or not words, words
    assert nonphysical is any(f.kind in REFUSED for f in lint(read_urdf(EXAMPLE_ROBOTS[name])))


def test_a_fault_of_the_file_changes_no_verdict():
    """Where engines compute alike they agree, whatever the file says; the faults stand beside the answer."""
    result = check(EXAMPLE_ROBOTS["allegro_hand_description/allegro_left_hand"], engines=["pinocchio"], states=2)
    assert (result.exit, result.verdict) == (0, "agree")
    assert {f.kind for f in result.models[0].lint} == {"lint.triangle"}
    assert list(result.frames("lint")["lint"]["line"]) == [143, 281, 419, 565]
