"""Frames of records: pictures are JPEG, clouds are in the world, maps and paths are whole."""

from __future__ import annotations

import numpy as np
import pytest
import simplejpeg

from skyloop.cockpit.packets import FrameMaker, numbers
from skyloop.cockpit.wire import FramePayload, frame, unframed
from skyloop_client.messages import (
    CameraImage,
    DepthImage,
    GridMap,
    ImuSample,
    LidarScan,
    Path,
    VehicleState,
    VoxelMap,
)

ZERO, LEVEL = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
EAST_OF_10 = VehicleState(0, np.array([10.0, 0.0, 2.0]), ZERO, LEVEL, ZERO, ZERO, ZERO, np.zeros(4), np.zeros(4), ZERO)


def made() -> FrameMaker:
    maker = FrameMaker()
    mount = {"position": [0.5, 0.0, 0.0], "quat_wxyz": [1, 0, 0, 0]}
    lens = {"fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
    for name in ("truth/drone", "drone/cam", "drone/depth", "drone/lidar", "drone/map"):
        maker.infos[name] = {"name": name, "vehicle": "drone", "mount": mount, "details": lens}
    maker.frame_of("truth/drone", 0, EAST_OF_10, 0)
    return maker


@pytest.mark.parametrize("shape", [(48, 64), (48, 64, 3), (480, 1280, 3)])
def test_a_picture_is_a_jpeg_of_640_pixels_at_most(shape: tuple[int, ...]) -> None:
    image = CameraImage(0, np.full(shape, 200, np.uint8))
    header, payload = unframed(made().frame_of("drone/cam", 5_000_000_000, image, 0))
    assert header["t"] == 5.0 and header["v"] == "jpeg"
    pixels = simplejpeg.decode_jpeg(bytes(payload))
    assert pixels.shape[:2] == (header["height"], header["width"]) and header["width"] <= 640
    assert abs(int(pixels.mean()) - 200) < 3


def test_a_cloud_is_where_the_sensor_is() -> None:
    points = np.array([[1.0, 2.0, 3.0]], np.float32)
    one = np.ones(1)
    scan = LidarScan(0, points, one, one, one.astype("u2"), one.astype("i8"), one.astype("u1"), one.astype("i4"))  # type: ignore[arg-type]
    header, payload = unframed(made().frame_of("drone/lidar", 0, scan, 0))
    assert header["count"] == 1
    assert np.frombuffer(payload, "<f4").tolist() == [11.5, 2.0, 5.0]


def test_a_depth_image_is_a_picture_and_a_cloud() -> None:
    depth = np.zeros((48, 64), np.float32)
    depth[:, :] = 4.0
    header, payload = unframed(made().frame_of("drone/depth", 0, DepthImage(0, depth), 0))
    assert simplejpeg.decode_jpeg(bytes(payload[: header["jpeg"]])).shape == (48, 64, 3)
    cloud = np.frombuffer(payload[header["cloud"] :], "<f4").reshape(-1, 3)
    # a wall 4 m ahead of a lens at 10.5 m
    assert len(cloud) == 8 * 11 and np.allclose(cloud[:, 0], 14.5)


def test_maps_and_paths_are_whole() -> None:
    maker = made()
    cells = np.array([[0, 100, -1]], np.int8)
    header, payload = unframed(maker.frame_of("drone/map", 0, GridMap(0, cells, 0.5, ZERO), 0))
    assert (header["rows"], header["columns"]) == (1, 3) and np.frombuffer(payload, "i1").tolist() == [0, 100, -1]
    voxels = np.zeros((4, 4, 4), np.int8)
    voxels[1, 2, 3] = 100
    header, payload = unframed(maker.frame_of("drone/map", 0, VoxelMap(0, voxels, 0.5, ZERO), 0))
    assert np.frombuffer(payload, "<u2").tolist() == [1, 2, 3]
    header, payload = unframed(maker.frame_of("drone/map", 0, Path(0, np.eye(3)), 0))
    assert np.frombuffer(payload, "<f4").reshape(3, 3).tolist() == np.eye(3).tolist()


def test_numbers_that_are_not_finite_become_gaps() -> None:
    told = numbers(ImuSample(0, np.array([1.0, np.nan, np.inf]), ZERO))
    assert told == {"angular_velocity": [1.0, None, None], "specific_force": [0.0, 0.0, 0.0]}


def test_arrays_of_a_frame_lie_at_multiples_of_eight() -> None:
    payload = FramePayload()
    places = [payload.add(np.arange(3, dtype=np.uint8)), payload.add(np.arange(2, dtype=np.float32))]
    header, body = unframed(frame({"k": "x", "places": places}, payload.bytes()))
    assert header["places"] == [["|u1", 0, 3], ["<f4", 8, 2]]
    assert np.frombuffer(body, "<f4", 2, 8).tolist() == [0.0, 1.0]
