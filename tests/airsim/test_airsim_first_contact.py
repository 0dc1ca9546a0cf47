"""Every sensor has an answer from the first call on, however early it comes."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from airsim_bench import Bench
from airsim_rpc import Rpc, pose, xyz

from free_ports import free_port
from skyloop.links.airsim.calls import RpcListener
from skyloop.links.airsim.serve import serve
from skyloop.links.airsim.settings import read_settings
from skyloop.links.inbox import Inbox
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError

SETTINGS: dict[str, Any] = {
    "Vehicles": {
        "Drone1": {
            "VehicleType": "SimpleFlight",
            "Sensors": {
                "Lidar": {"SensorType": 6, "PointsPerSecond": 4000, "RotationsPerSecond": 2},
                "Gpu": {"SensorType": 8, "NumberOfChannels": 4, "MeasurementsPerCycle": 32, "RotationsPerSecond": 2},
                "Down": {"SensorType": 5, "Pitch": -90, "UpdateFrequency": 1, "UpdateLatency": 1},
                "Slow": {"SensorType": 3, "UpdateFrequency": 1, "UpdateLatency": 3},
                "imu": {"SensorType": 2},
                "barometer": {"SensorType": 1, "UpdateLatency": 2},
                "magnetometer": {"SensorType": 4, "UpdateLatency": 2},
            },
        }
    }
}
GETTERS = (
    ("getImuData", ""), ("getBarometerData", ""), ("getMagnetometerData", ""), ("getGpsData", ""),
    ("getDistanceSensorData", "Down"), ("getLidarData", "Lidar"), ("getGPULidarData", "Gpu"),
)  # fmt: skip


def check(answers: dict[str, Any], home: tuple[float, float]) -> None:
    """As a vehicle at rest on flat ground has them."""
    assert xyz(answers["getImuData"]["linear_acceleration"])[2] == pytest.approx(-9.81, abs=0.3)
    assert answers["getBarometerData"]["altitude"] == pytest.approx(122.0, abs=15.0)
    # dipping by 69 degrees at AirSim's home
    assert 0.4 < xyz(answers["getMagnetometerData"]["magnetic_field_body"])[2] < 0.6
    place = answers["getGpsData"]["gnss"]["geo_point"]
    assert (place["latitude"], place["longitude"]) == pytest.approx(home, abs=1e-3)
    assert 0.0 < answers["getDistanceSensorData"]["distance"] <= 40.0


def test_at_the_first_instant_every_sensor_answers() -> None:
    bench = Bench(SETTINGS, world="flat")
    try:
        assert bench.sim.clock.now_ns == 0
        check({method: bench(method, name, "") for method, name in GETTERS}, (47.641468, -122.140165))
        before = bench.flown(0.3)
    finally:
        bench.close()
    # asking has changed nothing
    bench = Bench(SETTINGS, world="flat")
    try:
        assert bench.flown(0.3) == before
    finally:
        bench.close()


def test_a_vehicle_that_has_just_joined_has_answers() -> None:
    bench = Bench(SETTINGS, world="flat")
    try:
        bench.sim.run_for(0.1)
        assert bench("simAddVehicle", "Second", "simpleflight", pose(5.0, 5.0, 0.0), "") is True
        check({method: bench(method, name, "Second") for method, name in GETTERS}, (47.641468, -122.140165))
    finally:
        bench.close()


@pytest.mark.renders
def test_a_client_that_connects_as_the_port_opens() -> None:
    read, port, stop = read_settings(world="flat"), free_port(), threading.Event()
    server = threading.Thread(
        target=serve, args=(make_scenario(read.scenario), read.options), kwargs={"port": port, "ends": stop.is_set}
    )
    server.start()
    try:
        until = time.monotonic() + 60.0
        while True:
            try:
                rpc = Rpc(port)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < until
        rpc.socket.settimeout(20.0)
        answers = {method: rpc(method, "", "") for method, name in GETTERS[:4]}
        assert answers["getGpsData"]["gnss"]["geo_point"]["latitude"] == pytest.approx(47.641468, abs=1e-3)
        assert rpc("getMultirotorState", "")["landed_state"] == 0
        rpc.close()
    finally:
        stop.set()
        server.join()


def test_two_that_took_the_same_port_at_once() -> None:
    port = free_port()
    first, second = (RpcListener(Inbox(), "127.0.0.1", (port,)) for _ in range(2))
    first.open()
    with pytest.raises(LinkError, match=rf"cannot listen on 127.0.0.1:{port}: .* choose another --port"):
        second.open()
    second.close()
    first.close()
