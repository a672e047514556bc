"""Tests of an engine that may be absent: they are skipped then, with the line that installs it."""

from __future__ import annotations

import pytest

from tautology.harness import registry


def needs(*names: str) -> pytest.MarkDecorator:
    """Return the mark for the `pytestmark` of a module whose tests need these engines."""
    absent = [registry.card_of(name) for name in names if registry.version(registry.card_of(name)) is None]
    lines = "; ".join(f"{card.name} is not installed: {card.install}" for card in absent)
    return pytest.mark.skipif(bool(absent), reason=lines or "all are here")
