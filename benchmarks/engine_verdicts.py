"""What every engine makes of real robot files: verdicts, and the reason of each difference.

Usage: python benchmarks/engine_verdicts.py urdf|mjcf [--engine NAME]... [--states 8] [--output FILE] [--only WORD]

URDF: those of the package example-robot-data, base as in the file. MJCF: those that the packages gymnasium and
dm_control ship, and those beside the checkout. Engines read each file themselves (native path), each in a process of
its own.
Writes docs/engines_urdf.md or docs/engines_mjcf.md, and prints what is unexplained.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tautology.harness import registry
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.reports.text import pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tautology.harness.findings import Finding
    from tautology.harness.results import EngineResult, Result

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
FOLDERS = re.compile(r"[^\s'\"]*/(?=[^\s/]+\.(?:urdf|xml|stl|obj|png|dae)\b)", re.IGNORECASE)
MOST = 2000
"""Characters of a message that are looked at."""
LONGEST = 200
"""Characters of a reason."""
STATUSES = ("agree", "differs", "refused", "crashed", "timeout", "unsupported")
SIGNS = {"differs": "**differs**", "crashed": "**crashed**", "timeout": "**timeout**", "unsupported": "-"}
ABOUT = {
    "urdf": "the URDFs of the package example-robot-data",
    "mjcf": "the MJCF files that the packages gymnasium and dm_control ship, and five of MuJoCo Menagerie",
}
HEAD = """# What the engines make of {about}

{models} models, native path: each engine reads the file with its own importer and defaults, meshes taken out; base as
in the file; {states} frozen states, seed 0, relative tolerance {tolerance:g}. Made by

    python benchmarks/engine_verdicts.py {kind}

*agree*: every quantity and identity is that of the file. *differs*: another robot, for the reasons below. *refused*:
the engine would not load it, in its own words. *unsupported*: the engine cannot hold such a robot, known before it
is asked.

