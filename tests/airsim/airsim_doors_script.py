"""Run by the interpreter of a real client: `airsim_doors_script.py MODULE PORT PAGE`. Prints JSON.

The page's own examples of radar and lamps are run as they stand."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

airsim = importlib.import_module(sys.argv[1])
client = airsim.MultirotorClient(port=int(sys.argv[2]))
found: dict[str, Any] = {}


def brightness():
    """The mean of what the camera beside the lamp sees."""
    (answer,) = (
        client.simGetImages([airsim.ImageRequest("watch", 0, False, False)], external=True)
        if (sys.argv[1] == "airsim")
        else client.simGetImages([airsim.ImageRequest("watch", 0, False, False)], "")
    )
    return float(np.frombuffer(answer.image_data_uint8, np.uint8).mean())


client.confirmConnection()

page = Path(sys.argv[3]).read_text(encoding="utf-8")
sections = dict(re.findall(r"^## (Radar|Lamps)\n(.*?)(?=^## )", page, flags=re.DOTALL | re.MULTILINE))
examples = {name: text.partition("```python\n")[2].partition("```")[0] for name, text in sections.items()}

# the client has no method of this name; its RPC takes any
shown = {"client": client, "numpy": np}
exec(examples["Radar"], shown)
data, volts = shown["data"], shown["volts"]
found["radar"] = [list(volts.shape), float(np.abs(volts).max()), data["time_stamp"], data["d_max"]]

client.simPause(True)
client.simSetTimeOfDay(True, "2026-06-21 23:30:00", move_sun=False)
lights = client.simListSceneObjects("PointLight.*")
client.simSetObjectPose(lights[0], airsim.Pose(airsim.Vector3r(3, 0, 0)), True)
before = brightness()
exec(examples["Lamps"], shown)
found["page's"] = [before, brightness()]
place = client.simGetObjectPose(lights[0])
client.simDestroyObject(lights[0])
dark = brightness()
lamp = client.simSpawnObject(
    "PointLight", "PointLightBP", airsim.Pose(airsim.Vector3r(3, 0, -1)), airsim.Vector3r(1, 1, 1), False, True
)
found["lamp"] = [lights, lamp, dark, brightness()]
found["set"] = [
    client.simSetLightIntensity(lamp, 20000),
    brightness(),
    client.simSetLightIntensity(lamp, 0),
    brightness(),
]
found["no lamp"] = [client.simSetLightIntensity("Cone", 100), client.simSetLightIntensity("nothing", 100)]
if sys.argv[1] == "cosysairsim":
    client.simSetWorldLightIntensity(lamp, 20000)
    found["seen"] = [client.simSetWorldLightVisibility(lamp, on) for on in (False, True)] + [brightness()]

try:
    client.simLoadLevel("park.glb")
except Exception as error:
    found["no level"] = str(error)
found["still"] = len(client.simListSceneObjects("TemplateCube.*"))
found["loaded"] = client.simLoadLevel("corridor")
found["gone"] = len(client.simListSceneObjects("TemplateCube.*"))
found["names"] = client.simListSceneObjects()
found["paused"] = client.simIsPause()
found["at"] = client.getImuData(vehicle_name="Drone1").time_stamp
client.simPause(False)
client.enableApiControl(True, "Drone1")
client.takeoffAsync(vehicle_name="Drone1").join()
found["up"] = client.getMultirotorState(vehicle_name="Drone1").kinematics_estimated.position.z_val
found["back"] = client.simLoadLevel("blocks")
print("FOUND " + json.dumps(found))
