"""`make check` runs what needs neither rendering nor processes; a test that starts one must say so by its mark."""

from __future__ import annotations

import multiprocessing.process
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

_start_program = subprocess.Popen.__init__
_start_python = multiprocessing.process.BaseProcess.start
_running: pytest.Item | None = None


def _check(what: str) -> None:
    marks = {mark.name for mark in _running.iter_markers()} if _running else {"slow"}
    needed = "renders" if "skyloop.rendering" in what else "processes"
    if not marks & {"slow", "renders", needed}:
        # no AssertionError: code that is tested may not swallow it
        pytest.fail(f"this test starts {what[:120]}; mark it or its file: pytest.mark.{needed}")


def _guarded_program(self: Any, args: Any, *rest: Any, **options: Any) -> None:
    _check(" ".join(map(str, args)) if isinstance(args, list | tuple) else str(args))
    _start_program(self, args, *rest, **options)


def _guarded_python(self: Any) -> None:
    _check(f"the process {self.name}")
    _start_python(self)


def pytest_configure() -> None:
    subprocess.Popen.__init__ = _guarded_program  # type: ignore[method-assign]
    multiprocessing.process.BaseProcess.start = _guarded_python  # type: ignore[method-assign]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global _running
    _running = item
    yield
    _running = None
