"""Models as test items: a file per model, an item per engine, path and check, all known before any is opened."""

from __future__ import annotations

import glob
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from . import registry
from .errors import HarnessError, internal
from .request import PATHS
from .results import IDENTITIES, QUANTITIES
from .settings import Settings, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ..reports.cases import Case
    from .results import ModelResult

# Above so many joints the identities of a model take longer than half a second, twice as long as all else together.
LARGE: Final = 20
WIDTH: Final = 80
JOINT: Final = re.compile(rb"<(?:joint|freejoint)\b")
MARKERS: Final = (
    "interop: a check of a robot model in a physics engine, by tautology",
    "slow: takes long, such as the identities of a large robot",
)


@dataclass(eq=False)
class Models:
    """The plugin while models are named.

    Attributes:
        project: its settings.
        named: the models, by their real paths; whatever names them, each stands here once.
        asked: whether they were named on the command line, and not by the configuration alone.
    """

    project: Settings
    named: dict[Path, Path]
    asked: bool

    @classmethod
    def of(cls, config: pytest.Config) -> Models:
        """Return the plugin of a run.

        Raises:
            UsageError: there is no such model, or the configuration is wrong.
        """
        for marker in MARKERS:
            config.addinivalue_line("markers", marker)
        patterns: list[str] = config.getoption("tautology_model") or []
        try:
            project = settings(config.rootpath)
            for term in project.request.get("engines", ()):
                registry.card_of(re.split("==|@", term, maxsplit=1)[0])
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from error
        folder = config.invocation_params.dir if patterns else Path(project.file).parent
        return cls(project, dict(_found(patterns or project.models, folder)), bool(patterns))

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> ModelFile | None:
        """Collect a model where pytest walks past it, or is told its name."""
        return ModelFile.from_parent(parent, path=file_path) if file_path.resolve() in self.named else None

    @pytest.hookimpl(wrapper=True)  # before -k and -m take their share
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Add the models that lie elsewhere; of the configuration's only in a run of everything."""
        if self.asked or config.args_source is not pytest.Config.ArgsSource.ARGS:
            # Not what was walked past: pytest opens a whole folder to find one file in it.
            there = {item.path.resolve() for item in items if isinstance(item, CheckItem)}
            for real, path in self.named.items():
                if real not in there:
                    items += ModelFile.from_parent(session, path=path).collect()
        yield

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell every model which of its items are left, so that it asks no more than they need."""
        for item in session.items:
            if isinstance(item, CheckItem):
                item.model.left.add(item.case)

    @pytest.hookimpl(tryfirst=True)  # before marks are read
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Mark an item that has nothing to check with the reason."""
        if isinstance(item, CheckItem):
            outcome = item.outcome()
            if outcome.skip:
                item.add_marker(pytest.mark.skip(reason=outcome.words))


def _found(patterns: Sequence[str], folder: Path) -> Iterator[tuple[Path, Path]]:
    """Give the files that patterns stand for, sorted within each: every worker must find the same in the same order."""
    for pattern in patterns:
        files = [folder / pattern] if (folder / pattern).is_file() else None
        files = files or [Path(file) for file in sorted(glob.glob(str(folder / pattern), recursive=True))]  # noqa: PTH207
        files = [file for file in files if file.is_file()]
        if not files:
            raise pytest.UsageError(f"tautology: there is no model {pattern!r} in {folder}")
        yield from ((file.resolve(), file) for file in files)


@dataclass(frozen=True, slots=True)
class CaseName:
    """What an item checks: one case of `reports.cases`, of one engine on one path."""

    term: str
    path: str
    case: str

    @property
    def label(self) -> str:
        """The name of the item, of which `-k` takes any part."""
        return f"{self.term}-{self.path}-{self.case.removeprefix('quantity ').replace(' ', '-')}"

    @property
    def identity(self) -> bool:
        """Whether it is an identity inside the engine."""
        return self.case.startswith("identity ")


CASES: Final = (
    "load",
    "same robot",
    *(f"quantity {name}" for name in QUANTITIES),
    *(f"identity {name}" for name in IDENTITIES),
)


