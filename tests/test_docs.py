"""Every block of code on README and on the pages of docs runs, in a folder of its own, page by page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import page_runner
import pytest

import tautology
from tautology.adapters import CARDS

ROOT = Path(tautology.__file__).parent
RUNNER = Path(page_runner.__file__)
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.is_file()]
# Pages whose blocks are parts of something larger, which another test builds whole.
ELSEWHERE = {
    "docs/adapters.md": "tests/test_third_party.py builds, installs and runs the package",
    "docs/pytest.md": "tests/test_pytest_plugin.py runs it inside pytest",
}
FILES = {  # what a reader is thought to have
    "robot.urdf": "tau_arm.urdf",
    "robot.xml": "tau_arm.xml",
    "robots/arm.urdf": "tau_arm.urdf",
    "robots/arm.xml": "tau_arm.xml",
    "robots/lamp.urdf": "desk_lamp.urdf",
}


DATA = ("", "text", "toml", "xml", "yaml", "json")  # nothing that runs
CODE = re.compile(r"^(\$ |>>> |import |from \w+ import |assert |def )", re.MULTILINE)


def name(page):
    """Return the place of a page in the checkout."""
    return page.relative_to(ROOT).as_posix()


def runs(page):
    """Return the blocks of a page that are run here."""
    return [
        block
        for block in page_runner.blocks(page.read_text(encoding="utf-8"))
        if block.language in page_runner.RUN and block.reason is None
    ]


def run_page(page, folder):
    """Run a page as a reader would who installed no extras, at 80 columns, with our own commands on the path."""
    hidden = [card.distribution for card in CARDS if card.name not in ("reference", "pinocchio", "mujoco")]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TAUTOLOGY"))}
    bin_folder = Path(sys.executable).parent
    return subprocess.run(
        [sys.executable, str(RUNNER), str(page)],
        cwd=folder,
        env={
            **kept,
            "COLUMNS": "80",
            "PATH": f"{bin_folder}{os.pathsep}{kept['PATH']}",
            "PYTHONPATH": str(RUNNER.parent / "without_extras"),
            "TAUTOLOGY_HIDDEN": " ".join(hidden),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def params():
    """Return the pages that have something to run; those that say so in a comment are slow."""
    for page in PAGES:
        if name(page) not in ELSEWHERE and runs(page):
            slow = "<!-- slow -->" in page.read_text(encoding="utf-8")
            yield pytest.param(page, id=name(page), marks=[pytest.mark.slow] if slow else [])


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the package is installed without its docs")
@pytest.mark.parametrize("page", list(params()))
def test_the_blocks_of_a_page_run(page, tmp_path):
    """In order, in one process; none of them writes beside its folder."""
    for file, model in FILES.items() if name(page) != "docs/tutorial.md" else ():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "models" / model, tmp_path / file)
    shutil.copytree(ROOT / "models", tmp_path / "models", ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    ran = run_page(page, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert int(ran.stdout.split()[-1]) >= len(runs(page))


def test_what_is_not_run_has_a_reason():
    """Few blocks are left out, and each says why in so many words."""
    left = {
        f"{name(page)}:{block.line}": block.reason
        for page in PAGES
        for block in page_runner.blocks(page.read_text(encoding="utf-8"))
        if block.reason is not None
    }
    assert all(len(reason.split()) >= 3 for reason in left.values()), left
    total = sum(len(page_runner.blocks(page.read_text(encoding="utf-8"))) for page in PAGES)
    assert len(left) <= max(2, total // 10), left


def unseen(text):
    """Return what looks like code on a page and is neither run nor data: fences, languages, commands told as text."""
    seen = page_runner.blocks(text)
    fences = [line for line in text.splitlines() if re.match(r"\s*(```|~~~)", line)]
    found = [] if len(fences) == 2 * len(seen) else [f"{len(fences)} fences, {len(seen)} blocks"]
    for block in seen:
        if block.language in page_runner.RUN or block.file:
            continue
        if block.language not in DATA:
            found.append(f"line {block.line}: {block.language!r} is not run")
        elif block.language in ("", "text") and CODE.search(block.text):
            found.append(f"line {block.line}: code that is told as text")
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_goes_past_the_runner(page):
    """Every fence is one that the runner sees, in a language that it runs, or in one of data."""
    assert unseen(page.read_text(encoding="utf-8")) == []


PAST = {
    "another word for python": "```py\nassert False\n```\n",
    "a session": "```pycon\n>>> 1\n```\n",
    "no word": "```\nimport numpy\n```\n",
    "commands as text": "```text\n$ false\n```\n",
    "tildes": "~~~python\nassert False\n~~~\n",
    "set in": "- so:\n\n  ```python\n  assert False\n  ```\n",
}


@pytest.mark.parametrize("text", PAST.values(), ids=PAST)
def test_a_block_that_would_go_past_is_told(text):
    """Each of these was passed over without a word."""
    assert unseen(text)


@pytest.mark.parametrize("page", [page for page in PAGES if name(page) in ELSEWHERE], ids=name)
def test_a_page_that_another_test_runs_is_named_there(page):
    """The test that is said to run it opens it."""
    test = ROOT / ELSEWHERE[name(page)].split()[0]
    assert page.name in test.read_text(encoding="utf-8")


WRONG = {
    "raises": "```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n",
    "fails": "```sh\nfalse\n```\n",
    "ends well": "```sh\ntrue # exit 1\n```\n",
    "prints another": "```console\n$ echo one two\none three\n```\n",
    "prints less": "```console\n$ echo one\none\n...\ntwo\n```\n",
    "warns": "```python\nimport warnings\nwarnings.warn('old')\n```\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_page_fails(tmp_path, text):
    """The runner sees what is wrong in a block."""
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert run_page(page, tmp_path).returncode == 1


def test_a_right_page_passes(tmp_path):
    """Files are written, names are kept from block to block, left-out blocks are not run."""
    page = tmp_path / "page.md"
    page.write_text(
        "`a.txt`, a file:\n\n```text\nhello 1.5\n```\n\n```python\nx = 3\n```\n\n```python\nassert x == 3\n```\n\n"
        "```console\n$ cat a.txt\nhello 2.5\n```\n\n<!-- not run: it needs the network -->\n```sh\nfalse\n```\n",
        encoding="utf-8",
    )
    ran = run_page(page, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "4\n"
