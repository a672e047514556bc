"""An engine whose base has its angular part first, unlike this harness."""

from pathlib import Path

import tautology
from tautology.adapters.reference import Reference

MODEL = Path(__file__).parent / "base.acceleration.xml"
tree = tautology.load(MODEL)
right = Reference(tree)


def engine(q, v, a):
    """Return efforts (nv,) with the two halves of the base swapped, in what is asked and in what is answered."""
    swap = [3, 4, 5, 0, 1, 2, *range(6, tree.nv)]
    return right.inverse_dynamics(q[None], v[None, swap], a[None, swap])[0, swap]


result = tautology.check(MODEL, engines=engine)
print(result.findings[["kind", "where", "expected", "found", "explains"]].to_string())
