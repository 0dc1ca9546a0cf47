import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy.interpolate import make_interp_spline

from skyloop.vehicle.trajectories.trajectories import (
    Circle,
    Legs,
    Lemniscate,
    Line,
    MinimumSnap,
    Square,
    TrajectoryConfig,
    build,
)
from skyloop_client.errors import ScenarioError

WAYPOINTS = np.array([[0, 0, 2], [6, 1, 3], [8, 7, 2.5], [1, 9, 4], [-3, 3, 3]], dtype=float)

TRAJECTORIES: dict[str, Any] = {
    "circle": Circle([1, 2, 3], 8.0, 4.0, laps=2),
    "circle, fixed yaw": Circle([1, 2, 3], 8.0, 4.0, laps=2, yaw=0.7, start_angle=2.0),
    "lemniscate": Lemniscate([0, 5, 10], 6.0, 5.0, axis_angle=0.4),
    "square": Square([0, 0, 2], 10.0, 3.0, first_heading=0.3),
    "legs": Legs([[0, 0, 2], [20, 0, 2], [20, 0, 8], [10, 5, 8]], 4.0, legs=5),
    "line": Line([0, 0, 1], [3, 4, 5], 2.0),
    "minimum snap": MinimumSnap(WAYPOINTS, speed=4.0),
    "minimum snap, times": MinimumSnap(WAYPOINTS, segment_times=[2, 3, 2.5, 3], yaws=[0, 3, -3, -2, 1]),
}
DERIVATIVES = ["position", "velocity", "acceleration", "jerk", "snap"]

each_trajectory = pytest.mark.parametrize("trajectory", TRAJECTORIES.values(), ids=TRAJECTORIES.keys())


def sampled_fields(trajectory, times):
    points = [trajectory.at(t) for t in times]
    return {name: np.array([getattr(p, name) for p in points]) for name in [*DERIVATIVES, "yaw", "yaw_rate"]}


def sampled(trajectory, field, times):
    return np.array([getattr(trajectory.at(t), field) for t in times])


@each_trajectory
def test_every_derivative_matches_finite_differences(trajectory):
    h = 1e-4
    # Away from multiples of anything, so that no difference straddles a joint of the pieces.
    times = trajectory.duration * (np.arange(200) + 0.377) / 200
    before, now, after = (sampled_fields(trajectory, times + shift) for shift in (-h, 0.0, h))
    for lower, upper in [*pairwise(DERIVATIVES), ("yaw", "yaw_rate")]:
        rate = now[upper]
        difference = (after[lower] - before[lower]) / (2 * h)
        np.testing.assert_allclose(rate, difference, atol=1e-5 * (1 + np.abs(rate).max()), err_msg=upper)


@each_trajectory
def test_begins_and_ends_at_rest_and_stays_there(trajectory):
    for outside, end in [(-1.0, 0.0), (trajectory.duration + 5, trajectory.duration)]:
        still, last = trajectory.at(outside), trajectory.at(end)
        for name in DERIVATIVES[1:]:
            assert np.all(np.abs(getattr(still, name)) < 1e-12), name
        for name in DERIVATIVES[1:4]:
            assert np.all(np.abs(getattr(last, name)) < 1e-9), name
        np.testing.assert_allclose(still.position, last.position, atol=1e-9)
        assert still.yaw == pytest.approx(last.yaw)
        assert still.yaw_rate == last.yaw_rate == 0.0


@each_trajectory
def test_is_continuous_up_to_jerk_and_in_yaw(trajectory):
    dt = 5e-3
    fields = sampled_fields(trajectory, np.arange(0.0, trajectory.duration + 0.1, dt))
    rates = {"velocity": "acceleration", "acceleration": "jerk", "jerk": "snap", "yaw": "yaw_rate"}
    for name, rate in rates.items():
        steps = np.abs(np.diff(fields[name], axis=0))
        assert steps.max() <= 1.2 * dt * np.abs(fields[rate]).max() + 1e-9, name


@pytest.mark.parametrize("name", ["circle", "lemniscate"])
def test_closed_curves_hold_their_speed_and_face_forward(name):
    trajectory = TRAJECTORIES[name]
    speed = {"circle": 4.0, "lemniscate": 5.0}[name]
    ramp = 35 / 16 * speed / 3.0
    for t in np.linspace(ramp, trajectory.duration - ramp, 100):
        point = trajectory.at(t)
        assert np.linalg.norm(point.velocity) == pytest.approx(speed, rel=1e-9)
        heading = speed * np.array([math.cos(point.yaw), math.sin(point.yaw), 0.0])
        np.testing.assert_allclose(point.velocity, heading, atol=1e-9)


