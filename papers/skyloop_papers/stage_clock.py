"""Where the processor time of a flight goes: the time of calls by stage, of the process that flies."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

SPENT: defaultdict[str, float] = defaultdict(float)
"""s of processor time by stage, of the flight of this process."""


def clocked(stage: str, call: Callable[..., Any], *arguments: Any) -> Any:
    began = time.thread_time()
    try:
        return call(*arguments)
    finally:
        SPENT[stage] += time.thread_time() - began


def ended_children_s() -> float:
    """s of processor time of all child processes that have ended, such as renderers."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
