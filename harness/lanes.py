"""Jobs of engines: each engine that has a process of its own works beside the others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .bench import Bench

T = TypeVar("T")


def asked_all(jobs: Sequence[tuple[Bench, str]], ask: Callable[[Bench, str], T]) -> list[T]:
    """Return what every job answers, in order.

    Args:
        jobs: an engine and a path each; those of one process wait for each other.
        ask: does one job, in any thread.
    """
    answers: dict[int, T] = {}

    def work(lane: Sequence[int]) -> None:
        for k in lane:
            answers[k] = ask(*jobs[k])

    lanes: dict[int, list[int]] = {}
    for k, (b, _) in enumerate(jobs):
        lanes.setdefault(id(b.worker) if b.worker else 0, []).append(k)
    here = lanes.pop(0, [])
    if not lanes:
        work(here)
    else:
        with ThreadPoolExecutor(len(lanes)) as threads:
            others = [threads.submit(work, lane) for lane in lanes.values()]
            try:
                work(here)
                for other in others:
                    other.result()
            except BaseException:
                for b, _ in jobs:
                    if b.worker:
                        b.worker.kill()  # whoever waits for it is told that it has ended
                raise
    return [answers[k] for k in range(len(jobs))]
