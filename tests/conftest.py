"""Kernels are compiled once, before the workers start, so that no test's output or time depends on a cold cache."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        import skyloop.assembly
        import skyloop.compiled
        import skyloop.gym

        assert skyloop.assembly and skyloop.gym
        skyloop.compiled.prepare()
