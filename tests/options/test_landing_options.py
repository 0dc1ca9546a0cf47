"""Every option of a landing on the marker changes what is done."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from option_flights import check_change, fields_of

from landing_rig import Drop
from marker_pictures import as_pixels, picture
from skyloop.core.frames import quat_from_yaw
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import make_scenario
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_client.bundle import Bundle
from skyloop_client.errors import UnknownNameError
from skyloop_client.messages import (
    CameraImage,
    Goal,
    GoHome,
    Hover,
    Image,
    LandingStatus,
    RangeSample,
    TakeOff,
    VehicleState,
    VehicleStatus,
    Velocity,
)
from skyloop_landing.pilot import LandingPilot, LandingPilotConfig, LandingStart
from skyloop_landing.vision.control import LandingControlConfig

Measure = Callable[[Drop], float]


def seconds(drop: Drop) -> float:
    return drop.t


def descends_at(drop: Drop) -> float:
    return drop.since("down")


def distance(drop: Drop) -> float:
    return drop.distance


def askew(drop: Drop) -> float:
    return abs(drop.heading_deg)


def final_altitude(drop: Drop) -> float:
    return float(drop.altitude)


def highest(drop: Drop) -> float:
    return float(max(drop.altitudes))


def lowest(drop: Drop) -> float:
    return float(min(drop.altitudes))


def fastest(drop: Drop) -> float:
    return max(math.hypot(command.vx, command.vy) for command in drop.commands)


def fastest_turn(drop: Drop) -> float:
    return max(abs(command.yaw_rate_deg) for command in drop.commands)


def fastest_descent(drop: Drop) -> float:
    return max(command.vz for command in drop.commands)


def jerkiest(drop: Drop) -> float:
    return max(math.hypot(b.vx - a.vx, b.vy - a.vy) for a, b in pairwise(drop.commands[:-1]))


def altitude_noise(drop: Drop) -> float:
    return float((np.array(drop.believed) - np.array(drop.altitudes))[60:].std())


def turns_at(drop: Drop) -> float:
    return next(k / 60.0 for k, command in enumerate(drop.commands) if command.yaw_rate_deg)


def seeks_at(drop: Drop) -> float:
    return drop.since("seek")


OVER = {"ahead": 0.2, "right": 0.0, "heading_deg": 0.0}
NOISY = {**OVER, "noise": 0.2, "end": 6.0, "hold": 10.0}
FAR = {"ahead": 4.0, "right": -3.0, "heading_deg": 100.0, "altitude": 10.0}
LOST = {"hidden": (5.0, 1e9)}

CONTROL: dict[str, tuple[dict[str, Any], Any, Measure, float]] = {
    "altitude_filter": (NOISY, False, altitude_noise, 0.08),
    "median_of": ({**OVER, "hold": 10.0, "spike": 0.5, "end": 6.0}, 1, altitude_noise, 0.1),
    "altitude_lag": (NOISY, 0.05, altitude_noise, 0.02),
    "second_stage": ({"ahead": 0.3, "right": 0.0, "heading_deg": 120.0}, "published", askew, 30.0),
    "position_gain": ({"altitude": 3.0, "ahead": 1.0, "heading_deg": 0.0}, 0.3, descends_at, 1.0),
    "tilt_height": ({"altitude": 10.0, "ahead": 3.0, "heading_deg": 0.0}, 1.5, descends_at, 2.0),
    "integral_share": ({"wind": 0.25}, 0.0, seconds, 30.0),
    "descent_gain": (OVER, 0.2, seconds, 3.0),
    "yaw_gain": ({**OVER, "heading_deg": 30.0}, 0.5, descends_at, 1.0),
    "max_speed": (FAR, 0.8, fastest, -0.8),
    "max_acceleration": (FAR, 0.5, jerkiest, -0.01),
    "max_descent": (OVER, 0.8, fastest_descent, -1.0),
    "max_yaw_rate_deg": ({**OVER, "heading_deg": 100.0}, 20.0, fastest_turn, -35.0),
    "yaw_within": (FAR, 0.1, turns_at, 0.5),
    "over_within": (FAR, 0.02, descends_at, 0.5),
    "aligned_within_deg": ({**OVER, "heading_deg": 60.0}, 20.0, descends_at, -0.5),
    "hold": (OVER, 2.0, descends_at, 1.5),
    "landing_height": (OVER, 2.5, final_altitude, 1.0),
    "land_within": ({"integral_share": 0.0, "wind": 0.1}, 0.3, seconds, -20.0),
    "land_hold": (OVER, 2.0, seconds, 1.0),
    "when_lost": (LOST, "go on", highest, -4.0),
    "lost_after": (LOST, 1.0, seeks_at, 0.6),
    "climb_speed": (LOST, 0.2, highest, -3.0),
    "ceiling": (LOST, 10.0, highest, -4.0),
    "give_up_after": (LOST, 5.0, seconds, -14.0),
    "time_limit": (FAR, 4.0, seconds, -4.0),
    "camera_ahead": ({"heading_deg": 0.0}, 0.0, distance, 0.35),
}


def test_every_option_has_a_case() -> None:
    assert set(CONTROL) == fields_of(LandingControlConfig)
    assert set(PILOT) == fields_of(LandingPilotConfig) - {"kind"}
    assert fields_of(LandingStart) == {"position", "yaw_deg"}  # in `start_is_given`


@pytest.mark.parametrize("name", CONTROL)
def test_option_of_the_control(name: str) -> None:
    given, value, measure, least = CONTROL[name]
    conditions = dict(given)
    base = {key: conditions.pop(key) for key in [*conditions] if key in CONTROL}
    conditions.setdefault("end", 120.0)
    before, after = (measure(Drop({**base, **changed}, **conditions)) for changed in ({}, {name: value}))
    check_change(name, before, after, least)


class Desk:
    """A pilot on the desk: it is told that it flies, and what it says is kept."""

    def __init__(self, **options: Any) -> None:
        self.pilot = LandingPilot(**options)
        self.published: list[Any] = []
        self.t = 0.0
        self.takeoff: TakeOff = self.call("disarmed", np.zeros(3), 0.0)[1]
        self.goal: Goal = self.call("hover", np.zeros(3), 0.0)

    def call(self, mode: str, position: Any, yaw: float, **latest: Any) -> Any:
        t_ns = round(self.t * 1e9)
        none = np.zeros(3)
        state = VehicleState(t_ns, position, none, quat_from_yaw(yaw), none, none, none, none, none, none)
        status = VehicleStatus(t_ns, mode, mode != "disarmed", mode == "disarmed", "")
        records = {f"drone/{name}": record for name, record in latest.items()}
        taken = self.published
        bundle = Bundle(
            t_ns, "drone", records, state, status, publisher=lambda name, record: taken.append(record)
        )  # fmt: skip
        return self.pilot(bundle)

    def settled(self, altitude: float = 8.0, **names: str) -> float:
        """s until it first looks, hovering at its start above a marker."""
        image = as_pixels(picture(LandingMarker(), altitude, 0.3))
        streams = {"camera": "down", "range": "range", **names}
        while not any(isinstance(record, LandingStatus) for record in self.published):
            self.look(image, altitude, **streams)
        return self.t

    def look(self, image: Any, altitude: float, camera: str = "down", range: str = "range") -> Any:
        self.t += 1.0 / 30.0
        t_ns = round(self.t * 1e9)
        latest = {camera: CameraImage(t_ns, image), range: RangeSample(t_ns, altitude, 0.2, 40.0)}
        assert self.goal.yaw is not None
        return self.call("setpoint" if self.published else "hover", self.goal.position, self.goal.yaw, **latest)

    @property
    def found(self) -> list[bool]:
        return [record.found for record in self.published if isinstance(record, LandingStatus)]


class Counted(LandingPilot):
    """Counts its calls."""

    calls = 0

    def __call__(self, bundle: Bundle) -> Any:
        self.calls += 1


def rate_is_kept() -> None:
    for rate, options in ((60, {}), (20, {"rate_hz": 20})):
        vehicle = {"name": "drone", "pilot": {"kind": "landing", **options}}
        with build(make_scenario({"vehicles": [vehicle]})) as simulation:
            pilot: Any = simulation.parts_of(PilotPart)[0].pilot
            pilot.__class__ = Counted
            simulation.run_until(1.0)
            assert pilot.calls in (rate, rate + 1)


def camera_is_chosen() -> None:
    desk = Desk(camera="belly")
    desk.settled(camera="belly")
    assert desk.pilot.streams == ("belly", "range")
    with pytest.raises(UnknownNameError, match=r"down"):
        Desk().settled(camera="belly")


def rangefinder_is_chosen() -> None:
    desk = Desk(rangefinder="sonar")
    desk.settled(range="sonar")
    with pytest.raises(UnknownNameError, match=r"range"):
        Desk().settled(range="sonar")


def takeoff_altitude_is_kept() -> None:
    assert [Desk().takeoff.altitude, Desk(takeoff_altitude=4.0).takeoff.altitude] == [2.0, 4.0]


def start_is_drawn_around_the_place() -> None:
    at = [Desk(start_seed=3, marker_near=place).goal.position for place in ((6.0, 0.0), (-10.0, 5.0))]
    np.testing.assert_allclose(at[1] - at[0], [-16.0, 5.0, 0.0], atol=1e-9)


def start_is_given() -> None:
    goal = Desk(start={"position": (3.0, 4.0, 7.0), "yaw_deg": 90.0}).goal
    assert goal.position.tolist() == [3.0, 4.0, 7.0] and goal.yaw == pytest.approx(0.5 * math.pi)
    assert Desk(start={"position": (3.0, 4.0, 7.0)}).goal.yaw == 0.0


def start_is_drawn_by_a_seed() -> None:
    """As in the paper: 5 to 10 m high, a third of the height in x and half of it in y, any heading."""
    goals = [Desk(start_seed=seed).goal for seed in range(200)]
    x, y, z = (np.array([goal.position for goal in goals]) - [6.0, 0.0, 0.0]).T
    yaw = np.array([goal.yaw for goal in goals], float)
    for values, least, most in (
        (z, 5.0, 10.0),
        (3.0 * x / z, -1.0, 1.0),
        (2.0 * y / z, -1.0, 1.0),
        (yaw / math.pi, -1.0, 1.0),
    ):
        assert least <= values.min() < least + 0.1 * (most - least)
        assert most - 0.1 * (most - least) < values.max() <= most
    again = Desk(start_seed=7).goal
    assert again.position.tolist() == goals[7].position.tolist() and again.yaw == goals[7].yaw


def settle_is_waited_for() -> None:
    assert Desk(settle=3.0).settled() - Desk(settle=1.0).settled() == pytest.approx(2.0, abs=0.05)


def rules_are_chosen() -> None:
    """Below 3 m the published rules find nothing."""
    for rules, is_found in (("touchdown", True), ("published", False)):
        desk = Desk(rules=rules)
        desk.settled()
        image = as_pixels(picture(LandingMarker(), 2.6))
        for _ in range(25):
            desk.look(image, 2.6)
        assert desk.found[-1] is is_found


def control_is_given() -> None:
    speeds = []
    for limit in (2.0, 0.3):
        desk = Desk(control={"max_speed": limit, "max_acceleration": 20.0})
        desk.settled()
        image = as_pixels(picture(LandingMarker(), 8.0, 0.3, (300.0, 0.0)))
        for _ in range(4):
            reply = desk.look(image, 8.0)
        assert isinstance(reply, Velocity) and reply.frame == "body"
        speeds.append(float(np.hypot(*reply.velocity[:2])))
    assert speeds[1] == pytest.approx(0.3) and speeds[0] > 1.0


def monitor_shows_some_images() -> None:
    """Half as large, coloured on a grey image, and no more often than asked."""
    counts = []
    for rate in (0.0, 5.0, 10.0):
        desk = Desk(monitor_hz=rate)
        desk.settled()
        image = as_pixels(picture(LandingMarker(), 8.0))
        for _ in range(29):
            desk.look(image, 8.0)
        shown = [record for record in desk.published if isinstance(record, Image)]
        counts.append(len(shown))
        assert all(record.source == "down" and record.pixels.shape == (360, 640, 3) for record in shown)
        assert all(np.ptp(record.pixels.astype(int), axis=2).max() > 100 for record in shown)
    assert counts == [0, 5, 10]


def it_goes_home_or_stays() -> None:
    nothing = np.full((720, 1280), 90, np.uint8)
    for choice, reply_kind, is_done in (("home", GoHome, False), ("hover", Hover, True)):
        desk = Desk(on_give_up=choice, control={"give_up_after": 0.5})
        desk.settled()
        replies = [desk.look(nothing, 8.0) for _ in range(30)]
        assert any(isinstance(reply, reply_kind) for reply in replies)
        assert desk.pilot.done is is_done
        assert desk.pilot.stage == "given up"


PILOT: dict[str, Callable[[], None]] = {
    "rate_hz": rate_is_kept,
    "camera": camera_is_chosen,
    "rangefinder": rangefinder_is_chosen,
    "takeoff_altitude": takeoff_altitude_is_kept,
    "marker_near": start_is_drawn_around_the_place,
    "start": start_is_given,
    "start_seed": start_is_drawn_by_a_seed,
    "settle": settle_is_waited_for,
    "rules": rules_are_chosen,
    "control": control_is_given,
    "monitor_hz": monitor_shows_some_images,
    "on_give_up": it_goes_home_or_stays,
}


@pytest.mark.parametrize("name", PILOT)
def test_option_of_the_pilot(name: str) -> None:
    PILOT[name]()
