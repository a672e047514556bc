"""Findings, failed rows, faults of the file and losses of one model, as blocks of Markdown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ..harness.results import QuantityRow
from .markup import code, prose
from .reasons import TERMS, TITLES, values_of
from .text import counted, sentence, small
from .verdict import located, path_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..harness.diff_result import Compared
    from ..harness.results import EngineResult, Finding, IdentityRow, ModelResult

BREAK: Final = "\\\n  "  # a new line inside an item of a list
MOST: Final = 6  # findings of one kind that are shown one by one
NAMED: Final = 12  # names of the others
ROWS: Final = 30  # of the table of what failed


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the page that is kept or cut as a whole.

    Attributes:
        text: Markdown, without the line break at its end.
        holds: what is counted when it is cut.
        many: how many of them.
        apart: whether an empty line stands before it.
    """

    text: str
    holds: Literal["model", "finding"] | None = None
    many: int = 1
    apart: bool = True


def findings_blocks(model: ModelResult, most: int) -> Iterator[Block]:
    """Give what engines said, and every finding that is no convention, the same of several engines once.

    Args:
        model: whose findings.
        most: findings one by one; of the others the count.
    """
    yield from _messages(model)
    for severity in ("model", "refusal"):
        who: dict[str, list[EngineResult]] = {}
        found: dict[str, Finding] = {}
        for engine in model.engines:
            for f in engine.findings:
                if f.severity == severity and not f.known:
                    who.setdefault(repr(f), []).append(engine)
                    found[repr(f)] = f
        if not found:
            continue
        yield Block(f"**{TITLES[severity].capitalize()}**\n")
        times: Counter[str] = Counter()
        rest: list[Finding] = []
        for key, f in found.items():
            times[f.kind] += 1
            if times[f.kind] > MOST or times.total() - len(rest) > most:
                rest.append(f)
                continue
            yield Block(f"- {_item(f, model)} ({_engines(who[key], model)}){_details(f)}", "finding", apart=False)
        if rest:
            yield Block(f"- and {_others(rest)}", "finding", len(rest), apart=False)
    yield from _known(model)


def _known(model: ModelResult) -> Iterator[Block]:
    """Give what may stay, by the reason for it."""
    reasons: dict[str, dict[str, Finding]] = {}
    for f in (f for engine in model.engines for f in engine.findings if f.known):
        reasons.setdefault(f.known, {})[repr(f)] = f
    if reasons:
        yield Block("**Known, and not counted**\n")
    for reason, found in reasons.items():
        text = f"- {prose(reason)}: {_others(list(found.values()), '')}"
        yield Block(text, "finding", len(found), apart=False)


def _messages(model: ModelResult) -> Iterator[Block]:
    """Give the words of engines that no finding repeats."""
    said: dict[tuple[str, str, str], list[EngineResult]] = {}
    for r in model.engines:
        told = {sentence(f.found) for f in r.findings}
        if r.message and sentence(r.message) not in told:
            said.setdefault((model.called(r), r.status, r.message), []).append(r)
    for n, ((_, status, message), results) in enumerate(said.items()):
        yield Block(f"- {_engines(results, model)}, {prose(status)}: {prose(message)}", apart=n == 0)


def _engines(results: Sequence[EngineResult], model: ModelResult) -> str:
    """Return who says it: `mujoco`, native path; several engines one after the other."""
    paths: dict[str, list[str]] = {}
    for r in results:
        paths.setdefault(model.called(r), []).append(r.path)
    return "; ".join(f"{code(engine, 40)}, {prose(path_words(some, ''))}" for engine, some in paths.items())


def _item(f: Finding, model: ModelResult) -> str:
    """Return kind and place of a finding."""
    place = f" at {code(f.where)}" if f.where else ""
    line = located(f, model)
    return f"**{prose(f.kind)}**{place}{f', {code(line)}' if line else ''}"


def _details(f: Finding) -> str:
    """Return values and fix, each on a line of its own."""
    values = values_of(f)
    lines = ([prose(values)] if values else []) + ([f"fix: {prose(f.fix)}"] if f.fix else [])
    return "".join(BREAK + line for line in lines)