def test_circle_stays_on_its_circle_for_its_laps():
    trajectory = TRAJECTORIES["circle"]
    points = sampled(trajectory, "position", np.linspace(0, trajectory.duration, 300))
    np.testing.assert_allclose(np.linalg.norm(points - [1, 2, 3], axis=1), 8.0)
    assert trajectory.at(trajectory.duration).yaw - trajectory.at(0).yaw == pytest.approx(4 * math.pi)


def test_lemniscate_has_the_minimum_radius_and_the_implicit_equation_of_bernoulli():
    speed = 10.0
    trajectory = Lemniscate([0, 0, 20], 30.0, speed, ramp=4.0)
    cruise = np.linspace(4.0, trajectory.duration - 4.0, 4001)
    velocity = sampled(trajectory, "velocity", cruise)
    # Curvature from finite differences of the velocity alone.
    turning = np.gradient(np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0])), cruise)
    assert speed / np.abs(turning).max() == pytest.approx(30.0, rel=1e-3)
    x, y, _ = sampled(trajectory, "position", np.linspace(0, trajectory.duration, 500)).T
    np.testing.assert_allclose((x**2 + y**2) ** 2, 90.0**2 * (x**2 - y**2), atol=1e-6 * 90**4)
    # Bernoulli's lemniscate of half-width A is 5.24411510858 A long.
    travelled = speed * (trajectory.duration - 4.0)
    assert travelled == pytest.approx(5.24411510858 * 90.0, rel=1e-9)


def test_curve_too_short_for_its_speed_is_refused():
    with pytest.raises(ScenarioError, match="laps"):
        Circle([0, 0, 2], 1.0, 10.0)


@pytest.mark.parametrize("speed", [5.0, 10.0])
def test_eighty_metre_legs_reach_their_speed_within_the_acceleration(speed):
    trajectory = Legs([[0, 0, 5], [80, 0, 5]], speed, legs=4, yaw=0.0)
    times = np.linspace(0, trajectory.duration, 4001)
    speeds = np.linalg.norm(sampled(trajectory, "velocity", times), axis=1)
    assert speeds.max() == pytest.approx(speed)
    assert np.abs(sampled(trajectory, "acceleration", times)).max() == pytest.approx(3.0, rel=1e-4)
    x = sampled(trajectory, "position", times)[:, 0]
    assert x.min() == pytest.approx(0.0, abs=1e-9)
    assert x.max() == pytest.approx(80.0, abs=1e-3)
    assert np.trapezoid(speeds, times) == pytest.approx(320.0, rel=1e-4)
    np.testing.assert_allclose(trajectory.at(trajectory.duration).position, [0, 0, 5], atol=1e-9)


def test_a_leg_too_short_for_its_speed_keeps_the_acceleration():
    trajectory = Line([0, 0, 1], [0, 1, 1], 10.0, acceleration=2.0)
    times = np.linspace(0, trajectory.duration, 4001)
    accelerations = np.linalg.norm(sampled(trajectory, "acceleration", times), axis=1)
    assert accelerations.max() == pytest.approx(2.0, rel=1e-4)
    np.testing.assert_allclose(trajectory.at(math.inf).position, [0, 1, 1])


def test_square_stops_in_its_corners_and_turns_there():
    trajectory = Square([1, 1, 2], 10.0, 3.0, turn_rate=0.5)
    times = np.linspace(0, trajectory.duration, 3001)
    points = sampled(trajectory, "position", times)
    for corner in ([1, 1, 2], [11, 1, 2], [11, 11, 2], [1, 11, 2]):
        assert np.linalg.norm(points - corner, axis=1).min() < 1e-9
    rates = sampled(trajectory, "yaw_rate", times)
    speeds = np.linalg.norm(sampled(trajectory, "velocity", times), axis=1)
    assert speeds.max() == pytest.approx(3.0)
    assert np.all((speeds < 1e-9) | (rates == 0.0))
    assert rates.max() == pytest.approx(0.5)
    assert trajectory.at(trajectory.duration).yaw == pytest.approx(1.5 * math.pi)


