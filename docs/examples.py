"""The smallest files that show each kind of finding, in docs/examples, and how they are asked.

`KIND.a.*` and `KIND.b.*` are a pair for `tautology diff`; `KIND.urdf` or `KIND.xml` is for `tautology check`; `KIND.py`
is an engine of one's own. `examples.toml` has what is not so by default.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "examples"
ENDINGS = (".py", ".urdf", ".xml", ".a.urdf", ".b.urdf", ".a.xml", ".b.xml")

# Kinds whose file is at fault by itself, so that a lint says so too.
FAULTY = ("inertia.repaired", "refused.nonphysical")


@dataclass(frozen=True, slots=True)
class Example:
    """How one kind is shown.

    Attributes:
        kind: of finding.
        files: that are needed, of docs/examples.
        command: what to type in that folder.
        also: other kinds of severity `model` or `refusal` that come with it.
        engine: that is asked, for `check`; "" for a pair or an engine of one's own.
        note: for the reader.
    """

    kind: str
    files: tuple[Path, ...]
    command: str
    also: tuple[str, ...] = ()
    engine: str = ""
    note: str = ""


@cache
def _said() -> dict[str, dict[str, Any]]:
    return tomllib.loads(FOLDER.with_name("examples.toml").read_text(encoding="utf-8"))


def of(kind: str) -> Example:
    """Return the example of a kind.

    Raises:
        LookupError: there is none.
    """
    said = dict(_said().get(kind, {}))
    said["also"] = tuple(said.get("also", ()))
    files = tuple(file for end in ENDINGS if (file := FOLDER / f"{kind}{end}").is_file())
    if not files:
        raise LookupError(f"docs/examples has no file for {kind}")
    if files[0].suffix == ".py":
        files = (*files, *(FOLDER / name for name in said.pop("beside", ())))
        return Example(kind, files, f"python {files[0].name}", **said)
    names = " ".join(file.name for file in files)
    if len(files) == 2:
        return Example(kind, files, f"tautology diff {names}", **said)
    engine = said.pop("engine", "mujoco")
    return Example(kind, files, f"tautology check {names} --engine {engine}", engine=engine, **said)
