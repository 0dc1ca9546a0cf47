"""Connects ArduPilot through its JSON interface: one line of sensor data for each servo packet.

Time waits until ArduPilot has answered the last line. ArduPilot takes its time from our stamps. With `no_lockstep` time
does not wait and passes at real pace."""

from __future__ import annotations

import time
from pathlib import Path

from skyloop.links.autopilots.ardupilot_wire import RANGEFINDERS, Servos, line_from, servos_from
from skyloop.links.autopilots.motor_handover import MotorHandover, ProcessWatch, Ticks, VehicleLink
from skyloop.links.autopilots.odometry import OdometryFeed, OdometryOptions, odometry_feed
from skyloop.links.autopilots.vision_line import VisionLine
from skyloop.links.link_gate import LinkGate, Summary
from skyloop.links.loop.targets import Target
from skyloop.links.sockets import Address, Datagrams
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import EventKind
from skyloop_client.streams import Rate

PORT, VISION_PORT, PORTS_APART = 9002, 5762, 10
VISION = {
    "VISO_TYPE": 1, "GPS1_TYPE": 0, "EK3_SRC1_POSXY": 6, "EK3_SRC1_VELXY": 6, "EK3_SRC1_POSZ": 6, "EK3_SRC1_VELZ": 6,
    "EK3_SRC1_YAW": 6,
}  # fmt: skip
"""Parameters with which it flies on ODOMETRY: position, velocity and heading from there, and no GNSS."""
AIRSIM_MODEL_BYTES = 22
"""The packet of eleven servos that ArduPilot sends to AirSim."""
ODOMETRY_HZ = 50.0
"""Most ODOMETRY messages per simulated s."""
STALE = 16
"""Packets by which one may arrive late. A larger step back means that the counter has restarted."""


class ArdupilotOptions(OdometryOptions):
    rate_hz: float = 1000.0
    """Lines per simulated second."""
    no_lockstep: bool = False
    """ArduPilot continues without waiting for a late line, and so does the simulation."""
    hang_s: float = 30.0
    """Wall s without a packet after which ArduPilot counts as lost. It repeats its packet after one second."""
    wait_s: float | None = 120.0
    """Wall s to wait for the first packet. None: time does not wait.

    ArduPilot sends it after a ground station has connected to its TCP port 5760."""

    def model_post_init(self, context: object) -> None:
        # ArduPilot refuses steps of 0.1 s and more
        if not 10.0 < self.rate_hz <= 10_000.0:
            raise LinkError(
                f"{self.rate_hz:g} lines per second; give more than 10 (ArduPilot needs that), at most 10000"
            )


