"""An installation without extras: distributions in TAUTOLOGY_HIDDEN are not there, for a process with this path."""

import importlib.metadata
import os

HIDDEN = os.environ["TAUTOLOGY_HIDDEN"].split()
real = importlib.metadata.version


def version(distribution_name):
    """Return the version of a distribution that is not hidden."""
    if distribution_name in HIDDEN:
        raise importlib.metadata.PackageNotFoundError(distribution_name)
    return real(distribution_name)


importlib.metadata.version = version
