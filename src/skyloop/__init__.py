"""skyloop: a UAV simulator for putting other people's algorithms in the loop."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skyloop import errors as errors
    from skyloop import messages as messages
    from skyloop.campaigns.campaign import campaign as campaign
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
    "campaign": "skyloop.campaigns.campaign",
    "load_scenario": "skyloop.sim.scenario",
    "make_scenario": "skyloop.sim.scenario",
}

_MODULES = ("errors", "messages")

__all__ = ["Scenario", "Simulation", "build", "campaign", "errors", "load_scenario", "make_scenario", "messages"]


def __getattr__(name: str) -> Any:
    """Loaded on first use: `skyloop --help` must not wait for compiled kernels, nor Ctrl-C for anything."""
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"skyloop.{name}")
    raise AttributeError(f"module 'skyloop' has no attribute '{name}'")


def __dir__() -> list[str]:
    """What is for users, loaded or not."""
    return sorted({*__all__, *(name for name in (*globals(), *_HOMES) if name.startswith("__"))})
