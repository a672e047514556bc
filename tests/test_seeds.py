"""The table of statements names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_test_that_the_table_names_is_there() -> None:
    """`test_file.py::test_name`, or `::test_name` of the file before it."""
    lines = [
        line for line in (HERE.parent / "docs/seeds.md").read_text(encoding="utf-8").splitlines() if "test_" in line
    ]
    assert len(lines) > 40
    missing: list[str] = []
    for line in lines:
        file = ""
        for found in re.finditer(r"(test_\w+\.py)?(?:::(test_\w+))?", line):
            file = found[1] or file
            if not found[0]:
                continue
            text = (HERE / file).read_text(encoding="utf-8") if (HERE / file).is_file() else ""
            if not text or (found[2] and f"def {found[2]}" not in text):
                missing.append(found[0])
    assert missing == []
