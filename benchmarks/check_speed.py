"""Wall time of `tautology check` against a plain script that makes the same engine calls.

Run: python benchmarks/check_speed.py [--pairs 10] [--robot ur5_robot.urdf]

The engine calls of one check (100 states, three engines, both paths, all identities) are counted once; then whole
processes run in turn, the check and `plain_script.py`, and the table holds the medians and the median of the paired
ratios. Packages are byte-compiled first: some machines forbid Python to write bytecode, which triples every import.
"""

from __future__ import annotations

import argparse
import collections
import compileall
import json
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

import mujoco
import pinocchio
from reference_speed import robot_file

HERE = Path(__file__).resolve().parent
STATES = "100"


def counted(robot: Path) -> dict[str, int]:
    """Return how often one check makes each call of Pinocchio and MuJoCo."""
    counts: collections.Counter[str] = collections.Counter()

    def watch(module: Any, label: str, name: str) -> None:
        call = getattr(module, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            counts[label + name] += 1
            return call(*args, **kwargs)

        watched.__doc__ = call.__doc__  # what a call takes is read off there
        setattr(module, name, watched)

    for name in dir(mujoco):
        if name.startswith("mj_"):
            watch(mujoco, "mj.", name)
    for name in dir(pinocchio):
        # Functions of the C++ library; Python helpers and classes stay as they are.
        if type(getattr(pinocchio, name)).__module__ == "Boost.Python" and name[0].islower():
            watch(pinocchio, "pin.", name)
    from tautology import check  # noqa: PLC0415  after the engines are watched

    result = check(robot, states=int(STATES))
    if result.exit != 0:
        raise SystemExit(f"{robot.name}: the check ends with {result.verdict}; nothing to time")
    return {name: count for name, count in sorted(counts.items()) if count > 20}


def seconds(command: list[str]) -> float:
    """Return the wall time of one process.

    Raises:
        CalledProcessError: it failed.
    """
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Count, run the pairs, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--robot", default="ur5_robot.urdf")
    options = parser.parse_args()
    robot = robot_file(options.robot)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2, workers=0)
    for folder in ("harness", "adapters", "reports", "models"):
        compileall.compile_dir(HERE.parent / folder, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder, "counts.json")
        counts.write_text(json.dumps(counted(robot)))
        check = [sys.executable, "-m", "tautology", "check", str(robot), "--states", STATES]
        plain = [sys.executable, str(HERE / "plain_script.py"), str(robot), str(counts)]
        for command in (check, plain):
            seconds(command)  # once for the caches of the disk
        pairs = [(seconds(check), seconds(plain)) for _ in range(options.pairs)]
    mine, floor = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()},")
    print(f"Pinocchio {pinocchio.__version__}, MuJoCo {mujoco.__version__}; {options.pairs} pairs of whole processes\n")
    print("| robot | tautology check, s | plain script, s | ratio |\n|---|---|---|---|")
    print(f"| {options.robot}, {STATES} states | {mine:.2f} | {floor:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
