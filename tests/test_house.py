"""The rules of the house: imports run one way, and the public names are there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from house_plan import (
    ADAPTERS,
    ENGINES,
    FAMILIES,
    HARNESS,
    MODULES,
    RANK,
    REPORTS,
    Import,
    distribution,
    imports,
    part_of,
)

import tautology

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = {"DiffResult", "HarnessError", "Result", "States", "Tree", "check", "diff", "engines", "load", "sample"}


def test_the_reader_of_imports_reads_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Relative names are resolved, functions are told from modules, TYPE_CHECKING is left out."""
    code = """
from typing import TYPE_CHECKING
import numpy as np
from .. import adapters
from ..tree import Tree
from . import urdf
if TYPE_CHECKING:
    import mujoco
else:
    import lxml
def late():
    import pinocchio.utils
"""
    file = tmp_path / "mjcf.py"
    file.write_text(code, encoding="utf-8")
    monkeypatch.setitem(MODULES, "harness.importers.mjcf", file)
    monkeypatch.setitem(MODULES, "harness.importers.urdf", file)
    assert imports("harness.importers.mjcf") == [
        Import("typing", deferred=False),
        Import("numpy", deferred=False),
        Import(".harness", deferred=False),
        Import(".harness.tree", deferred=False),
        Import(".harness.importers.urdf", deferred=False),
        Import("lxml", deferred=False),
        Import("pinocchio.utils", deferred=True),
    ]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_the_package_relatively(module: str) -> None:
    """The clone may have any name: inside the package, no import says `tautology`."""
    assert [i.name for i in imports(module) if i.top == "tautology"] == []


@pytest.mark.parametrize("module", HARNESS)
def test_the_harness_imports_from_its_own_layer_and_below(module: str) -> None:
    """Dependencies run one way, from the front doors down to spatial algebra."""
    assert part_of(module) in RANK, f"{module} has no place in LAYERS"
    used = {part_of(i.name[1:]) for i in imports(module) if i.name.startswith(".harness.")}
    above = {part for part in used if RANK[part] > RANK[part_of(module)]}
    assert above == set(), f"{module} imports from above itself"


@pytest.mark.parametrize("module", HARNESS)
def test_the_harness_imports_no_engine(module: str) -> None:
    """Only the MJCF importer asks an engine, MuJoCo, and only when it is called."""
    engines = [i for i in imports(module) if i.top in set().union(*ENGINES.values())]
    if module.startswith("harness.importers.mjcf"):
        engines = [i for i in engines if i.top != "mujoco" or not i.deferred]
    assert engines == []


@pytest.mark.parametrize("module", HARNESS)
def test_the_harness_loads_adapters_only_when_they_are_asked_for(module: str) -> None:
    """The registry knows the cards; whoever needs an adapter imports it inside a function."""
    early = [i.name for i in imports(module) if i.name.startswith(".adapters") and not i.deferred]
    assert early == ([".adapters"] if module == "harness.registry" else [])


@pytest.mark.parametrize("module", ADAPTERS)
def test_an_adapter_imports_the_harness_and_one_engine(module: str) -> None:
    """Neither another engine, nor another engine's adapter, nor a report."""
    used = imports(module)
    assert {i.top for i in used if i.third_party} <= {"numpy"} | ENGINES.get(distribution(module), set())
    own = {i.name[1:] for i in used if i.own}
    assert {name for name in own if not name.startswith(("harness", "adapters"))} == set()
    family = {name for name in own if name.startswith("adapters.")}
    allowed = FAMILIES.get(distribution(module), {distribution(module)})
    assert {name for name in family if distribution(name) not in allowed} == set()


@pytest.mark.parametrize("module", REPORTS)
def test_a_report_reads_results_alone(module: str) -> None:
    """A report knows what a run found, never how."""
    used = imports(module)
    assert {i.top for i in used if i.third_party} <= {"rich", "pandas", "lxml", "numpy", "pyarrow"}
    own = {i.name for i in used if i.own and not i.name.startswith(".reports")}
    results = {".harness.results", ".harness.diff_result", ".harness.comparison", ".harness.findings"}
    assert own <= results | {".harness.saved", ".harness.kinds", ".harness.errors", ".harness.replace"}


def test_the_package_loads_no_module_in_a_circle() -> None:
    """What modules import when they load, not when they are called, has an order."""
    waiting: dict[str, set[str]] = {}
    for module in MODULES:
        names = {i.name[1:] for i in imports(module) if i.own and not i.deferred}
        waiting[module] = (names | {f"{name}.__init__" for name in names}) & MODULES.keys()
    while free := {module for module, used in waiting.items() if not used & waiting.keys()}:
        waiting = {module: used for module, used in waiting.items() if module not in free}
    assert waiting == {}, "these load each other"


def test_the_public_names_are_there() -> None:
    """Every name of `__all__` can be had, says what it is, and is found by `dir`; there are at most a dozen."""
    assert set(tautology.__all__) >= PUBLIC
    assert len(tautology.__all__) <= 12
    for name in tautology.__all__:
        assert getattr(tautology, name).__doc__, f"{name} has no docstring"
    assert set(tautology.__all__) <= set(dir(tautology))


def test_an_unknown_name_lists_those_that_exist() -> None:
    """`tautology.chekc` is an attribute error that says which names there are."""
    with pytest.raises(AttributeError, match=r"'chekc'.*check, diff, engines"):
        _ = tautology.chekc


def test_type_checkers_see_what_is_there() -> None:
    """The names under TYPE_CHECKING come from the modules that the lazy loading asks."""
    tree = ast.parse(MODULES["__init__"].read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: f"tautology.{node.module}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {name: getattr(tautology, name).__module__ for name in tautology.__all__} == typed
