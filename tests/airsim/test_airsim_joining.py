"""simAddVehicle: a vehicle that was not there at the start."""

from __future__ import annotations

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, pose, vector, xyz

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


def test_a_vehicle_added_where_something_is_or_starts_is_put_beside_it(rpc: Rpc) -> None:
    """A reset would put a vehicle that flies into one over its start."""
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "Drone1")
    rpc("simSpawnObject", "Post", "Cube", pose(20.0, 20.0, -0.5), vector(0.4, 0.4, 3.0), False, False)
    for name, at in (("Under", 0.0), ("Inside", 20.0)):
        rpc("simAddVehicle", name, "simpleflight", pose(at, at, -0.1), "")
        assert 0.7 < np.linalg.norm(np.subtract(xyz(rpc("simGetObjectPose", name)["position"])[:2], at)) < 3.0
