"""Errors of the built-in controller and estimator: one function per flight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skyloop.run import fly
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop.vehicle.pilots.pilots import TrajectoryPilot
from skyloop_client.messages import Arm, Array, Position, TakeOff
from skyloop_papers.benchmarks.measurement import Measurements, lower

NOISY_SENSORS: dict[str, Any] = {
    "imu": {"kind": "imu", "preset": "mpu6000", "rate_hz": 250},
    "gnss": {"kind": "gnss", "preset": "m8n", "rate_hz": 10, "latency": 0.12},
    "barometer": {"kind": "barometer", "preset": "ms5611", "rate_hz": 50},
    "magnetometer": {"kind": "magnetometer", "preset": "hmc5883", "rate_hz": 50},
}
STRONG_WIND = {"kind": "dryden", "mean": [5.0, 0.0, 0.0], "w20_kt": 30.0}


def _simulation(seed: int, vehicle: dict[str, Any] | None = None, **scenario: Any) -> Simulation:
    data = {"seed": seed, "vehicles": [{"airframe": "iris", "battery": True, **(vehicle or {})}], **scenario}
    return build(make_scenario(data))


def _take_off(simulation: Simulation, altitude: float, limit_s: float = 30.0) -> Array:
    """Arm as soon as possible and climb. Returns the point that it then holds."""
    while simulation.now < limit_s:
        status = simulation.latest("drone/status")
        if status is None or not status.armed:
            simulation.send(Arm())
            simulation.send(TakeOff(altitude))
        elif status.mode == "hover":
            break
        simulation.run_for(0.1)
    hold = simulation.autopilots["drone"].memory.hold
    assert hold is not None
    return hold


def _track(simulation: Simulation, duration: float, every: float = 0.02) -> Array:
    """(n, 3) true positions."""
    positions = []
    for _ in range(round(duration / every)):
        simulation.run_for(every)
        positions.append(simulation.truth().position)
    return np.array(positions)


def hover_error(seed: int) -> float:
    """m, largest distance from the point held over 10 s, on truth, calm, 10 s after take-off."""
    with _simulation(seed) as simulation:
        hold = _take_off(simulation, 5.0)
        simulation.run_for(10.0)
        return float(np.linalg.norm(_track(simulation, 10.0) - hold, axis=1).max())


def step_overshoot(seed: int) -> float:
    """Share of a 10 m step by which it overshoots."""
    with _simulation(seed) as simulation:
        hold = _take_off(simulation, 5.0)
        simulation.run_for(5.0)
        simulation.send(Position(hold + np.array([10.0, 0.0, 0.0]), 0.0))
        along = _track(simulation, 12.0)[:, 0] - hold[0]
        return max(0.0, float(along.max()) / 10.0 - 1.0) if abs(along[-1] - 10.0) < 0.1 else np.inf


def tracking_error(seed: int, trajectory: dict[str, Any]) -> float:
    """m, root mean square distance between the trajectory and the flight, on truth, calm."""
    pilot = {"kind": "trajectory", "takeoff_altitude": 10.0, "trajectory": trajectory, "rate_hz": 50}
    with _simulation(seed, {"pilot": pilot}, duration=300.0, truth_rate_hz=100) as simulation:
        truth = simulation.subscribe("truth/drone")
        fly(simulation, 300.0)
        flown = next(part.pilot for part in simulation.parts if isinstance(part, PilotPart))
        assert isinstance(flown, TrajectoryPilot) and flown.started_ns is not None
        errors = []
        for message in truth:
            t = (message.t_ns - flown.started_ns) / 1e9
            if 0.0 <= t <= flown.trajectory.duration:
                errors.append(message.data.position - flown.trajectory.at(t).position)
        return float(np.sqrt(np.mean(np.sum(np.square(errors), axis=1))))


def circle_error(seed: int) -> float:
    """r = 10 m at 7.5 m/s."""
    return tracking_error(seed, {"kind": "circle", "centre": [0, 0, 10], "radius": 10.0, "speed": 7.5, "laps": 3})


def lemniscate_error(seed: int) -> float:
    """Minimum radius of curvature 30 m at 15 m/s."""
    return tracking_error(seed, {"kind": "lemniscate", "centre": [0, 0, 20], "minimum_radius": 30.0, "speed": 15.0})


def wind_error(seed: int) -> float:
    """m, 95th percentile of the hover error over 60 s in 5 m/s mean wind and Dryden W20 = 30 kt, on truth."""
    with _simulation(seed, wind=STRONG_WIND) as simulation:
        hold = _take_off(simulation, 5.0)
        simulation.run_for(5.0)
        return float(np.percentile(np.linalg.norm(_track(simulation, 60.0) - hold, axis=1), 95))


def noisy_sensors(imu: str, gnss: dict[str, Any] | None = None) -> dict[str, Any]:
    """The noisy presets with another IMU and additional GNSS options."""
    return {
        **NOISY_SENSORS,
        "imu": {**NOISY_SENSORS["imu"], "preset": imu},
        "gnss": {**NOISY_SENSORS["gnss"], **(gnss or {})},
    }


def ekf_hover_error(seed: int, imu: str = "mpu6000") -> float:
    """m, largest distance from where it reached hover over 30 s, on the EKF with the noisy presets."""
    with _simulation(seed, {"state": "ekf", "sensors": noisy_sensors(imu)}) as simulation:
        _take_off(simulation, 5.0)
        simulation.run_for(3.0)
        start = simulation.truth().position
        return float(np.linalg.norm(_track(simulation, 30.0) - start, axis=1).max())


SQUARE_MISSION: dict[str, Any] = {
    "kind": "waypoints",
    "waypoints": [[20, 0, 8], [20, 20, 8], [0, 20, 8], [0, 0, 8]],
    "takeoff_altitude": 5.0,
}


def ekf_mission_error(seed: int, imu: str = "mpu6000", gnss: dict[str, Any] | None = None) -> float:
    """m between take-off and landing place of a square mission on the EKF; infinite if it was not completed."""
    vehicle = {"state": "ekf", "sensors": noisy_sensors(imu, gnss), "pilot": SQUARE_MISSION}
    with _simulation(seed, vehicle, duration=120.0) as simulation:
        start = simulation.truth().position
        events = simulation.subscribe("drone/events")
        fly(simulation, 120.0)
        kinds = [message.data.kind for message in events]
        reached = next(part.pilot.reached for part in simulation.parts if isinstance(part, PilotPart))  # type: ignore[attr-defined]
        completed = reached == len(SQUARE_MISSION["waypoints"]) and "landed" in kinds and "crash" not in kinds
        return float(np.linalg.norm(simulation.truth().position - start)) if completed else np.inf


def ekf_outage_error(seed: int, imu: str = "mpu6000") -> float:
    """The same mission with GNSS gone for 10 s on the way."""
    return ekf_mission_error(seed, imu, {"outages": [{"start": 15.0, "end": 25.0}]})


FLIGHTS: dict[str, tuple[Callable[[int], float], float, str, float]] = {
    "hover_mm": (hover_error, 1e3, "mm", 2.0),
    "step_overshoot_percent": (step_overshoot, 1e2, "%", 10.0),
    "circle_rms_m": (circle_error, 1.0, "m", 0.3),
    "lemniscate_rms_m": (lemniscate_error, 1.0, "m", 1.0),
    "wind_hover_p95_m": (wind_error, 1.0, "m", 0.5),
    "ekf_hover_m": (ekf_hover_error, 1.0, "m", 1.0),
    "ekf_mission_m": (ekf_mission_error, 1.0, "m", 5.0),
    "ekf_outage_m": (ekf_outage_error, 1.0, "m", 10.0),
}
"""key: (flight, scale to the unit, unit, upper limit)."""


def flight(seeds: int = 20) -> Measurements:
    """How closely the built-in controller flies, on twenty seeds."""
    for key, (fly_once, scale, unit, aim) in FLIGHTS.items():
        errors = [fly_once(seed) * scale for seed in range(1, seeds + 1)]
        what = (fly_once.__doc__ or "").strip().splitlines()[0]
        yield lower(key, max(errors), unit, aim, f"{what} Worst of {seeds} seeds, mean {np.mean(errors):.3g}")
