"""A scenario: plain data that says what flies where, with what on board, and for how long. Strict: unknown keys are errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, Discriminator, Field, Tag, ValidationError, field_validator, model_validator

from skyloop.errors import ScenarioError, nearest_name, unknown_name
from skyloop.navigation.ekf import EkfConfig
from skyloop.plugins import is_plugin
from skyloop.sensors.registry import SENSORS, AnySensor
from skyloop.sensors.sensor import SensorConfig
from skyloop.streams import Rate
from skyloop.tasks.pilots import PILOTS, PilotConfig
from skyloop.vehicle.airframe import (
    STRICT,
    Airframe,
    DragModel,
    NonNegative,
    NonNegativeVector,
    Positive,
    Vector,
)
from skyloop.vehicle.autopilot import Failsafes
from skyloop.vehicle.packing import RotorFault, Wrench
from skyloop.world.earth import EarthConfig
from skyloop.world.wind import Calm, Wind
from skyloop.world.world import WorldConfig

SCENARIOS = Path(__file__).parent / "scenarios"
AIRFRAMES = Path(__file__).parent / "vehicle" / "airframes"


class OwnSensor(SensorConfig):
    """A sensor of the user's: `kind` is module:Class, `options` go to its constructor."""

    kind: str
    options: dict[str, Any] = {}


class OwnPilot(BaseModel):
    """A pilot of the user's: a function, or a class made with `options`."""

    model_config = STRICT

    kind: str
    """module:name."""
    rate_hz: float | str = 50.0
    options: dict[str, Any] = {}


def _own_or(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "own" if is_plugin(kind) else "shipped"


SensorChoice = Annotated[
    Annotated[OwnSensor, Tag("own")] | Annotated[AnySensor, Tag("shipped")], Discriminator(_own_or)
]
PilotChoice = Annotated[
    Annotated[OwnPilot, Tag("own")] | Annotated[PilotConfig, Tag("shipped")], Discriminator(_own_or)
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
    """m, east and north; it stands on its legs there. With a third number, the body's height in the air."""
    yaw_deg: float = 0.0
    """Heading, counter-clockwise from east."""
    controller: str | None = None
    """cascade, simpleflight, or module:Class; the airframe's own when left out."""
    controller_rate_hz: Positive = 500.0
    controller_options: dict[str, Any] = {}
    state: str = "truth"
    """What the controller flies on: truth, ekf, or the name of a stream of estimates."""
    drag: DragChoice = DragChoice()
    battery: bool = True
    """False: the voltage never falls."""
    charge: Annotated[float, Field(gt=0, le=1)] = 1.0
    """State of charge at the start."""
    wrenches: list[Wrench] = []
    rotor_faults: list[RotorFault] = []
    sensors: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], SensorChoice] = {}
    """By stream name: `imu` publishes on `<vehicle>/imu`."""
    pilot: PilotChoice | None = None
    failsafes: Failsafes = Failsafes()
    ekf: EkfConfig = EkfConfig()

    @field_validator("controller")
    @classmethod
    def _controller_is_known(cls, value: str | None) -> str | None:
        known = ("cascade", "simpleflight")
        if value is not None and value not in known and not is_plugin(value):
            raise ValueError(
                f"no controller named '{value}'; {nearest_name(value, known)} Or your own as module:Class"
            )
        return value

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

    name: str = "scenario"
    description: str = ""
    seed: int = 1
    duration: Positive = 30.0
    """s; a run ends earlier when every pilot is done."""
    physics_rate_hz: Annotated[float, Field(ge=50, le=20000)] = 1000.0
    truth_rate_hz: Positive = 50.0
    pacing: Pacing = Pacing()
    earth: EarthConfig = EarthConfig()
    world: WorldConfig = WorldConfig()
    wind: Wind = Calm(kind="calm")
    vehicles: Annotated[list[Vehicle], Field(min_length=1, max_length=64)] = [Vehicle()]
    folder: Annotated[str | None, Field(exclude=True)] = None
    """Where module files and airframes are looked for; set by the loader."""

    @field_validator("world", mode="before")
    @classmethod
    def _world_by_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

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
        path = SCENARIOS / f"{name}.yaml"
    return make_scenario(read_yaml(path), overrides, place=str(name), folder=path.parent)


