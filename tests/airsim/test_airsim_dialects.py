"""What AirSim's and Cosys-AirSim's clients mean by the same calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from airsim_bench import Bench
from airsim_rpc import pose, xyz

from skyloop.core.frames import frd_from_flu
from skyloop.links.airsim.segmentation import AIRSIM_PALETTE, COSYS_COLOURS, cosys_palette
from skyloop.links.airsim.settings import read_settings
from skyloop.links.airsim.wire import Dialect

SIZE = {"Width": 32, "Height": 24, "FOV_Degrees": 90}
SETTINGS: dict[str, Any] = {
    "CameraDefaults": {"CaptureSettings": [{"ImageType": kind, **SIZE} for kind in range(12)]},
    "Vehicles": {
        "Drone1": {
            "VehicleType": "SimpleFlight",
            "Sensors": {
                "Lidar": {"SensorType": 6, "PointsPerSecond": 4000, "X": 0.2, "Z": -0.3, "Pitch": -10},
                "Gpu": {"SensorType": 8, "NumberOfChannels": 4, "MeasurementsPerCycle": 32, "X": 0.5},
            },
        }
    },
}
RED = (214, 48, 49)
GROUND = "ground[\\w]*"
"""As scripts for Blocks have it: near and far."""


def asked(kind: int, **more: Any) -> dict[str, Any]:
    return {"camera_name": "3", "image_type": kind, "pixels_as_float": False, "compress": False, **more}


@pytest.fixture(scope="module")
def airsim() -> Iterator[Bench]:
    built = Bench(SETTINGS, world="flat")
    built.sim.run_for(0.3)
    built("simSetVehiclePose", pose(0.0, 0.0, -4.0), True, "")
    yield built
    built.close()


@pytest.fixture
def bench(airsim: Bench) -> Bench:
    """With a client that has told nothing of itself yet."""
    airsim.connect()
    return airsim


def middle(image: dict[str, Any]) -> list[int]:
    pixels = np.frombuffer(image["image_data_uint8"], np.uint8).reshape(24, 32, 3)
    return list(pixels[12, 16].tolist())


# ---- images


@pytest.mark.renders
def test_raw_pixels_are_blue_first_for_airsim_and_red_first_for_cosys(bench: Bench) -> None:
    bench("simSetAnnotationObjectColor", "layer", GROUND, *RED, True)
    bench.connect()
    (scene,) = bench("simGetImages", [asked(0)], "", False)
    (ours,) = bench("simGetImages", [asked(0, annotation_name="")], "")
    assert middle(ours) == middle(scene)[::-1] and middle(ours) != middle(scene)
    (layer,) = bench("simGetImages", [asked(11, annotation_name="layer")], "")
    assert middle(layer) == list(RED)


@pytest.mark.renders
def test_a_segmentation_id_has_the_colour_that_is_shown(bench: Bench) -> None:
    """colorMap[simGetSegmentationObjectID(name)], for each of the two colour maps."""
    assert bench("simSetSegmentationObjectID", GROUND, 20, True) is True
    (shown,) = bench("simGetImages", [asked(5)], "", False)
    assert middle(shown)[::-1] == AIRSIM_PALETTE[20].tolist()
    assert bench("simGetSegmentationObjectID", "Ground") == 20
    bench.connect()
    bench("simListInstanceSegmentationObjects")
    for number in (7, 300, 65_536, COSYS_COLOURS - 1):
        assert bench("simSetSegmentationObjectID", GROUND, number, True) is True
        assert bench("simGetSegmentationObjectID", "Ground") == number
        (shown,) = bench("simGetImages", [asked(5, annotation_name="")], "")
        assert middle(shown) == cosys_palette()[number].tolist()
    refused = bench.start("simSetSegmentationObjectID", "Ground", COSYS_COLOURS, False)
    assert f"give 0 to {COSYS_COLOURS - 1}" in bench.client.answers[refused][0]
    # for AirSim's clients Unreal takes what is too large for 255, and -1 hides a thing
    bench.connect()
    for given, colour in ((300, AIRSIM_PALETTE[255]), (-1, AIRSIM_PALETTE[0])):
        bench("simSetSegmentationObjectID", GROUND, given, True)
        (shown,) = bench("simGetImages", [asked(5)], "", False)
        assert middle(shown)[::-1] == colour.tolist()


@pytest.mark.renders
def test_colours_of_the_list_before_any_id_was_given() -> None:
    bench = Bench(SETTINGS, world="blocks")
    try:
        names = bench("simListInstanceSegmentationObjects")
        for name in ("Ground", "OrangeBall", "Drone1", names[3]):
            assert bench("simGetSegmentationObjectID", name) == names.index(name)
        bench("simSetVehiclePose", pose(0.0, 0.0, -4.0), True, "")
        (shown,) = bench("simGetImages", [asked(5, annotation_name="")], "")
        assert middle(shown) == cosys_palette()[names.index("Ground")].tolist()
        # AirSim sums up a name's letters: g 103 + r 114 + o 111 + u 117 + n 110 + d 100, and 5
        bench.connect()
        assert bench("simGetSegmentationObjectID", "Ground") == (655 + 5) % 256
        blocks = {bench("simGetSegmentationObjectID", f"TemplateCube_Rounded_{k}") for k in (1, 7, 30)}
        assert len(blocks) == 1, "numbers are no letters"
    finally:
        bench.close()


@pytest.mark.renders
def test_the_sky_can_be_given_an_id(bench: Bench) -> None:
    up = {"x_val": 0.0, "y_val": np.sqrt(0.5), "z_val": 0.0, "w_val": np.sqrt(0.5)}
    bench("simSetCameraPose", "0", {"position": pose(0, 0, 0)["position"], "orientation": up}, "", False)
    look = {**asked(5), "camera_name": "0"}
    assert middle(bench("simGetImages", [look], "", False)[0]) == [0, 0, 0]
    assert bench("simSetSegmentationObjectID", "SkySphere", 42, True) is True
    assert middle(bench("simGetImages", [look], "", False)[0])[::-1] == AIRSIM_PALETTE[42].tolist()


def test_the_palettes_are_theirs() -> None:
    """Entries of AirSim's list of segmentation colours, and of the colour map of Cosys-AirSim's client."""
    known = {0: (0, 0, 0), 1: (153, 108, 6), 2: (112, 105, 191), 19: (0, 53, 65), 255: (255, 255, 255)}
    assert {k: tuple(AIRSIM_PALETTE[k].tolist()) for k in known} == known
    assert len(np.unique(AIRSIM_PALETTE, axis=0)) == 256
    palette = cosys_palette()
    assert palette.shape == (2_744_000, 3)
    assert [tuple(row) for row in palette[[0, 1, 2, -1]].tolist()] == [
        (255, 255, 255), (255, 255, 127), (255, 127, 255), (252, 252, 252),
    ]  # fmt: skip


# ---- LiDARs


def test_points_are_in_the_vehicle_s_ned_for_airsim_and_in_the_sensor_s_axes_for_cosys(bench: Bench) -> None:
    ours = bench("getLidarData", "Lidar", "")
    bench("simGetPhysicsRawKinematics", "")
    theirs = bench("getLidarData", "Lidar", "")
    assert xyz(theirs["pose"]["position"]) == pytest.approx([0.2, 0.0, -0.3])
    turn = theirs["pose"]["orientation"]
    assert turn["y_val"] == pytest.approx(np.sin(np.radians(-5.0)))
    scan = bench.sim.bus.latest("Drone1/lidar")
    local = np.array(theirs["point_cloud"].values).reshape(-1, 3)
    assert local == pytest.approx(frd_from_flu(scan.points.astype(float)), abs=1e-5)
    # what AirSim's clients get is the same cloud, turned by the sensor's pose in the vehicle's NED
    reported = np.array(ours["point_cloud"].values).reshape(-1, 3)
    assert not np.allclose(reported, local, atol=0.1)
    assert np.linalg.norm(reported - xyz(ours["pose"]["position"]), axis=1) == pytest.approx(
        np.linalg.norm(local, axis=1), abs=1e-4
    )
    gpu = bench("getGPULidarData", "Gpu", "")
    assert xyz(gpu["pose"]["position"]) == pytest.approx([0.5, 0.0, 0.0])


# ---- who is who


def test_settings_of_version_2_are_cosys() -> None:
    assert read_settings('{"SettingsVersion": 1.2}').options.dialect is Dialect.AIRSIM
    assert read_settings("").options.dialect is Dialect.AIRSIM
    assert read_settings('{"SettingsVersion": 2.0}').options.dialect is Dialect.COSYS


@pytest.mark.parametrize(
    ("calls", "dialect"),
    [
        ([("ping",), ("getServerVersion",), ("getMultirotorState", "")], None),
        ([("simGetObjectPose", "Ground")], Dialect.AIRSIM),
        ([("simGetObjectPose", "Ground", True)], Dialect.COSYS),
        ([("simGetCameraInfo", "0", "", False)], Dialect.AIRSIM),
        ([("simGetCameraInfo", "0", "")], Dialect.COSYS),
        ([("simListInstanceSegmentationObjects",), ("ping",)], Dialect.COSYS),
        ([("simListInstanceSegmentationObjects",), ("simGetCameraInfo", "0", "", False)], Dialect.AIRSIM),
    ],
)
def test_calls_tell_who_sends_them(bench: Bench, calls: list[tuple[Any, ...]], dialect: Dialect | None) -> None:
    for call in calls:
        bench(*call)
    assert bench.client.dialect is dialect
