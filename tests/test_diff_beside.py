"""Two files that differ beside the open tree: closures, flags, tendons, and whatever else no tree holds."""

from __future__ import annotations

import pytest

import tautology
from tautology.harness.importers.mjcf import read_mjcf

ROBOT = """<mujoco model="m">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81" {option}>{flag}</option>
  <worldbody>
    <body name="a" {a}><joint name="ja" axis="0 1 0" {ja}/><geom type="box" size=".1 .2 .1" {ga}/>
      <body name="b" pos="1 0 0"><joint name="jb" axis="0 1 0"/><geom type="box" size=".1 .1 .1"/>
        <site name="s" pos="{s} 0 0"/></body></body>
    <body name="c" pos="0 2 0"><joint name="jc" type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1"/></body>
    <site name="w" pos="0 0 3"/>
  </worldbody>
  {more}
</mujoco>"""
BLANK = dict.fromkeys(("option", "flag", "a", "ja", "ga", "more"), "") | {"s": "0.1"}
FIXED = (
    '<tendon><fixed name="{name}" {terms}><joint joint="ja" coef="{c}"/><joint joint="jb" coef="2"/></fixed></tendon>'
)
SPATIAL = '<tendon><spatial name="t" {}><site site="s"/><site site="w"/></spatial></tendon>'


def equality(text: str, **fields: str) -> dict[str, str]:
    """Return a robot with one equality."""
    return {"more": f"<equality><{text}/></equality>"} | fields


def coupled(polycoef: str, more: str = "", **fields: str) -> dict[str, str]:
    """Return a robot whose first joint follows the second."""
    return equality(f'joint joint1="ja" joint2="jb" polycoef="{polycoef}" {more}', **fields)


def fixed(terms: str = "", c: str = "1", name: str = "t", more: str = "", **fields: str) -> dict[str, str]:
    """Return a robot with a fixed tendon."""
    return {"more": FIXED.format(terms=terms, c=c, name=name) + more} | fields


def motor(**values: float) -> dict[str, str]:
    """Return a robot with a motor."""
    terms = " ".join(f'{name}="{value}"' for name, value in values.items())
    return {"more": f'<actuator><motor joint="ja" {terms}/></actuator>'}


def off(*flags: str) -> str:
    """Return a flag element that disables."""
    words = " ".join(f'{flag}="disable"' for flag in flags)
    return f"<flag {words}/>"


HELD = '<equality><tendon tendon1="t" polycoef="0.2 0 0 0 0"/></equality>'
CONNECT, WELD = 'connect body1="b" body2="c" anchor="{} 0 0"', 'weld body1="b" body2="c" relpose="{} 0 0 1 0 0 0"'
LINEAR = coupled("0 1 0 0 0")
FRICTION = {"ja": 'frictionloss="3"'}
WATER = {"option": 'density="1000"'}

