"""Charts and drawings of an explanation as SVG: static, in the colours of the page, names escaped."""

from __future__ import annotations

import math
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ..text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    # From where to where, and how much room it takes to each side.
    Stroke: TypeAlias = tuple[tuple[float, float], tuple[float, float], float]

WIDTH: Final = 680
HEIGHT: Final = 360
LEFT, RIGHT, TOP, BOTTOM = 94, 24, 14, 56
EDGE: Final = 46  # around a drawing, for its labels
COLOURS: Final = 6
DASHES: Final = ("", ' stroke-dasharray="7 3"', ' stroke-dasharray="2 3"')
TICKS: Final = 5
ROUND: Final = (1, 2, 5)  # times powers of ten
DECADES: Final = 3  # of an axis on which they all are ticks
EXACT: Final = 1e-9  # relative: what rounding makes of a power of ten
LETTER: Final = 10.0  # wide on the narrowest screen, about
TALL: Final = 18.0  # of a line of text there
DOTS: Final = 20  # points of a line that are marked one by one


def picture(found: Any) -> str:
    """Return a figure with its caption, its legend and what it shows in words."""
    chart = hasattr(found, "series")
    svg = _chart(found) if chart else _drawing(found)
    names = [series.name for series in found.series] if chart else list(found.legend)
    keys = "".join(
        f'<li><svg class="key" viewBox="0 0 30 6" aria-hidden="true">{_line([(0, 3), (30, 3)], *_style(k + 1))}</svg>'
        f"{_text(name)}</li>"
        for k, name in enumerate(names)
    )
    legend = f'<ul class="keys">{keys}</ul>' if keys else ""
    says = f'<p class="described">{_text(found.says)}</p>' if found.says else ""
    return f"<figure><figcaption>{_text(found.title)}</figcaption>{legend}{svg}{says}</figure>"


def _text(words: object) -> str:
    return escape(shown(words))


def _colour(group: int) -> str:
    return f"var(--line-{(group - 1) % COLOURS + 1})" if group else "var(--text)"


def _style(group: int) -> tuple[str, str]:
    """Return colour and dashes of a line: whoever has no colour of its own any more is dashed."""
    return _colour(group), DASHES[(group - 1) // COLOURS % len(DASHES)]


def _svg(parts: Iterable[str], title: str) -> str:
    head = f'<svg class="drawn" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_text(title)}">'
    return f"{head}{''.join(parts)}</svg>"


def _label(x: float, y: float, words: object, anchor: str = "start", extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{_text(words)}</text>'


def _line(points: Sequence[tuple[float, float]], colour: str, extra: str = "") -> str:
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="2"{extra}/>'


def _chart(chart: Any) -> str:
    logs = ["x" in chart.logarithmic, "y" in chart.logarithmic]
    lines = [[p for p in series.points if _shows(p, logs)] for series in chart.series]
    points = [p for line in lines for p in line]
    if not points:
        return '<p class="empty">There is nothing to draw.</p>'
    spans = [_span([p[k] for p in points], logs[k]) for k in (0, 1)]

    def place(point: Sequence[float]) -> tuple[float, float]:
        x, y = (_share(point[k], spans[k], logs[k]) for k in (0, 1))
        return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)

    parts = list(_grid(chart, spans, logs))
    for k, line in enumerate(lines):
        placed = [place(p) for p in line]
        if placed:
            parts.append(_line(placed, *_style(k + 1)))
        if len(placed) <= DOTS:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_colour(k + 1)}"/>' for x, y in placed]
    return _svg(parts, chart.title)


def _shows(point: Sequence[float], logs: Sequence[bool]) -> bool:
    return all(math.isfinite(x) and (x > 0 or not log) for x, log in zip(point, logs, strict=True))


def _span(values: Sequence[float], log: bool) -> tuple[float, float]:
    """Return the ends of an axis: round numbers around the values where it is logarithmic, else with some room."""
    low, high = min(values), max(values)
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        round_ = [m * 10.0**k for k in range(first, last + 1) for m in ROUND]
        start = max(x for x in round_ if x <= low * (1 + EXACT))
        return start, min((x for x in round_ if x >= high * (1 - EXACT) and x > start), default=10.0 * start)
    room = 0.05 * (high - low) or max(abs(high), 1.0) / 2
    return low - room, high + room


def _share(value: float, span: tuple[float, float], log: bool) -> float:
    low, high = (math.log10(x) for x in span) if log else span
    return ((math.log10(value) if log else value) - low) / (high - low)


def _grid(chart: Any, spans: Sequence[tuple[float, float]], logs: Sequence[bool]) -> Iterator[str]:
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in _ticks(spans[0], logs[0]):
        x = LEFT + _share(tick, spans[0], logs[0]) * (right - LEFT)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}" stroke="var(--faint)"/>'
        yield _label(x, floor + 24, _number(tick), "middle")
    for tick in _ticks(spans[1], logs[1]):
        y = floor - _share(tick, spans[1], logs[1]) * (floor - TOP)
        yield f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--faint)"/>'
        yield _label(LEFT - 6, y + 4, _number(tick), "end")
    yield f'<path d="M{LEFT} {TOP}V{floor}H{right}" fill="none" stroke="var(--line)"/>'
    yield _label((LEFT + right) / 2, HEIGHT - 10, chart.x, "middle")
    middle = (TOP + floor) / 2
    yield _label(20, middle, chart.y, "middle", f' transform="rotate(-90 20 {middle:.1f})"')


