"""Run by the real client's interpreter with a PORT: does what each line says, prints a line of JSON."""

import importlib
import json
import sys

airsim = importlib.import_module("airsim")

client = airsim.MultirotorClient(port=int(sys.argv[1]))
client.confirmConnection()
print(json.dumps({"watching": True}), flush=True)
for line in sys.stdin:
    found = {}
    if line.strip() == "look":
        asked = [airsim.ImageRequest("0", kind, kind > 0, False) for kind in (0, 1)]
        scene, depth = client.simGetImages(asked)
        found["scene"] = [scene.width, scene.height, len(set(scene.image_data_uint8))]
        found["depth"] = [min(depth.image_data_float), max(depth.image_data_float)]
    else:
        client.enableApiControl(True)
        client.moveToPositionAsync(2, 3, -6, 4).join()
    state = client.getMultirotorState()
    position = state.kinematics_estimated.position
    found["at"] = [position.x_val, position.y_val, position.z_val]
    found["landed"] = state.landed_state
    print(json.dumps(found), flush=True)
