"""Run by the interpreter of a real client: `airsim_script.py MODULE PORT FOLDER`. Prints what it found as JSON."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

airsim = importlib.import_module(sys.argv[1])
client = airsim.MultirotorClient(port=int(sys.argv[2]))
folder = Path(sys.argv[3])
found: dict[str, Any] = {}


def place(name):
    position = client.getMultirotorState(vehicle_name=name).kinematics_estimated.position
    return [position.x_val, position.y_val, position.z_val]


client.confirmConnection()
client.reset()
for name in ("Drone1", "Drone2"):
    client.enableApiControl(True, name)
    client.armDisarm(True, name)
climbs = [client.takeoffAsync(vehicle_name=name) for name in ("Drone1", "Drone2")]
for climb in climbs:
    climb.join()
found["up"] = [place("Drone1"), place("Drone2")]

found["corners"] = []
for x, y in ((2, 0), (2, 2), (0, 2), (0, 0)):
    client.moveToPositionAsync(x, y, -3, 2, vehicle_name="Drone1").join()
    found["corners"].append([x, y, -3, *place("Drone1")])

client.simPause(True)
found["images"] = {}
for kind in range(10):
    asked = [
        airsim.ImageRequest("0", kind, False, True),
        airsim.ImageRequest("0", kind, False, False),
        airsim.ImageRequest("0", kind, True, False),
    ]
    png, raw, floats = client.simGetImages(asked, "Drone1")
    (folder / f"{sys.argv[1]}_{kind}.png").write_bytes(png.image_data_uint8)
    found["images"][kind] = [len(raw.image_data_uint8), len(floats.image_data_float), raw.width, raw.height]
client.simPause(False)

cloud = client.getLidarData("LidarSensor1", "Drone1")
found["points"] = len(cloud.point_cloud) // 3
found["imu"] = client.getImuData(vehicle_name="Drone1").linear_acceleration.z_val
found["gps"] = client.getGpsData(vehicle_name="Drone1").gnss.geo_point.latitude
found["baro"] = client.getBarometerData(vehicle_name="Drone1").pressure
found["mag"] = client.getMagnetometerData(vehicle_name="Drone1").magnetic_field_body.z_val
found["distance"] = client.getDistanceSensorData("Down", "Drone1").distance

wall = client.simListSceneObjects("block 1")[0]
before = client.simGetObjectPose(wall)
turn = airsim.Quaternionr(0.0, 0.0, 0.0, 1.0)
client.simSetObjectPose(wall, airsim.Pose(airsim.Vector3r(5, 0, -2), turn))
client.simGetCollisionInfo("Drone1")
client.moveByVelocityAsync(2, 0, 0, 5, vehicle_name="Drone1").join()
hit = client.simGetCollisionInfo("Drone1")
client.simSetObjectPose(wall, before)
found["hit"] = [hit.has_collided, hit.object_name]

if sys.argv[1] == "cosysairsim":
    names, poses = client.simListInstanceSegmentationObjects(), client.simListInstanceSegmentationPoses()
    found["instances"] = [len(names), len(poses)]
    third = client.simGetObjectPose(names[3]).position
    found["same place"] = [third.x_val - poses[3].position.x_val, third.y_val - poses[3].position.y_val]
    # it has just hit the block and must be level again: what it then sees below is the ground
    client.moveByVelocityAsync(0, 0, 0, 2, vehicle_name="Drone1").join()
    # the list says which colour that has
    (down,) = client.simGetImages([airsim.ImageRequest("3", 5, False, False)], "Drone1")
    colour = list(down.image_data_uint8[:3])
    ground = names.index("Ground")
    found["colours"] = [colour, client.simGetSegmentationColorMap()[ground].tolist()]
    client.simSetSegmentationObjectID("Ground", 1234)
    (down,) = client.simGetImages([airsim.ImageRequest("3", 5, False, False)], "Drone1")
    found["given"] = [list(down.image_data_uint8[:3]), client.simGetSegmentationColorMap()[1234].tolist()]
    state = client.simGetPhysicsRawKinematics("Drone2")
    state.position.z_val -= 5.0
    client.simPause(True)
    client.simSetPhysicsRawKinematics(state, "Drone2")
    found["lifted"] = client.simGetGroundTruthKinematics("Drone2").position.z_val - state.position.z_val
    client.simPause(False)

client.landAsync(vehicle_name="Drone2").join()
found["landed"] = client.getMultirotorState("Drone2").landed_state
client.reset()
found["back"] = place("Drone1")
try:
    client.simRunConsoleCommand("stat fps")
except Exception as error:
    found["refused"] = str(error)
print("FOUND", json.dumps(found))
