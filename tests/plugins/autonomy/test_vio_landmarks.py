"""Key poses and landmarks of the odometry, against the truth of a flight on corners without pictures."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from vio_flights import IMU_HZ, PAIRS_HZ, REST_S, TRUE_NOISE, Corners, TrackDrivenOdometry, calibration, flight, give

from skyloop.core import jit
from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform, matrix_from_quat
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.landmarks import KeyPoses, MapPose, landmarks
from skyloop_autonomy.vio.tracking import CornerTracks
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.estimator import EstimatorSetup, answers_of
from skyloop_client.messages import Estimate, ImuSample, KeyPose, Message, PointCloud, StartConditions
from skyloop_client.streams import Mount, Rate, StreamInfo

pytestmark = pytest.mark.flights

SECONDS = 5.5


class Numbered(Corners):
    """Remembers which point of the room each number stands for, and what was seen at each pair."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.truth: dict[int, np.ndarray] = {}
        self.seen: list[CornerTracks] = []

    def tracks(self, rotation: np.ndarray, position: np.ndarray, most: int = 120) -> CornerTracks:
        found = super().tracks(rotation, position, most)
        followed = np.flatnonzero(self.numbers >= 0)
        self.truth |= {int(self.numbers[k]): self.points[k].copy() for k in followed}
        self.seen.append(copy.deepcopy(found))
        return found


class Flown:
    def __init__(self) -> None:
        rig = calibration()
        self.odometry = TrackDrivenOdometry(rig, VioSettings(**TRUE_NOISE))
        self.flight = flight(3, SECONDS, rig.imu)
        self.corners = Numbered(3)
        self.poses: list[KeyPose] = []
        self.clouds: list[PointCloud] = []
        for k in range(len(self.flight.times)):
            give(self.odometry, self.flight, k, self.corners)
            kept = self.odometry.new_landmarks("left")
            if kept is not None:
                assert self.odometry.new_landmarks("left") is None, "each is reported once"
                self.poses += kept[0]
                self.clouds.append(kept[1])


@pytest.fixture(scope="module")
def flown() -> Flown:
    return Flown()