def make_scenario(
    data: Any, overrides: dict[str, Any] | None = None, *, place: str = "scenario", folder: Path | None = None
) -> Scenario:
    """A scenario from plain data, with every fault told in one line."""
    if not isinstance(data, dict):
        raise ScenarioError(f"{place}: a scenario is a mapping of keys to values, this is {_kind_of(data)}")
    data = {**data, "folder": None if folder is None else str(folder)}
    for key, value in (overrides or {}).items():
        set_path(data, key, value, place)
    return validated(Scenario, data, place)


def read_yaml(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScenarioError(f"no file '{path}'; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"cannot read '{path}': {error}") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise ScenarioError(f"{where}: not YAML: {getattr(error, 'problem', error)}") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: not YAML: {error}") from None


def set_path(data: dict[str, Any], path: str, value: Any, place: str) -> None:
    """Put a value at a dotted path; lists are entered by number, vehicles also by name."""
    keys = path.split(".")
    here: Any = data
    for depth, key in enumerate(keys[:-1]):
        so_far = ".".join(keys[: depth + 1])
        if isinstance(here, list):
            here = _list_item(here, key, f"{place}: --set {so_far}")
        elif isinstance(here, dict):
            if isinstance(here.get(key), str) and key in ("world", "pilot"):
                here[key] = {"name" if key == "world" else "kind": here[key]}
            here = here.setdefault(key, {"vehicles": [{}]}.get(key, {}))
        else:
            raise ScenarioError(f"{place}: --set {path}: '{so_far}' is {_kind_of(here)}, it has no keys")
    if isinstance(here, list):
        index = here.index(_list_item(here, keys[-1], f"{place}: --set {path}"))
        here[index] = value
    elif isinstance(here, dict):
        here[keys[-1]] = value
    else:
        raise ScenarioError(f"{place}: --set {path}: cannot set a key of {_kind_of(here)}")


def _list_item(items: list[Any], key: str, place: str) -> Any:
    names = [item.get("name", "drone") for item in items if isinstance(item, dict)]
    if key in names:
        return items[names.index(key)]
    if key.isdigit() and int(key) < len(items):
        return items[int(key)]
    raise ScenarioError(
        f"{place}: no item '{key}'; {nearest_name(key, [*names, *map(str, range(len(items)))])}"
    )


def validated(model: type[Any], data: Any, place: str) -> Any:
    """The model made from data, or one line that says what is wrong first."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ScenarioError(f"{place}: {_first_fault(error, model)}") from None


def _first_fault(error: ValidationError, model: type[BaseModel]) -> str:
    # unknown keys first: a misspelt key is the cause of the "missing" that pydantic also reports
    faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    steps = [str(step) for step in fault["loc"] if str(step) not in ("own", "shipped", "Airframe", "str")]
    where = ".".join(steps) or "top level"
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key '{steps[-1]}'; {nearest_name(steps[-1], _siblings(model, fault['loc'][:-1]))}"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    value = fault.get("input")
    shown = f" (got {value!r})" if isinstance(value, int | float | str | bool | type(None)) else ""
    if fault["type"] == "union_tag_invalid":
        given = str(fault.get("ctx", {}).get("tag", ""))
        known = [*SENSORS, *PILOTS, "calm", "constant", "dryden", "field", "module:Class"]
        return f"{where}: no kind '{given}'; {nearest_name(given, known)}"
    return f"{where}: {message[0].lower()}{message[1:]}{shown}"


def _siblings(model: Any, steps: tuple[int | str, ...]) -> list[str]:
    """Names of the fields at a place of the model, as far as its annotations tell."""
    candidates: list[Any] = [model]
    for step in steps:
        found: list[Any] = []
        for candidate in candidates:
            fields = getattr(candidate, "model_fields", None)
            if fields is None:
                found.append(candidate)
            elif step in fields:
                found.extend(_models_in(fields[step].annotation))
            else:
                # a tag of a union: keep the members that answer to it
                tagged = [candidate] if _has_kind(candidate, step) else []
                found.extend(tagged or ([candidate] if step in ("own", "shipped") else []))
        candidates = found or candidates
    return sorted({name for c in candidates for name in getattr(c, "model_fields", {}) if name != "folder"})


def _has_kind(model: Any, kind: object) -> bool:
    field = getattr(model, "model_fields", {}).get("kind")
    return field is not None and kind in getattr(field.annotation, "__args__", ())


def _models_in(annotation: Any) -> list[Any]:
    """All pydantic models an annotation may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]


def _kind_of(value: Any) -> str:
    return "empty" if value is None else f"a {type(value).__name__}"


def rate_of(value: float | str) -> Rate:
    return Rate.from_hz(value)
