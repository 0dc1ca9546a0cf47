"""A recording with a record of every kind that the cockpit draws, written as `skyloop record` writes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from published_things import estimate, markers
from skyloop.recording.journal import GroupWriter
from skyloop.recording.recording import create_recording
from skyloop.sim.scenario import make_scenario
from skyloop_client.messages import (
    CameraImage,
    Contact,
    DepthImage,
    Detections,
    Event,
    EventKind,
    Goal,
    GoalStatus,
    GridMap,
    ImageTruth,
    Label,
    LidarScan,
    Message,
    Movers,
    PointCloud,
    RadarDetections,
    RangeDopplerImage,
    VehicleState,
    VehicleStatus,
    VoxelMap,
)
from skyloop_client.messages import Path as PathRecord
from skyloop_client.streams import StreamInfo

SCENARIO = {"name": "shown", "world": "room", "vehicles": [{"name": "drone"}]}
LENS = {"fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
STEPS = 20
STEP_NS = 500_000_000


def state(t_ns: int, number: int) -> VehicleState:
    zero, spin = np.zeros(3), np.full(4, 600.0)
    place, wind = np.array([0.1 * number, 0.0, 1.5]), np.array([3.0, 1.0, 0.0])
    return VehicleState(t_ns, place, np.array([0.2, 0.0, 0.0]), LEVEL, zero, zero, zero, spin, spin, wind)


def label(box: tuple[int, int, int, int]) -> Label:
    return Label(7, "walker", "person", box, 400, 0.0, 0.0, np.array([3.0, 0, 1]), np.array([0.5, 0.5, 1.8]), 0.0, 3.0)


def records(t_ns: int, number: int) -> dict[str, Any]:
    """By stream; all are in the room that the vehicle flies in."""
    ahead = np.column_stack([np.full(400, 2.0), np.linspace(-1, 1, 400), np.tile(np.linspace(-1, 1, 20), 20)])
    some, one = np.ones(400, np.float32), np.ones(3)
    pixels = np.zeros((48, 64, 3), np.uint8)
    pixels[:, :32, 0] = 250
    classes = np.zeros((48, 64), np.uint8)
    classes[20:40, 10:30] = 7
    power = np.full((32, 16), 1e-9, np.float32)
    power[20, 10] = 1.0
    walls = np.zeros((10, 10, 5), np.int8)
    walls[5, 5, :] = 100
    flat = np.column_stack([*np.mgrid[0:20, 0:20].reshape(2, -1) * 0.2 - 2.0, np.full(400, 1.0)]).astype(np.float32)
    touched = Contact("rotor", 3, "box", np.array([1.0, 0.5, 1.2]), np.array([1.0, 0.0, 0.0]), 2.0, 1.5)
    out: dict[str, Any] = {
        "truth/drone": state(t_ns, number),
        "drone/status": VehicleStatus(t_ns, "hover", armed=True, landed=False, failsafe=""),
        "drone/vio": estimate(t_ns),
        "drone/cam": CameraImage(t_ns, pixels),
        "drone/depth": DepthImage(t_ns, np.full((48, 64), 3.0, np.float32)),
        "truth/drone/cam": ImageTruth(t_ns, np.zeros(3), LEVEL, labels=(label((10, 20, 29, 39)),), classes=classes),
        "drone/boxes": Detections(
            t_ns, np.array([[5.0, 6.0, 20.0, 30.0]]), ("person",), np.array([0.9]), np.array([-1]), "cam"
        ),
        "drone/radar/image": RangeDopplerImage(t_ns, power, np.linspace(0, 5, 32), np.linspace(-2, 2, 16)),
        "drone/radar/detections": RadarDetections(
            t_ns, ahead[:3].astype(np.float32), one, one, one, one, one, np.array([4], np.int32), ahead[:1], ahead[:1]
        ),
        "drone/lidar": LidarScan(
            t_ns, ahead.astype(np.float32), some, some, some.astype("u2"), some.astype("i8"), some.astype("u1"),
            some.astype("i4"),
        ),
        "drone/grid": GridMap(t_ns, np.tile(np.array([[0, 100], [0, -1]], np.int8), (8, 8)), 0.3, np.zeros(3)),
        "drone/voxels": VoxelMap(t_ns, walls, 0.3, np.array([0.5, -1.5, 0.0])),
        "drone/distance": PointCloud(t_ns, flat, np.linspace(0, 2, 400).astype(np.float32)),
        "drone/path": PathRecord(t_ns, np.array([[0.0, 0, 1.5], [1, 1, 1.5], [2, 0, 1.5]])),
        "drone/goal": Goal(np.array([2.0, 0.0, 1.5])),
        "drone/navigation": GoalStatus(t_ns, 1, "flying", np.array([2.0, 1, 1.5]), np.array([1.0, 1, 1.5]), "plan", ""),
        "drone/people": Movers(
            t_ns, np.array([[1.5, -0.5, 0.9]]), np.zeros((1, 3)), np.array([[0.3, 1.8]]), np.array([1])
        ),
        "drone/markers": markers(t_ns),
    }  # fmt: skip
    if number == 2:
        out["drone/events"] = Event(t_ns, EventKind.CONTACT, "touched a box", contact=touched)
    return out


def write_recording(folder: Path) -> None:
    every = records(0, 2)
    infos = {
        name: StreamInfo(name, type(record).__name__, vehicle="drone", details=LENS) for name, record in every.items()
    }
    facts = {
        "vehicle": "drone", "seed": 1, "frames": STEPS, "rate_hz": 2, "group_frames": STEPS, "n_groups": 1,
        "split": "blocks", "classes": [], "scenario": make_scenario(SCENARIO).model_dump(mode="json"), "versions": {},
    }  # fmt: skip
    folder.parent.mkdir(parents=True, exist_ok=True)
    recording = create_recording(folder, infos, facts)
    writer = GroupWriter(recording.group_path(0))
    for number in range(STEPS):
        t_ns = number * STEP_NS
        for name, record in records(t_ns, number).items():
            writer.append(Message(name, number, t_ns, t_ns, record))
    writer.finish()
