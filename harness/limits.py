"""Sizes that an engine cannot hold, told before it is called: what it would do then is crash, or take an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .depth import links_in_a_row
from .errors import EngineUnsupported

if TYPE_CHECKING:
    from .tree import Tree


def require_dofs(tree: Tree, most: int, engine: str, why: str = "") -> None:
    """Raise for more dofs than an engine is asked for.

    Args:
        tree: the robot.
        most: dofs that it is asked for at most.
        engine: what is asked, in words.
        why: what happens beyond, in words.

    Raises:
        EngineUnsupported: too many dofs.
    """
    _require(tree, tree.nv, "dofs", most, engine, why)


def require_depth(tree: Tree, most: int, engine: str, why: str = "") -> None:
    """Raise for more links in a row than an engine is asked for; see `require_dofs`.

    Raises:
        EngineUnsupported: too many links in a row.
    """
    _require(tree, links_in_a_row(tree), "links in a row", most, engine, why)


def _require(tree: Tree, there: int, what: str, most: int, engine: str, why: str) -> None:
    if there > most:
        reason = f" ({why})" if why else ""
        raise EngineUnsupported(f"{tree.name!r} has {there} {what}; {engine} is asked for up to {most}{reason}")
