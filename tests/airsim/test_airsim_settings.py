"""settings.json, read as AirSim reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from skyloop.links.airsim.options import Capture
from skyloop.links.airsim.settings import read_settings
from skyloop.links.airsim.settings_reader import (
    BAROMETER,
    CAMERA,
    CAPTURE,
    DISTANCE,
    GPS,
    IMU,
    LIDAR,
    MAGNETOMETER,
    ROOT,
    SEGMENTATION,
    VEHICLE,
)
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import ScenarioError


def read(**settings: Any) -> Any:
    return read_settings(json.dumps(settings))


def test_nothing_at_all_is_one_drone() -> None:
    found = read_settings()
    assert list(found.options.vehicles) == ["SimpleFlight"] and (found.host, found.port) == ("127.0.0.1", 41451)
    scenario = make_scenario(found.scenario)
    (vehicle,) = scenario.vehicles
    assert vehicle.airframe == "airsim-quad" and vehicle.yaw_deg == 90.0, "its nose to the north"
    kinds = {sensor.kind for sensor in vehicle.sensors.values()}
    assert kinds == {"imu", "magnetometer", "gnss", "barometer"}
    assert scenario.earth.latitude_deg == 47.641468 and scenario.earth.altitude == 122.0
    assert list(found.options.vehicles["SimpleFlight"].cameras) == [
        "front_center", "front_right", "front_left", "bottom_center", "back_center",
    ]  # fmt: skip


def test_vehicles_stand_where_they_are_told_in_ned() -> None:
    found = read(
        ClockSpeed=2.5, ApiServerPort=5000, LocalHostIp="127.0.0.1", Wind={"X": 1, "Y": 2, "Z": -3},
        Vehicles={"A 1": {"X": 3, "Y": -4, "Yaw": 30}, "high": {"Z": -7, "VehicleType": "SimpleFlight"},
                  "none": {"AutoCreate": False}},
    )  # fmt: skip
    scenario = make_scenario(found.scenario)
    assert [vehicle.position for vehicle in scenario.vehicles] == [(-4.0, 3.0), (0.0, 0.0, 7.0)]
    assert scenario.vehicles[0].yaw_deg == 60.0
    assert [vehicle.name for vehicle in scenario.vehicles] == ["A_1", "high"]
    assert found.options.vehicles["A 1"].vehicle == "A_1"
    assert scenario.wind.velocity == (2.0, 1.0, 3.0)
    assert (found.clock_speed, found.port) == (2.5, 5000)


def test_cameras_and_their_captures() -> None:
    found = read(
        CameraDefaults={"CaptureSettings": [{"ImageType": 0, "Width": 640, "Height": 480, "FOV_Degrees": 100}]},
        Vehicles={"D": {"Cameras": {
            "mine": {"X": 0.3, "Y": 0.1, "Z": -0.2, "Pitch": -45, "CaptureSettings": [{"ImageType": 1, "Width": 100}],
                     "Gimbal": {"Stabilization": 1, "Pitch": -20}}}}},
        ExternalCameras={"outside": {"X": 1, "Z": -3}},
    )  # fmt: skip
    camera = found.options.vehicles["D"].cameras["mine"]
    assert camera.position == (0.3, 0.1, -0.2) and camera.rotation_deg == (0.0, -45.0, 0.0)
    assert camera.captures == {0: Capture(640, 480, 100.0), 1: Capture(100, 144, 90.0)}
    assert (camera.gimbal.stabilization, camera.gimbal.pitch_deg, camera.gimbal.yaw_deg) == (1.0, -20.0, None)
    assert found.options.vehicles["D"].cameras["bottom_center"].rotation_deg == (0.0, -90.0, 0.0)
    assert found.options.external_cameras["outside"].position == (1.0, 0.0, -3.0)


def test_sensors_become_ours() -> None:
    found = read(Vehicles={"D": {"Sensors": {
        "LidarFront": {"SensorType": 6, "NumberOfChannels": 8, "Range": 50, "PointsPerSecond": 5000,
                       "RotationsPerSecond": 5, "HorizontalFOVStart": -20, "HorizontalFOVEnd": 20,
                       "VerticalFOVUpper": 10, "VerticalFOVLower": -10, "Y": 0.5, "Yaw": 90},
        "imu": {"SensorType": 2, "AngularRandomWalk": 0.6},
        "gps": {"SensorType": 3, "Enabled": False},
        "Down": {"SensorType": 5, "Pitch": -90, "MinDistance": 0.3},
    }}})  # fmt: skip
    (vehicle,) = make_scenario(found.scenario).vehicles
    lidar: Any = vehicle.sensors["lidarfront"]
    assert lidar.channels == 8 and lidar.max_range == 50.0 and lidar.rate_hz == 5.0
    # clockwise there, anticlockwise here; right there, left here
    assert lidar.horizontal_fov_deg == (-20.0, 20.0) and lidar.vertical_fov_deg == (-10.0, 10.0)
    assert lidar.mount.position == (0.0, -0.5, 0.0) and lidar.mount.rotation_deg == (0.0, 0.0, -90.0)
    down: Any = vehicle.sensors["down"]
    assert down.mount.rotation_deg[1] == 90.0 and down.min_range == 0.3
    imu: Any = vehicle.sensors["imu"]
    assert imu.gyro_noise_density == pytest.approx(2 * 8.73e-5, rel=1e-3)
    assert "gps" not in vehicle.sensors and found.options.vehicles["D"].sensors["Down"].kind == "rangefinder"


def test_recording_time_of_day_and_computer_vision(tmp_path: Path) -> None:
    found = read(
        SimMode="ComputerVision",
        Recording={"RecordInterval": 0.5, "Folder": str(tmp_path), "Enabled": True,
                   "Cameras": [{"CameraName": "0", "ImageType": 1, "PixelsAsFloat": True}]},
        TimeOfDay={"Enabled": True, "StartDateTime": "2026-03-01 15:00:00", "CelestialClockSpeed": 10},
    )  # fmt: skip
    assert found.options.recording.interval == 0.5 and found.options.recording.cameras[0].as_float
    assert found.options.time_of_day["start_datetime"] == "2026-03-01 15:00:00"
    assert found.options.vehicles["ComputerVision"].flies is False
    assert make_scenario(found.scenario).vehicles[0].sensors == {}


def test_nan_is_not_given_and_types_have_any_case() -> None:
    """As the example of AirSim's own page has it."""
    none = dict.fromkeys(("X", "Y", "Z", "Pitch", "Roll", "Yaw"), float("nan"))
    found = read(
        CameraDefaults={**none, "Gimbal": {"Stabilization": 0, "Pitch": float("nan"), "Roll": float("nan")}},
        Vehicles={"D": {**none, "VehicleType": "simpleflight", "Cameras": {"front_center": {**none, "Pitch": -5}}}},
    )
    assert not found.warnings and make_scenario(found.scenario).vehicles[0].position == (0.0, 0.0)
    camera = found.options.vehicles["D"].cameras["front_center"]
    assert camera.position == (0.46, 0.0, 0.0) and camera.rotation_deg == (0.0, -5.0, 0.0)
    assert camera.gimbal.pitch_deg is None


