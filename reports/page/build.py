"""The page put together: template, style, scripts, libraries and the data of a saved result, in one text."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .data import head, model_parts
from .sentence import verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...harness.saved import Saved

HERE: Final = Path(__file__).parent
# Each script uses what stands above it.
SCRIPTS: Final = (
    *("text", "layout", "table", "chart", "findings", "engines", "held", "robot", "matrix", "torque", "states"),
    *("file", "about", "check", "pair", "main"),
)


def html(saved: Saved) -> str:
    """Return the report of a check or of a comparison of two files as one HTML document.

    It loads nothing: style, scripts, libraries and numbers are in it, and a content security policy forbids every
    request. Names out of model files are data in it, never markup.

    Args:
        saved: document and arrays; without arrays the page says which views are missing.
    """
    document = saved.document
    whole, each = verdicts(document)
    parts = [_data("head", head(saved, each))]
    if document["command"] == "check":
        parts += [_data(f"model-{i}", data) for i, data in enumerate(model_parts(saved, each))]
    style, script = _style(), _script()
    before, _, after = _template().partition("<!-- data -->")
    words = {
        "title": escape(f"{whole.status}: {whole.words}"),
        "status": escape(whole.status),
        "verdict": escape(whole.words),
        "policy": _policy(script),
        "style": style,
        "script": script,
    }
    return "".join((_filled(before, words), *parts, _filled(after, words)))


def _filled(text: str, words: Mapping[str, str]) -> str:
    """Return a template with its `<!-- word -->` replaced; what is put in is not looked at again."""
    pieces = text.split("<!-- ")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        word, _, rest = piece.partition(" -->")
        filled += [words[word], rest]
    return "".join(filled)


def _data(name: str, data: Mapping[str, Any]) -> str:
    """Return data as an element that no browser runs; nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # The three signs that a parser of HTML looks for in a script, as JSON may also write them.
    for sign, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(sign, code)
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def _policy(script: str) -> str:
    """Return the content security policy: this script and inline style, and nothing from anywhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    )


@cache
def _template() -> str:
    return _read("page.html")


@cache
def _style() -> str:
    return f"{_read('vendor/vendor.min.css')}\n{_read('page.css')}"


@cache
def _script() -> str:
    """Return the libraries and our scripts, as one program of its own scope."""
    ours = "\n".join(_read(f"script/{name}.js") for name in SCRIPTS)
    licences = _read("vendor/LICENSES.txt").replace("*/", "* /")
    return f'/*\n{licences}*/\n{_read("vendor/vendor.min.js")}\n(() => {{\n"use strict";\n{ours}}})();\n'


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
