"""A scenario: plain data that says what flies where, with which sensors, and for how long; strictly checked."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Discriminator, Field, StrictInt, Tag, field_validator, model_validator

from skyloop.core.plugins import Files
from skyloop.core.quantities import Degrees, Hertz, NonNegative, Positive, StartPlace
from skyloop.core.validation import kind_of, read_yaml, validated
from skyloop.recording.verdict import SuccessRule
from skyloop.sensors.external_camera import ObserverConfig
from skyloop.sensors.radar.processing.config import ProcessingConfig
from skyloop.sensors.registry import AnySensor
from skyloop.sensors.sensor import SensorConfig
from skyloop.sim.estimator_config import EstimatorConfig, Options
from skyloop.vehicle.airframe import STRICT, Airframe, DragModel, NonNegativeVector
from skyloop.vehicle.estimation.ekf import EkfConfig
from skyloop.vehicle.failsafes import Failsafes
from skyloop.vehicle.kernel_packing import CONTROLLERS, CompiledController, RotorFault, Wrench
from skyloop.vehicle.pilots.pilots import AnyPilotConfig
from skyloop.world.atmosphere import Calm, Wind
from skyloop.world.earth import EarthConfig
from skyloop.world.weather import WeatherConfig
from skyloop.world.world import WorldConfig
from skyloop_client.errors import ScenarioError, nearest_name, unknown_name
from skyloop_client.user_code import is_plugin

SCENARIOS = Files("scenarios", "scenario")
AIRFRAMES = Files("airframes", "airframe")

LONGEST_S = 1e9
"""s of a run; stamps in ns stay well below what 64 bits hold."""
TAKEN = ("truth", "state", "status", "setpoint", "events", "battery", "actuators")
"""Names of a vehicle's streams that no estimator may have."""


class UserSensor(SensorConfig):
    """A sensor of your own."""

    kind: str
    """The class, as module:Class or file.py:Class."""
    options: Options = Field(default_factory=dict)
    """Arguments of the class."""


class UserPilot(BaseModel):
    """A pilot of your own: a function, or a class made with `options`."""

    model_config = STRICT

    kind: str
    """The function or class, as module:name or file.py:name."""
    rate_hz: float | str = 50.0
    """Calls per second of simulated time."""
    options: Options = Field(default_factory=dict)
    """Arguments of the class; a function takes none."""


def _own_or(value: object) -> str:
    kind = dict(value).get("kind") if isinstance(value, dict | BaseModel) else None
    return "own" if is_plugin(kind) else "shipped"


SensorChoice = Annotated[
    Annotated[UserSensor, Tag("own")] | Annotated[AnySensor, Tag("shipped")], Discriminator(_own_or)
]
PilotChoice = Annotated[
    Annotated[UserPilot, Tag("own")] | Annotated[AnyPilotConfig, Tag("shipped")], Discriminator(_own_or)
]


class DragChoice(BaseModel):
    """The drag that replaces the airframe's; numbers left out stay the airframe's."""

    model_config = STRICT

    model: DragModel | None = None
    """The drag model, as in an airframe file."""
    linear: NonNegativeVector | None = None
    """N/(m/s), the linear drag along each body axis."""
    box: NonNegativeVector | None = None
    """N/(m/s)², the quadratic drag along each body axis at sea level."""
    rotor: NonNegative | None = None
    """√N/(m/s), the coefficient c_d1 of eq. (6)."""
    sqrt_slope: NonNegative | None = None
    """1/√N, the slope k of eq. (7)."""
    sqrt_offset: NonNegative | None = None
    """√N, the offset b of eq. (7)."""
    parasitic: NonNegativeVector | None = None
    """N/(m/s)², the drag of the frame at sea level, times |v| v."""
    ground_effect: NonNegative | None = None
    """The strength of the ground effect, 0 being none."""
    translational_lift: NonNegative | None = None
    """N/(m/s)², the extra thrust of a rotor per squared speed in its plane."""
    axial_inflow: NonNegative | None = None
    """N/(rad/s)/(m/s), the thrust a rotor loses by climbing."""


