"""Connects Betaflight SITL: it gets the state a thousand times a second, returns motor outputs, and is flown by RC.

There is no lockstep. Betaflight's clock runs at a rate that follows from the stamps and the wall time of the last two
states. States that arrive in a burst would make its clock jump, so each state waits for the motor packet that answers
the last one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from skyloop.core.frames import GeoPoint, LocalFrame, rotate
from skyloop.links.autopilots.betaflight_wire import LOW, MIDDLE, motors_from, pressure_at, rc_packet, state_packet
from skyloop.links.autopilots.motor_handover import MotorHandover, ProcessWatch, Ticks, VehicleLink
from skyloop.links.autopilots.rc_pilot import RcPilot
from skyloop.links.link_gate import LinkGate, Summary
from skyloop.links.loop.targets import Target
from skyloop.links.sockets import Address, Datagrams
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import EventKind, VehicleState
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo

MOTORS_PORT, STATE_PORT, RC_PORT = 9002, 9003, 9004
RC_EVERY = 10
"""States per RC packet."""
LEAST_GAP = 0.8
"""Smallest gap between two states, as a share of the usual one. A shorter gap makes Betaflight's clock jump."""
AWAKE = 20
"""Number of motor packets after which Betaflight counts as running."""
STUCK_S = 2.0
MOST_RESTARTS = 5
ANSWER_S = 1.0
"""Wall s without an answer after which the simulation stops waiting for it."""
REST = (MIDDLE, MIDDLE, LOW, MIDDLE)

Sticks = Callable[[float, VehicleState], Sequence[int]]
"""Channels in µs (roll, pitch, throttle, yaw, switches) from simulated s and the true state."""


class BetaflightOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rate_hz: float = 1000.0
    """States per simulated second."""
    remote: str = "127.0.0.1"
    """The host on which Betaflight runs."""
    state_port: int = STATE_PORT
    rc_port: int = RC_PORT
    hang_s: float = 5.0
    """Wall s without a motor packet after which Betaflight counts as lost."""
    wait_s: float = 30.0
    """Wall s to wait for the first motor packet."""


