"""One record of every kind that may be published, and estimators and pilots a user might bring."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop_client import Bundle
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import (
    Arm,
    Detections,
    Estimate,
    Goal,
    GoalStatus,
    GridMap,
    Image,
    ImuSample,
    KeyPose,
    LandingStatus,
    Marker,
    Markers,
    Message,
    Movers,
    Number,
    Path,
    PointCloud,
    TakeOff,
    VehicleState,
    VoxelMap,
)

KINDS = ("sphere", "box", "arrow", "line", "points", "text")
TILTED = np.array([0.9, 0.1, -0.2, np.sqrt(1.0 - 0.81 - 0.01 - 0.04)])


def estimate(t_ns: int = 0, **more: Any) -> Estimate:
    root = np.random.default_rng(3).normal(size=(15, 15))
    motion = np.array([1.0, 2.0, 3.0]), np.array([0.5, -0.25, 0.125]), TILTED, np.array([0.01, 0.02, 0.03])
    told = {"gyro_bias": np.array([1e-3, 2e-3, 3e-3]), "accel_bias": np.array([0.1, 0.2, 0.3]), **more}
    return Estimate.from_covariance(t_ns, *motion, root @ root.T, **told)


def markers(t_ns: int = 0) -> Markers:
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5]])
    each = (
        Marker(
            f"a {kind}", kind, np.array([1.0, 2.0, 3.0]), TILTED, np.array([0.5, 0.25, 0.125]), points=points, text="hi"
        )
        for kind in KINDS
    )
    return Markers(t_ns, tuple(each), "body")


def records(t_ns: int = 0) -> dict[str, Any]:
    """By the name of a stream."""
    grid = np.array([[-1, 0, 100], [50, 25, 75]], np.int8)
    voxels = np.arange(24, dtype=np.int8).reshape(2, 3, 4) * 4
    cloud = np.arange(12, dtype=np.float32).reshape(4, 3)
    corners = np.array([[0.5, 1.5], [320.25, 10.0], [600.0, 350.75]], np.float32)
    boxes = np.array([[10.0, 20.0, 30.0, 60.0], [0.0, 0.0, 5.5, 7.25]])
    return {
        "vio": estimate(t_ns),
        "detections": Detections(t_ns, boxes, ("person", "car"), np.array([0.9, 0.5]), np.array([7, -1]), "front"),
        "grid": GridMap(t_ns, grid, 0.5, np.array([-1.0, 2.0, 0.25])),
        "voxels": VoxelMap(t_ns, voxels, 0.2, np.array([1.0, 2.0, 3.0])),
        "path": Path(t_ns, np.eye(3), np.array([0.0, 1.5, 3.0]), np.array([1, 2, 3]) * 1_000_000_000),
        "cloud": PointCloud(
            t_ns,
            cloud,
            np.arange(4, dtype=np.float32),
            np.full((4, 3), [255, 0, 16], np.uint8),
            "lidar",
            np.array([3, 5, 8, 13]),
        ),
        "key_pose": KeyPose(t_ns, np.array([1.0, 2.0, 3.0]), TILTED, corners, np.array([5, 8, 21]), "front"),
        "goal": Goal(np.array([4.0, 5.0, 1.5]), 0.5),
        "navigation": GoalStatus(t_ns, 2, "flying", np.array([4.0, 5.0, 1.5]), np.eye(3)[0], "hover", "no way"),
        "landing": LandingStatus(
            t_ns, "down", True, 3.5, np.array([0.1, -0.2]), 0.05, np.array([0.1, -0.2, 1.5]), -0.1, "no ring"
        ),
        "movers": Movers(
            t_ns,
            np.eye(3),
            0.5 * np.eye(3),
            np.full((3, 2), [0.3, 1.8]),
            np.array([3, 5, 9]),
            np.tile(0.04 * np.eye(6), (3, 1, 1)),
        ),
        "colour": Image(t_ns, np.arange(36, dtype=np.uint8).reshape(3, 4, 3), "front"),
        "heat": Image(t_ns, np.array([[0.5, np.nan], [1.5, 2.5]], np.float32)),
        "markers": markers(t_ns),
        "cost": Number(t_ns, 1.5, "m"),
    }


class Teller:
    """A pilot that takes off and publishes one record of each kind at a time, four times a second."""

    def __call__(self, bundle: Bundle) -> Any:
        if bundle.t_ns % 250_000_000 == 0:
            for name, record in records(bundle.t_ns).items():
                bundle.publish(name, record)
        return [Arm(), TakeOff(1.0)] if bundle.t_ns == 0 else None


class FromTruth:
    """Says what the truth is, a little off, until it is lost."""

    def __init__(self, setup: EstimatorSetup, offset: float = 0.0, lost_at: float = 1e9) -> None:
        self.setup, self.offset, self.lost_at = setup, offset, lost_at
        self.count = 0

    def on_message(self, message: Message) -> Estimate | None:
        state = message.data
        if not isinstance(state, VehicleState):
            return None
        self.count += 1
        sd, valid = np.full(3, 0.01), state.t_ns * 1e-9 < self.lost_at
        position = state.position + np.array([self.offset, 0.0, 0.0])
        motion = position, state.velocity_world, state.quat_wxyz, state.angular_velocity_body
        return Estimate(state.t_ns, *motion, sd, sd, sd, valid, reason="" if valid else "the lens is covered")


class Listener:
    """Answers nothing but where it stands in what it has heard."""

    def __init__(self, setup: EstimatorSetup, more: bool = False) -> None:
        self.setup, self.more = setup, more
        self.heard: list[tuple[str, int, int]] = []

    def on_message(self, message: Message) -> Any:
        self.heard.append((message.stream, message.index, message.arrival_ns))
        number = Number(message.t_ns, float(len(self.heard)))
        pairs: list[tuple[str, Any]] = [("heard", number), ("heard/twice", number)] if self.more else []
        if self.more and isinstance(message.data, ImuSample) and message.t_ns % 250_000_000 == 0:
            pairs += records(message.t_ns).items()
        return [Estimate.unknown(message.t_ns, "only listens"), *pairs]


class Faulty:
    """Does what it is told to, once it has heard ten messages."""

    def __init__(self, setup: EstimatorSetup, how: str) -> None:
        self.how, self.heard = how, 0

    def on_message(self, message: Message) -> Any:
        self.heard += 1
        if self.heard < 10:
            return None
        if self.how == "raises":
            raise ValueError("no features")  # the line a user is told
        answers = {
            "nan": lambda: estimate(message.t_ns, accel_bias=np.array([0.0, np.nan, 0.0])),
            "text": lambda: "here",
            "future": lambda: estimate(message.t_ns + 1_000_000_000),
            "taken": lambda: ("imu", Number(message.t_ns, 1.0)),
        }
        return answers[self.how]()


class Uncopied(FromTruth):
    """Holds what no copy can be made of, and so offers its own snapshots."""

    def __init__(self, setup: EstimatorSetup) -> None:
        super().__init__(setup)
        self.generator = (number for number in range(3))

    def snapshot(self) -> int:
        return self.count

    def restore(self, saved: int) -> None:
        self.count = saved


def not_made(setup: EstimatorSetup) -> Any:
    raise RuntimeError("no calibration")
