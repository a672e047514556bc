"""What loading alone tells: conventions of MuJoCo that the adapter maps, and what its importer made of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.findings import finding
from ..harness.tree import JointKind, TendonInertia
from ..harness.wrenches import longest_lever
from .mujoco_map import mujoco
from .mujoco_versions import Whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ..harness.findings import Finding
    from ..harness.tree import Body, Joint, Tree
    from .mujoco_build import Opened
    from .mujoco_map import MjModel

LINEAR = {JointKind.FLOATING: 3, JointKind.PLANAR: 2}  # velocities that turn with the joint


def conventions(opened: Opened, tree: Tree, wrenches: str, rne: str) -> Iterator[Finding]:
    """Yield what MuJoCo says in other coordinates, or counts elsewhere; the adapter maps all of it.

    Args:
        opened: the model.
        tree: whose coordinates go in and out.
        wrenches: what to do with an external wrench.
        rne: what the recursive Newton-Euler call is named.
    """
    for seat in opened.seats:
        body = tree.bodies[seat.body]
        if body.joint.kind is JointKind.FLOATING:
            yield from _floating(body, tree, free=seat.free)
        elif body.joint.kind is JointKind.PLANAR:
            yield from _planar(body.joint)
        if body.joint.reflected.any():
            yield _reflected(body.joint, rne, canonical=opened.canonical)
    if loaded := longest_lever(tree):
        yield finding(
            "wrench.frame",
            loaded.source(),
            where=loaded.name,
            expected="moment, then force, in body axes at the body origin",
            found="xfrc_applied: force, then moment, in world axes at the centre of mass",
            fix=wrenches,
        )


def _planar(joint: Joint) -> Iterator[Finding]:
    for kind, expected, found, fix in (
        ("joint.type", "planar", "two slides and a hinge", "nothing: they allow the same motion"),
        (
            "joint.coordinates",
            "x, y, theta | velocity in child axes",
            "x, y, theta | velocity in the axes of the fixed side",
            "turn the two velocities by theta",
        ),
    ):
        source = joint.source("type") if kind == "joint.type" else joint.source()
        yield finding(kind, source, where=joint.name, expected=expected, found=found, severity="convention", fix=fix)


def _floating(body: Body, tree: Tree, *, free: bool) -> Iterator[Finding]:
    axes = "world axes" if free else "axes of the parent"
    for kind, expected, found, fix in (
        ("base.quaternion_order", "w, x, y, z", "w, x, y, z", "nothing: the order is the same"),
        (
            "base.velocity_frame",
            "linear velocity in base axes",
            f"linear velocity in {axes}",
            "turn the linear velocity by the rotation of the base",
        ),
        (
            "base.acceleration",
            "spatial",
            "ordinary: omega x v more",
            "add omega x v to the linear acceleration, then turn it",
        ),
    ):
        yield finding(kind, body.source(), where=body.name, expected=expected, found=found, fix=fix)
    joint = body.joint
    fused = tree.fusion.tree.joints[tree.fusion.merged[tree.index[body.name]]]
    if not free or not np.array_equal(fused.T_parent_joint, np.eye(4)):
        yield finding(
            "joint.coordinates",
            joint.source("T_parent_joint"),
            where=joint.name,
            expected="pose in the joint frame",
            found="pose in the world" if free else "three slides and a ball",
            fix="multiply by the placement of the joint" if free else "nothing: MuJoCo frees bodies of the world alone",
        )


def _reflected(joint: Joint, rne: str, *, canonical: bool) -> Finding:
    linear = joint.reflected[: LINEAR.get(joint.kind, 0)]
    turned = not canonical and bool(linear.any())
    values: list[float] = joint.reflected.tolist()
    return finding(
        "armature",
        joint.source("armature" if np.any(joint.armature) else "rotor"),
        where=joint.name,
        expected=values if joint.nv > 1 else values[0],
        found="times qacc, the ordinary acceleration in the axes of the fixed side" if turned else 0.0,
        unit="kg" if joint.kind is JointKind.PRISMATIC or turned else "kg m^2",
        severity="model" if turned else "convention",
        fix="use no armature on a joint that moves the whole body" if turned else f"add armature times qacc to {rne}",
    )


def tendons(opened: Opened, tree: Tree, room: Collection[tuple[int, int]], rne: str) -> Iterator[Finding]:
    """Yield where the inertia of each fixed tendon is counted.

    Args:
        opened: the model.
        tree: whose tendons they are.
        room: the pairs of dofs, the larger first, that M has a place for.
        rne: what the recursive Newton-Euler call is named.
    """
    addresses = {seat.body: seat.v for seat in opened.seats}
    for tendon in tree.tendons:
        dofs = sorted(addresses[i] for name in tendon.coefficients if (i := tree.joint_index[name]) in addresses)
        apart = [(i, j) for j in dofs for i in dofs if i > j and (i, j) not in room]
        lost = bool(apart) and not opened.canonical
        yield finding(
            "armature.tendon",
            tendon.source,
            where=tendon.name,
            expected=tendon.armature,
            found="without the coupling of joints on different branches" if lost else 0.0,
            unit="kg",
            severity="model" if lost else "convention",
            fix="couple joints of one branch only" if lost else f"add the inertia of tendons times qacc to {rne}",
        )


def held_tendons(tree: Tree, room: Collection[tuple[int, int]]) -> tuple[TendonInertia, ...]:
    """Return the inertia of fixed tendons as `mj_makeM` counts it: less the couplings that M has no place for.

    Args:
        tree: as `tree_of_mujoco` describes the model, in its coordinates.
        room: the pairs of dofs, the larger first, that M has a place for.
    """
    found: list[TendonInertia] = []
    for tendon in tree.tendons:
        names = list(tendon.coefficients)
        at = [tree.v_slices[tree.joint_index[name]].start for name in names]
        has = np.array([[(max(i, j), min(i, j)) in room for j in at] for i in at])
        if has.all():
            found.append(tendon)
            continue
        found.append(tendon)
        c = tendon.coefficients
        # c_i c_j (e_i e_j^T + e_j e_i^T) is c_i c_j / 2 over the sum less c_i c_j / 2 over the difference of the two.
        for i, j in np.argwhere(np.triu(~has)):
            one, two = names[i], names[j]
            for sign in (-1.0, 1.0):
                armature = sign * tendon.armature * c[one] * c[two] / 2
                found.append(TendonInertia(tendon.name, armature, {one: 1.0, two: -sign}, tendon.source))
    return tuple(found)


def differences(model: MjModel, tree: Tree, held: Mapping[int, int], from_mesh: Collection[str]) -> Iterator[Finding]:
    """Yield what MuJoCo's importer did to the bodies.

    Args:
        model: compiled from the file.
        tree: of the same file.
        held: tree body to MuJoCo body.
        from_mesh: bodies whose inertia would have come from a mesh that cannot be read.
    """
    for i, body in enumerate(tree.bodies[1:], 1):
        if i not in held and not body.inertia.is_zero:
            yield from _merged(i, tree)
        if body.name in from_mesh and ("inertial" not in body.sources or tree.origin.format != "urdf"):
            yield finding(
                "mass.default",
                body.source("collision_mesh"),
                where=body.name,
                expected=body.inertia.mass,
                found="volume of a mesh that is missing, times its density",
                unit="kg",
                fix="write <inertial>",
            )
    yield from _inferred(model, tree, held)


def _merged(i: int, tree: Tree) -> Iterator[Finding]:
    """Yield where body i went, and the tensor that was lost on the way."""
    body, root = tree.bodies[i], tree.parents[i] == 0
    holder = tree.bodies[tree.fusion.holder[i]].name
    yield finding(
        "body.root_fused" if root else "body.fused",
        body.source() if root else body.joint.source(),
        where=body.name,
        expected="a body of its own",
        found=f"part of {holder!r}" if tree.moving[i] else "in the world, its mass gone",
        fix="compile with fusestatic off to keep it",
    )
    if tree.moving[i] and body.inertia.mass < mujoco.mjMINVAL:
        I = body.inertia.I_com
        yield finding(
            "inertia.value",
            body.source("inertia"),
            where=body.name,
            expected=[float(I[j]) for j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
            found=[0.0] * 6,
            unit="kg m^2",
            fix="MuJoCo merges no tensor of a body without mass: give it a mass, or no tensor",
        )


def _inferred(model: MjModel, tree: Tree, held: Mapping[int, int]) -> Iterator[Finding]:
    """Yield the links of a URDF without `<inertial>` that MuJoCo gave the mass of their shapes."""
    if tree.origin.format != "urdf":
        return
    for i, b in held.items():
        excess = float(model.body_mass[b]) - tree.fusion.tree.bodies[tree.fusion.merged[i]].inertia.mass
        bare = [
            body
            for k, body in enumerate(tree.bodies)
            if tree.fusion.holder[k] == i and body.inertia.is_zero and "inertial" not in body.sources
        ]
        if excess > 1e-12 * model.body_mass[b]:
            for body in bare:
                yield finding(
                    "mass.default",
                    body.source(),
                    where=body.name,
                    expected=0.0,
                    found=excess if len(bare) == 1 else f"part of {excess:g} kg on links without <inertial>",
                    unit="kg",
                    fix="write <inertial>",
                )


def taken_out(unreadable: Sequence[Any], tree: Tree) -> Iterator[Finding]:
    """Yield the files for which MuJoCo alone refuses the model, and which were taken out of it.

    Args:
        unreadable: see `harness.importers.mjcf_assets.Unreadable`.
        tree: of the same file, which knows the line of the asset or, in a URDF, of the mesh in its link.
    """
    for asset in unreadable:
        where, source = asset.name, None
        for loss in tree.losses:
            if (loss.element, loss.where) == (asset.kind, asset.name):
                source = loss.source
        for name in asset.bodies if tree.origin.format == "urdf" else ():
            if name in tree.index:
                where, source = name, tree.bodies[tree.index[name]].source("collision_mesh")
        yield finding(
            "refused.mesh",
            source,
            where=where,
            expected="a file that MuJoCo can read",
            found=asset.words,
            severity="convention",
            fix=f"make {asset.file!r} readable, or delete the {asset.kind} from the MjSpec before you compile, as here",
        )


def take_out_spatial_tendons(model: MjModel) -> list[Finding]:
    """Take the inertia of spatial tendons out of the model, since it changes with q and no tree holds it; say so."""
    found: list[Finding] = []
    has = Whole(model)
    for t in range(model.ntendon):
        if model.wrap_type[model.tendon_adr[t]] == mujoco.mjtWrap.mjWRAP_JOINT:
            continue
        driven = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON) & (model.actuator_trnid[:, 0] == t)
        if not has.tendon_armature[t] and not has.actuator_armature[driven].any():
            continue
        reason = finding(
            "armature.tendon",
            where=model.tendon(t).name or None,
            expected=0.0,
            found=float(has.tendon_armature[t]),
            unit="kg",
            fix="MuJoCo adds it to M, this check leaves it out: use a fixed tendon, or joint armature",
        )
        found.append(reason)
        has.tendon_armature[t] = 0
        has.actuator_armature[driven] = 0
    return found
