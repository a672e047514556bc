"""What diagnosis costs: the check of real robots with and without it, in processor time of one process.

Run: python benchmarks/diagnosis_speed.py [--states 64] [--repeat 3]
"""

from __future__ import annotations

import argparse
import platform
import time
from importlib.metadata import distribution
from pathlib import PurePath
from statistics import median
from unittest.mock import patch

import tautology
from tautology.harness import run
from tautology.harness.diagnosis.diagnose import Diagnosis
from tautology.harness.errors import HarnessError
from tautology.harness.request import Request


def seconds(file: str, request: Request) -> float:
    """Return the processor time of one check."""
    start = time.process_time()
    run.check_files([file], request)
    return time.process_time() - start


def nothing(*_: object, **__: object) -> Diagnosis:
    """Stand for diagnosis, and find nothing."""
    return Diagnosis((), (), None)


def main() -> None:
    """Print a line per robot whose check with diagnosis takes longest, and the ratio over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    request = Request(states=options.states)
    package = distribution("example-robot-data")
    files = [str(package.locate_file(f)) for f in package.files or () if f.suffix == ".urdf"]
    rows: list[tuple[float, float, float, str]] = []
    for file in sorted(files):
        try:
            tautology.load(file)
        except HarnessError:
            continue
        seconds(file, request)
        pairs: list[tuple[float, float]] = []
        for _ in range(options.repeat):
            full = seconds(file, request)
            with patch.object(run, "diagnose", nothing):
                pairs.append((full, seconds(file, request)))
        ratio = median(a / b for a, b in pairs)
        rows.append((ratio, median(a for a, _ in pairs), median(b for _, b in pairs), PurePath(file).name))
    rows.sort(reverse=True)
    print(f"{platform.machine()}, Python {platform.python_version()}; {len(rows)} robots, {options.states} states")
    print("| robot | with diagnosis, s | without, s | ratio |\n|---|---|---|---|")
    for ratio, full, plain, name in rows[:8]:
        print(f"| {name} | {full:.3f} | {plain:.3f} | {ratio:.2f} |")
    whole = sum(row[1] for row in rows) / sum(row[2] for row in rows)
    print(f"| all {len(rows)} | {sum(r[1] for r in rows):.2f} | {sum(r[2] for r in rows):.2f} | {whole:.2f} |")


if __name__ == "__main__":
    main()
