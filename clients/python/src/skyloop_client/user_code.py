"""Calls code that may be the user's own. Any error becomes one line with file and line number."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop_client.errors import PartError, SkyloopError
from skyloop_client.streams import NS_PER_S

OURS = ("skyloop", "skyloop_client")
"""Our own packages, where a user need not look for a mistake."""


def call_user_code(place: str, t_ns: int, question: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call of the user's code. Any error becomes one line."""
    try:
        return question(*arguments)
    except SkyloopError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise PartError(f"{place} at {t_ns / NS_PER_S:.3f} s: {what}{_line_of(error)}") from error


def _line_of(error: Exception) -> str:
    """The place in the user's file. Empty if the call itself did not fit."""
    walked = list(traceback.walk_tb(error.__traceback__))[1:]
    frames = [(str(frame.f_globals.get("__name__")), frame.f_code.co_filename, line) for frame, line in walked]
    theirs = [(file, line) for module, file, line in frames if module.partition(".")[0] not in OURS]
    # libraries that it calls are not the place to look
    theirs = [(file, line) for file, line in theirs if file == theirs[0][0]]
    last = (theirs or [(file, line) for _, file, line in frames])[-1:]
    return "".join(f" ({Path(file).name}, line {line})" for file, line in last)
