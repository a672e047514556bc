"""An engine with an effort that no model of a robot has."""

from pathlib import Path

import numpy as np

import tautology
from tautology.adapters.reference import Reference

MODEL = Path(__file__).parent / "mass.a.urdf"
tree = tautology.load(MODEL)
right = Reference(tree)


def engine(q, v, a):
    """Return efforts (nv,) with a ripple that no parameter gives."""
    return right.inverse_dynamics(q[None], v[None], a[None])[0] + 0.3 * np.sin(17 * q) * v**4


result = tautology.check(MODEL, engines=engine)
print(result.findings[["kind", "where", "expected", "found", "explains"]].to_string())
