"""Documents quote the lines that findings point at, as far as the files can be read."""

from __future__ import annotations

from pathlib import Path

import tautology
from tautology.harness.snippets import LONGEST, quoted

LAMP = Path(tautology.__file__).parent / "models" / "desk_lamp.urdf"


def document(*findings: dict) -> dict:
    """Return the smallest document with findings of one engine."""
    return {"models": [{"lint": [], "engines": [{"findings": list(findings)}]}]}


def test_a_check_quotes_the_line_of_a_finding():
    """The link without inertia, in the words of the file."""
    found = tautology.check(LAMP, states=3, engines=["mujoco"]).to_json()["models"][0]["engines"][1]["findings"]
    shade = next(f for f in found if f["kind"] == "mass.default")
    assert shade["snippet"].strip() == LAMP.read_text().splitlines()[shade["line"] - 1].strip()
    assert "shade" in shade["snippet"]


def test_a_diff_quotes_both_lines(tmp_path):
    """Each side its own."""
    other = tmp_path / "other.urdf"
    other.write_text(LAMP.read_text().replace('mass value="0.8"', 'mass value="0.7"'))
    assert other.read_text() != LAMP.read_text()
    (mass,) = (f for f in tautology.diff(LAMP, other, states=3).to_json()["findings"] if f["kind"] == "mass")
    assert '"0.8"' in mass["snippet"]
    assert '"0.7"' in mass["other_snippet"]


def test_what_cannot_be_read_is_not_quoted(tmp_path):
    """A file that is gone, a folder, a line beyond the end, no line at all; a long line is cut, line ends are none."""
    file = tmp_path / "r.urdf"
    file.write_bytes(b"one\r\ntwo\rthree \xe9\n" + b"x" * 1000)
    rows = [
        {"file": str(tmp_path / "gone"), "line": 1},
        {"file": str(tmp_path), "line": 1},
        {"file": str(file), "line": 9},
        {"file": str(file), "line": None},
        {"file": None, "line": 3},
    ]
    assert not any("snippet" in row for row in quoted(document(*rows))["models"][0]["engines"][0]["findings"])
    lines = [{"file": str(file), "line": n} for n in (1, 2, 3, 4)]
    quoted(document(*lines))
    assert [line["snippet"] for line in lines] == ["one", "two", "three \ufffd", "x" * LONGEST]
