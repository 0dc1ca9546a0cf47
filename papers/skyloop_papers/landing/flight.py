"""One landing of `skyloop reproduce landing`: flown, scored, and drawn if it failed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.apps.run import fly
from skyloop.core.frames import yaw_from_quat
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.stream_key import stream_key
from skyloop.links.link_gate import LinkGate, without_pilots
from skyloop.links.pace import Pace
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.weather import weather_at
from skyloop_client.messages import Array, Event, LandingStatus, Message
from skyloop_landing.board.choice import BoardOptions, make_board
from skyloop_landing.board.landing_link import LandingLink, LandingOptions
from skyloop_landing.land import landing_pilot, start_of
from skyloop_papers.landing.plan import DURATION, ON_MARKER

TRACK_EVERY = 0.25
"""s."""


class Witness:
    """What is needed of a flight to judge and draw it."""

    def __init__(self, simulation: Simulation) -> None:
        self.events: list[Event] = []
        self.status: LandingStatus | None = None
        self.image: Any = None
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
        witness = Witness(simulation)
        pilot = simulation.parts_of(PilotPart)[0].pilot
        fly(simulation, scenario.duration)
        return scored(simulation, scenario, witness, pilot.began_ns * 1e-9, Path(folder))


def land_on_board(seed: int, board: str, setup: dict[str, Any], camera_rate_hz: float, folder: str) -> dict[str, Any]:
    """A landing with a board on a simulated serial line. setup: fields of BoardOptions."""
    scenario = landing_scenario(seed, {}, camera_rate_hz)
    pilot = landing_pilot(scenario)
    start, yaw = start_of(pilot)
    made, logic = make_board(board, BoardOptions(rules=pilot.rules, control=pilot.control, **setup))
    try:
        gate = LinkGate(Pace(None))
        link = LandingLink(made, logic, LandingOptions(start, yaw, pilot.camera, pilot.rangefinder))
        gate.links["landing"] = link
        with build(without_pilots(scenario), gates=(gate,), wanted=lambda t_ns: link.at_start) as simulation:
            gate.attach(simulation.port, None)
            witness = Witness(simulation)
            fly(simulation, scenario.duration, links=gate)
            witness.gave_up = link.procedure.gave_up
            began_ns = link.procedure.started_ns
            began = -1.0 if began_ns is None else began_ns * 1e-9
            run = scored(simulation, scenario, witness, began, Path(folder))
            gate.finish("the flight is over")
    finally:
        made.close()
    counted = made.summary()
    times = {"mean": counted["execution_us_mean"] / 1e3, "max": counted["execution_us_most"] / 1e3}
    return {**run, "execution_ms": {**times, "missed": counted["images_missed"]}}


def scored(simulation: Simulation, scenario: Scenario, witness: Witness, began: float, folder: Path) -> dict[str, Any]:
    """began: s, when the board was triggered; negative if it never was. Errors are in the marker's axes."""
    world = scenario.world.options
    marker, marker_yaw = np.array(world.get("marker_xy", (6.0, 0.0))), math.radians(world.get("marker_yaw_deg", 0.0))
    port = simulation.port.vehicle("drone")
    off = _turned(port.truth.position[:2] - marker, -marker_yaw)
    askew = math.remainder(float(yaw_from_quat(port.truth.quat_wxyz)) - marker_yaw, math.tau)
    track = [[t, *_turned(np.array([x, y]) - marker, -marker_yaw).tolist(), z] for t, x, y, z in witness.track]
    flown = [row for row in track if row[0] >= began] if began >= 0.0 else track[-1:]
    run: dict[str, Any] = {"seed": scenario.seed, "x": float(off[0]), "y": float(off[1]), "heading": askew}
    run |= {"start": flown[0][1:] if flown else [0.0, 0.0, 0.0], "track": flown}
    end = witness.landed_at()
    if end is not None:
        run["time"] = end - began
    cause = _cause(port.status, witness, float(np.hypot(*off)), began)
    if cause:
        run["failed"] = cause
        _draw_failure(witness, f"seed {scenario.seed}: {cause}", folder)
    return run


def _turned(vector: Array, angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def _cause(status: Any, witness: Witness, off: float, began: float) -> str:
    """Why it is no landing on the marker; empty if it is one."""
    crash = next((event for event in witness.events if event.kind in ("crash", "crashed")), None)
    if crash is not None:
        return f"crashed at {crash.t_ns * 1e-9:.1f} s: {crash.text}"
    if began < 0.0:
        return "did not reach its start"
    if witness.gave_up:
        return "gave up: the board did not land"
    if witness.status is not None and witness.status.stage == "given up":
        return "gave up; the last image: " + (witness.status.reason or "the marker, not steady enough to land")
    if not status.landed:
        return f"still in the air after {DURATION:g} s"
    return "" if off <= ON_MARKER else f"landed {off:.2f} m beside the marker"


def _draw_failure(witness: Witness, title: str, folder: Path) -> None:
    """The last image, and what is dark in it."""
    if witness.image is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    from skyloop_landing.vision.object_list import dark, grey, smoothed, tiles_of

    folder.mkdir(parents=True, exist_ok=True)
    smooth = smoothed(grey(witness.image.colour))
    figure = Figure(figsize=(12, 4), layout="constrained")
    seen, binary = figure.subplots(1, 2)
    seen.imshow(witness.image.colour, cmap="gray")
    binary.imshow(1 - dark(smooth, tiles_of(smooth)), cmap="gray")
    seen.set_title("the last image")
    binary.set_title("dark for the detector")
    for axes in (seen, binary):
        axes.set_axis_off()
    figure.suptitle(title, fontsize=10)
    figure.savefig(folder / "failed.png", dpi=90)
