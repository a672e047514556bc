"""Every MuJoCo against every URDF of example-robot-data: which versions read which robot as the file says it.

Usage: python benchmarks/mujoco_versions.py [--from V] [--to V] [--output docs/mujoco_versions.md]

Each version has an environment of its own, made by uv on the first run. Robots are read on the native path, geometry
that cannot be read is taken out. Versions that stand alike on every robot share a row.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import groupby
from pathlib import Path

from tautology.harness.environments import versions_between
from tautology.harness.request import Request
from tautology.harness.run import check_files

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from example_robots import EXAMPLE_ROBOTS

AT_A_TIME = 6  # versions on the same states: the reference answers once for all of them
SIGNS = {"agree": "agree", "differs": "**differs**", "refused": "refused"}
HEAD = """# MuJoCo versions against the robots of example-robot-data

{versions} versions of MuJoCo, {robots} URDFs of example-robot-data {data}, native path, {states} frozen states, seed 0,
relative tolerance {tolerance:g}: before 3.14 MuJoCo keeps a full tensor only to about 1e-7. Made by

    python benchmarks/mujoco_versions.py

*agree*: every quantity and identity is that of the file. *differs*: another robot. *refused*: MuJoCo would not load it.
"""


def main() -> None:
    """Check everything and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="first", default="2.3.7")
    parser.add_argument("--to", dest="last", default="4.0.0")
    parser.add_argument("--states", type=int, default=8)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parents[1] / "docs/mujoco_versions.md")
    asked = parser.parse_args()
    versions = versions_between("mujoco", asked.first, asked.last)
    standing: dict[str, dict[str, str]] = {version: {} for version in versions}
    names = {str(path): name for name, path in EXAMPLE_ROBOTS.items()}
    unusable: dict[str, str] = {}
    for at in range(0, len(versions), AT_A_TIME):
        start, some = time.perf_counter(), versions[at : at + AT_A_TIME]
        request = Request(
            [f"mujoco=={v}" for v in some], "native", states=asked.states, tolerance=asked.tolerance, in_process=False
        )
        result = check_files(list(names), request)
        unusable |= {names[row.file]: row.message for row in result.unusable}
        for model in result.models:
            for row in model.engines:
                if row.engine == "mujoco":
                    standing[row.version][names[model.file]] = row.status
        print(f"{some[0]} to {some[-1]}: {time.perf_counter() - start:.0f} s", flush=True)
    asked.output.write_text(table(standing, unusable, asked.states, asked.tolerance), encoding="utf-8")


def table(standing: dict[str, dict[str, str]], unusable: dict[str, str], states: int, tolerance: float) -> str:
    """Return the page: counts per span of versions, then the robots on which versions do not all stand alike."""
    from importlib.metadata import version as installed  # noqa: PLC0415

    robots = list(next(iter(standing.values())))
    data = installed("example-robot-data")
    lines = [HEAD.format(versions=len(standing), robots=len(robots), data=data, states=states, tolerance=tolerance)]
    spans = [(list(group), rows) for rows, group in groupby(standing, key=lambda v: tuple(standing[v].items()))]
    titles = [span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span, _ in spans]
    statuses = [
        s
        for s in (*SIGNS, "crashed", "timeout", "unsupported", "absent")
        if any(s in dict(r).values() for _, r in spans)
    ]
    lines += ["| versions | " + " | ".join(statuses) + " |", "|---|" + "---:|" * len(statuses)]
    for title, (_, rows) in zip(titles, spans, strict=True):
        counts = [str(sum(status == s for _, status in rows)) for s in statuses]
        lines.append(f"| {title} | {' | '.join(counts)} |")
    mixed = [robot for robot in robots if len({dict(rows)[robot] for _, rows in spans}) > 1]
    lines += ["", "Robots on which not all versions stand alike:", ""]
    lines += ["| robot | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    for robot in mixed:
        cells = [SIGNS.get(dict(rows)[robot], dict(rows)[robot]) for _, rows in spans]
        lines.append(f"| {robot} | {' | '.join(cells)} |")
    for status in statuses:
        alike = [r for r in robots if r not in mixed and dict(spans[0][1])[r] == status]
        if alike:
            lines += ["", f"In every version *{status}*: {', '.join(alike)}."]
    if unusable:
        lines += ["", "Not checked, since the file itself breaks the rules of URDF: " + ", ".join(unusable) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
