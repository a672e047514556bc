"""How long a report takes, and how much memory: 100 models with five engines each on both paths, from saved files.

    python benchmarks/report_speed.py [MODELS]

A real check of a bundled robot is repeated until there are so many models and engines; each report is then made from
the files in a process of its own, as `tautology report` makes it. Less than 5 s and 500 MB is asked of each; times are
those of the processor, which other work on the machine does not lengthen.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tautology
from tautology import models
from tautology.harness.saved import Saved

ROBOT = "tau_walker.urdf"
MODELS = 100
ENGINES = 5
SECONDS, MEGABYTES = 5.0, 500.0
REPORTS = ("html", "markdown", "junit", "sarif")
CHILD = """
import resource, sys, time
from pathlib import Path
from tautology.harness.saved import Saved
from tautology.reports.files import made
start = time.process_time()
saved = Saved.read(Path(sys.argv[1]))
read = time.process_time() - start
text = made(sys.argv[2], saved)
wrote = time.process_time() - start - read
print(read, wrote, len(text.encode()) / 1e6, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""


def save(folder: Path, count: int) -> Path:
    """Write the check of `count` robots, and return the file of its document."""
    saved = Saved.of(tautology.check(models.path(ROBOT), arrays=True))
    kept = saved.arrays or {}
    (model,) = saved.document["models"]
    # The reference, and the engines that answered, again and again on both paths.
    order = [0, *(1 + n % (len(model["engines"]) - 1) for n in range(2 * ENGINES))]
    engines = [model["engines"][0]]
    engines += [model["engines"][k] | {"engine": f"engine {n // 2}"} for n, k in enumerate(order[1:])]
    own = {key.removeprefix("m0/"): array for key, array in kept.items()}
    arrays = {key: array for key, array in own.items() if not key.startswith("e")}
    for new, old in enumerate(order):
        arrays |= {f"e{new}/{key.partition('/')[2]}": x for key, x in own.items() if key.startswith(f"e{old}/")}
    copies = [model | {"file": f"robots/{n}.urdf", "engines": engines} for n in range(count)]
    side = io.BytesIO()
    np.savez_compressed(side, **{f"m{n}/{key}": array for n in range(count) for key, array in arrays.items()})
    (folder / "r.arrays.npz").write_bytes(side.getvalue())
    named = {"file": "r.arrays.npz", "sha256": hashlib.sha256(side.getvalue()).hexdigest()}
    document = {**saved.document, "models": copies, "arrays": named}
    (folder / "r.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "r.json"


def main() -> None:
    """Print a table, and fail when something takes too long or too much."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    print(f"{count} models, {ENGINES} engines on both paths beside the reference, 64 states, {ROBOT}\n")
    print("| report | reading, s | writing, s | size, MB | memory, MB |\n|---|---|---|---|---|")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = save(Path(folder), count)
        for report in REPORTS:
            command = [sys.executable, "-c", CHILD, str(file), report]
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
            read, wrote, size, memory = map(float, ran.stdout.split())
            worst = max(worst, (read + wrote) / SECONDS, memory / MEGABYTES)
            print(f"| {report} | {read:.2f} | {wrote:.2f} | {size:.2f} | {memory:.0f} |")
    if worst > 1:
        sys.exit(f"\nmore than {SECONDS:g} s or {MEGABYTES:g} MB")


if __name__ == "__main__":
    main()
