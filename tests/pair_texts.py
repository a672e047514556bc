"""Two links as a URDF, with whatever a test wants to be otherwise, and the real pairs of files beside the checkout."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "mjcf"
# Name in example-robot-data, file of the corpus, base.
REAL = {
    "ur5": ("ur5_robot", "universal_robots_ur5e__ur5e.xml", "auto"),
    "go1": ("go1", "unitree_go1__go1.xml", "free"),
    "xarm7": ("xarm7", "ufactory_xarm7__xarm7_nohand.xml", "auto"),
    "g1": ("g1_29dof_rev_1_0", "g1__g1_29dof.xml", "free"),
}

LINK = """<link name="{name}"><inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="{mass}"/>
<inertia ixx="0.011" iyy="0.102" izz="0.103" ixy="0.004" ixz="-0.002" iyz="0.003"/></inertial></link>
"""
CAMERA = LINK.format(name="camera", com="0.02 0.01 -0.03", rpy="0.3 0 0.2", mass="0.3") + (
    '<joint name="mount" type="fixed"><parent link="fore"/><child link="camera"/>'
    '<origin xyz="0.2 0.1 0.3" rpy="0.1 -0.2 0.3"/></joint>\n'
)
TOOL = LINK.format(name="tool", com="0.1 0 0.02", rpy="0 0 0", mass="0.2") + (
    '<joint name="twist" type="continuous"><parent link="fore"/><child link="tool"/>'
    '<origin xyz="0.3 0 0.1" rpy="0.2 0 0"/><axis xyz="1 0 0"/></joint>\n'
)
NAIL = LINK.format(name="nail", com="0.1 0 0", rpy="0 0 0", mass="0.1") + (
    '<joint name="nailed" type="fixed"><parent link="tool"/><child link="nail"/><origin xyz="0 0.2 0.3"/></joint>\n'
)


def two_links(beyond: str = "", *, mass: str = "1", swapped: bool = False, **names: str) -> str:
    """Return a URDF with a hinge and an elbow, the second hinge before the first when swapped.

    Args:
        beyond: more elements.
        mass: of the link `fore`.
        swapped: whether a second arm, on the base, stands before the first or behind it.
        **names: other names of links and joints.
    """
    upper = LINK.format(name="upper", com="0.5 0.1 0", rpy="0.1 0.2 0", mass="2")
    other = LINK.format(name="other", com="0.2 0.1 0.3", rpy="0 0.2 0.1", mass="0.7")
    hinge = (
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>\n'
    )
    second = (
        '<joint name="second" type="continuous"><parent link="base"/><child link="other"/>'
        '<origin xyz="0 1 0"/><axis xyz="1 0 0"/></joint>\n'
    )
    elbow = (
        LINK.format(name="fore", com="0.3 0.1 0.2", rpy="0 0.1 0.4", mass=mass)
        + '<joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>'
        '<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>\n'
    )
    arms = [upper + hinge, other + second]
    text = (
        f'<robot name="arm">\n<link name="base"/>\n{"".join(arms[::-1] if swapped else arms)}{elbow}{beyond}</robot>\n'
    )
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return text


def real_pair(name: str) -> tuple[str, str, str]:
    """Return both files of a real pair and its base; a test without them is skipped."""
    robot, file, base = REAL[name]
    if not CORPUS.is_dir():
        pytest.skip("the corpus does not lie beside the checkout")
    try:
        from example_robots import EXAMPLE_ROBOTS  # noqa: PLC0415  absent without the extra `test`
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    found = [path for key, path in EXAMPLE_ROBOTS.items() if key.endswith(f"/{robot}")]
    return str(found[0]), str(CORPUS / file), base
