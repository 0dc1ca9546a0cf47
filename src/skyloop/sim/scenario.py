"""A scenario: plain data that says what flies where, with what on board, and for how long; strictly checked."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Discriminator, Field, StrictInt, Tag, field_validator, model_validator

from skyloop.core.validation import kind_of, read_yaml, validated
from skyloop.navigation.ekf import EkfConfig
from skyloop.perception.radar_processing.config import ProcessingConfig
from skyloop.sensors.observer import ObserverConfig
from skyloop.sensors.registry import AnySensor
from skyloop.sensors.sensor import SensorConfig
from skyloop.tasks.pilots import PilotConfig
from skyloop.vehicle.airframe import (
    STRICT,
    Airframe,
    DragModel,
    NonNegative,
    NonNegativeVector,
    Positive,
    Vector,
)
from skyloop.vehicle.failsafes import Failsafes
from skyloop.vehicle.packing import RotorFault, Wrench
from skyloop.world.earth import EarthConfig
from skyloop.world.weather import WeatherConfig
from skyloop.world.wind import Calm, Wind
from skyloop.world.world import WorldConfig
from skyloop_client.errors import ScenarioError, nearest_name, unknown_name
from skyloop_client.plugins import is_plugin

SCENARIOS = Path(__file__).parent / "scenarios"
AIRFRAMES = Path(__file__).parents[1] / "vehicle" / "airframes"

LONGEST_S = 1e9
"""s of a run; stamps in ns stay well below what 64 bits hold."""
RateHz = Annotated[float, Field(ge=0.001, le=100_000)]


class UserSensor(SensorConfig):
    """A sensor of the user's: `kind` is module:Class, `options` go to its constructor."""

    kind: str
    options: dict[str, Any] = Field(default_factory=dict)


class UserPilot(BaseModel):
    """A pilot of the user's: a function, or a class made with `options`."""

    model_config = STRICT

    kind: str
    """module:name."""
    rate_hz: float | str = 50.0
    options: dict[str, Any] = Field(default_factory=dict)


def _own_or(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "own" if is_plugin(kind) else "shipped"


SensorChoice = Annotated[
    Annotated[UserSensor, Tag("own")] | Annotated[AnySensor, Tag("shipped")], Discriminator(_own_or)
]
PilotChoice = Annotated[
    Annotated[UserPilot, Tag("own")] | Annotated[PilotConfig, Tag("shipped")], Discriminator(_own_or)
]


class DragChoice(BaseModel):
    """What to fly instead of the airframe's own drag; numbers left out stay the airframe's."""

    model_config = STRICT

    model: DragModel | None = None
    linear: NonNegativeVector | None = None
    box: NonNegativeVector | None = None
    rotor: NonNegative | None = None
    sqrt_slope: NonNegative | None = None
    sqrt_offset: NonNegative | None = None
    parasitic: NonNegativeVector | None = None
    ground_effect: NonNegative | None = None
    translational_lift: NonNegative | None = None
    axial_inflow: NonNegative | None = None


class Vehicle(BaseModel):
    model_config = STRICT

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")] = "drone"
    airframe: str | Airframe = "iris"
    """One of `skyloop list`, a YAML file, module:Name, or the airframe itself."""
    position: tuple[float, float] | Vector = (0.0, 0.0)
    """m, east and north; it stands on its legs there. With a third number, the height of the body origin in the air."""
    yaw_deg: float = 0.0
    """Heading, counter-clockwise from east."""
    controller: str | None = None
    """cascade, simpleflight, or module:Class; the airframe's own when left out."""
    controller_rate_hz: RateHz | None = None
    """Calls of the controller per second: physics_rate_hz over a whole number; when left out, at most 500."""
    controller_options: dict[str, Any] = {}
    """For a controller of your own; the shipped ones have their gains in the airframe."""
    state: str = "truth"
    """What the controller flies on: truth, ekf, or the name of a stream of estimates."""
    drag: DragChoice = DragChoice()
    battery: bool = True
    """False: it stays full, and the voltage never falls."""
    charge: Annotated[float, Field(gt=0, le=1)] = 1.0
    """State of charge at the start."""
    wrenches: list[Wrench] = []
    rotor_faults: list[RotorFault] = []
    sensors: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], SensorChoice] = {}
    """By stream name: `imu` publishes on `<vehicle>/imu`."""
    perception: dict[str, ProcessingConfig | None] = {}
    """By the name of a radar: how its scans become images, points and tracks; null: not at all. Radars left out are
    processed as usual."""
    pilot: PilotChoice | None = None
    failsafes: Failsafes = Failsafes()
    ekf: EkfConfig = EkfConfig()

    @field_validator("name")
    @classmethod
    def _name_is_free(cls, value: str) -> str:
        if value in ("truth", "observer"):
            raise ValueError(f"other streams begin with '{value}/'; give the vehicle another name")
        return value

    @field_validator("controller")
    @classmethod
    def _controller_is_known(cls, value: str | None) -> str | None:
        known = ("cascade", "simpleflight")
        if value is not None and value not in known and not is_plugin(value):
            raise ValueError(f"no controller named '{value}'; {nearest_name(value, known)} Or your own as module:Class")
        return value

    @model_validator(mode="after")
    def _options_have_a_taker(self) -> Vehicle:
        if self.controller_options and not is_plugin(self.controller):
            raise ValueError("controller_options are for a controller of your own; set gains in the airframe")
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
            raise ValueError(
                f"charge {self.charge} with battery false: a battery that never drains is full; remove one"
            )
        return self

    @field_validator("pilot", mode="before")
    @classmethod
    def _pilot_by_name(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value


class Pacing(BaseModel):
    model_config = STRICT

    mode: Literal["free", "realtime"] = "free"
    factor: Positive = 1.0
    """Simulated seconds per second of wall time in mode realtime."""


class Scenario(BaseModel):
    """Everything a run depends on, besides the version of skyloop and the machine."""

    model_config = STRICT

    name: Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f]+$")] = "scenario"
    """Names the run folder too."""
    description: str = ""
    seed: StrictInt = 1
    duration: Annotated[float, Field(ge=0.001, le=LONGEST_S)] = 30.0
    """s; a run ends earlier when every pilot is done."""
    physics_rate_hz: Annotated[float, Field(ge=50, le=20000)] = 1000.0
    truth_rate_hz: RateHz = 50.0
    pacing: Pacing = Pacing()
    earth: EarthConfig = EarthConfig()
    world: WorldConfig = WorldConfig()
    weather: WeatherConfig = WeatherConfig()
    wind: Wind = Calm(kind="calm")
    observers: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], ObserverConfig] = {}
    """Cameras that belong to no vehicle, by name: `chase` publishes on `observer/chase`."""
    vehicles: Annotated[list[Vehicle], Field(min_length=1, max_length=64)] = [Vehicle()]
    folder: str | None = None
    """Where files named here are looked for: left out, the scenario file's own folder; null, the current one."""

    @field_validator("world", mode="before")
    @classmethod
    def _world_by_name(cls, value: Any) -> Any:
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


