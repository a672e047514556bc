"""An engine that fills the upper triangle of M alone."""

from pathlib import Path

import numpy as np

import tautology
from tautology.adapters.reference import Reference

MODEL = Path(__file__).parent / "mass.a.urdf"


class Upper(Reference):
    """The right answers, but for M."""

    def mass_matrix(self, q):
        """Return M (N, nv, nv) without what stands below its diagonal."""
        return np.triu(super().mass_matrix(q))


class Engine(tautology.CallableEngine):
    """An engine that answers more than inverse dynamics."""

    def neutral(self, tree):
        """Return the session for a tree."""
        return Upper(tree)


result = tautology.check(MODEL, engines=[Engine(None, name="upper")])
print(result.findings[["kind", "where", "expected", "found", "explains"]].to_string())