# What differs: the two robots, the kinds that are told, the place.
DIFFERENT = {
    "ratio": (LINEAR, coupled("0 2 0 0 0"), "joint.mimic", "ja"),
    "quadratic term": (LINEAR, coupled("0 1 .5 0 0"), "joint.mimic", "ja"),
    "quartic term": (coupled("0 1 0 0 .1"), coupled("0 1 0 0 .2"), "joint.mimic", "ja"),
    "leader": (LINEAR, equality('joint joint1="ja" joint2="jc" polycoef="0 1 0 0 0"'), "joint.mimic", "ja"),
    "locked joint": (equality('joint joint1="ja" polycoef=".3 0 0 0 0"'), {}, "joint.mimic", "ja"),
    "inactive coupling": (LINEAR, coupled("0 1 0 0 0", 'active="false"'), "joint.mimic", "ja"),
    "coupling switched off": (LINEAR, coupled("0 1 0 0 0", flag=off("equality")), "joint.mimic", "ja"),
    "connect": (equality(CONNECT.format(0)), {}, "constraint", "connect0"),
    "anchor": (equality(CONNECT.format(0)), equality(CONNECT.format(0.1)), "constraint", "connect0"),
    "connect switched off": (
        equality(CONNECT.format(0)),
        equality(CONNECT.format(0), flag=off("constraint")),
        "constraint",
        "connect0",
    ),
    "inactive connect": (
        equality(CONNECT.format(0)),
        equality(CONNECT.format(0) + ' active="false"'),
        "constraint",
        "connect0",
    ),
    "weld": (equality(WELD.format(1)), {}, "constraint", "weld0"),
    "weld elsewhere": (equality(WELD.format(1)), equality(WELD.format(2)), "constraint", "weld0"),
    "tendon equality": (fixed(more=HELD), fixed(), "constraint", "tendon0"),
    "held tendon": (fixed(more=HELD), fixed(c="3", more=HELD), "constraint", "tendon0"),
    "tendon stiffness": (fixed('stiffness="1"'), fixed('stiffness="9"'), "spring", "t"),
    "tendon stiffness of higher order": (fixed('stiffness="1"'), fixed('stiffness="1 2"'), "spring", "t"),
    "tendon rest": (
        fixed('stiffness="1" springlength=".1"'),
        fixed('stiffness="1" springlength=".2"'),
        "spring",
        "t",
    ),
    "tendon damping": (fixed(), fixed('damping="9"'), "damping", "t"),
    "tendon friction": (fixed('frictionloss="1"'), fixed('frictionloss="2"'), "frictionloss", "t"),
    "tendon path": (fixed('damping="1"'), fixed('damping="1"', c="3"), "damping", "t"),
    "tendon armature": (fixed('armature="1"'), fixed('armature="2"'), "armature.tendon", "t"),
    "spatial stiffness": (
        {"more": SPATIAL.format('stiffness="1"')},
        {"more": SPATIAL.format('stiffness="2"')},
        "spring",
        "t",
    ),
    "spatial armature": (
        {"more": SPATIAL.format('armature="1"')},
        {"more": SPATIAL.format('armature="2"')},
        "armature.tendon",
        "t",
    ),
    "spatial path": (
        {"more": SPATIAL.format('damping="1"')},
        {"more": SPATIAL.format('damping="1"'), "s": "0.2"},
        "damping",
        "t",
    ),
    "actuator damping": (motor(gear=2, damping=1), motor(gear=2, damping=2), "damping", "ja"),
    "gear of a damped actuator": (motor(gear=2, damping=1), motor(gear=3, damping=1), "damping", "ja"),
    "damping of higher order": ({"ja": 'damping="1 .5"'}, {"ja": 'damping="1 .7"'}, "damping", "ja"),
    "stiffness of higher order": ({"ja": 'stiffness="1 .5"'}, {"ja": 'stiffness="1 .7"'}, "spring", "ja"),
    "gravcomp by actuators": (
        {"a": 'gravcomp="1"'},
        {"a": 'gravcomp="1"', "ja": 'actuatorgravcomp="true"'},
        "gravcomp",
        "ja",
    ),
    "ellipsoid": (WATER, WATER | {"ga": 'fluidshape="ellipsoid"'}, "fluid", "a"),
    "wind": (WATER, {"option": 'density="1000" wind="1 0 0"'}, "fluid", None),
    "spring switched off": ({"ja": 'stiffness="3"'}, {"ja": 'stiffness="3"', "flag": off("spring")}, "spring", "ja"),
    "damper switched off": ({"ja": 'damping="3"'}, {"ja": 'damping="3"', "flag": off("damper")}, "damping", "ja"),
    "friction switched off": (FRICTION, FRICTION | {"flag": off("frictionloss")}, "frictionloss", "ja"),
    "tendon spring switched off": (
        fixed('stiffness="3"'),
        fixed('stiffness="3"', flag=off("spring")),
        "spring",
        "t",
    ),
    "all passive forces switched off": (
        {"a": 'gravcomp="1"'},
        {"a": 'gravcomp="1"', "flag": off("spring", "damper")},
        "gravcomp",
        "a",
    ),
}
# What is said otherwise, or is no smooth, unforced dynamics.
SAME = {
    "names of tendons": (fixed('stiffness="1"'), fixed('stiffness="1"', name="rope")),
    "names of held tendons": (
        fixed(more=HELD),
        fixed(name="rope", more=HELD.replace('"t"', '"rope"')),
    ),
    "a measuring tendon": (fixed(), {}),
    "names of equalities": (equality(CONNECT.format(0)), equality('connect name="x" ' + CONNECT.format(0)[7:])),
    "an inactive equality": (equality(CONNECT.format(0) + ' active="false"'), {}),
    "an inactive coupling": (coupled("0 1 0 0 0", 'active="false"'), {}),
    "equalities switched off": ({}, equality(WELD.format(1), flag=off("equality"))),
    "an ellipsoid in the void": ({}, {"ga": 'fluidshape="ellipsoid"'}),
    "actuators carry no gravity": ({}, {"ja": 'actuatorgravcomp="true"'}),
    "gear": (motor(gear=2), motor(gear=3)),
    "limits": ({"ja": 'range="-1 1"'}, {"ja": 'range="-1 2"'}),
    "time step": ({}, {"option": 'timestep="0.01"'}),
}


