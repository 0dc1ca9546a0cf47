"""What a process of a recording tells the one that started it: one line of JSON each, on stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from skyloop_client.errors import SkyloopError


def tell(**what: Any) -> None:
    """Print a line for the parent process. If the parent is gone, this process ends."""
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)


def run_reporting(work: Callable[[], None]) -> None:
    """Do the work of a process. A known error is told, and ends it."""
    try:
        work()
    except SkyloopError as error:
        tell(error=str(error))
        sys.exit(1)
