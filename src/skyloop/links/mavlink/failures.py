"""Failures of sensors, motors and the battery that a client injects with MAV_CMD_INJECT_FAILURE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skyloop.links.autopilots.motor_handover import motor_order
from skyloop.links.mavlink.command_context import Commanded, Handler
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.incoming_command import ACCEPTED, UNSUPPORTED, MavCommand
from skyloop.links.mavlink.system import System
from skyloop_client.errors import LinkError, ScenarioError, SetpointError
from skyloop_client.messages import EventKind

DELAY_S = 0.5
"""Delay of a DELAYED sensor."""
GAPS = 0.5
"""Share of samples that an INTERMITTENT sensor loses."""
SLOWER = 10.0
"""Factor on the time constants of a SLOW motor."""
GARBAGE = 10.0
"""Factor on the error of a GARBAGE sensor, with changing signs. The error itself is that of a WRONG sensor."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A kind of sensor that can fail."""

    record: str
    """Class of its samples."""
    field: str | None
    """The field that a WRONG failure disturbs."""
    error: float
    """Size of the disturbance in the field's unit."""
    word: str


SENSORS = {
    mavlink.FAILURE_UNIT_SENSOR_GYRO: Unit("ImuSample", "angular_velocity", 0.3, "gyroscope"),
    mavlink.FAILURE_UNIT_SENSOR_ACCEL: Unit("ImuSample", "specific_force", 3.0, "accelerometer"),
    mavlink.FAILURE_UNIT_SENSOR_MAG: Unit("MagnetometerSample", "field_tesla", 2e-5, "magnetometer"),
    mavlink.FAILURE_UNIT_SENSOR_BARO: Unit("BarometerSample", "pressure", 600.0, "barometer"),
    mavlink.FAILURE_UNIT_SENSOR_GPS: Unit("GnssFix", "position", 50.0, "GNSS receiver"),
    mavlink.FAILURE_UNIT_SENSOR_OPTICAL_FLOW: Unit("OpticalFlowSample", None, 0.5, "optical flow sensor"),
    mavlink.FAILURE_UNIT_SENSOR_DISTANCE_SENSOR: Unit("RangeSample", "distance", 2.0, "rangefinder"),
}


def sensor_fault(unit: Unit, failure: int) -> dict[str, Any] | None:
    """The fault for a FAILURE_TYPE, or None if there is none."""
    field = {} if unit.field is None else {"field": unit.field}
    faults: dict[int, dict[str, Any]] = {
        mavlink.FAILURE_TYPE_OK: {"kind": None},
        mavlink.FAILURE_TYPE_OFF: {"kind": "off"},
        mavlink.FAILURE_TYPE_STUCK: {"kind": "stuck"},
        mavlink.FAILURE_TYPE_GARBAGE: {"kind": "spike", "probability": 1.0, "value": GARBAGE * unit.error, **field},
        mavlink.FAILURE_TYPE_WRONG: {"kind": "bias", "value": unit.error, **field},
        mavlink.FAILURE_TYPE_DELAYED: {"kind": "delay", "delay": DELAY_S},
        mavlink.FAILURE_TYPE_INTERMITTENT: {"kind": "dropout", "probability": GAPS},
    }
    return faults.get(failure)


def inject_failure(vehicle: Commanded, command: MavCommand) -> int:
    """Param 1 a FAILURE_UNIT, param 2 a FAILURE_TYPE, param 3 the instance (0: all). Needs SYS_FAILURE_EN."""
    system = vehicle.system
    unit, failure, instance = (command.integer(k) for k in (1, 2, 3))
    if not system.settings.failures_enabled:
        raise SetpointError("failure injection is off; set SYS_FAILURE_EN to 1")
    try:
        if unit == mavlink.FAILURE_UNIT_SYSTEM_MOTOR:
            return _fail_motors(system, failure, instance)
        if unit == mavlink.FAILURE_UNIT_SYSTEM_BATTERY:
            return _fail_battery(system, failure)
        if unit in SENSORS:
            return _fail_sensors(system, SENSORS[unit], failure, instance)
    except ScenarioError as error:
        raise SetpointError(str(error)) from None
    return int(UNSUPPORTED)


def _fail_sensors(system: System, unit: Unit, failure: int, instance: int) -> int:
    fault = sensor_fault(unit, failure)
    if fault is None:
        return int(UNSUPPORTED)
    own = [
        info.name
        for info in system.bus.infos.values()
        if (info.vehicle, info.message) == (system.port.name, unit.record) and not info.name.startswith("truth/")
    ]
    streams = own if instance <= 0 else own[instance - 1 : instance]
    if not streams:
        which = f"{unit.word} {instance}" if own else unit.word
        raise SetpointError(f"there is no {which} on this vehicle that could fail")
    for stream in streams:
        system.port.faults.fail_sensor(stream, **fault)
    _say(system, f"{unit.word} {fault['kind'] or 'ok'}")
    return int(ACCEPTED)


def _fail_motors(system: System, failure: int, instance: int) -> int:
    geometry, faults = system.port.geometry, system.port.faults
    try:
        order = motor_order(geometry.rotor_positions, geometry.rotor_spins)
    except LinkError:
        order = list(range(geometry.n_rotors))
    if instance > geometry.n_rotors:
        raise SetpointError(f"there is no motor {instance}; there are {geometry.n_rotors}")
    rotors = range(geometry.n_rotors) if instance <= 0 else [order.index(instance - 1)]
    for rotor in rotors:
        if failure == mavlink.FAILURE_TYPE_OK:
            faults.fail_rotor(rotor, None)
        elif failure == mavlink.FAILURE_TYPE_OFF:
            faults.fail_rotor(rotor, "stuck", 0.0)
        elif failure == mavlink.FAILURE_TYPE_STUCK:
            faults.stick_rotor(rotor)
        elif failure == mavlink.FAILURE_TYPE_SLOW:
            faults.fail_rotor(rotor, "slow", SLOWER)
        else:
            return int(UNSUPPORTED)
    which = "every motor" if instance <= 0 else f"motor {instance}"
    _say(system, f"{which} {mavlink.enums['FAILURE_TYPE'][failure].name.removeprefix('FAILURE_TYPE_').lower()}")
    return int(ACCEPTED)


def _fail_battery(system: System, failure: int) -> int:
    """As in PX4, a battery that is off counts as an empty one."""
    if failure == mavlink.FAILURE_TYPE_OFF:
        system.port.faults.set_charge(0.0)
    elif failure == mavlink.FAILURE_TYPE_OK:
        system.port.faults.set_charge(1.0)
    else:
        return int(UNSUPPORTED)
    _say(system, "battery off" if failure == mavlink.FAILURE_TYPE_OFF else "battery ok")
    return int(ACCEPTED)


def _say(system: System, what: str) -> None:
    system.say(EventKind.MISSION, f"failure injected: {what}")


FAILURE_COMMANDS: dict[int, Handler] = {mavlink.MAV_CMD_INJECT_FAILURE: inject_failure}
