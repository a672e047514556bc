"""Which engines tests ask: those of every installation by name, others only where they are installed."""

from __future__ import annotations

import pytest

from tautology.harness import registry

CORE = ("pinocchio", "mujoco")
"""Engines of an installation without extras: a test whose outcome depends on who answers names these."""

ASK_CORE = tuple(word for name in CORE for word in ("--engine", name))
"""The same at a prompt."""


def needs(*names: str) -> pytest.MarkDecorator:
    """Return the mark for the `pytestmark` of a module whose tests need these engines."""
    absent = [registry.card_of(name) for name in names if registry.version(registry.card_of(name)) is None]
    lines = "; ".join(f"{card.name} is not installed: {card.install}" for card in absent)
    return pytest.mark.skipif(bool(absent), reason=lines or "all are here")
