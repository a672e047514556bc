"""A fault of the file as a finding, with the sentence that says what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..findings import Finding, finding
from ..fixes import fix

if TYPE_CHECKING:
    from ..errors import Source
    from ..tree import Tree


def fault(
    tree: Tree, kind: str, where: str, source: Source, expected: Any, found: Any, unit: str = "", note: str = ""
) -> Finding:
    """Return one fault.

    Args:
        tree: in whose file it stands.
        kind: one of `lint.*`.
        where: name of the body or joint.
        source: its file and line.
        expected: what would be in order.
        found: what the file says.
        unit: of numbers in both.
        note: what else the reader should know.
    """
    sentence = fix(
        kind,
        where=where,
        format=tree.origin.format,
        engine=None,
        expected=expected,
        found=found,
        unit=unit,
        source=source,
    )
    found_so = finding(kind, source, where=where, expected=expected, found=found, unit=unit, fix=sentence)
    return replace(found_so, note=note)
