"""Differences between two files as a person reads them: who says what, in which line, what it explains, what to do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rich.padding import Padding
from rich.text import Text

from .pair_groups import apart, flat, tidy
from .text import counted, listed, pair, sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from ..harness.findings import Finding
    from .pair_groups import Group
    from .pair_names import Names

MOST: Final = 4  # findings of one kind that are shown one by one
LINKS: Final = 20  # bodies that only one file has, each with its mass
PLACES: Final = 6  # names with lines, of one value on many joints
LONG: Final = 3  # numbers of a value that still read well inside a sentence
SLIGHT: Final = 0.001
# Terms that are in none of the compared answers.
BESIDE: Final = (
    "damping",
    "frictionloss",
    "spring",
    "gravcomp",
    "fluid",
    "joint.mimic",
    "constraint",
    "feature.ignored",
)


def headline(group: Group, names: Names) -> str:
    """Return a group in half a sentence, for the verdict."""
    first, many = group.first, len(group.findings)
    weight = f", which explains {_percent(group.share)} of what differs" if group.measured and group.share else ""
    if group.kind == "unexplained":
        return f"unexplained{_at(first)}: {sentence(first.fix)}"
    if group.kind == "body.missing" and many > 1:
        return f"{many} bodies are missing in {_lacks(first)}, {_sum(group)} kg in all{weight}"
    if group.kind == "body.missing":
        place = _own_place(first, names, short=False)
        return f"{shown(first.where or '')} is missing in {_lacks(first)}, {_sum(group)} kg{place}{weight}"
    said = f"{group.kind} at {counted(many, 'joint')}" if many > 1 and not group.digits else f"{group.kind}{_at(first)}"
    ours, theirs = both_values(first)
    at_a, at_b = names.place(first.file, first.line), names.place(first.other_file, first.other_line)
    if many > 1:
        at_a = at_b = ""
    if len(flat(first.expected)) > LONG or len(flat(first.found)) > LONG:
        both = f"{at_a} against{at_b}".replace(") against (", " against ")
        return f"{said}{both if at_a and at_b else at_a + at_b}{weight}"
    return f"{said}, {ours} in A{at_a} but {theirs} in B{at_b}{weight}"


def finding_lines(found: Sequence[Group], names: Names, *, verbose: bool) -> Iterator[RenderableType]:
    """Give all groups: what makes another robot first, then what only differs in the last written digits.

    Args:
        found: groups, the most telling first.
        names: of the files.
        verbose: every finding one by one.
    """
    real, digits = ([g for g in found if g.digits is some] for some in (False, True))
    if real:
        yield Text("\nNot the same robot:", "bold")
        yield from _kinds(real, names, verbose=verbose)
    if digits:
        largest = max(apart(f) for g in digits for f in g.findings)
        yield Text(f"\nOther in the last written digits only, by up to {largest:.1e} of the value:", "bold")
        for group in digits:
            yield from _digits(group, names, verbose=verbose)


def _kinds(found: Sequence[Group], names: Names, *, verbose: bool) -> Iterator[RenderableType]:
    """Give the groups, of one kind the first few one by one; a fix that was just given is not given again."""
    shown_of: dict[str, int] = {}
    told: set[str] = set()
    rest: dict[str, list[str]] = {}
    for group in found:
        shown_of[group.kind] = shown_of.get(group.kind, 0) + 1
        if shown_of[group.kind] > MOST and not verbose:
            rest.setdefault(group.kind, []).append(shown(group.first.where or "the robot"))
            continue
        yield from _one(group, names, told, verbose=verbose)
    for kind, others in rest.items():
        yield _line(f"{kind} also at {listed(others)} (one by one with --verbose)", 2)


def _one(group: Group, names: Names, told: set[str], *, verbose: bool) -> Iterator[RenderableType]:
    """Give one group with place, values, weight, rivals and fix."""
    first, many = group.first, len(group.findings)
    title = Text(f"{group.kind}{f' x{many}' if many > 1 else ''}", "bold")
    if group.kind == "body.missing":
        yield _line(title.append(_heading(group, "" if many > 1 else _at(first)), "not bold"), 2)
        yield _line(_links(group, names, verbose=verbose), 4)
    elif group.kind == "unexplained":
        yield _line(title.append(_at(first) + names.place(first.file, first.line), "not bold"), 2)
        missing = isinstance(first.found, float) and not math.isfinite(first.found)
        scaled = "" if missing else f"; {_number(first.found)} of its scale, {_number(first.expected)} is allowed"
        yield _line(f"{sentence(first.fix)}{scaled}", 4)
        return
    else:
        yield _line(title.append(_heading(group, _at(first) if many == 1 else ""), "not bold"), 2)
        yield from _both(group, names, verbose=verbose)
    if first.note:
        yield _line(sentence(first.note), 4)
    rivals = f"or instead: {_rivals(first.rivals)}; no motion tells them apart"
    if first.rivals and rivals not in told:
        told.add(rivals)
        yield _line(rivals, 4)
    advice = sentence(first.fix)
    plain = advice.replace(repr(first.where), "") if first.where else advice
    if advice and plain not in told:
        told.add(plain)
        yield _line(f"fix: {advice}{', and so on' if many > 1 else ''}", 4)


def _heading(group: Group, at: str) -> str:
    """Return place and weight of a group."""
    weight = ""
    if group.kind in BESIDE:
        weight = "in none of the compared answers"
    elif group.share:
        many = len(group.findings) > 1
        weight = f"{'together they explain' if many else 'explains'} {_percent(group.share)} of what differs"
        weight = weight if group.measured else f"explain up to {_percent(group.share)} each"
    return f"{at}: {weight}" if weight else at or ":"


def _both(group: Group, names: Names, *, verbose: bool) -> Iterator[RenderableType]:
    """Give what A says and what B says, and of many joints where."""
    first, many = group.first, len(group.findings)
    ours, theirs = both_values(first)
    if many == 1:
        yield _line(f"A says {ours}{names.place(first.file, first.line)}", 4)
        yield _line(f"B says {theirs}{names.place(first.other_file, first.other_line)}{_more(first)}", 4)
        return
    yield _line(f"A says {ours}, B says {theirs}, at", 4)
    some = group.findings if verbose else group.findings[:PLACES]
    spots = [f"{shown(f.where or 'the robot')}{_lines(f)}" for f in some]
    yield _line(listed([*spots, f"{many - len(some)} more"] if len(some) < many else spots), 6)


def _lines(f: Finding) -> str:
    """Return the two lines of a finding in short: ` (A:12, B:34)`."""
    parts = [f"{side}:{line}" for side, line in (("A", f.line), ("B", f.other_line)) if line]
    return f" ({', '.join(parts)})" if parts else ""


def _links(group: Group, names: Names, *, verbose: bool) -> str:
    """Return the bodies that one file has alone, each with its mass and line."""
    here = "A" if _lacks(group.first) == "B" else "B"
    ordered = sorted(group.findings, key=lambda f: -_mass(f))
    some = ordered if verbose else ordered[:LINKS]
    spots = [
        f"{shown(f.where or '')} {_number(_mass(f))} kg{_own_place(f, names, short=len(ordered) > 1)}" for f in some
    ]
    more = [f"{len(ordered) - len(some)} more"] if len(some) < len(ordered) else []
    total = f", {_sum(group)} kg in all" if len(ordered) > 1 else ""
    return f"only {here} has {listed([*spots, *more])}{total}"


def _own_place(f: Finding, names: Names, *, short: bool) -> str:
    """Return the line of a body in the file that has it."""
    file, line = (f.other_file, f.other_line) if _lacks(f) == "A" else (f.file, f.line)
    return f" (line {line})" if short and line else names.place(file, line)


def _digits(group: Group, names: Names, *, verbose: bool) -> Iterator[RenderableType]:
    """Give one kind of which only the last digits differ: the most telling with both lines, the names of the others."""
    some = group.findings if verbose else group.findings[:1]
    for n, f in enumerate(some):
        many = f" x{len(group.findings)}" if len(group.findings) > 1 and not n else ""
        share = group.share if many and group.measured else f.explains or 0.0
        verb = "together they explain" if many and group.measured else "explains"
        weight = f": {verb} {_percent(share)} of what differs" if share >= SLIGHT else ""
        yield _line(Text(f"{group.kind}{many}", "bold").append(f"{_at(f)}{weight}", "not bold"), 2)
        ours, theirs = both_values(f)
        yield _line(f"A says {ours}{names.place(f.file, f.line)}", 4)
        yield _line(f"B says {theirs}{names.place(f.other_file, f.other_line)}", 4)
    others = [f"{shown(f.where or 'the robot')}{_lines(f)}" for f in group.findings[len(some) :]]
    if others:
        yield _line(f"also at {listed(others, PLACES)}", 4)


def _at(f: Finding) -> str:
    return f" at {shown(f.where)}" if f.where else ""


def _mass(f: Finding) -> float:
    """Return the mass of a body that one file has alone."""
    return max(float(x) if isinstance(x, (int, float)) else 0.0 for x in (f.expected, f.found))


def _lacks(f: Finding) -> str:
    """Return which file lacks a body."""
    return "A" if f.expected == 0 else "B"


def _sum(group: Group) -> str:
    return _number(sum(map(_mass, group.findings)))


def _more(f: Finding) -> str:
    """Return how much heavier B says that a body is."""
    if f.kind != "mass" or not isinstance(f.expected, float) or not isinstance(f.found, float):
        return ""
    gap = f.found - f.expected
    return f": {_number(abs(gap))} kg {'more' if gap > 0 else 'less'}"


def both_values(f: Finding) -> tuple[str, str]:
    """Return both values with their unit; words have none."""
    values = tidy(f)
    texts = pair(*values)
    unit = "" if f.unit in ("", "1") else f" {f.unit}"
    ours, theirs = (
        text + (unit if isinstance(x, (int, float, list, tuple)) else "") for text, x in zip(texts, values, strict=True)
    )
    return ours, theirs


def _number(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, (int, float)) else sentence(x)


def _percent(share: float) -> str:
    """Return a share, never rounded up to everything or down to nothing."""
    if share < SLIGHT:
        return "less than 0.1%"
    return "100%" if share > 1 - 1e-6 else f"{math.floor(share * 1000) / 10:.1f}%"


def _rivals(rivals: Sequence[str]) -> str:
    """Return rivals by their place: `mass and com at hand`."""
    kinds: dict[str, list[str]] = {}
    for rival in rivals:
        kind, _, where = rival.partition(" at ")
        kinds.setdefault(where, []).append(kind)
    return listed([f"{listed(some)} at {shown(where)}" for where, some in kinds.items()])


def _line(text: str | Text, indent: int) -> RenderableType:
    return Padding(text if isinstance(text, Text) else Text(text), (0, 0, 0, indent))
