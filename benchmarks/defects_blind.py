"""The same planted defects without read-back: what do the answers alone tell?

Run: python benchmarks/defects_blind.py [--pairs 150] [--seed 0] [--real 0.3] [--jobs 2]

Pairs are those of `defects.py` with one defect and nothing written over. The dynamics of B stand for an engine that
does not say what it holds; `infer` sees their answers in the coordinates of A, and nothing of B. An answer is right
when the planted kind and place, or one that theory makes equal, is among the explanations that it declares equally
good. A defect that shows in no answer (damping, limits, a base that cannot move) is counted apart: there is nothing to
tell. A
joint that only B has is not asked: an engine's own dofs are told by its session. The name of a tendon that only B has
is not asked either.
Exit code 1 when fewer than 90 % are right.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import defects
import defects_pairs
import numpy as np

import tautology
from tautology.adapters.reference import Reference
from tautology.harness.checks.truth import Truth
from tautology.harness.diagnosis.alignment import common_zeros, side
from tautology.harness.diagnosis.diagnose import observe
from tautology.harness.diagnosis.frame_choice import align
from tautology.harness.diagnosis.infer import ROUNDING, infer
from tautology.harness.diagnosis.matching import match
from tautology.harness.diagnosis.translate import Translated
from tautology.harness.states import sample

TARGET = 0.9


@dataclass
class Blind:
    """What came of one pair; `right` is None when the answers show nothing."""

    name: str
    robot: str
    right: bool | None
    equal: int
    seconds: float
    told: str


def judge(job: tuple[int, int, str, float]) -> Blind:
    """Make one pair and ask `infer` what its answers tell."""
    seed, number, name, real = job
    defects_pairs.REWRITES.clear()  # frames and names as they are: what is written over shows in no answer
    score = defects.Score(number, "single", [name])
    with tempfile.TemporaryDirectory() as folder:
        pair, files = defects.loadable(defects_pairs.rng_of(seed, number), score, Path(folder), real)
        a, b = (tautology.load(file) for file in files)
    matching = match(a, b)
    zeros = common_zeros(a, b, matching)
    nodes = [replace(node, G=np.eye(4)) for node in align(side(a, zeros[0]), side(b, zeros[1]), matching, 1e-9)]
    states = sample(a, 48, seed)
    truth = Truth(a, states, Reference(a, np.longdouble), Reference(a))
    observed = observe(Translated(a, b, nodes, Reference), a, states, truth.scale_of)
    start = time.perf_counter()
    inference = infer(a, observed, Reference)
    seconds = time.perf_counter() - start
    told = [[(d.kind, d.where) for d in explanation.differences] for explanation in inference.best]
    silent = inference.residual <= ROUNDING and not told
    anywhere = ("any", "armature.tendon")
    right = any(
        d.kind == account.kind
        and (account.what in anywhere or d.kind in anywhere or (d.where or "") in defects.places(account, pair, a))
        for explanation in inference.best
        for d in explanation.differences
        for account in pair.plants[0].accounts
    )
    robot = f"{pair.robot}, {a.nv} dofs, size {pair.size:g}"
    return Blind(name, robot, None if silent else right, len(told), seconds, str(told[:3])[:200])


def main() -> int:
    """Run and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", type=float, default=0.3, help="share of pairs made of real robots")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    names = [name for name in defects_pairs.PLANTERS if not name.startswith("joint.extra")]
    work = [(given.seed, k, names[k % len(names)], given.real) for k in range(given.pairs)]
    if given.jobs > 1:
        with multiprocessing.Pool(given.jobs) as pool:
            found = pool.map(judge, work, chunksize=1)
    else:
        found = [judge(job) for job in work]
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in found:
        table[row.name][0] += row.right is True
        table[row.name][1] += row.right is not None
        table[row.name][2] += row.right is None
    print("| planted | right | of | shows in no answer |\n|---|---|---|---|")
    for name, (right, count, silent) in sorted(table.items()):
        print(f"| {name} | {right} | {count} | {silent} |")
    for row in found:
        if row.right is False:
            print(f"  not told: {row.name} on {row.robot}: {row.told}")
    seen = [row for row in found if row.right is not None]
    rate = sum(row.right is True for row in seen) / len(seen)
    times = sorted(row.seconds for row in seen)
    print(f"\n{rate:.1%} of {len(seen)} defects that show are told right; target {TARGET:.0%}")
    print(f"explanations declared equal: median {np.median([row.equal for row in seen]):g}")
    print(f"seconds: median {times[len(times) // 2]:.1f}, largest {times[-1]:.1f}")
    print(f"seed {given.seed}; python {platform.python_version()}, numpy {np.__version__}; {platform.machine()}")
    return 0 if rate >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
