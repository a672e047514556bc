"""The cases beside the checkout, entry by entry, and what our own answers say at their states."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.diagnosis.alignment import align, side
from tautology.harness.diagnosis.matching import match
from tautology.harness.load import Loaded, open_model
from tautology.harness.run import Request, check_files
from tautology.harness.states import States, sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tautology.harness.engine import Session
    from tautology.harness.tree import Tree

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
DEFAULT = {"pinocchio": "4.1.0", "mujoco": "4.0.0"}
DYNAMICS = {"M": "mass_matrix", "g": "gravity_forces", "bias": "bias", "tau": "inverse_dynamics"}
FREED = ("free root", "root joint: free flyer", "freejoint added")


@dataclass(frozen=True)
class Expectation:
    """One entry of one case for one engine and one version.

    Attributes:
        folder: of the case.
        command: "check" or "diff".
        first: file against which a diff stands.
        number: of the entry in the case.
        engine, version: asked; the version is None for the default one.
        entry: the table of the TOML.
        state: the table of the state for the file, empty without one.
    """

    folder: Path
    command: str
    first: str
    number: int
    engine: str
    version: str | None
    entry: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The id of the test: case, number, engine, path, file, and what is looked for."""
        said = [self.entry["status"], self.entry.get("finding"), self.entry.get("quantity"), self.entry.get("options")]
        version = f"=={self.version}" if self.version else ""
        parts = [f"{self.folder.name}-{self.number}", f"{self.engine}{version}", self.entry["path"], self.entry["file"]]
        return " ".join([*parts, *(str(word).replace("::", ":") for word in said if word)])

    @property
    def file(self) -> Path:
        """The model file."""
        return self.folder / self.entry["file"]

    @property
    def base(self) -> str:
        """What `--base` must say so that the robot is the one that the entry means."""
        rooted = self.file.suffix == ".urdf" and "root" in self.state.get("q", {})
        asked = self.entry.get("options", "").startswith(FREED)
        # A state of a root that the file welds is asked on a free base, except where the call itself is another one.
        return "free" if asked or rooted else "auto"


def expectations() -> Iterator[Expectation]:
    """Yield every entry of every case, engine by engine and version by version."""
    for folder in sorted(CASES.glob("[0-9]*")):
        case = tomllib.loads((folder / "case.toml").read_text())
        for number, entry in enumerate(case["expect"]):
            state = next((s for s in case.get("state", []) if entry["file"] in s["files"]), {})
            for engine in _listed(entry["engine"]):
                for version in _listed(entry.get("version")):
                    kept = None if version == DEFAULT.get(engine) else version
                    yield Expectation(folder, case["command"], case["files"][0], number, engine, kept, entry, state)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def opened(file: Path, base: str) -> Loaded:
    """Return the model of a file."""
    return open_model(file, base)


def vectors(tree: Tree, state: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, v, a (1, n) of a state; joints that it does not name are undisplaced and at rest."""
    rows = [tree.neutral.copy(), np.zeros(tree.nv), np.zeros(tree.nv)]
    for row, key, slices in zip(rows, "qva", (tree.q_slices, tree.v_slices, tree.v_slices), strict=True):
        for name, value in state.get(key, {}).items():
            flat = [*value["pos"], *value["quat_wxyz"]] if isinstance(value, dict) else value
            row[slices[tree.joint_index.get(name, 1)]] = flat  # "root" is the joint of body 1
    return rows[0][None], rows[1][None], rows[2][None]


def asked_states(tree: Tree, state: Mapping[str, Any]) -> States:
    """Return a dozen drawn states and the one of the case behind them."""
    q, v, a = vectors(tree, state)
    drawn = sample(tree, 12)
    return States(
        np.concatenate([drawn.q, q]),
        np.concatenate([drawn.v, v]),
        np.concatenate([drawn.a, a]),
        np.concatenate([drawn.tau, a * 0]),
        np.concatenate([drawn.wrenches, drawn.wrenches[:1] * 0]),
        (*drawn.strata, "case"),
    )


@cache
def checked(file: Path, engine: str, path: str, base: str, state: str) -> Mapping[str, Any]:
    """Return the JSON of `tautology check` with one engine on one path."""
    engines = [engine] if engine != "reference" else ["pinocchio"]
    try:
        states: Any = asked_states(opened(file, base).tree, tomllib.loads(state)["state"])
    except Exception:  # noqa: BLE001  what is wrong with the file, the check itself says
        states = 12
    return check_files([file], Request(engines=engines, path=path, base=base, states=states)).to_json()


@cache
def session(file: Path, engine: str, path: str, base: str) -> Session:
    """Return the session of an engine on a file."""
    model = opened(file, base)
    adapter = registry.adapter(engine)
    return adapter.native(model.given, model.tree) if path == "native" else adapter.neutral(model.tree)