class Betaflight(VehicleLink):
    """A link behind the link gate for one vehicle and one Betaflight. Without `rc`, another program sends RC."""

    allows_realtime = True

    def __init__(
        self,
        line: Datagrams,
        vehicle: str,
        home: GeoPoint,
        rc: Sticks | None = None,
        options: BetaflightOptions | None = None,
        target: Target | None = None,
    ) -> None:
        super().__init__(vehicle, line, target)
        self.line = line
        self.options = options or BetaflightOptions()
        line.taker = self.receive
        self._rc = rc
        self._frame = LocalFrame(home)
        self._state_to: Address = (self.options.remote, self.options.state_port)
        self._rc_to: Address = (self.options.remote, self.options.rc_port)
        self._connected = self._ever = False
        self._unanswered = 0
        self._heard = time.perf_counter()
        self._sent = self._motors = self._bad = 0
        self._offset_ns = self._last_ns = 0
        self._sent_at = 0.0
        self._restarts = 0
        self._folder: Path | None = None
        self._watch = ProcessWatch(target, "Betaflight")

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._handover = MotorHandover(port.vehicle(self.vehicle), "betaflight", outputs=4)
        self._infos: dict[str, StreamInfo] = {}
        for info in port.bus.infos.values():
            if info.vehicle == self.vehicle:
                self._infos.setdefault(info.message, info)
        self._folder = folder
        if self.target is not None:
            self.target.start("", folder)
        self._heard = time.perf_counter()
        self._gap_s = LEAST_GAP / self.options.rate_hz / (link_gate.pace.factor or 1.0)
        self._ticks = Ticks(port, Rate.from_hz(self.options.rate_hz), self._tick)

    # ---- called by the link gate

    @property
    def over(self) -> bool:
        """The RC pilot is done or Betaflight has gone, and the vehicle is disarmed."""
        is_done = isinstance(self._rc, RcPilot) and self._rc.done
        return (self._watch.has_ended or is_done) and not self._handover.is_armed

    def stop_at(self, t_ns: int) -> int:
        return self._ticks.stop_at(t_ns)

    def blocks_time(self, t_ns: int) -> bool:
        """Time waits until every state is answered. Betaflight answers each once, unless it received two at a time."""
        if not self._unanswered or not self._connected or t_ns <= self._port.now_ns:
            return False
        if self._motors >= AWAKE and time.perf_counter() - max(self._sent_at, self._heard) < ANSWER_S:
            return True
        if self._motors >= AWAKE:
            self._unanswered = 0
        return False

    def poll(self) -> None:
        if (how := self._watch.look(was_heard=self._ever)) is not None:
            self._connected = False
            self._handover.let_go(EventKind.ENDED, f"Betaflight: {how}")
        silent = time.perf_counter() - self._heard
        if self._motors < AWAKE and silent > STUCK_S and self._restart():
            return
        if not self._ever and silent > self.options.wait_s:
            raise LinkError(f"no Betaflight sent to port {self.line.port} within {self.options.wait_s:g} s; start one")
        if self._connected and silent > self.options.hang_s:
            self._connected = False
            self._handover.let_go(EventKind.HUNG, f"Betaflight: no motor packet for {silent:.0f} s")

    def _restart(self) -> bool:
        """Sometimes Betaflight starts with its clock out of step and never runs its main loop."""
        if self.target is None or self._watch.has_ended or self._restarts == MOST_RESTARTS:
            return False
        self._restarts += 1
        self._connected = False
        self._handover.tell(EventKind.RESTARTED, "Betaflight did not wake up")
        self.target.stop()
        self.target.start("", self._folder)
        self._heard = time.perf_counter()
        return True

    # ---- incoming

    def receive(self, kind: str, what: tuple[bytes, Address]) -> None:
        """Runs in the simulation's thread."""
        self.line.taken += 1
        if kind != "datagram":
            return
        self._unanswered = max(0, self._unanswered - 1)
        motors = motors_from(what[0])
        if motors is None:
            self._bad += 1
            return
        self._heard = time.perf_counter()
        if not self._connected:
            self._connected = self._ever = True
            self._unanswered = 0
            self._handover.tell(EventKind.CONNECTED, f"Betaflight from {what[1][0]}:{what[1][1]}")
        self._motors += 1
        self._handover.drive(motors, bool((motors > 0.0).any()))

    # ---- outgoing

    def _newest(self, record: str) -> Any:
        info = self._infos.get(record)
        return None if info is None else self._port.bus.latest(info.name)

    def _tick(self, t_ns: int) -> None:
        if self._ticks.set_back:
            self._offset_ns = self._last_ns + round(NS_PER_S / self.options.rate_hz) - t_ns
        self._last_ns = t_ns + self._offset_ns
        t_s = self._last_ns / NS_PER_S
        truth: VehicleState = self._handover.port.truth
        imu, fix, air = (self._newest(record) for record in ("ImuSample", "GnssFix", "BarometerSample"))
        if imu is None:
            rates, force = truth.angular_velocity_body, self._handover.specific_force()
        else:
            mount = self._infos["ImuSample"].mount.quat_wxyz
            rates, force = rotate(mount, imu.angular_velocity), rotate(mount, imu.specific_force)
        if fix is None:
            position, velocity = self._frame.geodetic_array_from_enu(truth.position).tolist(), truth.velocity_world
        else:
            position, velocity = [fix.latitude_deg, fix.longitude_deg, fix.altitude], fix.velocity_enu
        pressure = pressure_at(position[2]) if air is None else air.pressure
        early = self._sent_at + self._gap_s - time.perf_counter()
        if early > 0.0:
            time.sleep(early)
        self._sent_at = time.perf_counter()
        self._unanswered += 1
        self.line.send(state_packet(t_s, truth, rates, force, position, velocity, pressure), self._state_to)
        if self._rc is not None and self._sent % RC_EVERY == 0:
            channels = self._rc(t_ns / NS_PER_S, truth) if self._ever else REST
            self.line.send(rc_packet(t_s, channels), self._rc_to)
        self._sent += 1

    def summary(self) -> Summary:
        return {
            **self._told(),
            "states": self._sent,
            "motor_packets": self._motors,
            "bad_packets": self._bad,
            "restarts": self._restarts,
        }
