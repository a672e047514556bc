"""Print the lower bounds of pyproject.toml as constraints for pip: `numpy>=2.0` becomes `numpy==2.0`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

document = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
project = document["project"]
for requirement in (*project["dependencies"], *project["optional-dependencies"]["test"]):
    bound = re.match(r"([\w.-]+)\s*>=\s*([\w.]+)", requirement)
    if bound is None:
        raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound; write NAME>=VERSION")
    print(f"{bound[1]}=={bound[2]}")