class Vehicle(BaseModel):
    """One vehicle: its airframe, sensors, controller and pilot."""

    model_config = STRICT

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")] = "drone"
    """The first part of the names of its streams."""
    airframe: str | Airframe = "iris"
    """A name of `skyloop list`, a YAML file, module:Name, or the airframe itself."""
    position: StartPlace = (0.0, 0.0)
    """m, east and north of the start; the vehicle stands on its legs there. A third number starts it in the air, with
    its body origin at that height."""
    yaw_deg: Degrees = 0.0
    """The heading at the start, counter-clockwise from east."""
    controller: str | None = None
    """`cascade`, `simpleflight`, or your own as module:Class; left out, the one the airframe names."""
    controller_rate_hz: Hertz | None = None
    """Calls of the controller per second; `physics_rate_hz` must be a whole multiple of it. Left out, it is 500 at
    most."""
    controller_options: Options = {}
    """Arguments of a controller of your own; the shipped controllers have their gains in the airframe."""
    state: str = "truth"
    """The state the controller flies on: `truth`, `ekf`, one of `estimators`, or the name of a stream of estimates."""
    drag: DragChoice = DragChoice()
    """A drag model that replaces the airframe's."""
    battery: bool = True
    """false: the battery stays full, and its voltage never falls."""
    charge: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The state of charge at the start, 1 being full; only with a battery."""
    wrenches: list[Wrench] = []
    """Forces and torques that push the vehicle at given times."""
    rotor_faults: list[RotorFault] = []
    """Faults of the rotors at given times."""
    sensors: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], SensorChoice] = {}
    """The sensors by name: `imu` publishes on `<vehicle>/imu`."""
    perception: dict[str, ProcessingConfig | None] = {}
    """By the name of a radar, how its scans become images, points and tracks; null: not at all. A radar that is not
    named here is processed with the defaults."""
    estimators: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], EstimatorConfig] = {}
    """By stream name: `vio` publishes on `<vehicle>/vio`. They run whether or not the vehicle flies on one of them.
    `estimator: {...}` is short for a single one, named by its `name` or by its class in small letters."""
    pilot: PilotChoice | None = None
    """The pilot that flies the vehicle; without one it waits for setpoints."""
    failsafes: Failsafes = Failsafes()
    """What the vehicle does when the battery, the setpoints or the estimate run out."""
    ekf: EkfConfig = EkfConfig()
    """How far the EKF trusts its sensors; used with `state: ekf`."""

    @model_validator(mode="before")
    @classmethod
    def _one_estimator(cls, data: object) -> object:
        """`estimator: {kind: my_vio.py:Vio}` is `estimators: {vio: {kind: my_vio.py:Vio}}`."""
        if not isinstance(data, dict) or not isinstance(data.get("estimator"), dict):
            return data
        one = dict(data["estimator"])
        name = one.pop("name", None) or str(one.get("kind", "")).rpartition(":")[2].lower()
        others = data.get("estimators") or {}
        if isinstance(others, dict) and name in others:
            raise ValueError(f"estimator and estimators both have one named '{name}'; give it a name of its own")
        return {**{key: data[key] for key in data if key != "estimator"}, "estimators": {**others, name: one}}

    @model_validator(mode="after")
    def _estimators_have_names_of_their_own(self) -> Vehicle:
        for name in self.estimators:
            if name in self.sensors or name in TAKEN:
                raise ValueError(f"estimators: '{name}' is the name of another stream; choose another one")
        return self

    @field_validator("name")
    @classmethod
    def _name_is_free(cls, value: str) -> str:
        if value in ("truth", "observer"):
            raise ValueError(f"other streams begin with '{value}/'; give the vehicle another name")
        return value

    @field_validator("controller")
    @classmethod
    def _controller_is_known(cls, value: str | None) -> str | None:
        if value is not None and value not in CONTROLLERS and not is_plugin(value):
            hint = nearest_name(value, CONTROLLERS)
            raise ValueError(f"no controller named '{value}'; {hint} Or your own as module:Class")
        return value

    @model_validator(mode="after")
    def _options_have_a_taker(self) -> Vehicle:
        if self.controller_options and not has_own_controller(self):
            raise ValueError("controller_options work with a controller of your own only; set gains in the airframe")
        return self

    @model_validator(mode="after")
    def _perception_has_a_radar(self) -> Vehicle:
        radars = [name for name, sensor in self.sensors.items() if sensor.kind == "radar"]
        for name in self.perception:
            if name not in radars:
                raise ValueError(f"perception: no radar named '{name}' under sensors; {nearest_name(name, radars)}")
        return self

    @model_validator(mode="after")
    def _charge_has_a_battery(self) -> Vehicle:
        if self.charge != 1.0 and not self.battery:
            raise ValueError(f"charge is {self.charge}, but with battery: false it stays full; remove one of the two")
        return self

    @field_validator("pilot", mode="before")
    @classmethod
    def _pilot_by_name(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value


def has_own_controller(vehicle: Vehicle) -> bool:
    """Whether its controller is a class of the user's or of a plugin, not compiled into the flight kernel."""
    name = vehicle.controller
    return name is not None and (is_plugin(name) or not isinstance(CONTROLLERS.get(name), CompiledController))