def _number(x: float) -> str:
    """Return a tick as short as it can be told: 1000, 2e5, 1e-12."""
    words = f"{x + 0.0:.3g}" if abs(x) < 1e3 or abs(x) >= 1e4 else f"{x:.0f}"
    return words.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _ticks(span: tuple[float, float], log: bool) -> list[float]:
    """Return round numbers on an axis."""
    low, high = span
    if log:
        first, last = math.floor(math.log10(low) + EXACT), math.ceil(math.log10(high) - EXACT)
        step = max(1, math.ceil((last - first) / TICKS))
        factors = ROUND if last - first <= DECADES else (1,)
        every = [m * 10.0**k for k in range(first, last + 1, step) for m in factors]
        return [x for x in every if low * (1 - EXACT) <= x <= high * (1 + EXACT)]
    rough = (high - low) / TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = size * next(m for m in (1, 2, 5, 10) if m * size >= rough)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _drawing(drawing: Any) -> str:
    points = [p for mark in drawing.marks for p in mark.points if all(map(math.isfinite, p))]
    if not points:
        return '<p class="empty">There is nothing to draw.</p>'
    lows, highs = ([f(p[k] for p in points) for k in (0, 1)] for f in (min, max))
    room = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE
    scale = min(r / max(high - low, 1e-9) for r, low, high in zip(room, lows, highs, strict=True))

    def place(point: Sequence[float]) -> tuple[float, float]:
        x, y = (scale * (point[k] - (lows[k] + highs[k]) / 2) for k in (0, 1))
        return WIDTH / 2 + x, HEIGHT / 2 - y

    parts: list[str] = []
    labels: list[tuple[tuple[float, float], str]] = []
    for mark in drawing.marks:
        placed, colour = [place(p) for p in mark.points if all(map(math.isfinite, p))], _colour(mark.group)
        if not placed:
            continue
        if mark.style == "dot":
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>' for x, y in placed]
        else:
            parts.append(_line(placed, colour, ' stroke-dasharray="6 4"' if mark.style == "dashed" else ""))
        if mark.style == "arrow":
            parts.append(_head(placed, colour))
        if mark.label:
            labels.append((placed[-1], mark.label))
    strokes: list[Stroke] = [
        (place(a), place(b), 0.0) for m in drawing.marks for a, b in pairwise(m.points) if m.style != "dot"
    ]
    for at, words in labels:  # above all lines, and none on another
        text, where = _beside(at, words, strokes)
        parts.append(text)
        strokes.append(where)
    return _svg(parts, drawing.title)


def _beside(at: tuple[float, float], words: str, strokes: Sequence[Stroke]) -> tuple[str, Stroke]:
    """Return a label at the one of four corners of a point where the lines are farthest from it, and where it is."""

    def line(corner: tuple[int, int]) -> list[tuple[float, float]]:
        x, y = at[0] + 9 * corner[0], at[1] + 12 * corner[1]
        return [(x + corner[0] * step * LETTER * len(words) / 6, y) for step in range(7)]

    def room(corner: tuple[int, int]) -> float:
        near = (_distance(p, a, b) - w for p in line(corner) for a, b, w in strokes if math.isfinite(sum((*a, *b))))
        return min(near, default=0.0)

    side, down = best = max(((1, -1), (1, 1), (-1, -1), (-1, 1)), key=room)
    text = _label(at[0] + 9 * side, at[1] + 12 * down + 4, words, "start" if side > 0 else "end")
    return text, (line(best)[0], line(best)[-1], TALL)


def _distance(p: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return how far a point is from a line between two points."""
    along, span = (b[0] - a[0], b[1] - a[1]), math.dist(a, b)
    share = ((p[0] - a[0]) * along[0] + (p[1] - a[1]) * along[1]) / span**2 if span else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.dist(p, (a[0] + share * along[0], a[1] + share * along[1]))


def _head(placed: Sequence[tuple[float, float]], colour: str) -> str:
    """Return the head of an arrow; one of no length has none."""
    (x0, y0), (x1, y1) = placed[-2] if len(placed) > 1 else placed[-1], placed[-1]
    length = math.hypot(x1 - x0, y1 - y0)
    if length < 1:
        return ""
    dx, dy = 9 * (x1 - x0) / length, 9 * (y1 - y0) / length
    sides = f"{x1 - dx - dy / 2.5:.1f},{y1 - dy + dx / 2.5:.1f} {x1 - dx + dy / 2.5:.1f},{y1 - dy - dx / 2.5:.1f}"
    return f'<polygon points="{x1:.1f},{y1:.1f} {sides}" fill="{colour}"/>'
