"""TUM RGB-D as its readers take it: lists joined by time, depth by 5000, poses of the camera."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.recording.formats.tum import Tum
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.streams import Mount

pytestmark = pytest.mark.renders


def write(recording: Recording, folder: Path) -> Path:
    writer = Tum(replace(recording, folder=folder))
    for group in range(recording.n_groups):
        writer.add(recording.group(group))
    writer.finish()
    return folder / "tum"


@pytest.fixture(scope="module")
def tum(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(recording, tmp_path_factory.mktemp("tum"))


def table(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]


def test_lists_poses_and_stamps_agree_to_the_nanosecond(recording: Recording, tum: Path) -> None:
    stamps = [f"{m.t_ns / 1e9:.9f}" for m in recording.messages(["drone/rgb0"])]
    poses = {row[0]: np.array(row[1:], float) for row in table(tum / "groundtruth.txt")}
    assert list(poses) == sorted(poses, key=float) and set(stamps) <= set(poses)
    for kind in ("rgb", "depth"):
        assert [row[0] for row in table(tum / f"{kind}.txt")] == stamps
        assert [row[1] for row in table(tum / f"{kind}.txt")] == [f"{kind}/{stamp}.png" for stamp in stamps]
        assert {path.name for path in (tum / kind).iterdir()} == {f"{stamp}.png" for stamp in stamps}
    for message in recording.messages(["truth/drone/rgb0"]):
        place, turn = np.split(poses[f"{message.t_ns / 1e9:.9f}"], [3])
        np.testing.assert_array_equal(place, message.data.position)
        np.testing.assert_array_equal(turn, np.roll(message.data.quat_wxyz, -1))


def test_states_between_images_are_the_cameras_too(recording: Recording, tum: Path) -> None:
    """Looking along the body's x axis from 0.12 m ahead of its origin."""
    poses = {row[0]: np.array(row[1:], float) for row in table(tum / "groundtruth.txt")}
    states = [m.data for m in recording.messages(["truth/drone"])]
    assert len(poses) == len(states)
    for state in states:
        place, turn = np.split(poses[f"{state.t_ns / 1e9:.9f}"], [3])
        body = Rotation.from_quat(state.quat_wxyz, scalar_first=True)
        np.testing.assert_allclose(place, state.position + body.apply([0.12, 0.0, 0.0]), atol=1e-9)
        axes = Rotation.from_quat(turn).as_matrix().T
        np.testing.assert_allclose(axes, body.apply([[0, -1, 0], [0, 0, -1], [1, 0, 0]]), atol=1e-9)


def picture(path: Path) -> Any:
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)


def test_a_pixel_of_the_person_with_its_depth_lies_in_the_person(recording: Recording, tum: Path) -> None:
    truths = {f"{m.t_ns / 1e9:.9f}": m.data for m in recording.messages(["truth/drone/rgb0"]) if m.data.labels}
    stamp, truth = next(iter(truths.items()))
    label, info = truth.labels[0], recording.infos["drone/rgb0"].details
    depth = picture(tum / "depth" / f"{stamp}.png") / 5000.0
    place, turn = np.split(np.array(next(r for r in table(tum / "groundtruth.txt") if r[0] == stamp)[1:], float), [3])
    inside = (truth.instances == label.instance) & (depth > 0.0)
    row, column = np.nonzero(inside)
    rays = np.stack([(column - info["cx"]) / info["fx"], (row - info["cy"]) / info["fy"], np.ones(len(row))], axis=1)
    points = Rotation.from_quat(turn).apply(rays * depth[inside][:, None]) + place
    # the depth camera is noisy, the middle of all pixels is not
    assert np.abs(np.median(points, axis=0) - label.centre).max() < 0.4
    colour = picture(tum / "rgb" / f"{stamp}.png")[..., ::-1]
    image = next(m.data for m in recording.messages(["drone/rgb0"]) if m.t_ns == truth.t_ns)
    np.testing.assert_array_equal(colour, image.colour)


def test_depth_from_another_place_gives_way_to_the_cameras_truth(recording: Recording, tmp_path: Path) -> None:
    aside = replace(recording.infos["drone/depth0"], mount=Mount(np.array([0.1, 0.05, 0.0])))
    moved = write(replace(recording, infos={**recording.infos, "drone/depth0": aside}), tmp_path)
    truth = next(m.data for m in recording.messages(["truth/drone/rgb0"]))
    depth = picture(moved / "depth" / f"{truth.t_ns / 1e9:.9f}.png") / 5000.0
    fits = truth.depth < 13.1
    assert np.abs(depth - truth.depth)[fits].max() < 1.1e-4
    assert not depth[truth.depth > 13.11].any()


def test_without_truth_there_is_nothing_to_write(recording: Recording, tmp_path: Path) -> None:
    writer = Tum(replace(recording, folder=tmp_path))
    with pytest.raises(DatasetError, match="no truth of 'drone'"):
        writer.finish()