def test_minimum_snap_is_the_clamped_septic_spline():
    times = [2.0, 3.0, 2.5, 3.0]
    trajectory = MinimumSnap(WAYPOINTS, segment_times=times)
    knots = np.concatenate([[0], np.cumsum(times)])
    rest = [(order, np.zeros(3)) for order in (1, 2, 3)]
    spline = make_interp_spline(knots, WAYPOINTS, k=7, bc_type=(rest, rest))
    inside = np.linspace(0.01, knots[-1] - 0.01, 200)
    for order, name in enumerate(DERIVATIVES):
        np.testing.assert_allclose(sampled(trajectory, name, inside), spline(inside, order), atol=1e-7)


def test_minimum_snap_passes_its_waypoints_and_beats_its_neighbours():
    trajectory = TRAJECTORIES["minimum snap"]
    np.testing.assert_allclose(sampled(trajectory, "position", trajectory.waypoint_times), WAYPOINTS, atol=1e-9)
    times = trajectory.duration * (np.arange(4000) + 0.5) / 4000
    snap = sampled(trajectory, "snap", times)[:, 0]
    least = np.mean(snap**2)
    # Vanishes at the waypoints, to the third derivative at both ends: an admissible change of the solution.
    unit = trajectory.waypoint_times / trajectory.duration
    change = np.polynomial.Polynomial.fromroots([0] * 3 + [1] * 3 + unit.tolist())
    bump = change.deriv(4)(times / trajectory.duration)
    bump *= np.sqrt(least / np.mean(bump**2))
    assert abs(np.mean(snap * bump)) < 1e-5 * least
    for size in (-0.3, -0.1, 0.1, 0.3):
        assert np.mean((snap + size * bump) ** 2) > (1 + 0.9 * size**2) * least


@pytest.mark.parametrize(("speed", "acceleration"), [(2.0, 50.0), (50.0, 4.0)])
def test_minimum_snap_meets_the_limit_that_binds(speed, acceleration):
    trajectory = MinimumSnap(WAYPOINTS, speed=speed, acceleration=acceleration)
    times = np.linspace(0, trajectory.duration, 2000)
    top_speed = np.linalg.norm(sampled(trajectory, "velocity", times), axis=1).max()
    top_acceleration = np.linalg.norm(sampled(trajectory, "acceleration", times), axis=1).max()
    assert max(top_speed / speed, top_acceleration / acceleration) == pytest.approx(1.0, abs=2e-3)


def test_optimised_times_need_less_snap_in_the_same_time():
    def cost(trajectory):
        # With x = t / duration the cost no longer depends on the pace.
        times = np.linspace(0, trajectory.duration, 2001)
        snap = sampled(trajectory, "snap", times) * trajectory.duration**4
        return np.trapezoid(np.sum(snap**2, axis=1), times / trajectory.duration)

    plain = MinimumSnap(WAYPOINTS, speed=4.0)
    optimised = MinimumSnap(WAYPOINTS, speed=4.0, optimise_times=True)
    assert cost(optimised) < 0.95 * cost(plain)


@pytest.mark.parametrize(
    "options", [{}, {"speed": 1.0, "segment_times": [1] * 4}, {"segment_times": [1, 2]}, {"speed": 1.0, "yaws": [0.0]}]
)
def test_minimum_snap_refuses_contradictions(options):
    with pytest.raises(ScenarioError):
        MinimumSnap(WAYPOINTS, **options)


@pytest.mark.parametrize("flown", [Legs, MinimumSnap])
def test_repeated_points_are_refused(flown):
    with pytest.raises(ScenarioError, match="same"):
        flown([[0, 0, 1], [0, 0, 1]], speed=1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "circle", "centre": [0, 0, 5], "radius": 10, "speed": 5},
        {"kind": "lemniscate", "centre": [0, 0, 5], "minimum_radius": 10, "speed": 5, "yaw": 1.0},
        {"kind": "square", "corner": [0, 0, 5], "side": 10, "speed": 5},
        {"kind": "legs", "points": [[0, 0, 5], [80, 0, 5]], "speed": 10, "legs": 2},
        {"kind": "waypoints", "waypoints": WAYPOINTS.tolist(), "speed": 3},
    ],
)
def test_configurations_build_and_refuse_unknown_keys(options):
    adapter = TypeAdapter(TrajectoryConfig)
    config = adapter.validate_python(options)
    trajectory = build(config)
    assert np.all(np.isfinite(trajectory.at(trajectory.duration / 2).snap))
    assert adapter.validate_json(adapter.dump_json(config)) == config
    with pytest.raises(ValidationError):
        adapter.validate_python({**options, "sped": 1.0})
