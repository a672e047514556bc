"""What a check against a baseline found, as plain rows; nothing about how it is found or shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was.

    Attributes:
        kind: "answer", "finding", "refusal", "verdict" (a quantity or identity that held, or did not), "status",
            "robot" (dofs and bodies) or "lint" (the file itself).
        engine: term of the engine, "" where the file is concerned.
        path: "native" or "neutral", "" where the file is concerned.
        what: quantity, kind of finding, or the word for what changed.
        where: dof, body or joint, or None.
        before: number or words; None for what was not there.
        now: likewise.
        state: index of the frozen state, where a number changed.
        times: how many times more than is allowed it changed; None where nothing is measured.
        known: why it does not count, or "".
    """

    kind: str
    engine: str
    path: str
    what: str
    where: str | None = None
    before: Any = None
    now: Any = None
    state: int | None = None
    times: float | None = None
    known: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A check against its baseline.

    Attributes:
        file: the baseline.
        changes: everything that changed.
        causes: what may have changed it: the file, an engine, the tool, the machine; a sentence each.
        accepted: whether the baseline was renewed.
    """

    file: str
    changes: tuple[Change, ...]
    causes: tuple[str, ...]
    accepted: bool = False

    @property
    def counted(self) -> tuple[Change, ...]:
        """Changes that are not known."""
        return tuple(change for change in self.changes if not change.known)

    @property
    def exit(self) -> int:
        """0 when nothing changed, 1 when something did, 2 when an engine of the baseline could not be had."""
        if any(change.kind == "status" and change.now == "absent" for change in self.changes):
            return 2
        return int(bool(self.counted) and not self.accepted)

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in the JSON document."""
        changes = [asdict(change) for change in self.changes]
        status = "accepted" if self.accepted else "changed" if self.counted else "same"
        return {"file": self.file, "status": status, "changes": changes, "causes": list(self.causes)}
