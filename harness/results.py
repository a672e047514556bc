"""What a run found, as plain rows and as pandas frames; nothing about how it is shown."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from .plain import plain, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from .comparison import Comparison
    from .findings import Finding
    from .tree import Floats, Loss, Tree

Status: TypeAlias = Literal["agree", "differs", "refused", "unsupported", "crashed", "timeout", "absent"]

QUANTITIES: Final[Mapping[str, str]] = {
    "tau": "N m | N",
    "bias": "N m | N",
    "gravity": "N m | N",
    "mass_matrix": "kg m^2 | kg",
    "acceleration": "rad/s^2 | m/s^2",
    "poses": "m | 1",
    "velocities": "rad/s | m/s",
    "kinetic_energy": "J",
    "potential_energy": "J",
    "center_of_mass": "m",
}

IDENTITIES: Final = (
    "columns",
    "symmetry",
    "positive_definite",
    "velocity_invariance",
    "gravity_invariance",
    "load_invariance",
    "affine",
    "power_balance",
    "energy_gradient",
    "kinetic_energy",
    "passivity",
    "forward_inverse",
    "load_duality",
    "total_momentum",
    "repeatability",
    "inputs_unchanged",
)


@dataclass(frozen=True, slots=True)
class QuantityRow:
    """Agreement of one quantity of one engine with the reference, at its worst state.

    Attributes:
        quantity: a key of `QUANTITIES`.
        unit: of error and scale.
        applies: whether the comparison means anything here; `passed` is true when it does not.
        error: largest absolute error, taken where error over tolerance is worst; inf when the answer is missing.
        scale: at that place, built from the terms that were added up.
        tolerance: at that place, absolute.
        digits: -log10(error / largest scale of the state), 17 at zero error, 0 without an answer; the least.
        state: index of the worst state.
        where: dof or body of the worst entry.
        passed: error <= tolerance in every state and entry.
        note: why it does not apply, or "".
    """

    quantity: str
    unit: str
    applies: bool
    error: float
    scale: float
    tolerance: float
    digits: float
    state: int | None
    where: str | None
    passed: bool
    note: str = ""

    def __post_init__(self) -> None:
        _missing_is_infinite(self, "error", "scale", "tolerance")


@dataclass(frozen=True, slots=True)
class IdentityRow:
    """One identity inside one engine, at its worst state; fields as in `QuantityRow`."""

    identity: str
    applies: bool
    residual: float
    tolerance: float
    state: int | None
    where: str | None
    passed: bool
    note: str

    def __post_init__(self) -> None:
        _missing_is_infinite(self, "residual", "tolerance")


def _missing_is_infinite(row: object, *names: str) -> None:
    """Turn NaN into infinity, so that every reader of a row meets one sign of a missing number."""
    for name in names:
        if math.isnan(getattr(row, name)):
            object.__setattr__(row, name, math.inf)


@dataclass(frozen=True, slots=True)
class EngineResult:
    """One engine on one path with one model.

    Attributes:
        dofs: the engine's, by their names in the file, in the order of its arrays.
        bodies: likewise.
        held: the robot as the engine reads it, where it was read back.
        known: why what differs does not count, or "": known differences, or a baseline that has them too.
        answers: quantity to what was answered and its scale, (N, ...) both; empty unless it was asked to be kept.
    """

    engine: str
    version: str
    path: str
    status: Status
    message: str
    seconds: Mapping[str, float] = field(default_factory=lambda: {"load": 0.0, "compute": 0.0})
    conventions: tuple[str, ...] = ()
    quantities: tuple[QuantityRow, ...] = ()
    identities: tuple[IdentityRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    dofs: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    held: Tree | None = None
    known: str = ""
    answers: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict[str, "tuple[Floats, Floats]"])


@dataclass(frozen=True, slots=True, repr=False)
class ModelResult:
    """One model with all engines.

    Attributes:
        lint: what is wrong with the file itself; it changes neither status nor exit.
        tree: the robot as the file says it.
        arrays: key, such as `e0/error/tau`, to what was found of every state; empty unless it was asked to be kept.
    """

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
    lint: tuple[Finding, ...]
    closures: tuple[str, ...]
    losses: tuple[Loss, ...]
    states: Mapping[str, Any]
    engines: tuple[EngineResult, ...]
    exit: int
    tree: Tree | None = None
    arrays: Mapping[str, Floats] = field(default_factory=dict[str, "Floats"])

    def __repr__(self) -> str:
        """Return the file, and which engines on which paths stand how."""
        stands: dict[str, list[str]] = {}
        for r in self.engines:
            stands.setdefault(r.status, []).append(f"{self.called(r)} {r.path}")
        said = "; ".join(f"{status}: {', '.join(who)}" for status, who in stands.items())
        return f"<ModelResult {self.label}: exit {self.exit}; {said}>"

    @property
    def label(self) -> str:
        """The file, or the name of a robot that is in no file."""
        return self.file or self.name

    def called(self, result: EngineResult) -> str:
        """Return the name of an engine in this table; see `called`."""
        return called(result.engine, result.version, ((r.engine, r.version) for r in self.engines))


@dataclass(frozen=True, slots=True)
class Unusable:
    """A file that could not be used; the message names file and line."""

    file: str
    message: str
    kind: str
    where: str | None
    line: int | None


@dataclass(frozen=True, repr=False)
class Result:
    """The answer to one request: models that were checked, files that could not be used, versions.

    `exit` is 0 when all that answered agree, 1 when something differs or is refused, 2 when the request or a file
    cannot be used, 3 when an engine crashed or hung; 2 before all, else the highest. Against a baseline it is 1 when
    something changed, and 0 when what differs does so as before. `notes` say what else needs care.
    """

    command: str
    versions: Mapping[str, str]
    models: tuple[ModelResult, ...]
    unusable: tuple[Unusable, ...] = ()
    tolerance: float = 1e-9
    tolerances: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    baseline: Comparison | None = None

    def __repr__(self) -> str:
        """Return the verdict, and a line per model and per file that could not be used."""
        rows = [*(repr(model) for model in self.models), *(f"<Unusable {row.message}>" for row in self.unusable)]
        return "\n  ".join([f"<Result of {self.command}: {self.verdict}, exit {self.exit}>", *rows])

    @property
    def exit(self) -> int:
        """Exit code of the command."""
        exits = {2} if self.unusable else {model.exit for model in self.models}
        exits |= {self.baseline.exit} if self.baseline else set()
        return 2 if 2 in exits else max(exits, default=0)

    @property
    def verdict(self) -> str:
        """`"agree"`, `"differs"`, `"unusable"` or `"crashed"`, as `exit` says it."""
        return ("agree", "differs", "unusable", "crashed")[self.exit]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document of the schema tautology/1 as plain Python; `dumps` writes it."""
        from .snippets import quoted  # noqa: PLC0415  made of results: the import runs the other way

        document = {
            "schema": "tautology/1",
            "command": self.command,
            "exit": self.exit,
            "versions": dict(self.versions),
            "models": [_model_json(model) for model in self.models],
            "unusable": [plain(asdict(row)) for row in self.unusable],
            "tolerance": self.tolerance,
            "tolerances": plain(self.tolerances),
            "notes": plain(self.notes),
            **({"baseline": plain(self.baseline.to_json())} if self.baseline else {}),
        }
        return quoted(document)

    @property
    def arrays(self) -> dict[str, Floats]:
        """What was found of every state, by keys such as `m0/e0/error/tau`; empty unless it was asked to be kept."""
        return {f"m{i}/{key}": array for i, model in enumerate(self.models) for key, array in model.arrays.items()}

    def dumps(self) -> str:
        """Return the JSON text; infinities are the string "inf", so that every reader takes it."""
        return to_text(self.to_json())

    @property
    def quantities(self) -> pd.DataFrame:
        """One row per model, engine, path and quantity."""
        return self.frames("quantities")["quantities"]

    @property
    def identities(self) -> pd.DataFrame:
        """One row per model, engine, path and identity."""
        return self.frames("identities")["identities"]

    @property
    def findings(self) -> pd.DataFrame:
        """One row per finding."""
        return self.frames("findings")["findings"]

    def frames(self, *names: str) -> dict[str, pd.DataFrame]:
        """Return the tables of these names, else all: models, lint, quantities, identities, findings, losses."""
        from .frames import NAMES, frame  # noqa: PLC0415  frames are made of results: the import runs the other way

        return {name: frame(self, name) for name in names or NAMES}


