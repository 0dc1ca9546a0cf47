"""Radar, lamps and levels through AirSim's door: with its own client and Cosys-AirSim's, and with scripted misuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airsim_clients import run_client
from airsim_rpc import Rpc, RpcError, Running, pixels, pose, running, vector, xyz

from skyloop.links.airsim.serve import Levels
from skyloop.links.airsim.settings import read_settings
from skyloop.links.link_gate import LinkGate, Onlooker
from skyloop_client.errors import LinkError

pytestmark = pytest.mark.renders

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "airsim.md"
SCRIPT = Path(__file__).parent / "airsim_doors_script.py"
OFF = {
    name: {"SensorType": kind, "Enabled": False} for name, kind in {"magnetometer": 4, "gps": 3, "barometer": 1}.items()
}
SETTINGS: dict[str, Any] = {
    "CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "Width": 64, "Height": 48}]},
    "Vehicles": {
        "Drone1": {
            "VehicleType": "SimpleFlight",
            "Sensors": {
                **OFF,
                "Radar": {"SensorType": 12, "X": 0.2, "Z": -0.5, "Width": 80, "Height": 60, "UpdateFrequency": 5},
            },
        }
    },
    "ExternalCameras": {"watch": {"X": -2, "Y": 0, "Z": -2, "Pitch": -10}},
}
"""The camera sees the place of the spawned lamp, 5 m ahead."""


@pytest.fixture(scope="module")
def level_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    read = read_settings(json.dumps(SETTINGS), world="blocks")
    recording = replace(read.options.recording, folder=tmp_path_factory.mktemp("recordings"))
    with running(read.scenario, replace(read.options, quality="low", recording=recording)) as server:
        yield server


@pytest.fixture
def rpc(level_server: Running) -> Iterator[Rpc]:
    client = Rpc(level_server.port)
    client("simPause", True)
    yield client
    client.close()


def test_a_lamp_lights_what_is_near(rpc: Rpc) -> None:
    rpc("simSetTimeOfDay", True, "2026-06-21 23:30:00", False, 1.0, 60.0, False)

    def seen() -> Any:
        (answer,) = rpc("simGetImages", [{"camera_name": "watch", "image_type": 0}], "", True)
        return pixels(answer).astype(float).mean(axis=2)

    night = seen()
    # three times as wide as usual, because the image is small
    assert rpc("simSpawnObject", "lamp", "PointLightBP", pose(2.0, 0.0, -1.0), vector(3, 3, 3), False, True) == "lamp"
    usual = seen()
    assert (usual >= night - 1.0).all() and usual[20:32, 28:36].max() > 220.0, "the bulb itself is white"
    below, beside = (usual - night)[36, 30:34].mean(), (usual - night)[47, :4].mean()
    assert below > 2.0 * beside > 2.0
    assert rpc("simSetObjectPose", "lamp", pose(2.0, 0.0, -30.0), True)
    assert np.abs(seen() - night).max() <= 2.0, "its light ends at 20 m"
    for intensity in (-1.0, 1e30, "bright"):
        with pytest.raises(RpcError, match="intensity is"):
            rpc("simSetLightIntensity", "lamp", intensity)
    assert rpc("simDestroyObject", "lamp")


@pytest.mark.slow("two clients, each in an interpreter of its own")
@pytest.mark.parametrize("client", ["airsim", "cosysairsim"])
def test_real_clients_use_all_three(client: str, level_server: Running) -> None:
    said = run_client(client, SCRIPT, client, str(level_server.port), str(PAGE))
    found = json.loads(said.rpartition("FOUND ")[2])
    shape, loudest, stamp, d_max = found["radar"]
    assert shape == [3, 64, 64] and loudest > 0.0 and stamp > 0 and d_max == pytest.approx(12.0, abs=0.02)
    before, after = found["page's"]
    assert after > 1.1 * before
    lights, lamp, dark, shining = found["lamp"]
    assert lights == ["PointLight"] and lamp == "PointLight" and shining > 1.2 * dark
    bright, brighter, dimmed, after = found["set"]
    assert bright and brighter > 1.1 * shining and dimmed and after == pytest.approx(dark, abs=0.5)
    assert found["no lamp"] == [False, False]
    if client == "cosysairsim":
        assert found["seen"] == [True, True, pytest.approx(brighter, abs=0.5)], "the intensity is kept"
    assert "no world named 'park.glb'" in found["no level"] and found["still"] > 10
    assert found["loaded"] is True and found["gone"] == 0, found["names"]
    assert found["paused"] is True and 0 < found["at"] <= 5e8, "time begins again, and stands as it stood"
    assert found["up"] == pytest.approx(-2.0, abs=0.4) and found["back"] is True


def test_what_is_under_way_ends_with_the_level(rpc: Rpc, level_server: Running, tmp_path: Path) -> None:
    assert rpc("simAddVehicle", "Late", "simpleflight", pose(0.0, 4.0, 0.0))
    rpc("enableApiControl", True, "Drone1")
    rpc("startRecording")
    move = rpc.send("moveToPosition", 30.0, 0.0, -3.0, 1.0, 60.0, 0, {"is_rate": True, "yaw_or_rate": 0.0}, -1, 1, "")
    image = rpc.send("simGetImages", [{"camera_name": "0", "image_type": 0}], "", False)
    other = Rpc(level_server.port)
    load = rpc.send("simLoadLevel", "flat")
    assert rpc.wait(move) is False
    assert rpc.wait(image)[0]["width"] == 64
    assert rpc.wait(load) is True
    assert rpc("listVehicles") == ["Drone1"] and other("listVehicles") == ["Drone1"], "all clients stay"
    assert not rpc("isRecording") and not rpc("isApiControlEnabled", "Drone1")
    assert xyz(rpc("simGetVehiclePose", "Drone1")["position"]) == pytest.approx([0.0, 0.0, 0.0], abs=0.01)
    table = next(iter(sorted(rpc_folder(level_server).rglob("airsim_rec.txt"))))
    assert table.read_text(encoding="utf-8").startswith("VehicleName")
    again = rpc.send("simContinueForTime", 3600.0)
    other("simLoadLevel", "blocks")
    with pytest.raises(RpcError, match="another world was loaded"):
        rpc.wait(again)
    other.close()


def rpc_folder(server: Running) -> Path:
    return next(
        Path(line.removeprefix("recording to ")).parent for line in server.lines if line.startswith("recording to")
    )


@pytest.mark.parametrize("name", ["park.glb", "own.py:World", "../blocks", "", "Blocks", "x" * 100_000])
def test_only_registered_names_are_loaded(rpc: Rpc, name: str) -> None:
    with pytest.raises(RpcError) as refused:
        rpc("simLoadLevel", name)
    line = str(refused.value)
    assert line.startswith("simLoadLevel: no world named '") and "\n" not in line and len(line) < 500
    assert "PointLight" not in rpc("simListSceneObjects", "nothing.*") and rpc("simIsPaused")


@pytest.mark.slow("two levels with a flight in each")
def test_it_begins_the_same_every_time(rpc: Rpc) -> None:
    """Time stands still from the beginning, so two loads of one level are one flight."""
    flights = []
    for _ in range(2):
        rpc("simLoadLevel", "blocks")
        rpc("enableApiControl", True, "")
        climb = rpc.send("takeoff", 20.0, "")
        rpc("simContinueForTime", 3.0)
        del climb
        flights.append((rpc("getImuData"), rpc("simGetVehiclePose", ""), rpc("getRadarData")))
    assert flights[0] == flights[1]


def test_other_links_keep_the_world() -> None:
    class Watcher(Onlooker):
        def attach(self, port: Any, folder: Path | None, link_gate: LinkGate) -> None:
            pass

    with pytest.raises(LinkError, match=r"other links fly or watch here .* serve AirSim's clients alone"):
        Levels([Watcher()]).load("blocks")