class ModelFile(pytest.File):
    """A model, which is checked once, when its first item runs.

    Attributes:
        left: the cases that were not deselected.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.left: set[CaseName] = set()
        self._answer: ModelResult | str | None = None

    @property
    def project(self) -> Settings:
        """The settings of the run."""
        plugin = self.config.pluginmanager.get_plugin("tautology-models")
        assert isinstance(plugin, Models)  # noqa: S101  it made us
        return plugin.project

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Term and path of every engine that is asked, in the order in which results come."""
        installed = [name for name, version in registry.engines().items() if version is not None]
        wanted = self.project.request.get("path", "both")
        paths = PATHS if wanted == "both" else (wanted,)
        terms = [term for term in dict.fromkeys(self.project.request.get("engines", installed)) if term != "reference"]
        return [("reference", "neutral"), *((term, path) for term in terms for path in paths)]

    def collect(self) -> list[CheckItem]:
        """Return an item per engine, path and check, without opening the model."""
        large = len(JOINT.findall(self.path.read_bytes())) > LARGE
        return [self._item(CaseName(*engine, case), slow=large) for engine in self.asked for case in CASES]

    def _item(self, name: CaseName, *, slow: bool) -> CheckItem:
        item = CheckItem.from_parent(self, name=name.label, case=name)
        item.add_marker("interop")
        if slow and name.identity:
            item.add_marker("slow")
        return item

    def answer(self) -> ModelResult | str:
        """Return what the engines said, computed once; or the sentence on why the model cannot be used."""
        if self._answer is None:
            from .pytest_check import check_under  # noqa: PLC0415

            identities, here = any(name.identity for name in self.left), Path.cwd()
            file = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path  # as messages show it
            try:
                self._answer = check_under(self.project, file, identities=identities).models[0]
            except HarnessError as error:
                self._answer = str(error)
            except Exception as error:  # noqa: BLE001  a fault of our own fails the items of this model, not the run
                self._answer = internal(error)
        return self._answer


class _Failed(Exception):
    """A check that failed; the message is for the person who runs the tests."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a check ended: well where there are no words."""

    words: str = ""
    skip: bool = False


def _judged(case: Case, reason: Case | None) -> Outcome:
    """Return what a case amounts to, the finding first: summaries show the beginning."""
    if case.outcome is None:
        return Outcome()
    if case.outcome == "skipped":
        return Outcome(case.message, skip=True)
    told = [reason.text] if reason is not None and reason is not case and reason.outcome == "failure" else []
    return Outcome("\n".join([*told, _said(case)]))


class CheckItem(pytest.Item):
    """One check of one engine on one path."""

    def __init__(self, case: CaseName, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.case = case

    @property
    def model(self) -> ModelFile:
        """The model that is checked."""
        assert isinstance(self.parent, ModelFile)  # noqa: S101  which made us
        return self.parent

    def outcome(self) -> Outcome:
        """Return how this check ended; the first item of a model asks the engines."""
        answer = self.model.answer()
        if isinstance(answer, str):
            return self._without(answer, CaseName(*self.model.asked[0], "load"))
        from ..reports.cases import engine_cases  # noqa: PLC0415

        engines = dict(zip(self.model.asked, answer.engines, strict=True))
        cases = {case.name: case for case in engine_cases(engines[self.case.term, self.case.path], answer)}
        load = cases["load"]
        if self.case.case in cases:
            return _judged(cases[self.case.case], cases.get("same robot"))
        if load.outcome in ("failure", "error"):
            return self._without(_said(load), CaseName(self.case.term, self.case.path, "load"))
        return Outcome(load.message or "this robot has nothing of the kind", skip=True)

    def _without(self, words: str, teller: CaseName) -> Outcome:
        """Fail where nobody else would tell; else skip, so that one fault is one failure."""
        if self.case == teller or teller not in self.model.left:
            return Outcome(words)
        return Outcome(f"not asked: {teller.label} says why", skip=True)

    def runtest(self) -> None:
        """Fail with what was found."""
        outcome = self.outcome()
        if outcome.words:
            raise _Failed(outcome.words)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone: the traceback would be our own."""
        if isinstance(excinfo.value, _Failed):
            return "\n".join(
                part
                for line in str(excinfo.value).splitlines()
                for part in textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) or [line]
            )
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the place and the heading of the report."""
        return self.path, 0, f"{self.path.name}: {self.case.term}, {self.case.path} path, {self.case.case}"


def _said(case: Case) -> str:
    """Return the message of a case with the lines that it does not hold yet."""
    lines = [line for line in case.text.splitlines() if line and line not in case.message]
    return "\n".join([case.message, *lines])
