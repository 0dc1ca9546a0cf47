"""skyloop: a UAV simulator for putting other people's algorithms in the loop."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from skyloop.assembly import build as build
    from skyloop.scenario import Scenario as Scenario
    from skyloop.scenario import load_scenario as load_scenario
    from skyloop.scenario import make_scenario as make_scenario
    from skyloop.simulation import Simulation as Simulation

_HOMES = {
    "Scenario": "skyloop.scenario",
    "Simulation": "skyloop.simulation",
    "build": "skyloop.assembly",
    "load_scenario": "skyloop.scenario",
    "make_scenario": "skyloop.scenario",
}

__all__ = ["Scenario", "Simulation", "build", "load_scenario", "make_scenario"]


def __getattr__(name: str) -> Any:
    """Loaded on first use: `skyloop --help` must not wait for compiled kernels."""
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'skyloop' has no attribute '{name}'")
