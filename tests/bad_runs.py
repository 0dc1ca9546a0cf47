"""What may be wrong with what a user gives, and what the one line about it must hold."""

from __future__ import annotations

import yaml

from skyloop.sim.assembly import load_airframe

IRIS = load_airframe("iris").model_dump(mode="json")

MY_PARTS = """
from dataclasses import dataclass
import numpy as np
from skyloop_client.messages import Arm, Position, TakeOff

class Stubborn:
    message = "ImuSample"
    def __init__(self):
        raise ValueError("I want\\nmore")

class Empty:
    pass

def no_number(bundle):
    if bundle.t_ns == 0:
        return Arm()
    if bundle.t_ns >= 1_000_000_000:
        return Position(np.array([0.0, np.nan, 2.0]))

def wrong_shape(bundle):
    return [Arm(), Position([1.0, 2.0])]

def words(bundle):
    return [Arm(), "fly, please"]

class BadController:
    def __init__(self, airframe, period_s):
        pass
    def throttle(self, state, setpoint, t_ns):
        return [np.nan] * 4

def fly(bundle):
    return [Arm(), TakeOff(1.0)] if bundle.t_ns == 0 else None

class Storm:
    def velocity(self, position, t_s):
        return [np.inf, 0, 0]

class Thermometer:
    message = "Temperature"
    fault_fields = {"value": 1}
    def initial_state(self, rng):
        return 0
    def measure(self, kinematics, scene, state, rng):
        if kinematics.t_ns >= 250_000_000:
            return 1 / 0
        return Reading(kinematics.t_ns, 20.0), state

@dataclass
class Reading:
    t_ns: int
    value: float

class Unready(Thermometer):
    def initial_state(self):
        return 0

class Single(Thermometer):
    def measure(self, kinematics, scene, state, rng):
        return Reading(kinematics.t_ns, 20.0)

class Bare(Thermometer):
    def measure(self, kinematics, scene, state, rng):
        return 20.0, state

class Silent(Thermometer):
    def measure(self, kinematics, scene, state, rng):
        return None, state

class Stampless(Thermometer):
    def measure(self, kinematics, scene, state, rng):
        return Reading("now", 20.0), state

def deaf():
    return Arm()

def dizzy(bundle):
    if bundle.t_ns >= 500_000_000:
        np.linalg.inv(np.zeros((2, 2)))

def lost(bundle):
    return bundle.get("camera")

class FallingController(BadController):
    def throttle(self, state, setpoint, t_ns):
        return {}["gain"]

class WordyController(BadController):
    def throttle(self, state, setpoint, t_ns):
        return "full"

class Lull:
    def velocity(self, position, t_s):
        if t_s >= 0.6:
            raise RuntimeError
        return [0, 0, 0]

not_an_airframe = 17
"""

FILES: dict[str, str] = {
    "my.py": MY_PARTS,
    "broken.py": "import nothing_of_that_name",
    "raises.py": "raise RuntimeError('two\\nlines')",
    "garbled.py": "def (",
    "syntax.yaml": "seed: 1\nduration: 5\nvehicles: [\n  - name: x\n",
    "empty.yaml": "",
    "list.yaml": "- a\n- b\n",
    "misspelt.yaml": "sead: 3\n",
    "deep.yaml": "vehicles: [{name: drone, sensors: {imu: {kind: imu, mount: {positon: [0, 0, 1]}}}}]\n",
    "twins.yaml": "vehicles: [{name: a}, {name: b}, {name: a}]\n",
    "no_airframe.yaml": "vehicles: [{airframe: absent.yaml}]\n",
    "heavy.yaml": yaml.safe_dump({"vehicles": [{"airframe": {**IRIS, "mass": 1000.0}}]}),
    "typo_inside.yaml": yaml.safe_dump({"vehicles": [{"airframe": {**IRIS, "rotros": []}}]}),
    "iris_typo.yaml": yaml.safe_dump({**IRIS, "motor": {**IRIS["motor"], "max_sped": 9}}),
    "spin.yaml": yaml.safe_dump(
        {"vehicles": [{"airframe": {**IRIS, "rotors": [{**r, "spin": "ccw"} for r in IRIS["rotors"]]}}]}
    ),
    "own.yaml": "duration: 3\nvehicles: [{name: drone}]\n",
    "junk.glb": "not a mesh",
    "points.obj": "o a\nv 0 0 0\n",
    "part.stl": "solid a",
}

DRONE = "vehicles.drone"


def own(**settings: str) -> list[str]:
    """A run of own.yaml with settings of its vehicle."""
    return ["own.yaml", *(part for key, value in settings.items() for part in ("--set", f"{DRONE}.{key}={value}"))]


