"""The interface of a sensor, its access to the world, and the motion of its mount.

The random numbers of one sample are split by block: `measure` draws from block 0 upwards, `initial_state` and the
faults from separate blocks (see `noise` and `faults`), so one KeyedRandom serves all three.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from math import isinf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numba import float64, types, void
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, field_validator

from skyloop.core.frames import LocalFrame, quat_from_euler
from skyloop.core.jit import kernel, readonly
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import Degrees, Delay, Lever
from skyloop.core.rotations import cross, to_world
from skyloop.sensors.faults import Fault, add_error
from skyloop.world.model import Model
from skyloop.world.rays import RayHits
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import Weather
from skyloop_client import part
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Kinematics, VehicleState
from skyloop_client.streams import Mount, Rate

# JSON has no infinity; a string survives writing and reading.
PositiveOrInfinite = Annotated[
    float,
    Field(gt=0.0, allow_inf_nan=True),
    PlainSerializer(lambda value: "inf" if isinf(value) else value, when_used="json"),
]
Vector3 = tuple[float, float, float]


class Scene(Protocol):
    """The world as a sensor sees it at one instant."""

    @property
    def gravity(self) -> float:
        """m/s², downwards."""

    @property
    def local_frame(self) -> LocalFrame: ...

    @property
    def magnetic_field_world(self) -> Array:
        """(3,) T."""

    @property
    def weather(self) -> Weather: ...

    @property
    def model(self) -> Model:
        """Everything that stands and moves."""

    def rays(self, origins: Array, directions: Array, max_range: float) -> Array:
        """(n,) m from (n, 3) origins along (n, 3) unit directions, world axes; inf where nothing is hit."""

    def cast(self, origins: ArrayLike, directions: ArrayLike, max_range: float, t_ns: int | None = None) -> RayHits:
        """The hits of such rays, now or at another instant."""

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        """Images, rendered together."""


if TYPE_CHECKING:
    from _typeshed import DataclassInstance

State = TypeVar("State")
Details = dict[str, Any]
"""Of a stream, as plain data."""


class NoGimbal(Exception):
    """A sensor without a gimbal was to be turned."""


@part
class Sensor(ABC, Generic[State]):
    """One instrument. Its state is plain tuples and arrays. Only `message`, `initial_state` and `measure` are needed.

    A sensor with a name is made as `Class.from_config(config, period_s, folder)`, one in a user's file as
    `Class(**options)`."""

    Config: ClassVar[type[SensorConfig]]
    """Its options in a scenario; only a sensor with a name has one."""
    message: str
    """The name of the sample's record class in `skyloop_client.messages`."""
    fault_fields: Mapping[str, int] = MappingProxyType({})
    """The fields that bias and spike faults may disturb, with their numbers of components; the first is the default."""
    truth_message: str | None = None
    """The name of the record class of its ground-truth companion record, if it has one."""
    independent: bool = False
    """True if a sample depends on nothing but its own instant, so that unread samples need not be made."""
    needs_views: bool = False
    """True if `measure` asks for views, and `requests` says for which."""
    stream: str = ""
    """What is appended to the name of its stream."""
    kernels: ClassVar[tuple[str, ...]] = ()
    """Modules, beside its own, whose compiled kernels `measure` calls."""
    latency: float = 0.0
    """s, where the config leaves it to the sensor."""
    outages: tuple[tuple[float, float | None], ...] = ()
    """s, start and end of each time without what it measures; they are told as events."""

    @classmethod
    def from_config(cls, config: Any, period_s: float, folder: Path | None) -> Self:
        """folder: where the files of the scenario are."""
        return cls(config, period_s)  # type: ignore[call-arg]

    def enter(self, model: Model) -> None:
        """Called once with the world, before `details` and the first sample."""

    @abstractmethod
    def initial_state(self, rng: KeyedRandom) -> State:
        """The state at power-on; turn-on biases are drawn here."""

    @abstractmethod
    def measure(self, kinematics: Kinematics, scene: Scene, state: State, rng: KeyedRandom) -> tuple[Any, State]:
        """The sample due now and the state after it. It is called for every due time, in order."""

    def details(self) -> Details:
        """For `StreamInfo.details`: the numbers exactly as simulated, as plain data."""
        return {}

    def requests(self, kinematics: Kinematics, state: State) -> list[ViewRequest]:
        """The views that `measure` will ask for, so that all cameras due at an instant are rendered together."""
        return []

    def truth(self, state: State, t_ns: int) -> Any:
        """The ground-truth companion record of the last sample, of class `truth_message`."""
        return None

    def disturbed(self, sample: Any, field: str, error: Array) -> Any:
        """The sample with the error of a fault added to one field."""
        return add_error(sample, field, error)

    def aimed(self, state: State, aim: Any) -> State:
        """The state after its gimbal was turned."""
        raise NoGimbal

    def present_aim(self, state: State) -> Any:
        """Where its gimbal is turned to; None without one."""
        return None


