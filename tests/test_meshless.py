"""A URDF without its meshes: the same robot on the same lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from example_robots import EXAMPLE_ROBOTS

from tautology.harness.errors import ReadError
from tautology.harness.load import load
from tautology.harness.meshless import without_meshes

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """<?xml version="1.0" encoding="{}"?>
<robot name="bär">
  <link name="a"><visual><geometry><mesh filename="x.stl"/></geometry></visual>
    <collision>
      <geometry><box size="1 2 3"/></geometry></collision></link>
  <link name="b"><visual/><collision
     name="c"><geometry><mesh filename="y>.stl"></mesh></geometry></collision
     ><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
</robot>
"""


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "UTF-16"])
def test_meshes_go_and_lines_stay(tmp_path: Path, encoding: str) -> None:
    """Two meshes are blanked out, shapes and the rest stay on their lines, whatever the encoding."""
    path = tmp_path / "a.urdf"
    path.write_bytes(TEXT.format(encoding).encode(encoding))
    text, count = without_meshes(path)
    assert count == 2
    assert "mesh" not in text
    lines = text.splitlines()
    assert len(lines) == len(TEXT.splitlines())
    assert "bär" in lines[1]
    assert "box" in lines[4]
    assert "<inertial>" in lines[7]
    assert lines[7].lstrip().startswith("<inertial>")
    (tmp_path / "b.urdf").write_text(text, encoding="utf-8")
    assert load(tmp_path / "b.urdf").joints[2].source().line == 9


def test_a_file_without_meshes_stays_as_it_is(tmp_path: Path) -> None:
    """Nothing is touched where there is nothing to take out."""
    path = tmp_path / "a.urdf"
    text = TEXT.format("UTF-8").replace("mesh filename", "other filename").replace("</mesh>", "</other>")
    path.write_text(text, encoding="utf-8")
    assert without_meshes(path) == (text, 0)


def test_what_is_no_xml_is_said(tmp_path: Path) -> None:
    """A file that breaks off, or is not in the encoding that it declares, is refused in a sentence."""
    path = tmp_path / "a.urdf"
    path.write_text(TEXT.format("UTF-8")[:-20], encoding="utf-8")
    with pytest.raises(ReadError, match="not XML"):
        without_meshes(path)
    path.write_bytes(TEXT.format("UTF-8").encode("ISO-8859-1"))
    with pytest.raises(ReadError, match="not in utf-8"):
        without_meshes(path)


@pytest.mark.parametrize("path", list(EXAMPLE_ROBOTS.values())[:8], ids=lambda path: path.stem)
def test_real_robots_stay_the_same(path: Path, tmp_path: Path) -> None:
    """Links, joints, inertias and their lines are those of the file."""
    text, count = without_meshes(path)
    copy = tmp_path / path.name
    copy.write_text(text, encoding="utf-8")
    one, two = load(path), load(copy)
    assert count
    assert [b.name for b in one.bodies] == [b.name for b in two.bodies]
    assert [b.source("mass").line for b in one.bodies] == [b.source("mass").line for b in two.bodies]
    assert one.total_mass == two.total_mass
