"""One flight of `skyloop reproduce unknown-city`, in a process of its own: flown, scored, drawn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop.sim.sensing import SensorPart
from skyloop.sim.simulation import Simulation
from skyloop.world.worlds.urban_walls import UrbanWalls
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import EventKind, Message
from skyloop_papers.flight_watch import SPENT, clocked, first_collision
from skyloop_papers.runs import Run
from skyloop_papers.unknown_city.plan import BAND, DURATION, GOAL, HEIGHT, LAND_WITHIN, SPEED
from skyloop_papers.unknown_city.scores import CityFlight, TrueCity, draw_flight, scores_of_map, way_length
from skyloop_papers.unknown_city.stack import ClockedCityPilot

STACK = "skyloop_papers.unknown_city.stack"
SLAM = "vehicles.0.estimators.slam"
KISS = "skyloop_autonomy.grid_slam.kiss_localiser:KissLocaliser"
WITHOUT_GNSS = ["imu", "barometer", "below", "lidar"]


def changes_of(seed: int, group: str, duration: float) -> dict[str, Any]:
    """What a flight of a group changes in the scenario."""
    changes: dict[str, Any] = {"seed": seed}
    if duration != DURATION:
        changes["duration"] = duration
    if group == "kiss":
        changes[f"{SLAM}.kind"] = KISS
    if group in ("denied", "kiss"):
        changes[f"{SLAM}.inputs"] = WITHOUT_GNSS
    return changes


def city_scenario(seed: int, group: str, duration: float, more: dict[str, Any] | None = None) -> Scenario:
    clocked_kind = {f"{SLAM}.kind": f"{STACK}:{'ClockedKissLocaliser' if group == 'kiss' else 'ClockedLocaliser'}"}
    pilot = {
        "vehicles.0.pilot.kind": f"{STACK}:ClockedCityPilot",
        "vehicles.0.pilot.options": {"goal": list(GOAL), "height": HEIGHT, "speed": SPEED, "band": BAND},
    }
    changes = {**changes_of(seed, group, duration), "duration": duration, **clocked_kind, **pilot, **(more or {})}
    return load_scenario("unknown-city", changes)


def again(changes: dict[str, Any]) -> str:
    """The command that flies the same once more, and leaves a run folder to look at."""
    options = " ".join(f"--set '{key}={_plain(value)}'" for key, value in changes.items())
    return f"skyloop run unknown-city {options}"


def _plain(value: object) -> str:
    """As YAML in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_plain(one)}' for key, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def fly(seed: int, group: str, duration: float, picture: str = "", more: dict[str, Any] | None = None) -> Run:
    """Fly and score; picture: where the flight is drawn, nowhere if empty. more: further changes of the scenario."""
    SPENT.clear()
    flown, trouble = CityFlight(), ""
    pilot: ClockedCityPilot | None = None
    began = time.process_time()
    try:
        with build(city_scenario(seed, group, duration, more)) as simulation:
            found = next(part.pilot for part in simulation.parts if isinstance(part, PilotPart))
            assert isinstance(found, ClockedCityPilot)
            pilot = found
            began = time.process_time()
            _fly(simulation, pilot, duration, flown)
    except SkyloopError as error:
        trouble = str(error)
    spent = time.process_time() - began
    figures = {} if pilot is None else {**_times(flown.lasted, spent), "retreats": pilot.retreats}
    command = again({**changes_of(seed, group, duration), **(more or {})})
    doing, about = "" if pilot is None else pilot.doing, {"seed": seed, "group": group}
    return scored(flown, about, doing, duration, figures, picture=picture, failed=trouble, again=command)


def scored(
    flown: CityFlight,
    about: Run,
    doing: str,
    duration: float,
    figures: Run,
    *,
    picture: str,
    failed: str = "",
    again: str = "",
) -> Run:
    """Scores of a flight, and its picture. doing: what the pilot did last; figures: what else is known of the flight;
    again: the command that flies it again."""
    model = UrbanWalls(about["seed"]).model
    model.freeze()
    city, run = TrueCity(model), dict(about)
    if flown.truth:
        run |= {**scores_of(flown, city), **figures}
        failed = failed or cause_of(flown, doing, duration)
    if flown.grid is not None:
        run |= scores_of_map(model, flown.grid)
    if failed:
        run |= {"failed": failed, **({"again": again} if again else {})}
    if picture:
        draw_flight(Path(picture), flown, city, run)
    return run


def _fly(simulation: Simulation, pilot: ClockedCityPilot, duration: float, flown: CityFlight) -> None:
    """Until it has landed, hit something or run out of time. What was flown before an error is kept, too."""
    watch(simulation, flown)
    for part in simulation.parts:
        if isinstance(part, SensorPart) and part.info.name == "drone/lidar":
            _clock(part.sensor)
    try:
        while flown.lasted < duration and not pilot.done and first_collision(flown.events) is None:
            flown.lasted += 0.5
            simulation.run_until(flown.lasted)
            if pilot.reached and flown.reached_ns is None:
                flown.reached_ns = flown.truth[-1][0]
    finally:
        flown.grid, flown.paths = pilot.grid, pilot.paths


def watch(simulation: Simulation, flown: CityFlight) -> None:
    bus = simulation.bus
    bus.on("truth/drone", lambda message: flown.truth.append((message.t_ns, message.data.position)))
    bus.on("drone/events", lambda message: flown.events.append(message.data))
    bus.on("drone/slam", lambda message: _keep_estimate(flown, message))


def _keep_estimate(flown: CityFlight, message: Message) -> None:
    if message.data.valid:
        flown.estimates.append((message.t_ns, message.data.position))


def _clock(sensor: Any) -> None:
    measure = sensor.measure
    sensor.measure = lambda *arguments: clocked("LiDAR", measure, *arguments)


def cause_of(flown: CityFlight, doing: str, duration: float) -> str:
    """Why a flight failed, in one line; empty if it did not."""
    hit, (_, last) = first_collision(flown.events), flown.truth[-1]
    where = f"at ({last[0]:.1f}, {last[1]:.1f}, {last[2]:.1f})"
    if hit is not None:
        return f"{hit.kind.value} {hit.text} at {hit.t_ns * 1e-9:.1f} s, {where}, while the pilot {doing}"
    if flown.reached_ns is None:
        return f"not at the goal after {min(duration, flown.lasted):.0f} s: {where} the pilot {doing}"
    if not any(event.kind is EventKind.DISARMED for event in flown.events):
        return f"not on the ground after {flown.lasted:g} s: {where} the pilot {doing}"
    off = float(np.hypot(last[0] - GOAL[0], last[1] - GOAL[1]))
    return f"landed {off:.1f} m from the goal" if off > LAND_WITHIN else ""


def scores_of(flown: CityFlight, city: TrueCity) -> dict[str, Any]:
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
