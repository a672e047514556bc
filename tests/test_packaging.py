"""The wheel, the folder that the checkout lies in, the Makefile and the README: what a person meets before any code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tautology import adapters
from tautology.harness import registry

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FOLDERS = ("adapters", "harness", "models", "reports")

IMPORT_ALL = """
import importlib, pathlib, sys
import tautology
assert tautology.__file__ == sys.argv[1], tautology.__file__
for name in sys.argv[2:]:
    file = importlib.import_module(name).__file__
    assert pathlib.Path(file).is_relative_to(pathlib.Path(sys.argv[1]).parent), file
"""

WHERE = """
import pathlib
import tautology
def test_where():
    assert pathlib.Path(tautology.__file__).resolve().parent == pathlib.Path(__file__).resolve().parent.parent
"""


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with what it printed in one text.

    PYTHONPATH and what an outer `make` was told are not handed on.
    """
    told = ("PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "VENV", "PYTHON", "JOBS", "TESTS", "CONSTRAINTS")
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name not in told} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=240,
    )


def copy_checkout(target: Path) -> Path:
    """Copy what git knows, or would take, of the checkout: no build folder, no caches, no environment."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    if listed.returncode != 0:
        pytest.skip(f"{ROOT} is no git checkout, so what belongs to it is unknown: {listed.stdout.strip()}")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():  # not one that was deleted and is still in the index
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution and the wheel from it, as a release does, without the network."""
    source = copy_checkout(tmp_path_factory.mktemp("source"))
    shutil.rmtree(source / "build", ignore_errors=True)
    built = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", ".", cwd=source)
    assert built.returncode == 0, built.stdout
    (file,) = (source / "dist").glob("*.whl")
    return file


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every file of the package's folders is in, models and tables too; tests and the house's own files are not."""
    source = wheel.parent.parent
    files = [*source.glob("*.py"), *(file for folder in FOLDERS for file in (source / folder).rglob("*"))]
    expected = {file.relative_to(source).as_posix() for file in files if file.is_file()} | {"py.typed"}
    assert {"models/tau_arm.urdf", "models/tau_arm.xml", "models/catalogue.toml", "harness/tree.py"} <= expected
    names = set(zipfile.ZipFile(wheel).namelist())
    info = next(name.split("/")[0] for name in names if name.endswith("/METADATA"))
    inside = {name.removeprefix("tautology/") for name in names if not name.startswith(f"{info}/")}
    assert inside == expected
    assert f"{info}/licenses/LICENSE" in names


def importable(module: str) -> bool:
    """Return whether all that a module imports is here: an adapter, in its several modules, imports its engine."""
    absent = [card.module for card in adapters.CARDS if registry.version(card) is None]
    return not any(module.startswith(f"tautology.{adapter}") for adapter in absent)


def test_the_installed_wheel_imports_every_module(wheel: Path, tmp_path: Path) -> None:
    """Installed elsewhere, each module comes from there, and the bundled robots can be read."""
    target = tmp_path / "site"
    install = ("install", "--quiet", "--no-deps", "--no-index", "--target", target)
    installed = run(sys.executable, "-m", "pip", *install, wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stdout
    root = target / "tautology"
    modules = [".".join(file.relative_to(target).with_suffix("").parts) for file in root.rglob("*.py")]
    modules = sorted(filter(importable, (name.removesuffix(".__init__") for name in modules)))
    assert {"tautology.adapters.mujoco_build", "tautology.adapters.pinocchio_", "tautology.harness.tree"} <= {*modules}
    assert len(modules) > 100
    command = [sys.executable, "-W", "error", "-c", IMPORT_ALL, root / "__init__.py", *modules]
    ran = run(*command, cwd=tmp_path, PYTHONPATH=str(target))
    assert ran.returncode == 0, ran.stdout
    code = "from tautology import load, models; print(load(models.path('tau_arm.urdf')).nv)"
    assert run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(target)).stdout.split() == ["7"]


def test_pyproject_lists_every_package() -> None:
    """Packages are listed by name: a new folder with modules has to be added."""
    packages = {"tautology"}
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            packages.add(".".join(("tautology", *file.parent.relative_to(ROOT).parts)))
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages


def test_the_suite_runs_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """In a clone called `a-b.c`, which is no name of a package, tests are found and pass on its own code."""
    clone = copy_checkout(tmp_path / "a-b.c")
    (tmp_path / "tautology").symlink_to(clone)
    (clone / "tests" / "test_where.py").write_text(WHERE, encoding="utf-8")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_spatial.py")
    ran = run(*command, "tests/test_where.py", cwd=clone, PYTHONPATH=str(tmp_path))
    assert ran.returncode == 0, ran.stdout
    assert re.search(r"\d{2,} passed", ran.stdout)


def python_blocks() -> list[str]:
    """Return the examples of the README."""
    return re.findall(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not README.strip(), reason="the README is empty")
def test_the_readme_has_an_example() -> None:
    """There is Python to copy, and what to type in a shell."""
    assert python_blocks()
    assert "make demo" in README
    assert "make test" in README


def test_the_documents_name_commands_that_exist() -> None:
    """Whatever follows `make` in a document is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE))
    assert {"demo", "test", "lint", "bench", "clean"} <= targets
    for document in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        text = (ROOT / document).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)\s*make ([a-z]+)", text, flags=re.MULTILINE))
        assert named <= targets, document


