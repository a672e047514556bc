"""What a report does not claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

STATES: Final = (
    "What was computed was compared at the frozen states of this report; between them nothing was asked. Parameters "
    "that can be read back were compared whatever the state."
)
SMOOTH: Final = (
    "Only the smooth dynamics of the open tree were compared: no contact, no limits of joints, no actuators, no "
    "integration over time, no collision shapes, no visuals."
)
BESIDE: Final = (
    "Damping, dry friction, springs, gravity compensation and fluid forces are in none of the compared quantities; "
    "where they differ, it is a finding."
)
WORST: Final = "Digits of agreement are those of the worst state and the worst entry; most are better."
OF_FILE: Final = (
    "Which answer describes the machine on the bench is not decided here: expected is what the file says, not what was "
    "measured."
)
OF_PAIR: Final = (
    "Which of the two files describes the machine on the bench is not decided here: A is only the one that was named "
    "first."
)
OTHER_CALLS: Final = (
    "That an engine agrees says nothing of calls that were not made, of other versions, or of other options of its "
    "compiler."
)
NO_ENGINE: Final = "No engine was asked: both files were computed with the reference."
OPENED: Final = "Loops and mimic joints were opened: the relations that were left out are named with the model."
MJCF: Final = "The tree of an MJCF is MuJoCo's own reading of it; only the lines are the file's."
LOST: Final = "What the file says and no tree holds is left out of every answer; it is listed under losses."


def claims(document: Mapping[str, Any]) -> list[str]:
    """Return in sentences where the verdict of a document ends."""
    models = document["models"]
    said = [STATES, SMOOTH, BESIDE, WORST]
    said += [OF_PAIR, NO_ENGINE] if document["command"] == "diff" else [OF_FILE, OTHER_CALLS]
    if any(model["closures"] for model in models):
        said.append(OPENED)
    if any(model["format"] == "mjcf" for model in models):
        said.append(MJCF)
    if any(loss["touches_dynamics"] for model in models for loss in model["losses"]):
        said.append(LOST)
    return said
