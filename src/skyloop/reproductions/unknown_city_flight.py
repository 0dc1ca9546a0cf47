"""One flight of `skyloop reproduce unknown-city`, in a process of its own: flown, scored, drawn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.navigation.grid_slam.localiser import GridLocaliser
from skyloop.reproductions.collisions import first_collision
from skyloop.reproductions.stage_clock import SPENT, clocked
from skyloop.reproductions.unknown_city_plot import Flown, draw_flight
from skyloop.reproductions.unknown_city_protocol import BAND, GOAL, HEIGHT, LAND_WITHIN, SPEED
from skyloop.reproductions.unknown_city_scores import TrueCity, scores_of_map, way_length
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop.sim.sensing import SensorPart
from skyloop.sim.simulation import Simulation
from skyloop.tasks.unknown_city import CityPilot
from skyloop.world.worlds.urban_walls import UrbanWalls
from skyloop_client.bundle import Bundle
from skyloop_client.errors import SkyloopError
from skyloop_client.estimator import Answer
from skyloop_client.messages import Array, EventKind, GridMap, Message

WITHOUT_GNSS = ["imu", "barometer", "below", "lidar"]


class ClockedLocaliser(GridLocaliser):
    def on_message(self, message: Message) -> Answer:
        return clocked("SLAM and maps", super().on_message, message)

    def map(self, t_ns: int, height: float) -> GridMap:
        grid: GridMap = clocked("maps", super().map, t_ns, height)
        return grid


class ClockedPilot(CityPilot):
    """Also keeps the newest map and the plans."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.grid: GridMap | None = None
        self.paths: list[Array] = []

    def __call__(self, bundle: Bundle) -> Any:
        grid = bundle.get("slam_map", None)
        is_new, self.grid = grid is not self.grid, grid
        reply = clocked("planning", super().__call__, bundle)
        if is_new and self.way is not None:
            self.paths.append(self.way)
        return reply


def city_scenario(seed: int, gnss: bool, duration: float) -> Scenario:
    here = "skyloop.reproductions.unknown_city_flight"
    over: dict[str, Any] = {
        "seed": seed,
        "duration": duration,
        "vehicles.0.estimators.slam.kind": f"{here}:ClockedLocaliser",
        "vehicles.0.pilot.kind": f"{here}:ClockedPilot",
        "vehicles.0.pilot.options": {"goal": list(GOAL), "height": HEIGHT, "speed": SPEED, "band": BAND},
    }
    if not gnss:
        over["vehicles.0.estimators.slam.inputs"] = WITHOUT_GNSS
    return load_scenario("unknown-city", over)


def fly(seed: int, gnss: bool, duration: float, picture: str = "") -> dict[str, Any]:
    """Fly and score; picture: where the flight is drawn, nowhere if empty."""
    SPENT.clear()
    try:
        with build(city_scenario(seed, gnss, duration)) as simulation:
            pilot = next(part.pilot for part in simulation.parts if isinstance(part, PilotPart))
            assert isinstance(pilot, ClockedPilot)
            began = time.process_time()
            flown = _flown(simulation, pilot, duration)
            spent = time.process_time() - began
    except SkyloopError as error:
        return {"seed": seed, "gnss": gnss, "failed": str(error)}
    model = UrbanWalls(seed).model
    model.freeze()
    city = TrueCity(model)
    scored = {"seed": seed, "gnss": gnss, **_scores(flown, city), **_times(flown.lasted, spent)}
    scored["retreats"] = pilot.retreats
    if flown.grid is not None:
        scored |= scores_of_map(model, flown.grid)
    cause = cause_of(flown, pilot.doing, duration)
    if cause:
        scored["failed"] = cause
        inputs = "" if gnss else f" --set vehicles.0.estimators.slam.inputs=[{','.join(WITHOUT_GNSS)}]"
        scored["again"] = f"skyloop run unknown-city --set seed={seed}{inputs}"
    if picture and flown.grid is not None:
        draw_flight(Path(picture), flown, city, scored)
    return scored


