"""Child processes: how they ended is said with their last words, and nothing of them is left."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from command_waits import wait_until_gone
from skyloop.core.child_process import ChildProcess, how_it_ended

pytestmark = pytest.mark.processes


def python(code: str, **options: object) -> ChildProcess:
    return ChildProcess([sys.executable, "-c", code], **options)  # type: ignore[arg-type]


def test_how_it_ended_is_its_exit_code_or_signal_and_its_last_line() -> None:
    assert how_it_ended(3) == "exit code 3"
    assert how_it_ended(-signal.SIGKILL, "first\nno camera\n\n") == "signal SIGKILL: no camera"


def test_what_it_said_last_explains_how_it_ended() -> None:
    child = python("import sys; print('working'); sys.exit('no camera')")
    assert child.how_it_ended(patience_s=30.0) == "exit code 1: no camera"
    child.close()


def test_one_that_does_not_end_is_killed_with_its_children() -> None:
    code = "import subprocess, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
    child = python(code, stdout=subprocess.PIPE, session=True)
    grandchild = int(child.stdout.readline())
    assert child.how_it_ended() is None
    assert child.end(0.0) == -signal.SIGKILL
    child.close()
    wait_until_gone(grandchild)


def test_ctrl_c_of_the_terminal_does_not_reach_it() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('still here')"
    child = python(code, stdout=subprocess.PIPE)
    assert child.stdout.read() == "still here\n"
    assert child.end(30.0) == 0
    child.close()