def called(engine: str, version: str, table: Iterable[tuple[str, str]]) -> str:
    """Return the name of an engine, with its version where the same table has another one of it.

    Args:
        engine: its name.
        version: its version.
        table: name and version of all engines that are told apart.
    """
    several = any(name == engine and other != version for name, other in table)
    return f"{engine} {version}" if several else engine


def off_by(error: float, state: int | None, allowed: float | None = None, *, still: bool = False) -> str:
    """Return how far an answer is off, in words; infinity is an answer that is missing or not finite."""
    place = "" if state is None else f" in state {state}"
    if not math.isfinite(error):
        return f"{'still ' if still else ''}has no finite answer{place}"
    limit = "" if allowed is None else f", {allowed:.3g} is allowed"
    return f"is {'still ' if still else ''}off by {error:.3g}{place}{limit}"


def loss_json(loss: Loss) -> dict[str, Any]:
    """Return a loss as it stands in the JSON document and in the frames."""
    return {
        "element": loss.element,
        "where": loss.where,
        "file": loss.source.file or None,
        "line": loss.source.line or None,
        "touches_dynamics": loss.touches_dynamics,
        "note": loss.note,
    }


def _model_json(model: ModelResult) -> dict[str, Any]:
    document = {f.name: getattr(model, f.name) for f in fields(model) if f.name not in ("tree", "arrays")}
    document |= {"file": model.file or None, "sha256": model.sha256 or None}
    document["lint"] = [asdict(finding) for finding in model.lint]
    document["losses"] = [loss_json(loss) for loss in model.losses]
    document["engines"] = [_engine_json(engine) for engine in model.engines]
    if model.tree is not None:
        document["tree"] = _trees_json(model.tree, model)
    return plain(document)


def _engine_json(engine: EngineResult) -> dict[str, Any]:
    document = {f.name: getattr(engine, f.name) for f in fields(engine) if f.name not in ("held", "answers")}
    for name in ("quantities", "identities", "findings"):
        document[name] = [asdict(row) for row in document[name]]
    return document


def _trees_json(tree: Tree, model: ModelResult) -> dict[str, Any]:
    """Return what the file says and what each engine holds, as far as it was read back.

    Where there are fixed bodies, `fused` is what the file says with all of them merged, as many engines hold them.
    """
    from .described import described  # noqa: PLC0415  most results are never written as JSON

    held = {f"{model.called(e)} {e.path}": described(e.held, tree) for e in model.engines if e.held is not None}
    merged = tree.fused()
    fused = {"fused": described(merged)} if len(merged.bodies) < len(tree.bodies) else {}
    return {"file": described(tree), **fused, "engines": held}
