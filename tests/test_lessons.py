"""Lessons: each has its parts, its figure and its exercises; both languages run the same code; figures come again."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import page_runner
import pytest

import tautology

ROOT = Path(tautology.__file__).parent
DOCS = ROOT / "docs"
LESSONS = sorted(file for file in (DOCS / "lessons").glob("[0-9]*.md") if not file.name.endswith(".zh.md"))
CHINESE = sorted((DOCS / "lessons").glob("*.zh.md"))
FIGURE = re.compile(r"!\[[^\]]+\]\(\.\./figures/([\w-]+)\.svg\)")
ANSWER = re.compile(r"^<details markdown=\"1\"><summary>\w+</summary>\n\n(.*?)^</details>$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the package is installed without its docs")


def code(text: str) -> list[str]:
    """Return the blocks of a page that run."""
    return [block.text for block in page_runner.blocks(text) if block.language in page_runner.RUN]


def draw(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the figures."""
    return subprocess.run(
        [sys.executable, str(DOCS / "figures.py"), "--folder", str(folder), *words],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


@pytest.mark.parametrize("page", [*LESSONS, *CHINESE], ids=lambda page: page.name)
def test_a_lesson_has_its_parts(page: Path) -> None:
    """A question, one figure that is there, two or three exercises whose answers are checked by code."""
    text = page.read_text(encoding="utf-8")
    assert re.search(r"^\*\*(Question\.|问题。)\*\*", text, re.MULTILINE)
    figures = FIGURE.findall(text)
    assert len(figures) == 1
    assert (DOCS / "figures" / f"{figures[0]}.svg").is_file()
    answers = ANSWER.findall(text)
    number = int(page.name[:2])
    assert re.findall(r"^\*\*(\d+\.\d)\*\*", text, re.MULTILINE) == [f"{number}.{k + 1}" for k in range(len(answers))]
    assert len(answers) in (2, 3)
    assert all(code(answer) for answer in answers)


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_both_languages_run_the_same_code(page: Path) -> None:
    """A translation has the blocks, the figure and the numbers of its original, and each leads to the other."""
    original = page.with_name(page.name.replace(".zh.md", ".md"))
    ours, theirs = original.read_text(encoding="utf-8"), page.read_text(encoding="utf-8")
    assert code(ours)
    assert code(ours) == code(theirs)
    assert FIGURE.findall(ours) == FIGURE.findall(theirs)
    assert f"]({page.name})" in ours
    assert f"]({original.name})" in theirs
    assert len(re.findall(r"[\u4e00-\u9fff]", theirs)) > 400


def test_the_first_five_lessons_are_in_both_languages() -> None:
    """Those are the subjects of a text that is bilingual itself."""
    first = [page.stem for page in LESSONS if int(page.name[:2]) <= 5]
    assert len(first) == 5
    assert [page.name.removesuffix(".zh.md") for page in CHINESE] == first


def test_every_figure_is_used() -> None:
    """And every file beside them is one."""
    used = {name for page in LESSONS for name in FIGURE.findall(page.read_text(encoding="utf-8"))}
    assert {file.name for file in (DOCS / "figures").iterdir()} == {f"{name}.svg" for name in used}


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed: extra 'docs'")
def test_figures_are_drawn_again(tmp_path: Path) -> None:
    """One command draws all of them; twice the same bytes, and what is checked in holds the same marks."""
    for folder in ("first", "second"):
        ran = draw(tmp_path / folder)
        assert ran.returncode == 0, ran.stderr
    drawn = sorted((tmp_path / "first").iterdir())
    assert {file.name for file in drawn} == {file.name for file in (DOCS / "figures").iterdir()}
    for file in drawn:
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()
        kept = DOCS / "figures" / file.name
        # Another release of matplotlib may draw other outlines; rounding differs from processor to processor, so that
        # places are not compared.
        if maker(file) == maker(kept):
            assert marks(file) == marks(kept), file.name


def maker(file: Path) -> list[str]:
    """Return who drew an SVG file."""
    return re.findall(r"Matplotlib v[\d.]+", file.read_text(encoding="utf-8"))


def marks(file: Path) -> list[str]:
    """Return the elements of an SVG file and the words written in it, in order."""
    return re.findall(r"<(?:[a-z]+|!-- .*? --)", file.read_text(encoding="utf-8"))


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed: extra 'docs'")
def test_one_figure_in_another_format(tmp_path: Path) -> None:
    """A name and a format draw that one."""
    ran = draw(tmp_path, "--format", "png", "03-columns")
    assert ran.returncode == 0, ran.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["03-columns.png"]
    assert (tmp_path / "03-columns.png").read_bytes().startswith(b"\x89PNG")
