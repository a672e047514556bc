"""What became of the pairs: rates against their targets, confusion table, wrong answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

TARGETS = {
    "detected": 1.0,
    "clean pairs that are called the same": 1.0,
    "right kind on top": 0.97,
    "right kind and place on top": 0.95,
    "both of two named": 0.90,
    "conventions of engines named": 0.90,
}


@dataclass
class Score:
    """What became of one pair.

    Attributes:
        number: of the pair.
        group: "single", "double", "clean" or "engine".
        planted: names of planters.
        truth: kind and place of each.
        found: kind, place and share of every finding, in their order.
        detected, kind, place, both: whether it was found at all, and right.
        exact: whether kind and place on top are those planted, and no equal ones.
        note: robot, size and rewrites; an error message.
        seconds: of load and diff.
        refused: why pairs drawn before this one could not be loaded.
    """

    number: int
    group: str
    planted: list[str]
    truth: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    detected: bool = False
    kind: bool = False
    place: bool = False
    both: bool = False
    exact: bool = False
    note: str = ""
    seconds: float = 0.0
    refused: list[str] = field(default_factory=list)


def report(scores: list[Score]) -> bool:
    """Print rates, the confusion table and the wrong answers; returns whether all targets are met."""
    by = {group: [s for s in scores if s.group == group] for group in ("single", "double", "clean", "engine")}
    planted = by["single"] + by["double"]
    rates = {
        "detected": [s.detected for s in planted],
        "clean pairs that are called the same": [not s.detected and "CRASH" not in s.note for s in by["clean"]],
        "right kind on top": [s.kind for s in planted],
        "right kind and place on top": [s.place for s in planted],
        "both of two named": [s.both for s in by["double"]],
        "conventions of engines named": [s.kind for s in by["engine"]],
    }
    _confusion(by["single"] + by["engine"])
    _wrong(scores)
    print(
        f"\npairs: {len(by['single'])} with one defect, {len(by['double'])} with two, {len(by['clean'])} clean;"
        f" {len(by['engine'])} engines"
    )
    met = True
    for name, values in rates.items():
        if values:
            rate, target = float(np.mean(values)), TARGETS[name]
            met &= rate >= target
            print(
                f"{name:40s} {sum(values):4d} of {len(values):4d}  {rate:7.2%}  target {target:.0%}"
                f"{'' if rate >= target else '  MISSED'}"
            )
    right = [s for s in planted if s.place]
    print(f"of the right answers, {np.mean([s.exact for s in right]):.1%} are as planted, the others equal by theory")
    quiet = [s for s in by["single"] if s.place]
    print(
        f"findings beside the planted one: {np.mean([len(s.found) - 1 for s in quiet]):.2f} per pair;"
        f" unexplained in {sum('unexplained' in ' '.join(s.found) for s in planted)}"
    )
    times = [s.seconds for s in planted + by["clean"] if s.seconds]
    print(f"seconds per pair (load and diff): median {np.median(times):.2f}, largest {max(times):.2f}")
    refused = Counter(" ".join(x.split()[-6:]) for s in scores for x in s.refused)
    print(
        f"pairs drawn anew because a file could not be loaded: {sum(refused.values())} {dict(refused.most_common(8))}"
    )
    return met


def _confusion(scores: list[Score]) -> None:
    """Print for every planter what stood on top how often."""
    print("planted -> on top (single defects; 'ok' is the right kind and place)")
    for name in dict.fromkeys(s.planted[0] for s in scores):
        mine = [s for s in scores if s.planted[0] == name]
        tops = Counter(
            "ok"
            if s.place
            else (s.found[0].split("@")[0] if s.found else "nothing") + (" (elsewhere)" if s.kind else "")
            for s in mine
        )
        print(f"  {name:28s} {len(mine):3d}  " + ", ".join(f"{top} {count}" for top, count in tops.most_common()))


def _wrong(scores: list[Score]) -> None:
    print("\nwrong answers")
    for s in scores:
        if s.group == "clean":
            bad = s.detected or "CRASH" in s.note
        elif s.group == "double":
            bad = not (s.both and s.place)
        else:
            bad = not s.place
        if bad:
            print(
                f"  #{s.number} {s.group} {' + '.join(s.planted) or 'clean'}: wanted {s.truth}; got {s.found[:6]}"
                f"{' ...' if len(s.found) > 6 else ''} | {s.note}"
            )
