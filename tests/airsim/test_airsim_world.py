"""Sensors, objects, weather and forces an AirSim client reads and sets, each seen through another method."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, pose, vector, xyz

pytestmark = pytest.mark.renders

BLOCK = "TemplateCube_Rounded_2"
KEEP = {"is_rate": True, "yaw_or_rate": 0.0}


def place(rpc: Rpc, name: str = "Drone1") -> np.ndarray[Any, Any]:
    return np.array(xyz(rpc("simGetVehiclePose", name)["position"]))


def brightness(rpc: Rpc) -> float:
    request = {"camera_name": "0", "image_type": 0, "pixels_as_float": False, "compress": False}
    (answer,) = rpc("simGetImages", [request], "Drone1", False)
    return float(np.frombuffer(answer["image_data_uint8"], np.uint8).mean())


# ---- sensors


def test_sensors_at_rest(rpc: Rpc) -> None:
    rpc("simContinueForTime", 6.0)
    imu = rpc("getImuData", "", "Drone1")
    assert xyz(imu["linear_acceleration"]) == pytest.approx([0.0, 0.0, -9.80665], abs=0.3)
    assert imu["orientation"]["w_val"] == pytest.approx(1.0, abs=1e-3)
    gps = rpc("getGpsData", "", "Drone1")
    assert gps["gnss"]["fix_type"] == 3 and gps["is_valid"] is True
    home = rpc("getHomeGeoPoint", "Drone1")
    assert gps["gnss"]["geo_point"]["latitude"] == pytest.approx(home["latitude"], abs=1e-7)
    truth = rpc("simGetGroundTruthEnvironment", "Drone1")
    assert truth["geo_point"]["altitude"] == pytest.approx(home["altitude"], abs=0.01)
    baro = rpc("getBarometerData", "", "Drone1")
    assert baro["pressure"] == pytest.approx(truth["air_pressure"], rel=0.01) and baro["qnh"] == 1013.25
    north, east, down = xyz(rpc("getMagnetometerData", "", "Drone1")["magnetic_field_body"])
    # near Seattle: gauss, mostly down, declination about 15 degrees east
    assert down > 0.4 and north > 0.1 and math.degrees(math.atan2(east, north)) == pytest.approx(15.0, abs=6.0)
    with pytest.raises(RpcError, match=r"getImuData: .*'Imuu'"):
        rpc("getImuData", "Imuu", "Drone1")
    with pytest.raises(RpcError, match="has no sensor of this kind"):
        rpc("getLidarData", "", "Drone2")


def test_distance_and_lidar_see_the_ground(flying: Rpc) -> None:
    rpc = flying
    up = 0.1 - place(rpc)[2]
    down = rpc("getDistanceSensorData", "Down", "Drone1")
    assert down["distance"] == pytest.approx(up, abs=0.9) and down["max_distance"] == 30.0
    assert down["relative_pose"]["orientation"]["y_val"] == pytest.approx(-math.sqrt(0.5))
    scan = rpc("getLidarData", "LidarSensor1", "Drone1")
    points = np.array(scan["point_cloud"]).reshape(-1, 3)
    assert len(points) == len(scan["segmentation"]) > 100
    ids = {rpc("simGetSegmentationObjectID", name) for name in ("terrain", "far terrain")}
    ground = points[np.isin(scan["segmentation"], list(ids))]
    # in the vehicle's NED the ground is a tenth of a metre below the start
    assert ground[:, 2] == pytest.approx(0.1, abs=0.02)
    assert xyz(scan["pose"]["position"])[2] == pytest.approx(place(rpc)[2] - 0.3, abs=0.05)
    own = rpc("getLidarData", "Local", "Drone1")
    local = np.array(own["point_cloud"]).reshape(-1, 3)
    assert np.median(local[np.isin(own["segmentation"], list(ids))][:, 2]) == pytest.approx(up, abs=0.1)
    rows = np.array(rpc("getGPULidarData", "Gpu", "Drone1")["point_cloud"]).reshape(-1, 5)
    assert np.median(rows[:, 2]) == pytest.approx(up, abs=0.1) and (rows[:, 4] > 0.0).all()
    request = {"camera_name": "bottom_center", "image_type": 5, "pixels_as_float": False, "compress": False}
    cosys = {**request, "annotation_name": ""}
    red, green, blue = rpc("simGetImages", [cosys], "Drone1")[0]["image_data_uint8"][:3]
    assert (red << 16) + (green << 8) + blue in rows[:, 3]
    rpc("simSetGPULidarPose", "Gpu", pose(0.0, 0.0, -2.0), "Drone1")
    rpc("simContinueForTime", 0.41)
    raised = np.array(rpc("getGPULidarData", "Gpu", "Drone1")["point_cloud"]).reshape(-1, 5)
    assert np.median(raised[:, 2]) == pytest.approx(up + 2.0, abs=0.15)
    # turned to look ahead, the distance sensor sees nothing near
    rpc("simSetDistanceSensorPose", "Down", pose(0.0, 0.0, 0.0), "Drone1")
    rpc("simContinueForTime", 0.1)
    assert rpc("getDistanceSensorData", "Down", "Drone1")["distance"] > 10.0
    half = math.sqrt(0.5)
    rpc("simSetDistanceSensorPose", "Down", pose(0.0, 0.0, 0.0, half, 0.0, -half, 0.0), "Drone1")
    rpc("simSetLidarPose", "LidarSensor1", pose(0.0, 0.0, -1.3), "Drone1")
    rpc("simContinueForTime", 0.2)
    rpc("simGetCameraInfo", "0", "Drone1", False)  # as AirSim's client asks, not Cosys-AirSim's
    higher = rpc("getLidarData", "LidarSensor1", "Drone1")
    assert xyz(higher["pose"]["position"])[2] == pytest.approx(place(rpc)[2] - 1.3, abs=0.05)


def test_truth_and_teleporting(rpc: Rpc) -> None:
    turned = pose(2.0, -3.0, -7.0, math.cos(0.4), 0.0, 0.0, math.sin(0.4))
    rpc("simSetVehiclePose", turned, True, "Drone1")
    state = rpc("simGetGroundTruthKinematics", "Drone1")
    assert xyz(state["position"]) == pytest.approx([2.0, -3.0, -7.0])
    assert state["orientation"]["z_val"] == pytest.approx(math.sin(0.4))
    assert xyz(rpc("getComputerVisionState", "Drone1")["kinematics_estimated"]["position"]) == pytest.approx(
        [2.0, -3.0, -7.0]
    )
    state["linear_velocity"], state["angular_velocity"] = vector(1.0, 2.0, -3.0), vector(0.1, 0.2, 0.3)
    rpc("simSetPhysicsRawKinematics", state, "Drone1")
    rpc("simContinueForTime", 0.01)
    raw = rpc("simGetPhysicsRawKinematics", "Drone1")
    # 10 ms of gravity and drag: 9.8 and 1.2 m/s²
    assert xyz(raw["linear_velocity"]) == pytest.approx([1.0, 2.0, -2.890], abs=2e-3)
    assert xyz(raw["angular_velocity"]) == pytest.approx([0.1, 0.2, 0.3], abs=1e-2)


# ---- objects


def test_an_object_put_in_the_way_is_hit(flying: Rpc) -> None:
    rpc = flying
    before, scale = rpc("simGetObjectPose", BLOCK), rpc("simGetObjectScale", BLOCK)
    assert xyz(scale) == pytest.approx([1.0, 1.0, 1.0])
    try:
        assert rpc("simSetObjectPose", BLOCK, pose(4.0, 0.0, 0.0), True) is True
        assert rpc("simSetObjectScale", BLOCK, vector(0.5, 0.5, 4.0)) is True
        assert xyz(rpc("simGetObjectPose", BLOCK)["position"]) == pytest.approx([4.0, 0.0, 0.0])
        assert xyz(rpc("simGetObjectScale", BLOCK)) == pytest.approx([0.5, 0.5, 4.0])
        eye, behind = (rpc("getHomeGeoPoint", "Drone1") for _ in range(2))
        eye["altitude"] += 2.0
        behind = {**eye, "latitude": eye["latitude"] + 12.0 / 111_190.0}
        assert rpc("simTestLineOfSightBetweenPoints", eye, behind) is False
        assert rpc("simTestLineOfSightToPoint", behind, "Drone1") is False
        rpc("simGetCollisionInfo", "Drone1")
        rpc.send("moveByVelocity", 2.0, 0.0, 0.0, 3.0, 0, KEEP, "Drone1")
        rpc("simContinueForTime", 3.5)
        hit = rpc("simGetCollisionInfo", "Drone1")
        assert hit["has_collided"] is True and hit["object_name"] == BLOCK and hit["normal"]["x_val"] < -0.5
        assert place(rpc)[0] < 4.0
        assert rpc("simGetCollisionInfo", "Drone1")["has_collided"] is False, "told once"
    finally:
        rpc("simSetObjectPose", BLOCK, before, True)
        rpc("simSetObjectScale", BLOCK, scale)
    assert rpc("simTestLineOfSightBetweenPoints", eye, behind) is True


def test_spawning_and_destroying(rpc: Rpc) -> None:
    asset = next(name for name in rpc("simListAssets") if name.startswith("block"))
    assert rpc("simListSceneObjects", "new.*") == []
    name = rpc("simSpawnObject", "newcomer", asset, pose(5.0, 0.0, -5.0), vector(1.0, 1.0, 1.0), False, False)
    again = rpc("simSpawnObject", "newcomer", asset, pose(9.0, 0.0, -5.0), vector(1.0, 1.0, 1.0), False, False)
    assert rpc("simListSceneObjects", "new.*") == [name, again] and name != again
    assert name in rpc("simListInstanceSegmentationObjects")
    poses = rpc("simListInstanceSegmentationPoses", True, False)
    assert len(poses) == len(rpc("simListInstanceSegmentationObjects"))
    rpc("simContinueForTime", 0.1)
    assert xyz(rpc("simGetObjectPose", name)["position"]) == pytest.approx([5.0, 0.0, -5.0])
    assert any(mesh["name"] == name for mesh in rpc("simGetMeshPositionVertexBuffers"))
    assert rpc("simDestroyObject", name) is True and rpc("simDestroyObject", again) is True
    assert rpc("simListSceneObjects", "new.*") == [] and rpc("simDestroyObject", name) is False
    assert math.isnan(rpc("simGetObjectPose", name)["position"]["x_val"])
    assert rpc("simSetObjectPose", "terrain", pose(0.0, 0.0, 0.0), True) is False
    with pytest.raises(RpcError, match="shape"):
        rpc("simSpawnObject", "x", "no such asset", pose(0.0, 0.0, 0.0), vector(1.0, 1.0, 1.0), False, False)
    rpc("simContinueForTime", 0.1)


@pytest.mark.parametrize(("asset", "width"), [("Cube", 2.0), ("Sphere", 2.0), ("Cylinder", 2.0), ("Cone", 1.0)])
def test_bodies_every_world_has(rpc: Rpc, asset: str, width: float) -> None:
    """Twice as large as they are, 6 m ahead of the camera, they fill as many pixels as they must and stop rays."""
    rpc("simSetVehiclePose", pose(0.0, 0.0, -20.0), True, "Drone1")
    name = rpc("simSpawnObject", "body", asset, pose(6.46, 0.0, -20.1), vector(2.0, 2.0, 2.0), False, False)
    rpc("simSetSegmentationObjectID", name, 99, False)
    request = {"camera_name": "0", "image_type": 7, "pixels_as_float": False, "compress": False}
    (answer,) = rpc("simGetImages", [request], "Drone1", False)
    ids = np.frombuffer(answer["image_data_uint8"], np.uint8).reshape(48, 64, 3)[..., 0]
    assert (ids[23:25] == 99).sum(axis=1).max() == pytest.approx(32.0 * width / 5.6, abs=3.0)
    assert list(rpc("simListSceneObjectsTags", name)) == [[name, "block"]]
    here = rpc("simGetGroundTruthEnvironment", "Drone1")["geo_point"]
    behind = {**here, "latitude": here["latitude"] + 12.0 / 111_190.0}
    assert rpc("simTestLineOfSightToPoint", behind, "Drone1") is False
    assert rpc("simDestroyObject", name) is True
    assert rpc("simTestLineOfSightToPoint", behind, "Drone1") is True


def test_segmentation_ids_by_expression(rpc: Rpc) -> None:
    assert rpc("simSetSegmentationObjectID", "block [1-3]", 77, True) is True
    assert [rpc("simGetSegmentationObjectID", f"block {k}") for k in (1, 3)] == [77, 77]
    assert rpc("simGetSegmentationObjectID", "BLOCK 2") == 77
    assert rpc("simGetSegmentationObjectID", "nothing") == -1
    assert rpc("simSetSegmentationObjectID", "nothing.*", 1, True) is False
    with pytest.raises(RpcError, match="not a regular expression"):
        rpc("simSetSegmentationObjectID", "[", 1, True)
    assert ["TemplateCube_Rounded_1", "block"] in rpc("simListSceneObjectsTags", "block .*")


def test_detections(rpc: Rpc) -> None:
    rpc("simSetVehiclePose", pose(0.0, 0.0, -3.0), True, "Drone1")
    before = rpc("simGetObjectPose", BLOCK)
    try:
        rpc("simSetObjectPose", BLOCK, pose(10.0, 5.0, -2.0), True)
        asked = ("0", 0, "Drone1", False)
        assert rpc("simGetDetections", *asked) == []
        rpc("simAddDetectionFilterMeshName", "0", 0, "block*", "Drone1", False)
        rpc("simSetDetectionFilterRadius", "0", 0, 2000.0, "Drone1", False)
        (found,) = [info for info in rpc("simGetDetections", *asked) if info["name"] == BLOCK]
        assert xyz(found["relative_pose"]["position"]) == pytest.approx([9.54, 5.0, 1.0], abs=1e-6)
        assert found["box2D"]["min"]["x_val"] > 31.0 and found["box2D"]["max"]["x_val"] <= 63.0
        low, high = xyz(found["box3D"]["min"]), xyz(found["box3D"]["max"])
        assert low[0] < 9.54 < high[0] and low[1] < 5.0 < high[1]
        rpc("simSetDetectionFilterRadius", "0", 0, 500.0, "Drone1", False)
        assert BLOCK not in [info["name"] for info in rpc("simGetDetections", *asked)]
        rpc("simClearDetectionMeshNames", *asked)
        assert rpc("simGetDetections", *asked) == []
    finally:
        rpc("simSetObjectPose", BLOCK, before, True)


def test_extents_and_voxels(rpc: Rpc, tmp_path: Path) -> None:
    low, high = rpc("simGetWorldExtents")
    assert low["latitude"] < high["latitude"] and low["longitude"] < high["longitude"]
    file = tmp_path / "map.binvox"
    north, east, _ = xyz(rpc("simGetObjectPose", "block 3")["position"])
    assert rpc("simCreateVoxelGrid", vector(north, east, 0.0), 8, 8, 8, 1.0, str(file)) is True
    head, _, body = file.read_bytes().partition(b"data\n")
    assert head.startswith(b"#binvox 1\ndim 8 8 8\n")
    runs = np.frombuffer(body, np.uint8).reshape(-1, 2)
    assert runs[:, 1].sum() == 512
    grid = np.repeat(runs[:, 0], runs[:, 1]).reshape(8, 8, 8)  # north, down, east
    assert grid[:, 4:].all(), "below the ground all is taken"
    assert 0 < grid[:, :4].sum() < 256, "and above it the block"
    assert grid[3:5, 3, 3:5].any()
    # a client replaces no other file of the machine's
    kept = tmp_path / ".profile"
    kept.write_text("mine")
    with pytest.raises(RpcError, match=r"ends with \.binvox"):
        rpc("simCreateVoxelGrid", vector(north, east, 0.0), 8, 8, 8, 1.0, str(kept))
    assert kept.read_text() == "mine"


# ---- weather, wind, pushes


def test_weather_and_sun(rpc: Rpc) -> None:
    rpc("simSetVehiclePose", pose(0.0, 0.0, -4.0), True, "Drone1")
    clear = brightness(rpc)
    rpc("simSetWeatherParameter", 7, 0.8)
    assert brightness(rpc) == clear, "nothing before it is enabled"
    rpc("simEnableWeather", True)
    foggy = brightness(rpc)
    assert abs(foggy - clear) > 3.0
    rpc("simSetWeatherParameter", 7, 0.0)
    for parameter in range(7):
        rpc("simSetWeatherParameter", parameter, 1.0)
        assert brightness(rpc) != clear
        rpc("simSetWeatherParameter", parameter, 0.0)
    rpc("simEnableWeather", False)
    assert brightness(rpc) == clear
    with pytest.raises(RpcError, match="no weather parameter 9"):
        rpc("simSetWeatherParameter", 9, 0.5)
    rpc("simSetTimeOfDay", True, "2026-12-21 23:30:00", False, 1.0, 60.0, True)
    assert brightness(rpc) < 0.6 * clear
    # an hour of the sky's clock in each second
    rpc("simSetTimeOfDay", True, "2026-06-21 04:00:00", False, 3600.0, 0.1, True)
    dawn = brightness(rpc)
    rpc("simContinueForTime", 6.0)
    rpc("simSetVehiclePose", pose(0.0, 0.0, -4.0), True, "Drone1")
    assert brightness(rpc) > dawn + 5.0
    rpc("simSetTimeOfDay", False)
    # but for the clouds, which have moved on
    assert brightness(rpc) == pytest.approx(clear, abs=0.1)


def test_wind_drifts_and_a_force_pushes(rpc: Rpc) -> None:
    rpc("simSetVehiclePose", pose(0.0, 0.0, -20.0), True, "Drone1")
    rpc("simSetWind", vector(0.0, 8.0, 0.0))
    rpc("simContinueForTime", 1.0)
    drift = place(rpc)
    assert drift[1] > 0.02 and abs(drift[0]) < 0.01
    rpc("simSetWind", vector(0.0, 0.0, 0.0))
    rpc("simSetVehiclePose", pose(0.0, 0.0, -20.0), True, "Drone1")
    rpc("simSetExtForce", vector(2.0, 0.0, 0.0))
    rpc("simContinueForTime", 1.0)
    # 2 N on 1 kg for 1 s
    assert place(rpc)[0] == pytest.approx(1.0, rel=0.03)
    rpc("simSetExtForce", vector(0.0, 0.0, 0.0))


def test_recording(rpc: Rpc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpc("isRecording") is False
    rpc("startRecording")
    rpc("simContinueForTime", 0.31)
    assert rpc("isRecording") is True
    rpc("stopRecording")
    assert rpc("isRecording") is False
    (table,) = tmp_path.rglob("airsim_rec.txt")
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    assert lines[0][:3] == ["VehicleName", "TimeStamp", "POS_X"] and lines[0][-1] == "ImageFile"
    own = [line for line in lines[1:] if line[0] == "Drone1"]
    assert 4 <= len(own) <= 7 and all((table.parent / "images" / line[-1]).stat().st_size > 100 for line in own)
