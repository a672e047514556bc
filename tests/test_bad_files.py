"""Files that cannot be used: one message with file, line and name, whatever is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urdf_texts import GOOD, refusal

from tautology.harness.errors import ReadError
from tautology.harness.importers.urdf import parse_urdf

ROTATION = ('rpy="-0.4 0.1 0.2"', 'quat_xyzw="0 0 0 0"')
TWO_ROTATIONS = ('rpy="-0.4 0.1 0.2"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"')
MIMIC = '<child link="piece"/><mimic joint="turn" multiplier="nan"/>'

# What is wrong: the line and the name that the error points at, words of its message, and what replaces what.
MALFORMED = {
    "another root": (1, None, "<sdf> <robot>", ("robot", "sdf")),
    "no robot name": (1, None, "<robot> 'name'", (' name="good"', "")),
    "no links": (1, None, "'good' <link>", (GOOD[GOOD.index("  <link") : GOOD.index("</robot>")], "")),
    "mass nan": (6, "part", "'part' 'nan' finite", ('"0.7"', '"nan"')),
    "mass infinite": (6, "part", "'part' '-Infinity' finite", ('"0.7"', '"-Infinity"')),
    "mass overflows": (6, "part", "'part' '1e999' large", ('"0.7"', '"1e999"')),
    "mass in words": (6, "part", "'part' 'heavy' number", ('"0.7"', '"heavy"')),
    "mass with a comma": (6, "part", "'part' '0,7' point", ('"0.7"', '"0,7"')),
    "mass with underscore": (6, "part", "'part' '1_0' number", ('"0.7"', '"1_0"')),
    "mass in other digits": (6, "part", "'part' number", ('"0.7"', '"\u0663"')),
    "mass in hexadecimal": (6, "part", "'part' '0x1' number", ('"0.7"', '"0x1"')),
    "mass empty": (6, "part", "'part' 'value' empty", ('"0.7"', '""')),
    "mass blank": (6, "part", "'part' value 0 expected 1", ('"0.7"', '" "')),
    "mass twice": (6, "part", "'part' value 2 expected 1", ('"0.7"', '"0.7 0.8"')),
    "mass without value": (6, "part", "'part' 'value'", ('mass value="0.7"', "mass")),
    "mass negative": (6, "part", "'part' negative -0.7", ('"0.7"', '"-0.7"')),
    "no mass": (4, "part", "'part' <mass>", ('<mass value="0.7"/>', "")),
    "tensor incomplete": (7, "part", "'part' 'ixy'", (' ixy="0.0001"', "")),
    "tensor overflows": (7, "part", "'part' <inertia> large", ('"0.002"', '"1.7e308"'), ('"-0.0002"', '"1.7e308"')),
    "COM of two numbers": (5, "part", "'part' xyz 2 expected 3", ("0.02 0.03 0.05", "0.02 0.03")),
    "rpy with nan": (14, "turn", "'turn' rpy 'nan' finite", ("-0.4 0.1 0.2", "-0.4 nan 0.2")),
    "placement of four": (14, "turn", "'turn' xyz 4 expected 3", ("0.02 0.03 0.1", "0 0 0 1")),
    "quaternion zero": (14, "turn", "'turn' quat_xyzw zero", ('"good"', '"good" version="1.1"'), ROTATION),
    "two rotations": (14, "turn", "'turn' rpy quat_xyzw", ('"good"', '"good" version="1.1"'), TWO_ROTATIONS),
    "axis zero": (15, "turn", "'turn' <axis> zero", ("0.8 0 0.6", "0 -0 0.0")),
    "axis in words": (15, "turn", "'turn' xyz 'z' number", ("0.8 0 0.6", "0 0 z")),
    "limit infinite": (16, "turn", "'turn' lower '-inf' finite", ('"-2.5"', '"-inf"')),
    "damping nan": (17, "turn", "'turn' damping 'NaN' finite", ('damping="1"', 'damping="NaN"')),
    "link without name": (10, None, "<link> 'name'", (' name="piece"', "")),
    "joint without name": (19, None, "<joint> 'name'", ('joint name="fold"', "joint")),
    "joint with empty name": (19, None, "<joint> 'name' empty", ('"fold"', '""')),
    "joint without type": (19, "fold", "'fold' 'type'", (' type="continuous"', "")),
    "no parent": (19, "fold", "'fold' <parent", ('<parent link="part"/>', "")),
    "no child": (19, "fold", "'fold' <child", ('<child link="piece"/>', "")),
    "parent without link": (20, "fold", "'fold' <parent> 'link'", ('<parent link="part"/>', "<parent/>")),
    "unknown parent": (20, "fold", "'fold' <parent> 'who'", ('parent link="part"', 'parent link="who"')),
    "unknown child": (21, "fold", "'fold' <child> 'who'", ('child link="piece"', 'child link="who"')),
    "two links of one name": (10, "part", "'part' 3", ('link name="piece"', 'link name="part"')),
    "two joints of one name": (19, "turn", "'turn' 11", ('"fold"', '"turn"')),
    "two parents": (19, "part", "'part' 'turn' 11 'fold'", ('child link="piece"', 'child link="part"')),
    "two roots": (
        11,
        "alone",
        "'alone' 'base' 2",
        ('<link name="piece"/>', '<link name="piece"/>\n<link name="alone"/>'),
    ),
    "joint from a link to itself": (19, "fold", "'fold' loop", ('parent link="part"', 'parent link="piece"')),
    "loop without a root": (19, "fold", "'fold' loop", ('child link="piece"', 'child link="base"')),
    "mimic without joint": (
        21,
        "fold",
        "'fold' <mimic> 'joint'",
        ('<child link="piece"/>', '<child link="piece"/><mimic/>'),
    ),
    "mimic ratio nan": (21, "fold", "'fold' multiplier 'nan'", ('<child link="piece"/>', MIMIC)),
}


@pytest.mark.parametrize("case", MALFORMED.values(), ids=MALFORMED.keys())
def test_each_fault_names_its_line_and_its_element(
    case: tuple[int, str | None, str, *tuple[tuple[str, str], ...]],
) -> None:
    """Every rule of the format, broken once; the message has file, line, name and what was found."""
    line, where, words, *changes = case
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    error = refusal(text.encode())
    assert str(error).startswith(f"bad file.urdf:{line}: ")
    assert (error.source.file, error.source.line, error.where) == ("bad file.urdf", line, where)
    assert error.kind == ("refused.nonphysical" if "negative" in words else "refused.malformed")
    for word in words.split():
        assert word in str(error)


def test_the_unbroken_file_loads() -> None:
    """What the faults are planted in has none itself."""
    assert parse_urdf(GOOD.encode(), "good.urdf").dofs == ("turn", "fold")


def test_unknown_joint_types_are_named_with_those_that_are_supported() -> None:
    """A screw joint, with its line and the list."""
    error = refusal(GOOD.replace("continuous", "screw").encode())
    assert (error.kind, error.where, error.source.line) == ("refused.unsupported", "fold", 19)
    for word in ("'fold'", "'screw'", "revolute", "floating", "planar", "ball"):
        assert word in str(error)


def test_deep_nesting_ends_with_an_answer() -> None:
    """A hundred thousand elements inside each other, in a vendor tag and as a root."""
    depth = 100_000
    nest = depth * "<a>" + depth * "</a>"
    tree = parse_urdf(GOOD.replace("</robot>", f"{nest}</robot>").encode(), "deep.urdf")
    assert [loss.element for loss in tree.losses] == ["a"]
    assert "<a>" in str(refusal(nest.encode()))


def test_unexpanded_macros_are_refused_with_the_command_that_expands_them() -> None:
    """A file that still has xacro elements is another robot than the one that is meant."""
    error = refusal(GOOD.replace("<link", "<xacro:include filename='a'/><link", 1).encode())
    assert (error.source.line, error.kind) == (2, "refused.unsupported")
    assert "xacro 'bad file.urdf' > " in str(error)


HOSTILE = [
    "nan",
    "inf",
    "-1e400",
    "1,5",
    "",
    "0 0 0",
    "\u0000",
    "<",
    "&",
    '"',
    "<!DOCTYPE a>",
    "base",
    "part",
    "turn",
    "fixed",
    "-1",
]


@given(
    st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), st.sampled_from(HOSTILE)), min_size=1, max_size=4)
)
def test_damaged_files_load_or_are_refused(damage: list[tuple[int, int, str]]) -> None:
    """Whatever is cut out and put in: a tree, or one of our errors that names the file."""
    text = GOOD
    for start, length, new in damage:
        text = text[:start] + new + text[start + length :]
    try:
        tree = parse_urdf(text.encode(), "damaged.urdf")
    except ReadError as error:
        assert str(error).startswith("damaged.urdf")  # noqa: PT017  either outcome is right
    else:
        assert len(tree.bodies) >= 2