{versions}.
"""


def urdfs() -> dict[str, Path]:
    """Return the URDF files by name."""
    from example_robots import EXAMPLE_ROBOTS  # noqa: PLC0415

    return dict(EXAMPLE_ROBOTS)


def mjcfs() -> dict[str, Path]:
    """Return the MJCF files by name."""
    found: dict[str, Path] = {}
    for package in ("gymnasium", "dm_control"):
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            print(f"{package} is not installed: its models are left out")
            continue
        home = Path(spec.origin).parent
        files = sorted(file for file in home.rglob("*.xml") if b"<mujoco" in file.read_bytes())
        found |= {f"{package}/{file.relative_to(home).with_suffix('')}": file for file in files}
    beside = sorted((ROOT.parent / "shared" / "corpus" / "mjcf").glob("*.xml"))
    return found | {f"menagerie/{file.stem}": file for file in beside}


def rows(result: Result, names: Mapping[str, str]) -> Iterator[tuple[str, EngineResult]]:
    """Yield model and row of every engine but the reference."""
    for model in result.models:
        yield from ((names[model.file], row) for row in model.engines if row.engine != "reference")


def reasons(row: EngineResult) -> list[str]:
    """Return the kinds that make an engine differ or refuse."""
    told = dict.fromkeys(f.kind for f in row.findings if f.severity in ("model", "refusal"))
    failed = any(not q.passed for q in (*row.quantities, *row.identities))
    return [*told] or (["unexplained"] if failed else [])


def page(kind: str, results: Sequence[tuple[str, EngineResult]], unusable: Mapping[str, str], states: int) -> str:
    """Return the page: counts, reasons, the verdict on each model."""
    engines = list(dict.fromkeys(row.engine for _, row in results))
    versions = ", ".join(dict.fromkeys(f"{row.engine} {row.version}" for _, row in results))
    models = list(dict.fromkeys(name for name, _ in results))
    head = {"about": ABOUT[kind], "models": len(models), "states": states, "tolerance": 1e-9}
    lines = [HEAD.format(**head, versions=versions, kind=kind), *counts(engines, results), "", "## Reasons", ""]
    lines += [
        "Models per reason; one model may have several. The place is the first one.",
        "",
        "| engine | kind | models | for example |",
        "|---|---|---:|---|",
    ]
    lines += [line for engine in engines for line in causes(engine, results)]
    lines += ["", "## Models", "", "| model | " + " | ".join(engines) + " |", "|---|" + "---|" * len(engines)]
    standing = {(name, row.engine): row.status for name, row in results}
    for name in models:
        cells = [SIGNS.get(standing[name, e], standing[name, e]) for e in engines]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if unusable:
        lines += ["", "Not checked, since they are no models of their own or break the rules of the format:", ""]
        lines += [f"- {name}: {plain(words)}" for name, words in unusable.items()]
    return "\n".join(lines) + "\n"


def counts(engines: Iterable[str], results: Sequence[tuple[str, EngineResult]]) -> list[str]:
    """Return the table of verdicts."""
    lines = ["| engine | " + " | ".join(STATUSES) + " | unexplained |", "|---|" + "---:|" * (len(STATUSES) + 1)]
    for engine in engines:
        own = [row for _, row in results if row.engine == engine]
        some = Counter(row.status for row in own)
        unexplained = sum("unexplained" in reasons(row) for row in own)
        lines.append(f"| {engine} | {' | '.join(str(some[s]) for s in STATUSES)} | {unexplained} |")
    return lines


def causes(engine: str, results: Sequence[tuple[str, EngineResult]]) -> list[str]:
    """Return a line per kind that makes this engine differ or refuse."""
    models: dict[str, list[str]] = defaultdict(list)
    for name, row in results:
        if row.engine == engine and row.status != "agree":
            for kind in reasons(row):
                first = next((f for f in row.findings if f.kind == kind), None)
                models[kind].append(f"{name}, {example(first)}" if first else name)
    return [f"| {engine} | `{kind}` | {len(some)} | {some[0]} |" for kind, some in models.items()]


def example(first: Finding) -> str:
    """Return place and values of a finding."""
    place = f"`{first.where}`" if first.where else "the file"
    line = f", line {first.line}" if first.line else ""
    expected, found = (plain(text) for text in pair(first.expected, first.found))
    words = found if first.expected is None else f"{expected} became {found}"
    return f"{place}{line}: {words if len(words) <= LONGEST else words[: LONGEST - 1] + '…'}"


def plain(words: str) -> str:
    """Return words in one line of a table, files without their folders: those are of this machine."""
    return " ".join(FOLDERS.sub("", words[:MOST]).replace("|", "\\|").split())


def main() -> None:
    """Check everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("urdf", "mjcf"))
    parser.add_argument("--engine", action="append")
    parser.add_argument("--states", type=int, default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    named = {name: path for name, path in (urdfs() if asked.kind == "urdf" else mjcfs()).items() if asked.only in name}
    names = {str(path): name for name, path in named.items()}
    cards = registry.cards()
    engines = asked.engine or [n for n, c in cards.items() if asked.kind in c.formats and registry.version(c)]
    start = time.perf_counter()

    def progress(what: str, share: float) -> None:
        if share == 0:
            print(f"{time.perf_counter() - start:6.1f} s  {what}", flush=True)

    request = Request(engines, "native", states=asked.states, in_process=False, progress=progress)
    result = check_files(list(names), request)
    found = list(rows(result, names))
    unusable = {names[row.file]: row.message for row in result.unusable}
    print("\n".join(counts(engines, found)))
    for name, row in found:
        if "unexplained" in reasons(row) or row.status in ("crashed", "timeout"):
            worst = next((q for q in row.quantities if not q.passed), None)
            print(f"{name}, {row.engine}: {row.status}: {row.message[:200]} {reasons(row)} {worst and worst.quantity}")
    output = asked.output or (None if asked.only or asked.engine else ROOT / f"docs/engines_{asked.kind}.md")
    if output:
        output.write_text(page(asked.kind, found, unusable, asked.states), encoding="utf-8")


if __name__ == "__main__":
    main()
