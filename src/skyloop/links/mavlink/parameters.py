"""The parameters, under PX4's names where those exist and SKY_ otherwise. Some are fixed and can only be read.

Integers travel as their bytes inside a float, as in PX4 (MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter

from skyloop.links.mavlink.dialect import MavMessage, field_of, mavlink, sender_of
from skyloop.links.mavlink.system import MavlinkSettings, System
from skyloop_client.messages import EventKind

REAL, INTEGER = mavlink.MAV_PARAM_TYPE_REAL32, mavlink.MAV_PARAM_TYPE_INT32
BATTERY_ACTIONS = {0: "none", 2: "land", 3: "home"}
"""Of COM_LOW_BAT_ACT."""
FENCE_ACTIONS = (0, 1, 2, 3, 5)
LINK_ACTIONS = (0, 2, 3)
INTEGERS = {field.name for field in fields(MavlinkSettings) if field.type == "int"}
FULL_CELL = 4.2
"""V."""


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    get: Callable[[], float]
    put: Callable[[float], None] | None
    """None: read-only."""
    text: str
    low: float = 0.0
    high: float = 0.0
    kind: int = REAL
    among: tuple[float, ...] = ()

    def takes(self, value: float) -> bool:
        if self.put is None or not math.isfinite(value):
            return False
        return value in self.among if self.among else self.low <= value <= self.high


def table(system: System) -> dict[str, Parameter]:
    """All parameters of a vehicle."""
    everything = [*_of_the_link(system), *_of_the_autopilot(system), *_of_the_controller(system), *_fixed(system)]
    return {parameter.name: parameter for parameter in sorted(everything, key=lambda each: each.name)}


def _field(
    record: Callable[[], object], put: Callable[[str, float], None],
    name: str, field: str, text: str, low: float, high: float, *, among: tuple[float, ...] = (),
) -> Parameter:  # fmt: skip
    """The parameter of a field of a record. One with a list of values is an integer."""
    value = attrgetter(field)
    return Parameter(
        name, lambda: float(value(record())), partial(put, field), text, low, high,
        INTEGER if among else REAL, among,
    )  # fmt: skip


def _of_the_link(system: System) -> list[Parameter]:
    def put(field: str, value: float) -> None:
        setattr(system.settings, field, int(value) if field in INTEGERS else value)

    setting = partial(_field, lambda: system.settings, put)
    return [
        setting("MIS_TAKEOFF_ALT", "takeoff_altitude", "m, take-off height when none is named", 0.5, 500.0),
        setting("NAV_ACC_RAD", "acceptance_radius", "m from a waypoint at which it counts as reached", 0.1, 100.0),
        setting("NAV_MC_ALT_RAD", "acceptance_height", "m likewise, up and down", 0.1, 100.0),
        setting("COM_DISARM_PRFLT", "disarm_idle", "s armed on the ground before it disarms; 0: never", 0.0, 3600.0),
        setting("COM_DL_LOSS_T", "link_loss", "s of hovering without a client before NAV_DLL_ACT", 1.0, 3600.0),
        setting(
            "NAV_DLL_ACT", "link_action", "when all clients are gone: 0 nothing, 2 return, 3 land", 0, 3,
            among=LINK_ACTIONS,
        ),
        setting(
            "GF_ACTION", "fence_action", "0 none, 1 warn, 2 hold, 3 return, 5 land", 0, 5,
            among=FENCE_ACTIONS,
        ),
        setting("GF_MAX_HOR_DIST", "fence_distance", "m from home, 0: no fence", 0.0, 1e5),
        setting("GF_MAX_VER_DIST", "fence_height", "m above home, 0: no fence", 0.0, 1e5),
        setting("FLW_TGT_HT", "follow_height", "m above home or the target, when following", 1.0, 500.0),
        setting("FLW_TGT_DST", "follow_distance", "m from the target", 0.0, 500.0),
        setting("FLW_TGT_FA", "follow_angle_deg", "degrees to the right of the target's course", -180.0, 180.0),
        setting("FLW_TGT_RS", "follow_responsiveness", "0 to 1: how much of its motion is smoothed", 0.0, 1.0),
        setting("FLW_TGT_MAX_VEL", "follow_max_speed", "m/s while following", 0.1, 20.0),
        setting(
            "FLW_TGT_ALT_M", "follow_altitude_mode", "FLW_TGT_HT is above home: 0, 1; above the target: 2", 0, 2,
            among=(0, 1, 2),
        ),
        setting(
            "SYS_FAILURE_EN", "failures_enabled", "1: MAV_CMD_INJECT_FAILURE is obeyed", 0, 1,
            among=(0, 1),
        ),
    ]  # fmt: skip


def _of_the_autopilot(system: System) -> list[Parameter]:
    port = system.port
    failsafe = partial(_field, lambda: port.failsafes, lambda field, value: port.set_failsafes(**{field: value}))
    numbers = {action: number for number, action in BATTERY_ACTIONS.items()}
    return [
        failsafe("RTL_RETURN_ALT", "home_altitude", "m above home to return at, at least", 0.5, 500.0),
        failsafe("MPC_LAND_SPEED", "descent_speed", "m/s when landing", 0.1, 2.0),
        failsafe("BAT_CRIT_THR", "battery_low", "state of charge at which COM_LOW_BAT_ACT is done", 0.0, 0.9),
        failsafe("COM_OF_LOSS_T", "setpoint_timeout", "s without an offboard setpoint before it hovers", 0.1, 60.0),
        failsafe("SKY_OBL_LAND_T", "setpoint_land_after", "s of that hover before it lands", 0.1, 3600.0),
        failsafe("SKY_EST_LOSS_T", "estimate_timeout", "s without a valid estimate before it descends", 0.1, 60.0),
        Parameter(
            "COM_LOW_BAT_ACT",
            lambda: numbers[port.failsafes.battery_action],
            lambda value: port.set_failsafes(battery_action=BATTERY_ACTIONS[int(value)]),
            "at low battery: 0 nothing, 2 land, 3 return", kind=INTEGER, among=tuple(BATTERY_ACTIONS),
        ),
    ]  # fmt: skip


def _of_the_controller(system: System) -> list[Parameter]:
    port = system.port
    limit = partial(_field, lambda: port.limits, lambda field, value: port.set_limits(**{field: value}))
    return [
        limit("MPC_XY_CRUISE", "cruise_speed", "m/s towards goals", 0.1, 30.0),
        limit("MPC_XY_VEL_MAX", "speed", "m/s", 0.5, 40.0),
        limit("MPC_Z_VEL_MAX_UP", "climb", "m/s", 0.2, 20.0),
        limit("MPC_Z_VEL_MAX_DN", "descent", "m/s", 0.2, 10.0),
        limit("MPC_ACC_HOR", "acceleration", "m/s² that feedback may ask for", 0.5, 30.0),
        limit("MPC_TILTMAX_AIR", "tilt_deg", "degrees", 5.0, 80.0),
    ]


def _fixed(system: System) -> list[Parameter]:
    return [
        Parameter("MAV_SYS_ID", lambda: system.system_id, None, "system id; fixed", kind=INTEGER),
        Parameter("SYS_AUTOSTART", lambda: 4001, None, "PX4's generic quadcopter; fixed", kind=INTEGER),
        Parameter(
            "MPC_THR_HOVER", lambda: system.port.geometry.hover_throttle, None, "thrust that hovers, 0 to 1; fixed"
        ),
        *_of_the_setup(system),
    ]


def _of_the_setup(system: System) -> list[Parameter]:
    """QGroundControl needs these. Without them it reports missing parameters and asks for a set-up before flight."""
    full, empty = system.port.geometry.voltage_full, system.port.geometry.voltage_empty
    cells = max(1, round(full / FULL_CELL))
    integers = {
        "COM_RC_IN_MODE": (1, "no radio control, joysticks only; fixed"),
        "BAT1_SOURCE": (0, "the battery is measured; fixed"),
        "BAT1_N_CELLS": (cells, "cells of the battery; fixed"),
        "SYS_HAS_MAG": (1, "there is a compass; fixed"),
        **{f"CAL_{name}0_ID": (1, "calibrated; fixed") for name in ("ACC", "GYRO", "MAG")},
        **{f"RC_MAP_{name}": (0, "no channel; fixed") for name in ("PITCH", "ROLL", "THROTTLE", "YAW")},
    }
    volts = {
        "BAT1_V_CHARGED": (full / cells, "V of a full cell; fixed"),
        "BAT1_V_EMPTY": (empty / cells, "V of an empty cell; fixed"),
    }
    return [
        *(Parameter(name, partial(float, value), None, text, kind=INTEGER) for name, (value, text) in integers.items()),
        *(Parameter(name, partial(float, value), None, text) for name, (value, text) in volts.items()),
    ]


def encoded(value: float, kind: int) -> float:
    """The value as encoded in PARAM_VALUE."""
    return struct.unpack("<f", struct.pack("<i", int(value)))[0] if kind == INTEGER else value


def decoded(value: float, kind: int) -> float:
    """The value that PARAM_SET carries."""
    if kind == INTEGER:
        return float(struct.unpack("<i", struct.pack("<f", value))[0])
    return value


class Parameters:
    """The parameter protocol of one vehicle."""

    def __init__(self, system: System) -> None:
        self.table = table(system)
        self._system = system
        self._names = list(self.table)

    def value(self, name: str) -> MavMessage:
        """PARAM_VALUE."""
        parameter = self.table[name]
        index = self._names.index(name)
        return mavlink.MAVLink_param_value_message(
            name.encode(), encoded(parameter.get(), parameter.kind), parameter.kind, len(self.table), index
        )

    def all_values(self) -> list[MavMessage]:
        return [self.value(name) for name in self._names]

    def read(self, message: MavMessage) -> MavMessage:
        """Answer PARAM_REQUEST_READ, by name or by index."""
        if message.param_index >= 0:
            known = message.param_index < len(self._names)
            return self.value(self._names[message.param_index]) if known else self._error(message)
        name = _name(message)
        return self.value(name) if name in self.table else self._error(message)

    def put(self, message: MavMessage) -> MavMessage:
        """Handle PARAM_SET. The answer has the value after the change."""
        name = _name(message)
        parameter = self.table.get(name)
        if parameter is None:
            return self._error(message)
        # a client that does not know the type sends an integer as a plain float
        bytewise = parameter.kind == INTEGER and message.param_type == INTEGER
        value = decoded(message.param_value, INTEGER) if bytewise else message.param_value
        if parameter.takes(value):
            assert parameter.put is not None
            parameter.put(value)
        else:
            self._system.say(EventKind.REFUSED, f"{name} cannot be {value:g}")
        return self.value(name)

    def _error(self, message: MavMessage) -> MavMessage:
        index = field_of(message, "param_index", -1)
        return mavlink.MAVLink_param_error_message(
            *sender_of(message), _name(message).encode("ascii", "replace")[:16], index,
            mavlink.MAV_PARAM_ERROR_DOES_NOT_EXIST,
        )  # fmt: skip


def _name(message: MavMessage) -> str:
    name = message.param_id
    return (name if isinstance(name, str) else bytes(name).decode("ascii", "replace")).split("\0")[0]