def shipped_scenarios() -> list[str]:
    return sorted(path.stem for path in SCENARIOS.glob("*.yaml"))


def shipped_airframes() -> list[str]:
    return sorted(path.stem for path in AIRFRAMES.glob("*.yaml"))


def load_scenario(name: str | Path, overrides: dict[str, Any] | None = None) -> Scenario:
    """A shipped scenario by name, or a YAML file by path; overrides are {"vehicles.drone.state": "ekf"}."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        if str(name) not in shipped_scenarios():
            raise unknown_name("scenario", str(name), shipped_scenarios())
        return make_scenario(read_yaml(SCENARIOS / f"{name}.yaml"), overrides, place=str(name))
    return make_scenario(read_yaml(path), overrides, place=str(name), folder=path.parent.resolve())


def make_scenario(
    data: Any, overrides: dict[str, Any] | None = None, *, place: str = "scenario", folder: Path | None = None
) -> Scenario:
    """A scenario from plain data, with every fault told in one line; `folder` is where its files are."""
    if not isinstance(data, dict):
        raise ScenarioError(f"{place}: a scenario is a mapping of keys to values, this is {kind_of(data)}")
    data = copy.deepcopy(data)
    if folder is not None and isinstance(data.get("folder", ""), str):
        data["folder"] = str(folder / data.get("folder", ""))
    for key, value in (overrides or {}).items():
        set_path(data, key, value, place)
    made: Scenario = validated(Scenario, data, place)
    return made


def set_path(data: dict[str, Any], path: str, value: Any, place: str) -> None:
    """Put a value at a dotted path; lists are entered by number, vehicles also by name."""
    keys = path.split(".")
    here: Any = data
    for depth, key in enumerate(keys):
        so_far = ".".join(keys[: depth + 1])
        if isinstance(here, list):
            step: Any = _list_index(here, key, f"{place}: --set {so_far}")
        elif isinstance(here, dict):
            step = key
        else:
            raise ScenarioError(f"{place}: --set {path}: '{'.'.join(keys[:depth])}' is {kind_of(here)}, it has no keys")
        if depth == len(keys) - 1:
            here[step] = value
            return
        if isinstance(here, dict):
            if isinstance(here.get(key), str) and key in ("world", "pilot"):
                here[key] = {"name" if key == "world" else "kind": here[key]}
            here.setdefault(key, [{}] if key == "vehicles" else {})
        here = here[step]


def _list_index(items: list[Any], key: str, place: str) -> int:
    names = [str(item.get("name", "drone")) if isinstance(item, dict) else "" for item in items]
    if key in names:
        return names.index(key)
    if key.isdecimal() and int(key) < len(items):
        return int(key)
    known = [*filter(None, names), *map(str, range(len(items)))]
    raise ScenarioError(f"{place}: no item '{key}'; {nearest_name(key, known)}")
