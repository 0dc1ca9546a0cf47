"""simAddVehicle: a vehicle that was not there at the start."""

from __future__ import annotations

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, pose, xyz

pytestmark = pytest.mark.renders


def test_a_vehicle_joins_and_flies(flying: Rpc) -> None:
    rpc = flying
    before = rpc("simGetGroundTruthKinematics", "Drone1")
    assert rpc("simAddVehicle", "Late", "simpleflight", pose(2.0, 0.5, -0.1), "") is True
    assert rpc("simGetGroundTruthKinematics", "Drone1") == before, "the others notice nothing"
    assert rpc("listVehicles") == ["Drone1", "Drone2", "Late"]
    assert rpc("simAddVehicle", "Late", "simpleflight", pose(9.0, 1.0, -0.1), "") is False
    rpc("enableApiControl", True, "Late")
    climb = rpc.send("takeoff", 20.0, "Late")
    rpc("simContinueForTime", 9.0)
    assert rpc.wait(climb) is True
    place = xyz(rpc("simGetVehiclePose", "Late")["position"])
    assert place == pytest.approx([0.0, 0.0, -2.0], abs=0.2), "in axes of its own"
    assert xyz(rpc("simGetObjectPose", "Late")["position"]) == pytest.approx([2.0, 0.5, -2.1], abs=0.2)
    assert xyz(rpc("simGetVehiclePose", "Drone1")["position"]) == pytest.approx([0.0, 0.0, -2.0], abs=0.1)
    # Drone1 sees it, and it has sensors of its own
    rpc("simSetSegmentationObjectID", "Late", 200, False)
    request = {"camera_name": "0", "image_type": 7, "pixels_as_float": False, "compress": False}
    (seen,) = rpc("simGetImages", [request], "Drone1", False)
    assert 200 in np.frombuffer(seen["image_data_uint8"], np.uint8)
    (own,) = rpc("simGetImages", [request], "Late", False)
    assert 200 not in np.frombuffer(own["image_data_uint8"], np.uint8)
    assert xyz(rpc("getImuData", "", "Late")["linear_acceleration"])[2] == pytest.approx(-9.8, abs=0.5)
    assert rpc("getDistanceSensorData", "Down", "Late")["distance"] == pytest.approx(2.1, abs=0.9)
    assert len(rpc("getLidarData", "LidarSensor1", "Late")["point_cloud"]) > 300
    rpc("reset")
    assert xyz(rpc("simGetVehiclePose", "Late")["position"]) == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    with pytest.raises(RpcError, match="vehicle_type is 'PhysXCar'"):
        rpc("simAddVehicle", "Car", "PhysXCar", pose(0.0, 0.0, 0.0), "")


@pytest.mark.slow("a second flight of two vehicles")
def test_a_vehicle_added_where_another_stands_starts_beside_it_and_both_fly(rpc: Rpc) -> None:
    """AirSim's add_drone.py puts the new one at the place of the first. Two that overlap would be jammed for ever."""
    first = np.array(xyz(rpc("simGetObjectPose", "Drone2")["position"]))
    assert rpc("simAddVehicle", "Beside", "simpleflight", pose(*first), "") is True
    start = np.array(xyz(rpc("simGetObjectPose", "Beside")["position"]))
    assert 1.0 < np.linalg.norm(start - first) < 3.0 and start[2] == pytest.approx(first[2])
    rpc("reset")
    assert xyz(rpc("simGetObjectPose", "Beside")["position"]) == pytest.approx(start), "a reset puts it back there"
    climbs = []
    for name in ("Drone2", "Beside"):
        rpc("enableApiControl", True, name)
        climbs.append(rpc.send("takeoff", 20.0, name))
    rpc("simContinueForTime", 9.0)
    assert [rpc.wait(climb) for climb in climbs] == [True, True]
    for name in ("Drone2", "Beside"):
        assert xyz(rpc("simGetVehiclePose", name)["position"]) == pytest.approx([0.0, 0.0, -2.0], abs=0.2)
        assert not rpc("simGetCollisionInfo", name)["has_collided"]


def test_a_vehicle_added_over_the_start_of_one_that_flies_starts_beside_that(rpc: Rpc) -> None:
    """A reset would put the other one into it."""
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "Drone1")
    rpc("simAddVehicle", "Under", "simpleflight", pose(0.0, 0.0, 0.0), "")
    assert np.linalg.norm(xyz(rpc("simGetObjectPose", "Under")["position"])) > 1.0


def test_a_vehicle_added_inside_a_thing_starts_beside_it(rpc: Rpc) -> None:
    rpc(
        "simSpawnObject",
        "Post",
        "Cube",
        pose(20.0, 20.0, -0.5),
        {"x_val": 0.4, "y_val": 0.4, "z_val": 3.0},
        False,
        False,
    )
    rpc("simAddVehicle", "Inside", "simpleflight", pose(20.0, 20.0, -0.1), "")
    place = np.array(xyz(rpc("simGetObjectPose", "Inside")["position"]))
    assert 0.7 < np.linalg.norm(place[:2] - 20.0) < 3.0
