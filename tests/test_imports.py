"""What an import needs and what it costs, each seen in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from importlib import metadata

import pytest
from house_plan import ADAPTERS, ENGINES, distribution

from tautology.adapters import CARDS
from tautology.harness import registry

EVERY = set().union(*ENGINES.values())
# What an old version of an engine needs to run our adapter, in an environment that has nothing else.
BARE = ("errors", "spatial", "tree", "fusion", "findings", "states", "engine")

LONELY = """
import sys, warnings
warnings.simplefilter("error")
module, refused, paths = sys.argv[1], set(sys.argv[2].split(",")), sys.argv[3].split(",")
sys.path[:] = [path for path in sys.path if path not in paths]

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in refused:
            raise ModuleNotFoundError(f"{name} is not here", name=name)

# Files of other packages in site-packages run before us.
for name in [name for name in sys.modules if name.partition(".")[0] in refused]:
    del sys.modules[name]
sys.meta_path.insert(0, Refuse())
__import__(module)
"""


def spelled(name: str) -> str:
    """Return the one spelling of the name of a distribution."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(*names: str) -> set[str]:
    """Return the installed distributions among these and what they require, extras left out."""
    found: set[str] = set()
    queue = list(names)
    while queue:
        name = spelled(queue.pop())
        if name in found:
            continue
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # a requirement of another platform
            continue
        found.add(name)
        queue += [re.split(r"[^\w.-]", line)[0] for line in wanted if "extra ==" not in line]
    return found


@cache
def owners() -> dict[str, set[str]]:
    """Return every name that can be imported, with the distributions that bring it."""
    installed = {top: {spelled(name) for name in names} for top, names in metadata.packages_distributions().items()}
    # Pinocchio lies in a folder of its own on the path: its names are not in the metadata.
    tops = {top: {name for name, owned in ENGINES.items() if top in owned} for top in EVERY}
    return installed | tops


def lonely(module: str, *distributions: str) -> subprocess.CompletedProcess[str]:
    """Import a module where every package is refused but these and what they need."""
    kept = closure(*distributions) | {"tautology"}
    refused = {top for top, names in owners().items() if not kept & names} - sys.stdlib_module_names
    paths = [] if "cmeel" in kept else [path for path in sys.path if "cmeel.prefix" in path]
    command = [sys.executable, "-c", LONELY, module, ",".join(sorted(refused)), ",".join(paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("stranger", ["pandas", "mujoco", "pinocchio", "eigenpy", "rich", "lxml"])
def test_the_lonely_process_refuses_strangers(stranger: str) -> None:
    """Beside numpy, nothing else can be imported, or the tests below would prove nothing."""
    assert "ModuleNotFoundError" in lonely(stranger, "numpy").stderr


@pytest.mark.parametrize(("package", "other"), [("pin", "mujoco"), ("mujoco", "pin")])
def test_the_lonely_process_keeps_one_engine(package: str, other: str) -> None:
    """Numpy and the engine that is wanted can be imported, the other engine cannot."""
    (wanted,), (refused,) = ENGINES[package], ENGINES[other]
    ran = lonely(wanted, "numpy", package)
    assert ran.returncode == 0, ran.stderr
    assert "ModuleNotFoundError" in lonely(refused, "numpy", package).stderr


@pytest.mark.parametrize("module", BARE)
def test_the_harness_of_a_worker_needs_numpy_alone(module: str) -> None:
    """A process for another version of an engine has numpy and that engine, and no more."""
    ran = lonely(f"tautology.harness.{module}", "numpy")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("module", [name.removesuffix(".__init__") for name in ADAPTERS])
def test_an_adapter_needs_numpy_and_its_engine_alone(module: str) -> None:
    """Each adapter module is imported where nothing else is installed."""
    for card in CARDS:
        if card.distribution == distribution(module) and registry.version(card) is None:
            pytest.skip(f"{card.name} is not installed: {card.install}")
    ran = lonely(f"tautology.{module}", "numpy", *({distribution(module)} & ENGINES.keys()))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import tautology", {"numpy", "pandas", "lxml", "rich", "typer", *EVERY}),
        ("import tautology.adapters", {"pandas", "lxml", "rich", "typer", *EVERY}),
        ("from tautology import check", {"pandas", "rich", "typer", *EVERY}),
        ("from tautology import engines; engines()", {"pandas", *EVERY}),
    ],
)
def test_an_import_costs_no_more_than_it_must(statement: str, unwanted: set[str]) -> None:
    """Pandas takes as long to import as both engines: what is not needed is not loaded."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert unwanted.intersection(ran.stdout.split()) == set()
