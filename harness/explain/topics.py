"""Which topics there are, and how one is explained."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..bench import mjcf_reader
from ..errors import RequestError
from ..kinds import texts
from ..load import open_model
from ..streams import caught
from .asked import Asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..workers import Limits
    from .record import Explanation


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject that is explained in numbers.

    Attributes:
        name: the word of the command; its module beside this one has `explain(asked)`.
        question: that it answers.
        model: bundled robot that it is shown on when none is given.
    """

    name: str
    question: str
    model: str


TOPICS: Final[Mapping[str, Topic]] = {
    topic.name: topic
    for topic in (
        Topic("apis", "Which terms are in which call of which engine?", "tau_arm.urdf"),
        Topic("columns", "How do inverse dynamics at unit accelerations give the mass matrix?", "tau_arm.urdf"),
        Topic("torque", "What are the joint efforts made of?", "tau_arm.urdf"),
        Topic("recursion", "How does the recursion find the joint efforts, body by body?", "three_planar_links.urdf"),
        Topic("frames", "What are the six numbers of a floating base in each engine?", "tau_walker.urdf"),
        Topic("wrenches", "In which axes, about which point, with which sign is an external wrench?", "tau_arm.urdf"),
        Topic("energy", "Does the power of the joints become energy, does a simulation keep it?", "two_rods.urdf"),
        Topic("cost", "How many operations and how much time does each algorithm take?", "tau_arm.urdf"),
        Topic("loops", "What does a loop ask of the tree that it was cut into?", "four_bar.xml"),
    )
}


def explain(
    name: str, model: Any = None, base: str = "auto", seed: int = 0, limits: Limits | None = None
) -> Explanation:
    """Explain a topic on a robot.

    Args:
        name: a key of `TOPICS`.
        model: as for `harness.load.load`; None for the bundled one.
        base: as for `harness.load.load`.
        seed: of the states.
        limits: of the process of every engine; None to ask engines in this process, where one that crashes ends all.

    Raises:
        RequestError: no such topic, or the topic has nothing to say of this robot.
        ReadError: the file cannot be read.
    """
    if name not in TOPICS:
        raise unknown(name)
    if model is None:
        from ...models import path  # noqa: PLC0415  only where none is given

        model = path(TOPICS[name].model)
    file = os.fspath(model) if isinstance(model, os.PathLike) else model
    with np.errstate(all="ignore"), caught([]):  # engines write to the console past Python's own streams
        loaded = open_model(file, base, mjcf_reader(limits))
        asked = Asked(loaded.tree, loaded.given, seed, limits)
        found = import_module(f".{name}", __package__).explain(asked)
    engines = asked.roll.section()
    sections = found.sections if engines is None else (*found.sections, engines)
    return replace(found, sections=sections, absent=asked.absent)


def unknown(word: str) -> RequestError:
    """Return the error of a word that is neither a topic nor a kind of finding, with the nearest of both."""
    near = get_close_matches(word.lower(), [*TOPICS, *texts()], 3)
    words = " or ".join([", ".join(near[:-1]), near[-1]] if len(near) > 1 else near)
    meant = f" did you mean {words}?" if near else ""
    return RequestError(
        f"there is no topic and no kind {word!r};{meant} topics: {', '.join(TOPICS)}; "
        f"kinds of findings: {', '.join(sorted({kind.partition('.')[0] for kind in texts()}))}, in full by "
        "`tautology explain --list`"
    )