@pytest.fixture
def compare(tmp_path):
    """Return a function that compares two robots, each told by the fields that are not blank."""

    def run(*robots: dict[str, str]):
        for side, robot in zip("ab", robots, strict=True):
            (tmp_path / f"{side}.xml").write_text(ROBOT.format(**(BLANK | robot)), encoding="utf-8")
        return tautology.diff(tmp_path / "a.xml", tmp_path / "b.xml", states=4)

    return run


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_beside_the_tree_differs_either_way_round(compare, name):
    """One finding of severity model, at the element, with a line of both files; the same twice over is none."""
    a, b, kind, where = DIFFERENT[name]
    for pair in ((a, b), (b, a)):
        result = compare(*pair)
        assert [(f.kind, f.where, f.severity) for f in result.reasons] == [(kind, where, "model")]
        assert result.exit == 1
        (told,) = result.reasons
        assert told.expected != told.found
        assert (told.file, told.other_file) == (result.models[0].file, result.models[1].file)
        assert told.line or told.other_line
        assert compare(pair[0], pair[0]).reasons == ()


@pytest.mark.parametrize("name", SAME)
def test_what_is_said_otherwise_is_the_same_robot(compare, name):
    """No finding of severity model."""
    a, b = SAME[name]
    for pair in ((a, b), (b, a)):
        result = compare(*pair)
        assert [(f.kind, f.where) for f in result.counted] == []
        assert result.exit == 0


def test_both_lines_are_given_of_what_differs(compare, tmp_path):
    """The flag that switches a spring off has a line of its own; an absent damper has that of its tendon."""
    result = compare({"ja": 'stiffness="3"'}, {"ja": 'stiffness="3"', "flag": "\n" + off("spring")})
    (told,) = result.reasons
    assert (told.line, told.other_line, told.expected, told.found) == (5, 4, 3.0, 0.0)
    (told,) = compare(fixed(), fixed('damping="9"')).reasons
    assert (told.line, told.other_line, told.expected) == (11, 11, "absent")
    assert read_mjcf(tmp_path / "b.xml").losses[0].says[0].value == (9.0,)
    (told,) = compare(fixed('damping="1"'), fixed('damping="1"', c="3")).reasons
    assert (told.expected, told.found) == ("coef ja 1", "coef ja 3")


