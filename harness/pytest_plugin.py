"""The pytest plugin: an option and a fixture. Every start of pytest loads it, so all else is loaded when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from .results import Result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names models."""
    parser.getgroup("tautology", "robot models in several physics engines").addoption(
        "--tautology-model",
        action="append",
        default=[],
        metavar="FILE",
        help="check this URDF or MJCF file, or what fits this pattern, instead of the models that the configuration "
        "lists; repeatable",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take part when models are named, by the option or by the configuration of the root folder.

    Raises:
        UsageError: there is no such model, or the configuration is wrong.
    """
    if config.getoption("tautology_model") or _configured(config):
        from .pytest_items import Models  # noqa: PLC0415

        config.pluginmanager.register(Models.of(config), "tautology-models")


def _configured(config: pytest.Config) -> bool:
    """Return whether the root folder may have a word for us; TOML is read later."""
    own, shared = config.rootpath / "tautology.toml", config.rootpath / "pyproject.toml"
    return own.is_file() or (shared.is_file() and b"tool.tautology" in shared.read_bytes())


@pytest.fixture
def tautology_check(pytestconfig: pytest.Config) -> Callable[..., Result]:
    """Return a function (model, *, fail=True, **request) that checks a model as `tautology.check` does.

    The configuration says what `request` does not, and which differences are known. The test fails with the findings,
    unless `fail=False`; the Result is returned.
    """

    def check(model: Any, *, fail: bool = True, **request: Any) -> Result:
        __tracebackhide__ = True
        from .pytest_check import checked, failure  # noqa: PLC0415

        result = checked(model, pytestconfig.rootpath, request)
        if fail and result.exit:
            pytest.fail(failure(result), pytrace=False)
        return result

    return check
