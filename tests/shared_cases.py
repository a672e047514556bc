"""The cases beside the checkout: their entries, their states, and what our own commands answer to them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from package_index import require_index

from tautology.harness import registry
from tautology.harness.diff import diff
from tautology.harness.engine import Given
from tautology.harness.environments import python_of
from tautology.harness.errors import EngineRefused, HarnessError
from tautology.harness.load import Loaded, open_model
from tautology.harness.remote import RemoteEngine
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.spatial import inverse, quaternion_from_rotation, rotation_from_quaternion, transform
from tautology.harness.states import States, sample
from tautology.harness.tree import JointKind, Tree, world
from tautology.harness.workers import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tautology.harness.engine import Engine, Session

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
DEFAULT = {
    "pinocchio": "4.1.0",
    "mujoco": "4.0.0",
    "reference": None,
    "dart": "6.20.0",
    "drake": "1.51.1",
    "idyntree": "15.1.0",
    "pybullet": "3.2.7",
}
# Beginnings of the options that mean a free base, and how a file is loaded otherwise than by default.
FREED = (
    *("free root", "root joint: free flyer", "freejoint added", "quaternion handed", "ordinary base acceleration"),
    "useFixedBase=0",
)
UNFUSED = "fusestatic=false"
# Options of an engine that another call of it answers, `called` of `case_numbers_ENGINE`.
CALLED = {("pybullet", "flags=0"), ("pybullet", "URDF_MERGE_FIXED_LINKS")}
WRENCH = re.compile(r"force \((.*?)\) N and torque \((.*?)\) N m in world axes on body (\w+)")


@dataclass(frozen=True)
class Expectation:
    """One entry of one case for one engine and one version.

    Attributes:
        folder: of the case.
        command: "check" or "diff".
        first: name of the file that a diff stands against.
        number: of the entry in the case.
        engine: asked.
        version: asked, None for the default one.
        entry: the table of the entry.
        state: the table of the state for its file, empty without one.
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
        said = [self.entry["status"], self.entry.get("finding"), self.entry.get("quantity"), self.options]
        version = f"=={self.version}" if self.version else ""
        parts = [f"{self.folder.name}-{self.number}", f"{self.engine}{version}", self.entry["path"], self.entry["file"]]
        return " ".join([*parts, *(str(word).replace("::", ":") for word in said if word)])

    @property
    def options(self) -> str:
        """How the call departs from the default one."""
        return self.entry.get("options", "")

    @property
    def file(self) -> Path:
        """The model file."""
        return self.folder / self.entry["file"]

    @property
    def base(self) -> str:
        """What `--base` must be for the robot that the entry means: a state of a root asks for a free base."""
        rooted = self.file.suffix == ".urdf" and "root" in self.state.get("q", {})
        return "free" if self.options.startswith(FREED) or rooted else "auto"


def expectations() -> Iterator[Expectation]:
    """Yield every entry of every case, engine by engine and version by version."""
    for folder in sorted(CASES.glob("[0-9]*")):
        case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
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


@cache
def engine_of(engine: str, version: str | None, options: str = "") -> Engine:
    """Return an engine, called as the options say; of another version than ours, in a process of its own."""
    if (engine, options) in CALLED:
        return import_module(f"case_numbers_{engine}").called(options)
    if version is None:
        return registry.adapter(engine)
    require_index()
    return RemoteEngine(Worker(engine, python_of(engine, version)))


@cache
def session(
    file: Path, engine: str, path: str, base: str, *, fused: bool = True, version: str | None = None, options: str = ""
) -> Session:
    """Return the session of an engine on a file; unfused, MuJoCo is handed the spec with that switch off."""
    model, adapter = opened(file, base), engine_of(engine, version, options)
    if path == "neutral":
        return adapter.neutral(model.tree)
    if fused:
        return adapter.native(model.given, model.tree)
    from mujoco import MjSpec  # noqa: PLC0415  the one engine that has the switch

    spec = MjSpec.from_file(str(file))
    spec.compiler.fusestatic = False
    return adapter.native(Given("mujoco", live=spec), model.tree)


