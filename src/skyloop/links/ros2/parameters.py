"""Parameters of our node: what of the scenario can change in flight, and a few facts that can only be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel

from skyloop.core.validation import validated
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.links.ros2.participant import Participant
from skyloop.links.ros2.rtps.server import NODE
from skyloop.links.ros2.services import Fields, Services
from skyloop.recording.ros2.tf_frames import stamp
from skyloop.recording.ros2.types import RosMessage, encode, rcl_interfaces
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import VehiclePort
from skyloop_client.errors import ScenarioError, SkyloopError, nearest_name
from skyloop_client.schema import field_notes

Value = bool | int | float | str | list[float]
NOT_SET, BOOL, INTEGER, DOUBLE, STRING, INTEGERS, DOUBLES = 0, 1, 2, 3, 4, 7, 8
TYPES: dict[type, int] = {bool: BOOL, int: INTEGER, float: DOUBLE, str: STRING, list: DOUBLES}
WORDS = {bool: "a truth value", int: "an integer", float: "a number", str: "a text", list: "a list of numbers"}
ROOT = f"/{NODE}"
MOST_ASKED = 1000
"""Names or values of one request."""
STRONGEST_WIND = 100.0
"""m/s."""
NONE = "none"
"""The value of a fault's parameter without a fault."""
SENSOR_FAULTS = (
    "none, off, stuck, or with numbers: 'bias value=0.1', 'spike value=1 probability=0.01', 'delay delay=0.2', "
    "'dropout probability=0.5'; field=NAME for a bias or a spike of another field"
)
ROTOR_FAULTS = "none, or with a number: 'lost value=0.5' (share of thrust left), 'stuck value=0.2', 'slow value=10'"


@dataclass(frozen=True, slots=True)
class Setting:
    get: Callable[[], Value]
    put: Callable[[Any], None] | None
    """None: it can only be read."""
    text: str
    low: float = -math.inf
    high: float = math.inf

    def fitting(self, name: str, value: Value | None) -> Value:
        """The value in the setting's own type; a ScenarioError of one line if it does not fit."""
        if self.put is None:
            raise ScenarioError(f"{name} can only be read")
        own = self.get()
        # on a command line 2 is an integer, and YAML takes off for a truth value
        if isinstance(own, float) and type(value) is int:
            value = float(value)
        if isinstance(own, str) and value is False:
            value = "off"
        if type(value) is not type(own):
            raise ScenarioError(f"{name} is {WORDS[type(own)]}, not {WORDS.get(type(value), 'nothing')}")
        if isinstance(own, list) and isinstance(value, list) and len(value) != len(own):
            raise ScenarioError(f"{name} has {len(own)} numbers, not {len(value)}")
        if isinstance(value, int | float | list):
            numbers = np.asarray(value, float)
            if not (np.isfinite(numbers).all() and (numbers >= self.low).all() and (numbers <= self.high).all()):
                raise ScenarioError(f"{name} is {value}; give {self.low:g} to {self.high:g}")
        return value


# ---- what there is


def settings_of(port: SimulationPort, gate: LinkGate, facts: Mapping[str, Value]) -> dict[str, Setting]:
    """By name. `facts` can only be read; one named `wind` stands in place of the setting."""
    found = dict(_of_the_world(port, gate))
    for vehicle in port.vehicles.values():
        found |= _of_a_vehicle(vehicle)
    return found | {name: Setting(partial(_same, value), None, "of the scenario") for name, value in facts.items()}


def _same(value: Value) -> Value:
    return value


def _of_the_world(port: SimulationPort, gate: LinkGate) -> Iterator[tuple[str, Setting]]:
    editor = port.editor

    def set_pace(factor: float) -> None:
        gate.pace = Pace(factor or None, give_up_s=gate.pace.give_up_s)

    text = "simulated seconds per second; 0: real time, or no limit where time waits for a node"
    yield "pace", Setting(lambda: float(gate.pace.factor or 0.0), set_pace, text, 0.0, 1e3)
    text = "its stamps are simulated time, which it publishes on /clock"
    yield "use_sim_time", Setting(lambda: True, None, text)
    text = "m/s, the mean velocity of the air over ground, east, north, up; the scenario's gusts stay"
    yield (
        "wind",
        Setting(
            lambda: editor.wind.tolist(), lambda velocity: editor.set_wind(np.array(velocity)), text, -STRONGEST_WIND,
            STRONGEST_WIND,
        ),
    )  # fmt: skip
    yield from _of_a_model("weather", lambda: editor.weather, editor.set_weather)


