"""The landings of `skyloop reproduce landing`: their plan, and one landing, which is flown, scored and drawn."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.frames import yaw_from_quat
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.random_key import stream_key
from skyloop.links.link_gate import LinkGate, without_pilots
from skyloop.links.pace import Pace
from skyloop.run import fly
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.weather import weather_at
from skyloop_client.messages import Array, CameraImage, Event, LandingStatus, Message, VehicleStatus
from skyloop_landing.board.choice import BoardOptions, make_board
from skyloop_landing.board.landing_link import LandingLink, LandingOptions
from skyloop_landing.land import landing_pilot, start_of
from skyloop_landing.vision.control import LandingControlConfig
from skyloop_landing.vision.object_list import MIN_CONTRAST
from skyloop_papers.experiment import ExperimentPlan
from skyloop_papers.plots import figure

PUBLISHED_MSE = {"x": 0.3375, "y": 0.8672, "heading": 0.7505}
"""Table II: m², m² and rad²; the paper prints them with the units m and rad."""
PUBLISHED_TIME = {"mean": 43.02, "median": 43.83, "max": 59.38, "min": 25.89}
"""s, Table III."""
PUBLISHED_LANDED = (100, 100)
AIM_RMS = {"x": 0.10, "y": 0.10, "heading": 0.10}
AIM_TIME = {"mean": 20.0, "max": 30.0}
ON_MARKER = 0.857
"""m from the middle of the marker, the ring's outer radius, within which the vehicle must stand."""
DURATION = 150.0
"""s of simulated time for a full flight."""

Change = dict[str, Any]
BOARDS: dict[str, tuple[str, dict[str, float]]] = {
    "python": ("python", {}),
    "qemu": ("qemu", {}),
    "throttled": ("qemu", {"clock_mhz": 1.0}),
    "late": ("python", {"latency": 0.5}),
}
"""By name: the board of `skyloop land`, and what differs from 650 MHz and no latency."""
CONDITIONS: dict[str, Change] = {
    "wind 5 m/s with gusts": {"wind": {"kind": "dryden", "mean": [4.0, 3.0, 0.0], "w20_kt": 15.0}},
    "dusk": {"weather.time_of_day": 19.6, "weather.clouds": 0.2},
    "snow": {"weather.snow": 1.0, "weather.clouds": 0.9},
    "rain": {"weather.rain": 10.0, "weather.wetness": 1.0, "weather.clouds": 0.9},
    "rangefinder noise and dropouts": {
        "vehicles.drone.sensors.range.noise_sd": 0.4,
        "vehicles.drone.sensors.range.faults": [{"kind": "dropout", "probability": 0.3}],
    },
    "camera at 15 Hz": {"vehicles.drone.sensors.down.rate_hz": 15},
    "100 ms more latency": {"vehicles.drone.sensors.down.latency": 0.1},
    "motion blur": {"vehicles.drone.sensors.down.exposure_time": 0.02},
    "turned and half in shadow": {"turned": True, "screen": True},
}
"""By name: paths of the scenario and their values; `turned` and `screen` are of the world."""
ABLATION: dict[str, Change] = {
    "ours": {},
    "altitude not filtered": {"vehicles.drone.pilot.control.altitude_filter": False},
    "second stage as published": {"vehicles.drone.pilot.control.second_stage": "published"},
    "both as published": {
        "vehicles.drone.pilot.control.altitude_filter": False,
        "vehicles.drone.pilot.control.second_stage": "published",
    },
    "camera over the marker": {"vehicles.drone.pilot.control.camera_ahead": 0.0},
}


@dataclass(frozen=True, slots=True)
class LandingWay:
    """What of a landing on a board differs from ours."""

    changes: Change = field(default_factory=dict)
    """Of the scenario, as in CONDITIONS."""
    polls_per_step: int = 1
    """Of the 240 looks at the line per second, every how many the PC answers and obeys."""
    on_marker: float = ON_MARKER
    """m from the marker's middle; beyond it a landing is a failure."""


OURS = LandingWay()


