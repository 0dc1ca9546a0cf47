"""Flies a scenario with an external autopilot: PX4, ArduPilot or Betaflight. Behind `skyloop run --autopilot`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skyloop.apps.run import Progress, Watch, run_scenario
from skyloop.core.frames import GeoPoint
from skyloop.links.autopilots import ardupilot, betaflight, px4
from skyloop.links.autopilots.betaflight import Sticks
from skyloop.links.autopilots.betaflight_build import betaflight_program
from skyloop.links.autopilots.launching import (
    AutopilotSpec,
    ardupilot_process,
    betaflight_process,
    program_at,
    px4_process,
    read_spec,
)
from skyloop.links.autopilots.rc_pilot import Leg, RcPilot
from skyloop.links.autopilots.serial_line import BAUD, SerialLine
from skyloop.links.link_gate import Link, LinkGate
from skyloop.links.pace import Pace
from skyloop.links.sockets import Datagrams, OnePeer
from skyloop.sim.scenario import Scenario, Vehicle, make_scenario
from skyloop_client.errors import LinkError
from skyloop_client.streams import Rate

RATES_HZ = {"px4": 250.0, "px4-serial": 250.0, "betaflight": 1000.0}
"""Rate of the IMU for each autopilot. ArduPilot gets the truth and adds its own noise."""
MISSING: dict[str, dict[str, Any]] = {
    "imu": {"kind": "imu"},
    "gnss": {"kind": "gnss", "rate_hz": 10, "latency": 0.01},
    "barometer": {"kind": "barometer", "preset": "gazebo", "rate_hz": 50},
    "magnetometer": {"kind": "magnetometer", "rate_hz": 50},
}
"""Sensors without which PX4 does not arm. They are added if the vehicle has none of the kind.

PX4 in simulation assumes a GNSS delay of 10 ms."""
LEAST_HOVER_S, LAND_BEFORE_END_S = 8.0, 14.0
"""For the default flight with Betaflight, which needs some seconds to arm and some to descend."""
FOREVER_S = 1e9


@dataclass(frozen=True, slots=True)
class AutopilotOptions:
    host: str = "127.0.0.1"
    port: int | None = None
    """The port for the first vehicle's autopilot. Default: the autopilot's own. 0: any free one."""
    pace: float | None = 1.0
    """Most simulated s per wall s, because ground stations run in real time. None: as fast as the autopilot answers."""
    baud: int = BAUD
    """Baud rate of a serial line."""
    px4: px4.Px4Options = field(default_factory=px4.Px4Options)
    ardupilot: ardupilot.ArdupilotOptions = field(default_factory=ardupilot.ArdupilotOptions)
    betaflight: betaflight.BetaflightOptions = field(default_factory=betaflight.BetaflightOptions)
    rc: Sticks | None = None
    """Flies Betaflight through its sticks. Default: up to 2 m, and down again before the end."""


def run_with_autopilot(
    scenario: Scenario,
    folder: Path,
    spec: str | AutopilotSpec,
    options: AutopilotOptions | None = None,
    *,
    progress: Progress = lambda t: None,
    opened: Callable[[str], None] = lambda address: None,
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Start one autopilot per vehicle, fly, and stop them. Returns the summary that is also in `summary.json`.

    `opened` is called with the address for each autopilot."""
    options = options or AutopilotOptions()
    spec = read_spec(spec) if isinstance(spec, str) else spec
    scenario = prepared(scenario, spec.kind)
    if spec.kind in ("betaflight", "px4-serial") and len(scenario.vehicles) > 1:
        raise LinkError(f"{spec.kind} flies one vehicle, the scenario has {len(scenario.vehicles)}")
    link_gate = LinkGate(Pace(options.pace))
    try:
        for number, vehicle in enumerate(scenario.vehicles):
            name = spec.kind if number == 0 else f"{spec.kind}-{number}"
            link, address = autopilot_link(scenario, vehicle, number, spec, options, link_gate)
            link_gate.links[name] = link
            opened(address)
        return run_scenario(scenario, folder, progress, link_gate, watch)
    finally:
        for link in link_gate.links.values():
            link.line.close()  # type: ignore[attr-defined]
            target = link.target  # type: ignore[attr-defined]
            if target is not None:
                target.stop()