def _of_a_vehicle(vehicle: VehiclePort) -> Iterator[tuple[str, Setting]]:
    name, faults = vehicle.name, vehicle.faults
    yield from _of_a_model(f"{name}.limits", lambda: vehicle.limits, vehicle.set_limits)
    yield from _of_a_model(f"{name}.failsafes", lambda: vehicle.failsafes, vehicle.set_failsafes)
    if vehicle.geometry.voltage_full:
        text = "state of charge of the battery, 1 being full"
        yield (
            f"{name}.charge",
            Setting(lambda: float(vehicle.battery.state_of_charge), faults.set_charge, text, 0.0, 1.0),
        )
    for stream in faults.sensors:
        yield (
            f"{stream.replace('/', '.')}.fault",
            Setting(partial(_sensor_fault, vehicle, stream), partial(_fail_sensor, vehicle, stream), SENSOR_FAULTS),
        )
    for rotor in range(vehicle.geometry.n_rotors):
        yield (
            f"{name}.rotor{rotor}.fault",
            Setting(partial(_rotor_fault, vehicle, rotor), partial(_fail_rotor, vehicle, rotor), ROTOR_FAULTS),
        )


def _of_a_model(
    name: str, present: Callable[[], BaseModel], change: Callable[..., None]
) -> Iterator[tuple[str, Setting]]:
    """The fields of a configuration."""
    model = type(present())
    notes = field_notes(model)

    def get(field: str) -> Value:
        value = dict(present())[field]
        return list(value) if isinstance(value, tuple) else value

    def put(field: str, value: Value) -> None:
        validated(model, {**present().model_dump(), field: value}, name)
        change(**{field: value})

    for field, about in model.model_fields.items():
        low, high = _bounds(about.metadata)
        yield (
            f"{name}.{field}",
            Setting(
                partial(get, field), partial(put, field), " ".join(notes.get(field, "").split()),
                low, high,
            ),
        )  # fmt: skip


def _bounds(metadata: Sequence[object]) -> tuple[float, float]:
    low, high = -math.inf, math.inf
    for bound in metadata:
        match bound:
            case Ge(ge=float() | int() as least) | Gt(gt=float() | int() as least):
                low = float(least)
            case Le(le=float() | int() as most) | Lt(lt=float() | int() as most):
                high = float(most)
    return low, high


# ---- faults as texts


def _fault_from(text: str) -> tuple[str | None, dict[str, object]]:
    """Such as `bias value=0.1`: the kind, None for no fault, and its numbers."""
    kind, *rest = text.split() or [NONE]
    numbers: dict[str, object] = {}
    for word in rest:
        name, equals, given = word.partition("=")
        if not equals:
            raise ScenarioError(f"'{word[:40]}' is no NAME=NUMBER")
        try:
            values = [float(one) for one in given.split(",")]
            numbers[name] = values[0] if len(values) == 1 else values
        except ValueError:
            numbers[name] = given
    return None if kind == NONE else kind, numbers


def _text_of(fault: BaseModel | None, *shown: str) -> str:
    if fault is None:
        return NONE
    fields = {name: value for name, value in fault if name in shown and value is not None}
    return " ".join([str(dict(fault)["kind"]), *(f"{name}={_number(value)}" for name, value in fields.items())])


def _number(value: object) -> str:
    return ",".join(f"{one:g}" for one in value) if isinstance(value, tuple) else str(value)


def _sensor_fault(vehicle: VehiclePort, stream: str) -> str:
    return _text_of(vehicle.faults.sensors[stream], "value", "probability", "delay", "field")


def _fail_sensor(vehicle: VehiclePort, stream: str, text: str) -> None:
    kind, numbers = _fault_from(text)
    vehicle.faults.fail_sensor(stream, kind, **numbers)


def _rotor_fault(vehicle: VehiclePort, rotor: int) -> str:
    return _text_of(vehicle.faults.of_rotor(rotor), "value")


def _fail_rotor(vehicle: VehiclePort, rotor: int, text: str) -> None:
    kind, numbers = _fault_from(text)
    value = numbers.pop("value", 0.0)
    if numbers or not isinstance(value, float):
        raise ScenarioError(f"'{text[:80]}' is no fault of a rotor; give {ROTOR_FAULTS}")
    before = vehicle.faults.of_rotor(rotor)
    vehicle.faults.fail_rotor(rotor, None)
    try:
        if kind is not None:
            vehicle.faults.fail_rotor(rotor, kind, value)
    except SkyloopError:
        if before is not None:
            vehicle.faults.fail_rotor(rotor, before.kind, before.value)
        raise


# ---- as ROS has them


def as_ros(value: Value | None) -> RosMessage:
    """A ParameterValue; None: not set."""
    kind = NOT_SET if value is None else TYPES[type(value)]
    return rcl_interfaces.ParameterValue(
        kind, kind == BOOL and value, value if kind == INTEGER else 0, value if kind == DOUBLE else 0.0,
        value if kind == STRING else "", np.zeros(0, np.uint8), np.zeros(0, bool), np.zeros(0, np.int64),
        np.array(value if kind == DOUBLES else [], float), [],
    )  # fmt: skip


def from_ros(value: RosMessage) -> Value | None:
    """None: not set, or of a type that no setting has."""
    given: dict[int, Value] = {
        BOOL: value.bool_value, INTEGER: value.integer_value, DOUBLE: value.double_value, STRING: value.string_value,
        INTEGERS: value.integer_array_value.astype(float).tolist(), DOUBLES: value.double_array_value.tolist(),
    }  # fmt: skip
    return given.get(value.type)


