"""Habits of AirSim that its users' scripts count on, and clients that misbehave or come in pairs."""

from __future__ import annotations

import contextlib
import json
import math
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, Running, heading_deg, pose, running, vector, xyz

from skyloop.links.airsim.settings import read_settings
from skyloop.links.airsim.wire import MOST_FROM_CLIENT

NAN = math.nan
KEEP = {"is_rate": True, "yaw_or_rate": 0.0}
BLOCK = "TemplateCube_Rounded_2"
SETTINGS: dict[str, Any] = {
    "DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}},
    "CameraDefaults": {"CaptureSettings": [{"ImageType": kind, "Width": 32, "Height": 24} for kind in (0, 1, 11)]},
    "Vehicles": {"Drone1": {}},
    "ExternalCameras": {"watch": {"X": -10, "Z": -4}},
}


def place(rpc: Rpc) -> list[float]:
    return xyz(rpc("simGetVehiclePose", "Drone1")["position"])


def heading(rpc: Rpc) -> float:
    """rad clockwise from north."""
    return math.radians(heading_deg(rpc("simGetVehiclePose", "Drone1")))


@pytest.mark.renders
def test_nan_leaves_position_or_attitude_as_it_is(rpc: Rpc) -> None:
    turned = pose(NAN, NAN, NAN, math.cos(0.3), 0.0, 0.0, math.sin(0.3))
    rpc("simSetVehiclePose", pose(1.0, 2.0, -3.0), True, "Drone1")
    rpc("simSetVehiclePose", turned, True, "Drone1")
    assert place(rpc) == pytest.approx([1.0, 2.0, -3.0]) and heading(rpc) == pytest.approx(0.6)
    rpc("simSetVehiclePose", pose(4.0, 5.0, -6.0, NAN, NAN, NAN, NAN), True, "Drone1")
    assert place(rpc) == pytest.approx([4.0, 5.0, -6.0]) and heading(rpc) == pytest.approx(0.6)
    state = rpc("simGetGroundTruthKinematics", "Drone1")
    state["position"], state["linear_velocity"] = vector(NAN, NAN, NAN), vector(1.0, 0.0, 0.0)
    rpc("simSetKinematics", state, True, "Drone1")
    assert place(rpc) == pytest.approx([4.0, 5.0, -6.0])
    assert xyz(rpc("simGetGroundTruthKinematics", "Drone1")["linear_velocity"]) == pytest.approx([1.0, 0.0, 0.0])


@pytest.mark.renders
def test_a_vehicle_that_minds_collisions_stops_before_them(rpc: Rpc) -> None:
    before = rpc("simGetObjectPose", BLOCK)
    try:
        rpc("simSetObjectPose", BLOCK, pose(10.0, 0.0, -5.0), True)
        for ignores, north in ((False, 8.5), (True, 20.0)):
            rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "Drone1")
            rpc("simSetVehiclePose", pose(20.0, 0.0, -5.0), ignores, "Drone1")
            assert place(rpc)[0] <= north and (place(rpc)[0] > 5.0) and (place(rpc)[0] == 20.0) is ignores
    finally:
        rpc("simSetObjectPose", BLOCK, before, True)


@pytest.mark.renders
def test_names_have_no_spaces_and_the_usual_expressions_find_all(rpc: Rpc) -> None:
    names = rpc("simListSceneObjects", "[\\w]*")
    assert len(names) > 40 and all(" " not in name for name in names)
    assert len(names) == len(rpc("simListSceneObjects", ".*"))
    assert rpc("simSetSegmentationObjectID", "[\\w]*", 0, True) is True
    assert rpc("simSetSegmentationObjectID", "block_[\\w]*", 20, True) is True
    ids = {name: rpc("simGetSegmentationObjectID", name) for name in names}
    assert all(value == (20 if name.startswith("TemplateCube") else 0) for name, value in ids.items())
    assert rpc("simGetObjectPose", "block 2") == rpc("simGetObjectPose", BLOCK), "the world's own name, too"
    with pytest.raises(RpcError, match="ned is False"):
        rpc("simGetObjectPose", BLOCK, False)


@pytest.mark.renders
def test_instances_and_annotations_are_where_objects_are(rpc: Rpc) -> None:
    names, poses = rpc("simListInstanceSegmentationObjects"), rpc("simListInstanceSegmentationPoses", True, False)
    assert poses[names.index(BLOCK)] == rpc("simGetObjectPose", BLOCK)
    rpc("simSetAnnotationObjectValue", "grey", "block_.*", 0.25, True)
    rpc("simSetAnnotationObjectID", "ids", "terrain", 3, False)
    named, there = rpc("simListAnnotationObjects", "grey"), rpc("simListAnnotationPoses", "grey", True, False)
    assert there[named.index(BLOCK)] == rpc("simGetObjectPose", BLOCK)
    down = {"camera_name": "3", "image_type": 11, "pixels_as_float": False, "compress": False}
    before = rpc("simGetObjectPose", BLOCK)
    rpc("simSetVehiclePose", pose(0.0, 0.0, -12.0), True, "Drone1")
    try:
        rpc("simSetObjectPose", BLOCK, pose(0.0, 0.0, -5.0), True)
        grey, colour = rpc("simGetImages", [{**down, "annotation_name": name} for name in ("grey", "ids")], "Drone1")
    finally:
        rpc("simSetObjectPose", BLOCK, before, True)
    middle = 3 * (12 * 32 + 16)
    assert list(grey["image_data_uint8"][middle : middle + 3]) == [64, 64, 64]
    assert list(colour["image_data_uint8"][:3]) == [255, 127, 127], "red first, of the fourth colour"


