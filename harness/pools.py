"""Where the models of a sweep are checked: processes of this machine, or those of a dask cluster."""

from __future__ import annotations

import ctypes
import signal
import sys
from typing import TYPE_CHECKING, Any, Final

from .errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

PR_SET_PDEATHSIG: Final = 1  # of prctl(2)
IDLE: Final = 600  # [s]
RETRIES: Final = 2  # of a model whose worker was killed under it, which a cluster counts by itself


def processes(jobs: int) -> Callable[[], Executor]:
    """Return what makes a pool of processes on this machine, anew when some were killed."""

    def pool() -> Executor:
        from loky import get_reusable_executor  # noqa: PLC0415

        # A process that has nothing to do for a while is given up, and with it the engines that it has loaded.
        return get_reusable_executor(max_workers=jobs, timeout=IDLE, kill_workers=True, initializer=_settle)

    return pool


def cluster(address: str) -> tuple[Callable[[], Executor], int]:
    """Return what makes an executor of a dask cluster, and how many threads it has.

    Raises:
        RequestError: dask is not installed, or nobody answers there.
    """
    try:
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise RequestError("--dask needs dask.distributed; install it with: pip install 'tautology[dask]'") from None
    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise RequestError(f"no dask scheduler answers at {address}: {error}") from None
    threads = sum(client.nthreads().values())
    if not threads:
        raise RequestError(f"the dask scheduler at {address} has no workers")

    def pool() -> Executor:
        return client.get_executor(pure=False, retries=RETRIES)

    return pool, threads


def _settle() -> None:
    """Make a process of the pool end with the one that started it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end(executor: Executor) -> None:
    """End an executor at once, whatever it works on."""
    try:
        executor.shutdown(wait=False, kill_workers=True)  # pyright: ignore[reportCallIssue]  loky's
    except TypeError:
        executor.shutdown(wait=False, cancel_futures=True)