class SurfaceChoice(BaseModel):
    """What is changed of a material or of the surface of an object."""

    model_config = STRICT

    depth_m: NonNegative
    """1/m, the exponent m of Kim's depth camera noise, sigma = scale·exp(m·d)."""


class PacingConfig(BaseModel):
    """How fast simulated time passes."""

    model_config = STRICT

    mode: Literal["free", "realtime"] = "free"
    """`free` runs as fast as the machine can; `realtime` follows the wall clock."""
    factor: Positive = 1.0
    """Simulated seconds per second of wall time in mode `realtime`."""


class Scenario(BaseModel):
    """Everything a run depends on, besides the version of skyloop and the machine."""

    model_config = STRICT

    name: Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f]+$")] = "scenario"
    """The name of the run folder begins with it."""
    description: str = ""
    """The line that `skyloop list` shows."""
    seed: StrictInt = 1
    """Every random number of the run follows from the seed."""
    duration: Annotated[float, Field(ge=0.001, le=LONGEST_S)] = 30.0
    """s, the simulated time at which the run ends; it ends earlier when every pilot is done."""
    physics_rate_hz: Annotated[float, Field(ge=50, le=20000)] = 1000.0
    """Steps per second of the rigid body and the rotors."""
    truth_rate_hz: Hertz = 50.0
    """Messages per second on `truth/<vehicle>`, `<vehicle>/battery` and `<vehicle>/actuators`."""
    pacing: PacingConfig = PacingConfig()
    """How fast simulated time passes."""
    earth: EarthConfig = EarthConfig()
    """Where on the earth the world lies."""
    world: WorldConfig = WorldConfig()
    """The ground and everything that stands or moves on it."""
    materials: dict[str, SurfaceChoice] = {}
    """Changes to surfaces, by the name of a material or an object, or by a pattern such as `box *`."""
    weather: WeatherConfig = WeatherConfig()
    """The position of the sun, the clouds, and what is in the air."""
    wind: Wind = Calm(kind="calm")
    """How the air moves."""
    observers: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], ObserverConfig] = {}
    """Cameras that belong to no vehicle, by name: `chase` publishes on `observer/chase`."""
    vehicles: Annotated[list[Vehicle], Field(min_length=1, max_length=64)] = [Vehicle()]
    """The vehicles that fly."""
    success: SuccessRule | None = None
    """When a flight is a success, over its summary, such as `landed and not contacts`. Left out: no crash, no contact
    in the air, no failsafe, and landed if the pilot meant to."""
    folder: str | None = None
    """The folder that relative file names in the scenario start from. When it is left out, that is the folder of the
    scenario file; null means the current folder."""

    @field_validator("world", mode="before")
    @classmethod
    def _world_by_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value

    @field_validator("earth", "wind")
    @classmethod
    def _numbers_are_finite(cls, value: BaseModel) -> BaseModel:
        for name, number in value:
            if not np.isfinite([x for x in np.ravel(number) if isinstance(x, float)]).all():
                raise ValueError(f"{name} is {number}; every number must be finite")
        return value

    @model_validator(mode="after")
    def _observed_vehicles_exist(self) -> Scenario:
        names = [vehicle.name for vehicle in self.vehicles]
        for name, observer in self.observers.items():
            if observer.vehicle is not None and observer.vehicle not in names:
                hint = nearest_name(observer.vehicle, names)
                raise ValueError(f"observers.{name}: no vehicle named '{observer.vehicle}'; {hint}")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Scenario:
        names = [vehicle.name for vehicle in self.vehicles]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two vehicles are named '{name}'; give each its own name")
        return self


