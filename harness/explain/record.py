"""What a topic says: sections of sentences, tables, charts and drawings, before anybody prints them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

Cell: TypeAlias = str | int | float | None
Style: TypeAlias = Literal["line", "arrow", "dashed", "dot"]

SCHEMA: Final = "tautology-explanation/1"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: what stands above it, unit in brackets.
        digits: significant digits of its numbers; 2 for errors.
    """

    name: str
    digits: int = 5


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words and numbers.

    Attributes:
        title: what it shows, with the unit where all numbers have one.
        columns: as many as every row has cells.
        rows: of words, numbers, and None where nothing applies.
        note: how to read it.
        keys: leading columns that are repeated where a table is too wide for the console and is broken.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    keys: int = 1

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}: a row has {len(row)} cells for {len(self.columns)} columns")


@dataclass(frozen=True, slots=True)
class Series:
    """Points of a chart that belong together.

    Attributes:
        name: in the legend.
        points: x and y; on logarithmic axes those that are not positive are left out.
    """

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over a number axis.

    Attributes:
        title: what it shows.
        x: name of the horizontal axis, with its unit.
        y: name of the vertical axis, with its unit.
        series: the lines.
        logarithmic: which axes are: "", "x", "y" or "xy".
        says: the same in a sentence, for who cannot see it.
    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    logarithmic: Literal["", "x", "y", "xy"] = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A stroke of a drawing.

    Attributes:
        points: in the plane of the drawing [m], y upwards.
        style: a line through the points, an arrow from the first to the last, or a dot at each.
        label: beside the last point.
        group: number of its colour, 0 for that of the model itself.
    """

    points: tuple[tuple[float, float], ...]
    style: Style = "line"
    label: str = ""
    group: int = 0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of a mechanism, both axes to the same scale.

    Attributes:
        title: what it shows.
        marks: from back to front.
        legend: name of each group of colours, from 1.
        says: the same in a sentence, for who cannot see it.
    """

    title: str
    marks: tuple[Mark, ...]
    legend: tuple[str, ...] = ()
    says: str = ""


Picture: TypeAlias = Chart | Drawing


@dataclass(frozen=True, slots=True)
class Section:
    """One step of an explanation.

    Attributes:
        title: the question it answers, or its subject.
        sentences: a paragraph each, before the tables.
        tables: the numbers.
        pictures: only on the page; the console has their `says`.
    """

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """One topic on one model.

    Attributes:
        topic: its name.
        question: that it answers.
        model: name, file, base and size of the robot, in a line.
        answer: what was found, in a sentence.
        sections: in reading order.
        absent: of engines that could not be asked, a sentence each, with the install line.
        values: numbers and arrays as lists that the JSON document holds beside the tables.
    """

    topic: str
    question: str
    model: str
    answer: str
    sections: tuple[Section, ...]
    absent: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document as plain Python."""
        return {"schema": SCHEMA, "command": "explain", **asdict(self)}


def columns(*names: str, digits: int = 5, **errors: int) -> tuple[Column, ...]:
    """Return columns by name, numbers with so many digits; `errors` gives others by name."""
    return tuple(Column(name, errors.get(name, digits)) for name in names)
