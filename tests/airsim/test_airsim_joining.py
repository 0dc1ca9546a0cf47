"""simAddVehicle: a vehicle that was not there at the start."""

from __future__ import annotations

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, pose, xyz


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