def load_scenario(name: str | Path, overrides: Mapping[str, object] | None = None) -> Scenario:
    """A scenario by name, or a YAML file by path; overrides are {"vehicles.drone.state": "ekf"}."""
    data, folder = read_scenario(name)
    return make_scenario(data, overrides, place=str(name), folder=folder)


def read_scenario(name: str | Path) -> tuple[object, Path | None]:
    """What is written in a scenario, unchecked, and the folder in which its own files are."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return read_yaml(path), path.parent.resolve()
    if str(name) not in SCENARIOS:
        raise unknown_name("scenario", str(name), SCENARIOS)
    return read_yaml(SCENARIOS[str(name)]), None


def make_scenario(
    data: object, overrides: Mapping[str, object] | None = None, *, place: str = "scenario", folder: Path | None = None
) -> Scenario:
    """A scenario from plain data, with every fault reported in one line; `folder` is where its files are."""
    if not isinstance(data, dict):
        raise ScenarioError(f"{place}: a scenario is a mapping of keys to values, but this is {kind_of(data)}")
    data = copy.deepcopy(data)
    if folder is not None and isinstance(data.get("folder", ""), str):
        data["folder"] = str(folder / data.get("folder", ""))
    for key, value in (overrides or {}).items():
        set_path(data, key, value, place)
    return validated(Scenario, data, place)


def set_path(data: dict[str, object], path: str, value: object, place: str) -> None:
    """Put a value at a dotted path; lists are entered by number, vehicles also by name.

    With a single vehicle, `pilot.goals` is short for `vehicles.0.pilot.goals`."""
    keys = path.split(".")
    vehicles = data.get("vehicles", [{}])
    if keys[0] in Vehicle.model_fields and keys[0] not in Scenario.model_fields:
        if not isinstance(vehicles, list) or len(vehicles) != 1:
            raise ScenarioError(f"{place}: --set {path}: there are several vehicles; write vehicles.NAME.{path}")
        keys = ["vehicles", "0", *keys]
    here: Any = data
    for depth, key in enumerate(keys):
        so_far = ".".join(keys[: depth + 1])
        if isinstance(here, list):
            step: Any = _list_index(here, key, f"{place}: --set {so_far}")
        elif isinstance(here, dict):
            step = key
        else:
            raise ScenarioError(f"{place}: --set {path}: '{'.'.join(keys[:depth])}' is {kind_of(here)} and has no keys")
        if depth == len(keys) - 1:
            here[step] = value
            return
        if isinstance(here, dict):
            if isinstance(here.get(key), str) and key in ("world", "pilot"):
                here[key] = {"name" if key == "world" else "kind": here[key]}
            here.setdefault(key, [{}] if key == "vehicles" else {})
        here = here[step]


def _list_index(items: list[object], key: str, place: str) -> int:
    names = [str(item.get("name", "drone")) if isinstance(item, dict) else "" for item in items]
    if key in names:
        return names.index(key)
    if key.isdecimal() and int(key) < len(items):
        return int(key)
    known = [*filter(None, names), *map(str, range(len(items)))]
    raise ScenarioError(f"{place}: no item '{key}'; {nearest_name(key, known)}")
