"""Environments that hold one version of one engine, made once by uv and kept in the user's cache."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from . import registry
from .errors import EngineAbsent, RequestError

if TYPE_CHECKING:
    from collections.abc import Generator

READY: Final = "tautology-ready"  # a file in an environment that is whole; it says which program made it
AFTER: Final = dt.timedelta(days=14)  # what a version was uploaded with was there by then
PYTHONS: Final = ("3.11", "3.12", "3.13")
SECONDS: Final = 900.0


def cache() -> Path:
    """Return the folder of all environments."""
    base = os.environ.get("TAUTOLOGY_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tautology" / "environments"


def python_of(engine: str, version: str) -> str:
    """Return the interpreter that has this version of an engine; its environment is made when it is not there.

    Raises:
        EngineAbsent: no such version can be had; with the words of uv, or of the loader.
        RequestError: there is no uv, or the cache cannot be written.
    """
    distribution = registry.card_of(engine).distribution
    home = cache() / f"{engine}-{version}"
    with _locked(home):
        if not (home / READY).is_file():
            _make(home, f"{distribution}=={version}", registry.card_of(engine).imports or engine)
    return str(home / "bin" / "python")


def versions_between(engine: str, first: str, last: str) -> list[str]:
    """Return the versions of an engine from `first` to `last`, ascending, that have wheels for our Python.

    An index that is asked for the newest version below another one names them all, one after the other.

    Raises:
        RequestError: there is none, or no uv; with the words of uv.
    """
    distribution = registry.card_of(engine).distribution
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = ("pip", "compile", "-", "--no-deps", "--no-header", "--no-annotate", "--quiet", "--python-version", own)
    found: list[str] = []
    below = f"<={last}"
    while True:
        asked = _uv(*command, "--only-binary", ":all:", text=f"{distribution}{below},>={first}")
        if asked.returncode and not found:
            raise RequestError(f"no version of {engine} from {first} to {last} can be had: {_last(asked.stderr)}")
        if asked.returncode:
            return found[::-1]
        found.append(asked.stdout.strip().rpartition("==")[2])
        below = f"<{found[-1]}"


def _make(home: Path, wanted: str, module: str) -> None:
    """Make an environment; one that is left half-made is made anew.

    An engine that does not import beside the newest of what it needs gets what there was when it was uploaded.
    """
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    words = ""
    for python in dict.fromkeys((own, *PYTHONS)):
        found, said = _resolved(home, wanted, module, sys.executable if python == own else python)
        if found and said:
            found, said = _resolved(home, wanted, module, home / "bin" / "python", _date_of(wanted, python))
        if found and not said:
            (home / READY).write_text(f"{wanted}, Python {python}\n")
            return
        words = said if found else words or said
    shutil.rmtree(home, ignore_errors=True)
    raise EngineAbsent(f"{wanted} cannot be had: {words}")


def _resolved(home: Path, wanted: str, module: str, python: str | Path, newest: str = "") -> tuple[bool, str]:
    """Install a version into a new environment.

    Args:
        home: of the environment.
        wanted: what to install.
        module: to import then.
        python: an interpreter, or its version.
        newest: a day after which nothing may have been uploaded; "" for today.

    Returns:
        Whether it could be installed, and why that or the import failed, or "".
    """
    if not newest:
        shutil.rmtree(home, ignore_errors=True)
        made = _uv("venv", "--no-project", "--python", str(python), str(home))
        if made.returncode:
            return False, _last(made.stderr)
    target = ("--python", str(home / "bin" / "python"))
    before = ("--exclude-newer", newest, "--reinstall") if newest else ()
    made = _uv("pip", "install", "--only-binary", ":all:", *target, *before, wanted, "numpy")
    if made.returncode:
        return False, _last(made.stderr)
    tried = _run([str(home / "bin" / "python"), "-c", f"import numpy, {module}"])
    return True, _last(tried.stderr) if tried.returncode else ""


def _date_of(wanted: str, python: str) -> str:
    """Return a day shortly after this version was uploaded, as far as the index tells, else an empty string.

    An index that is asked for what was there at some day has the version from its day on: halving finds that day.
    """
    first, last = dt.date(2015, 1, 1), dt.datetime.now(dt.UTC).date()

    def there(day: dt.date) -> bool:
        command = ("pip", "compile", "-", "--no-deps", "--no-header", "--quiet", "--python-version", python)
        return not _uv(*command, "--exclude-newer", day.isoformat(), text=wanted).returncode

    if not there(last) or there(first):
        return ""
    while (last - first).days > 1:
        middle = first + (last - first) / 2
        first, last = (first, middle) if there(middle) else (middle, last)
    return (last + AFTER).isoformat()


def _uv(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return _run([uv(), *arguments], text)


def uv() -> str:
    """Return the program that makes environments.

    Raises:
        RequestError: it is not here.
    """
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise RequestError("versions side by side need uv; install it with: pip install 'tautology[versions]'")
    return found


def _run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  uv, or an interpreter that it made
        command,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, "UV_NO_PROGRESS": "1", "NO_COLOR": "1"},
    )


def _last(text: str) -> str:
    """Return what an error says at its end, in one line."""
    lines = [line.strip(" │╰─▶├→\u00d7") for line in text.strip().splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("Using Python")]
    return " ".join(told[-4:])


@contextmanager
def _locked(home: Path) -> Generator[None]:
    """Keep others from making the same environment at the same time.

    Raises:
        RequestError: nothing can be written there.
    """
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        lock = home.with_name(f".{home.name}.lock").open("w")
    except OSError as error:
        raise RequestError(f"cannot write {home.parent}: {error.strerror}; set TAUTOLOGY_CACHE") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
