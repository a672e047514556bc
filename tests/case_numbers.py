"""The numbers of the cases: what the file says, and what an engine holds or answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from shared_cases import UNFUSED, WRENCH, Expectation, coupled, misused, opened, otherwise, session, vectors

from tautology.adapters.reference import Reference
from tautology.harness.diagnosis.compare import compare
from tautology.harness.diagnosis.matching import match
from tautology.harness.diagnosis.tensor_patterns import SIX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tautology.harness.tree import Inertia, Tree

ANSWERS = {
    "M": ("mass_matrix", "q"),
    "g": ("gravity_forces", "q"),
    "bias": ("bias", "qv"),
    "tau": ("inverse_dynamics", "qva"),
}
# What a call of MuJoCo adds to the canonical effort, by the name of the quantity.
CALLS = {"rne": "mj_rne", "inverse": "mj_inverse", "inverse_discrete": "mj_inverse, invdiscrete"}
EXTRAS = {"damper": ("damping",), "constraint": ("frictionloss", "constraint")}
INERTIAL = {"mass": "mass", "com": "com", "inertia": "I_com"}


def numbers(case: Expectation) -> tuple[Any, Any]:
    """Return the quantity of an entry, expected and found.

    In a check the file speaks and the engine answers; in a diff the engine speaks of both files.
    """
    path, fused = case.entry["path"], case.options != UNFUSED
    tree = opened(case.file, case.base).tree
    held = session(case.file, case.engine, path, case.base, fused=fused, version=case.version, options=otherwise(case))
    engine = Side(held, tree, case)
    if case.command == "check" or case.entry["file"] == case.first:
        return Side(Reference(tree), tree, case, held=tree).value(), engine.value()
    first = case.folder / case.first
    tree = opened(first, case.base).tree
    other = session(first, case.engine, path, case.base, version=case.version)
    return Side(other, tree, case).value(), engine.value()


def in_words_of(engine: str) -> Mapping[str, Callable[..., Any]]:
    """Return the quantities that are said otherwise for one engine, `QUANTITIES` of `case_numbers_ENGINE`."""
    name = f"case_numbers_{engine}"
    return import_module(name).QUANTITIES if find_spec(name) else {}


@dataclass
class Side:
    """One side of an entry.

    Attributes:
        session: that answers.
        tree: of the file, whose coordinates the session has.
        case: the entry.
        held: the tree itself on the side of the file; None where an engine is asked what it holds.
    """

    session: Any
    tree: Tree
    case: Expectation
    held: Tree | None = None

    def __post_init__(self) -> None:
        self.name, _, places = self.case.entry.get("quantity", "").removesuffix("]").partition("[")
        self.places = places.split(",") if places else []
        state = vectors(self.tree, self.case.state)
        self.q, self.v, self.a = state if self.held else misused(self.case.options, self.tree, *state)

    def value(self) -> Any:
        """Return the quantity.

        Raises:
            KeyError: this file does not know a quantity of that name.
        """
        head, _, tail = self.name.partition(".")
        own = in_words_of(self.case.engine).get(head)
        if own is not None:
            return own(self, tail)
        if self.name in ANSWERS:
            return self._of_dofs(self.answer(self.name))
        if self.name in CALLS or head == "extra":
            return self._of_call(tail)
        if self.name in INERTIAL or head == "composite":
            return self._of_inertia(tail)
        return getattr(self, f"{head}_value", self._unknown)(tail)

    def answer(self, name: str) -> np.ndarray:
        """Return M, g, bias or tau at the state, without the axis of states."""
        method, arguments = ANSWERS[name]
        return np.asarray(getattr(self.session, method)(*(getattr(self, x) for x in arguments))[0])

    @cached_property
    def read_back(self) -> Tree:
        """The robot as this side holds it."""
        return self.held or self.session.describe()

    def _unknown(self, _tail: str) -> Any:
        raise KeyError(self.case.entry["quantity"])

    def _of_dofs(self, values: np.ndarray) -> Any:
        # The root of a URDF hangs on a joint that has no name in the file.
        own = [place if place in self.session.dofs else place.replace("root.", "root_joint.") for place in self.places]
        return values[tuple(list(self.session.dofs).index(place) for place in own)]

    def _of_call(self, extra: str) -> Any:
        """Return what a call gives in place of tau, or what one force adds to it; the file has tau, and nothing."""
        if self.held:
            return 0.0 if extra else self._of_dofs(self._expected_call())
        call = CALLS.get(self.name, "mj_inverse")
        ledger = self.session.ledger(self.q, self.v, self.a)
        if extra:
            kinds = EXTRAS.get(extra, (extra,))
            return sum(self._of_dofs(ledger[call][kind][0]) for kind in kinds if kind in ledger[call])
        beyond = sum(term[0] for term in ledger[call].values()) - sum(term[0] for term in ledger["tau"].values())
        return self._of_dofs(self.answer("tau") + beyond)

    def _expected_call(self) -> np.ndarray:
        tau = self.answer("tau")
        if self.name != "inverse_discrete":
            return tau
        # The discrete step is held against the same call without it.
        case = self.case
        engine = session(case.file, case.engine, case.entry["path"], case.base, version=case.version)
        return tau + sum(term[0] for term in engine.ledger(self.q, self.v, self.a)["mj_inverse"].values())

    def _of_inertia(self, composite: str) -> Any:
        """Return mass, centre of mass or tensor of a body, or of all that is fixed to it, in the axes of the file."""
        name, i = composite or self.name, self.tree.index[self.places[0]]
        if self.held and not composite:
            return _said(self.tree.bodies[i].inertia, name)
        nodes = compare(self.tree, self.read_back, match(self.tree, self.read_back), 1e-9).nodes
        (node,) = (node for node in nodes if node.a == i)
        return _said(node.inertia_found, name)

    def total_mass_value(self, _tail: str) -> float:
        """Of everything that this side holds."""
        return self.session.total_mass

    def static_mass_value(self, _tail: str) -> float:
        """Of everything that cannot move."""
        return self.read_back.total_mass - self.read_back.moving_mass

    def _pose(self) -> np.ndarray:
        at = list(self.session.bodies).index(self.places[0])
        return np.asarray(self.session.poses(self.q)[0, at])

    def pos_value(self, _tail: str) -> Any:
        """Of a body frame in the world."""
        return self._pose()[:3, 3]

    def rot_value(self, _tail: str) -> Any:
        """Of a body frame in the world, row by row."""
        return self._pose()[:3, :3].ravel()

    def det_value(self, _tail: str) -> Any:
        """Of that turn."""
        return np.linalg.det(self._pose()[:3, :3])

    def placement_value(self, what: str) -> Any:
        """Of a joint in its parent."""
        T = self._joint().T_parent_joint
        return T[:3, 3] if what == "pos" else T[:3, :3].ravel()

    def axis_value(self, _tail: str) -> Any:
        """Of a joint."""
        return self._joint().axis

    def armature_value(self, _tail: str) -> Any:
        """Of a dof."""
        joint = self._joint()
        return joint.armature[list(joint.dofs).index(self.places[0])]

    def _joint(self) -> Any:
        held = self.read_back
        name = self.places[0].partition(".")[0]
        return held.joints[held.joint_index[name]]

    def damping_value(self, _tail: str) -> Any:
        """Of all dofs."""
        return np.concatenate([joint.damping for joint in self.read_back.joints])

    def gravity_value(self, _tail: str) -> Any:
        """Of the world."""
        return self.read_back.gravity

    def nq_value(self, _tail: str) -> int:
        """Number of positions; an engine has its own."""
        return (self.held or self.session.model).nq

    def nv_value(self, _tail: str) -> int:
        """Number of velocities; in a file with a coupling, of the independent ones."""
        if self.held and self.case.entry.get("finding") == "joint.mimic":
            return self.held.nv - len(self.held.closures)
        return (self.held or self.session.model).nv

    def joints_value(self, _tail: str) -> list[str]:
        """Names of the joints that move, in order."""
        if self.held:
            return [joint.name for joint in self.held.joints if joint.nv]
        if self.case.entry["path"] == "neutral":
            return list(dict.fromkeys(dof.partition(".")[0] for dof in self.session.dofs))
        model = self.session.model
        if self.case.engine == "pinocchio":
            return list(model.names)[1:]
        return [model.joint(j).name for j in range(model.njnt)]

    def neq_value(self, _tail: str) -> int:
        """Number of couplings."""
        return len(self.read_back.closures)

    def eq_value(self, _tail: str) -> Any:
        """Coefficients of a coupling, five of them."""
        return [*self.read_back.closures[int(self.places[0])].numbers, 0.0, 0.0, 0.0][:5]

    def qpos0_value(self, _tail: str) -> Any:
        """Where every joint is undisplaced."""
        return self.read_back.neutral

    def key_value(self, _tail: str) -> Any:
        """Positions of a keyframe, in the coordinates of whoever holds it."""
        if self.held:
            return self.tree.neutral if self.places[0] == "qpos0" else self.tree.home
        model = self.session.model
        if self.case.engine == "pinocchio":
            return model.referenceConfigurations[self.places[0]]
        return model.key(self.places[0]).qpos

    def raw_value(self, what: str) -> Any:
        """Entries in the order and in the frames of the engine; those of the file are canonical."""
        places = [int(k) for k in self.places[0].split(":")] if what == "q" else [int(k) for k in self.places]
        values = self._canonical(what) if self.held else self._raw(what)
        if what == "q":
            where = self.case.entry.get("where")
            if self.held and where in self.tree.joint_index:
                return values[self.tree.q_slices[self.tree.joint_index[where]]]
            return values[slice(*places)]
        return values[tuple(places)] if places else values

    def _canonical(self, what: str) -> np.ndarray:
        return self.q[0] if what == "q" else self.answer(what)

    def _raw(self, what: str) -> np.ndarray:
        """Return positions, M, bias or gravity efforts as the engine has them."""
        if self.case.engine == "pinocchio":
            import pinocchio as pin  # noqa: PLC0415  no engine is needed to collect the cases

            q = self.session._map.q(self.q)[0]
            return q if what == "q" else pin.computeGeneralizedGravity(self.session.model, self.session.data, q)
        frame, calls = self.session._map.at(self.q), self.session._calls
        if what == "q":
            return frame.qpos[0]
        qvel = frame.to_engine(self.v)
        return calls.inertia(frame.qpos)[0] if what == "M" else calls.inverse_dynamics(frame.qpos, qvel, qvel * 0)[0]

    def reduced_value(self, name: str) -> Any:
        """M, g or tau of the independent joints; Pinocchio is asked for them with the couplings in its model."""
        if self.held:
            G = coupled(self.tree)[0]
            G = G[:, G.any(axis=0)]
            value = self.answer(name)
            return (G.T @ value @ G if name == "M" else G.T @ value).ravel()[0]
        import pinocchio as pin  # noqa: PLC0415  as above

        model = pin.buildModelFromUrdf(str(self.case.file), mimic=True)
        q, v, a = (x[0, : model.nv] for x in (self.q, self.v, self.a))
        data = model.createData()
        if name == "M":
            return pin.crba(model, data, q)[0, 0]
        return (pin.computeGeneralizedGravity(model, data, q) if name == "g" else pin.rnea(model, data, q, v, a))[0]

    def fext_value(self, _tail: str) -> Any:
        """The generalised force of a wrench that is given in world axes on a body, as it is handed over."""
        return self._of_dofs(self.session.generalized_forces(self.q, self._wrench())[0])

    fext_world_value = xfrc_value = fext_value

    def _wrench(self) -> np.ndarray:
        """Return the wrench (1, nb, 6) on the body, as the engine takes it."""
        force, moment, name = WRENCH.search(self.case.options).groups()
        F, n = (np.array([float(x) for x in text.split(",")]) for text in (force, moment))
        i = self.tree.index[name]
        R = Reference(self.tree).poses(self.q)[0, i - 1, :3, :3].T
        if not self.held and "left in world axes" in self.case.options:
            R = np.eye(3)
        F, n = R @ F, R @ n
        if not self.held and self.name == "xfrc":
            n = n + np.cross(self.tree.bodies[i].inertia.com, F)
        if not self.held and "minus force" in self.case.options:
            F, n = -F, -n
        out = np.zeros((1, len(self.tree.bodies), 6))
        out[0, i] = [*n, *F]
        return out


def _said(inertia: Inertia, name: str) -> Any:
    """Return mass, centre of mass, or tensor as xx yy zz xy xz yz."""
    if name == "inertia":
        return [inertia.I_com[at] for at in SIX]
    return getattr(inertia, INERTIAL[name])