def world(**settings: str) -> list[str]:
    """A run of own.yaml in another world."""
    return ["own.yaml", *(part for key, value in settings.items() for part in ("--set", f"world.{key}={value}"))]


def top(**settings: str) -> list[str]:
    """A run of own.yaml with other settings."""
    return ["own.yaml", *(part for key, value in settings.items() for part in ("--set", f"{key}={value}"))]


# what is given to `skyloop run ... --out out`, and what the line must hold
RUNS: dict[str, tuple[list[str], list[str]]] = {
    "misspelt key": (["misspelt.yaml"], ["misspelt.yaml", "'sead'", "did you mean 'seed'"]),
    "misspelt key deep inside": (["deep.yaml"], ["sensors.imu.mount.positon", "did you mean 'position'"]),
    "misspelt key by --set": (["first-flight", "--set", f"{DRONE}.stat=ekf"], ["stat", "did you mean 'state'"]),
    "misspelt key of a trajectory": (
        ["first-flight", "--set", f"{DRONE}.pilot.trajectory.sped=3"],
        ["pilot.trajectory.sped", "did you mean 'speed'"],
    ),
    "misspelt key of an airframe": (["typo_inside.yaml"], ["airframe.rotros", "did you mean 'rotors'"]),
    "misspelt key in an airframe's file": (
        own(airframe="iris_typo.yaml"),
        ["iris_typo.yaml", "motor.max_sped", "did you mean 'max_speed'"],
    ),
    "wrong type": (["first-flight", "--set", "duration=long"], ["duration", "'long'"]),
    "wrong type in a list": (own(position="[1, two]"), ["vehicles.0.position.1", "'two'"]),
    "negative duration": (["first-flight", "--set", "duration=-1"], ["duration", "-1"]),
    "infinite wind": (["first-flight", "--set", "wind.mean=[.inf, 0, 0]"], ["wind", "mean", "finite"]),
    "missing file": (["absent.yaml"], ["absent.yaml", "no file"]),
    "missing airframe file": (["no_airframe.yaml"], ["absent.yaml", "no file"]),
    "a folder for a file": (["folder.yaml"], ["folder.yaml", "cannot read"]),
    "YAML syntax": (["syntax.yaml"], ["syntax.yaml:4:3", "not YAML"]),
    "empty file": (["empty.yaml"], ["empty.yaml", "this is empty"]),
    "list for a mapping": (["list.yaml"], ["list.yaml", "a list"]),
    "unknown scenario": (["frist-flight"], ["no scenario named 'frist-flight'", "did you mean 'first-flight'"]),
    "unknown airframe": (own(airframe="irsi"), ["no airframe named 'irsi'", "did you mean 'iris"]),
    "unknown world": (["own.yaml", "--set", "world=hils"], ["no world named 'hils'", "did you mean 'hills'"]),
    "unknown world option": (["own.yaml", "--set", "world={name: flat, options: {hight: 1}}"], ["flat", "hight"]),
    "a number of people below none": (world(name="park", options="{people: -3}"), ["'park'", "people is -3", "0 to"]),
    "a thing that cannot be randomised": (world(randomise="[colors]"), ["world.randomise.0", "did you mean 'colours'"]),
    "a missing world file": (world(file="absent.glb"), ["absent.glb", "does not exist"]),
    "a world file of nonsense": (world(file="junk.glb"), ["junk.glb", "damaged or no glb file"]),
    "a world file without triangles": (world(file="points.obj"), ["points.obj", "no triangles"]),
    "a world file of another kind": (world(file="part.stl"), ["part.stl", ".glb, .gltf, .obj"]),
    "unknown option of a world file": (world(file="junk.glb", options="{scal: 2}"), ["'scal'", "did you mean 'scale'"]),
    "an observer that chases nobody": (top(observers="{eye: {}}"), ["observers.eye", "mode chase needs a vehicle"]),
    "unknown class": (own(sensors="{a: {kind: camera, label_classes: [persons]}}"), ["did you mean 'person'"]),
    "too wide a lens": (own(sensors="{a: {kind: camera, horizontal_fov_deg: 175}}"), ["175", "take model: fisheye"]),
    "coefficients of no lens": (
        own(sensors="{a: {kind: camera, model: fisheye, distortion: [0.1]}}"),
        ["sensors.a", "fisheye takes 4", "not 1"],
    ),
    "a lens that folds": (
        own(sensors="{a: {kind: camera, model: brown-conrady, distortion: [-30, 0, 0, 0]}}"),
        ["drone.sensors.a", "folds the image"],
    ),
    "read noise of no well": (own(sensors="{a: {kind: camera, read_noise: 3}}"), ["read_noise", "full_well"]),
    "a depth camera without a range": (own(sensors="{a: {kind: depth_camera, min_range: 30}}"), ["min_range 30", "20"]),
    "too many points": (
        own(sensors="{a: {kind: lidar, points_per_second: 1e10}}"),
        ["drone.sensors.a", "1e+10 points/s", "lower points_per_second"],
    ),
    "a LiDAR upside down": (
        own(sensors="{a: {kind: lidar, vertical_fov_deg: [20, -20]}}"),
        ["vertical_fov_deg", "rise"],
    ),
    "a rosette of many beams": (
        own(sensors="{a: {kind: lidar, pattern: rosette, horizontal_fov_deg: [-20, 20]}}"),
        ["rosette", "set channels to 1"],
    ),
    "unknown sensor kind": (own(sensors="{a: {kind: imi}}"), ["sensors.a.kind", "'imi'", "did you mean 'imu'"]),
    "no sensor kind": (own(sensors="{a: {rate_hz: 10}}"), ["sensors.a", "'kind' is missing"]),
    "unknown preset": (own(sensors="{a: {kind: imu, preset: mpu600}}"), ["sensors.a.preset", "did you mean 'mpu6000'"]),
    "unknown controller": (own(controller="cascde"), ["controller", "did you mean 'cascade'"]),
    "unknown pilot": (own(pilot="hovr"), ["pilot.kind", "'hovr'", "did you mean 'hover'"]),
    "unknown wind": (["own.yaml", "--set", "wind.kind=dridden"], ["wind.kind", "did you mean 'dryden'"]),
    "unknown state": (own(state="ekv"), ["state 'ekv'", "did you mean 'ekf'"]),
    "unknown state stream": (own(state="truth/dron"), ["truth/dron", "did you mean 'truth/drone'"]),
    "state that is no estimate": (own(state="truth/drone"), ["truth/drone", "VehicleState", "Estimate"]),
    "an EKF without sensors": (own(state="ekf"), ["ekf", "ImuSample", "sensors"]),
    "rotors that cannot lift": (["heavy.yaml"], ["rotors that cannot lift it", "lower mass"]),
    "rotors that cannot yaw": (["spin.yaml"], ["spins"]),
    "two vehicles of one name": (["twins.yaml"], ["two vehicles are named 'a'"]),
    "a sensor under a taken name": (own(sensors="{status: {kind: imu}}"), ["two streams", "drone/status"]),
    "a name no folder can have": (["own.yaml", "--set", "name=../up"], ["name", "../up"]),
    "a rotor that is not there": (own(rotor_faults="[{rotor: 9, kind: lost, start: 1}]"), ["rotor", "9"]),
    "a fault the sensor cannot have": (
        own(sensors="{a: {kind: imu, faults: [{kind: bias, value: 1, field: presure}]}}"),
        ["drone/a", "presure"],
    ),
    "a rate of nonsense": (own(sensors="{a: {kind: imu, rate_hz: often}}"), ["rate_hz", "often"]),
    "a rate divided by zero": (own(pilot="{kind: 'my.py:fly', rate_hz: 1/0}"), ["drone.pilot.rate_hz", "1/0"]),
    "a rate beyond reason": (own(sensors="{a: {kind: imu, rate_hz: 1e30}}"), ["drone.sensors.a.rate_hz", "1e30"]),
    "plugin: no module": (own(pilot="nothing_here:Pilot"), ["nothing_here:Pilot", "cannot import"]),
    "plugin: no file": (own(pilot="absent.py:Pilot"), ["absent.py", "no file"]),
    "plugin: import in it fails": (own(pilot="broken.py:Pilot"), ["broken.py", "ModuleNotFoundError"]),
    "plugin: raises": (own(pilot="raises.py:Pilot"), ["raises.py", "RuntimeError: two lines"]),
    "plugin: syntax": (own(pilot="garbled.py:Pilot"), ["garbled.py", "SyntaxError"]),
    "plugin: no attribute": (own(pilot="my.py:fligh"), ["'fligh'", "did you mean 'fly'"]),
    "plugin: no name": (own(pilot="'my.py:'"), ["my.py:", "names no object"]),
    "plugin: wrong options": (own(pilot="{kind: 'my.py:Empty', options: {speed: 3}}"), ["drone.pilot", "Empty"]),
    "plugin: options for a function": (
        own(pilot="{kind: 'my.py:fly', options: {speed: 3}}"),
        ["drone.pilot", "function"],
    ),
    "plugin: constructor fails": (
        own(sensors="{a: {kind: 'my.py:Stubborn', rate_hz: 10}}"),
        ["drone.sensors.a", "Stubborn", "ValueError: I want more"],
    ),
    "plugin: no sensor": (own(sensors="{a: {kind: 'my.py:Empty', rate_hz: 10}}"), ["drone.sensors.a", "'message'"]),
    "plugin: no pilot": (own(pilot="my.py:Empty"), ["drone.pilot", "Empty"]),
    "plugin: no controller": (own(controller="my.py:Empty"), ["drone.controller", "Empty"]),
    "plugin: no world": (["own.yaml", "--set", "world=my.py:Empty"], ["world", "Empty"]),
    "plugin: no airframe": (own(airframe="my.py:not_an_airframe"), ["not_an_airframe"]),
    "plugin: no wind": (
        ["own.yaml", "--set", "wind={kind: field, source: 'my.py:Empty'}"],
        ["my.py:Empty", "velocity"],
    ),
    "setpoint of a wrong shape": (own(pilot="my.py:wrong_shape"), ["pilot of 'drone' at 0.000 s", "Position.position"]),
    "words for a setpoint": (own(pilot="my.py:words"), ["pilot of 'drone' at 0.000 s", "fly, please"]),
    "infinite wind field": (["own.yaml", "--set", "wind={kind: field, source: 'my.py:Storm'}"], ["wind field", "inf"]),
    "a sensor that wants other arguments": (
        own(sensors="{a: {kind: 'my.py:Unready', rate_hz: 10}}"),
        ["drone/a at 0.000 s: TypeError", "initial_state"],
    ),
    "a sensor that gives no pair": (
        own(sensors="{a: {kind: 'my.py:Single', rate_hz: 10}}"),
        ["drone/a at 0.000 s", "measure gives Reading(t_ns=0", "(sample, state)"],
    ),
    "a sensor that gives no record": (
        own(sensors="{a: {kind: 'my.py:Bare', rate_hz: 10}}"),
        ["drone/a at 0.000 s", "measure gives (20.0, 0)", "dataclass"],
    ),
    "a sensor without stamps": (
        own(sensors="{a: {kind: 'my.py:Stampless', rate_hz: 10}}"),
        ["drone/a at 0.000 s", "t_ns='now'", "integer t_ns"],
    ),
    "a pilot that takes no argument": (own(pilot="my.py:deaf"), ["pilot of 'drone' at 0.000 s: TypeError", "deaf"]),
    "a pilot that asks for no stream": (own(pilot="my.py:lost"), ["no stream named 'camera'"]),
    "--set without =": (["own.yaml", "--set", "seed"], ["--set seed", "PATH=VALUE"]),
    "--set of no YAML": (["own.yaml", "--set", "seed={"], ["--set seed", "not YAML"]),
    "--seed of letters": (["own.yaml", "--seed", "abc"], ["--seed", "integer"]),
    "unknown option": (["own.yaml", "--sed", "3"], ["--sed", "--seed"]),
}


