"""Native recursive dynamics against Pinocchio's, and their cost against the number of bodies.

Run: python benchmarks/reference_speed.py [--repeats 9]

RNEA: N = 4096 states at once in float64 against a Python loop over `pin.rnea` on the same fused model, per state. Both
sides are timed in turn within one process; the table holds medians, and the median of the paired ratios. Growth: RNEA
and ABA at N = 64 states over chains and random trees of 50 to 800 bodies, with the slope of log time over log bodies.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from tautology import load
from tautology.adapters.reference import Reference
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Callable

ROBOTS = ("ur5_robot.urdf", "g1_29dof_rev_1_0.urdf")
SIZES = (50, 100, 200, 400, 800)


def robot_file(name: str) -> Path:
    """Return a file of the package example-robot-data, wherever it is installed."""
    files = metadata.files("example-robot-data") or []
    return next(Path(str(f.locate())) for f in files if f.name == name)


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def against_pinocchio(name: str, repeats: int, count: int = 4096) -> str:
    """Return a table row: microseconds per state of both sides, and the median of the paired ratios."""
    path = robot_file(name)
    tree = load(path).fused()
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    states = sample(tree, count)
    order = [tree.v_slices[tree.joint_index[joint]].start for joint in list(model.names)[1:]]
    q, v, a = (np.ascontiguousarray(x[:, order]) for x in (states.q, states.v, states.a))
    reference = Reference(tree)

    def native() -> np.ndarray:
        return reference.inverse_dynamics(states.q, states.v, states.a)

    def loop() -> None:
        rnea = pin.rnea
        for n in range(count):
            rnea(model, data, q[n], v[n], a[n])

    error = np.abs(native()[-1, order] - pin.rnea(model, data, q[-1], v[-1], a[-1])).max()
    if error > 1e-9:
        raise SystemExit(f"{name}: the two sides differ by {error:.1e}; nothing to time")
    loop()
    pairs = [(seconds(native), seconds(loop)) for _ in range(repeats)]
    mine, theirs = (statistics.median(side) / count * 1e6 for side in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    return f"| {tree.name} ({tree.nv} dofs) | {mine:.2f} | {theirs:.2f} | {ratio:.2f} |"


def grown(count: int, *, branching: bool) -> Tree:
    """Return a chain, or a random tree, of `count` bodies on revolute joints."""
    rng = np.random.default_rng(count)
    bodies = [world()]
    for i in range(1, count + 1):
        placement = np.eye(4)
        placement[:3, 3] = rng.uniform(-0.1, 0.1, 3)
        parent = int(rng.integers(0, i)) if branching else i - 1
        joint = Joint(f"j{i}", JointKind.REVOLUTE, np.eye(3)[i % 3], placement)
        bodies.append(Body(f"b{i}", parent, joint, Inertia(1.0, np.full(3, 0.05), np.diag([0.01, 0.012, 0.014]))))
    return Tree("grown", tuple(bodies))


def growth(repeats: int, *, branching: bool) -> tuple[list[str], dict[str, float]]:
    """Return table rows and the slopes of RNEA and ABA; sizes take turns, so that a busy minute slows them all."""
    calls: dict[tuple[str, int], Callable[[], object]] = {}
    for size in SIZES:
        tree = grown(size, branching=branching)
        states, reference = sample(tree, 64), Reference(tree)
        calls["RNEA", size] = lambda r=reference, s=states: r.inverse_dynamics(s.q, s.v, s.a)
        calls["ABA", size] = lambda r=reference, s=states: r.forward_dynamics(s.q, s.v, s.tau)
    for call in calls.values():
        call()
    taken = [{key: seconds(call) for key, call in calls.items()} for _ in range(repeats)]
    medians = {key: statistics.median(turn[key] for turn in taken) for key in calls}
    times = {name: [medians[name, size] for size in SIZES] for name in ("RNEA", "ABA")}
    slopes = {name: float(np.polyfit(np.log(SIZES), np.log(t), 1)[0]) for name, t in times.items()}
    shape = "random tree" if branching else "chain"
    rows = [
        f"| {name}, {shape} | " + " | ".join(f"{t * 1e3:.1f}" for t in ts) + f" | {slopes[name]:.2f} |"
        for name, ts in times.items()
    ]
    return rows, slopes


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, numpy {np.__version__},")
    print(f"Pinocchio {pin.__version__}; medians of {repeats} repeats\n")
    print("| inverse dynamics, N = 4096 | native, us/state | pin.rnea loop, us/state | ratio |\n|---|---|---|---|")
    for name in ROBOTS:
        print(against_pinocchio(name, repeats))
    print("\n| N = 64, ms for | " + " | ".join(f"{n} bodies" for n in SIZES) + " | log-log slope |")
    print("|---|" + "---|" * (len(SIZES) + 1))
    for branching in (False, True):
        rows, _ = growth(repeats, branching=branching)
        print("\n".join(rows))


if __name__ == "__main__":
    main()
