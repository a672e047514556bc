"""Ask a session: writeable copies go in, and what comes out is an array of the promised shape or a named failure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import EngineUnsupported, HarnessError, told
from ..lacking import QUANTITY_OF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..engine import Session
    from ..tree import Floats, Tree


class AnswerMissing(HarnessError):
    """An engine gave no usable answer: it raised, returned nothing, or an array of another shape."""


@dataclass(frozen=True, slots=True)
class Change:
    """An argument that an engine wrote into: in which call, which argument, at which state, by how much."""

    method: str
    argument: str
    state: int | None
    size: float


@dataclass(eq=False)
class Asked:
    """A session that is asked with copies; whatever it does, the answer is an array, a refusal or a named failure.

    Attributes:
        session: the engine.
        tree: the robot, for the number of its floating roots.
        changes: arguments that came back changed.
    """

    session: Session
    tree: Tree
    changes: list[Change] = field(default_factory=list[Change])

    def __call__(self, method: str, **arguments: Floats | None) -> Floats:
        """Return the answer of `method`, (N, ...).

        Args:
            method: of `Session`.
            arguments: by name; those that are None are left out.

        Raises:
            EngineUnsupported: the session has no such answer, and says so.
            AnswerMissing: it should have one, and it is no array of numbers of this shape.
        """
        lacking = self.session.lacks.get(QUANTITY_OF.get(method, method))
        if lacking is not None:
            raise EngineUnsupported(lacking)
        copies = {name: np.array(x, np.float64) for name, x in arguments.items() if x is not None}
        try:
            answer = np.array(getattr(self.session, method)(**copies))
        except EngineUnsupported:
            raise
        except (Exception, SystemExit) as error:  # some engines leave the process when a precondition fails
            raise AnswerMissing(f"{method} raised {told(error)}") from error
        finally:
            self._compare(method, arguments, copies)
        shape = (len(copies["q"]), *self._shape(method))
        if answer.shape != shape or answer.dtype.kind not in "fiu":
            raise AnswerMissing(
                f"{method} answered {answer.dtype} of shape {answer.shape}; expected numbers of {shape}"
            )
        return answer

    def _shape(self, method: str) -> tuple[int, ...]:
        """Return the shape of an answer for one state."""
        dofs, bodies = len(self.session.dofs), len(self.session.bodies)
        shapes: dict[str, tuple[int, ...]] = {
            "mass_matrix": (dofs, dofs),
            "poses": (bodies, 4, 4),
            "velocities": (bodies, 6),
            "kinetic_energy": (),
            "potential_energy": (),
            "center_of_mass": (3,),
            "momentum": (len(self.tree.floating_roots), 6),
        }
        return shapes.get(method, (dofs,))

    def _compare(self, method: str, given: Mapping[str, Floats | None], copies: Mapping[str, Floats]) -> None:
        """Note every argument whose bits are not those that were given."""
        for name, copy in copies.items():
            original = np.asarray(given[name], np.float64)
            if copy.shape == original.shape and copy.tobytes() == original.tobytes():
                continue
            if copy.shape != original.shape:
                self.changes.append(Change(method, name, None, np.inf))
                continue
            with np.errstate(all="ignore"):
                size = np.abs(copy - original)
            size = np.where(np.isfinite(size), size, np.inf)
            row = np.unravel_index(int(size.argmax()), size.shape)[0]
            self.changes.append(Change(method, name, None if name == "gravity" else int(row), float(size.max())))
