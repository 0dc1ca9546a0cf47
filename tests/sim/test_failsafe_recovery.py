"""Around a failsafe: the flight goes on where it was broken off, and nothing is believed that is not known."""

import numpy as np
import pytest

import skyloop
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Arm, Disarm, Estimate, Goal, GoHome, Land, TakeOff, Velocity
from skyloop_papers.benchmarks.flight import NOISY_SENSORS, SQUARE_MISSION

pytestmark = pytest.mark.flights


def build(*, imu_off=None, **vehicle):
    sensors = dict(NOISY_SENSORS)
    if imu_off is not None:
        fault = {"kind": "off", "start": imu_off[0], "end": imu_off[1]}
        sensors["imu"] = {**sensors["imu"], "faults": [fault]}
    return skyloop.build(skyloop.make_scenario({"vehicles": [{"state": "ekf", "sensors": sensors, **vehicle}]}))


def kinds(events):
    return [message.data.kind for message in events]


def fly_up(sim, altitude=4.0):
    sim.run_for(3.0)
    sim.send(Arm(), TakeOff(altitude))
    sim.run_for(6.0)
    assert sim.latest("drone/status").mode == "hover"


def test_a_landing_goes_on_after_the_estimate_was_lost():
    sim = build(imu_off=(11.0, 11.5))
    events = sim.subscribe("drone/events")
    fly_up(sim)
    sim.send(Land())
    seen: list[str] = []
    while "disarmed" not in seen and sim.now < 26.0:
        sim.run_for(1.0)
        seen += kinds(events)
    assert {"failsafe", "failsafe over", "landed", "disarmed"} <= set(seen)
    assert sim.latest("drone/status").landed


def test_a_mission_goes_on_after_the_estimate_was_lost():
    sim = build(imu_off=(8.0, 8.4), pilot=SQUARE_MISSION)
    events = sim.subscribe("drone/events")
    seen: list[str] = []
    while "landed" not in seen and sim.now < 60.0:
        sim.run_for(1.0)
        seen += kinds(events)
    assert "failsafe over" in seen
    assert "landed" in seen and "crash" not in seen
    assert np.linalg.norm(sim.truth().position[:2]) < 3.0


def test_a_blind_descent_does_not_keep_turning():
    sim = build(imu_off=(12.0, 12.6))
    fly_up(sim)
    for _ in range(36):
        sim.send(Velocity(np.zeros(3), yaw_rate=1.0))
        sim.run_for(0.1)
        if sim.now > 12.0:
            assert abs(sim.truth().angular_velocity_body[2]) < 1.5


def test_a_controller_outside_is_told_to_descend():
    sim = build(imu_off=(12.0, 20.0))
    fly_up(sim)
    sim.send(Velocity(np.array([2.0, 0.0, 0.0])))
    sim.run_until(12.4)
    wanted = sim.autopilots["drone"].present_setpoint(sim.clock.now_ns)
    assert isinstance(wanted, Velocity)
    np.testing.assert_allclose(wanted.velocity, [0.0, 0.0, -0.7])


def test_a_stale_estimate_does_not_arm():
    sim = build(imu_off=(5.0, 100.0))
    events = sim.subscribe("drone/events")
    sim.run_for(8.0)
    sim.send(Arm())
    sim.run_for(0.1)
    assert not sim.latest("drone/status").armed
    assert kinds(events)[-1] == "refused"


def test_nothing_is_believed_before_the_first_estimate_and_late_ones_are_ignored():
    sim = build()
    autopilot = sim.autopilots["drone"]
    first = autopilot.state(0)
    assert isinstance(first, Estimate) and not first.valid

    def estimate(t_ns, x):
        three = np.full(3, 0.1)
        return Estimate(t_ns, np.array([x, 0, 0]), three, np.array([1.0, 0, 0, 0]), three, three, three, three, True)

    autopilot.feed_estimate(estimate(200, 2.0))
    autopilot.feed_estimate(estimate(100, 1.0))
    assert autopilot.state(300).position[0] == 2.0


def test_landed_is_what_the_legs_say():
    sim = skyloop.build(skyloop.make_scenario({}))
    sim.run_for(0.1)
    assert sim.latest("drone/status").landed
    sim.send(Arm(), GoHome())
    sim.run_for(1.5)
    assert sim.truth().position[2] > 0.5
    assert not sim.latest("drone/status").landed
    sim.send(Disarm())
    sim.run_for(0.3)
    assert not sim.latest("drone/status").landed
    sim.run_for(4.0)
    assert sim.latest("drone/status").landed


def test_a_start_in_the_air_is_not_landed():
    sim = skyloop.build(skyloop.make_scenario({"vehicles": [{"position": [0, 0, 20]}]}))
    sim.run_for(0.1)
    assert not sim.latest("drone/status").landed


def test_a_goal_below_the_ground_ends_on_the_ground():
    sim = skyloop.build(skyloop.make_scenario({}))
    events = sim.subscribe("drone/events")
    sim.send(Arm(), TakeOff(2.0))
    sim.run_for(4.0)
    sim.send(Goal(np.array([3.0, 0.0, -2.0])))
    sim.run_for(12.0)
    assert {"blocked", "landed", "disarmed"} <= set(kinds(events))


@pytest.mark.parametrize("item", [Arm, "up", [Arm()], TakeOff("2"), TakeOff(float("nan"))])  # type: ignore[arg-type]
def test_what_cannot_be_sent_is_said_in_one_line(item):
    sim = skyloop.build(skyloop.make_scenario({}))
    sim.send(Arm())
    with pytest.raises(SetpointError) as trouble:
        sim.send(item)
    assert "\n" not in str(trouble.value)