def test_key_poses_are_where_the_vehicle_was_and_hold_what_it_saw(flown: Flown) -> None:
    stamps = [pose.t_ns for pose in flown.poses]
    assert stamps == sorted(set(stamps)) and stamps[0] > 1e9 * REST_S, "none at rest"
    # the window is full of the first ten; after that only poses with enough parallax are kept
    pairs = (SECONDS - REST_S) * PAIRS_HZ
    assert 12 < len(stamps) < 0.8 * pairs
    for pose in flown.poses:
        k = round(pose.t_ns * 1e-9 * IMU_HZ)
        assert pose.position == pytest.approx(flown.flight.positions[k], abs=0.05)
        turn = matrix_from_quat(pose.quat_wxyz).T @ flown.flight.rotations[k]
        assert np.degrees(np.arccos(min(1.0, 0.5 * (np.trace(turn) - 1.0)))) < 3.0
        seen = flown.corners.seen[k // (IMU_HZ // PAIRS_HZ)]
        assert np.array_equal(pose.ids, seen.ids) and np.array_equal(pose.corners_px, seen.pixels)
        assert len(seen.ids) > 20 and pose.source == "left"


def test_landmarks_are_where_the_points_are_within_their_sigmas(flown: Flown) -> None:
    off, sigmas = [], []
    for cloud in flown.clouds[10:]:
        assert cloud.ids is not None and cloud.values is not None and cloud.frame == "world"
        assert len(cloud.points) > 20 and len(set(cloud.ids.tolist())) == len(cloud.ids)
        truth = np.array([flown.corners.truth[number] for number in cloud.ids.tolist()])
        off.append(np.linalg.norm(cloud.points - truth, axis=1))
        sigmas.append(cloud.values)
    errors, sd = np.concatenate(off), np.concatenate(sigmas)
    assert np.median(errors) < 0.15 and np.quantile(errors, 0.95) < 0.8
    # one flight, in which all points share the drift: the bounds are wide
    assert 0.2 < np.mean(errors**2 / (3.0 * sd**2)) < 3.0
    # the number of a landmark is that of a corner, and it stays
    ids = [set(np.asarray(cloud.ids).tolist()) for cloud in flown.clouds]
    assert np.mean([len(a & b) for a, b in pairwise(ids[9:])]) > 15


def test_the_sigmas_are_what_the_filters_covariance_makes_of_its_points(flown: Flown) -> None:
    """Against a sample: the state is moved as the filter moves it, and the points are computed anew."""
    backend, position = flown.odometry.backend, MapPose(np.array([5.0, -3.0, 1.0]), Transform.identity())
    small = 1e-3
    expected = landmarks(backend, position, small)
    root = np.linalg.cholesky(backend.filter.covariance + 1e-14 * np.eye(len(backend.filter.covariance)))
    rng, sample = np.random.default_rng(1), []
    for _ in range(300):
        moved = copy.deepcopy(backend)
        moved.filter._shift(small * root @ rng.normal(size=len(root)))
        # single precision would hide the small motion
        sample.append(landmarks(moved, MapPose(np.zeros(3), Transform.identity()), 1.0).points.astype(np.float64))
    # float32 of some metres is exact to 5e-7 m
    variance = np.var(sample, axis=0).mean(axis=1)
    seen = np.sqrt(variance)
    found = np.asarray(expected.values, np.float64)
    assert len(found) == len(seen) > 20
    assert seen == pytest.approx(found, rel=0.2, abs=1e-6)
    assert np.asarray(expected.points) == pytest.approx(np.mean(sample, axis=0) + position.origin, abs=1e-3)


def test_the_mount_of_the_imu_is_taken_out(flown: Flown) -> None:
    backend = copy.deepcopy(flown.odometry.backend)
    f = backend.filter
    mount = Transform(np.array([0.1, -0.2, 0.3]), SENSOR_FROM_CAMERA)
    poses = KeyPoses()
    newest = f.pose_t_ns[-1]
    # as in flight: the newest pose is on trial, and is kept when there is a newer one
    poses.stepped(backend, flown.corners.seen[-1])
    f.add_pose()
    f.pose_t_ns[-1] = newest + 50_000_000
    poses.stepped(backend, CornerTracks())
    (pose,) = poses.news(backend, MapPose(np.array([7.0, 8.0, 9.0]), mount))
    slot = f.pose_t_ns.index(newest)
    imu = np.eye(4)
    imu[:3, :3], imu[:3, 3] = f.pose_rotations[slot], f.pose_positions[slot] + [7.0, 8.0, 9.0]
    body = imu @ np.linalg.inv(mount.matrix())
    assert pose.position == pytest.approx(body[:3, 3])
    assert matrix_from_quat(pose.quat_wxyz) == pytest.approx(body[:3, :3])


def test_a_window_that_was_thrown_away_keeps_nothing(flown: Flown) -> None:
    poses, backend = KeyPoses(), copy.deepcopy(flown.odometry.backend)
    poses.stepped(backend, CornerTracks())
    backend.restart(1.0, (0.01, 0.1))
    poses.stepped(backend, CornerTracks())
    assert not poses.unread and landmarks(backend, MapPose(np.zeros(3), Transform.identity()), 1.0).points.shape == (
        0,
        3,
    )


def localiser() -> VisualLocaliser:
    infos = {name: StreamInfo(f"drone/{name}", "CameraImage", Rate(PAIRS_HZ), "drone") for name in ("left", "right")}
    infos["imu"] = StreamInfo("drone/imu", "ImuSample", Rate(IMU_HZ), "drone", 0, Mount())
    start = StartConditions(0.0, 0.0, 0.0, 9.80665, np.zeros(3), np.zeros(3), 0.0)
    return VisualLocaliser(EstimatorSetup("drone", "vio", infos, start), calibration=calibration())


def test_the_estimator_publishes_them_beside_its_estimates() -> None:
    vio = localiser()
    vio.odometry = TrackDrivenOdometry(calibration(), VioSettings(**TRUE_NOISE))
    flight_, seen = flight(3, 3.0, calibration().imu), Corners(3)
    answers: dict[str, list[Any]] = {}
    for k, sample in enumerate(flight_.imu):
        t_ns = round(flight_.times[k] * 1e9)
        message = Message("drone/imu", k, t_ns, t_ns, ImuSample(t_ns, sample[:3], sample[3:]))
        for name, record in answers_of("vio", vio.on_message(message)):
            answers.setdefault(name, []).append(record)
        if k % (IMU_HZ // PAIRS_HZ) == 0:
            vio.odometry.corners(t_ns, seen.tracks(flight_.rotations[k], flight_.positions[k]))
    assert set(answers) == {"vio", "vio_key_poses", "vio_landmarks"}
    assert len(answers["vio"]) == len(flight_.imu) and isinstance(answers["vio"][0], Estimate)
    assert len(answers["vio_key_poses"]) == len(answers["vio_landmarks"]) > 5
    assert all(pose.source == "left" for pose in answers["vio_key_poses"])


def test_its_compiled_code_is_there_before_the_first_message() -> None:
    """Outside, loading it would count as execution time: the first images would come out seconds late."""
    localiser()
    kernels = [entry for entry in jit._kernels if entry.name.startswith("skyloop_autonomy.vio")]
    assert kernels and [entry.name for entry in kernels if not entry.done] == []
