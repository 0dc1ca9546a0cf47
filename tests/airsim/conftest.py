"""One AirSim server for each module of tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from airsim_rpc import Rpc, Running, running

from skyloop.links.airsim.settings import read_settings

DEFAULTS = {"imu": 2, "magnetometer": 4, "gps": 3, "barometer": 1}
SETTINGS: dict[str, Any] = {
    "SimMode": "Multirotor",
    "CameraDefaults": {
        "CaptureSettings": [{"ImageType": kind, "Width": 64, "Height": 48, "FOV_Degrees": 90} for kind in range(12)]
    },
    "Vehicles": {
        "Drone1": {
            "VehicleType": "SimpleFlight",
            "Sensors": {
                "LidarSensor1": {"SensorType": 6, "PointsPerSecond": 8000, "Z": -0.3, "VerticalFOVUpper": 0},
                "Local": {"SensorType": 6, "PointsPerSecond": 4000, "DataFrame": "SensorLocalFrame"},
                "Gpu": {"SensorType": 8, "NumberOfChannels": 8, "MeasurementsPerCycle": 32, "RotationsPerSecond": 5},
                "Down": {"SensorType": 5, "Pitch": -90, "MaxDistance": 30},
            },
        },
        "Drone2": {
            "VehicleType": "SimpleFlight",
            "X": -6,
            "Y": 2,
            "Yaw": 90,
            # without the default ones, so that time passes quickly
            "Sensors": {name: {"SensorType": kind, "Enabled": False} for name, kind in DEFAULTS.items()},
        },
    },
    "ExternalCameras": {"watch": {"X": -10, "Y": 0, "Z": -4, "Pitch": -10}},
}


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Running]:
    """With the module's own SETTINGS, or these."""
    settings = getattr(request.module, "SETTINGS", SETTINGS)
    read = read_settings(json.dumps(settings), world="blocks")
    assert not read.warnings
    with running(read.scenario, replace(read.options, quality="low", land_after_s=2.0)) as server:
        yield server


@pytest.fixture
def rpc(server: Running) -> Iterator[Rpc]:
    """A client of a server whose time stands still, its vehicles at their start."""
    client = Rpc(server.port)
    client("simPause", True)
    client("reset")
    yield client
    client.close()


@pytest.fixture
def flying(rpc: Rpc) -> Rpc:
    """Drone1 hovers two metres up, over its start."""
    rpc("enableApiControl", True, "Drone1")
    climb = rpc.send("takeoff", 20.0, "Drone1")
    rpc("simContinueForTime", 9.0)
    assert rpc.wait(climb) is True
    return rpc


@pytest.fixture(scope="session")
def known_methods() -> set[str]:
    """Every method the server has, whoever asks."""
    from skyloop.links.airsim import (
        cameras,
        flight,
        images,
        lamps,
        plot_markers,
        segmentation,
        sensors,
        session_methods,
        world,
    )

    groups = [
        cameras.CameraMethods, flight.FlightMethods, images.DetectionMethods, images.Images,
        lamps.LampMethods, plot_markers.PlotMethods,
        segmentation.SegmentationMethods, sensors.MultirotorState, sensors.Sensors,
        session_methods.AirSimRecording, session_methods.SessionMethods, world.WeatherMethods, world.WorldMethods,
    ]  # fmt: skip
    return {name for group in groups for name in vars(group) if not name.startswith("_")}
