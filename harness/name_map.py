"""The map of names that a user gives: which joint or body of one file is which of the other."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import ReadError, RequestError, Source
from .reading import LARGEST_TEXT, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .tree import Tree


def read_map(given: Iterable[str]) -> dict[str, str]:
    """Return the map that pairs `a=b`, and files with one such pair a line, give together.

    Args:
        given: pairs, or paths of text files; there, a `#` at the beginning of a line or after a blank begins a comment.

    Raises:
        RequestError: a name stands twice, or a line holds no pair.
        ReadError: a file cannot be read.
    """
    names: dict[str, str] = {}
    for told, ours, theirs in _pairs(given):
        if ours in names and names[ours] != theirs:
            raise RequestError(f"{told}: {ours!r} is mapped to {names[ours]!r} already; give every name once")
        taken = next((a for a, b in names.items() if b == theirs and a != ours), None)
        if taken is not None:
            raise RequestError(f"{told}: {theirs!r} is what {taken!r} is mapped to already; give every name once")
        names[ours] = theirs
    return names


def _pairs(given: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield where a pair was told, and its two names."""
    for text in given:
        if "=" in text and not _is_file(text):
            yield f"--map {text}", *_pair(text, f"--map {text}")
            continue
        for number, line in enumerate(_lines(text), 1):
            pair = f" {line}".partition(" #")[0].strip()
            if pair:
                yield f"{text}:{number}", *_pair(pair, f"{text}:{number}")


def _is_file(text: str) -> bool:
    """Return whether a file has this name; most pairs could be no name at all."""
    with suppress(OSError, ValueError):
        return Path(text).is_file()
    return False


def _lines(file: str) -> list[str]:
    try:
        return read_whole(file, LARGEST_TEXT).decode().replace("\t", " ").splitlines()
    except OSError as error:
        raise ReadError(
            f"cannot be read ({error.strerror}); --map takes A=B, or a text file of such lines", Source(file)
        ) from error
    except UnicodeDecodeError as error:
        raise ReadError("is no text in UTF-8; a map has one pair a=b a line", Source(file)) from error


def _pair(text: str, told: str) -> tuple[str, str]:
    ours, equals, theirs = (part.strip() for part in text.partition("="))
    if not (ours and equals and theirs):
        raise RequestError(f"{told}: {text!r} is no pair; write NAME_IN_A=NAME_IN_B")
    return ours, theirs


def require_map(names: Mapping[str, str], a: Tree, b: Tree) -> None:
    """Check that every pair joins two things of one sort, each thing once.

    Raises:
        RequestError: a name is in neither robot, a joint is joined with a body, or two pairs contradict each other.
    """
    told: dict[int, tuple[int, str]] = {}
    for ours, theirs in names.items():
        joint, body = ours in a.joint_index and theirs in b.joint_index, ours in a.index and theirs in b.index
        if not (joint or body):
            raise RequestError(f"{ours}={theirs}: {_mismatch(ours, a, theirs, b)}")
        i, j = (a.joint_index[ours], b.joint_index[theirs]) if joint else (a.index[ours], b.index[theirs])
        if joint and not body and not (a.joints[i].nv and b.joints[j].nv):
            raise RequestError(f"{ours}={theirs}: a fixed joint is in one of them; map the bodies that are fixed")
        before = told.get(i) or next((pair for pair in told.values() if pair[0] == j), None)
        if before and (i not in told or before[0] != j):
            raise RequestError(
                f"{ours}={theirs} contradicts {before[1]}: give every name once; a joint goes with the body it carries"
            )
        told[i] = j, f"{ours}={theirs}"


def _mismatch(ours: str, a: Tree, theirs: str, b: Tree) -> str:
    """Return why two names are no pair."""
    unknown = [_unknown(name, tree) for name, tree in ((ours, a), (theirs, b)) if _sort(name, tree) is None]
    if unknown:
        return "; ".join(unknown)
    return f"{ours!r} is a {_sort(ours, a)}, {theirs!r} a {_sort(theirs, b)}; map joints to joints, bodies to bodies"


def _sort(name: str, tree: Tree) -> str | None:
    """Return what a name is in a tree."""
    return "joint" if name in tree.joint_index else "body" if name in tree.index else None


def _unknown(name: str, tree: Tree) -> str:
    """Return that a tree has no such name, and which it has."""
    file = tree.origin.path or tree.name
    moving = [joint.name for joint in tree.joints if joint.nv]
    bodies = [body.name for body in tree.bodies[1:]]
    known = "; ".join(
        f"{what} are {', '.join(some[:6])}{', ...' * (len(some) > 6)}"
        for what, some in (("joints", moving), ("bodies", bodies))
    )
    return f"{file} has no {name!r}: {known}"
