"""People, a vehicle that flies past them, and what its sensors measure: closed forms, without a simulator."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_euler
from skyloop_autonomy.people.people_tracker import PeopleTracker
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import (
    Array,
    Detections,
    Estimate,
    Message,
    Movers,
    RadarDetections,
    StartConditions,
)
from skyloop_client.streams import Mount, StreamInfo

QUAT = quat_from_euler(0.0, np.radians(15.0), 0.0)
MOUNT = Mount(np.array([0.12, 0.0, 0.0]), QUAT)
F = 160.0 / np.tan(np.radians(40.0))
LENS = {"width": 320, "height": 240, "fx": F, "fy": F, "cx": 159.5, "cy": 119.5, "model": "pinhole", "gimbal": "none"}
CAMERA = StreamInfo("drone/front", "CameraImage", None, "drone", 0, MOUNT, LENS)
RADAR = StreamInfo("drone/radar/detections", "RadarDetections", None, "drone", 0, MOUNT, {"v_max": 3.15})
BOXES, STATE = StreamInfo("drone/detect/boxes", "Detections"), StreamInfo("drone/estimate", "Estimate")
START = StartConditions(0.0, 0.0, 0.0, 9.81, np.zeros(3), np.zeros(3), 0.0)
RADAR_NOISE = np.array([0.3, 0.1, 0.05, 0.07])
"""One sigma of range, speed, azimuth and elevation, as measured in the park."""
CAMERA_FROM_SENSOR = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def setup(*sensors: str) -> EstimatorSetup:
    infos = {"state": STATE}
    infos |= {"front": CAMERA, "detect/boxes": BOXES} if "camera" in sensors else {}
    infos |= {"radar/detections": RADAR} if "radar" in sensors else {}
    return EstimatorSetup("drone", "people", infos, START)


@dataclass
class Scene:
    """The vehicle flies east at 1 m/s, 3.5 m high, and believes to be `off` from where it is."""

    people: list[tuple[Array, Array]]
    """Middles at t = 0 and velocities, m and m/s, world."""
    off: Array = field(default_factory=lambda: np.zeros(3))
    attitude_sd: float = 0.003
    tall: float = 1.72
    """m, everybody's height."""
    seed: int = 1

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)

    def vehicle(self, t: float) -> Array:
        return np.array([1.0 * t, 0.0, 3.5])

    def estimate(self, t: float) -> Estimate:
        level, motion = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
        sigmas = np.full(3, 0.3), np.full(3, 0.02), np.full(3, self.attitude_sd)
        return Estimate(round(t * 1e9), self.vehicle(t) + self.off, motion, level, np.zeros(3), *sigmas, valid=True)

    def seen(self, k: int, t: float) -> Array:
        """Sensor axes."""
        position, velocity = self.people[k]
        return matrix_from_quat(QUAT).T @ (position + t * velocity - self.vehicle(t) - MOUNT.position)

    def boxes(self, t: float, px: float = 0.7) -> Detections:
        found = []
        for k in range(len(self.people)):
            up = matrix_from_quat(QUAT).T @ np.array([0.0, 0.0, 0.5 * self.tall])
            points = [CAMERA_FROM_SENSOR @ (self.seen(k, t) + lift) for lift in (up, -up)]
            if min(point[2] for point in points) < 0.5:
                continue
            (u, head), (_, feet) = ((F * x / z + 160.0, F * y / z + 120.0) for x, y, z in points)
            half = 0.2 * (feet - head)
            box = np.array([u - half, head, u + half, feet]) + px * self.chance.standard_normal(4)
            if box[0] > 1.0 and box[2] < 319.0 and box[1] > 1.0 and box[3] < 239.0:
                found.append(box)
        n = len(found)
        return Detections(
            round(t * 1e9), np.array(found).reshape(-1, 4), ("person",) * n, np.full(n, 0.9), source="front"
        )

    def points(self, t: float, clutter: int = 5) -> RadarDetections:
        """People, and ground that stands still."""
        rows = []
        axes = matrix_from_quat(QUAT)
        for k, (_, velocity) in enumerate(self.people):
            away = self.seen(k, t)
            rows.append((away, axes.T @ (velocity - np.array([1.0, 0.0, 0.0]))))
        for _ in range(clutter):
            away = axes.T @ (np.array([self.chance.uniform(4.0, 10.0), self.chance.uniform(-3.0, 3.0), -3.5]))
            rows.append((away, axes.T @ np.array([-1.0, 0.0, 0.0])))
        noise = self.chance.standard_normal((len(rows), 4)) * RADAR_NOISE
        ranges = np.array([np.linalg.norm(away) for away, _ in rows]) - 0.15 + noise[:, 0]
        speeds = np.array([away @ moving / np.linalg.norm(away) for away, moving in rows]) + noise[:, 1]
        speeds = speeds - 6.3 * np.round(speeds / 6.3)
        azimuths = np.array([np.arctan2(away[1], away[0]) for away, _ in rows]) + noise[:, 2]
        elevations = np.array([np.arctan2(away[2], np.hypot(*away[:2])) for away, _ in rows]) + noise[:, 3]
        level = np.cos(elevations)
        points = ranges[:, None] * np.column_stack(
            [level * np.cos(azimuths), level * np.sin(azimuths), np.sin(elevations)]
        )
        none = np.zeros((0, 3))
        return RadarDetections(
            round(t * 1e9), points.astype(np.float32), ranges, speeds, azimuths, elevations, np.full(len(rows), 15.0),
            np.zeros(0, np.int32), none, none,
        )  # fmt: skip


def followed(
    scene: Scene, *sensors: str, seconds: float = 4.0, late: float = 0.0, **options: object
) -> tuple[PeopleTracker, Movers]:
    """Ten looks per second by each sensor. late: s after which boxes arrive. Returns the tracker and its last word."""
    tracker = PeopleTracker(setup(*sensors), **options)
    last: Movers | None = None
    waiting: list[tuple[float, Detections]] = []
    for k in range(round(50 * seconds)):
        t = k / 50.0
        records: list[object] = [scene.estimate(t)]
        if k % 5 == 0 and "camera" in sensors:
            waiting.append((t + late, scene.boxes(t)))
        if k % 5 == 2 and "radar" in sensors:
            records.append(scene.points(t))
        records += [boxes for due, boxes in waiting if due <= t + 1e-9]
        waiting = [(due, boxes) for due, boxes in waiting if due > t + 1e-9]
        for record in records:
            t_ns = record.t_ns  # type: ignore[attr-defined]
            for name, made in tracker.on_message(Message("x", 0, t_ns, round(t * 1e9), record)):
                if name == "people/tracks":
                    last = made
    assert last is not None
    return tracker, last