def _flown(simulation: Simulation, pilot: ClockedPilot, duration: float) -> Flown:
    flown = Flown()
    bus = simulation.bus
    bus.on("truth/drone", lambda message: flown.truth.append((message.t_ns, message.data.position)))
    bus.on("drone/events", lambda message: flown.events.append(message.data))
    bus.on("drone/slam", lambda message: _keep_estimate(flown, message))
    for part in simulation.parts:
        if isinstance(part, SensorPart) and part.info.name == "drone/lidar":
            _clock(part.sensor)
    while flown.lasted < duration and not pilot.done and first_collision(flown.events) is None:
        flown.lasted += 0.5
        simulation.run_until(flown.lasted)
        if pilot.reached and flown.reached_ns is None:
            flown.reached_ns = flown.truth[-1][0]
    flown.grid, flown.paths = pilot.grid, pilot.paths
    return flown


def _keep_estimate(flown: Flown, message: Message) -> None:
    if message.data.valid:
        flown.estimates.append((message.t_ns, message.data.position))


def _clock(sensor: Any) -> None:
    measure = sensor.measure
    sensor.measure = lambda *arguments: clocked("LiDAR", measure, *arguments)


def cause_of(flown: Flown, doing: str, duration: float) -> str:
    """Why a flight failed, in one line; empty if it did not."""
    hit, (_, last) = first_collision(flown.events), flown.truth[-1]
    where = f"at ({last[0]:.1f}, {last[1]:.1f}, {last[2]:.1f})"
    if hit is not None:
        return f"{hit.kind.value} {hit.text} at {hit.t_ns * 1e-9:.1f} s, {where}, while the pilot {doing}"
    if flown.reached_ns is None:
        return f"not at the goal after {min(duration, flown.lasted):g} s: {where} the pilot {doing}"
    if not any(event.kind is EventKind.DISARMED for event in flown.events):
        return f"not on the ground after {flown.lasted:g} s: {where} the pilot {doing}"
    off = float(np.hypot(last[0] - GOAL[0], last[1] - GOAL[1]))
    return f"landed {off:.1f} m from the goal" if off > LAND_WITHIN else ""


def _scores(flown: Flown, city: TrueCity) -> dict[str, Any]:
    times = np.array([t_ns for t_ns, _ in flown.truth])
    track = np.array([position for _, position in flown.truth])
    end = len(times) if flown.reached_ns is None else int(np.searchsorted(times, flown.reached_ns, side="right"))
    level = track[:end][track[:end, 2] > HEIGHT - 1.0]
    optimum = way_length(city.optimum())
    scored: dict[str, Any] = {"optimum_m": optimum, "off_m": float(np.hypot(*(track[-1, :2] - GOAL)))}
    if len(level) > 1:
        # it stops a little before the goal
        way = way_length(level) + float(np.hypot(*(level[-1, :2] - GOAL))) if flown.reached_ns else way_length(level)
        scored |= {"way_m": way, "way_over_optimum": way / optimum, "clearance_m": city.least_clearance(level)}
    if flown.estimates:
        believed = np.array([position for _, position in flown.estimates])
        stamps = np.array([t_ns for t_ns, _ in flown.estimates])
        error = np.column_stack([np.interp(stamps, times, track[:, axis]) for axis in range(3)]) - believed
        level_error = np.hypot(error[:, 0], error[:, 1])
        scored |= {
            "error_rms_m": float(np.sqrt(np.mean(level_error**2))), "error_max_m": float(level_error.max()),
            "height_error_max_m": float(np.abs(error[:, 2]).max()),
        }  # fmt: skip
    return scored


def _times(lasted: float, spent: float) -> dict[str, Any]:
    """Simulated over processor time, and the share of each stage."""
    slam = SPENT["SLAM and maps"] - SPENT["maps"]
    stages = {
        "LiDAR": SPENT["LiDAR"], "localisation and mapping": slam, "lines and published maps": SPENT["maps"],
        "planning": SPENT["planning"],
    }  # fmt: skip
    stages["vehicle, other sensors, streams"] = spent - sum(stages.values())
    return {
        "simulated_s": lasted, "processor_s": spent, "factor": lasted / spent,
        "stages": {name: value / spent for name, value in stages.items()},
    }  # fmt: skip