def prepared(scenario: Scenario, kind: str) -> Scenario:
    """The scenario without our pilots and failsafes, with the sensors and rates that the autopilot needs."""
    return scenario.model_copy(update={"vehicles": [prepared_vehicle(vehicle, kind) for vehicle in scenario.vehicles]})


def prepared_vehicle(vehicle: Vehicle, kind: str) -> Vehicle:
    sensors = dict(vehicle.sensors)
    if kind in RATES_HZ:
        kinds = {config.kind for config in sensors.values()}
        wanted = dict(MISSING) if kind.startswith("px4") else {"imu": MISSING["imu"]}
        if vehicle.px4.odometry is not None:
            # it flies on ODOMETRY; PX4 would prefer an added GNSS, also indoors
            wanted.pop("gnss", None)
        data = {name: {**config, "rate_hz": config.get("rate_hz", RATES_HZ[kind])} for name, config in wanted.items()}
        added = make_scenario({"vehicles": [{"sensors": data}]}).vehicles[0].sensors
        sensors |= {name: config for name, config in added.items() if config.kind not in kinds}
        for name, config in sensors.items():
            if config.kind == "imu" and (Rate.from_hz(config.rate_hz).hz / RATES_HZ[kind]) % 1.0:
                sensors[name] = config.model_copy(update={"rate_hz": RATES_HZ[kind]})
    failsafes = vehicle.failsafes.model_copy(update={"battery_action": "none", "estimate_timeout": FOREVER_S})
    return vehicle.model_copy(update={"pilot": None, "sensors": sensors, "failsafes": failsafes})


def autopilot_link(
    scenario: Scenario,
    vehicle: Vehicle,
    number: int,
    spec: AutopilotSpec,
    options: AutopilotOptions,
    link_gate: LinkGate,
) -> tuple[Link, str]:
    """The link of one vehicle, with its process if we start it, and its address."""
    earth, name = scenario.earth, vehicle.name
    home = GeoPoint(earth.latitude_deg, earth.longitude_deg, earth.altitude)
    inbox, host = link_gate.inbox, options.host
    link: Link
    line: SerialLine | OnePeer | Datagrams
    if spec.kind == "px4-serial":
        line = SerialLine(inbox, str(spec.path), options.baud)
        return px4.Px4(line, name, home, replace(_px4_options(vehicle, options), lockstep="none")), line.port
    if spec.kind == "px4":
        process = px4_process(spec, number) if spec.path is not None else None
        line = OnePeer(inbox, host, _port(options.port, px4.PORT, 1, number), "PX4")
        link = px4.Px4(line, name, home, _px4_options(vehicle, options), process)
    elif spec.kind == "ardupilot":
        heading = 90.0 - vehicle.yaw_deg
        process = ardupilot_process(spec, number, home, heading) if spec.path is not None else None
        line = Datagrams(inbox, host, _port(options.port, ardupilot.PORT, ardupilot.PORTS_APART, number), "ArduPilot")
        link = ardupilot.Ardupilot(line, name, options.ardupilot, process)
    else:
        program = betaflight_program() if spec.path is None else program_at(spec.path, "Betaflight")
        line = Datagrams(inbox, host, _port(options.port, betaflight.MOTORS_PORT, 0, number), "Betaflight")
        landing = max(LEAST_HOVER_S, scenario.duration - LAND_BEFORE_END_S)
        rc = options.rc or RcPilot([Leg(1.0), Leg(landing, land=True)])
        link = betaflight.Betaflight(line, name, home, rc, options.betaflight, betaflight_process(program))
    return link, f"{host}:{line.port}"


def _px4_options(vehicle: Vehicle, options: AutopilotOptions) -> px4.Px4Options:
    """The options, with the ODOMETRY that the scenario asks for unless they name another one."""
    told = vehicle.px4
    if options.px4.odometry is not None or told.odometry is None:
        return options.px4
    return replace(
        options.px4, odometry=told.odometry, odometry_frame=told.odometry_frame, odometry_rate_hz=told.odometry_rate_hz
    )


def _port(first: int | None, usual: int, apart: int, number: int) -> int:
    return 0 if first == 0 else (usual if first is None else first) + apart * number
