"""Settings of the whole suite."""

from __future__ import annotations

import os

from hypothesis import settings

# A landing must not depend on the luck of a draw: CI draws the same examples every time, everybody else new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
