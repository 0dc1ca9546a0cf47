"""skyloop: a UAV simulator for putting other people's algorithms in the loop."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skyloop.sim.assembly import build as build
    from skyloop.sim.scenario import Scenario as Scenario
    from skyloop.sim.scenario import load_scenario as load_scenario
    from skyloop.sim.scenario import make_scenario as make_scenario
    from skyloop.sim.simulation import Simulation as Simulation
    from skyloop_client.version import __version__ as __version__

_HOMES = {
    "__version__": "skyloop_client.version",
    "Scenario": "skyloop.sim.scenario",
    "Simulation": "skyloop.sim.simulation",
    "build": "skyloop.sim.assembly",
    "load_scenario": "skyloop.sim.scenario",
    "make_scenario": "skyloop.sim.scenario",
}

__all__ = ["Scenario", "Simulation", "build", "load_scenario", "make_scenario"]


def __getattr__(name: str) -> Any:
    """Loaded on first use: `skyloop --help` must not wait for compiled kernels, nor Ctrl-C for anything."""
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'skyloop' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Also what is not loaded yet."""
    return sorted([*globals(), *_HOMES])
