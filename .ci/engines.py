"""Print which engines are here, and of those that are not, why: `python .ci/engines.py`.

Ends with an error when one is missing that has a wheel for this Python, as the extra `all` says.
"""

from __future__ import annotations

import sys
from importlib import metadata

from packaging.requirements import Requirement

from tautology.harness.registry import cards, version


def reason(distribution: str) -> str:
    """Return why the extra `all` leaves a distribution out on this Python, or an empty string."""
    for line in metadata.requires("tautology") or []:
        wanted = Requirement(line)
        if wanted.name == distribution and wanted.marker is not None:
            marker = str(wanted.marker).split(" and extra")[0]
            extras = {word.strip("'\" ") for word in str(wanted.marker).split("extra ==")[1:]}
            if not any(wanted.marker.evaluate({"extra": extra}) for extra in extras):
                return f"it is installed where {marker}; this is Python {sys.version.split()[0]}"
    return ""


missing = []
for name, card in cards().items():
    found = version(card)
    if found is not None:
        print(f"{name}: {card.distribution} {found}")
    elif why := reason(card.distribution):
        print(f"{name}: not here, {why}")
    else:
        missing.append(name)
        print(f"{name}: not here, and it should be: {card.install}")
sys.exit(bool(missing))