class Ardupilot(VehicleLink):
    """A link behind the link gate for one vehicle and one ArduPilot."""

    def __init__(
        self,
        line: Datagrams,
        vehicle: str,
        options: ArdupilotOptions | None = None,
        target: Target | None = None,
        vision: VisionLine | None = None,
    ) -> None:
        super().__init__(vehicle, line, target)
        self.line = line
        self.options = options or ArdupilotOptions()
        line.taker = self.receive
        self._address: Address | None = None
        self._count = -1
        self._awaits = True
        self._lost = False
        self._last_line = b""
        self._heard = time.perf_counter()
        self._lines = self._resent = self._bad = self._restarts = 0
        self._rate_hz = 0
        self._vision = vision
        self._odometry: OdometryFeed | None = None
        self._watch = ProcessWatch(target, "ArduPilot")

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._handover = MotorHandover(port.vehicle(self.vehicle), "ardupilot")
        own = [info for info in port.bus.infos.values() if info.vehicle == self.vehicle]
        self._ranges = [info.name for info in own if info.message == "RangeSample"][:RANGEFINDERS]
        if self.options.odometry is not None:
            self._odometry = odometry_feed(port, self.vehicle, self.options.odometry, ODOMETRY_HZ, "ardupilot")
        self._heard = time.perf_counter()
        if self.target is not None:
            self.target.start("", folder)
        self._ticks = Ticks(port, Rate.from_hz(self.options.rate_hz), self._tick)

    # ---- called by the link gate

    @property
    def over(self) -> bool:
        return self._watch.has_ended and not self._handover.is_armed

    @property
    def allows_realtime(self) -> bool:
        return self._lost or self.options.no_lockstep or self._address is None

    def stop_at(self, t_ns: int) -> int:
        return self._ticks.stop_at(t_ns)

    def blocks_time(self, t_ns: int) -> bool:
        if self._address is None:
            return self.options.wait_s is not None
        if self._lost or self.options.no_lockstep:
            return False
        return self._awaits and t_ns > self._port.now_ns

    def poll(self) -> None:
        if (how := self._watch.look(was_heard=self._address is not None)) is not None:
            self._lose(EventKind.ENDED, how)
        silent, wait_s = time.perf_counter() - self._heard, self.options.wait_s
        if self._address is None and wait_s is not None and silent > wait_s:
            raise LinkError(
                f"no ArduPilot sent to port {self.line.port} within {wait_s:g} s; "
                "it waits for a ground station on TCP 5760 first"
            )
        if self._address is not None and not self._lost and silent > self.options.hang_s:
            self._lose(EventKind.HUNG, f"no packet for {silent:.0f} s")

    def close(self) -> None:
        super().close()
        if self._vision is not None:
            self._vision.close()

    # ---- incoming

    def receive(self, kind: str, what: tuple[bytes, Address]) -> None:
        """Runs in the simulation's thread."""
        self.line.taken += 1
        if kind != "datagram":
            return
        data, address = what
        servos = servos_from(data)
        if servos is None:
            self._bad += 1
            if len(data) == AIRSIM_MODEL_BYTES and self._bad == 1:
                self._handover.tell(
                    EventKind.REFUSED, "ArduPilot runs --model airsim-copter; use --model JSON:127.0.0.1"
                )
            return
        if servos.count == self._count and address == self._address:
            self._heard = time.perf_counter()
            self._resend()
            return
        if 0 < self._count - servos.count < STALE and address == self._address:
            return
        self._take(servos, address)

    def _take(self, servos: Servos, address: Address) -> None:
        self._heard = time.perf_counter()
        if self._address is None:
            self._handover.tell(
                EventKind.CONNECTED, f"ArduPilot from {address[0]}:{address[1]}, {len(servos.pwm)} channels"
            )
        elif servos.count < self._count or address != self._address:
            self._restarts += 1
            self._handover.tell(EventKind.RESTARTED, f"ArduPilot counts from {servos.count} again")
        elif self._lost:
            self._handover.tell(EventKind.CONNECTED, "ArduPilot is back")
        self._lost = False
        self._address, self._count, self._rate_hz = address, servos.count, servos.rate_hz
        self._awaits = False
        throttle = servos.throttle
        self._handover.drive(throttle, bool(throttle.any()))

    def _resend(self) -> None:
        """The same packet came again: our line was lost or late."""
        self._resent += 1
        if self._awaits and self._last_line and self._address is not None:
            self.line.send(self._last_line, self._address)

    def _lose(self, kind: EventKind, why: str) -> None:
        self._lost = True
        self._handover.let_go(kind, f"ArduPilot: {why}")

    # ---- outgoing

    def _tick(self, t_ns: int) -> None:
        if self._address is None or self._lost:
            return
        silent = time.perf_counter() - self._heard
        if self.options.no_lockstep and silent > self.options.hang_s:
            self._lose(EventKind.HUNG, f"no packet for {silent:.0f} s")
            return
        if self._ticks.set_back:
            self._handover.tell(EventKind.RESET, "time was set back; ArduPilot takes that for a reset of the physics")
        if self._vision is not None and self._odometry is not None:
            self._vision.send(self._address[0], t_ns, self._odometry, set_back=self._ticks.set_back)
        ranges = [self._port.bus.latest(name) for name in self._ranges]
        self._last_line = line_from(
            t_ns, self._handover.port.truth, self._handover.specific_force(), self._handover.port.battery, ranges,
            no_lockstep=self.options.no_lockstep,
        )  # fmt: skip
        self._lines += 1
        self._awaits = True
        self.line.send(self._last_line, self._address)

    def summary(self) -> Summary:
        return {
            **self._told(),
            "lockstep": not self.options.no_lockstep,
            "lines": self._lines,
            "asked_again": self._resent,
            "restarts": self._restarts,
            "bad_packets": self._bad,
            "its_rate_hz": self._rate_hz,
            **({} if self._odometry is None else {"odometry": self._odometry.summary()}),
        }
