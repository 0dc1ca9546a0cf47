"""An ASL dataset as a stranger reads it, with OpenCV, SciPy and YAML only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from skyloop.recording.formats.asl import Asl
from skyloop.recording.recording import Recording, open_recording

STATES = "state_groundtruth_estimate0"


def write(folder: Path, kind: Any = Asl) -> Path:
    recording = open_recording(folder)
    writer = kind(recording)
    for group in range(writer.first_group, recording.n_groups):
        writer.add(recording.group(group))
    writer.finish()
    return folder / "mav0"


def copy(recording: Recording, folder: Path, streams: tuple[str, ...] | None = None) -> Path:
    """With the same journal, which nobody writes to; of all streams, or of these."""
    folder.mkdir()
    data = json.loads((recording.folder / "recording.json").read_text())
    data["streams"] = [info for info in data["streams"] if streams is None or info["name"] in streams]
    (folder / "recording.json").write_text(json.dumps(data))
    (folder / "journal").symlink_to(recording.folder / "journal")
    return folder


def rows(folder: Path) -> list[list[str]]:
    text = (folder / "data.csv").read_text()
    assert text.startswith("#") and text.endswith("\n")
    return [line.split(",") for line in text.splitlines()[1:]]


def sensor(folder: Path) -> dict[str, Any]:
    return yaml.safe_load((folder / "sensor.yaml").read_text())


def t_bs(folder: Path) -> np.ndarray:
    block = sensor(folder)["T_BS"]
    return np.array(block["data"]).reshape(block["rows"], block["cols"])


def world_from_body(mav: Path, stamp: str) -> np.ndarray:
    row = next(row for row in rows(mav / STATES) if row[0] == stamp)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(np.array(row[4:8], float), scalar_first=True).as_matrix()
    pose[:3, 3] = np.array(row[1:4], float)
    return pose


def picture(path: Path) -> np.ndarray:
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert image is not None
    return image


def pixels_of(points_world: np.ndarray, mav: Path, camera: str, stamp: str) -> tuple[np.ndarray, np.ndarray]:
    """Where OpenCV sees world points, from nothing but the dataset; and how far along its axis."""
    about = sensor(mav / camera)
    camera_from_world = np.linalg.inv(world_from_body(mav, stamp) @ t_bs(mav / camera))
    turn, _ = cv2.Rodrigues(camera_from_world[:3, :3])
    fx, fy, cx, cy = about["intrinsics"]
    matrix = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    lens = np.array(about["distortion_coefficients"])
    pixels, _ = cv2.projectPoints(points_world, turn, camera_from_world[:3, 3], matrix, lens)
    return pixels[:, 0], (points_world @ camera_from_world[:3, :3].T + camera_from_world[:3, 3])[:, 2]