def test_vehicles_of_one_place_start_side_by_side() -> None:
    """Two that overlap could never take off."""
    found = read(Vehicles={"A": {}, "B": {}, "C": {"X": 0.3}, "Above": {"Z": -5}, "Free": {"X": 1}})
    starts = [vehicle.position for vehicle in make_scenario(found.scenario).vehicles]
    assert starts == [(0.0, 0.0), (2.0, 0.0), (4.0, 0.3), (0.0, 0.0, 5.0), (0.0, 1.0)]
    assert len(found.warnings) == 2 and "Vehicles.B is where another vehicle starts" in found.warnings[0]
    assert "it starts 4 m east of there" in found.warnings[1]


def test_keys_that_change_nothing_are_told_in_one_line() -> None:
    found = read(
        ViewMode="Fpv", ClockType="", SubWindows=[],
        Vehicles={"D": {"PawnPath": "x", "Sensors": {"b": {"SensorType": 1, "StartupDelay": 1}},
                        "Cameras": {"c": {"CaptureSettings": [{"ImageType": 1, "MotionBlurAmount": 1}],
                                          "NoiseSettings": [{"ImageType": 1, "Enabled": True}]}}}},
    )  # fmt: skip
    (line,) = found.warnings
    reported = set(line.partition("these keys change nothing here: ")[2].split(", "))
    assert reported == {
        "ViewMode", "PawnPath", "StartupDelay", "MotionBlurAmount of ImageType 1", "NoiseSettings of ImageType 1",
    }  # fmt: skip


def test_the_page_lists_every_key_that_changes_nothing() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "airsim.md").read_text(encoding="utf-8")
    listed = page.partition("These keys change nothing")[2].partition("Of an `Annotation`")[0]
    parts = (ROOT, SEGMENTATION, VEHICLE, CAMERA, CAPTURE, IMU, GPS, BAROMETER, MAGNETOMETER, DISTANCE, LIDAR)
    keys = {key for part in parts for key in part.idle}
    assert set(re.findall(r"`(\w+)`", listed)) == keys


def test_a_default_of_all_cameras_is_reported_once() -> None:
    (line,) = read(CameraDefaults={"CaptureSettings": [{"Widht": 3}]}).warnings
    assert "unknown key 'CameraDefaults.CaptureSettings[0].Widht'" in line


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ({"ClokSpeed": 2}, "'ClokSpeed'; did you mean 'ClockSpeed'"),
        ({"Vehicles": {"D": {"VehicelType": "SimpleFlight"}}}, "did you mean 'VehicleType'"),
        ({"CameraDefaults": {"CaptureSettings": [{"Widht": 3}]}}, "did you mean 'Width'"),
        ({"Vehicles": {"D": {"Sensors": {"l": {"SensorType": 6, "Rnage": 3}}}}}, "did you mean 'Range'"),
    ],
)
def test_unknown_keys_are_told_with_the_nearest(settings: dict[str, Any], reported: str) -> None:
    warnings = read(**settings).warnings
    assert len(warnings) >= 1 and reported in warnings[0]


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ({"SimMode": "Car"}, "skyloop flies multirotors"),
        ({"Vehicles": {"D": {"VehicleType": "PhysXCar"}}}, "VehicleType"),
        ({"Vehicles": {"D": {"X": "far"}}}, "Vehicles.D.X"),
        ({"Vehicles": {"D": {"Sensors": {"s": {"SensorType": 99}}}}}, "SensorType"),
        ({"CameraDefaults": {"CaptureSettings": [{"Width": 0}]}}, "pixels"),
        ({"CameraDefaults": {"CaptureSettings": [{"TargetGamma": 0}]}}, "TargetGamma"),
        ({"CameraDefaults": {"NoiseSettings": [{"RandSize": "much"}]}}, "RandSize"),
        ({"Vehicles": {"D": {"AutoCreate": False}}}, "AutoCreate"),
    ],
)
def test_what_cannot_be_is_one_clear_line(settings: dict[str, Any], reported: str) -> None:
    with pytest.raises(ScenarioError, match=reported):
        read(**settings)


def test_broken_json_and_comments() -> None:
    with pytest.raises(ScenarioError, match="no JSON"):
        read_settings("{")
    assert read_settings('{\n// a comment\n"ClockSpeed": 3}').clock_speed == 3.0
