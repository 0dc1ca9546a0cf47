"""External autopilots as links: `--link px4:PATH`, `ardupilot:PATH`, `betaflight` and `px4-serial:DEVICE`."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from skyloop.links.autopilots import ardupilot, betaflight, px4
from skyloop.links.autopilots.ardupilot_wire import rangefinder_parameters
from skyloop.links.autopilots.launching import (
    ardupilot_process,
    betaflight_process,
    betaflight_program,
    program_at,
    px4_process,
)
from skyloop.links.autopilots.motor_handover import VehicleLink
from skyloop.links.autopilots.odometry import OdometryOptions
from skyloop.links.autopilots.rc_pilot import Leg, RcPilot
from skyloop.links.autopilots.vision_line import VisionLine
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Factor, Link, LinkConfig, home_of
from skyloop.links.sockets import BAUD, Datagrams, OnePeer, SerialLine
from skyloop.sim.scenario import Scenario, Vehicle, make_scenario
from skyloop_client.errors import LinkError, unknown_name
from skyloop_client.streams import Rate

SENSORS: dict[str, dict[str, object]] = {
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


class AutopilotConfig(LinkConfig):
    """One autopilot for each vehicle. Our pilots and failsafes are off."""

    bare: ClassVar[str] = "program"
    shares_command: ClassVar[bool] = False
    may_repeat: ClassVar[bool] = True
    imu_hz: ClassVar[float | None] = None
    """ArduPilot gets the truth and adds its own noise."""
    added: ClassVar[Sequence[str]] = ()
    """Of `SENSORS`."""

    pace: Factor = 1.0
    """Ground stations run in real time. None: as fast as the autopilot answers."""
    program: str = ""
    """The program or PX4's build folder, and further arguments. Empty: the user starts the autopilot."""
    vehicle: str = ""
    """The vehicle that it flies. Empty: all."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int | None = None
    """The port for the first vehicle's autopilot. Default: the autopilot's own. 0: any free one."""

    def flown(self, scenario: Scenario) -> frozenset[str]:
        return frozenset(vehicle.name for vehicle in self._flown(scenario))

    def _flown(self, scenario: Scenario) -> list[Vehicle]:
        names = [vehicle.name for vehicle in scenario.vehicles]
        if self.vehicle and self.vehicle not in names:
            raise unknown_name("vehicle", self.vehicle, names)
        return [vehicle for vehicle in scenario.vehicles if self.vehicle in ("", vehicle.name)]

    def prepared(self, scenario: Scenario) -> Scenario:
        flown = self.flown(scenario)
        vehicles = [self.prepared_vehicle(each) if each.name in flown else each for each in scenario.vehicles]
        return scenario.model_copy(update={"vehicles": vehicles})

    def prepared_vehicle(self, vehicle: Vehicle) -> Vehicle:
        """Without our pilot and failsafes, with the sensors and rates that the autopilot needs."""
        sensors = dict(vehicle.sensors)
        wanted = {name: SENSORS[name] for name in self.added}
        if self.flies_on(vehicle) is not None:
            # also indoors PX4 would prefer an added GNSS
            wanted.pop("gnss", None)
        if self.imu_hz is not None:
            kinds = {config.kind for config in sensors.values()}
            data = {name: {"rate_hz": self.imu_hz, **config} for name, config in wanted.items()}
            added = make_scenario({"vehicles": [{"sensors": data}]}).vehicles[0].sensors
            sensors |= {name: config for name, config in added.items() if config.kind not in kinds}
            for name, config in sensors.items():
                if config.kind == "imu" and (Rate.from_hz(config.rate_hz).hz / self.imu_hz) % 1.0:
                    sensors[name] = config.model_copy(update={"rate_hz": self.imu_hz})
        failsafes = vehicle.failsafes.model_copy(update={"battery_action": "none", "estimate_timeout": FOREVER_S})
        return vehicle.model_copy(update={"pilot": None, "sensors": sensors, "failsafes": failsafes})

    def flies_on(self, vehicle: Vehicle) -> str | None:
        """The estimates that it gets in place of GNSS."""
        return self.source(vehicle) if isinstance(self, OdometryOptions) else None

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        links: list[VehicleLink] = []
        try:
            for number, vehicle in enumerate(self._flown(scenario)):
                link, address = self.link(scenario, vehicle, number, inbox)
                link.name = f"{self.kind} {vehicle.name}" if self.vehicle else self.kind
                links.append(link)
                self.announce(address)
        except BaseException:
            for link in links:
                link.close()
            raise
        return links

    @abstractmethod
    def link(self, scenario: Scenario, vehicle: Vehicle, number: int, inbox: Inbox) -> tuple[VehicleLink, str]:
        """The link of one vehicle, with its process if we start it, and its address."""

    def words(self) -> tuple[Path | None, list[str]]:
        """The program and its arguments."""
        try:
            words = shlex.split(self.program)
        except ValueError as error:
            raise LinkError(f"{self.kind}:{self.program}: {error}") from None
        return (Path(words[0]) if words else None), words[1:]

    def _port(self, usual: int, apart: int, number: int) -> int:
        return 0 if self.port == 0 else (usual if self.port is None else self.port) + apart * number

    def _check_one(self, scenario: Scenario) -> None:
        if (vehicles := len(self._flown(scenario))) > 1:
            raise LinkError(f"{self.kind} flies one vehicle, the scenario has {vehicles}; give vehicle=NAME")


class Px4Config(AutopilotConfig, px4.Px4Options):
    """PX4 flies, in lockstep. With a PATH it is started; otherwise it connects by itself."""

    kind: ClassVar[str] = "px4"
    imu_hz: ClassVar[float | None] = 250.0
    added: ClassVar[Sequence[str]] = tuple(SENSORS)
    invitation: ClassVar[str] = "PX4 may connect to %s"

    def link(self, scenario: Scenario, vehicle: Vehicle, number: int, inbox: Inbox) -> tuple[VehicleLink, str]:
        path, arguments = self.words()
        process = None if path is None else px4_process(path, arguments, number, self.parameters(vehicle))
        line = OnePeer(inbox, self.host, self._port(px4.PORT, 1, number), "PX4")
        options = self.model_copy(update={"odometry": self.flies_on(vehicle)})
        return px4.Px4(line, vehicle.name, home_of(scenario), options, process), f"{self.host}:{line.port}"

    def parameters(self, vehicle: Vehicle) -> dict[str, float]:
        """PX4's, for what it flies on. PX4 takes each message for as late as they say, whatever its stamp."""
        source = self.flies_on(vehicle)
        if source is not None:
            return {**px4.VISION, "EKF2_EV_DELAY": 1e3 * self.delay(vehicle, source)}
        latencies = [sensor.latency for sensor in vehicle.sensors.values() if sensor.kind == "gnss"]
        # the second is its name since PX4 1.18
        return dict.fromkeys(("EKF2_GPS_DELAY", "SENS_GPS0_DELAY"), 1e3 * latencies[0]) if latencies else {}


