"""Results as files: JSON, CSV and every report, whole or not at all."""

from __future__ import annotations

import json
import secrets
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..harness.replace import is_device, replacing
from ..harness.saved import Saved, files_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd


class Answer(Protocol):
    """A result of any command, as far as it is written to files."""

    @property
    def arrays(self) -> Mapping[str, Any]:
        """What was found of every state, by key."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document as plain Python."""
        ...

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables by name."""
        ...


# Report to the function that makes its text; a report is loaded when it is asked for.
REPORTS: Final[Mapping[str, tuple[str, str]]] = {
    "html": (".page", "html"),
    "markdown": (".markdown", "markdown"),
    "junit": (".junit", "junit"),
    "sarif": (".sarif", "sarif"),
}
FRAMES: Final = "frames"  # a folder of tables in Parquet
DRAWS_STATES: Final = ("html", FRAMES)  # reports that show what was found of every state


def made(report: str, saved: Saved) -> str:
    """Return the text of a report, the same for the same result, whenever it is made."""
    module, function = REPORTS[report]
    return getattr(import_module(module, __package__), function)(saved)


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a result is to go.

    Attributes:
        json: file of the JSON document; arrays go beside it, into a file that ends in .arrays.npz. To a device or a
            pipe the document goes without arrays.
        csv: folder of one CSV file per frame: models, lint, quantities, identities, findings, losses. Lists, such as
            dofs or the numbers of a finding, stand as JSON in their cell.
        states: file of the frozen states.
        reports: report, a key of `REPORTS` or `FRAMES`, to its file or folder.
        per_dof: whether tables of answers in Parquet have a row per dof, not the worst of each state.
    """

    json: Path | None = None
    csv: Path | None = None
    states: Path | None = None
    reports: Mapping[str, Path] = field(default_factory=dict[str, "Path"])
    per_dof: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is written; none of them may be one that is read, or another of them."""
        beside = (arrays_file(self.json),) if self.json and not is_device(self.json) else ()
        texts = [path for report, path in self.reports.items() if report != FRAMES]
        return tuple(path for path in (self.json, *beside, self.states, *texts) if path)

    @property
    def draws_states(self) -> bool:
        """Whether something that is written shows what was found of every state."""
        return self.json is not None or any(report in self.reports for report in DRAWS_STATES)

    def require(self) -> None:
        """Try whether everything can be written, and leave no trace.

        Raises:
            OSError: something cannot; the error names it.
            HarnessError: a package is missing.
        """
        for path in self.files:
            _try(path, path)
        for folder in (self.csv, self.reports.get(FRAMES)):
            if folder:
                there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
                _try(there / f"{secrets.token_hex(6)}.csv", folder)
        if FRAMES in self.reports:
            from .parquet import require_parquet  # noqa: PLC0415

            require_parquet()

    def write(self, result: Answer) -> None:
        """Write document, tables and reports; of the tables all or none.

        Raises:
            OSError: a file cannot be written.
        """
        if self.json:
            beside_it = "" if is_device(self.json) else arrays_file(self.json).name
            text, arrays = files_of(result, beside_it)
            if arrays:
                with replacing(arrays_file(self.json)) as beside:
                    beside.write_bytes(arrays)
            with replacing(self.json) as beside:
                beside.write_text(text, encoding="utf-8")
        if self.reports or self.csv:
            self.write_reports(Saved.of(result))

    def write_reports(self, saved: Saved) -> None:
        """Write the reports of a result.

        Raises:
            OSError: a file cannot be written.
        """
        if self.csv:
            _write_csv(saved, self.csv)
        for report, path in self.reports.items():
            if report == FRAMES:
                from .parquet import write_frames  # noqa: PLC0415

                write_frames(saved, path, per_dof=self.per_dof)
                continue
            with replacing(path) as beside:
                beside.write_text(made(report, saved), encoding="utf-8", newline="\n")


def _write_csv(saved: Saved, folder: Path) -> None:
    """Write one file per table, all or none."""
    from .revived import check_result, diff_result  # noqa: PLC0415

    document = saved.document
    result = check_result(document) if document["command"] == "check" else diff_result(document)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name, frame in result.frames().items():
            beside = stack.enter_context(replacing(folder / f"{name}.csv"))
            frame.map(_cell).to_csv(beside, index=False, encoding="utf-8", lineterminator="\n")


def arrays_file(json: Path) -> Path:
    """Return the file of arrays that goes beside a document: r.arrays.npz beside r.json."""
    stem = json.name.removesuffix(".json")
    return json.parent / f"{stem}.arrays.npz"


class _Tried(Exception):
    """Ends a trial before anything is replaced."""


def _try(path: Path, named: Path) -> None:
    """Try whether `path` can be written; the OSError of a failure names `named`."""
    try:
        with suppress(_Tried), replacing(path):
            raise _Tried
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(named)) from error


def _cell(item: Any) -> Any:
    if hasattr(item, "tolist"):
        item = item.tolist()
    return json.dumps(item, ensure_ascii=False) if isinstance(item, (list, tuple, dict)) else item
