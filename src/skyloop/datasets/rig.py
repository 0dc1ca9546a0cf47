"""The default scenario of `skyloop record`: a vehicle with the usual sensors on a simple trajectory."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.datasets.recording_run import plan_recording, record
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop.world.world import WORLDS
from skyloop_client.errors import DatasetError, unknown_name
from skyloop_client.regular_files import opened_text

EYE = {"position": [0.12, 0.0, 0.0]}
Data = dict[str, Any]
"""A part of a scenario, as in its file."""
SENSORS: dict[str, dict[str, Data]] = {
    "rgb": {"rgb0": {"kind": "camera", "truth": ["depth", "normals", "classes", "instances", "labels"], "mount": EYE}},
    "stereo": {
        "cam0": {"kind": "camera", "mode": "grey", "mount": EYE},
        "cam1": {"kind": "camera", "mode": "grey", "mount": {"position": [0.12, -0.1, 0.0]}},
    },
    "depth": {"depth0": {"kind": "depth_camera", "preset": "d435-kim", "mount": EYE}},
    "lidar": {"lidar0": {"kind": "lidar", "preset": "airsim", "mount": {"position": [0.0, 0.0, 0.1]}}},
    "radar": {"radar0": {"kind": "radar", "preset": "bgt60tr13c-real", "mount": EYE}},
    "imu": {"imu0": {"kind": "imu", "preset": "adis16448", "rate_hz": 200}},
    "gps": {"gps0": {"kind": "gnss", "preset": "m8n", "rate_hz": 5}},
    "baro": {"baro0": {"kind": "barometer", "preset": "ms5611", "rate_hz": 50}},
    "mag": {"mag0": {"kind": "magnetometer", "preset": "hmc5883", "rate_hz": 50}},
}
"""The sensors of the rig by their names in `--sensors`.

Cameras, depth camera and radar look ahead with the same field of view, so that all at one mount share one image."""
AT_FRAME_RATE = ("camera", "depth_camera", "lidar", "radar")
MOST_FRAMES = 1_000_000
MOST_ACCELERATION = 6.0
"""m/s² in curves."""
FOV_DEG = 90.0
MOST_PIXELS = 4096
"""px, the largest side of an image."""
ROOM_TO_FLY = {
    "room": (2.5, 1.6), "corridor": (4.0, 1.6), "house": (2.0, 1.5), "warehouse": (2.5, 2.0), "forest": (2.5, 2.0),
    "urban": (14.0, 22.0), "urban-walls": (14.0, 40.0), "blocks": (20.0, 12.0), "radar-lab": (3.0, 1.8),
}  # fmt: skip
"""m: side and height of the default trajectory, where 20 and 5 would not fit."""
PEOPLED = {"park": 60, "urban": 120, "warehouse": 60}
"""Worlds with a configurable number of people, and the most that each takes."""
TO_TRAIN_ON: dict[str, Data] = {"park": {"side": 26.0, "altitude": 4.0, "look_deg": 15.0, "people": 40}}
"""Defaults of `skyloop record` in worlds where the standard rig would show only few and small people."""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """The options of `skyloop record`."""

    world: str = "park"
    frames: int = 500
    rate_hz: float = 20.0
    trajectory: str = "square"
    speed: float = 3.0
    quality: str = "low"
    sensors: tuple[str, ...] = tuple(SENSORS)
    seed: int = 1
    randomise: tuple[str, ...] = ()
    side: float | None = None
    """m, size of the trajectory. None: one that fits into the world."""
    altitude: float | None = None
    """m above the start. None: one that fits into the world."""
    people: int | None = None
    """None: the world's own number."""
    look_deg: float = 0.0
    """Angle by which cameras and radar look below the horizon."""
    size: tuple[int, int] = (320, 240)
    """px, width and height of all colour and depth images."""

    def __post_init__(self) -> None:
        if not 1 <= self.frames <= MOST_FRAMES:
            raise DatasetError(f"--frames {self.frames}: give 1 to {MOST_FRAMES}")
        if not 0.01 <= self.rate_hz <= 1000.0:
            raise DatasetError(f"--rate {self.rate_hz:g}: give 0.01 to 1000 frames per simulated second")
        if not 0.1 <= self.speed <= 30.0:
            raise DatasetError(f"--speed {self.speed:g}: give 0.1 to 30 m/s")
        if not Path(self.world).suffix and self.world not in WORLDS:
            raise unknown_name("world", self.world, WORLDS)
        if self.people is not None and self.world not in PEOPLED:
            raise DatasetError(f"--people: '{self.world}' has no people; give one of {', '.join(PEOPLED)} as --world")
        if self.people is not None and not 0 <= self.people <= PEOPLED[self.world]:
            raise DatasetError(f"--people {self.people}: give 0 to {PEOPLED[self.world]} in '{self.world}'")
        if self.altitude is not None and not 0.5 <= self.altitude <= 500.0:
            raise DatasetError(f"--altitude {self.altitude:g}: give 0.5 to 500 m")
        if not -90.0 <= self.look_deg <= 90.0:
            raise DatasetError(f"--look {self.look_deg:g}: give -90 (straight up) to 90 (straight down) degrees")
        if not all(16 <= side <= MOST_PIXELS for side in self.size):
            raise DatasetError(f"--size {self.size[0]}x{self.size[1]}: give 16 to {MOST_PIXELS} pixels each way")


