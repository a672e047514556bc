"""A file read in other units throughout, or a joint read as another type: other trees, tried one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import Source
from ..spatial import rotation_about, rotation_from_rpy, transform
from ..tree import JointKind
from .difference import Difference, with_joint
from .hypotheses import Candidate, Change, rms
from .joint_zeros import ONE_DOF, suspects
from .turns import DEGREE, rpy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..tree import Body, Floats, Tree
    from .hypotheses import Problem

WRITTEN: Final = ("roll, pitch, yaw", "turns about moving axes", "axis and angle")


def read_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield units of the whole file, and types of single joints, that leave rounding alone."""
    for change in (*_angles(problem.tree), *_lengths(problem.tree), *_types(problem)):
        if rms(problem.light.left([change])) <= problem.accept:
            left = rms(problem.left([change]))
            if left <= problem.accept:
                yield Candidate((change,), left)


def _everywhere(tree: Tree, change: Callable[[Body], Body]) -> Tree:
    """Return the tree with every body but the world changed."""
    return replace(tree, bodies=(tree.bodies[0], *map(change, tree.bodies[1:])))


def _angles(tree: Tree) -> Iterator[Change]:
    """Yield all angles of the file in degrees, or all in radians, however turns are written in it."""
    source = tree.sources.get("angle") or Source(tree.origin.path)
    for factor, found in ((DEGREE, "degrees"), (1 / DEGREE, "radians, written as degrees")):
        for written in WRITTEN:
            for tensors in (True, False):

                def apply(tree: Tree, factor: float = factor, written: str = written, tensors: bool = tensors) -> Tree:
                    return _everywhere(tree, lambda body: _turned(body, factor, written, tensors=tensors))

                yield Change(Difference("units.angle", None, "as the format says", found, "rad", apply, source))


def _turned(body: Body, factor: float, written: str, *, tensors: bool) -> Body:
    """Return a body with all of its angles multiplied: placement, zero, and the axes of its tensor."""
    joint, inertia = body.joint, body.inertia
    T = joint.T_parent_joint
    placed = np.asarray(transform(scaled_turn(T[:3, :3], factor, written), T[:3, 3]), np.float64)
    ref = joint.ref if joint.kind is JointKind.PRISMATIC else joint.ref * factor
    if tensors:
        R = scaled_turn(inertia.axes, factor, written) @ inertia.axes.T
        I = R @ inertia.I_com @ R.T
        inertia = replace(inertia, I_com=(I + I.T) / 2)
    return replace(body, joint=replace(joint, T_parent_joint=placed, ref=ref), inertia=inertia)


def scaled_turn(R: Floats, factor: float, written: str) -> Floats:
    """Return the turn whose angles are those of R times a factor, for one of the ways in `WRITTEN` to write it."""
    if written == WRITTEN[2]:
        vee = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        sine = float(np.linalg.norm(vee))
        if sine < 1e-9:
            return R
        angle = float(np.arctan2(sine, (np.trace(R) - 1) / 2)) * factor
        return np.asarray(rotation_about(vee / sine, np.asarray(angle)), np.float64)
    if written == WRITTEN[1]:
        return np.asarray(rotation_from_rpy(np.array(rpy_of(R.T)) * factor), np.float64).T
    return np.asarray(rotation_from_rpy(np.array(rpy_of(R)) * factor), np.float64)


def _lengths(tree: Tree) -> Iterator[Change]:
    """Yield all lengths of the file in millimetres, or the reverse, with the tensors or without."""
    for factor, found in ((1e-3, "mm"), (1e3, "m, written as mm")):
        for tensors in (True, False):

            def apply(tree: Tree, factor: float = factor, tensors: bool = tensors) -> Tree:
                return _everywhere(tree, lambda body: _resized(body, factor, tensors=tensors))

            source = Source(tree.origin.path)
            yield Change(Difference("units.length", None, "m", found, "m", apply, source))


def _resized(body: Body, factor: float, *, tensors: bool) -> Body:
    """Return a body with all of its lengths multiplied."""
    joint, inertia = body.joint, body.inertia
    scale = np.ones((4, 4))
    scale[:3, 3] = factor
    I_com = inertia.I_com * factor**2 if tensors else inertia.I_com
    placed = replace(joint, T_parent_joint=joint.T_parent_joint * scale, T_joint_body=joint.T_joint_body * scale)
    return replace(body, joint=placed, inertia=replace(inertia, com=inertia.com * factor, I_com=I_com))


def _types(problem: Problem) -> Iterator[Change]:
    """Yield every hinge as a slide, and every slide as a hinge, where that could touch what shows a residual."""
    tree = problem.tree
    for i in suspects(problem, fixed=False):
        joint = tree.joints[i]
        if joint.kind in ONE_DOF:
            slides = joint.kind is JointKind.PRISMATIC
            kind = JointKind.REVOLUTE if slides else JointKind.PRISMATIC

            def apply(tree: Tree, name: str = joint.name, kind: JointKind = kind) -> Tree:
                return with_joint(tree, name, kind=kind)

            values = (joint.kind.value, kind.value, "")
            yield Change(Difference("joint.type", joint.name, *values, apply, joint.source("type")))
