"""The one table of tolerances, each with its reason; reports print it. No other module of the checks holds one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..depth import links_in_a_row

if TYPE_CHECKING:
    from ..tree import Tree

EPS: Final = float(np.finfo(np.float64).eps)
LEAST: Final = float(np.finfo(np.float64).tiny)
EXACT_TRUTH: Final = bool(np.finfo(np.longdouble).eps < EPS)
TRUTH_NOTE: Final = (
    ""
    if EXACT_TRUTH
    else "longdouble is float64 on this machine: the reference is no more exact than an engine, digits stop at 15"
)

ROUNDING: Final = 100.0  # [eps]
DEEP: Final = 25.0  # [links in a row]
DERIVATIVE: Final = 1e-10
STEP: Final = 1e-3  # [rad | m]
PIVOT: Final = 1e-12
LARGEST: Final = 500  # [dofs]
COLUMNS: Final = 4096
GRADIENTS: Final = 8192
OWN: Final = 4.0
DIGITS: Final = 17.0 if EXACT_TRUTH else 15.0


@dataclass(frozen=True, slots=True)
class Tolerance:
    """One line of the table.

    Attributes:
        name: what it is called in a report.
        rule: when a row passes, or when it applies.
        rows: quantities and identities that it judges; empty for conditions and limits of cost.
        reason: why this number.
    """

    name: str
    rule: str
    rows: tuple[str, ...]
    reason: str


TABLE: Final = (
    Tolerance(
        "rounding",
        f"error <= {ROUNDING:g} eps * scale, per entry, on the neutral path",
        (
            *("tau", "bias", "gravity", "mass_matrix", "poses", "velocities"),
            *("kinetic_energy", "potential_energy", "center_of_mass"),
        ),
        "the scale adds up the size of every term; on 68 URDFs and random trees right answers need up to 23 eps of it",
    ),
    Tolerance(
        "deep chain",
        f"with more than {DEEP:g} links in a row, {ROUNDING / DEEP:g} eps for each of them stand for {ROUNDING:g} eps",
        (),
        "a product of quaternions rounds each component by up to 2 eps, which turns all that hangs on it by 4 eps, each"
        " link alike where placements are alike: in PyBullet, from angles that a URDF writes, up to 2.2 are measured;"
        " placements that differ need 7 eps of the scale at 100 joints in a row; real robots have up to 20",
    ),
    Tolerance(
        "solution",
        f"error <= {ROUNDING:g} eps * cond(M) * (1 + max|a|) of the state, with or without effort, whichever is larger",
        ("acceleration", "forward_inverse"),
        "a linear system returns its rounding times the condition number; effort and bias may cancel in a",
    ),
    Tolerance(
        "identity",
        f"residual <= {ROUNDING:g} eps * (sum of the scales of all terms), on both paths",
        (
            *("columns", "symmetry", "velocity_invariance", "gravity_invariance", "load_invariance", "affine"),
            *("kinetic_energy", "load_duality"),
        ),
        "both sides are the engine's own, so that nothing but rounding may be left",
    ),
    Tolerance(
        "derivative",
        f"residual <= {DERIVATIVE:g} * scale of the state + 1.5 * {ROUNDING:g} eps / step * scale of the samples",
        ("power_balance", "energy_gradient", "passivity", "total_momentum"),
        f"fourth-order differences with step {STEP:g} / max(1, |v| / 2) leave 1e-12, beside rounding of samples; at"
        " k times the eps of doubles the step is k^(1/5) as long, which balances both: k^(4/5) of that is left",
    ),
    Tolerance(
        "positive",
        "the least eigenvalue of M, scaled to unit diagonal, is at least eps",
        ("positive_definite",),
        "an eigenvalue of zero to rounding is a direction without inertia",
    ),
    Tolerance(
        "exact",
        "bit for bit",
        ("repeatability", "inputs_unchanged"),
        "the same question has the same answer, and a question is not rewritten by asking it",
    ),
    Tolerance(
        "native path",
        "error <= --tolerance * scale",
        (),
        "two robots are the same when their parameters agree to --tolerance",
    ),
    Tolerance(
        "arithmetic",
        f"eps is that of the engine's arithmetic, 2.2e-16 or 1.2e-7; --tolerance counts with at least {ROUNDING:g} eps",
        (),
        "what an engine holds in single precision, masses and placements too, was rounded before it computes",
    ),
    Tolerance(
        "regular M",
        f"in every state the longdouble pivots of M, scaled to unit diagonal, are all >= {PIVOT:g}",
        (),
        "below, what is solved with M is rounding: acceleration, forward_inverse and positive_definite do not apply",
    ),
    Tolerance(
        "size",
        f"above {LARGEST} dofs: tau, bias, gravity, energies, affine, power_balance, repeatability, inputs_unchanged",
        (),
        "M and all that is asked once per dof grow with the square and the cube of the dofs",
    ),
    Tolerance(
        "states of an identity",
        f"as many, evenly spread, as give {COLUMNS} columns of M, or {GRADIENTS} energies; all when they are fewer",
        (),
        "what is asked once per dof and state is asked at fewer states of a robot with many dofs",
    ),
    Tolerance(
        "least scale",
        f"each mass, tensor, length and speed in a scale, and the scale itself, counts with at least {LEAST:.3g}",
        (),
        "below this number, the smallest normal one, doubles have fewer digits and products vanish: a right answer is"
        " wrong by units of 5e-324, times what was multiplied",
    ),
    Tolerance(
        "own size",
        f"on the native path a scale is at least {OWN:g} times the engine's own answers, weighted by its own M",
        (),
        "the engine may hold a heavier robot than the file: its rounding goes with its own terms, not with ours",
    ),
    Tolerance(
        "digits",
        f"-log10(error / largest scale of the state), at most {DIGITS:g}",
        (),
        TRUTH_NOTE or "zero error counts as 17 digits",
    ),
)


def rounding(tree: Tree, eps: float = EPS) -> float:
    """Return the part of a scale that rounding may take in a robot with chains as long as this one's.

    Args:
        tree: the robot.
        eps: of the arithmetic that the engine computes in.
    """
    return ROUNDING * eps * max(1.0, links_in_a_row(tree) / DEEP)


def step(eps: float) -> float:
    """Return the step of differences [rad | m] of the answers of an engine of that arithmetic."""
    return STEP * (eps / EPS) ** 0.2


def derivative(eps: float) -> float:
    """Return the part of a scale that such differences may leave, beside rounding of the samples."""
    return DERIVATIVE * (eps / EPS) ** 0.8


def alike(tolerance: float, tree: Tree, eps: float) -> float:
    """Return the relative difference below which two robots are the same for an engine of that arithmetic.

    Args:
        tolerance: of `--tolerance`.
        tree: the robot.
        eps: of the arithmetic that the engine computes in.
    """
    return max(tolerance, rounding(tree, eps))