def test_a_place_in_another_frame_is_the_same_place(tmp_path):
    """Anchors, welds and sites are compared where they are, not as the body frames have them."""
    robot = """<mujoco><worldbody><body name="a"><joint name="ja" axis="0 1 0"/>
    <inertial pos="{com}" mass="2" diaginertia=".1 .1 .1"/><site name="s" pos="{site}"/></body>
    <body name="c"><joint name="jc" type="slide" axis="1 0 0" pos="0 0 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".1 .2 .3"/></body><site name="w" pos="0 0 3"/></worldbody>
    <tendon><spatial name="t" stiffness="2" springlength="1"><site site="s"/><site site="w"/></spatial></tendon>
    <equality><connect body1="a" body2="c" anchor="{site}"/><weld body1="a" body2="c" relpose="{rel} 1 0 0 0"/>
    </equality></mujoco>"""
    texts = [
        robot.format(com="0 0 .5", site="0 .2 .3", rel="0 .1 .4"),
        robot.replace('name="a"', 'name="a" pos="0 .1 0"')
        .replace('name="ja"', 'name="ja" pos="0 -.1 0"')
        .format(com="0 -.1 .5", site="0 .1 .3", rel="0 0 .4"),
        robot.format(com="0 0 .5", site="0 .2 .31", rel="0 .1 .4"),
    ]
    for side, text in zip("abc", texts, strict=True):
        (tmp_path / f"{side}.xml").write_text(text, encoding="utf-8")
    same = tautology.diff(tmp_path / "a.xml", tmp_path / "b.xml", states=4)
    assert [(f.kind, f.where, f.expected, f.found) for f in same.counted] == []
    moved = tautology.diff(tmp_path / "a.xml", tmp_path / "c.xml", states=4)
    assert {(f.kind, f.where) for f in moved.counted} == {("constraint", "connect0"), ("spring", "t")}


URDF = """<robot name="r"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>{}</joint>
{}
</robot>"""
ROTOR = (
    '<transmission name="m"><joint name="elbow"/><actuator name="x">{}<gear_ratio>{}</gear_ratio></actuator>'
    "</transmission>"
)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (("", ""), ('<drake:rotor_inertia value=".1"/>', ""), ["drake:rotor_inertia"]),
        (('<rotor_inertia value="1e-1"/>', ""), ('<rotor_inertia value="0.10"/>', ""), []),
        (("", ROTOR.format("", 3)), ("", ROTOR.format("", 4)), []),
        (
            ("", ROTOR.format('<rotor_inertia value="1"/>', 3)),
            ("", ROTOR.format('<rotor_inertia value="1"/>', 4)),
            ["gear_ratio"],
        ),
        (
            ("", '<gazebo reference="elbow"><springStiffness>2</springStiffness></gazebo>'),
            ("", '<gazebo reference="elbow"><springStiffness>3</springStiffness></gazebo>'),
            ["springStiffness"],
        ),
        (("", ""), ("", '<gazebo reference="arm"><gravity>true</gravity></gazebo>'), []),
        (("", ""), ("", '<gazebo reference="arm"><gravity>false</gravity></gazebo>'), ["gravity"]),
        (("", ""), ("", '<gazebo reference="arm"><mu1>0.2</mu1></gazebo>'), []),
        (("", ""), ("", '<mujoco><compiler meshdir="x" discardvisual="false"/></mujoco>'), []),
        (("", ""), ("", '<mujoco><compiler balanceinertia="true"/></mujoco>'), ["compiler"]),
    ],
)
def test_vendor_tags_are_compared_where_they_touch_the_dynamics(tmp_path, a, b, told):
    """One that says another number, or stands in one file only, is `feature.ignored`; one without effect is none."""
    for side, parts in (("a", a), ("b", b)):
        (tmp_path / f"{side}.urdf").write_text(URDF.format(*parts), encoding="utf-8")
    for pair in (("a", "b"), ("b", "a")):
        result = tautology.diff(*(tmp_path / f"{side}.urdf" for side in pair), states=4)
        assert [(f.kind, f.note) for f in result.counted] == [("feature.ignored", element) for element in told]
        assert result.exit == bool(told)
