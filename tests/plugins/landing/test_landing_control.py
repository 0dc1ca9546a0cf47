"""The control of a landing on a vehicle of one line of physics; the simulator's own flies it in test_landing_pilot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from landing_rig import Drop, marker_at
from skyloop_landing.vision.control import LandingControlConfig, LandingMemory, advance, measured, offset_of

CONFIG = LandingControlConfig()
START_HEADINGS = (0.0, 70.0, -130.0, 179.0)


@pytest.mark.parametrize("heading_deg", START_HEADINGS)
def test_it_ends_over_the_marker_and_aligned_within_twenty_seconds(heading_deg: float) -> None:
    for altitude, ahead, right in ((5.0, 1.6, 2.0), (10.0, -3.0, -4.0)):
        drop = Drop(altitude=altitude, ahead=ahead, right=right, heading_deg=heading_deg, noise=0.2)
        assert drop.stage == "land"
        assert drop.distance < 0.12
        assert abs(drop.heading_deg) < 3.0
        assert 0.6 < drop.altitude < 1.3
        assert drop.t < 16.0


def test_it_stays_high_until_it_is_over_the_marker_and_aligned() -> None:
    drop = Drop()
    assert drop.stages == ["over", "down", "land"]
    begins = drop.at(drop.since("down"))
    assert min(drop.altitudes[:begins]) > 7.9
    assert all(command.vz == 0.0 for command in drop.commands[:begins])


def test_the_vehicle_is_landed_and_not_the_camera() -> None:
    """The camera is half a metre ahead. Who does not know it, lands half a metre behind the marker."""
    assert Drop().distance < 0.1
    ignorant = Drop({"camera_ahead": 0.0}, heading_deg=0.0)
    assert ignorant.ahead == pytest.approx(0.5, abs=0.1)
    offset = offset_of(marker_at(-0.5, 0.2, 10.0, 4.0), 4.0, 0.5)
    assert (offset.ahead, offset.right, offset.heading_deg) == pytest.approx((0.0, 0.2, 10.0), abs=0.01)


def test_the_published_second_stage_leaves_the_heading_as_it_is() -> None:
    """It descends on one image with the right position, and turns no more: what the paper blames its 0.75 rad on."""
    published = Drop({"second_stage": "published"}, ahead=0.3, right=0.0, heading_deg=120.0)
    assert published.stage == "land"
    assert abs(published.heading_deg) > 60.0
    ours = Drop(ahead=0.3, right=0.0, heading_deg=120.0)
    assert abs(ours.heading_deg) < 3.0


def test_the_other_reading_of_the_published_second_stage_waits_for_the_heading() -> None:
    aligned = Drop({"second_stage": "aligned"}, ahead=0.3, right=0.0, heading_deg=120.0)
    assert aligned.stage == "land" and abs(aligned.heading_deg) < 3.0
    both = [Drop({"second_stage": which}, ahead=0.3, right=0.0) for which in ("published", "aligned")]
    assert both[0].since("down") < both[1].since("down") < Drop(ahead=0.3, right=0.0).since("down")
    # it does not wait for both to last, and does not turn on the way down
    below = aligned.commands[aligned.at(aligned.since("down")) :]
    assert {command.yaw_rate_deg for command in below} == {0.0}


def test_a_regulator_without_a_new_input_goes_on_and_lands() -> None:
    lost: dict[str, Any] = {"hidden": (5.0, 1e9), "heading_deg": 0.0}
    published = Drop({"second_stage": "published", "when_lost": "go on", "give_up_after": 5.0}, **lost)
    assert published.stages == ["over", "down", "land"]
    assert min(command.vz for command in published.commands[published.at(5.1) : -1]) > 0.0
    assert published.altitude == pytest.approx(CONFIG.landing_height, abs=0.15)
    away = Drop({"when_lost": "go on"}, hidden=(0.5, 1e9), heading_deg=0.0, end=40.0)
    assert away.stage == "given up" and away.distance > 10.0
    assert all(command.vz == 0.0 for command in away.commands)


def test_without_a_filter_one_low_reading_ends_the_published_landing_high_up() -> None:
    spiky: dict[str, Any] = {"spike": 0.6, "ahead": 0.3, "right": 0.0, "heading_deg": 40.0}
    raw = Drop({"altitude_filter": False, "second_stage": "published"}, **spiky)
    assert raw.stage == "land" and raw.altitude > 5.0
    filtered = Drop({"second_stage": "published"}, **spiky)
    assert filtered.stage == "land" and filtered.altitude < 1.3
    both = Drop(**spiky)
    assert both.altitude < 1.2 and abs(both.heading_deg) < 3.0


def test_the_filter_is_quieter_than_the_rangefinder_and_does_not_lag() -> None:
    drop = Drop(noise=0.2)
    errors = np.array(drop.believed) - np.array(drop.altitudes)
    assert errors[60:].std() < 0.1
    assert abs(errors[60:].mean()) < 0.05
    down = slice(drop.at(drop.since("down")) + 30, None)
    assert abs(errors[down].mean()) < 0.1
    raw = Drop({"altitude_filter": False}, noise=0.2, end=5.0)
    assert (np.array(raw.believed) - np.array(raw.altitudes)).std() == pytest.approx(0.2, rel=0.15)


def test_a_median_ignores_two_spikes_in_five() -> None:
    memory = LandingMemory()
    for k, reading in enumerate((8.0, 8.0, 8.0, 40.0, 8.0, 0.3, 8.0)):
        memory = measured(memory, reading, k / 60.0, CONFIG)
    assert memory.altitude == pytest.approx(8.0)
    assert measured(memory, math.nan, 1.0, CONFIG) is memory


def test_a_deaf_rangefinder_stops_the_descent_and_a_short_silence_does_not_matter() -> None:
    short = Drop(deaf=(5.0, 5.3))
    assert short.stage == "land" and short.distance < 0.1
    long = Drop(deaf=(5.0, 99.0))
    assert long.stage == "given up"
    assert long.altitude > 1.0
    late = long.commands[long.at(6.0) :]
    assert all((command.vx, command.vy, command.vz) == (0.0, 0.0, 0.0) for command in late)


def test_a_marker_that_is_lost_stops_the_descent_then_it_climbs_and_tries_again() -> None:
    drop = Drop(hidden=(5.0, 7.5))
    assert drop.stages == ["over", "down", "seek", "over", "down", "land"]
    assert all(command.vz <= 0.0 for command in drop.commands[drop.at(5.0) + 1 : drop.at(7.5)])
    assert {command.vz for command in drop.commands[drop.at(5.5) : drop.at(7.5)]} == {-CONFIG.climb_speed}
    assert drop.distance < 0.1 and drop.t < 25.0


def test_a_blink_is_no_loss() -> None:
    drop = Drop(hidden=(5.0, 5.2))
    assert drop.stages == ["over", "down", "land"]
    assert {command.vz for command in drop.commands[drop.at(5.0) + 1 : drop.at(5.2) - 1]} == {0.0}


def test_without_a_marker_it_climbs_to_the_ceiling_gives_up_and_never_lands() -> None:
    drop = Drop(hidden=(0.0, 1e9), end=40.0)
    assert drop.stages == ["seek", "given up"]
    assert max(drop.altitudes) == pytest.approx(CONFIG.ceiling, abs=0.8)
    assert drop.t == pytest.approx(CONFIG.give_up_after, abs=0.1)
    lost_low = Drop(hidden=(6.0, 1e9), end=60.0)
    assert lost_low.stage == "given up"
    assert lost_low.altitude > 8.0
    memory, command = advance(lost_low.memory, marker_at(0.0, 0.0, 0.0, 1.0), 99.0, CONFIG)
    assert (command.vx, command.vz, command.stage) == (0.0, 0.0, memory.stage)


def test_it_does_not_land_beside_the_marker() -> None:
    """Pushed aside by more than it can make up for, it waits, and gives up in the end."""
    for wind, stages in ((0.4, ["over", "given up"]), (0.2, ["over", "down", "given up"])):
        drop = Drop({"integral_share": 0.0}, wind=wind, end=120.0)
        assert drop.stages == stages
        assert drop.t == pytest.approx(CONFIG.time_limit, abs=0.1)
        assert drop.distance > CONFIG.land_within
        assert min(drop.altitudes) > 0.7


def test_the_integral_makes_up_for_a_steady_wind() -> None:
    drop = Drop(wind=0.3)
    assert drop.stage == "land"
    assert drop.distance < 0.1


def test_commands_keep_their_limits() -> None:
    drop = Drop(altitude=10.0, ahead=4.5, right=-4.0, heading_deg=175.0)
    speeds = np.array([[command.vx, command.vy, command.vz] for command in drop.commands])
    assert np.linalg.norm(speeds[:, :2], axis=1).max() <= CONFIG.max_speed + 1e-9
    steps = np.linalg.norm(np.diff(speeds[:, :2], axis=0), axis=1) * 60.0
    landing = [k for k, command in enumerate(drop.commands) if command.stage == drop.memory.stage]
    assert steps[: landing[0] - 1].max() <= CONFIG.max_acceleration + 1e-6
    assert speeds[:, 2].min() >= 0.0 and speeds[:, 2].max() <= CONFIG.max_descent
    assert max(abs(command.yaw_rate_deg) for command in drop.commands) == pytest.approx(CONFIG.max_yaw_rate_deg)


def test_a_heading_that_is_not_measured_is_not_followed() -> None:
    memory = measured(LandingMemory(), 1.2, 0.0, CONFIG)
    for rectangle, rate in ((True, 15.0), (False, 0.0)):
        _, command = advance(memory, marker_at(-0.5, 0.0, 10.0, 1.2, rectangle=rectangle), 0.0, CONFIG)
        assert command.yaw_rate_deg == pytest.approx(rate, abs=0.01)