def test_makefile_and_metadata_ask_for_the_same_python() -> None:
    """`make` looks for the versions that the package can be installed on."""
    low, high = re.search(r"\(3, (\d+)\) <= sys.version_info\[:2\] <= \(3, (\d+)\)", MAKEFILE).groups()
    assert PROJECT["project"]["requires-python"] == f">=3.{low},<3.{int(high) + 1}"
    classifiers = [line for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]
    assert [line.rsplit(".", 1)[1] for line in classifiers] == [str(v) for v in range(int(low), int(high) + 1)]
    assert all(f"python3.{v}" in MAKEFILE for v in range(int(low), int(high) + 1))


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """Return an environment as `make` leaves it, apart from what is installed."""
    folder = tmp_path / "venv"
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=tmp_path)
    assert made.returncode == 0, made.stdout
    (folder / "made").write_text(f"[{ROOT}]\n", encoding="utf-8")
    return folder


def up_to_date(venv: Path, *arguments: str) -> bool:
    """Return whether `make` would take the environment as it is."""
    ran = run("make", "--question", f"{venv}/made", f"VENV={venv}", *arguments, cwd=ROOT)
    assert ran.returncode in (0, 1), ran.stdout
    return ran.returncode == 0


def test_a_sound_environment_is_kept(venv: Path) -> None:
    """Nothing is made anew without a reason."""
    assert up_to_date(venv)


def test_an_environment_that_does_not_start_is_made_anew(venv: Path) -> None:
    """Its Python went away, as it does when the system's is replaced."""
    for python in (venv / "bin").glob("python*"):
        python.unlink()
    assert not up_to_date(venv)


def test_an_environment_of_another_folder_is_made_anew(venv: Path) -> None:
    """The clone was moved: the scripts hold the old path."""
    (venv / "made").write_text(f"[{ROOT}-before]\n", encoding="utf-8")
    assert not up_to_date(venv)


def test_a_half_made_environment_is_made_anew(venv: Path) -> None:
    """The installation was interrupted: the mark of its start is still there."""
    (venv / "installing").touch()
    assert not up_to_date(venv)


def test_an_environment_of_another_python_is_made_anew(venv: Path) -> None:
    """Only when that Python is asked for."""
    assert not up_to_date(venv, "PYTHON=python3.12")


def test_make_says_which_python_it_needs(tmp_path: Path) -> None:
    """Where none will do, it says what it tried, and leaves nothing behind."""
    ran = run("make", "demo", f"VENV={tmp_path / 'venv'}", "PYTHON=/nowhere/python3.12 false", cwd=ROOT)
    assert ran.returncode != 0
    assert "No Python 3.11 to 3.13" in ran.stdout
    assert "/nowhere/python3.12" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_make_removes_no_folder_that_is_not_its_own(tmp_path: Path) -> None:
    """VENV may be set by mistake to a folder with other things in it."""
    (tmp_path / "thesis.tex").touch()
    for target in ("demo", "clean"):
        ran = run("make", target, f"VENV={tmp_path}", cwd=ROOT)
        assert ran.returncode != 0
        assert "no virtual environment" in ran.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
