"""An airframe as constants of the compiled flight: what the flight kernels read from a record of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from skyloop.sim.simulation_port import FlightMemory
from skyloop.vehicle.kernel_records import CONTROL_CASCADE, PARAMS
from skyloop_client.errors import ScenarioError

REFUSED = {
    "has_battery": "a battery",
    "gusts": "gusts",
    "n_wrenches": "scheduled forces",
    "n_rotor_faults": "rotor faults",
}
"""Parameters that must be zero, and what they stand for."""


@dataclass(frozen=True, slots=True)
class Craft:
    """Plain numbers, so that the compiler folds them in and arrays decide about the precision."""

    p: SimpleNamespace
    """The fields of `kernel_records.PARAMS` as floats and lists of floats."""
    dt: float
    """s per physics step."""
    wind: list[float]
    """m/s, world axes; the same everywhere and always."""
    ground: float
    """m, the height of the level ground."""
    n_contacts: int
    """Points that may touch the ground. Without any, a vehicle flies through it."""


def craft_from(memory: FlightMemory) -> Craft:
    """The vehicle of `SimulationPort.flight_memory`. Raises ScenarioError for what this flight does not cover."""
    [params], [inputs] = memory.params, memory.inputs
    heights = memory.ground[0]
    has = [name for field, name in REFUSED.items() if params[field]]
    if params["control"] != CONTROL_CASCADE:
        has.append("a controller other than 'cascade'")
    if inputs["on_estimate"]:
        has.append("a controller that flies on an estimate")
    if np.ptp(heights) > 0.0:
        has.append("ground that is not level")
    if has:
        raise ScenarioError(f"the flight in JAX does not cover {' and '.join(has)}; use SkyloopVectorEnv")
    p = SimpleNamespace(**{name: params[name].tolist() for name in PARAMS.names or ()})
    return Craft(p, memory.period_s, inputs["wind_mean"].tolist(), float(heights[0, 0]), p.n_contacts)
