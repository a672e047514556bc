"""The comparison of two files as blocks of Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .console import HEADS, digits_cell
from .markdown_findings import BREAK, Block, loss_blocks
from .markup import code, prose
from .pair_findings import finding_lines
from .pair_groups import groups
from .pair_names import Names
from .pairs import LEGEND, asides, pair_verdict
from .text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ..harness.diff_result import Compared, DiffResult

VERDICT: Final = 1500  # characters
NAMED: Final = 12  # names in a line
WIDE: Final = 1200  # characters of a line of a finding, which may list many places


def pair_blocks(result: DiffResult) -> Iterator[Block]:
    """Give verdict, both robots, digits, findings with both lines, what is told otherwise, the legend."""
    names, found = Names.of(result), groups(result)
    word, _, said = pair_verdict(result, names, found).plain.partition("  ")
    yield Block(f"**{word}** {prose(said, VERDICT)}")
    yield Block("\n".join(_robot(side, model) for side, model in zip("AB", result.models, strict=True)))
    lines = "".join(f"\n- {line}" for line in _matched(result))
    yield Block(f"{_table(result)}\n{lines}" if lines else _table(result))
    yield from _items(finding_lines(found, names, verbose=True))
    for line in asides(result):
        yield Block(prose(line.plain.strip(), WIDE))
    for side in result.models:
        yield from loss_blocks(side)
    yield Block(f"<sub>{prose(LEGEND, len(LEGEND))}</sub>")
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    yield Block(f"<sub>{prose(versions)}</sub>")


def _robot(side: str, model: Compared) -> str:
    return (
        f"- {side}: {code(model.label)}: {prose(model.format.upper())}, {prose(model.base)} base, "
        f"{counted(model.bodies, 'body', 'bodies')}, {counted(model.nv, 'dof')}, {model.total_mass:.6g} kg"
    )


def _matched(result: DiffResult) -> Iterator[str]:
    """Give whose names differ, and what only one file has."""
    pairs = dict.fromkeys((*result.matched["joints"], *result.matched["bodies"]))
    renamed = [f"{code(a, 40)} = {code(b, 40)}" for a, b in pairs if a != b]
    lists = {"under another name": renamed}
    lists |= {f"only in {side.upper()}": [code(name, 40) for name in result.unmatched[side]] for side in "ab"}
    lists |= {"matched by their place alone": [code(name, 40) for name in result.doubtful]}
    for title, some in lists.items():
        if some:
            yield f"{title}: {listed(some, NAMED)}"


def _table(result: DiffResult) -> str:
    cells = [
        digits_cell([row for row in result.rows if row.quantity in wanted]).plain.strip() for wanted in HEADS.values()
    ]
    marked = [f"**{cell}**" if cell.startswith("!") else cell for cell in cells]
    return "\n".join(
        [
            f"| digits | {' | '.join(HEADS)} |",
            "|---|" + "---:|" * len(HEADS),
            f"| B against A | {' | '.join(marked)} |",
        ]
    )


def _items(lines: Iterator[RenderableType]) -> Iterator[Block]:
    """Turn lines with indents, as a terminal shows them, into lists: a finding and what is said of it are one item."""
    item: list[str] = []
    for line in lines:
        if isinstance(line, Padding) and line.left > 2 and item:
            item.append(prose(_plain(line), WIDE))
            continue
        if item:
            yield Block("- " + BREAK.join(item), "finding", apart=False)
        item = []
        if isinstance(line, Padding):
            kind, blank, rest = _plain(line).partition(" ")
            head = kind.rstrip(":")
            item = [f"**{prose(head)}**{kind[len(head) :]}{blank}{prose(rest, WIDE)}"]
        else:
            yield Block(f"**{prose(_plain(line).strip().rstrip(':'))}**\n")
    if item:
        yield Block("- " + BREAK.join(item), "finding", apart=False)


def _plain(line: RenderableType) -> str:
    inner = line.renderable if isinstance(line, Padding) else line
    return inner.plain if isinstance(inner, Text) else str(inner)
