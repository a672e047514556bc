"""The report as GitHub's Markdown: a comment on a pull request or the summary of a job, worst first, below 60 kB."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final

from .console import HEADS, LEGEND, digits_cell
from .markdown_findings import Block, findings_blocks, kinds_told, lint_blocks, loss_blocks, rows_block
from .markdown_pair import pair_blocks
from .markup import code, prose
from .revived import check_result, diff_result
from .text import counted
from .verdict import COUNTED, floored, model_line, overall_line, standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..harness.results import EngineResult, ModelResult, Result
    from ..harness.saved import Saved

LIMIT: Final = 60_000  # bytes; GitHub takes 65,536 characters in a comment
FOLDED: Final = 12_000  # bytes of the list of models that agree
ENGINES: Final = 40  # rows of a table
SINGLE: Final = 60  # findings of the one model there is
SEVERAL: Final = 10  # findings of each of several models
VERDICT: Final = 1500  # characters


def markdown(saved: Saved) -> str:
    """Return the report of a saved result, 60,000 bytes of UTF-8 at most; what is cut is counted."""
    if saved.document["command"] == "diff":
        return _page(list(pair_blocks(diff_result(saved.document))), [])
    result = check_result(saved.document)
    return _page(list(_blocks(result)), list(_tail(result)))


def _page(blocks: Sequence[Block], tail: Sequence[str]) -> str:
    """Put blocks together, as many as there is room for; the tail always."""
    end = "".join(f"\n{part}\n" for part in tail)
    room = LIMIT - len(end.encode()) - 300  # for the sentence on what was cut
    kept: list[str] = []
    for n, block in enumerate(blocks):
        text = f"\n{block.text}\n" if block.apart else f"{block.text}\n"
        room -= len(text.encode())
        if room < 0:
            kept.append(f"\n{_cut(blocks[n:])}\n")
            break
        kept.append(text)
    return "".join(kept).lstrip("\n") + end


def _cut(left: Sequence[Block]) -> str:
    models, found = (sum(block.many for block in left if block.holds == what) for what in ("model", "finding"))
    parts = [counted(models, "more model")] if models else []
    parts += [counted(found, "more finding")] if found else []
    what = " and ".join(parts) or "The rest"
    verb = "is" if models + found == 1 or not parts else "are"
    return f"**{what}** {verb} left out here, where 60 kB are the limit; the saved result holds all of it."


def _row(r: EngineResult) -> str:
    """Return one engine and path as a row of the table."""
    rows = ([row for row in r.quantities if row.quantity in wanted] for wanted in HEADS.values())
    digits = [_marked(digits_cell(some).plain.strip()) for some in rows]
    applied = [row for row in r.identities if row.applies]
    held = sum(row.passed for row in applied)
    cell = f"{'' if held == len(applied) else '!'}{held}/{len(applied)}" if applied else "-"
    status = r.status if r.status == "agree" else f"**{r.status}**"
    cells = [code(f"{r.engine} {r.version}".strip(), 40), prose(r.path), status, *digits, _marked(cell)]
    return f"| {' | '.join(cells)} |"


def _marked(cell: str) -> str:
    return f"**{cell}**" if cell.startswith("!") else cell


def _blocks(result: Result) -> Iterator[Block]:
    """Give the verdict, the files that could not be used, and every model that does not agree, worst first."""
    yield Block(_verdict(overall_line(result).plain))
    for row in result.unusable:
        yield Block(f"- {code(row.file)} cannot be used: {prose(row.message)}", holds="model", apart=False)
    single = len(result.models) == 1 and not result.unusable
    order = list(COUNTED)
    for model in sorted(result.models, key=lambda m: order.index(standing(m))):
        if single or standing(model) != "agree":
            yield from _model_blocks(model, single=single)


def _verdict(line: str) -> str:
    word, _, said = line.partition("  ")
    return f"**{word}** {prose(said, VERDICT)}"


def _model_blocks(model: ModelResult, *, single: bool) -> Iterator[Block]:
    head = "" if single else f"### {code(model.label)}\n\n{_verdict(model_line(model).plain)}\n\n"
    yield Block(f"{head}{_about(model)}\n\n{_table(model)}", holds=None if single else "model")
    yield from findings_blocks(model, SINGLE if single else SEVERAL)
    yield from chain(rows_block(model), kinds_told(model), lint_blocks(model), loss_blocks(model))


def _about(model: ModelResult) -> str:
    left = f"; {counted(len(model.closures), 'mimic or equality relation')} left out" if model.closures else ""
    return (
        f"{code(model.name)}: {prose(model.format.upper())}, {prose(model.base)} base, "
        f"{counted(model.bodies, 'body', 'bodies')}, {counted(model.nv, 'dof')}, {model.total_mass:.6g} kg; "
        f"{counted(model.states['count'], 'frozen state')}, seed {model.states['seed']}{left}"
    )


def _table(model: ModelResult) -> str:
    heads = ["engine", "path", "status", *HEADS, "ident"]
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|" + "---:|" * (len(HEADS) + 1)]
    lines += [_row(result) for result in model.engines[:ENGINES]]
    more = len(model.engines) - ENGINES
    return "\n".join(lines) + (f"\n\n{counted(more, 'more engine')} not shown." if more > 0 else "")


def _tail(result: Result) -> Iterator[str]:
    """Give the models that agree in a list that is folded away, the legend, and what computed this."""
    agreeing = [model for model in result.models if standing(model) == "agree"]
    if agreeing and (len(result.models) > 1 or result.unusable):
        yield _folded(agreeing)
    if result.models:
        yield f"<sub>{prose(LEGEND, len(LEGEND))}</sub>"
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    yield f"<sub>{prose(versions)}</sub>"


def _folded(models: Sequence[ModelResult]) -> str:
    summary = f"{counted(len(models), 'model')} {'agrees' if len(models) == 1 else 'agree'}"
    lines, room = [f"<details><summary>{summary}</summary>", ""], FOLDED
    for n, model in enumerate(models):
        digits = [
            row.digits
            for r in model.engines
            for row in r.quantities
            if row.quantity == "tau" and row.applies and r.engine != "reference"
        ]
        said = [f"{counted(model.nv, 'dof')}"] + ([f"tau to {floored(min(digits))} digits"] if digits else [])
        lint = Counter(f.kind for f in model.lint)
        said += [f"in the file: {', '.join(f'{kind} x{n}' for kind, n in lint.items())}"] if lint else []
        line = f"- {code(model.label)}: {prose('; '.join(said))}"
        room -= len(line.encode()) + 1
        if room < 0:
            lines.append(f"- and {len(models) - n} more")
            break
        lines.append(line)
    return "\n".join([*lines, "", "</details>"])