@pytest.mark.renders
def test_a_scaled_mesh_is_as_large_as_it_is_told(rpc: Rpc) -> None:
    asset = next(name for name in rpc("simListAssets") if name.startswith("block"))
    sizes = []
    for k, scale in enumerate((1.0, 2.0)):
        name = rpc("simSpawnObject", f"mesh{k}", asset, pose(5.0, 9.0, -30.0), vector(scale, 1.0, 1.0), False, False)
        (mesh,) = [mesh for mesh in rpc("simGetMeshPositionVertexBuffers") if mesh["name"] == name]
        assert xyz(mesh["position"]) == pytest.approx([5.0, 9.0, -30.0])
        sizes.append(np.ptp(np.array(mesh["vertices"]).reshape(-1, 3), axis=0))
        assert max(mesh["indices"]) == len(mesh["vertices"]) // 3 - 1
        assert rpc("simDestroyObject", name) is True
    assert sizes[1] == pytest.approx(sizes[0] * [2.0, 1.0, 1.0])


@pytest.mark.renders
def test_a_client_without_a_word_for_external_cameras_finds_them(rpc: Rpc) -> None:
    request = {"camera_name": "watch", "image_type": 0, "pixels_as_float": False, "compress": False}
    own = {**request, "camera_name": "0"}
    outside, inside = rpc("simGetImages", [request, own], "Drone1")
    assert outside["image_data_uint8"] == rpc("simGetImages", [request], "", True)[0]["image_data_uint8"]
    assert xyz(outside["camera_position"]) == [-10.0, 0.0, -4.0] and xyz(inside["camera_position"])[0] != -10.0


@pytest.mark.parametrize(
    ("method", "params", "turned"),
    [("moveByRollPitchYawZ", (0.0, 0.0, 0.8, -2.0), 0.8), ("moveByRollPitchYawThrottle", (0.0, 0.0, 0.8, 0.59), 0.8),
     ("moveByRollPitchYawrateZ", (0.0, 0.0, 0.4, -2.0), 0.8),
     ("moveByRollPitchYawrateThrottle", (0.0, 0.0, 0.4, 0.59), 0.8)],
)  # fmt: skip
@pytest.mark.renders
def test_positive_yaw_is_clockwise_on_the_wire(
    flying: Rpc, method: str, params: tuple[float, ...], turned: float
) -> None:
    rpc = flying
    rpc.send(method, *params, 3.0, "Drone1")
    rpc("simContinueForTime", 2.0)
    assert heading(rpc) == pytest.approx(turned, abs=0.2)


# ---- clients


@pytest.mark.parametrize(
    "head", [b"\xc6", b"\xdb", b"\xdd", b"\xdf", b"\xc9"], ids=["bin", "str", "array", "map", "ext"]
)
@pytest.mark.renders
def test_four_gigabytes_announced_end_that_connection_only(rpc: Rpc, server: Running, head: bytes) -> None:
    hostile = Rpc(server.port)
    hostile.socket.settimeout(10.0)
    hostile.socket.sendall(b"\x94\x00\x01\xa4ping" + head + struct.pack(">I", 2**32 - 1) + b"\x00" * 64)
    assert rpc("ping") is True
    # some lengths are refused at once, others when more has come than a call may have
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        hostile.socket.sendall(bytes(MOST_FROM_CLIENT + 1))
        assert hostile.socket.recv(100) == b"", "closed"
    hostile.close()
    assert rpc("ping") is True


@pytest.mark.renders
def test_calls_under_way_at_the_end_are_answered() -> None:
    read = read_settings('{"DefaultSensors": {"imu": {"SensorType": 2, "Enabled": false}}}', world="flat")
    with running(read.scenario, read.options, 1.0) as server:
        flies, waits, third = (Rpc(server.port) for _ in range(3))
        flies("enableApiControl", True, "")
        moved = flies.send("takeoff", 20.0, "")
        reported = list[str]()

        def wait(rpc: Rpc, number: int) -> None:
            with pytest.raises(RpcError) as error:
                rpc.wait(number)
            reported.append(str(error.value))

        stepped = waits.send("simContinueForTime", 1e5)
        threads = [threading.Thread(target=wait, args=pair) for pair in ((flies, moved), (waits, stepped))]
        for thread in threads:
            thread.start()
        assert third("ping") is True
        server.stop()
        for thread in threads:
            thread.join(10.0)
        for rpc in (flies, waits, third):
            rpc.close()
    assert sorted(reported) == ["simContinueForTime: the server ends", "takeoff: the server ends"]