class CompletedSensor(Sensor[Any]):
    """A sensor from a user's file that is no `Sensor`: what it lacks has the defaults of `Sensor`."""

    def __init__(self, own: Any) -> None:
        self._own = own
        # what it lacks stays as in `Sensor`
        for name in ("message", "fault_fields", "independent", "stream", "latency", "details", "disturbed", "aimed",
                     "present_aim", "requests", "initial_state", "measure"):  # fmt: skip
            if hasattr(own, name):
                setattr(self, name, getattr(own, name))
        self.needs_views = "requests" in vars(self)
        # "hidden" was the word for it until 0.1
        for word in ("truth", "hidden"):
            message = getattr(own, f"{word}_message", None)
            if message is not None:
                self.truth_message = message
                setattr(self, "truth", getattr(own, word))  # noqa: B010 - mypy refuses to assign to a method

    def initial_state(self, rng: KeyedRandom) -> Any:
        return self._own.initial_state(rng)

    def measure(self, kinematics: Kinematics, scene: Scene, state: Any, rng: KeyedRandom) -> tuple[Any, Any]:
        measured: tuple[Any, Any] = self._own.measure(kinematics, scene, state, rng)
        return measured


class MountConfig(BaseModel):
    """Where a sensor sits on the vehicle, and how it is turned."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    position: Lever = (0.0, 0.0, 0.0)
    """m, from the body origin, in body axes (forward, left, up)."""
    rotation_deg: tuple[Degrees, Degrees, Degrees] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw of the sensor's axes in the body: first yaw about up, then pitch about left, then roll. [0, 90,
    0] looks down."""

    def mount(self) -> Mount:
        return Mount(np.array(self.position), quat_from_euler(*np.radians(self.rotation_deg)))


class SensorConfig(BaseModel):
    """The fields that every sensor has. One with a name adds `kind`, a Literal of that name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    if TYPE_CHECKING:
        kind: str
    rate_hz: float | str
    """Samples per second; a fraction such as "30000/1001" is kept exactly."""
    mount: MountConfig = MountConfig()
    """Where the sensor sits on the vehicle."""
    latency: Delay = 0.0
    """s, the time from the instant a sample describes to the instant it may be read."""
    faults: tuple[Fault, ...] = ()
    """The sensor's faults and their times."""

    @field_validator("rate_hz")
    @classmethod
    def _rate_is_usable(cls, value: float | str) -> float | str:
        try:
            Rate.from_hz(value)
        except (ScenarioError, ZeroDivisionError) as error:
            raise ValueError(f"{error}; give a positive number or a fraction such as 30000/1001") from None
        return value


Numbers = TypeVar("Numbers", bound="DataclassInstance")


def numbers_of(config: SensorConfig, presets: dict[str, Numbers]) -> Numbers:
    """The preset's numbers, replaced by those that the config gives."""
    stated = dict(config)
    preset = presets[stated["preset"]]
    return replace(preset, **{f.name: stated[f.name] for f in fields(preset) if stated[f.name] is not None})


def plain(numbers: DataclassInstance) -> Details:
    """A record of numbers as data for any format: infinity becomes None, tuples become lists."""
    return {name: _plain_value(value) for name, value in asdict(numbers).items()}


def _plain_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain_value(part) for part in value]
    return None if isinstance(value, float) and isinf(value) else value


_A = float64[::1]
# the truth is read-only; writable arrays are accepted as well
_IN = readonly(float64, 1)


@kernel(void(types.UniTuple(_IN, 6), types.UniTuple(_A, 2), types.UniTuple(_A, 5)))
def _move_to_mount(body, mount, out):
    """p + R r, v + R (w × r), a + R (alpha × r + w × (w × r)); rates turned into sensor axes."""
    p, v, q, w, a, alpha = body
    arm, q_BS = mount
    p_out, v_out, q_out, w_out, a_out = out
    px, py, pz = to_world(q[0], q[1], q[2], q[3], arm[0], arm[1], arm[2])
    wrx, wry, wrz = cross(w[0], w[1], w[2], arm[0], arm[1], arm[2])
    vx, vy, vz = to_world(q[0], q[1], q[2], q[3], wrx, wry, wrz)
    tx, ty, tz = cross(alpha[0], alpha[1], alpha[2], arm[0], arm[1], arm[2])
    cx, cy, cz = cross(w[0], w[1], w[2], wrx, wry, wrz)
    ax, ay, az = to_world(q[0], q[1], q[2], q[3], tx + cx, ty + cy, tz + cz)
    p_out[0], p_out[1], p_out[2] = p[0] + px, p[1] + py, p[2] + pz
    v_out[0], v_out[1], v_out[2] = v[0] + vx, v[1] + vy, v[2] + vz
    a_out[0], a_out[1], a_out[2] = a[0] + ax, a[1] + ay, a[2] + az
    w_out[0], w_out[1], w_out[2] = to_world(q_BS[0], -q_BS[1], -q_BS[2], -q_BS[3], w[0], w[1], w[2])
    ux, uy, uz = cross(q[1], q[2], q[3], q_BS[1], q_BS[2], q_BS[3])
    q_out[0] = q[0] * q_BS[0] - q[1] * q_BS[1] - q[2] * q_BS[2] - q[3] * q_BS[3]
    q_out[1] = q[0] * q_BS[1] + q[1] * q_BS[0] + ux
    q_out[2] = q[0] * q_BS[2] + q[2] * q_BS[0] + uy
    q_out[3] = q[0] * q_BS[3] + q[3] * q_BS[0] + uz


def kinematics_at(state: VehicleState, mount: Mount) -> Kinematics:
    """The exact motion of a mounted sensor, lever arm included."""
    empty = np.empty
    body = (
        state.position, state.velocity_world, state.quat_wxyz, state.angular_velocity_body, state.acceleration_world,
        state.angular_acceleration_body,
    )  # fmt: skip
    moved = (empty(3), empty(3), empty(4), empty(3), empty(3))
    _move_to_mount(body, (mount.position, mount.quat_wxyz), moved)
    return Kinematics(state.t_ns, *moved, state.wind_world)
