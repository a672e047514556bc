"""What the comparison of two robots found, as plain rows, as pandas frames and as the JSON document."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from .frames import LOSS, ROWS, table
from .plain import plain, to_text
from .results import loss_json
from .snippets import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from .findings import Finding
    from .results import QuantityRow
    from .tree import Floats, Loss, Tree

FRAMES: Final = ("models", "quantities", "findings", "matched", "losses")
WHO: Final = ("model", "other", "engine", "version", "path")
SINGULAR: Final = {"joints": "joint", "bodies": "body"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the two robots; fields as in `harness.results.ModelResult`."""

    file: str
    format: str
    sha256: str
    name: str
    base: str
    bodies: int
    nq: int
    nv: int
    dofs: tuple[str, ...]
    total_mass: float
    moving_mass: float
    closures: tuple[str, ...]
    losses: tuple[Loss, ...]

    @property
    def label(self) -> str:
        """The file, or the name of a robot that is in no file."""
        return self.file or self.name

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain Python; what no file has is null."""
        document = plain(asdict(self))
        document["file"], document["sha256"] = document["file"] or None, document["sha256"] or None
        return document | {"losses": [plain(loss_json(loss)) for loss in self.losses]}


def compared(tree: Tree) -> Compared:
    """Return what the result says of one tree."""
    return Compared(
        file=tree.origin.path,
        format=tree.origin.format,
        sha256=tree.origin.sha256,
        name=tree.name,
        base=tree.base,
        bodies=len(tree.bodies) - 1,
        nq=tree.nq,
        nv=tree.nv,
        dofs=tree.dofs,
        total_mass=tree.total_mass,
        moving_mass=tree.moving_mass,
        closures=tuple(f"{c.kind} {c.name}" for c in tree.closures if c.active),
        losses=tree.losses,
    )


@dataclass(frozen=True, repr=False)
class DiffResult:
    """The answer of `diff`.

    Attributes:
        models: A and B.
        versions: that the answer depends on.
        status: "agree" or "differs".
        matched: pairs of "joints" with a dof and of "bodies", the name in A first.
        unmatched: by side "a" and "b", joints with a dof, their bodies, and fixed bodies with mass, that the other
            robot does not have. What it merged into the body that it is fixed to is there, and is not listed.
        frames_only: by side, fixed bodies without inertia that the other robot does not have.
        doubtful: joints of A that were matched by their place in the robot and could be matched otherwise.
        states: count, seed and hash of the states of A at which both were computed.
        rows: the dynamics of B against those of A.
        reasons: the differences, most telling first: `expected` is what A says, `found` what B says, `where` the name
            in A, or in B where A has no such thing.
        together: by kind, the share of what differs that goes away with all findings of that kind put in.
        tolerance: relative; below it two parameters are the same.
        ignored: kinds that were asked to be left out of the verdict; where they leave the coordinates alone, what B
            says of them is put into A before anything is computed.
    """

    models: tuple[Compared, Compared]
    versions: Mapping[str, str]
    status: str
    matched: Mapping[str, tuple[tuple[str, str], ...]]
    unmatched: Mapping[str, tuple[str, ...]]
    frames_only: Mapping[str, tuple[str, ...]]
    doubtful: tuple[str, ...]
    states: Mapping[str, Any]
    rows: tuple[QuantityRow, ...]
    reasons: tuple[Finding, ...]
    together: Mapping[str, float]
    tolerance: float
    ignored: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the verdict, the two robots and how many findings of which kind count."""
        kinds = Counter(f.kind for f in self.counted)
        said = ", ".join(f"{kind} x{n}" if n > 1 else kind for kind, n in kinds.items()) or "nothing that counts"
        return f"<DiffResult {self.files[0]} and {self.files[1]}: {self.status}, exit {self.exit}; {said}>"

    @property
    def files(self) -> tuple[str, str]:
        """The two files, or the names of robots that are in no file."""
        return self.models[0].label, self.models[1].label

    @property
    def exit(self) -> int:
        """Exit code of the command: 0 the same robot, 1 not."""
        return int(self.status != "agree")

    @property
    def verdict(self) -> str:
        """The status."""
        return self.status

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The reasons for which they are not the same robot."""
        return tuple(f for f in self.reasons if f.severity != "convention" and f.kind not in self.ignored)

    @property
    def arrays(self) -> dict[str, Floats]:
        """No arrays: what a pair differs in is told once, not state by state."""
        return {}

    @property
    def quantities(self) -> pd.DataFrame:
        """One row per quantity."""
        return self.frames("quantities")["quantities"]

    @property
    def identities(self) -> pd.DataFrame:
        """No rows: identities hold inside one engine, and are not asked of a pair."""
        return self.frames("identities")["identities"]

    @property
    def findings(self) -> pd.DataFrame:
        """One row per difference."""
        return self.frames("findings")["findings"]

    def frames(self, *names: str) -> dict[str, pd.DataFrame]:
        """Return the tables of these names, else all: models, quantities, findings, matched, losses.

        Rows of quantities and findings begin with both files and with who computed: our reference.
        """
        return {name: table(*self._table(name)) for name in names or FRAMES}

    def _table(self, name: str) -> tuple[list[str], list[list[Any]]]:
        """Return the columns and rows of one table."""
        if name in ROWS:
            columns = [f.name for f in fields(ROWS[name])]
            who = [*self.files, "reference", self.versions["tautology"], "neutral"]
            rows = {"quantities": self.rows, "identities": (), "findings": self.reasons}[name]
            return [*WHO, *columns], [[*who, *(getattr(row, c) for c in columns)] for row in rows]
        if name == "matched":
            pairs = [(SINGULAR[what], *pair) for what in SINGULAR for pair in self.matched[what]]
            return ["what", "a", "b"], [list(pair) for pair in pairs]
        if name == "losses":
            sides = zip("ab", self.models, strict=True)
            return ["side", *LOSS], [[s, *(loss_json(x)[c] for c in LOSS)] for s, model in sides for x in model.losses]
        columns = [f.name for f in fields(Compared) if f.name != "losses"]
        return columns, [[getattr(model, c) for c in columns] for model in self.models]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document of the schema tautology/1 as plain Python."""
        document = {
            "schema": "tautology/1",
            "command": "diff",
            "exit": self.exit,
            "versions": dict(self.versions),
            "files": [plain(file) for file in self.files],
            "status": self.status,
            "matched": plain(self.matched),
            "unmatched": plain(self.unmatched),
            "quantities": [plain(asdict(row)) for row in self.rows],
            "findings": [plain(asdict(reason)) for reason in self.reasons],
            "tolerance": self.tolerance,
            "ignored": list(self.ignored),
            "together": plain(self.together),
            "doubtful": plain(self.doubtful),
            "frames_only": plain(self.frames_only),
            "states": plain(self.states),
            "models": [model.to_json() for model in self.models],
        }
        return quoted(document)

    def dumps(self) -> str:
        """Return the JSON text; infinities are the string "inf", so that every reader takes it."""
        return to_text(self.to_json())
