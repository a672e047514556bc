"""The report on a terminal: verdict, model, table of digits, reasons; readable at 80 columns without colours."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .reasons import engine_blocks, lint_lines, loss_lines
from .text import NAME, counted, listed, shortened, shown
from .verdict import LABEL_WIDTH, STYLES, floored, model_line, overall_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from ..harness.results import EngineResult, ModelResult, QuantityRow, Result

# Head of a column of digits, and the quantities of which it shows the worst.
HEADS: Final[Mapping[str, tuple[str, ...]]] = {
    "tau": ("tau",),
    "bias": ("bias",),
    "grav": ("gravity",),
    "M": ("mass_matrix",),
    "acc": ("acceleration",),
    "pose": ("poses",),
    "vel": ("velocities",),
    "E": ("kinetic_energy", "potential_energy"),
    "COM": ("center_of_mass",),
}
LEGEND: Final = (
    "native: the engine reads the file, neutral: it is built from our tree. Digits of agreement with the reference, "
    "17: no error; ! fails, - does not apply. bias: at zero acceleration, grav: at rest, M: mass matrix, acc: joint "
    "accelerations, pose, vel: of bodies, E: energies, COM: centre of mass, ident: identities that hold, of those that "
    "apply."
)
ENGINE_WIDTH: Final = 9
CELL: Final = 5
IDENTITIES: Final = 7
COLUMNS: Final = 80


def report(result: Result, console: Console, *, verbose: bool = False, notes: Sequence[str] = ()) -> None:
    """Print everything that a person needs to see of a run, the verdict first.

    Args:
        result: of a check.
        console: where to print.
        verbose: every quantity, identity, finding and loss, one by one.
        notes: what holds for all numbers of this run.
    """
    several = len(result.models) + len(result.unusable) > 1
    if several:
        console.print(overall_line(result))
    for model in result.models:
        if several:
            console.print()
        console.print(model_line(model))
        if len(model.file) > LABEL_WIDTH:
            console.print(Text(f"  {shown(model.file)}"), soft_wrap=True)  # in one piece, to be copied
        for line in _about(model, verbose=verbose):
            console.print(Padding(line, (0, 0, 0, 2)))
        console.print()
        for line in _table(model):
            console.print(line)
        for block in chain(*(part(model, verbose=verbose) for part in (engine_blocks, lint_lines, loss_lines))):
            console.print(block)
    if result.models:
        console.print()
        for line in (LEGEND, *notes, *_meanings(result)):
            console.print(Text(line, "dim"))


def _meanings(result: Result) -> Iterator[str]:
    """Give where the names of findings are explained, with the gravest one as the example."""
    findings = [f for m in result.models for f in (*(f for r in m.engines for f in r.findings), *m.lint)]
    if findings:
        first = min(findings, key=lambda f: f.severity == "convention")
        yield f"What a name means, and what to do: tautology explain {first.kind}"


def verdicts(result: Result, console: Console) -> None:
    """Print one line per model, however long it is."""
    for model in result.models:
        console.print(model_line(model, len(model.label)), soft_wrap=True)


def _about(model: ModelResult, *, verbose: bool) -> Iterator[Text]:
    """Give the lines on the model itself."""
    moving = "" if model.moving_mass == model.total_mass else f" ({model.moving_mass:.6g} kg moving)"
    yield Text(
        f"{shortened(model.name, NAME)}: {model.format.upper()}, {model.base} base, "
        f"{counted(model.bodies, 'body', 'bodies')}, {counted(model.nv, 'dof')}, {model.total_mass:.6g} kg{moving}"
    )
    states = model.states
    strata = ": " + ", ".join(f"{count} {shown(name)}" for name, count in states["strata"].items()) if verbose else ""
    yield Text(f"{counted(states['count'], 'frozen state')}, seed {states['seed']}{strata}")
    if model.closures:
        count = counted(len(model.closures), "mimic or equality relation")
        names = listed([shown(name) for name in model.closures], 4)
        yield Text(f"checked on the open tree: {count} left out ({names})")
    if model.format == "mjcf":
        yield Text("the tree of an MJCF is MuJoCo's own reading; only the lines are the file's")


def _table(model: ModelResult) -> Iterator[Text]:
    """Give the head and one line per engine and path, 80 columns wide at most for the names of our own engines."""
    right = max(len("status"), *(len(r.status) for r in model.engines))
    heads = "".join(f"{head:>{CELL}}" for head in HEADS)
    # Versions beside each other take the room that 80 columns leave.
    room = max(ENGINE_WIDTH, COLUMNS - right - len(heads) - 9 - (IDENTITIES - 1))
    names = [shortened(model.called(r), room) for r in model.engines]
    left = max(map(len, ("engine", *names)))
    # A blank before the last column where 80 columns have room for it.
    last = min(IDENTITIES, max(COLUMNS - left - right - len(heads) - 9, IDENTITIES - 1))
    yield Text(f"{'engine':<{left}} {'path':<7} {'status':<{right}}{heads}{'ident':>{last}}", "bold")
    for name, result in zip(names, model.engines, strict=True):
        line = Text(f"{name:<{left}} {shown(result.path):<7} ")
        line.append(f"{result.status:<{right}}", STYLES[result.status])
        for wanted in HEADS.values():
            line.append_text(digits_cell([row for row in result.quantities if row.quantity in wanted]))
        yield line.append_text(_identities(result, last))


def digits_cell(rows: Sequence[QuantityRow]) -> Text:
    """Return a cell of the table: the fewest digits, rounded down."""
    applied = [row for row in rows if row.applies]
    if not applied:
        return Text(f"{'-':>{CELL}}", "dim")
    least = floored(min(row.digits for row in applied))
    passed = all(row.passed for row in applied)
    return Text(f"{least if passed else '!' + least:>{CELL}}", "" if passed else "bold red")


def _identities(result: EngineResult, width: int) -> Text:
    applied = [row for row in result.identities if row.applies]
    held = sum(row.passed for row in applied)
    cell = f"{held}/{len(applied)}" if applied else "-"
    if held < len(applied):
        return Text(f"{'!' + cell:>{width}}", "bold red")
    return Text(f"{cell:>{width}}", "" if applied else "dim")