@dataclass(frozen=True, slots=True)
class LandingPlan(ExperimentPlan):
    """What is flown. The quick form is one landing."""

    starts: tuple[int, ...] = tuple(range(101, 201))
    """Seeds of the hundred landings of each board; lower ones were looked at while the landing was made."""
    boards: tuple[str, ...] = tuple(BOARDS)
    condition_starts: tuple[int, ...] = tuple(range(201, 251))
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    ablation_starts: tuple[int, ...] = tuple(range(301, 351))
    ablation: tuple[str, ...] = tuple(ABLATION)
    clocks_mhz: tuple[float, ...] = (650.0, 65.0, 6.5, 1.0, 0.5, 0.2, 0.1)
    clock_starts: tuple[int, ...] = tuple(range(401, 406))
    camera_rate_hz: int = 30
    """Images per simulated second. The video has 60, so each image is shown twice; the paper's simulator gave fewer."""

    def plain(self) -> dict[str, Any]:
        fixed = {
            "on_marker": ON_MARKER,
            "duration": DURATION,
            "control": LandingControlConfig().model_dump(mode="json"),
        }
        changes = {"boards_with": BOARDS, "conditions_with": CONDITIONS, "ablation_with": ABLATION}
        return {**asdict(self), **fixed, **changes}


QUICK = LandingPlan((1,), ("python",), (), (), (), (), (), ())


TRACK_EVERY = 0.25
"""s."""


class LandingObserver:
    """What is needed of a flight to judge and draw it."""

    def __init__(self, simulation: Simulation) -> None:
        self.events: list[Event] = []
        self.status: LandingStatus | None = None
        self.image: CameraImage | None = None
        """The newest one, or the last one before it gave up: then it flies home."""
        self.track: list[list[float]] = []
        self.gave_up = False
        simulation.bus.on("drone/events", lambda message: self.events.append(message.data))
        simulation.bus.on("truth/drone", self._follow)
        simulation.bus.on("drone/down", self._keep)
        simulation.bus.on_every(self._listen)

    def _follow(self, message: Message) -> None:
        t = message.t_ns * 1e-9
        if not self.track or t - self.track[-1][0] >= TRACK_EVERY:
            self.track.append([round(t, 3), *(round(value, 4) for value in message.data.position.tolist())])

    def _keep(self, message: Message) -> None:
        if self.status is None or self.status.stage != "given up":
            self.image = message.data

    def _listen(self, message: Message) -> None:
        if isinstance(message.data, LandingStatus):
            self.status = message.data

    def landed_at(self) -> float | None:
        """s, of the last touch-down."""
        stamps = [event.t_ns * 1e-9 for event in self.events if event.kind == "landed"]
        return stamps[-1] if stamps else None


def landing_scenario(seed: int, changes: dict[str, Any], camera_rate_hz: float) -> Scenario:
    """The shipped scenario with another seed and changes; `turned` and `screen` are of the world."""
    more = {key: value for key, value in changes.items() if key not in ("turned", "screen")}
    settings = {"seed": seed, "duration": DURATION, "vehicles.drone.sensors.down.rate_hz": camera_rate_hz, **more}
    scenario = load_scenario("landing", settings)
    options: dict[str, Any] = {}
    if changes.get("turned"):
        (turn,) = KeyedRandom(stream_key(seed, "landing marker's yaw"), 0).uniform(1).tolist()
        options["marker_yaw_deg"] = 360.0 * turn - 180.0
    if changes.get("screen"):
        sun = weather_at(scenario.weather, scenario.earth.latitude_deg).sun_direction
        options["screen"] = [math.degrees(math.atan2(sun[1], sun[0])), math.degrees(math.asin(sun[2]))]
    return load_scenario("landing", {**settings, "world": {"name": "landing", "options": options}})


def land(seed: int, changes: dict[str, Any], camera_rate_hz: float, folder: str) -> dict[str, Any]:
    """A landing with detector and control in the simulator's process."""
    scenario = landing_scenario(seed, changes, camera_rate_hz)
    pilot: Any = None
    # on the way to the start nobody looks at the pictures, and a picture costs more than all else of its instant
    with build(scenario, wanted=lambda t_ns: pilot.at_start) as simulation:
        observer = LandingObserver(simulation)
        pilot = simulation.parts_of(PilotPart)[0].pilot
        fly(simulation, scenario.duration)
        return scored(simulation, scenario, observer, pilot.began_ns * 1e-9, Path(folder))


