"""The command that explains: a kind of finding, or a topic in numbers on a robot."""

# ruff: noqa: TC001  typer reads the annotations when a command is made
from __future__ import annotations

import json as jsons
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_options import Base, Html, InProcess, Json, Memory, Seed, Timeout
from .cli_output import destinations, draw, sentences, write_out, writing
from .errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .explain.topics import Topic
    from .kinds import KindText
    from .request import Request

Word = Annotated[
    str | None,
    typer.Argument(
        metavar="WORD",
        help="A topic (apis, columns, ...), or a kind of finding as reports name it, or its beginning.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="URDF or MJCF file that a topic is shown on; without, a bundled robot.",
        show_default=False,
    ),
]


def explain(
    word: Word = None,
    model: Model = None,
    *,
    every: Annotated[bool, typer.Option("--list", help="List all topics and kinds; so does no WORD at all.")] = False,
    base: Base = "auto",
    seed: Seed = 0,
    html: Html = None,
    json: Json = None,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    in_process: InProcess = False,
) -> None:
    """Explain a topic in numbers computed on the spot, or what a kind of finding means and what to do."""
    with sentences():
        from .explain.topics import TOPICS, unknown  # noqa: PLC0415
        from .kinds import text, texts  # noqa: PLC0415
        from .request import Request  # noqa: PLC0415

        if word is not None and not every and word.lower() in TOPICS:
            request = Request(base=base, seed=seed, timeout=timeout, memory=memory, in_process=in_process)
            _topic(word.lower(), model, request, html, json)
            return
        known = texts()
        if word is not None and "." not in word and not any(word and kind.startswith(word.lower()) for kind in known):
            raise unknown(word)
        one = None if word is None else text(word)
        if given := [f"{name}" for name, value in (("MODEL", model), ("--html", html), ("--json", json)) if value]:
            raise RequestError(f"{', '.join(given)} goes with a topic: {', '.join(TOPICS)}")
        _kinds(one, known, TOPICS, every=every)


def _topic(word: str, model: str | None, request: Request, html: object, json: str | None) -> None:
    """Compute a topic and write it where it is wanted."""
    from pathlib import Path  # noqa: PLC0415

    from .explain.topics import explain as explained  # noqa: PLC0415
    from .replace import replacing  # noqa: PLC0415

    page = html if isinstance(html, Path) else None
    outputs = destinations(json, reports={"html": page}, read=[model] if model else [])
    found = explained(word, model, request.base, request.seed, request.limits)
    text = jsons.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n"
    if json == "-":
        write_out(text)
    else:
        from ..reports.explained import explanation  # noqa: PLC0415

        draw(lambda console: explanation(found, console))
    with writing():
        if outputs.json:
            with replacing(outputs.json) as beside:
                beside.write_text(text, encoding="utf-8")
        if page:
            from ..reports.page.explained import explained_page  # noqa: PLC0415

            with replacing(page) as beside:
                beside.write_text(explained_page(found), encoding="utf-8", newline="\n")


def _kinds(one: KindText | None, known: Mapping[str, KindText], topics: Mapping[str, Topic], *, every: bool) -> None:
    """Print one kind, or all topics and kinds."""
    from ..reports.explained import topic_list  # noqa: PLC0415
    from ..reports.kinds import kind_list, kind_text  # noqa: PLC0415

    if one is not None and not every:
        draw(lambda console: kind_text(one, console))
        return
    draw(lambda console: topic_list(topics.values(), console))
    draw(lambda console: kind_list(known.values(), console))
