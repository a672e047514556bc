"""The report of a comparison of two files: verdict, what was matched, table of digits, who says what where."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .console import CELL, HEADS, digits_cell
from .pair_findings import BESIDE, finding_lines, headline
from .pair_groups import WRITTEN, apart, groups, places
from .pair_names import Names
from .reasons import TITLES, row_table
from .text import NAME, counted, listed, pair, sentence, shortened, shown, value
from .verdict import STYLES, floored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, RenderableType

    from ..harness.diff_result import DiffResult
    from .pair_groups import Group

LEGEND: Final = (
    "Digits in which B agrees with A at the same states; ! fails, - does not apply. bias: at zero acceleration, grav: "
    "at rest, M: mass matrix, acc: joint accelerations, pose, vel: of bodies, E: energies, COM: centre of mass."
)
USUAL: Final = 1e-9  # tolerance that goes without saying
FEW: Final = 4  # names in a line on what was matched


def pair_report(result: DiffResult, console: Console, *, verbose: bool = False) -> None:
    """Print everything that a person needs to see of a comparison, the verdict first.

    Args:
        result: of `diff`.
        console: where to print.
        verbose: every quantity, finding and loss, one by one.
    """
    names = Names.of(result)
    found = groups(result)
    console.print(pair_verdict(result, names, found))
    for line in _robots(result):
        console.print(line, soft_wrap=True)  # paths in one piece, to be copied
    for line in _matched(result, verbose=verbose):
        console.print(Padding(line, (0, 0, 0, 2)))
    console.print()
    for line in _table(result, verbose=verbose):
        console.print(line)
    for block in finding_lines(found, names, verbose=verbose):
        console.print(block)
    for block in (*asides(result, verbose=verbose), *_losses(result, names, verbose=verbose)):
        console.print(block)
    console.print()
    console.print(Text(LEGEND, "dim"))


def pair_line(result: DiffResult, console: Console) -> None:
    """Print the verdict on one line, however long it is."""
    console.print(pair_verdict(result, Names.of(result), groups(result)), soft_wrap=True)


def pair_verdict(result: DiffResult, names: Names, found: Sequence[Group]) -> Text:
    """Return the verdict in a sentence or two."""
    text = Text().append(result.status.upper(), STYLES[result.status]).append("  ")
    both = f"{names.a} and {names.b}"
    if not found:
        tau = next((row.digits for row in result.rows if row.quantity == "tau" and row.applies), None)
        digits = f", tau to {floored(tau)} digits" if tau is not None else ""
        joints, bodies = len(result.matched["joints"]), len(result.matched["bodies"])
        left = Counter(f.kind for f in result.reasons if f.kind in result.ignored)
        apart_from = f", apart from what was to be ignored: {_kinds(left)}" if left else ""
        sizes = f"{counted(joints, 'joint')} and {counted(bodies, 'body', 'bodies')} matched{digits}"
        to = "" if result.tolerance == USUAL else f" to {result.tolerance:g}"
        return text.append(f"{both} are the same robot{to}{apart_from}; {sizes}.")
    if all(group.digits for group in found):
        largest = max(apart(f) for f in result.counted)
        many, one = counted(len(result.counted), "value"), len(result.counted) == 1
        return text.append(
            f"{both} are the same robot but for the last written digits: {many} {'differs' if one else 'differ'}, "
            f"{'' if one else 'none '}by {'' if one else 'more than '}{largest:.1e} of itself; see --tolerance."
        )
    return text.append(
        f"{both} are not the same robot: {_extent(result, found)}. Most telling: {headline(found[0], names)}."
    )


def _extent(result: DiffResult, found: Sequence[Group]) -> str:
    """Return in how many bodies and joints they differ, and how much heavier B is."""
    named = {name for name, _ in result.matched["joints"]}
    bodies, joints, whole = places([group for group in found if not group.digits], named)
    parts = [counted(len(bodies), "body", "bodies")] if bodies else []
    parts += [counted(len(joints), "joint")] if joints else []
    said = [f"they differ in {listed([*parts, *sorted(whole)])}"]
    a, b = (model.total_mass for model in result.models)
    if abs(a - b) > WRITTEN * max(a, b):
        said.append(f"B is {abs(a - b):.4g} kg {'heavier' if b > a else 'lighter'}")
    if all(row.passed for row in result.rows):
        beside = all(group.kind in BESIDE for group in found)
        reason = "which hold none of these terms, agree" if beside else "agree: no motion tells them apart"
        said.append(f"the compared answers{', ' if beside else ' '}{reason}")
    return "; ".join(said)


def _kinds(times: Counter[str]) -> str:
    return listed([f"{kind}{f' x{count}' if count > 1 else ''}" for kind, count in times.items()])


def _robots(result: DiffResult) -> Iterator[Text]:
    """Give the path of each robot, in one piece to be copied, and a line on it."""
    a, b = (model.total_mass for model in result.models)
    # What the tolerance does not tell apart, rounding in the sums of masses included, is one number to a reader.
    texts = pair(a, b) if abs(a - b) > result.tolerance * max(abs(a), abs(b)) else (value(a), value(b))
    for side, model, mass in zip("AB", result.models, texts, strict=True):
        yield Text(f"  {side}: {shown(model.label)}")
        yield Text(
            f"     {shortened(model.name, NAME)}: {model.format.upper()}, {model.base} base, "
            f"{counted(model.bodies, 'body', 'bodies')}, {counted(model.nv, 'dof')}, {mass} kg"
        )


def _matched(result: DiffResult, *, verbose: bool) -> Iterator[Text]:
    """Give what was matched, what was matched under another name, and what has no counterpart."""
    most = 0 if verbose else FEW
    joints, bodies = result.matched["joints"], result.matched["bodies"]
    yield Text(
        f"matched: {counted(len(joints), 'joint')}, {counted(len(bodies), 'body', 'bodies')}; compared at "
        f"{counted(result.states['count'], 'frozen state')} of A, seed {result.states['seed']}"
    )
    renamed = [f"{shown(a)} = {shown(b)}" for a, b in dict.fromkeys((*joints, *bodies)) if a != b]
    if renamed:
        yield Text(f"under another name: {listed(renamed, most)}")
    if result.doubtful:
        yield Text(
            f"doubtful, matched by their place in the robot (settle them with --map): "
            f"{listed([shown(name) for name in result.doubtful], most)}"
        )
    for side in "ab":
        if names := result.unmatched[side]:
            yield Text(f"only in {side.upper()}: {listed([shown(name) for name in names], most)}")
    frames = [f"{len(result.frames_only[side])} in {side.upper()}" for side in "ab" if result.frames_only[side]]
    if frames and not verbose:
        yield Text(f"frames without mass that the other has not: {listed(frames)}")
    for side in "ab" if verbose else "":
        if names := result.frames_only[side]:
            yield Text(f"frames without mass only in {side.upper()}: {listed([shown(name) for name in names])}")


def _table(result: DiffResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give the digits of agreement, and the quantities one by one when asked."""
    heads = "".join(f"{head:>{CELL}}" for head in HEADS)
    yield Text(f"{'digits':<12}{heads}", "bold")
    line = Text(f"{'B against A':<12}")
    for wanted in HEADS.values():
        line.append_text(digits_cell([row for row in result.rows if row.quantity in wanted]))
    yield line
    if verbose:
        yield row_table(result.rows)


