"""A check of many models: in parallel, a line of JSON per finished model, and nothing lost when it is killed.

A folder holds a sweep: `sweep.json` says what is asked and of which versions, `results.jsonl` has one document of
`check` per model, appended when the model is finished. Started again, the sweep asks what is not there yet.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .errors import RequestError
from .pools import end
from .replace import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .request import Request

AHEAD: Final = 4  # models that wait per process: results come back in order of their end, and memory stays small
ATTEMPTS: Final = 2  # for a model whose process was killed under it
FIELDS: Final = ("engines", "path", "base", "states", "seed", "tolerance", "timeout", "memory", "in_process")


@dataclass(frozen=True)
class Sweep:
    """A folder with the results of a sweep.

    Attributes:
        folder: of the files.
        request: what is asked of every model.
        versions: of everything that an answer depends on.
    """

    folder: Path
    request: Request
    versions: Mapping[str, str]

    @property
    def results(self) -> Path:
        """One line of JSON per finished model."""
        return self.folder / "results.jsonl"

    def begin(self, *, restart: bool) -> dict[str, dict[str, Any]]:
        """Return what earlier runs have finished, by file; a line that a kill cut off is taken away.

        Raises:
            RequestError: the folder holds a sweep that asked something else.
            OSError: the folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        head = self.folder / "sweep.json"
        asked = {
            "schema": "tautology/1",
            "command": "sweep",
            "request": _plain(self.request),
            "versions": self.versions,
        }
        if restart:
            self.results.unlink(missing_ok=True)
        elif head.exists():
            _require_same(json.loads(head.read_text(encoding="utf-8")), asked, self.folder)
        with replacing(head) as beside:
            beside.write_text(json.dumps(asked, indent=2) + "\n", encoding="utf-8")
        done = dict(self.finished())
        return {file: line for file, line in done.items() if _sha256(file) == line.get("sha256")}

    def finished(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield every finished model, the last line of a file that was swept twice alone; mend the end of the file."""
        if not self.results.exists():
            return
        lines: dict[str, dict[str, Any]] = {}
        end = 0
        with self.results.open("rb") as stream:
            for text in stream:
                try:
                    line = json.loads(text)
                except ValueError:
                    break
                if not text.endswith(b"\n"):
                    break
                end += len(text)
                lines[line["file"]] = line
        if end != self.results.stat().st_size:
            os.truncate(self.results, end)
        yield from lines.items()

    def run(
        self,
        files: Sequence[str],
        pool: Callable[[], concurrent.futures.Executor],
        ahead: int,
        finished: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Check files, and write a line for each as it finishes.

        Args:
            files: that are not finished yet.
            pool: makes an executor; called again when its processes were killed.
            ahead: how many files are handed to it at a time.
            finished: called with every line.
        """
        attempts = dict.fromkeys(files, 0)
        waiting = list(reversed(files))
        with self.results.open("a", encoding="utf-8") as stream:
            while waiting:
                executor = pool()
                broken = self._round(executor, waiting, attempts, ahead, stream, finished)
                if broken is None:
                    executor.shutdown()

    def _round(
        self,
        executor: concurrent.futures.Executor,
        waiting: list[str],
        attempts: dict[str, int],
        ahead: int,
        stream: Any,
        finished: Callable[[Mapping[str, Any]], None],
    ) -> BaseException | None:
        """Work until nothing waits, or until the executor breaks; return what broke it."""
        running: dict[concurrent.futures.Future[dict[str, Any]], str] = {}
        broken: BaseException | None = None
        try:
            while running or (waiting and broken is None):
                while waiting and broken is None and len(running) < ahead:
                    file = waiting.pop()
                    try:
                        running[executor.submit(swept, file, self.request)] = file
                    except Exception as error:  # noqa: BLE001  a broken pool takes nothing more, whatever it is called
                        waiting.append(file)
                        broken = error
                ended, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in ended:
                    file = running.pop(future)
                    error = future.exception()
                    if error is None:
                        line = future.result()
                    else:
                        broken = error
                        attempts[file] += 1
                        if attempts[file] < ATTEMPTS:
                            waiting.append(file)
                            continue
                        line = _lost(file, self.versions, error)
                    stream.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
                    stream.flush()
                    os.fsync(stream.fileno())
                    finished(line)
        except BaseException:
            for future in running:
                future.cancel()
            end(executor)
            raise
        return broken


def swept(file: str, request: Request) -> dict[str, Any]:
    """Return the line of one model; run in a process of the pool, which keeps the processes of its engines.

    Args:
        file: of the model.
        request: what is asked.
    """
    from .run import check_files  # noqa: PLC0415

    sha256 = _sha256(file)
    return {"file": file, "sha256": sha256, **check_files([file], request).to_json()}


def whole(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document of `check` for all models together, as if they had been checked in one run.

    What each engine holds of each robot is in the lines, and left out here.
    """
    models = [{k: v for k, v in model.items() if k != "tree"} for line in lines for model in line["models"]]
    unusable = [row for line in lines for row in line["unusable"]]
    exits = {2} if unusable else {model["exit"] for model in models}
    versions: dict[str, str] = {}
    for line in lines:
        versions |= line["versions"]
    first = lines[0]
    return {
        "schema": first["schema"],
        "command": "check",
        "exit": 2 if 2 in exits else max(exits, default=0),
        "versions": versions,
        "models": models,
        "unusable": unusable,
        "tolerance": first["tolerance"],
        "tolerances": first["tolerances"],
    }


def _lost(file: str, versions: Mapping[str, str], error: BaseException) -> dict[str, Any]:
    """Return the line of a model under which the pool's own process was killed, twice."""
    from .results import Result, Unusable  # noqa: PLC0415

    words = f"{file}: the process that checked it was killed twice: {type(error).__name__}"
    row = Unusable(file, words, "internal", None, None)
    return {"file": file, "sha256": _sha256(file), **Result("check", versions, (), (row,)).to_json()}


def _sha256(file: str) -> str:
    """Return the hash of a file; of one that cannot be read, an empty string."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""


def _plain(request: Request) -> dict[str, Any]:
    """Return what a sweep asks, in the types of JSON."""
    asked = {name: getattr(request, name) for name in FIELDS}
    asked["engines"] = None if request.engines is None else list(request.engines)  # pyright: ignore[reportArgumentType]
    return asked


def _require_same(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Raise when a folder holds a sweep with other options or other versions."""
    for what in ("request", "versions"):
        old, new = before.get(what, {}), now[what]
        changed = [
            f"{key} {old.get(key)!r}, now {new.get(key)!r}" for key in {**old, **new} if old.get(key) != new.get(key)
        ]
        if changed:
            raise RequestError(
                f"{folder} holds a sweep of another kind ({'; '.join(islice(changed, 3))}); give another folder, or "
                "--restart to begin anew"
            )