def descriptor(name: str, setting: Setting | None) -> RosMessage:
    if setting is None:
        return rcl_interfaces.ParameterDescriptor(name, NOT_SET, "", "", False, False, [], [])
    value = setting.get()
    bounded = math.isfinite(setting.low) and math.isfinite(setting.high)
    reals, integers = [], []
    if bounded and type(value) is int:
        integers = [rcl_interfaces.IntegerRange(int(setting.low), int(setting.high), 1)]
    elif bounded:
        reals = [rcl_interfaces.FloatingPointRange(setting.low, setting.high, 0.0)]
    above = "" if bounded or math.isinf(setting.low) else f"above {setting.low:g}"
    read_only = setting.put is None
    return rcl_interfaces.ParameterDescriptor(
        name, TYPES[type(value)], setting.text, above, read_only, False, reals, integers
    )


def listed(names: Sequence[str], prefixes: Sequence[str], depth: int) -> tuple[list[str], list[str]]:
    """As rclcpp does: the names below any of the prefixes, no deeper than `depth` (0: all), and their own prefixes."""

    def is_in(name: str) -> bool:
        if not prefixes:
            return not depth or name.count(".") < depth
        below = [name[len(prefix) + 1 :] for prefix in prefixes if name.startswith(f"{prefix}.")]
        return name in prefixes or any(not depth or rest.count(".") < depth for rest in below)

    found = [name for name in names if is_in(name)]
    return found, sorted({name.rpartition(".")[0] for name in found if "." in name})


class Parameters:
    """The six services by which `ros2 param` and clients find, read and set them, and /parameter_events."""

    def __init__(
        self, port: SimulationPort, gate: LinkGate, services: Services, participant: Participant,
        facts: Mapping[str, Value],
    ) -> None:  # fmt: skip
        self._port, self._gate, self._facts = port, gate, facts
        self._node = participant.settings.full(ROOT)
        self._events = participant.writer("/parameter_events", "rcl_interfaces/msg/ParameterEvent", "state")
        for name, kind, answer in (
            ("list_parameters", "ListParameters", self._list),
            ("get_parameters", "GetParameters", self._get),
            ("get_parameter_types", "GetParameterTypes", self._types),
            ("set_parameters", "SetParameters", self._set),
            ("set_parameters_atomically", "SetParametersAtomically", self._set_together),
            ("describe_parameters", "DescribeParameters", self._describe),
        ):
            services.simple(f"{ROOT}/{name}", f"rcl_interfaces/srv/{kind}", answer)

    def _table(self) -> dict[str, Setting]:
        """Made anew, because vehicles may join."""
        return settings_of(self._port, self._gate, self._facts)

    def _list(self, asked: RosMessage) -> Fields:
        names, prefixes = listed(sorted(self._table()), asked.prefixes[:MOST_ASKED], int(asked.depth))
        return (rcl_interfaces.ListParametersResult(names, prefixes),)

    def _values(self, asked: RosMessage) -> list[Value | None]:
        table = self._table()
        return [table[name].get() if name in table else None for name in asked.names[:MOST_ASKED]]

    def _get(self, asked: RosMessage) -> Fields:
        return ([as_ros(value) for value in self._values(asked)],)

    def _types(self, asked: RosMessage) -> Fields:
        return (np.array([as_ros(value).type for value in self._values(asked)], np.uint8),)

    def _describe(self, asked: RosMessage) -> Fields:
        table = self._table()
        return ([descriptor(name, table.get(name)) for name in asked.names[:MOST_ASKED]],)

    def _set(self, asked: RosMessage) -> Fields:
        return ([self._change([one]) for one in asked.parameters[:MOST_ASKED]],)

    def _set_together(self, asked: RosMessage) -> Fields:
        return (self._change(asked.parameters[:MOST_ASKED]),)

    def _change(self, given: list[RosMessage]) -> RosMessage:
        """All of them or none."""
        table, changed = self._table(), []
        before: list[tuple[Setting, Value]] = []
        try:
            for one in given:
                setting = table.get(one.name)
                if setting is None:
                    raise ScenarioError(f"no parameter '{one.name[:80]}'; {nearest_name(one.name[:80], table)[:200]}")
                value = setting.fitting(one.name, from_ros(one.value))
                assert setting.put is not None
                before.append((setting, setting.get()))
                setting.put(value)
                changed.append(rcl_interfaces.Parameter(one.name, as_ros(value)))
        except SkyloopError as error:
            for setting, old in reversed(before):
                if setting.put is not None and setting.get() != old:
                    setting.put(old)
            return rcl_interfaces.SetParametersResult(False, " ".join(str(error).split()))
        if changed and self._events.is_wanted:
            now = stamp(self._port.now_ns)
            self._events.send(encode(rcl_interfaces.ParameterEvent(now, self._node, [], changed, [])))
        return rcl_interfaces.SetParametersResult(True, "")