NAN_SETPOINT = (
    own(pilot="my.py:no_number"),
    ["pilot of 'drone' at 1.000 s", "Position.position", "nan", "finite"],
)
# where in my.py something happens
LINE = {text: number for number, text in enumerate(map(str.strip, MY_PARTS.splitlines()), start=1)}
SENSOR_RAISES = (
    own(sensors="{a: {kind: 'my.py:Thermometer', rate_hz: 20}}"),
    ["drone/a at 0.250 s: ZeroDivisionError: division by zero", f"(my.py, line {LINE['return 1 / 0']})"],
)
PILOT_RAISES = (
    own(pilot="my.py:dizzy"),
    [
        "pilot of 'drone' at 0.500 s: LinAlgError: Singular matrix",
        f"(my.py, line {LINE['np.linalg.inv(np.zeros((2, 2)))']})",
    ],
)
CONTROLLER_RAISES = (
    own(pilot="my.py:fly", controller="my.py:FallingController"),
    ["controller FallingController at", "KeyError: 'gain'", "(my.py, line"],
)
WORDS_FOR_THROTTLE = (
    own(pilot="my.py:fly", controller="my.py:WordyController"),
    ["controller WordyController at", "ValueError", "'full'"],
)
WIND_RAISES = (
    ["own.yaml", "--set", "wind={kind: field, source: 'my.py:Lull', rate_hz: 8}"],
    ["wind field Lull at 0.625 s: RuntimeError (my.py, line"],
)
IN_FLIGHT = {
    "sensor raises": SENSOR_RAISES,
    "pilot raises": PILOT_RAISES,
    "controller raises": CONTROLLER_RAISES,
    "words for a throttle": WORDS_FOR_THROTTLE,
    "wind raises": WIND_RAISES,
    "NaN setpoint": NAN_SETPOINT,
}
NAN_THROTTLE = (own(pilot="my.py:fly", controller="my.py:BadController"), ["BadController", "throttle", "nan"])