class Px4SerialConfig(Px4Config):
    """A board with PX4 flies, on a serial line and in real time."""

    kind: ClassVar[str] = "px4-serial"
    baud: int = BAUD
    invitation: ClassVar[str] = "PX4 is expected on %s"

    def link(self, scenario: Scenario, vehicle: Vehicle, number: int, inbox: Inbox) -> tuple[VehicleLink, str]:
        self._check_one(scenario)
        if len(shlex.split(self.program)) != 1:
            raise LinkError(f"px4-serial:{self.program}: name one serial device, as in px4-serial:/dev/ttyACM0")
        line = SerialLine(inbox, self.program, self.baud)
        options = self.model_copy(update={"lockstep": "none", "odometry": self.flies_on(vehicle)})
        return px4.Px4(line, vehicle.name, home_of(scenario), options), line.port


class ArdupilotConfig(AutopilotConfig, ardupilot.ArdupilotOptions):
    """ArduPilot flies, in lockstep. With a PATH it is started; otherwise it connects by itself."""

    kind: ClassVar[str] = "ardupilot"
    invitation: ClassVar[str] = "ArduPilot may send to %s"

    def link(self, scenario: Scenario, vehicle: Vehicle, number: int, inbox: Inbox) -> tuple[VehicleLink, str]:
        path, arguments = self.words()
        home, process = home_of(scenario), None
        if path is not None:
            start = home, 90.0 - vehicle.yaw_deg
            process = ardupilot_process(path, arguments, number, start, self.parameters(vehicle))
        port = self._port(ardupilot.PORT, ardupilot.PORTS_APART, number)
        line = Datagrams(inbox, self.host, port, "ArduPilot")
        options = self.model_copy(update={"odometry": self.flies_on(vehicle)})
        vision = VisionLine(home, ardupilot.VISION_PORT + ardupilot.PORTS_APART * number)
        return ardupilot.Ardupilot(line, vehicle.name, options, process, vision), f"{self.host}:{line.port}"

    def parameters(self, vehicle: Vehicle) -> dict[str, float]:
        """ArduPilot's, for the rangefinders and for what it flies on."""
        mounts = [sensor.mount.mount() for sensor in vehicle.sensors.values() if sensor.kind == "rangefinder"]
        found = rangefinder_parameters(mounts)
        source = self.flies_on(vehicle)
        if source is not None:
            found |= {**ardupilot.VISION, "VISO_DELAY_MS": round(1e3 * self.delay(vehicle, source))}
        return found


class BetaflightConfig(AutopilotConfig, betaflight.BetaflightOptions):
    """Betaflight flies, through its RC sticks. It is built once and started, unless a PATH names another one."""

    kind: ClassVar[str] = "betaflight"
    imu_hz: ClassVar[float | None] = 1000.0
    added: ClassVar[Sequence[str]] = ("imu",)
    invitation: ClassVar[str] = "Betaflight sends to %s"

    rc: betaflight.Sticks | None = None
    """Flies it through its sticks. Default: up to 2 m, and down again before the end."""

    def link(self, scenario: Scenario, vehicle: Vehicle, number: int, inbox: Inbox) -> tuple[VehicleLink, str]:
        self._check_one(scenario)
        path, _ = self.words()
        program = betaflight_program() if path is None else program_at(path, "Betaflight")
        line = Datagrams(inbox, self.host, self._port(betaflight.MOTORS_PORT, 0, number), "Betaflight")
        landing = max(LEAST_HOVER_S, scenario.duration - LAND_BEFORE_END_S)
        rc = self.rc or RcPilot([Leg(1.0), Leg(landing, land=True)])
        home, process = home_of(scenario), betaflight_process(program)
        return betaflight.Betaflight(line, vehicle.name, home, rc, self, process), f"{self.host}:{line.port}"
