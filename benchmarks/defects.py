"""Planted defects: does `diff` find them all, call them by their name, and stay silent where there is none?

Run: python benchmarks/defects.py [--pairs 600] [--seed 0] [--engines 60] [--jobs 2] [--keep DIR] [--only N]

Each pair of files is a random robot or one of example-robot-data, exported, with one or two defects planted in the text
of one of them by code of its own, or none; then both are written over in ways that change nothing. An answer is right
when its kind and place are those that were planted, or one of those that `defects_plant` and the planters derive as
equal: half a turn of a tensor with one product is a flipped sign too, and no motion tells them apart. How many answers
were right in the second way is printed. A change that is none (a flipped zero) is never planted: every planter looks
at what it changed. Rates over all pairs; exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from defects_engines import WRONG, WrongEngine
from defects_pairs import PLANTERS, Pair, make, rng_of, texts
from defects_report import Score, report
from defects_robots import any_robot, random_tree, real_robots

import tautology
from tautology.harness.bench import Bench
from tautology.harness.diff import diff
from tautology.harness.errors import ReadError
from tautology.harness.registry import adapter
from tautology.harness.request import Request
from tautology.harness.run import check_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from defects_plant import Account

    from tautology.harness.findings import Finding
    from tautology.harness.tree import Tree

SHARES = {"single": 0.6, "double": 0.2, "clean": 0.2}


def plan(pairs: int) -> list[tuple[int, list[str]]]:
    """Return number and planters of every pair: each planter equally often, alone and beside any other."""
    names = list(PLANTERS)
    singles, doubles = round(pairs * SHARES["single"]), round(pairs * SHARES["double"])
    work = [[names[k % len(names)]] for k in range(singles)]
    work += [[names[k % len(names)], ""] for k in range(doubles)]
    work += [[] for _ in range(pairs - singles - doubles)]
    return list(enumerate(work))


def judge_pair(job: tuple[int, int, list[str], str, float]) -> Score:
    """Make one pair, compare it, and say what came out."""
    seed, number, names, keep, real = job
    group = ("clean", "single", "double")[len(names)]
    score = Score(number, group, names)
    rng = rng_of(seed, number)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(keep) / f"{number:04d}" if keep else Path(scratch)
        pair, files = loadable(rng, score, folder, real)
        start = time.perf_counter()
        a, b = (tautology.load(file) for file in files)
        try:
            result = diff(a, b)
        except Exception as error:  # noqa: BLE001  a crash is a row of the table
            score.note += f" CRASH {type(error).__name__}: {error}"
            score.truth = [f"{p.accounts[0].kind}" for p in pair.plants]
            return score
        score.seconds = time.perf_counter() - start
    reasons = [r for r in result.reasons if r.severity != "convention"]
    _score(score, pair, reasons, a)
    score.detected = result.status == "differs"
    return score


def loadable(rng: Any, score: Score, folder: Path, real: float) -> tuple[Pair, list[Path]]:
    """Return a pair that can be loaded: MuJoCo refuses some tensors and masses, which is another kind of finding."""
    while True:
        pair = make(rng, partial(any_robot, real=real), score.planted)
        files = [_write(folder / side, side, file) for side, file in (("a", pair.a), ("b", pair.b))]
        try:
            for file in files:
                tautology.load(file)
        except ReadError as refusal:
            score.refused.append(str(refusal).partition(": ")[2])
            continue
        _note(score, pair)
        score.planted = pair.names
        return pair, files


def _note(score: Score, pair: Pair) -> None:
    score.note = f"{pair.robot} {pair.a.format}/{pair.b.format} size {pair.size:g} {'reversed ' * pair.reversed}"
    score.note += f"a: {', '.join(pair.rewrites[0]) or '-'}; b: {', '.join(pair.rewrites[1]) or '-'}"


def _write(folder: Path, stem: str, file: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    name, parts = texts(file, stem)
    for part, text in parts.items():
        (folder / part).write_text(text)
    return folder / name


def _score(score: Score, pair: Pair, reasons: Sequence[Finding], a: Tree) -> None:
    score.found = [f"{r.kind}@{r.where}" + (f" {r.explains:.3f}" if r.explains is not None else "") for r in reasons]
    score.truth = [f"{p.kind}@{'|'.join(sorted(places(p.accounts[0], pair, a)))}" for p in pair.plants]
    if not reasons or not pair.plants:
        return
    top = reasons[0]
    score.kind = any(top.kind == account.kind for p in pair.plants for account in p.accounts)
    score.place = any(_says(top, account, pair, a) for p in pair.plants for account in p.accounts)
    score.exact = any(_says(top, p.accounts[0], pair, a) for p in pair.plants)
    named = [any(_says(r, account, pair, a) for account in p.accounts for r in reasons) for p in pair.plants]
    score.both = all(named)


def _says(reason: Finding, account: Account, pair: Pair, a: Tree) -> bool:
    if reason.kind != account.kind:
        return False
    return account.what == "any" or (reason.where or "") in places(account, pair, a)


def places(account: Account, pair: Pair, a: Tree) -> set[str]:
    """Return what the place may be called: names of the expected file, of the other where only that has it."""
    names = [pair.a.now(account.name), pair.b.now(account.name)]
    if account.what == "any":
        return {"any"}
    if account.what == "whole":
        return {""}
    if account.what == "body":
        return {names[0]} if names[0] in a.index else set(names)
    if account.what == "name":
        return set(names)
    return {a.joints[a.index[names[0]]].name} if names[0] in a.index else set()


def judge_engine(job: tuple[int, int, str]) -> Score:
    """Ask an engine with another convention about a random robot, and say what came out."""
    seed, number, name = job
    rng = rng_of(seed, 10**6 + number)
    score = Score(number, "engine", [name])
    while True:
        tree = random_tree(rng, plain=True)
        movers = sum(joint.nv == 1 for joint in tree.joints)
        if movers > 1 and (tree.floating_roots or not name.startswith("base.")):
            break
    bench = [Bench("reference", "0", adapter("reference")), Bench("wrong", "0", WrongEngine(WRONG[name]))]
    start = time.perf_counter()
    try:
        result = check_model(tree, Request(path="native", states=32), bench)
    except Exception as error:  # noqa: BLE001  a crash is a row of the table
        score.note = f"CRASH {type(error).__name__}: {error}"
        return score
    score.seconds = time.perf_counter() - start
    row = next(r for r in result.engines if r.engine == "wrong")
    score.detected = bool(row.findings) or row.status != "agree"
    score.truth = [name.split()[0]]
    score.found = [f"{f.kind}@{f.where}" for f in row.findings]
    score.kind = score.place = score.exact = bool(row.findings) and row.findings[0].kind == name.split()[0]
    score.note = row.message[:300]
    return score


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--engines", type=int, default=54, help="checks of engines with another convention")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", default="", help="folder for the files of every pair")
    parser.add_argument("--real", type=float, default=1 / 3, help="share of pairs made of real robots")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the pairs to run")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    work = [(arguments.seed, number, names, arguments.keep, arguments.real) for number, names in plan(arguments.pairs)]
    kinds = list(WRONG)
    checks = [(arguments.seed, k, kinds[k % len(kinds)]) for k in range(arguments.engines)]
    if arguments.only is not None:
        work, checks = [job for job in work if job[1] in arguments.only], []
    if arguments.jobs > 1:
        with multiprocessing.Pool(arguments.jobs) as pool:
            scores = pool.map(judge_pair, work, chunksize=4) + pool.map(judge_engine, checks, chunksize=4)
    else:
        scores = [judge_pair(job) for job in work] + [judge_engine(job) for job in checks]
    met = report(scores)
    print(
        f"seed {arguments.seed}; {time.perf_counter() - start:.0f} s; python {platform.python_version()}, numpy"
        f" {np.__version__}, mujoco {mujoco.__version__}; {len(real_robots())} real robots; {platform.machine()}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
