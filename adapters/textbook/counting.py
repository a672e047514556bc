"""Operations that the algorithms really carry out: their own code is run on scalars that count.

A `Counted` number stands in the arrays (of dtype object) in place of a float and adds one to the tally at every
operation it takes part in; numpy's loops call it for each component. What is computed from constants of the model
alone is preparation and is not counted, a product with a zero that the code multiplies is. It is a count of scalar
operations, no timing: numpy's own cost per call is not in it, and the constants belong to this code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...harness.errors import RequestError
from ...harness.linear import solve
from ..reference import Reference
from . import exponentials, planar, planar_lagrange
from .forward import columns_without_bias, composite_solve, walker_orin
from .planar_tree import embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...harness.spatial import Array
    from ...harness.tree import Tree
    from .forward import InverseDynamics
    from .planar import PlanarChain

    Algorithm: TypeAlias = Callable[["Given"], Array]


@dataclass
class Tally:
    """Scalar operations.

    Attributes:
        multiplications: products.
        additions: sums and differences.
        divisions: quotients.
        functions: sines, cosines and square roots.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.multiplications + self.additions + self.divisions + self.functions


@dataclass(frozen=True, eq=False)
class Given:
    """One state, and what is at hand at it for the algorithms that begin from M.

    Attributes:
        q: (1, nq).
        v: (1, nv).
        a: (1, nv), for inverse dynamics.
        tau: (1, nv), for forward dynamics.
        M: (1, nv, nv) mass matrix.
        bias: (1, nv).
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    M: Array
    bias: Array


class Counted:
    """A real number that counts what is done with it; signs, comparisons and copies are free.

    It does not turn into a float by itself: code that would lose the count fails instead.
    """

    __slots__ = ("tally", "value")
    __hash__ = None  # type: ignore[assignment]  # numbers that are equal are not the same

    def __init__(self, value: float, tally: Tally) -> None:
        self.value, self.tally = value, tally

    def __add__(self, other: Any) -> Counted:
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy takes it component by component
        self.tally.additions += 1
        return Counted(self.value + _value(other), self.tally)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Counted:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.tally.additions += 1
        return Counted(self.value - _value(other), self.tally)

    def __rsub__(self, other: Any) -> Counted:
        self.tally.additions += 1
        return Counted(_value(other) - self.value, self.tally)

    def __mul__(self, other: Any) -> Counted:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.tally.multiplications += 1
        return Counted(self.value * _value(other), self.tally)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counted:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.tally.divisions += 1
        return Counted(self.value / _value(other), self.tally)

    def __rtruediv__(self, other: Any) -> Counted:
        self.tally.divisions += 1
        return Counted(_value(other) / self.value, self.tally)

    def __pow__(self, exponent: int) -> Counted:
        # Of squares and cubes, as numpy computes them for floats.
        self.tally.multiplications += exponent - 1
        return Counted(self.value**exponent, self.tally)

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.tally)

    def __abs__(self) -> Counted:
        return Counted(abs(self.value), self.tally)

    def __eq__(self, other: object) -> bool:
        return self.value == _value(other)

    def __lt__(self, other: Any) -> bool:
        return self.value < _value(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > _value(other)

    def sin(self) -> Counted:
        """Return the sine; numpy asks for it by this name."""
        return self._function(math.sin(self.value))

    def cos(self) -> Counted:
        """Return the cosine."""
        return self._function(math.cos(self.value))

    def sqrt(self) -> Counted:
        """Return the square root."""
        return self._function(math.sqrt(self.value))

    def _function(self, value: float) -> Counted:
        self.tally.functions += 1
        return Counted(value, self.tally)


def _value(number: Any) -> float:
    """Return a number as a float, counted or not."""
    return number.value if isinstance(number, Counted) else float(number)


def _wrapped(x: Array, tally: Tally) -> Any:
    """Return x with every component counted, as an array of dtype object."""
    counted = np.empty(x.shape, object)
    for place, value in np.ndenumerate(x):
        counted[place] = Counted(_value(value), tally)
    return counted


# What stands behind the comma is what an algorithm computes.
RNEA = "recursive Newton-Euler, inverse"
EXPONENTIALS = "products of exponentials, inverse"
LAGRANGE = "Christoffel symbols, inverse"
PRODUCT = "M a + bias at hand, inverse"
ENERGY = "kinetic energy, M"
COLUMNS = "columns, M"
CRBA = "composite bodies, M"
WALKER_ORIN = "columns and solve, forward"
CRBA_SOLVE = "composite bodies and solve, forward"
SOLVE = "solve with M and bias at hand, forward"
ABA = "articulated bodies, forward"


def planar_algorithms(chain: PlanarChain) -> dict[str, Algorithm]:
    """Return what there is for a planar chain, by name."""
    weightless = replace(chain, gravity=np.zeros(2))

    def recursion(q: Array, v: Array, a: Array) -> Array:
        return planar.inverse_dynamics(chain, q, v, a)

    def without_gravity(q: Array, v: Array, a: Array) -> Array:
        return planar.inverse_dynamics(weightless, q, v, a)

    return {
        RNEA: lambda given: recursion(given.q, given.v, given.a),
        LAGRANGE: lambda given: planar_lagrange.by_christoffel(chain, given.q, given.v).efforts(given.a),
        PRODUCT: _product,
        ENERGY: lambda given: planar_lagrange.mass_matrix(chain, given.q),
        COLUMNS: lambda given: columns_without_bias(_counting(without_gravity), given.q, chain.n),
        WALKER_ORIN: lambda given: walker_orin(_counting(recursion), given.q, given.v, given.tau),
        SOLVE: lambda given: solve(given.M, given.tau - given.bias),
    }


def spatial_algorithms(tree: Tree) -> dict[str, Algorithm]:
    """Return what there is for a tree, by name; products of exponentials for serial chains alone."""
    reference = Reference(tree, object)
    inverse = _counting(reference.inverse_dynamics)

    def without_gravity(q: Array, v: Array, a: Array) -> Array:
        return reference.inverse_dynamics(q, v, a, gravity=np.zeros(3))

    algorithms: dict[str, Algorithm] = {
        RNEA: lambda given: reference.inverse_dynamics(given.q, given.v, given.a),
        PRODUCT: _product,
        ENERGY: lambda given: reference.mass_matrix_from_energy(given.q),
        COLUMNS: lambda given: columns_without_bias(_counting(without_gravity), given.q, tree.nv),
        CRBA: lambda given: reference.mass_matrix(given.q),
        WALKER_ORIN: lambda given: walker_orin(inverse, given.q, given.v, given.tau),
        CRBA_SOLVE: lambda given: composite_solve(reference.mass_matrix, inverse, given.q, given.v, given.tau),
        SOLVE: lambda given: solve(given.M, given.tau - given.bias),
        ABA: lambda given: reference.forward_dynamics(given.q, given.v, given.tau),
    }
    if exponentials.is_serial(tree):
        screws = exponentials.screws_of(tree)
        algorithms[EXPONENTIALS] = lambda given: exponentials.inverse_dynamics(screws, given.q, given.v, given.a)
    return algorithms


def count(algorithm: Algorithm, given: Given) -> tuple[Tally, Array]:
    """Return what an algorithm does with its inputs, and its result as floats.

    Args:
        algorithm: what it holds besides its inputs is constant, and preparation.
        given: floats; every one of them counts.
    """
    tally = Tally()
    wrapped = Given(*(_wrapped(getattr(given, field.name), tally) for field in fields(Given)))
    result = np.asarray(algorithm(wrapped))
    return tally, np.array([_value(x) for x in result.flat]).reshape(result.shape)


def given_of(tree: Tree, q: Array, v: Array, a: Array) -> Given:
    """Return the inputs of all algorithms at one state: q (1, nq), v and a (1, nv)."""
    reference = Reference(tree)
    return Given(q, v, a, reference.inverse_dynamics(q, v, a), reference.mass_matrix(q), reference.bias(q, v))


def uniform_chain(n: int) -> PlanarChain:
    """Return n equal rods in a plane, of a metre and a kilogram together.

    Raises:
        RequestError: n is not positive.
    """
    if n < 1:
        raise RequestError(f"a chain of {n} links; needed: at least one link")
    return planar.uniform_rods(np.full(n, 1 / n), np.full(n, 1 / n))


def planar_counts(sizes: Sequence[int], names: Sequence[str] | None = None) -> dict[str, list[Tally]]:
    """Return the tallies of planar chains of equal rods, one per size, by the name of the algorithm.

    Args:
        sizes: numbers of links.
        names: of algorithms; all by default.
    """
    return _counts(sizes, names, lambda n: planar_algorithms(uniform_chain(n)))


def spatial_counts(sizes: Sequence[int], names: Sequence[str] | None = None) -> dict[str, list[Tally]]:
    """Return the tallies of the same chains in space, one per size; see `planar_counts`."""
    return _counts(sizes, names, lambda n: spatial_algorithms(embedded(uniform_chain(n))))


def growth(sizes: Sequence[int], totals: Sequence[int]) -> list[float]:
    """Return the exponent of growth between neighbouring sizes, d log(total) / d log(n).

    Raises:
        RequestError: sizes are not as many as totals, not positive, or two neighbours are the same.
    """
    if len(sizes) != len(totals) or min(*sizes, *totals, 1) <= 0 or any(a == b for a, b in pairwise(sizes)):
        raise RequestError(f"sizes {list(sizes)} and totals {list(totals)} have no growth")
    return (np.diff(np.log(np.asarray(totals, float))) / np.diff(np.log(np.asarray(sizes, float)))).tolist()


def _counts(
    sizes: Sequence[int], names: Sequence[str] | None, made: Callable[[int], Mapping[str, Algorithm]]
) -> dict[str, list[Tally]]:
    found: dict[str, list[Tally]] = {}
    for n in sizes:
        algorithms = made(n)
        q, v, a = np.random.default_rng(n).uniform(-1, 1, (3, 1, n))
        given = given_of(embedded(uniform_chain(n)), q, v, a)
        unknown = set(algorithms if names is None else names) - set(algorithms)
        if unknown:
            raise RequestError(f"no algorithm {min(unknown)!r}; known are {', '.join(algorithms)}")
        for name in algorithms if names is None else names:
            found.setdefault(name, []).append(count(algorithms[name], given)[0])
    return found


def _counting(inverse_dynamics: InverseDynamics) -> InverseDynamics:
    """Return inverse dynamics that counts the zeros and ones too which forward dynamics hands to it."""

    def every_number(q: Array, v: Array, a: Array) -> Array:
        counted: Any = q.flat[0]
        return inverse_dynamics(*(_wrapped(x, counted.tally) for x in (q, v, a)))

    return every_number


def _product(given: Given) -> Array:
    return (given.M @ given.a[..., None])[..., 0] + given.bias
