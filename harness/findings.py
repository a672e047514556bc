"""A finding names one reason why two answers differ; its kind is a stable identifier, never renamed."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .errors import Source

Severity: TypeAlias = Literal["convention", "model", "refusal"]

# The severity that a kind has when nothing else is said: `convention` is the same robot, harmless once mapped; `model`
# is another robot; `refusal` is an engine that would not load it.
KINDS: Final[Mapping[str, Severity]] = MappingProxyType(
    {
        "mass": "model",
        "mass.default": "model",
        "com": "model",
        "inertia.rotation": "model",
        "inertia.order": "model",
        "inertia.sign": "model",
        "inertia.reference_point": "model",
        "inertia.off_diagonal": "model",
        "inertia.repaired": "model",
        "inertia.value": "model",
        "body.fused": "convention",
        "body.root_fused": "convention",
        "body.missing": "model",
        "joint.missing": "model",
        "joint.extra": "model",
        "joint.type": "model",
        "joint.order": "convention",
        "joint.coordinates": "convention",
        "joint.axis": "model",
        "joint.axis_sign": "model",
        "joint.placement": "model",
        "joint.orientation": "model",
        "joint.zero": "model",
        "joint.mimic": "model",
        "units.angle": "model",
        "units.length": "model",
        "base.fixed_or_free": "model",
        "base.velocity_frame": "convention",
        "base.component_order": "convention",
        "base.quaternion_order": "convention",
        "base.acceleration": "convention",
        "gravity.value": "model",
        "gravity.sign": "model",
        "gravity.direction": "model",
        "armature": "model",
        "armature.tendon": "model",
        "rotor": "model",
        "damping": "model",
        "frictionloss": "model",
        "spring": "model",
        "gravcomp": "model",
        "fluid": "model",
        "constraint": "model",
        "integrator": "model",
        "wrench.frame": "convention",
        "wrench.sign": "convention",
        "mass_matrix.triangle": "convention",
        "feature.ignored": "model",
        "refused.nonphysical": "refusal",
        "refused.mesh": "refusal",
        "refused.unsupported": "refusal",
        "refused.malformed": "refusal",
        "unexplained": "model",
        # Of the file itself, whatever engine reads it; these change no verdict.
        "lint.mass": "model",
        "lint.massless_tensor": "model",
        "lint.not_definite": "model",
        "lint.triangle": "model",
        "lint.tensor_size": "model",
        "lint.mirror": "model",
        "lint.massless": "model",
        "lint.no_inertial": "model",
        "lint.mimic": "model",
        "lint.range": "model",
        "lint.axis": "convention",
    },
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason, with its place.

    Attributes:
        kind: a key of `KINDS`.
        severity: `convention`, `model` or `refusal`.
        where: body, joint or dof name; None when the whole file is concerned.
        file: the model file, or None.
        line: of the element in that file, or None.
        expected: what the file says, a number, a list of numbers or a word.
        found: what the engine holds or answers.
        unit: of both, "" when they have none.
        explains: 0 to 1, the share of the residual that goes away with the found value; None when not measured.
        fix: one sentence, what to change in the file or in the call.
        other_file: in a pair of files, the one that says `found`; None for a single file.
        other_line: of the element there.
        note: what else the reader should know, such as a doubtful match.
        rivals: "kind at where" of everything that explains the same and that no motion can tell from this.
        known: why it may stay, when it is listed as a known difference; "" for one that counts.
    """

    kind: str
    severity: Severity
    where: str | None
    file: str | None
    line: int | None
    expected: Any
    found: Any
    unit: str
    explains: float | None
    fix: str
    other_file: str | None = None
    other_line: int | None = None
    note: str = ""
    rivals: tuple[str, ...] = ()
    known: str = ""


def finding(
    kind: str,
    source: Source | None = None,
    *,
    where: str | None = None,
    expected: Any = None,
    found: Any = None,
    unit: str = "",
    fix: str = "",
    severity: Severity | None = None,
    explains: float | None = None,
) -> Finding:
    """Return a finding with the severity of its kind, at a place in a file.

    Raises:
        KeyError: `kind` is not one of `KINDS`.
    """
    return Finding(
        kind=kind,
        severity=severity or KINDS[kind],
        where=where,
        file=source.file or None if source else None,
        line=source.line or None if source else None,
        expected=expected,
        found=found,
        unit=unit,
        explains=explains,
        fix=fix,
    )
