"""The plan of the house: which modules there are, which layer each belongs to, what each imports."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tautology
from tautology.adapters import CARDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(tautology.__file__).parent
# Distribution to the names that its adapter imports.
ENGINES = {
    "pin": {"pinocchio"},
    "mujoco": {"mujoco"},
    "drake": {"pydrake"},
    "idyntree": {"idyntree"},
    "dartpy": {"dartpy"},
    "pybullet": {"pybullet"},
    "adam-robotics": {"adam"},
    "mujoco-mjx": {"mujoco", "jax"},
    "newton": {"newton", "warp"},
    "urchin": {"urchin"},
    "yourdfpy": {"yourdfpy"},
}
# Packages beside the engines that are ours: they may use the reference, and no engine.
OWN = {"textbook"}
# MJX computes with MuJoCo's models: its adapter builds and reads them as MuJoCo's does.
FAMILIES = {"mujoco-mjx": {"mujoco-mjx", "mujoco"}}
# From the bottom up: a module imports from its own layer and from those below. A package stands for its modules.
LAYERS = (
    ("errors", "spatial", "linear", "reading", "replace"),
    ("joint", "body", "tree_faults", "tree", "fusion", "findings", "wrenches", "depth", "limits"),
    (
        "bases",
        "seats",
        "revealed",
        "lacking",
        "one_call",
        "reflected",
        "streams",
        "base_links",
        "kinematic",
        "urdf_objects",
    ),
    ("importers", "exporters", "states", "engine", "meshless", "parsers"),
    (
        "registry",
        "load",
        "callables",
        "plain",
        "results",
        "diff_result",
        "frames",
        "checks",
        "diagnosis",
        "fixes",
        "kinds",
        "name_map",
        "arrays",
        "described",
        "request",
        "settings",
        "known",
        "comparison",
        "baseline",
        "baseline_file",
        "baseline_changes",
        "bench",
        "lanes",
        "engine_terms",
        "environments",
        "stopwatch",
        "wire",
        "workers",
        "remote",
        "worker_child",
        "worker_server",
        "departures",
        "saved",
        "snippets",
        "schema",
    ),
    ("specimens", "contract", "explain"),
    ("run", "diff", "baseline_run", "bisection", "collect", "pools"),
    ("sweep", "selftest"),
    (
        "cli_options",
        "cli_output",
        "cli_pairs",
        "cli_sweep",
        "cli_baseline",
        "cli_versions",
        "cli_selftest",
        "cli_explain",
        "cli",
        "pytest_check",
        "pytest_items",
        "pytest_plugin",
    ),
)
RANK = {module: rank for rank, modules in enumerate(LAYERS) for module in modules}


@dataclass(frozen=True)
class Import:
    """One imported module.

    Attributes:
        name: `.harness.tree` inside the package, `numpy.typing` outside.
        deferred: whether it stands inside a function.
    """

    name: str
    deferred: bool

    @property
    def own(self) -> bool:
        """Whether it is a module of the package."""
        return self.name.startswith(".")

    @property
    def top(self) -> str:
        """The first part of the name, "" inside the package."""
        return self.name.split(".")[0]

    @property
    def third_party(self) -> bool:
        """Whether it has to be installed."""
        return not self.own and self.top not in sys.stdlib_module_names


def _modules() -> dict[str, Path]:
    folders = ("adapters", "harness", "models", "reports")
    files = [*ROOT.glob("*.py"), *(file for folder in folders for file in (ROOT / folder).rglob("*.py"))]
    return {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in sorted(files)}


# Every module of the package by its dotted name, `harness.tree`; packages as `harness.__init__`.
MODULES = _modules()
HARNESS = [name for name in MODULES if name.startswith("harness.") and name != "harness.__init__"]
ADAPTERS = [name for name in MODULES if name.startswith("adapters.") and name != "adapters.__init__"]
REPORTS = [name for name in MODULES if name.startswith("reports.")]


def imports(module: str) -> list[Import]:
    """Return what a module imports when it runs; what stands under TYPE_CHECKING is read by tools alone."""
    return list(_imports(ast.parse(MODULES[module].read_text(encoding="utf-8")), module, deferred=False))


def _imports(node: ast.AST, module: str, *, deferred: bool) -> Iterator[Import]:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        for child in node.orelse:
            yield from _imports(child, module, deferred=deferred)
        return
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, deferred) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level:
        home = module.split(".")[: -node.level]
        base = [*home, *(node.module or "").split(".")] if node.module else home
        for alias in node.names:  # the name is a module itself in `from . import composite`
            deeper = ".".join([*base, alias.name])
            known = deeper in MODULES or f"{deeper}.__init__" in MODULES
            yield Import("." + (deeper if known else ".".join(base)), deferred)
    elif isinstance(node, ast.ImportFrom):
        yield Import(str(node.module), deferred)
    inside = deferred or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, module, deferred=inside)


def part_of(harness_module: str) -> str:
    """Return what `LAYERS` calls a module: `harness.importers.xml` is `importers`."""
    return harness_module.split(".")[1]


def distribution(adapter: str) -> str:
    """Return the package that an adapter module is for, `pin` for `adapters.pinocchio_read`; "tautology" for ours.

    Raises:
        LookupError: no engine or several could own it.
    """
    name = adapter.split(".")[1]
    if name in OWN:
        return "tautology"
    owners = [card.distribution for card in CARDS if name.startswith(card.name)]
    if len(owners) != 1:
        raise LookupError(f"{adapter} belongs to {owners or 'none'} of the engines {[card.name for card in CARDS]}")
    return owners[0]
