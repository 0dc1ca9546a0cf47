"""Kernels are compiled once, before the first test, so that no test's output or time depends on a cold cache and no
two workers do the same work. What else holds for all tests is in `left_out`, `process_guard` and `continued`."""

import gc
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["left_out", "process_guard", "continued"]
COMPILING = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # so it is in a script's background job; tests that press Ctrl-C would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        compiling = subprocess.Popen([sys.executable, Path(__file__).with_name("compiled_kernels.py")])
        config.stash[COMPILING] = compiling
        if not config.getoption("numprocesses", None):
            wait_for_kernels(compiling)


def wait_for_kernels(compiling: "subprocess.Popen[bytes]") -> None:
    if compiling.wait():
        pytest.exit("the kernels do not compile; see above", 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Workers import the tests while one process compiles, and begin when all is compiled: two that miss the same
    kernel would both compile it."""
    wait_for_kernels(node.config.stash[COMPILING])


def pytest_unconfigure(config: pytest.Config) -> None:
    if COMPILING in config.stash:
        config.stash[COMPILING].kill()
        config.stash[COMPILING].wait()


def pytest_collection_finish() -> None:
    # thousands of collected tests stay for good; not looking through them again and again saves a twentieth of the time
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