@pytest.mark.renders
def test_settings_of_the_start() -> None:
    """Disarmed, a ghost, no segmentation ids, an empty layer of annotations, another place of the earth."""
    settings = {
        "SegmentationSettings": {"InitMethod": "None"}, "Annotation": [{"Name": "mine"}],
        "OriginGeopoint": {"Latitude": -33.5, "Longitude": 18.25, "Altitude": 40}, "Wind": {"X": 0, "Y": 6, "Z": 0},
        "Vehicles": {"Drone1": {"DefaultVehicleState": "Disarmed", "EnableCollisions": False}},
        "DefaultSensors": SETTINGS["DefaultSensors"], "CameraDefaults": SETTINGS["CameraDefaults"],
    }  # fmt: skip
    read = read_settings(json.dumps(settings), world="blocks")
    assert not read.warnings
    with running(read.scenario, read.options, paused=True) as server:
        rpc = Rpc(server.port)
        home = rpc("getHomeGeoPoint", "")
        assert (home["latitude"], home["longitude"]) == pytest.approx((-33.5, 18.25), abs=1e-6)
        assert rpc("simGetSegmentationObjectID", BLOCK) == 0
        assert rpc("simListAnnotationObjects", "mine") == []
        asked = {"camera_name": "3", "image_type": 11, "compress": False, "annotation_name": "mine"}
        assert not any(rpc("simGetImages", [asked], "")[0]["image_data_uint8"]), "all of it is black"
        rpc("enableApiControl", True, "")
        with pytest.raises(RpcError, match="disarmed"):
            rpc("takeoff", 20.0, "")
        rpc("simSetVehiclePose", pose(0.0, 0.0, -30.0), True, "")
        rpc("simContinueForTime", 1.0)
        assert place(rpc)[1] > 0.02, "the wind blows east"
        # thrown at a block it flies through it
        rpc("simSetObjectPose", BLOCK, pose(4.0, 0.0, -30.0), True)
        state = rpc("simGetGroundTruthKinematics", "")
        state["position"], state["linear_velocity"] = vector(0.0, 0.0, -31.0), vector(12.0, 0.0, 0.0)
        rpc("simSetKinematics", state, True, "")
        rpc("simContinueForTime", 1.0)
        assert place(rpc)[0] > 9.0 and rpc("simGetCollisionInfo", "")["has_collided"] is False
        rpc.close()


# ---- recording


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[tuple[Rpc, Path]]:
    settings = {
        **SETTINGS,
        "Recording": {
            "RecordOnMove": True, "RecordInterval": 0.1, "Folder": str(tmp_path), "Enabled": True,
            "Cameras": [{"CameraName": "3", "ImageType": 1, "PixelsAsFloat": True, "VehicleName": "Drone1"},
                        {"CameraName": "0", "ImageType": 0, "Compress": False}],
        },
    }  # fmt: skip
    read = read_settings(json.dumps(settings), world="flat")
    with running(read.scenario, read.options, paused=True) as server:
        rpc = Rpc(server.port)
        yield rpc, tmp_path
        rpc.close()


@pytest.mark.slow("a flight with a depth camera")
@pytest.mark.renders
def test_a_recording_of_depth_while_it_moves(recorder: tuple[Rpc, Path]) -> None:
    rpc, folder = recorder
    rpc("simContinueForTime", 0.5)
    assert rpc("isRecording") is True, "from the start"
    rpc("simSetVehiclePose", pose(1.0, 0.0, -6.0), True, "Drone1")
    rpc("simContinueForTime", 0.45)
    rpc("stopRecording")
    (table,) = folder.rglob("airsim_rec.txt")
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()][1:]
    assert 1 <= sum(float(line[4]) > -1.0 for line in lines) <= 2, "once while it stands"
    assert 4 <= len(lines) <= 7, "ten times a second while it falls"
    high = [line for line in lines if float(line[4]) < -5.0]
    assert high and [float(value) for value in high[0][5:9]] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-2)
    depth, scene = (table.parent / "images" / name for name in high[0][-1].split(";"))
    head, size, scale, body = depth.read_bytes().split(b"\n", 3)
    assert (head, size, scale, depth.suffix) == (b"Pf", b"32 24", b"-1.0", ".pfm")
    assert np.frombuffer(body, "<f4") == pytest.approx(0.1 - float(high[0][4]), abs=0.05)
    assert scene.suffix == ".ppm" and scene.read_bytes().startswith(b"P6\n32 24\n255\n")
