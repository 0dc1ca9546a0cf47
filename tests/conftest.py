"""Kernels are compiled once, before the workers start, so that no test's output or time depends on a cold cache."""

import gc
import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # so it is in a script's background job; tests that press Ctrl-C would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        import skyloop.core.jit
        import skyloop.gym
        import skyloop.sim.assembly

        assert skyloop.sim.assembly and skyloop.gym
        skyloop.core.jit.prepare()


def pytest_collection_finish() -> None:
    # thousands of collected tests stay for good; not looking through them again and again saves a twentieth of the time
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
