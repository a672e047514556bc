"""Robots and results for the page: names that are markup, and runs longer than a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from tautology.harness.saved import Saved

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "]]>",
    "</script><img src=x onerror=window.hacked=1>",
    "<!--",
    "a\"b'c&amp;",
    "\u202eevil",
    "\u0645\u0631\u062d\u0628\u0627",
    "{b}{c|x}",
    "javascript:window.hacked=1",
    "__proto__",
)


def hostile_urdf() -> str:
    """Return a chain whose links and joints are called so; of the last one MuJoCo invents the mass."""
    return "\n".join(_hostile_lines())


def _hostile_lines() -> Iterator[str]:
    inertia = '<inertia ixx="0.1" iyy="0.12" izz="0.13" ixy="0" ixz="0" iyz="0"/>'
    yield '<robot name="&lt;b&gt;bold&lt;/b&gt;"><link name="base"/>'
    parent = "base"
    for n, name in enumerate(HOSTILE_NAMES, 1):
        yield f'<link name={quoteattr(name)}><inertial><origin xyz="0.1 0 0.02"/><mass value="{n}"/>{inertia}'
        yield (
            f'</inertial></link><joint name={quoteattr("joint " + name)} type="revolute">'
            f'<parent link={quoteattr(parent)}/><child link={quoteattr(name)}/><origin xyz="0 0 0.3"/>'
            '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
        parent = name
    yield '<link name="&lt;i&gt;"><collision><geometry><box size="0.2 0.1 0.3"/></geometry></collision></link>'
    yield (
        f'<joint name="last&amp;" type="continuous"><parent link={quoteattr(parent)}/><child link="&lt;i&gt;"/>'
        '<origin xyz="0.2 0 0"/><axis xyz="1 0 0"/></joint></robot>'
    )


def repeated(saved: Saved, models: int, states: int = 0, engines: int = 0) -> Saved:
    """Return a saved check many times over.

    Args:
        saved: a check of one model, with arrays.
        models: how many of it.
        states: how many states each then has, those of `saved` again and again; 0 for as many as there are.
        engines: how many engines each then has beside the reference, those of `saved` on both paths again and again; 0
            for those that there are.
    """
    (model,) = saved.document["models"]
    count = model["states"]["count"]
    rows = np.arange(states or count) % count
    strata = model["states"]["strata"] if not states else {"zero": 1, "random": states - 1}
    order = list(range(len(model["engines"])))
    if engines:
        order = [0] + [1 + n % (len(order) - 1) for n in range(2 * engines)]
    results = [model["engines"][0]]
    results += [model["engines"][k] | {"engine": f"engine {n // 2}"} for n, k in enumerate(order[1:])]
    arrays: dict[str, np.ndarray] = {}
    for key, array in (saved.arrays or {}).items():
        part = key.partition("/")[2]
        for new, old in enumerate(order):
            if part.startswith(f"e{old}/"):
                name = f"e{new}/{part.partition('/')[2]}"
                arrays[name] = array if part.endswith("mass_matrix_error") else array[rows]
        if not part.startswith("e"):
            arrays[part] = array[rows]
    made = model | {"engines": results, "states": model["states"] | {"count": len(rows), "strata": strata}}
    copies = [made | {"file": f"robots/{n}.urdf"} for n in range(models)]
    document = {**saved.document, "models": copies}
    return Saved(document, {f"m{n}/{key}": array for n in range(models) for key, array in arrays.items()})


def long_run(saved: Saved) -> Saved:
    """Return 10 models with 1,000 states each."""
    return repeated(saved, 10, 1000)