def _others(rest: Sequence[Finding], more: str = " more of") -> str:
    """Return findings that are not shown one by one: how many of which kind, and the first names."""
    kinds: dict[str, list[Finding]] = {}
    for f in rest:
        kinds.setdefault(f.kind, []).append(f)
    parts: list[str] = []
    for kind, some in kinds.items():
        names = ", ".join(code(f.where or "the file", 40) for f in some[:NAMED])
        others = f" and {len(some) - NAMED} more" if len(some) > NAMED else ""
        parts.append(f"{len(some)}{more} **{prose(kind)}** at {names}{others}")
    return "; ".join(parts)


def rows_block(model: ModelResult) -> Iterator[Block]:
    """Give a table, folded away, of every quantity and identity that failed, at its worst state."""
    failed = [
        (r, row) for r in model.engines for row in (*r.quantities, *r.identities) if row.applies and not row.passed
    ]
    if not failed:
        return
    lines = [
        f"<details><summary>{counted(len(failed), 'check')} that failed, at the worst state</summary>",
        "",
        "| engine | path | check | error | allowed | state | where |",
        "|---|---|---|---:|---:|---:|---|",
        *(_failed(model.called(r), r.path, row) for r, row in failed[:ROWS]),
        *([f"\n{len(failed) - ROWS} more are not shown.\n"] if len(failed) > ROWS else [""]),
        "</details>",
    ]
    yield Block("\n".join(lines))


def _failed(engine: str, path: str, row: QuantityRow | IdentityRow) -> str:
    measured = isinstance(row, QuantityRow)
    name = f"{row.quantity} [{row.unit}]" if measured else f"identity {row.identity}"
    error = row.error if measured else row.residual
    place = "-" if row.where is None else code(row.where)
    note = f"; {prose(row.note)}" if row.note else ""
    state = "-" if row.state is None else str(row.state)
    cells = (code(engine, 40), prose(path), prose(name), small(error), small(row.tolerance), state, place + note)
    return f"| {' | '.join(cells)} |"


def kinds_told(model: ModelResult) -> Iterator[Block]:
    """Give in a line what engines tell otherwise, harmless once mapped."""
    told = Counter(
        f.kind
        for r in model.engines
        for f in r.findings
        if f.severity == "convention" and f.kind not in TERMS and (f.expected is None or f.expected != f.found)
    )
    if told:
        kinds = ", ".join(f"{kind} x{n}" if n > 1 else kind for kind, n in told.items())
        yield Block(f"{TITLES['convention'].capitalize()}: {prose(kinds)}")


def lint_blocks(model: ModelResult) -> Iterator[Block]:
    """Give what is wrong with the file itself: of each kind one fault with values and fix, and where the others are."""
    kinds: dict[str, list[Finding]] = {}
    for f in model.lint:
        kinds.setdefault(f.kind, []).append(f)
    if kinds:
        yield Block("**Wrong in the file itself, whatever engine reads it**\n")
    for first, *others in kinds.values():
        also = f"{BREAK}and {_others(others)}" if others else ""
        yield Block(f"- {_item(first, model)}{_details(first)}{also}", "finding", 1 + len(others), apart=False)


def loss_blocks(model: ModelResult | Compared) -> Iterator[Block]:
    """Give what the file says, what touches the dynamics, and what no answer holds."""
    elements: dict[str, list[str]] = {}
    notes: dict[str, str] = {}
    for loss in model.losses:
        if loss.touches_dynamics:
            line = f" (line {loss.source.line})" if loss.source.line else ""
            elements.setdefault(loss.element, []).append(f"{code(loss.where or 'the file', 40)}{line}")
            notes.setdefault(loss.element, loss.note)
    if elements:
        yield Block(f"**Left out of every answer, though it touches the dynamics** ({code(model.label)})\n")
    for element, places in elements.items():
        more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
        at = ", ".join(places[:NAMED]) + more
        yield Block(f"- {prose(element)} at {at}: {prose(notes[element])}", apart=False)
