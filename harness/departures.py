"""What the loop itself finds: dofs that an engine lacks or adds, refusals, and what departs without a reason."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .findings import Finding, finding
from .results import off_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .diagnosis.closure import Left
    from .engine import Session
    from .errors import EngineRefused
    from .results import IdentityRow, QuantityRow
    from .tree import Tree


def merged(first: Sequence[Finding], then: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return all findings, the same kind at the same place once: what diagnosis measured before what loading showed."""
    known = {(f.kind, f.where) for f in first}
    # That a base is fixed says of its joint that it is missing.
    known |= {("joint.missing", f.where) for f in first if f.kind == "base.fixed_or_free"}
    return (*first, *(f for f in then if (f.kind, f.where) not in known))


def refusal_fix(refusal: EngineRefused) -> str:
    """Return what to change so that the engine loads the model."""
    place = f" of {refusal.where!r}" if refusal.where else ""
    body = repr(refusal.where) if refusal.where else "every moving body"
    return {
        "refused.nonphysical": f"give {body} a mass above 0 and a tensor that a body can have",
        "refused.mesh": f"make the mesh file{place} readable, or take the geometry out",
        "refused.unsupported": f"replace the element{place} by one that this engine has, or use the neutral path",
        "refused.malformed": f"correct the element{place}",
    }[refusal.kind]


def dof_findings(session: Session, tree: Tree) -> tuple[Finding, ...]:
    """Return a finding for every joint that the engine lost, and for every dof that it has beyond the tree's."""
    known = {f.where for f in session.findings if f.kind in ("joint.missing", "joint.extra", "body.missing")}
    held = set(session.dofs)
    lost = [joint for joint in tree.joints if joint.nv and not held.issuperset(joint.dofs) and joint.name not in known]
    missing = [
        finding(
            "joint.missing",
            joint.source(),
            where=joint.name,
            expected=joint.nv,
            found=sum(dof in held for dof in joint.dofs),
            unit="dof",
            fix=f"this engine has no joint {joint.name!r}: build its model from the neutral tree, or add the joint",
        )
        for joint in lost
    ]
    extra = [
        finding(
            "joint.extra",
            where=name,
            expected=0,
            found=1,
            unit="dof",
            fix=f"the file has no dof {name!r}: lock it in this engine",
        )
        for name in session.extra_dofs
        if name not in known
    ]
    return (*missing, *extra)


def unexplained(
    quantities: Sequence[QuantityRow],
    rows: Sequence[IdentityRow],
    findings: Sequence[Finding],
    left: Left | None,
    tolerance: float,
    tree: Tree,
) -> tuple[Finding, ...]:
    """Return what stays without a reason: a residual that closure leaves, or failed rows when nothing was found."""
    # A convention that the adapter does not map explains what departs as another robot does.
    reasons = any(f.severity == "model" or f.explains for f in findings)
    if reasons and (left is None or left.ratio <= tolerance):
        return ()
    if reasons and left is not None:
        joint = tree.joint_index.get((left.where or "").partition(",")[0].partition(".")[0])
        return (
            finding(
                "unexplained",
                tree.joints[joint].source() if joint else None,
                where=left.where,
                expected=tolerance,
                found=left.ratio,
                unit="1",
                explains=0.0,
                fix=f"{left.quantity} {off_by(left.error, left.state, still=True)} after everything found was put"
                " in: look at what this place has and the findings do not name",
            ),
        )
    failed = [(r.quantity, r.error, r.tolerance, r.state, r.where, r.unit) for r in quantities if not r.passed]
    failed += [(r.identity, r.residual, r.tolerance, r.state, r.where, "") for r in rows if not r.passed]
    if not failed:
        return ()
    name, error, tolerance, state, where, unit = max(
        failed, key=lambda row: row[1] / row[2] if 0 < row[2] < math.inf else math.inf
    )
    joint = tree.joint_index.get((where or "").split(".")[0])
    return (
        finding(
            "unexplained",
            tree.joints[joint].source() if joint else None,
            where=where,
            expected=tolerance,
            found=error,
            unit=unit,
            explains=0.0,
            fix=f"{name} {off_by(error, state, tolerance)}: compare what this place has",
        ),
    )
