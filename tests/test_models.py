"""The bundled robots in our own reference: every number of the catalogue, from every file, in both float types."""

from __future__ import annotations

import closed_forms as cf
import numpy as np
import pytest
from engines_at_hand import CORE

from tautology import check, load, models
from tautology.adapters.reference import Reference
from tautology.harness.linear import solve

CATALOGUE = models.catalogue()["model"]
NUMBERS = [
    pytest.param(file, number, id=f"{file}-{number['quantity']}{'-loaded' if 'wrenches' in number else ''}")
    for entry in CATALOGUE
    for file in entry["files"]
    for number in entry["number"]
]


def answers(reference: Reference, number: dict) -> dict[str, np.ndarray]:
    """Return every quantity of the catalogue at the state of one number."""
    tree = reference.tree
    q, v, a = (np.atleast_2d(np.array(number[name], float)) for name in "qva")
    wrenches = np.zeros((1, len(tree.bodies), 6))
    for body, wrench in number.get("wrenches", {}).items():
        wrenches[0, tree.index[body]] = wrench
    bias, gravity = reference.bias(q, v), reference.gravity_forces(q)
    inertial = (reference.mass_matrix(q) @ a[..., None])[..., 0]
    return {
        "tau": reference.inverse_dynamics(q, v, a, wrenches)[0],
        "bias": bias[0],
        "gravity": gravity[0],
        "velocity_product": (bias - gravity)[0],
        "inertial": inertial[0],
        "mass_matrix": reference.mass_matrix(q)[0],
        "moving_mass": np.asarray(tree.moving_mass),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble])
@pytest.mark.parametrize(("file", "number"), NUMBERS)
def test_numbers_of_the_catalogue_come_out(file: str, number: dict, dtype: type) -> None:
    """The printed digits of the texts, and closed forms, from the file through the importer and the recursion."""
    found = answers(Reference(load(models.path(file)), dtype), number)[number["quantity"]]
    np.testing.assert_allclose(found.astype(float), number["values"], rtol=0, atol=number["tolerance"])


def test_planar_spatial_vectors_of_the_three_links() -> None:
    """v_2 is the printed one, and the bias accelerations of links 2 and 3 come out of the twist differences."""
    tree = load(models.path("three_planar_links.urdf"))
    reference = Reference(tree)
    q, v = cf.THREE_LINKS_Q[None], cf.THREE_LINKS_QD[None]
    V = reference.velocities(q, v)[0]
    at = [tree.index[f"link_{i}"] - 1 for i in (1, 2, 3)]
    np.testing.assert_allclose(V[at[1], 3:], [0.353413, 0.353694, 0], atol=cf.PRINTED)
    for link, expected in ((1, [0.106108, -0.106024, 0]), (2, [0.198739, -0.070683, 0])):
        # c_i = ad_V V_J with a joint about z: the linear part is v x z qd.
        c = np.cross(V[at[link], 3:], [0, 0, v[0, link]])
        np.testing.assert_allclose(c, expected, atol=cf.PRINTED)


@pytest.mark.parametrize("file", ["two_rods.urdf", "two_rods.xml"])
def test_two_rods_have_their_closed_form_at_many_poses(file: str) -> None:
    """M, velocity and gravity parts at 50 random states, and forward dynamics by two roads."""
    reference = Reference(load(models.path(file)))
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-3, 3, (3, 50, 2))
    M, gravity, bias = reference.mass_matrix(q), reference.gravity_forces(q), reference.bias(q, v)
    for n in range(50):
        np.testing.assert_allclose(M[n], cf.two_rods_mass_matrix(q[n]), atol=1e-14)
        np.testing.assert_allclose(gravity[n], cf.two_rods_gravity(q[n]), atol=1e-13)
        np.testing.assert_allclose(bias[n] - gravity[n], cf.two_rods_velocity_product(q[n], v[n]), atol=1e-13)
    np.testing.assert_allclose(reference.forward_dynamics(q, v, tau), solve(M, tau - bias), rtol=1e-11, atol=1e-11)


def test_columns_need_the_bias_subtracted() -> None:
    """ID at zero and unit acceleration of the column robot: (3, 4), (8, 6), and their difference (5, 2)."""
    reference = Reference(load(models.path("column_test.urdf")))
    q, v = cf.COLUMN_Q[None], cf.COLUMN_QD[None]
    bias = reference.inverse_dynamics(q, v, np.zeros((1, 2)))[0]
    loaded = reference.inverse_dynamics(q, v, np.array([[1.0, 0.0]]))[0]
    np.testing.assert_allclose(bias, [3, 4], atol=1e-12)
    np.testing.assert_allclose(loaded, [8, 6], atol=1e-12)
    np.testing.assert_allclose(loaded - bias, cf.COLUMN_M[0], atol=1e-12)
    np.testing.assert_allclose(reference.mass_matrix_by_columns(q)[0], cf.COLUMN_M, atol=1e-12)


@pytest.mark.parametrize("entry", CATALOGUE, ids=[entry["name"] for entry in CATALOGUE])
def test_every_bundled_robot_has_its_verdict(entry: dict) -> None:
    """Pinocchio and MuJoCo agree on every bundled file, but where the catalogue says otherwise, with its finding."""
    refused = {(r["file"], r["engine"]) for r in entry.get("refused", [])}
    differs = {(d["file"], d["engine"]): d for d in entry.get("differs", [])}
    for file in entry["files"]:
        for row in check(models.path(file), engines=CORE, states=12).models[0].engines:
            key = (file, row.engine)
            if row.path == "native" and key in refused:
                assert row.status == "refused", row
            elif row.path == "native" and key in differs:
                found = [(f.kind, f.where) for f in row.findings if f.severity == "model"]
                assert found == [(differs[key]["kind"], differs[key]["where"])]
            else:
                assert row.status == "agree", (file, row.engine, row.path, row.findings)