def land_on_board(
    seed: int, board: str, setup: dict[str, Any], camera_rate_hz: float, folder: str, way: LandingWay = OURS
) -> dict[str, Any]:
    """A landing with a board on a simulated serial line. setup: fields of BoardOptions."""
    scenario = landing_scenario(seed, way.changes, camera_rate_hz)
    pilot = landing_pilot(scenario)
    start, yaw = start_of(pilot)
    device, logic = make_board(board, BoardOptions(rules=pilot.rules, control=pilot.control, **setup))
    try:
        gate = LinkGate(Pace(None))
        options = LandingOptions(start, yaw, pilot.camera, pilot.rangefinder, polls_per_step=way.polls_per_step)
        link = LandingLink(device, logic, options)
        gate.links["landing"] = link
        with build(without_pilots(scenario), gates=(gate,), wanted=lambda t_ns: link.at_start) as simulation:
            gate.attach(simulation.port, None)
            observer = LandingObserver(simulation)
            fly(simulation, scenario.duration, links=gate)
            observer.gave_up = link.procedure.gave_up
            began_ns = link.procedure.started_ns
            began = -1.0 if began_ns is None else began_ns * 1e-9
            run = scored(simulation, scenario, observer, began, Path(folder), way.on_marker)
            gate.finish("the flight is over")
    finally:
        device.close()
    counted = device.summary()
    times = {"mean": counted["execution_us_mean"] / 1e3, "max": counted["execution_us_most"] / 1e3}
    return {**run, "execution_ms": {**times, "missed": counted["images_missed"]}}


def scored(
    simulation: Simulation,
    scenario: Scenario,
    observer: LandingObserver,
    began: float,
    folder: Path,
    on_marker: float = ON_MARKER,
) -> dict[str, Any]:
    """began: s, when the board was triggered; negative if it never was. Errors are in the marker's axes."""
    world = scenario.world.options
    marker, marker_yaw = np.array(world.get("marker_xy", (6.0, 0.0))), math.radians(world.get("marker_yaw_deg", 0.0))
    port = simulation.port.vehicle("drone")
    off = _turned(port.truth.position[:2] - marker, -marker_yaw)
    askew = math.remainder(float(yaw_from_quat(port.truth.quat_wxyz)) - marker_yaw, math.tau)
    track = [[t, *_turned(np.array([x, y]) - marker, -marker_yaw).tolist(), z] for t, x, y, z in observer.track]
    flown = [row for row in track if row[0] >= began] if began >= 0.0 else track[-1:]
    run: dict[str, Any] = {"seed": scenario.seed, "x": float(off[0]), "y": float(off[1]), "heading": askew}
    run |= {"start": flown[0][1:] if flown else [0.0, 0.0, 0.0], "track": flown}
    end = observer.landed_at()
    if end is not None:
        run["time"] = end - began
    cause = _cause(port.status, observer, float(np.hypot(*off)), on_marker, began)
    if cause:
        run["failed"] = cause
        contrast = 0 if landing_pilot(scenario).rules == "published" else MIN_CONTRAST
        _draw_failure(observer, f"seed {scenario.seed}: {cause}", folder, contrast)
    return run


def _turned(vector: Array, angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def _cause(status: VehicleStatus, observer: LandingObserver, off: float, on_marker: float, began: float) -> str:
    """Why it is no landing on the marker; empty if it is one."""
    crash = next((event for event in observer.events if event.kind in ("crash", "crashed")), None)
    if crash is not None:
        return f"crashed at {crash.t_ns * 1e-9:.1f} s: {crash.text}"
    if began < 0.0:
        return "did not reach its start"
    if observer.gave_up:
        return "gave up: the board did not land"
    if observer.status is not None and observer.status.stage == "given up":
        return "gave up; the last image: " + (observer.status.reason or "the marker, not steady enough to land")
    if not status.landed:
        return f"still in the air after {DURATION:g} s"
    return "" if off <= on_marker else f"landed {off:.2f} m beside the marker"


def _draw_failure(observer: LandingObserver, title: str, folder: Path, min_contrast: int) -> None:
    """The last image, and what is dark in it."""
    if observer.image is None:
        return
    from skyloop_landing.vision.object_list import dark, grey, smoothed, tiles_of

    smooth = smoothed(grey(observer.image.colour))
    shown = {
        "the last image": observer.image.colour,
        "dark for the detector": 1 - dark(smooth, tiles_of(smooth, min_contrast)),
    }
    with figure(folder / "failed.png", (12, 4), title, dpi=90) as drawn:
        for axes, (name, picture) in zip(drawn.subplots(1, 2), shown.items(), strict=True):
            axes.imshow(picture, cmap="gray")
            axes.set_title(name)
            axes.set_axis_off()
