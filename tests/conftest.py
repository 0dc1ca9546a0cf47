"""Kernels are compiled once, before the workers start, so that no test's output or time depends on a cold cache."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        import skyloop.core.jit
        import skyloop.gym
        import skyloop.sim.assembly

        assert skyloop.sim.assembly and skyloop.gym
        skyloop.core.jit.prepare()
