"""The flight the tests of the core repeat: an iris on its EKF with noisy sensors in Dryden wind."""

from __future__ import annotations

import copy
from typing import Any

from skyloop.core.bus import Bus, Fingerprint, record_bytes
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation

SECONDS = 6.5

NOISY_FLIGHT: dict[str, Any] = {
    "name": "noisy",
    "seed": 5,
    "duration": SECONDS,
    "wind": {"kind": "dryden", "mean": [2.0, 1.0, 0.0], "w20_kt": 15},
    "vehicles": [
        {
            "name": "drone",
            "state": "ekf",
            "sensors": {
                "imu": {"kind": "imu", "preset": "mpu6000", "rate_hz": 250},
                "gnss": {"kind": "gnss", "preset": "m8n", "rate_hz": 10, "latency": 0.12},
                "barometer": {"kind": "barometer", "preset": "ms5611", "rate_hz": 50},
                "magnetometer": {"kind": "magnetometer", "preset": "hmc5883", "rate_hz": 50},
            },
            "pilot": {"kind": "waypoints", "waypoints": [[5.0, 2.0, 3.0], [0.0, 4.0, 2.0]]},
        }
    ],
}


def noisy_flight(**changes: Any) -> Simulation:
    """`changes` are dotted paths with __ for the dots: vehicles__drone__state="truth"."""
    overrides = {path.replace("__", "."): value for path, value in changes.items()}
    return build(make_scenario(copy.deepcopy(NOISY_FLIGHT), overrides))


def resting(**changes: Any) -> Simulation:
    """One iris that stands on the ground, on truth, in calm air."""
    overrides = {path.replace("__", "."): value for path, value in changes.items()}
    return build(make_scenario({"vehicles": [{"name": "drone"}]}, overrides))


def hashes(simulation: Simulation, seconds: float = SECONDS) -> dict[str, str]:
    fingerprint = Fingerprint(simulation.bus)
    simulation.run_until(seconds)
    return fingerprint.hexdigests()


class Tape:
    """Everything that is published on a bus from now on, bit for bit."""

    def __init__(self, bus: Bus) -> None:
        self.messages: list[tuple[Any, ...]] = []
        bus.on_every(lambda m: self.messages.append((m.stream, m.index, m.t_ns, m.arrival_ns, record_bytes(m.data))))

    def cut(self) -> list[tuple[Any, ...]]:
        taken, self.messages[:] = list(self.messages), []
        return taken
