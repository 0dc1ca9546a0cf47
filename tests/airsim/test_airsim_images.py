"""Pictures an AirSim client gets, checked against the geometry of level ground and of a block put in front."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, pixels, pose, xyz
from PIL import Image

pytestmark = pytest.mark.renders

WIDTH, HEIGHT, FOCAL = 64, 48, 32.0
UP = 5.0
"""m above the start."""
BOTTOM = 46
"""A row that shows ground."""
BLOCK = "block 1"


@pytest.fixture
def high(rpc: Rpc) -> Rpc:
    """Drone1 level in the air, its time standing still; the ground has id 42."""
    rpc("simSetVehiclePose", pose(0.0, 0.0, -UP), True, "Drone1")
    rpc("simSetSegmentationObjectID", ".*terrain", 42, True)
    rpc("simSetCameraFov", "0", 90.0, "Drone1", False)
    rpc("simSetCameraPose", "0", pose(0.46, 0.0, 0.0), "Drone1", False)
    return rpc


def image(rpc: Rpc, kind: int, *, floats: bool = False, compress: bool = False, camera: str = "0", **more: Any) -> Any:
    request = {"camera_name": camera, "image_type": kind, "pixels_as_float": floats, "compress": compress, **more}
    (answer,) = rpc("simGetImages", [request], "Drone1", camera == "watch")
    assert (answer["width"], answer["height"], answer["image_type"]) == (WIDTH, HEIGHT, kind)
    if floats:
        assert answer["image_data_uint8"] == b""
        return np.array(answer["image_data_float"]).reshape(HEIGHT, WIDTH, -1).squeeze()
    if compress:
        return np.asarray(Image.open(io.BytesIO(answer["image_data_uint8"])))
    # blue comes first
    return pixels(answer)[..., ::-1]


def ground_depth(rpc: Rpc, row: int) -> float:
    height = 122.0 - rpc("getMultirotorState", "Drone1")["gps_location"]["altitude"]
    return -height / ((row - 0.5 * (HEIGHT - 1)) / FOCAL)


def test_depths_of_the_ground(high: Rpc) -> None:
    rpc = high
    planar, expected = image(rpc, 1, floats=True), ground_depth(rpc, BOTTOM)
    assert planar[BOTTOM] == pytest.approx(expected, rel=1e-3)
    assert planar[0, 5] == 65504.0, "the sky is far"
    x, y = (5 - 31.5) / FOCAL, (BOTTOM - 23.5) / FOCAL
    assert image(rpc, 2, floats=True)[BOTTOM, 5] == pytest.approx(expected * math.sqrt(1 + x * x + y * y), rel=1e-3)
    assert image(rpc, 3, floats=True)[BOTTOM, 5] == pytest.approx(expected / 100.0, rel=1e-3)
    assert image(rpc, 3)[0, 5].tolist() == [255, 255, 255]
    assert image(rpc, 4, floats=True)[BOTTOM, 5] == pytest.approx(FOCAL * 0.25 / (expected * WIDTH), rel=1e-3)


def test_labels_of_the_ground(high: Rpc) -> None:
    rpc = high
    colour = image(rpc, 5)[BOTTOM, 5].tolist()
    assert colour != [0, 0, 0] and image(rpc, 5)[0, 5].tolist() == [0, 0, 0]
    assert image(rpc, 7)[BOTTOM, 5].tolist() == [42, 42, 42]
    assert image(rpc, 6)[BOTTOM, 5].tolist() == [128, 128, 255], "its normal points up"
    rpc("simSetSegmentationObjectID", ".*terrain", 43, True)
    assert image(rpc, 5)[BOTTOM, 5].tolist() != colour


@pytest.mark.parametrize("kind", [0, 1, 5, 6, 9, 10])
def test_png_and_raw_are_the_same_picture(high: Rpc, kind: int) -> None:
    assert np.array_equal(image(high, kind, compress=True), image(high, kind))


def test_the_scene_has_sky_above_grass_and_stands_still(high: Rpc) -> None:
    rpc = high
    first = image(rpc, 0)
    assert first[2].mean(axis=0)[2] > first[2].mean(axis=0)[0], "the sky is blue"
    assert first[BOTTOM].mean(axis=0)[1] > first[BOTTOM].mean(axis=0)[2], "grass is green"
    assert np.array_equal(first, image(rpc, 0))
    png = rpc("simGetImage", "front_center", 0, "Drone1", False)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png))), first)


def test_flow_of_the_ground_in_forward_flight(high: Rpc) -> None:
    rpc = high
    state = rpc("simGetGroundTruthKinematics", "Drone1")
    state["linear_velocity"]["x_val"] = 6.0
    rpc("simSetKinematics", state, True, "Drone1")
    flow, depth = image(rpc, 8, floats=True), ground_depth(rpc, BOTTOM)
    x, y = (5 - 31.5) / FOCAL, (BOTTOM - 23.5) / FOCAL
    assert flow[BOTTOM, 5] == pytest.approx(np.array([x, y]) * FOCAL * 6.0 / depth / 60.0, rel=2e-3)
    assert image(rpc, 9)[BOTTOM, 5].max() > 0


def test_where_a_camera_looks(high: Rpc) -> None:
    rpc = high
    info = rpc("simGetCameraInfo", "0", "Drone1", False)
    assert xyz(info["pose"]["position"]) == pytest.approx([0.46, 0.0, -UP]) and info["fov"] == 90.0
    # straight down: nose of the camera 90 degrees down
    half = math.sqrt(0.5)
    rpc("simSetCameraPose", "0", pose(0.0, 0.0, 0.0, half, 0.0, -half, 0.0), "Drone1", False)
    down = ground_depth(rpc, 24) * 0.5 / FOCAL
    assert image(rpc, 1, floats=True) == pytest.approx(down, rel=1e-3)
    orientation = rpc("simGetCameraInfo", "0", "Drone1", False)["pose"]["orientation"]
    assert orientation["y_val"] == pytest.approx(-half)
    assert image(rpc, 1, floats=True, camera="bottom_center") == pytest.approx(down, rel=1e-3)
    rpc("simSetCameraPose", "0", pose(0.46, 0.0, 0.0), "Drone1", False)
    rpc("simSetCameraFov", "0", 40.0, "Drone1", False)
    assert float(rpc("simGetCurrentFieldOfView", "0", "Drone1", False)) == 40.0
    row = (BOTTOM - 23.5) / (32.0 / math.tan(math.radians(20.0)))
    assert image(rpc, 1, floats=True)[BOTTOM, 9] == pytest.approx(ground_depth(rpc, 24) * 0.5 / FOCAL / row, rel=1e-3)


def test_focal_length_and_sensor_set_the_field_of_view(high: Rpc) -> None:
    rpc = high
    asked = ("0", "Drone1", False)
    assert rpc("simGetFocalLength", *asked) == pytest.approx(12.0) and "Width: 24," in rpc(
        "simGetFilmbackSettings", *asked
    )
    rpc("simSetFocalLength", 24.0, *asked)
    assert rpc("simGetCameraInfo", *asked)["fov"] == pytest.approx(2.0 * math.degrees(math.atan(0.5)))
    assert rpc("simSetFilmbackSettings", 48.0, 24.0, *asked) == 2.0
    assert rpc("simGetCameraInfo", *asked)["fov"] == pytest.approx(90.0)
    rpc("simSetFilmbackSettings", 24.0, 13.5, *asked)


def test_a_block_in_front_left_and_right(high: Rpc) -> None:
    """An object to the north-east appears in the right half of what a camera looking north sees."""
    rpc = high
    place = rpc("simGetObjectPose", BLOCK)
    try:
        assert rpc("simSetObjectPose", BLOCK, pose(6.0, 4.0, -UP), True) is True
        rpc("simSetSegmentationObjectID", BLOCK, 7, False)
        ids = image(rpc, 7)[..., 0]
        columns = np.nonzero(ids == 7)[1]
        assert len(columns) and columns.min() > 0.5 * WIDTH
        assert image(rpc, 7, camera="back_center")[..., 0].max() != 7
    finally:
        rpc("simSetObjectPose", BLOCK, place, True)
    assert 7 not in image(rpc, 7)[..., 0]


def test_a_bent_lens(high: Rpc) -> None:
    rpc = high
    straight = image(rpc, 1, floats=True)
    rpc("simSetDistortionParam", "0", "K1", 0.3, "Drone1", False)
    assert rpc("simGetDistortionParams", "0", "Drone1", False) == [0.3, 0.0, 0.0, 0.0, 0.0]
    bent = image(rpc, 1, floats=True)
    rpc("simSetDistortionParam", "0", "K1", 0.0, "Drone1", False)
    # a pincushion pushes what is seen outwards: the bottom row shows what was above it
    assert bent[47, 31] > 1.05 * straight[47, 31] and bent[24, 32] == straight[24, 32]


def test_external_cameras_see_vehicles(high: Rpc) -> None:
    rpc = high
    rpc("simSetVehiclePose", pose(-8.5, 0.0, -3.6), True, "Drone1")
    rpc("simSetSegmentationObjectID", "Drone1", 9, False)
    assert 9 in image(rpc, 7, camera="watch")[..., 0]


def test_annotation_layers(high: Rpc) -> None:
    rpc = high
    assert rpc("simSetAnnotationObjectColor", "layer", ".*terrain", 10, 20, 30, True) is True
    assert image(rpc, 11, annotation_name="layer")[BOTTOM, 5].tolist() == [30, 20, 10], "red first"
    assert "Ground" in rpc("simListAnnotationObjects", "layer")
    assert rpc("simGetAnnotationObjectColor", "layer", "terrain") == "10,20,30"
    rpc("simSetAnnotationObjectID", "layer", "terrain", 5, False)
    assert rpc("simGetAnnotationObjectID", "layer", "terrain") == 5
    rpc("simSetAnnotationObjectValue", "layer", "terrain", 0.5, False)
    assert rpc("simGetAnnotationObjectValue", "layer", "terrain") == 0.5
    assert len(rpc("simListAnnotationPoses", "layer", True, False)) == len(rpc("simListAnnotationObjects", "layer"))
    with pytest.raises(RpcError, match="annotation layer"):
        image(rpc, 11, annotation_name="other")


@pytest.mark.parametrize(
    ("request_", "reported"),
    [({"camera_name": "nose", "image_type": 0}, "camera"), ({"camera_name": "0", "image_type": 77}, "image type 77"),
     (5, "a request is 5")],
)  # fmt: skip
def test_requests_that_cannot_be(rpc: Rpc, request_: Any, reported: str) -> None:
    with pytest.raises(RpcError, match=f"simGetImages: .*{reported}"):
        rpc("simGetImages", [request_], "Drone1", False)