def to_train_on(world: str, **given: object) -> Data:
    """Options for a recording that is useful for training. Given values other than None stay."""
    return {**TO_TRAIN_ON.get(world, {}), **{name: value for name, value in given.items() if value is not None}}


def rig_scenario(options: RecordOptions, overrides: Data | None = None) -> Scenario:
    """The scenario that `skyloop record` without --scenario flies."""
    sensors: Data = {}
    for name in options.sensors:
        if name not in SENSORS:
            raise unknown_name("sensor of the rig", name, SENSORS)
        for sensor, config in SENSORS[name].items():
            sensors[sensor] = dict(config)
            if config["kind"] in AT_FRAME_RATE:
                sensors[sensor]["rate_hz"] = options.rate_hz
            if config["kind"] in ("camera", "depth_camera", "radar"):
                width, height = options.size
                lens = {"width": width, "height": height, "horizontal_fov_deg": FOV_DEG}
                mount = {**config["mount"], "rotation_deg": [0.0, options.look_deg, 0.0]}
                sensors[sensor] |= {"quality": options.quality, **lens, "mount": mount}
    side, altitude = ROOM_TO_FLY.get(options.world, (20.0, 5.0))
    side, altitude = options.side or side, options.altitude or altitude
    laps = math.ceil(options.frames / options.rate_hz * options.speed / side) + 1
    world: Data = {"file" if Path(options.world).suffix else "name": options.world}
    if options.people is not None:
        world["options"] = {"people": options.people}
    start = _trajectory(options, side, altitude, laps)
    data = {
        "name": f"record-{Path(options.world).stem}",
        "seed": options.seed,
        "duration": 3600.0,
        "world": {**world, "randomise": list(options.randomise)},
        "vehicles": [
            {
                "airframe": "iris",
                "position": [-0.5 * side, -0.5 * side]
                if options.world in ("park", "flat", "hills", "landing")
                else [0, 0],
                "state": "truth",
                "battery": False,
                "sensors": sensors,
                "perception": {"radar0": None} if "radar0" in sensors else {},
                "pilot": {"kind": "trajectory", "takeoff_altitude": altitude, "trajectory": start},
            }
        ],
    }
    return make_scenario(data, overrides or {}, place="record")


def _trajectory(options: RecordOptions, side: float, altitude: float, laps: int) -> dict[str, object]:
    common = {"speed": options.speed, "laps": laps}
    if options.trajectory == "square":
        return {"kind": "square", "corner": [-0.5 * side, -0.5 * side, altitude], "side": side, **common}
    if options.trajectory in ("circle", "lemniscate"):
        name, radius = ("radius", 0.5 * side) if options.trajectory == "circle" else ("minimum_radius", side / 6.0)
        fastest = math.sqrt(MOST_ACCELERATION * radius)
        if options.speed > fastest:
            raise DatasetError(
                f"a {options.trajectory} {side:g} m wide, which fits into '{options.world}', cannot be flown at "
                f"{options.speed:g} m/s; give --speed {fastest:.1f} or less"
            )
        return {"kind": options.trajectory, "centre": [0.0, 0.0, altitude], name: radius, **common}
    path = Path(options.trajectory)
    if path.suffix != ".csv":
        raise DatasetError(
            f"--trajectory '{options.trajectory}': give square, circle, lemniscate, or a .csv of x,y,z rows"
        )
    try:
        with opened_text(path, newline="") as file:
            rows = [[float(cell) for cell in row] for row in csv.reader(file) if row and not row[0].startswith("#")]
    except (OSError, ValueError) as error:
        raise DatasetError(f"--trajectory '{path}': {error}; give rows of x,y,z in m") from None
    if len(rows) < 2 or any(len(row) != 3 or not all(map(math.isfinite, row)) for row in rows):
        raise DatasetError(f"--trajectory '{path}': give at least two rows of x,y,z in m")
    return {"kind": "waypoints", "waypoints": rows, "speed": options.speed}


# ---- a recording of which only the figures are kept: frames per second and processor time by stage


TRIAL_SENSORS = ("rgb", "depth", "lidar", "imu", "gps", "baro", "mag")
"""Sensors of the rig, as in Table 5 of airloop. `rgb` includes true depth, normals, segmentation and labels."""
TRIAL_RATE_HZ = 20.0
STAGES = {
    "rendering": "the renderer's processes",
    "sensors": "measuring, with views, rays, noise and labels",
    "journal": "encoding, checksums and writing",
    "physics_and_rest": "flight with its small sensors (once for all workers), pilot, bus and asking the renderer",
}


def trial_recording(
    *, frames: int, radar: bool, store: bool, quality: str = "low", world: str = "park", workers: int = 0
) -> dict[str, object]:
    """The summary of a recording that is deleted afterwards."""
    sensors = (*TRIAL_SENSORS, "radar") if radar else TRIAL_SENSORS
    options = RecordOptions(world=world, frames=frames, rate_hz=TRIAL_RATE_HZ, quality=quality, sensors=sensors)
    with tempfile.TemporaryDirectory(prefix="skyloop-record-") as made:
        folder = Path(made) / "recording"
        plan_recording(rig_scenario(options), folder, frames=frames, rate_hz=TRIAL_RATE_HZ, formats=(), store=store)
        return record(folder, workers or os.cpu_count() or 1)
