"""The user's own inverse dynamics `(q, v, a) -> tau` as one more engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from .errors import EngineUnsupported, HarnessError, RequestError, ShapeError, told
from .one_call import OneCall

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from .engine import Floats, Given, Session
    from .tree import Tree

NO_SUCH_CALL: Final = "a callable (q, v, a) -> tau has no such answer"
LONGEST_NAME: Final = 60  # characters


@dataclass(frozen=True)
class CallableEngine:
    """Inverse dynamics of the user's own, in canonical coordinates of 1-D arrays, one state at a time.

    Attributes:
        function: `(q (nq,), v (n,), a (n,)) -> tau (n,)`; v, a and tau in the order of `dofs`, q joint by joint in the
            order in which the joints' dofs begin there.
        dofs: names in the order that the function uses; its attribute `dofs` when None, else the tree's order.
        name: in the results.
    """

    function: Callable[[Floats, Floats, Floats], Any]
    dofs: Sequence[str] | None = None
    name: str = "callable"

    def native(self, given: Given, tree: Tree) -> Session:
        """Refuse: a function reads no file.

        Raises:
            EngineUnsupported: always.
        """
        raise EngineUnsupported(f"{self.name} is a function: it reads no {given.format} file, not even {tree.name!r}")

    def neutral(self, tree: Tree) -> Session:
        """Return a session that calls the function.

        Raises:
            RequestError: `dofs` names what the tree does not have, or not all of it.
        """
        order = list(self.dofs) if self.dofs is not None else _told(self.function) or list(tree.dofs)
        if sorted(order) != sorted(tree.dofs):
            raise RequestError(f"{self.name} has dofs {order}; {tree.name!r} has {list(tree.dofs)}")
        # The reference moves wrenches to the joints: a function of (q, v, a) has no argument for them.
        from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

        at = np.array([tree.dofs.index(name) for name in order], int)
        joints = dict.fromkeys(tree.joint_of_dof[i] for i in at)
        coordinates = [np.arange(tree.nq)[tree.q_slices[joint]] for joint in joints]
        q_at = np.concatenate([*coordinates, np.zeros(0, int)]).astype(int)
        # What a function cannot tell is answered by `__getattr__`, which no type checker sees.
        return cast("Session", CallableSession(self, tree, at, q_at, Reference(tree)))


def _told(function: Any) -> list[str]:
    """Return the order of dofs that a function tells by its attribute `dofs`; none when that is something else."""
    dofs: Any = getattr(function, "dofs", None)
    return list(dofs) if isinstance(dofs, (list, tuple)) and all(isinstance(name, str) for name in dofs) else []


def named_engine(function: Any, taken: Container[str]) -> CallableEngine:
    """Return a function as an engine that has a name of its own in the results.

    Args:
        function: `CallableEngine`, or what it takes.
        taken: names of engines, installed or not, and of functions before it: `mujoco` becomes `mujoco (callable)`.
    """
    own = function if isinstance(function, CallableEngine) else CallableEngine(function)
    said: Any = own.name if own is function else getattr(function, "__name__", "")
    name: str = said if isinstance(said, str) and said else "callable"  # anybody may set `__name__` to anything
    name = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    others = (f"{name} (callable{f' {n}' if n > 1 else ''})" for n in count(1))
    return replace(own, name=name if name not in taken else next(other for other in others if other not in taken))


_QUANTITIES: Final = (
    *("acceleration", "poses", "velocities", "kinetic_energy", "potential_energy", "center_of_mass"),
    *("momentum", "generalized_forces", "describe"),
)
_IDENTITIES: Final = ("power_balance", "energy_gradient", "forward_inverse", "total_momentum")
# What a function cannot answer, or cannot fail.
LACKS: Final[Mapping[str, str]] = {
    **dict.fromkeys((*_QUANTITIES, *_IDENTITIES), NO_SUCH_CALL),
    "columns": "M is built from these columns",
    "load_invariance": "wrenches are added by the harness",
    "load_duality": "wrenches are added by the harness",
    "gravity_invariance": "gravity is inside the function",
}


@dataclass(frozen=True)
class CallableSession(OneCall):
    """See `harness.engine.Session`; what a function cannot tell raises `EngineUnsupported`."""

    engine: CallableEngine
    tree: Tree
    order: Any
    q_order: Any
    reference: Any
    findings = ()
    extra_dofs = ()
    bodies = ()
    total_mass = np.inf
    lacks = LACKS
    loads_added = True  # by the harness, from the tree of the file: no answer under wrenches is the function's own

    @property
    def dofs(self) -> tuple[str, ...]:
        """All dofs of the tree."""
        return self.tree.dofs

    @property
    def notes(self) -> tuple[str, ...]:
        """What the harness adds."""
        return (f"{self.engine.name}: wrenches are added by the harness, M is made of columns of the function",)

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """Call the function state by state; wrenches are subtracted by the reference's Jacobians."""
        if gravity is not None:
            raise EngineUnsupported("gravity is inside the function")
        tau = np.empty_like(v)
        for n in range(len(q)):
            asked = (q[n, self.q_order], v[n, self.order], a[n, self.order])
            tau[n, self.order] = self._efforts(*(x.copy() for x in asked))
        return tau if wrenches is None else tau - self.reference.generalized_forces(q, wrenches)

    def _efforts(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return what the function answers, if it is one real number per dof: numpy would stretch other shapes.

        Raises:
            HarnessError: the function raises whatever it may.
            ShapeError: the answer is anything else.
        """
        try:
            answer = self.engine.function(q, v, a)
        except KeyboardInterrupt:
            raise  # of the person who waits
        except BaseException as error:
            raise HarnessError(f"{self.engine.name} raised {told(error)}") from error
        tau = np.asarray(answer)
        if tau.dtype.kind not in "fiu" or tau.shape != (len(self.order),):
            what = f"an array of {tau.dtype}" if tau.dtype.kind in "fiucb" else repr(answer)[:40]
            raise ShapeError(
                f"{self.engine.name} answered {what} of shape {tau.shape}; expected {len(self.order)} numbers"
            )
        return tau
