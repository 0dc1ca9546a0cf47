"""What AirSim clients change in the world and on vehicles is in a snapshot: flown again, it gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from airsim_bench import Bench
from airsim_rpc import pose, vector

from skyloop_client.errors import ScenarioError

LIDAR = {"SensorType": 6, "PointsPerSecond": 4000, "RotationsPerSecond": 10, "VerticalFOVUpper": 15}
SETTINGS = {"Vehicles": {"Drone1": {"VehicleType": "SimpleFlight", "Sensors": {"Lidar": LIDAR}}}}
ONE = vector(1.0, 1.0, 1.0)
EAST = vector(0.0, 8.0, 0.0)


@pytest.fixture(scope="module")
def benches() -> Iterator[list[Bench]]:
    built: list[Bench] = []
    yield built
    for bench in built:
        bench.close()


@pytest.fixture(scope="module")
def hovers(benches: list[Bench]) -> tuple[Bench, Any]:
    """One that hovers, and the snapshot of it that each test begins with."""
    bench = Bench(SETTINGS)
    benches.append(bench)
    # in sight of the LiDAR
    bench("simSetObjectPose", "block 2", pose(4.0, -3.0, -2.0), True)
    bench("enableApiControl", True)
    climb = bench.start("takeoff", 20.0)
    bench.sim.run_for(8.0)
    assert bench.client.answers[climb] == (None, True)
    bench("hover")
    return bench, bench.sim.snapshot()


@pytest.fixture
def bench(hovers: tuple[Bench, Any]) -> Bench:
    bench, before = hovers
    bench.sim.restore(before)
    bench("enableApiControl", True)
    bench("simPause", False)
    return bench


@pytest.fixture(scope="module")
def other(benches: list[Bench]) -> Bench:
    """Another build of the scenario, without any link."""
    benches.append(Bench(SETTINGS, linked=False))
    return benches[-1]


CHANGES: dict[str, list[tuple[Any, ...]]] = {
    "weather": [("simEnableWeather", True), ("simSetWeatherParameter", 7, 1.0)],
    "wind": [("simSetWind", EAST)],
    "force": [("simSetExtForce", vector(0.0, 0.0, -2.0))],
    "gains": [("setPositionControllerGains", [0.1] * 3, [0.0] * 3, [0.0] * 3)],
    "an object's pose": [("simSetObjectPose", "block 1", pose(3.0, 0.0, -2.0), True)],
    "an object's scale": [("simSetObjectScale", "block 1", vector(3.0, 3.0, 3.0))],
    "an object more": [("simSpawnObject", "Extra", "Cube", pose(2.0, 1.0, -2.0), ONE)],
    "an object less": [("simDestroyObject", "block 2")],
    "a sensor's mount": [("simSetLidarPose", "Lidar", pose(0.1, 0.0, -0.3, 0.924, 0.0, 0.383, 0.0))],
    "the vehicle's place": [("simSetVehiclePose", pose(1.0, 2.0, -4.0), True)],
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_clients_change_is_in_a_snapshot(bench: Bench, other: Bench, what: str) -> None:
    before = bench.sim.snapshot()
    usual = bench.flown(0.2)
    bench.sim.restore(before)
    for call in CHANGES[what]:
        assert bench(*call) is not False
    weather = bench.sim.port.editor.weather
    saved = bench.sim.snapshot()
    changed = bench.flown(0.2)
    assert changed != usual or weather != before[1][0], "it changes nothing"

    bench.sim.restore(saved)
    assert bench.flown(0.2) == changed
    # back to before the change, there is nothing left of it
    bench.sim.restore(before)
    assert bench.flown(0.2) == usual
    # and from there to after it
    bench.sim.restore(saved)
    assert bench.sim.port.editor.weather == weather
    assert bench.flown(0.2) == changed
    # the other knows of it only what the snapshot holds
    other.sim.restore(saved)
    assert other.sim.port.editor.weather == weather
    assert other.flown(0.2) == changed


def test_all_of_it_at_once(bench: Bench) -> None:
    for calls in CHANGES.values():
        for call in calls:
            bench(*call)
    saved = bench.sim.snapshot()
    once = bench.flown(0.4)
    for call in CHANGES["an object more"] + [("simDestroyObject", "block 3"), ("reset",)]:
        bench(*call)
    bench.sim.run_for(0.3)
    bench.sim.restore(saved)
    assert bench.flown(0.4) == once
    assert "Extra" in bench("simListSceneObjects") and "block_2" not in bench("simListSceneObjects")


def test_ids_of_things_that_a_snapshot_takes_away_are_forgotten(bench: Bench) -> None:
    before = bench.sim.snapshot()
    bench("simSpawnObject", "Extra", "Cube", pose(2.0, 1.0, -2.0), ONE)
    assert bench("simSetSegmentationObjectID", "Extra", 7) is True
    bench("simSetAnnotationObjectValue", "layer", "Extra", 0.5)
    bench.sim.restore(before)
    assert bench("simGetSegmentationObjectID", "Extra") == -1
    assert bench("simListAnnotationObjects", "layer") == []
    assert "Extra" not in bench("simListInstanceSegmentationObjects")


def test_a_link_goes_on_after_a_restore(bench: Bench) -> None:
    """What it does again and again, and a stop that was asked for, are its own and in no snapshot."""
    early = bench.sim.snapshot()
    bench.sim.run_for(0.5)
    bench.sim.restore(early)
    move = bench.start("moveByVelocity", 1.0, 0.0, 0.0, 1.0, 0, {"is_rate": True, "yaw_or_rate": 0.0})
    bench.sim.run_for(1.1)
    assert bench.client.answers[move] == (None, True), "its tasks are ticked"
    wait = bench.start("simContinueForTime", 0.25)
    bench.sim.run_for(0.25)
    bench.server.poll()
    assert bench.client.answers[wait] == (None, None) and bench("simIsPaused") is True


def test_a_vehicle_that_joined_cannot_leave_again(bench: Bench) -> None:
    """The last one: nobody goes back to before it."""
    before = bench.sim.snapshot()
    assert bench("simAddVehicle", "Second", "simpleflight", pose(5.0, 5.0, 0.0), "") is True
    with pytest.raises(ScenarioError, match="a vehicle joined"):
        bench.sim.restore(before)
    after = bench.sim.snapshot()
    once = bench.flown(0.2)
    bench.sim.restore(after)
    assert bench.flown(0.2) == once


def test_lamps_are_in_a_snapshot() -> None:
    bench = Bench({"DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}}}, world="flat")
    bench("simSpawnObject", "lamp", "PointLightBP", pose(2.0, 0.0, -1.0), vector(1, 1, 1), False, True)
    saved, lamps = bench.sim.snapshot(), bench.sim.editor.memory()[-1]  # type: ignore[index]
    assert bench("simSetLightIntensity", "lamp", 7.0)
    assert bench.sim.editor.memory()[-1] != lamps  # type: ignore[index]
    bench.sim.restore(saved)
    assert bench.sim.editor.memory()[-1] == lamps  # type: ignore[index]
    bench.close()
