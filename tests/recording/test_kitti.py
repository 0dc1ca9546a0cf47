"""KITTI as its readers take it: clouds through calib.txt into the image, labels as boxes in camera axes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.core.frames import Transform
from skyloop.recording.formats.kitti import Kitti, label_line
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Label

pytestmark = pytest.mark.renders


@pytest.fixture(scope="module")
def kitti(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    writer = Kitti(replace(recording, folder=tmp_path_factory.mktemp("kitti")))
    for group in range(recording.n_groups):
        writer.add(recording.group(group))
    writer.finish()
    return writer._folder


def calibration(path: Path) -> dict[str, np.ndarray]:
    lines = dict(line.split(": ") for line in path.read_text().splitlines())
    return {name: np.array(text.split(), float).reshape(3, -1) for name, text in lines.items()}


def homogeneous(matrix: np.ndarray) -> np.ndarray:
    return np.vstack([matrix, [0.0, 0.0, 0.0, 1.0]])


def test_frames_are_the_images_instants(recording: Recording, kitti: Path) -> None:
    stamps = [m.t_ns for m in recording.messages(["drone/rgb0"])]
    assert [round(float(t) * 1e9) for t in (kitti / "times.txt").read_text().split()] == stamps
    names = [f"{k:06d}" for k in range(len(stamps))]
    folders = {"velodyne": "bin", "image_2": "png", "label_2": "txt", "calib": "txt"}
    for folder, extension in folders.items():
        assert sorted(path.name for path in (kitti / folder).iterdir()) == [f"{name}.{extension}" for name in names]
    images = [m.data.colour for m in recording.messages(["drone/rgb0"])]
    picture: Any = cv2.imread(str(kitti / "image_2/000011.png"))
    np.testing.assert_array_equal(picture[..., ::-1], images[11])
    scans = [m.data for m in recording.messages(["drone/lidar0"])]
    cloud = np.fromfile(kitti / "velodyne/000011.bin", np.float32).reshape(-1, 4)
    np.testing.assert_array_equal(cloud[:, :3], scans[11].points)
    np.testing.assert_array_equal(cloud[:, 3], scans[11].intensities)


def test_the_cloud_lies_on_what_the_camera_sees(recording: Recording, kitti: Path) -> None:
    truth = next(m.data for m in recording.messages(["truth/drone/rgb0"]))
    calib = calibration(kitti / "calib/000000.txt")
    assert calib.keys() == calibration(kitti / "calib.txt").keys() and (calib["R0_rect"] == np.eye(3)).all()
    cloud = np.fromfile(kitti / "velodyne/000000.bin", np.float32).reshape(-1, 4)
    points = np.column_stack([cloud[:, :3], np.ones(len(cloud))]) @ homogeneous(calib["Tr_velo_to_cam"]).T
    projected = points @ calib["P2"].T
    pixels = projected[:, :2] / projected[:, 2:]
    seen = (projected[:, 2] > 0.5) & (np.abs(pixels - [159.5, 119.5]) < [155.0, 115.0]).all(axis=1)
    column, row = np.rint(pixels[seen]).astype(int).T
    z = projected[seen, 2]
    assert seen.sum() > 300
    assert np.mean(np.abs(truth.depth[row, column] - z) < 0.005 + z**2 / 400.0) > 0.97


def test_poses_are_the_cameras_from_its_first(recording: Recording, kitti: Path) -> None:
    written = np.loadtxt(kitti / "poses.txt").reshape(-1, 3, 4)
    truths = [m.data for m in recording.messages(["truth/drone/rgb0"])]
    first = Rotation.from_quat(truths[0].quat_wxyz, scalar_first=True).inv()
    for pose, truth in zip(written, truths, strict=True):
        np.testing.assert_allclose(pose[:, 3], first.apply(truth.position - truths[0].position), atol=1e-12)
        turn = first * Rotation.from_quat(truth.quat_wxyz, scalar_first=True)
        np.testing.assert_allclose(pose[:, :3], turn.as_matrix(), atol=1e-12)
    assert np.linalg.norm(written[-1, :, 3]) > 0.3


def corners(line: str) -> np.ndarray:
    """The box of a label in camera axes, as KITTI's development kit draws it."""
    h, w, length, x, y, z, turn = (float(word) for word in line.split()[8:])
    box = np.array([[a * length, b, c * w] for a in (-0.5, 0.5) for b in (-h, 0.0) for c in (-0.5, 0.5)])
    return np.add(Rotation.from_euler("y", turn).apply(box), [x, y, z])


