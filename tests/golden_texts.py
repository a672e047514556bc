"""Reports of the results of `sample_documents.GOLDEN`, as texts that were read and found right.

After a change that is meant: `python tests/golden_texts.py` writes them anew; read what `git diff` says of them.
"""

from __future__ import annotations

import json
from pathlib import Path

from sample_documents import DOCUMENTS, GOLDEN

from tautology.reports.junit import junit
from tautology.reports.markdown import markdown
from tautology.reports.sarif import sarif

FOLDER = Path(__file__).parent / "golden"


def findings_alone(text: str) -> str:
    """Return SARIF without its rules, which are the same for every result."""
    log = json.loads(text)
    for run in log["runs"]:
        del run["tool"]["driver"]["rules"]
        for made in run["results"]:
            del made["ruleIndex"]
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def texts() -> dict[str, str]:
    """Return every text by the name of its file."""
    made: dict[str, str] = {}
    for name, document in GOLDEN.items():
        saved = DOCUMENTS[document]
        made[f"{name}.md"] = markdown(saved)
        made[f"{name}.xml"] = junit(saved)
        made[f"{name}.sarif"] = findings_alone(sarif(saved))
    return made


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
