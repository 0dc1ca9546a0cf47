"""ODOMETRY for PX4: what is in it, when it is sent, and a flight on it alone."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odometry_pilot import on_odometry
from px4_peer import SENSORS, Bench, echo, scenario
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from published_things import TILTED, estimate
from skyloop.links.autopilots.configs import ArdupilotConfig, Px4Config
from skyloop.links.autopilots.odometry import LocalAxes, OdometryFeed
from skyloop.links.autopilots.px4 import Px4Options
from skyloop.links.autopilots.px4_wire import Wire
from skyloop.sim.scenario import load_scenario, make_scenario
from skyloop_client.errors import LinkError
from skyloop_client.messages import Estimate, Message
from skyloop_client.streams import Rate

THINGS = str(Path(__file__).parents[1] / "published_things.py")
YAW = math.radians(30.0)
FORWARD = np.array([math.cos(YAW), math.sin(YAW), 0.0])
RIGHT = np.array([math.sin(YAW), -math.cos(YAW), 0.0])
DOWN = np.array([0.0, 0.0, -1.0])
START = np.array([3.0, -2.0, 0.5])


def decoded(data: bytes) -> Any:
    (message,) = common.MAVLink(None).parse_buffer(data)
    return message


def axes() -> LocalAxes:
    return LocalAxes.at("frd", START, np.array([math.cos(YAW / 2), 0.0, 0.0, math.sin(YAW / 2)]))


def upper(values: Any) -> np.ndarray:
    total = np.zeros((6, 6))
    total[np.triu_indices(6)] = values
    return total + np.triu(total, 1).T


def test_fields_in_axes_that_begin_at_the_start() -> None:
    reported = estimate(1_234_567_890)
    message = decoded(Wire().odometry(1_234_567, reported, axes(), 7))
    assert (message.get_msgId(), message.frame_id, message.child_frame_id) == (331, 20, 12)
    assert (message.time_usec, message.reset_counter, message.estimator_type, message.quality) == (1_234_567, 7, 3, 100)
    away = reported.position - START
    assert (message.x, message.y, message.z) == pytest.approx((away @ FORWARD, away @ RIGHT, away @ DOWN), abs=1e-5)
    local_from_world = np.stack([FORWARD, RIGHT, DOWN])
    world_from_frd = Rotation.from_quat(np.roll(TILTED, -1)).as_matrix() @ np.diag([1.0, -1.0, -1.0])
    w, x, y, z = message.q
    seen = Rotation.from_quat([x, y, z, w]).as_matrix()
    assert seen == pytest.approx(local_from_world @ world_from_frd, abs=1e-6) and w > 0.0
    assert [message.vx, message.vy, message.vz] == pytest.approx(world_from_frd.T @ reported.velocity_world, abs=1e-6)
    assert (message.rollspeed, message.pitchspeed, message.yawspeed) == pytest.approx((0.01, -0.02, -0.03))


def test_covariances_are_those_of_what_is_sent() -> None:
    """Against a sample: estimates are drawn, sent, and their fields compared."""
    small = 1e-4
    root = small * np.linalg.cholesky(np.asarray(estimate().covariance)[:9, :9])
    reported, rng, sample = estimate(), np.random.default_rng(2), []
    world_from_body = Rotation.from_quat(np.roll(TILTED, -1))
    sd, wire = np.full(3, 1.0), Wire()
    for _ in range(1000):
        off = root @ rng.normal(size=9)
        turn = Rotation.from_rotvec(off[6:]) * world_from_body
        motion = (
            reported.position + off[:3],
            reported.velocity_world + off[3:6],
            np.roll(turn.as_quat(), 1),
            np.zeros(3),
        )
        drawn = decoded(wire.odometry(0, Estimate(0, *motion, sd, sd, sd, True), axes()))
        w, x, y, z = drawn.q
        yaw, pitch, roll = Rotation.from_quat([x, y, z, w]).as_euler("ZYX")
        sample.append([drawn.x, drawn.y, drawn.z, roll, pitch, yaw, drawn.vx, drawn.vy, drawn.vz])
    seen = np.cov(np.array(sample).T) / small**2
    message = decoded(Wire().odometry(0, reported, axes()))
    pose, velocity = upper(message.pose_covariance), upper(message.velocity_covariance)
    size = np.sqrt(np.diag(seen))
    assert pose / np.outer(size[:6], size[:6]) == pytest.approx(seen[:6, :6] / np.outer(size[:6], size[:6]), abs=0.12)
    of_velocity = np.outer(size[6:], size[6:])
    assert velocity[:3, :3] / of_velocity == pytest.approx(seen[6:, 6:] / of_velocity, abs=0.12)
    # nothing is known of the rates: NaN, not 0
    assert np.isnan(velocity[3:]).all() and np.isnan(velocity[:, 3:]).all()


def test_an_estimate_with_sigmas_only_and_a_nose_that_points_up() -> None:
    steep = np.array([math.cos(math.pi / 4), 0.0, -math.sin(math.pi / 4), 0.0])
    sd = np.array([0.1, 0.2, 0.3])
    message = decoded(Wire().odometry(0, Estimate(0, START, np.zeros(3), steep, np.zeros(3), sd, sd, sd, True), axes()))
    pose = upper(message.pose_covariance)
    assert np.isfinite(pose).all() and (np.diag(pose) > 0.0).all()
    assert pose[2, 2] == pytest.approx(0.09) and pose[:3, 3:] == pytest.approx(0.0)


def reported(t_ns: int, valid: bool = True) -> Message:
    return Message("drone/vio", 0, t_ns, t_ns, estimate(t_ns, valid=valid))


def test_what_is_not_valid_is_not_sent_and_what_comes_after_it_counts_as_a_reset() -> None:
    feed = OdometryFeed(axes(), Rate(50))
    ms = 1_000_000
    sent = []
    for t in range(0, 400, 4):
        feed.put(reported(t * ms, valid=20 <= t < 100 or t >= 200))
        if (taken := feed.take((t + 8) * ms)) is not None:
            sent.append((taken.t_ns // ms, feed.resets))
    # 50 Hz out of 250 Hz; the start is no reset
    assert sent == [(t, 0) for t in range(20, 100, 20)] + [(t, 1) for t in range(200, 400, 20)]
    assert feed.summary() == {"messages": 14, "mean_delay_s": pytest.approx(0.008), "resets": 1}
    assert feed.take(0) is None, "none is sent twice"
    feed.put(reported(100 * ms))
    assert feed.take(0) is None, "one that is older than the last"
    feed.put(reported(100 * ms))
    assert feed.take(0, set_back=True) is not None and feed.resets == 2


# ---- on the wire

ESTIMATOR = {"kind": f"{THINGS}:FromTruth", "inputs": ["truth/drone"]}
ONLY_IMU = {"imu": SENSORS["imu"]}


def flown(**vehicle: Any) -> Any:
    data = {"sensors": ONLY_IMU, "battery": False, "position": START[:2].tolist(), "yaw_deg": 30.0, **vehicle}
    return make_scenario({"truth_rate_hz": 250, "vehicles": [{"estimators": {"vio": ESTIMATOR}, **data}]})


def test_a_peer_flies_on_odometry_alone() -> None:
    with Bench(flown(), Px4Options(odometry="vio", odometry_frame="frd")) as bench:
        ground = bench.sim.truth().position.copy()
        peer = bench.peer(on_odometry([(0.2, (0.0, 0.0, -1.0)), (1.5, (1.5, -0.5, -1.0))]))
        bench.sim.run_until(5.5)
        truth = bench.sim.truth()
        expected = ground + 1.5 * FORWARD - 0.5 * RIGHT - 1.0 * DOWN
        assert truth.position == pytest.approx(expected, abs=0.15)
        assert np.linalg.norm(truth.velocity_world) < 0.1
        kinds = {message.get_type() for message in peer.got}
        assert kinds == {"HIL_SENSOR", "ODOMETRY"}
        stamps = np.array([message.time_usec for message in peer.got if message.get_type() == "ODOMETRY"])
        assert set(np.diff(stamps[1:])) == {20_000} and stamps[-1] > 5_400_000


def test_without_odometry_its_own_failsafe_lands_it() -> None:
    lost = {**ESTIMATOR, "options": {"lost_at": 2.0}}
    options = Px4Options(odometry="vio", odometry_frame="frd", odometry_rate_hz=25)
    with Bench(flown(estimators={"vio": lost}), options) as bench:
        peer = bench.peer(on_odometry([(0.2, (0.0, 0.0, -1.0))]))
        bench.sim.run_until(2.0)
        high = bench.sim.truth().position[2]
        bench.sim.run_until(4.0)
        stamps = [message.time_usec for message in peer.got if message.get_type() == "ODOMETRY"]
        assert 1_950_000 < stamps[-1] < 2_000_000 and set(np.diff(stamps[1:])) == {40_000}
        assert bench.sim.truth().position[2] < high - 0.4


def test_a_late_estimate_keeps_its_stamp_and_time_set_back_is_a_reset() -> None:
    slow = {**ESTIMATOR, "latency": 0.03}
    with Bench(flown(estimators={"vio": slow}), Px4Options(odometry="vio", odometry_rate_hz=250)) as bench:
        peer = bench.peer(echo)
        bench.sim.run_until(0.2)
        saved = bench.sim.snapshot()
        order = [m for m in peer.got if m.get_type() in ("HIL_SENSOR", "ODOMETRY")]
        lags = {b.time_usec - a.time_usec for a, b in pairwise(order) if a.get_type() == "ODOMETRY"}
        # sent with the HIL_SENSOR of the step after it came
        assert lags and lags <= {28_000, 32_000, 36_000}
        bench.sim.run_until(0.3)
        bench.sim.restore(saved)
        bench.sim.run_until(0.4)
        seen = [message for message in peer.got if message.get_type() == "ODOMETRY"]
        stamps = np.array([message.time_usec for message in seen])
        assert [message.reset_counter for message in seen][-1] == 1 and {m.reset_counter for m in seen} == {0, 1}
        # PX4's clock goes on; an estimate of the time that was undone may come once more
        assert (np.diff(stamps) > -32_000).all() and stamps[-1] > 400_000


def test_what_is_wrong_is_told_in_a_line() -> None:
    with pytest.raises(LinkError, match="'drone/imu' is none"):
        Bench(flown(), Px4Options(odometry="drone/imu"))
    with pytest.raises(LinkError, match="'vio' is none; add one under estimators"):
        Bench(scenario(), Px4Options(odometry="vio"))
    with pytest.raises(LinkError, match="no odometry_frame named 'enu'; give frd or ned"):
        Px4Options(odometry_frame="enu")


def test_what_an_autopilot_flies_on() -> None:
    """On the estimates that the vehicle's controller flies on, but an EKF of ours is not for one that has its own."""

    def kinds(config: Px4Config, vehicle: Any) -> set[str]:
        return {sensor.kind for sensor in config.prepared_vehicle(vehicle).sensors.values()}

    indoors = load_scenario("room-vio").vehicles[0]
    assert kinds(Px4Config(), indoors) == {"imu", "camera", "barometer", "magnetometer"}
    vision = {"EKF2_EV_CTRL": 15, "EKF2_HGT_REF": 3, "EKF2_GPS_CTRL": 0, "EKF2_MAG_TYPE": 5}
    assert Px4Config().parameters(indoors) == {**vision, "EKF2_EV_DELAY": 0.0}
    # the estimates are as late as the odometry's computing and its fastest sensor, the IMU
    late = flown(
        state="vio",
        estimators={"vio": {**ESTIMATOR, "latency": 0.03, "inputs": ["imu"]}},
        sensors={"imu": {**SENSORS["imu"], "latency": 0.002}, "gnss": SENSORS["gnss"]},
    ).vehicles[0]
    assert Px4Config().parameters(late)["EKF2_EV_DELAY"] == pytest.approx(32.0)
    assert Px4Config(odometry_delay=0.05).parameters(late)["EKF2_EV_DELAY"] == pytest.approx(50.0)
    on_vision = ArdupilotConfig().parameters(late)
    assert (on_vision["VISO_DELAY_MS"], on_vision["EK3_SRC1_POSXY"], on_vision["GPS1_TYPE"]) == (32, 6, 0)
    # on the truth, on the EKF or on request it flies on GNSS, and knows how late that is
    outdoors = flown(sensors={**ONLY_IMU, "gnss": {**SENSORS["gnss"], "latency": 0.12}}).vehicles[0]
    for config, vehicle in (
        (Px4Config(), outdoors),
        (Px4Config(odometry="none"), late.model_copy(update={"sensors": outdoors.sensors})),
    ):
        assert config.flies_on(vehicle) is None and "gnss" in kinds(config, vehicle)
        assert config.parameters(vehicle) == {
            "EKF2_GPS_DELAY": pytest.approx(120),
            "SENS_GPS0_DELAY": pytest.approx(120),
        }
    assert Px4Config().flies_on(load_scenario("first-flight").vehicles[0]) is None
    assert Px4Config(odometry="vio").flies_on(outdoors) == "vio" and not ArdupilotConfig().parameters(outdoors)
    with pytest.raises(ValueError, match="odometry_rate_hz"):
        Px4Options(odometry_rate_hz=0.0)