def test_labels_are_boxes_round_the_person(recording: Recording, kitti: Path) -> None:
    truths = [m.data for m in recording.messages(["truth/drone/rgb0"])]
    projection = calibration(kitti / "calib.txt")["P2"][:, :3]
    checked = 0
    for number, truth in enumerate(truths):
        lines = (kitti / "label_2" / f"{number:06d}.txt").read_text().splitlines()
        assert len(lines) == len(truth.labels)
        for line, label in zip(lines, truth.labels, strict=True):
            words = line.split()
            assert len(words) == 15 and words[0] == "Pedestrian" == {"person": "Pedestrian"}[label.class_name]
            row, column = np.nonzero(truth.instances == label.instance)
            assert [float(word) for word in words[4:8]] == [column.min(), row.min(), column.max(), row.max()]
            box = corners(line) @ projection.T
            low, high = (f(box[:, :2] / box[:, 2:], axis=0) for f in (np.min, np.max))
            assert (low < [column.min() + 1.5, row.min() + 1.5]).all()
            assert (high > [column.max() - 1.5, row.max() - 1.5]).all()
            assert (high - low < 1.5 * np.array([np.ptp(column), np.ptp(row)]) + 8.0).all()
            checked += 1
    assert checked > 5


def test_a_box_faces_where_it_faces() -> None:
    """Seen by a level camera that looks north from the origin: its axes are east, down and north."""
    camera = Transform(np.zeros(3), Rotation.from_matrix([[1, 0, 0], [0, 0, 1], [0, -1, 0]]).as_quat(scalar_first=True))
    for yaw, turn in ((0.0, 0.0), (0.5 * np.pi, -0.5 * np.pi), (-0.5 * np.pi, 0.5 * np.pi), (0.3, -0.3)):
        car = Label(7, "car 7", "car", (1, 2, 3, 4), 9, 0.3, 0.25, np.array([3.0, 8.0, 0.75]),
                    np.array([4.0, 1.8, 1.5]), yaw, 8.6)  # fmt: skip
        words = label_line(car, camera.inverse()).split()
        assert words[:3] == ["Car", "0.25", "1"]
        assert [float(word) for word in words[8:14]] == [1.5, 1.8, 4.0, 3.0, 0.0, 8.0]
        assert float(words[14]) == pytest.approx(turn, abs=1e-4)
        assert float(words[3]) == pytest.approx(turn - np.arctan2(3.0, 8.0), abs=1e-4)
        along = corners(" ".join(words))[4:].mean(axis=0) - corners(" ".join(words))[:4].mean(axis=0)
        np.testing.assert_allclose(along, [4.0 * np.cos(yaw), 0.0, 4.0 * np.sin(yaw)], atol=1e-3)


def test_images_without_clouds_at_their_instants_are_refused(recording: Recording, tmp_path: Path) -> None:
    writer = Kitti(replace(recording, folder=tmp_path))
    writer.add([replace(m, t_ns=m.t_ns + 1) if m.stream == "drone/lidar0" else m for m in recording.group(0)])
    with pytest.raises(DatasetError, match="give them one rate"):
        writer.finish()


def test_a_lens_that_distorts_is_refused(recording: Recording, tmp_path: Path) -> None:
    info = recording.infos["drone/rgb0"]
    bent = replace(info, details={**info.details, "model": "brown-conrady", "distortion": [-0.2, 0.0, 0.0, 0.0, 0.0]})
    with pytest.raises(DatasetError, match="distorts"):
        Kitti(replace(recording, folder=tmp_path, infos={**recording.infos, "drone/rgb0": bent}))
