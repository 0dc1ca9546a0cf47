"""What is watched in flights: collisions, failures, and where the processor time goes."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from skyloop_client.messages import Event, EventKind
from skyloop_papers.runs import Run

Given = ParamSpec("Given")
Result = TypeVar("Result")
SPENT: defaultdict[str, float] = defaultdict(float)
"""s of processor time by stage, of the flight of this process."""


def clocked(stage: str, call: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    began = time.thread_time()
    try:
        return call(*given, **named)
    finally:
        SPENT[stage] += time.thread_time() - began


def ended_children_s() -> float:
    """s of processor time of all child processes that have ended, such as renderers."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_collision(events: Iterable[Event]) -> Event | None:
    """The first crash or touch of anything but level ground under its legs, on which it stands and lands."""
    for event in events:
        touched = event.contact
        stands = touched is not None and touched.part == "legs" and float(touched.normal[2]) > 0.9
        if event.kind is EventKind.CRASH or (event.kind is EventKind.CONTACT and not stands):
            return event
    return None


def succeeded(runs: Iterable[Run]) -> list[Run]:
    """A run that failed has its cause under "failed"."""
    return [run for run in runs if "failed" not in run]


def collisions(causes: Iterable[str]) -> int:
    """How many flights failed because they hit something."""
    return sum(cause.startswith(("contact", "crash")) for cause in causes)