def vectors(tree: Tree, state: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, v, a (1, n) of a state; joints that it does not name follow another, or are undisplaced and at rest."""
    rows = [tree.neutral.copy(), np.zeros(tree.nv), np.zeros(tree.nv)]
    for row, key, slices in zip(rows, "qva", (tree.q_slices, tree.v_slices, tree.v_slices), strict=True):
        for name, value in state.get(key, {}).items():
            flat = [*value["pos"], *value["quat_wxyz"]] if isinstance(value, dict) else value
            row[slices[tree.joint_index.get(name, 1)]] = flat  # "root" is the joint of body 1
    G, offset = coupled(tree)
    rows = [G @ rows[0] + offset, G @ rows[1], G @ rows[2]] if tree.closures else rows
    return rows[0][None], rows[1][None], rows[2][None]


def coupled(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return G (nv, nv) and offset (nv,) with q = G q + offset where followers do: of trees of one-dof joints."""
    G, offset = np.eye(tree.nv), np.zeros(tree.nv)
    for closure in tree.closures:
        follower, leader = (tree.v_slices[tree.joint_index[name]].start for name in closure.between)
        G[follower], offset[follower] = 0, closure.numbers[0]
        G[follower, leader] = closure.numbers[1]
    return G, offset


def misused(options: str, tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the state that an engine is really asked when its caller forgets one convention of the base."""
    q, v, a = q.copy(), v.copy(), a.copy()
    if options == "quaternion handed over scalar first":
        q[:, 3:7] = q[:, [6, 3, 4, 5]]  # w, x, y, z are read as x, y, z, w
    elif options == "ordinary base acceleration handed to rnea":
        a[:, :3] += np.cross(v[:, 3:6], v[:, :3])
    elif options == "coordinates handed over as they are":
        # The pose in the joint frame is read as the pose in the world.
        (i,) = (i for i, joint in enumerate(tree.joints) if joint.kind is JointKind.FLOATING)
        pose = inverse(tree.joints[i].T_parent_joint) @ transform(rotation_from_quaternion(q[0, 3:7]), q[0, :3])
        q[0, :7] = [*pose[:3, 3], *quaternion_from_rotation(pose[:3, :3])]
    return q, v, a


def asked_states(tree: Tree, state: Mapping[str, Any]) -> States:
    """Return a dozen drawn states and the one of the case behind them."""
    q, v, a = vectors(tree, state)
    drawn = sample(tree, 12)
    still = np.zeros((1, len(tree.bodies), 6))
    parts = {"q": q, "v": v, "a": a, "tau": a * 0, "wrenches": still}
    return States(
        **{n: np.concatenate([getattr(drawn, n), x]) for n, x in parts.items()}, strata=(*drawn.strata, "case")
    )


def otherwise(case: Expectation) -> str:
    """Return the options of an entry that another call of its engine answers, else an empty string."""
    return case.options if (case.engine, case.options) in CALLED else ""


@contextmanager
def calling(engine: str, options: str) -> Iterator[None]:
    """Let a run in our own process, which takes the engine that the adapter holds, call it as the options say."""
    if not options:
        yield
        return
    with patch.object(import_module(f"tautology.adapters.{engine}_"), "ENGINE", engine_of(engine, None, options)):
        yield


_CHECKED: dict[tuple[Any, ...], Mapping[str, Any]] = {}


def checked(case: Expectation) -> Mapping[str, Any]:
    """Return the JSON of `tautology check` for the file, engine, path and base of an entry, its state among others."""
    engine = case.engine if case.engine != "reference" else "pinocchio"
    path = case.entry["path"] if case.engine != "reference" else "both"
    # Before 3.14 MuJoCo keeps a full tensor to about 1e-7; entries that hold there say 1e-8, absolute.
    tolerance = 1e-6 if case.version and case.entry.get("tolerance", 0) >= 1e-8 else 1e-9
    called = otherwise(case)
    key = (case.file, engine, path, case.base, case.version, tolerance, called)
    if key not in _CHECKED:
        try:
            states: Any = asked_states(opened(case.file, case.base).tree, case.state)
        except HarnessError:
            states = 12  # what is wrong with the file, the command says
        term = f"{engine}=={case.version}" if case.version else engine
        if case.version:
            require_index()
        request = Request([term], path, case.base, states, tolerance=tolerance, in_process=not case.version)
        with calling(engine, called):
            _CHECKED[key] = check_files([str(case.file)], request).to_json()
    return _CHECKED[key]


def row(case: Expectation) -> Mapping[str, Any]:
    """Return what the check says of the engine on the path of an entry."""
    (model,) = checked(case)["models"]
    return next(r for r in model["engines"] if (r["engine"], r["path"]) == (case.engine, case.entry["path"]))


@cache
def differed(first: Path, file: Path) -> Any:
    """Return what `tautology diff` says of two files."""
    return diff(str(first), str(file), states=16)


# What an engine alone makes of a file that our importers refuse: its adapter is handed the bare world as tree.
ALONE = """
import json, sys
from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused
from tautology.harness.tree import Tree, world

name, format, file, q = sys.argv[1:]
try:
    session = registry.adapter(name).native(Given(format, file), Tree("bare", (world(),)))
except EngineRefused as refusal:
    print(json.dumps({"status": "refused", "message": str(refusal)}))
    sys.exit()
model, answer = session.model, {"status": "accepted", "message": "; ".join(session.notes)}
answer |= {"nv": len(session.dofs) + len(session.extra_dofs), "total_mass": session.total_mass}
if name == "pinocchio":
    import pinocchio as pin
    M = pin.crba(model, model.createData(), pin.neutral(model))
    diagonal = {model.names[k]: M[model.joints[k].idx_v, model.joints[k].idx_v] for k in range(1, model.njoints)}
    answer |= {"joints": list(model.names)[1:], "M": diagonal}
elif name == "dart":
    dofs, nodes = model.getDofs(), [model.getBodyNode(k) for k in range(model.getNumBodyNodes())]
    names, M = [dof.getName() for dof in dofs], model.getMassMatrix()
    answer |= {"joints": names, "M": dict(zip(names, M.diagonal())), "mass": {n.getName(): n.getMass() for n in nodes}}
elif name == "pybullet":
    answer |= {"mass": {link.name: link.mass for body in model.bodies for link in body.links}}
elif name == "drake":
    from pydrake.multibody.tree import BodyIndex
    bodies = [model.get_body(BodyIndex(k)) for k in range(1, model.num_bodies())]
    answer |= {"mass": {body.name(): body.default_mass() for body in bodies}}
elif name == "idyntree":
    links, joints = range(model.getNrOfLinks()), range(model.getNrOfJoints())
    answer |= {"mass": {model.getLinkName(k): model.getLink(k).getInertia().getMass() for k in links}}
    import idyntree.bindings as idt, numpy as np
    engine, n = idt.KinDynComputations(), model.getNrOfDOFs()
    engine.loadRobotModel(model)
    names = {k: model.getJointName(k) for k in joints if model.getJoint(k).getNrOfDOFs()}
    moving = {name: model.getJoint(k).getDOFsOffset() for k, name in names.items()}
    s, rest = np.zeros(n), np.zeros(n)
    for joint, value in json.loads(q).items():
        if joint in moving:
            s[moving[joint]] = value
    engine.setRobotState(np.eye(4), s, np.zeros(6), rest, np.zeros(3))
    M = idt.MatrixDynSize(6 + n, 6 + n)
    engine.getFreeFloatingMassMatrix(M)
    diagonal = M.toNumPy().diagonal()[6:]
    answer |= {"M": {joint: diagonal[k] for joint, k in moving.items()}}
print(json.dumps(answer))
"""


def alone(case: Expectation) -> Mapping[str, Any]:
    """Return what the adapter of an engine says of a file, in a process of its own with a limit on time."""
    format_ = {".urdf": "urdf", ".xml": "mjcf"}[case.file.suffix]
    if case.version:
        try:
            engine_of(case.engine, case.version).native(Given(format_, str(case.file)), Tree("bare", (world(),)))
        except EngineRefused as refusal:
            return {"status": "refused", "message": str(refusal)}
        return {"status": "accepted", "message": ""}
    command = [sys.executable, "-c", ALONE, case.engine, format_, str(case.file), json.dumps(case.state.get("q", {}))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        return {"status": "crashed", "message": done.stderr}
    return json.loads(done.stdout.splitlines()[-1])
