"""Inverse dynamics against inverse dynamics, forward against forward: chains of 5, 10, 20 and 50 joints in Pinocchio.

Run: python benchmarks/like_for_like.py [--repeats 30]

Inverse: `pin.rnea`, against M a + h by numpy from M and h that stand ready. Forward: `pin.aba`, against `pin.crba` with
Pinocchio's Cholesky factor and solve, a dense solve by numpy with M and h at hand, and the solve with a factor that is
kept. What is made beforehand has rows of its own. Every answer is checked before it is timed, by our reference too.
Operations counted stand beside the times, which for small n are those of calls and not of arithmetic.
"""

from __future__ import annotations

import argparse
import platform
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import counting
from tautology.harness.spatial import transform
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (5, 10, 20, 50)
CALLS = 200  # between two looks at the clock


def chain(n: int) -> tuple[Tree, pin.Model]:
    """Return n equal rods about axes that alternate, as our tree and as Pinocchio's model."""
    model, bodies = pin.Model(), [world()]
    m, L, I = 1 / n, 1 / n, np.diag([1e-3, 1.0, 1.0]) / (12 * n**3)
    for i in range(n):
        at, axis = transform(np.eye(3), np.array([L if i else 0.0, 0, 0])), np.eye(3)[2 - i % 2]
        joint = Joint(f"joint{i}", JointKind.REVOLUTE, axis=axis, T_parent_joint=at)
        bodies.append(Body(f"rod{i}", i, joint, Inertia(m, np.array([L / 2, 0, 0]), I)))
        placed = pin.SE3(np.eye(3), at[:3, 3])
        index = model.addJoint(i, pin.JointModelRevoluteUnaligned(axis), placed, f"joint{i}")
        model.appendBodyToJoint(index, pin.Inertia(m, np.array([L / 2, 0, 0]), I), pin.SE3.Identity())
    return Tree("chain", tuple(bodies)), model


def microseconds(call: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of a call, of so many runs of many calls."""
    best = np.inf
    for _ in range(repeats):
        start = process_time()
        for _ in range(CALLS):
            call()
        best = min(best, process_time() - start)
    return best / CALLS * 1e6


def measured(n: int, repeats: int) -> tuple[dict[str, float], float]:
    """Return times [us] by what is done, and the largest disagreement over the largest entry."""
    tree, model = chain(n)
    data, rng = model.createData(), np.random.default_rng(n)
    q, v, a = rng.uniform(-1, 1, (3, n))

    def crba() -> np.ndarray:
        M = pin.crba(model, data, q)
        return np.triu(M) + np.triu(M, 1).T

    M, h = crba(), pin.nonLinearEffects(model, data, q, v)
    tau = M @ a + h
    kept = model.createData()
    pin.crba(model, kept, q)
    pin.cholesky.decompose(model, kept)

    def whole() -> np.ndarray:
        pin.crba(model, data, q)
        b = tau - pin.nonLinearEffects(model, data, q, v)
        pin.cholesky.decompose(model, data)
        return pin.cholesky.solve(model, data, b)

    def factor() -> np.ndarray:
        pin.cholesky.decompose(model, kept)
        return kept.D.copy()

    calls: dict[str, tuple[Callable[[], np.ndarray], np.ndarray]] = {
        "inverse: rnea": (lambda: pin.rnea(model, data, q, v, a), tau),
        "inverse: M a + h at hand": (lambda: M @ a + h, tau),
        "forward: aba": (lambda: pin.aba(model, data, q, v, tau), a),
        "forward: crba, h, factor, solve": (whole, a),
        "forward: dense solve, M and h at hand": (lambda: np.linalg.solve(M, tau - h), a),
        "forward: solve, factor and h kept": (lambda: pin.cholesky.solve(model, kept, tau - h), a),
        "preparation: M, both triangles": (crba, M),
        "preparation: h": (lambda: pin.nonLinearEffects(model, data, q, v), h),
        "preparation: factor": (factor, factor()),
    }
    reference = Reference(tree)
    worst = np.abs(reference.inverse_dynamics(q[None], v[None], a[None])[0] - tau).max() / np.abs(tau).max()
    for call, expected in calls.values():
        worst = max(worst, np.abs(call() - expected).max() / np.abs(expected).max())
    return {name: microseconds(call, repeats) for name, (call, _) in calls.items()}, float(worst)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    given = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, numpy {np.__version__},")
    print(f"Pinocchio {pin.__version__}; the least of {given.repeats} runs of {CALLS} calls, processor time\n")
    found = {n: measured(n, given.repeats) for n in given.sizes}
    print("| microseconds, n = | " + " | ".join(map(str, found)) + " |\n|---|" + "---|" * len(found))
    for name in next(iter(found.values()))[0]:
        print(f"| {name} | " + " | ".join(f"{times[name]:.3g}" for times, _ in found.values()) + " |")
    print("| largest relative disagreement | " + " | ".join(f"{worst:.0e}" for _, worst in found.values()) + " |")
    names = (counting.RNEA, counting.PRODUCT, counting.ABA, counting.CRBA_SOLVE, counting.SOLVE)
    counted = counting.spatial_counts(list(found), names)
    print("\n| operations counted, n = | " + " | ".join(map(str, found)) + " |\n|---|" + "---|" * len(found))
    for name in names:
        print(f"| {name} | " + " | ".join(str(tally.total) for tally in counted[name]) + " |")


if __name__ == "__main__":
    main()