def asides(result: DiffResult, *, verbose: bool = False) -> Iterator[Text]:
    """Give what is told otherwise, and what was ignored as asked, a line each."""
    yield from _conventions(result, verbose=verbose)
    yield from _ignored(result)


def _conventions(result: DiffResult, *, verbose: bool) -> Iterator[Text]:
    """Give in a line what is told otherwise."""
    found = [f for f in result.reasons if f.severity == "convention"]
    if not found:
        return
    merged = [shown(f.where or "") for f in found if f.kind == "body.fused"]
    holders = "what it is fixed to" if len(merged) == 1 else "what they are fixed to"
    names = listed(merged, 0 if verbose else FEW)
    parts = [f"{counted(len(merged), 'body', 'bodies')} merged into {holders} ({names})"] if merged else []
    parts += ["the joints stand in another order"] if any(f.kind == "joint.order" for f in found) else []
    others = Counter(f.kind for f in found if f.kind not in ("body.fused", "joint.order"))
    parts += [_kinds(others)] if others else []
    yield Text(f"\n{TITLES['convention'].capitalize()}: ", "bold").append("; ".join(parts), "not bold")


def _ignored(result: DiffResult) -> Iterator[Text]:
    """Give what was ignored as asked."""
    left = Counter(f.kind for f in result.reasons if f.kind in result.ignored and f.severity != "convention")
    if left:
        yield Text("\nIgnored as asked: ", "bold").append(_kinds(left), "not bold")


def _losses(result: DiffResult, names: Names, *, verbose: bool) -> Iterator[RenderableType]:
    """Give what the files say and no tree holds: by element what touches the dynamics, all of it when asked."""
    sides: list[RenderableType] = []
    for side, model in zip("AB", result.models, strict=True):
        some = [loss for loss in model.losses if verbose or loss.touches_dynamics]
        if not some:
            continue
        sides.append(Padding(Text(f"{side}: {_kinds(Counter(sentence(loss.element) for loss in some))}"), (0, 0, 0, 2)))
        for loss in some if verbose else ():
            place = names.place(loss.source.file, loss.source.line)
            where = f" at {shown(loss.where)}" if loss.where else ""
            sides.append(Padding(Text(f"{sentence(loss.element)}{where}{place}: {sentence(loss.note)}"), (0, 0, 0, 4)))
    if sides:
        said = "what the files say beyond it" if verbose else "though it touches the dynamics (why: --verbose)"
        yield Text(f"\nLeft out of every answer, {said}:", "bold")
    yield from sides
