"""Meshes of a URDF that `DartLoader` cannot find: it then returns no robot at all.

It looks for a relative name beside the file, and in a package only after `addPackageDirectory`, which a call without
further arguments does not have.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import dartpy as dart

from ..harness.findings import finding
from ..harness.streams import caught

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..harness.findings import Finding
    from ..harness.importers.xml import Element

BARE = "<robot name='mesh'><link name='link'><visual><geometry><mesh filename={}/></geometry></visual></link></robot>"


def unreadable(path: str) -> tuple[list[Finding], list[str]]:
    """Return the finding on the meshes of a URDF that DART alone would refuse, and its words on the first of them."""
    # Only a file with meshes needs the XML.
    from ..harness.importers.xml import read_xml  # noqa: PLC0415

    lost = [(link, mesh) for link, mesh in _meshes(read_xml(path).root) if not _is_there(path, mesh)]
    if not lost:
        return [], []
    link, mesh = lost[0]
    name = str(mesh.get("filename"))
    others = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    fix = "name the package by addPackageDirectory, or make the file readable" if "://" in name else "make it readable"
    told = finding(
        "refused.mesh",
        mesh.source,
        where=link,
        expected="a file that DART can find",
        found=f"{name!r}{others}",
        severity="convention",
        fix=f"{fix}, or take the meshes out of the file, as here",
    )
    return [told], _asked(path, name)


def _meshes(root: Element) -> Iterator[tuple[str, Element]]:
    """Yield link and element of every mesh."""
    for link in root.all("link"):
        for shape in (*link.all("visual"), *link.all("collision")):
            yield from ((link.get("name") or "", mesh) for mesh in shape.walk() if mesh.tag == "mesh")


def _is_there(path: str, mesh: Element) -> bool:
    name = mesh.get("filename") or ""
    if name.startswith("file://"):
        return Path(name.removeprefix("file://")).is_file()
    return "://" not in name and (Path(path).resolve().parent / name).is_file()


def _asked(path: str, name: str) -> list[str]:
    """Return what DART says of one mesh, in a robot that has nothing else."""
    uri = dart.common.Uri()
    uri.fromPath(str(Path(path).resolve()))
    said: list[str] = []
    with caught(said):
        dart.utils.DartLoader().parseSkeletonString(BARE.format(quoteattr(name)), uri)
    return said
