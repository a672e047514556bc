"""The ledger of the engines' calls: which terms are in which call, found by taking one term away at a time.

A call f is asked at one state of a robot that has every term. Then a is set to zero, or v, or gravity, reflected
inertia, damping, dry friction, springs are taken out of the model: what f loses is held against that term, computed by
the native reference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..tree import JointKind
from .record import Cell, Column, Explanation, Section, Table, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..tree import Floats, Joint, Tree
    from .asked import Asked

QUESTION: Final = "Which terms are in which call of which engine?"
ENGINES: Final = ("pinocchio", "mujoco", "drake", "idyntree")
# What joints with one dof are given where the file gives them none, so that no term is invisible.
PROBE: Final = {"armature": 0.07, "damping": 0.3, "friction": 0.2, "stiffness": 1.5}
SPRUNG: Final = 0.4  # rad | m, from the rest of a spring that the file does not have
ROUNDING: Final = 1e-9  # of the largest effort: two vectors are the same below it
NAMES: Final = ("Ma", "c", "g", "arm", "damp", "fric", "spring")
OWN_ZERO: Final = "+*"
HELD: Final = (
    "Rows are calls, columns the terms of tau = M a + c(q, v) + g(q) + armature a + damping v + dry friction + "
    "spring. +: the call holds the term, -: with the other sign, empty: not. A number is the factor where it is "
    "neither, rest the largest effort that none of this accounts for. MuJoCo's dry friction is a soft constraint, less "
    "than its limit where the joint is about to stop; with invdiscrete damping counts at the end of the step."
)
MEASURED: Final = (
    "Nothing is typed in: a call is asked with and without a term, and the difference is held against the term as the "
    "reference computes it. Joints with one dof have been given armature, damping, dry friction and a spring where the "
    "file gives none, engines that cannot hold one lack it in every call."
)
INVERSE: Final = (
    "Contacts, limits, dry friction and passive forces are in mj_inverse, though in no other call. With invdiscrete it "
    "answers for the next time step h: damping is then taken implicitly, and h D a is left."
)
AWAY: Final = (
    "+*: a call without an acceleration stands at the engine's own zero, which for a floating or planar joint with "
    "ordinary acceleration is another motion than spatial zero: omega x v away, so c(q, v) is less by M (omega x v)."
)


@dataclass(frozen=True)
class _Probe:
    """A state at which every term is seen."""

    tree: Tree
    q: Floats
    v: Floats
    a: Floats


def explain(asked: Asked) -> Explanation:
    """Explain which terms are in which call."""
    states = asked.states(1)
    probe = _Probe(
        replace(asked.tree, bodies=tuple(replace(b, joint=_probed(b.joint)) for b in asked.tree.bodies)),
        states.q[0],
        states.v[0],
        states.a[0],
    )
    terms, away = _terms(probe)
    sections: list[Section] = []
    found: dict[str, dict[str, Floats]] = {}
    asked_of: dict[str, tuple[dict[str, dict[str, Floats]], dict[str, Floats]]] = {}
    for name, ask in asked.beside(ENGINES, "apis"):
        with asked.trying(name):
            asked_of[name] = _lost(partial(ask, "apis"), probe)
    for name, (lost, whole) in asked_of.items():
        found[name] = whole
        rows = [(call, *(_cell(lost[term][call], terms[term], away, term) for term in NAMES)) for call in whole]
        rest = [
            _rest(whole[call], row[1:], terms, {term: lost[term][call] for term in NAMES}, away)
            for call, row in zip(whole, rows, strict=True)
        ]
        rows = [(*row, left) for row, left in zip(rows, rest, strict=True)]
        held = (Column(name), *columns(*NAMES, digits=5), Column("rest", 1))
        sections.append(Section(f"Calls of {name}", tables=(Table("Terms", held, tuple(rows)), _vectors(probe, whole))))
    sections[:0] = [_reference(probe, terms)]
    if "mujoco" in found:
        sections.append(_identity(asked, probe))
    answer = _answer(found)
    values = {"q": probe.q.tolist(), "v": probe.v.tolist(), "a": probe.a.tolist(), "dofs": list(probe.tree.dofs)}
    values["terms"] = {k: x.tolist() for k, x in terms.items()}
    values["calls"] = {name: {k: x.tolist() for k, x in calls.items()} for name, calls in found.items()}
    return Explanation("apis", QUESTION, asked.model, answer, tuple(sections), values=values)


def _probed(joint: Joint) -> Joint:
    """Return a joint with one dof with every term; others as they are, without armature, which engines book unlike."""
    if joint.nv != 1:
        return replace(joint, armature=0.0, rotor=0.0, damping=0.0, friction=0.0, stiffness=0.0)
    given: dict[str, Any] = {k: x for k, x in PROBE.items() if not np.any(getattr(joint, k))}
    if "stiffness" in given:
        given["rest"] = np.asarray(joint.rest) - SPRUNG
    return replace(joint, **given, rotor=0.0)


def _without(tree: Tree, **values: Any) -> Tree:
    bodies = (replace(b, joint=replace(b.joint, **values)) for b in tree.bodies)
    return replace(tree, bodies=tuple(bodies))


def _bare(tree: Tree) -> Tree:
    """Return the tree without reflected inertia."""
    return replace(_without(tree, armature=0.0), tendons=())


def _variants(p: _Probe) -> dict[str, _Probe]:
    """Return term to the probe that lacks it."""
    tree, smooth = p.tree, _without(p.tree, damping=0.0, friction=0.0)
    return {
        "Ma": replace(p, a=0 * p.a),
        "c": replace(p, tree=smooth, v=0 * p.v),
        "g": replace(p, tree=replace(tree, gravity=np.zeros(3))),
        "arm": replace(p, tree=_bare(smooth)),
        "damp": replace(p, tree=_without(tree, damping=0.0)),
        "fric": replace(p, tree=_without(tree, friction=0.0)),
        "spring": replace(p, tree=_without(tree, stiffness=0.0)),
    }


def _lost(
    apis: Callable[..., Mapping[str, Floats]], p: _Probe
) -> tuple[dict[str, dict[str, Floats]], dict[str, Floats]]:
    """Return what every call loses without each term, and the calls themselves."""
    tree = p.tree
    whole = dict(apis(tree, p.q, p.v, p.a))
    # Dry friction may depend on everything: the terms of the motion are taken away where there is none.
    smooth = _without(tree, damping=0.0, friction=0.0)
    lossless = dict(apis(smooth, p.q, p.v, p.a))
    rigid, still = (dict(apis(_bare(smooth), p.q, p.v, a)) for a in (p.a, 0 * p.a))
    lost: dict[str, dict[str, Floats]] = {}
    for term, variant in _variants(p).items():
        less = apis(variant.tree, variant.q, variant.v, variant.a)
        before, after = {"Ma": (rigid, still), "c": (lossless, less), "arm": (lossless, less)}.get(term, (whole, less))
        lost[term] = {call: before[call] - after[call] for call in whole}
    return lost, whole


def _terms(p: _Probe) -> tuple[dict[str, Floats], Floats]:
    """Return every term (nv,) by the reference, and M (omega x v) of floating and planar joints."""
    from ...adapters.reference import Reference  # noqa: PLC0415  loaded when a topic is asked

    tree, rest, (q, v, a) = p.tree, np.zeros((1, len(p.v))), (x[None] for x in (p.q, p.v, p.a))
    rigid = Reference(_bare(tree))
    spring, damping, friction = np.zeros((3, tree.nv))
    turned = np.zeros_like(rest)
    for joint, qs, vs in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        damping[vs], friction[vs] = joint.damping * p.v[vs], joint.friction * np.sign(p.v[vs])
        if joint.nv == 1:
            spring[vs] = joint.stiffness * (p.q[qs] - np.asarray(joint.rest))
        if joint.kind is JointKind.FLOATING:
            linear, omega = p.v[vs][:3], p.v[vs][3:]
            turned[0, vs.start : vs.start + 3] = np.cross(omega, linear)
        elif joint.kind is JointKind.PLANAR:
            x, y, spin = p.v[vs]
            turned[0, vs.start : vs.start + 2] = -spin * y, spin * x
    zero = np.zeros(3)
    M_a = rigid.inverse_dynamics(q, rest, a, gravity=zero)[0]
    terms = (
        M_a,
        rigid.bias(q, v, gravity=zero)[0],
        rigid.gravity_forces(q)[0],
        Reference(tree).inverse_dynamics(q, rest, a, gravity=zero)[0] - M_a,
        damping,
        friction,
        spring,
    )
    away = rigid.inverse_dynamics(q, rest, turned, gravity=zero)[0]
    return dict(zip(NAMES, terms, strict=True)), away


def _cell(lost: Floats, term: Floats, away: Floats, name: str) -> Cell:
    """Return how a call holds a term."""
    size = max(float(np.abs(term).max()), float(np.abs(lost).max()))
    if size == 0:
        return ""
    for word, expected in (("", 0 * term), ("+", term), ("-", -term)):
        if float(np.abs(lost - expected).max()) <= ROUNDING * max(size, 1.0):
            return word
    if name == "c" and float(np.abs(lost - term + away).max()) <= ROUNDING * max(size, 1.0):
        return OWN_ZERO
    return float(lost @ term / (term @ term)) if term.any() else None


def _rest(
    call: Floats, cells: tuple[Cell, ...], terms: Mapping[str, Floats], lost: Mapping[str, Floats], away: Floats
) -> float:
    """Return the largest effort that the terms of a row do not account for.

    Terms count as the reference has them where the call holds them whole, else as they were measured.
    """
    rest = call + (away if OWN_ZERO in cells else 0 * away)
    for cell, name in zip(cells, NAMES, strict=True):
        factor = {"+": 1.0, "-": -1.0, "": 0.0, OWN_ZERO: 1.0}.get(str(cell))
        rest = rest - (lost[name] if factor is None else factor * terms[name])
    return float(np.abs(rest).max())


def _vectors(p: _Probe, calls: Mapping[str, Floats]) -> Table:
    names = tuple(calls)
    rows = tuple((dof, *(float(calls[call][k]) for call in names)) for k, dof in enumerate(p.tree.dofs))
    return Table("The vectors, in coordinates of the tree [N m | N]", columns("dof", *names), rows)


def _reference(p: _Probe, terms: Mapping[str, Floats]) -> Section:
    rows = tuple((dof, *(float(term[k]) for term in terms.values())) for k, dof in enumerate(p.tree.dofs))
    turns = any(joint.kind in (JointKind.FLOATING, JointKind.PLANAR) for joint in p.tree.joints)
    words = (HELD, MEASURED, AWAY) if turns else (HELD, MEASURED)
    table = Table("The terms by the native reference [N m | N]", columns("dof", *terms), rows)
    return Section("The terms", words, (table,))


def _identity(asked: Asked, p: _Probe) -> Section:
    """Return the identity of `mj_inverse`."""
    title = "mj_inverse = M a + qfrc_bias - qfrc_passive - qfrc_constraint"
    cases: list[dict[str, Any]] = []
    for name, ask in asked.beside(("mujoco",), "apis"):
        with asked.trying(name):
            cases = ask("identity", p.tree, p.q, p.v, p.a)
    if not cases:
        return Section(title, ("It cannot be shown on this model: what became of MuJoCo stands below.",))
    rows: list[tuple[Cell, ...]] = []
    for case in cases:
        rest = case["mj_inverse"] - case["M a"] - case["qfrc_bias"] + case["qfrc_passive"] + case["qfrc_constraint"]
        rows.append(
            (
                "on" if case["contacts"] else "off",
                "on" if case["invdiscrete"] else "off",
                case["count"],
                *(float(np.abs(case[k]).max()) for k in ("mj_inverse", "qfrc_passive", "qfrc_constraint")),
                float(np.abs(rest).max()),
                float(np.abs(rest - case["implicit"]).max()) if case["invdiscrete"] else None,
            )
        )
    named = ("contacts", "invdiscrete", "touching", "mj_inverse", "passive", "constraint")
    table = Table(
        "Largest efforts, and what the identity leaves [N m | N]",
        (*columns(*named, digits=4), Column("rest", 2), Column("rest - h D a", 2)),
        tuple(rows),
        "The robot as MJCF, every body with a sphere without mass, and a floor that is 10 mm into the lowest"
        + ("." if any(case["count"] for case in cases) else "; MuJoCo finds no contact all the same."),
        keys=2,
    )
    last = cases[-1]
    parts = ("mj_inverse", "M a", "qfrc_bias", "qfrc_passive", "qfrc_constraint")
    on = next(case for case in cases if case["contacts"] and not case["invdiscrete"])
    vectors = Table(
        "The vectors with contacts on, in MuJoCo's order [N m | N]",
        columns("row", *parts),
        tuple((k, *(float(on[part][k]) for part in parts)) for k in range(len(on["M a"]))),
        f"Tendons: mj_makeM has up to {last['tendons']:.3g} beyond mj_crb.",
    )
    return Section(title, (INVERSE,), (table, vectors))


def _answer(found: Mapping[str, Mapping[str, Floats]]) -> str:
    """Return how far calls of like names are apart."""
    pairs = (
        ("pinocchio", "pin.rnea", "mujoco", "mj_rne, flg_acc=1"),
        ("pinocchio", "pin.rnea", "drake", "CalcInverseDynamics, no forces"),
        ("pinocchio", "pin.nonLinearEffects", "mujoco", "qfrc_bias"),
        ("mujoco", "mj_rne, flg_acc=1", "mujoco", "mj_inverse"),
    )
    said = [
        f"{a} and {b} differ by {np.abs(found[x][a] - found[y][b]).max():.2g}"
        for x, a, y, b in pairs
        if x in found and y in found
    ]
    if not said:
        return "No two calls can be held against each other: too few engines are installed."
    return f"At one state of one robot {', '.join(said)} [N m | N]."
