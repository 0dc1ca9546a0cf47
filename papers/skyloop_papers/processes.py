"""Functions and code in processes of their own: peers of benches, and the two ends of a link."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from skyloop_client.errors import SetupError, SkyloopError

_RUN = """
import importlib, json, sys
from skyloop_client.errors import SkyloopError
module, name, arguments = sys.argv[1:4]
try:
    print(json.dumps(getattr(importlib.import_module(module), name)(*json.loads(arguments))))
except SkyloopError as error:
    sys.exit(str(error))
"""


@contextmanager
def child(
    function: Callable[..., object], *arguments: object, prefix: Sequence[str] = (), group: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """A call in a process of its own, which is killed at the end.

    Arguments and result are JSON; the result is the last line of its output. prefix: of its command. group: what it has
    started belongs to its process group and ends with it."""
    command = [*prefix, sys.executable, "-c", _RUN, function.__module__, function.__name__, json.dumps(arguments)]
    pipe = subprocess.PIPE
    pipes: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "text": True, "start_new_session": group}
    with subprocess.Popen(command, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()
            if group:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def output_of(code: str, what: str, *arguments: str, **environment: str | None) -> str:
    """What Python code prints in a new process; `what` failed if it does not end well.

    environment: what differs in it; None: this is not set."""
    changed = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=changed)
    if done.returncode:
        raise SetupError(f"{what}: {last_line(done.stderr)}")
    return done.stdout.strip()


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that it prints, empty if it has ended."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def result_of(
    process: subprocess.Popen[str],
    what: str,
    advice: str = "",
    timeout: float | None = None,
    error: type[SkyloopError] = SetupError,
) -> Any:
    """What the function returns, after its input is closed; `what` failed if it returns nothing."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise error(f"{what}: no end after {timeout:.0f} s; the machine is too busy") from None
    if process.returncode:
        raise error(f"{what} failed: {last_line(errors)}" + (f"; {advice}" if advice else ""))
    return json.loads(output.splitlines()[-1])


def given_task() -> dict[str, Any]:
    """In a process that has to wait for its task, such as a client until its engine has connected it."""
    print("ready", flush=True)
    task: dict[str, Any] = json.loads(sys.stdin.readline())
    return task


def last_line(errors: str) -> str:
    return (errors.strip().splitlines() or ["no message"])[-1]
