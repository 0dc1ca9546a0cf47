"""Connects PX4 through its simulator interface: PX4 gets our sensor data and returns motor outputs, in lockstep.

In lockstep, time waits after each HIL_SENSOR until PX4 has answered. PX4 sends nothing while it boots; until its first
answer time passes at real pace. Over a serial line (HITL) there is no lockstep."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TextIO

from pydantic import Field

from skyloop.core.frames import GeoPoint, LocalFrame
from skyloop.links.autopilots.launching import Px4Process
from skyloop.links.autopilots.motor_handover import MotorHandover, ProcessWatch, Ticks, VehicleLink
from skyloop.links.autopilots.odometry import OdometryFeed, OdometryOptions, odometry_feed
from skyloop.links.autopilots.px4_wire import HIL_STATE_QUATERNION, Actuators, Origin, Wanted, Wire
from skyloop.links.link_gate import LinkGate, Summary
from skyloop.links.loop.targets import Target
from skyloop.links.sockets import OnePeer, SerialLine
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import EventKind, Message
from skyloop_client.streams import NS_PER_S, Mount, Rate, StreamInfo

PORT = 4560
RATE = Rate(250)
VISION = {"EKF2_EV_CTRL": 15, "EKF2_HGT_REF": 3, "EKF2_GPS_CTRL": 0, "EKF2_MAG_TYPE": 5}
"""Parameters with which it flies on ODOMETRY: position, height, velocity and yaw from there; no GNSS, no compass."""
LOCKSTEPS = ("strict", "bounded", "none")
ODOMETRY_FRAMES = ("frd", "ned")
NS_PER_US = 1000
MOST_LATENCIES = 100_000
HEARTBEAT_EVERY = 250
"""Steps between heartbeats. Boards start to send on USB when they receive one."""
BEHIND_S = 0.5
"""Wall s after which an answer with the stamp of an earlier step counts for this step if it is the only one."""
PROBE_S = 1.0
"""Wall s between two HIL_SENSOR for a PX4 that hangs. If it was stopped, it answers all that waits for it when it goes
on, and would fly on sensor data as old as its stop was long if it got them at 250 Hz."""
ORIGIN_US = 3_000_000
"""Simulated time from the first ODOMETRY to the first try to set the origin, because its EKF must have begun, and
between two tries."""


class Px4Options(OdometryOptions):
    lockstep: str = "strict"
    """strict: wait for each answer; bounded: wait at most `miss_s` and log each miss; none: never wait."""
    miss_s: float = 0.01
    """Wall s to wait for an answer in mode bounded."""
    hang_s: float = 30.0
    """Wall s without an answer after which PX4 counts as lost."""
    wait_s: float | None = 60.0
    """Wall s to wait for PX4 to connect. None: time does not wait."""
    odometry_frame: str = "ned"
    """ned: poses from the world's origin, with north; frd: from where the vehicle starts, with its heading there."""
    odometry_rate_hz: Annotated[float, Field(ge=1, le=250)] = 50.0
    """Most ODOMETRY messages per simulated s. PX4's EKF drops what comes faster than about 90 Hz."""

    def model_post_init(self, context: object) -> None:
        if self.lockstep not in LOCKSTEPS:
            raise LinkError(f"no lockstep named '{self.lockstep}'; give {', '.join(LOCKSTEPS)}")
        if self.odometry_frame not in ODOMETRY_FRAMES:
            raise LinkError(f"no odometry_frame named '{self.odometry_frame}'; give {' or '.join(ODOMETRY_FRAMES)}")


class Feed:
    """The newest record of one stream, and whether it was sent."""

    def __init__(self, info: StreamInfo) -> None:
        self.info = info
        self.record: Any = None
        self.fresh = False

    def put(self, message: Message) -> None:
        self.record, self.fresh = message.data, True

    def take(self) -> Any:
        """The record, if it was not taken yet."""
        record = self.record if self.fresh else None
        self.fresh = False
        return record

    def take_mounted(self) -> tuple[Any, Mount] | None:
        """The same, with where the sensor is."""
        record = self.take()
        return None if record is None else (record, self.info.mount)


class Px4(VehicleLink):
    """A link behind the link gate for one vehicle and one PX4."""

    def __init__(
        self,
        line: OnePeer | SerialLine,
        vehicle: str,
        home: GeoPoint,
        options: Px4Options | None = None,
        target: Target | None = None,
    ) -> None:
        super().__init__(vehicle, line, target)
        self.line = line
        self.options = options or Px4Options()
        line.taker = self.receive
        self._frame = LocalFrame(home)
        self._wire = Wire()
        self._connected = False
        self._silent = False
        """PX4 counts as lost, although its line is still open."""
        self._ever = False
        self._locked = False
        self._awaited_us: int | None = None
        self._first_us = -1
        """Stamp of the first HIL_SENSOR of this connection."""
        self._behind_us = 0
        """Lag of PX4's clock: 0, or `_first_us` in builds that count from there."""
        self._seems_behind = False
        self._in_time = False
        """An answer has carried the awaited stamp."""
        self._sent = self._began = time.perf_counter()
        self._offset_us = self._last_us = 0
        self._states_every_us = self._states_due_us = -1
        self._latencies: list[float] = []
        self._steps = self._answers = self._missed = 0
        self._spoke = False
        self._answered_since_sent = True
        self._has_origin = False
        self._origin_due_us = 0
        self._watch = ProcessWatch(target, "PX4")
        self._log: TextIO | None = None

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._handover = MotorHandover(port.vehicle(self.vehicle), "px4")
        self._began = time.perf_counter()
        self._feeds = self._make_feeds(port.bus.infos)
        self._odometry: OdometryFeed | None = None
        options = self.options
        if options.odometry is not None:
            self._odometry = odometry_feed(
                port, self.vehicle, options.odometry, options.odometry_rate_hz, options.odometry_frame
            )
        for feeds in self._feeds.values():
            for feed in feeds:
                port.bus.on(feed.info.name, feed.put)
        if folder is not None and self.options.lockstep == "bounded":
            self._log = (folder / f"px4-misses-{self.vehicle}.txt").open("w", encoding="utf-8")
        if self.target is not None:
            self.target.start("", folder)
        self._ticks = Ticks(port, RATE, self._tick)

    def _make_feeds(self, infos: Mapping[str, StreamInfo]) -> dict[str, list[Feed]]:
        feeds: dict[str, list[Feed]] = {}
        for name, info in infos.items():
            if info.vehicle == self.vehicle and not name.startswith("truth/") and info.message != "Estimate":
                feeds.setdefault(info.message, []).append(Feed(info))
        if "ImuSample" not in feeds:
            raise LinkError(f"PX4 needs an IMU on {self.vehicle}; add an imu sensor at 250 Hz")
        rate = feeds["ImuSample"][0].info.rate
        if rate is None or not (rate.hz / RATE.hz).is_integer():
            hz = 0.0 if rate is None else rate.hz
            raise LinkError(f"PX4 needs the first IMU of {self.vehicle} at 250 Hz or a multiple; it runs at {hz:g} Hz")
        return feeds

    # ---- called by the link gate

    @property
    def over(self) -> bool:
        """PX4 has gone for good, and its vehicle is disarmed."""
        return self._watch.has_ended and not self._connected and not self._handover.is_armed

    @property
    def allows_realtime(self) -> bool:
        """True until its first answer, and whenever there is no lockstep."""
        return not self._locked

    def stop_at(self, t_ns: int) -> int:
        return self._ticks.stop_at(t_ns)

    def blocks_time(self, t_ns: int) -> bool:
        if not self._ever:
            return self.options.wait_s is not None
        if self._awaited_us is None or t_ns <= self._port.now_ns:
            return False
        waited = time.perf_counter() - self._sent
        if self.options.lockstep == "bounded" and waited >= self.options.miss_s:
            self._miss()
        elif self._seems_behind and waited >= BEHIND_S:
            self._behind_us, self._awaited_us = self._first_us, None
        return self._awaited_us is not None

    def poll(self) -> None:
        if (how := self._watch.look(was_heard=self._ever)) is not None:
            self._lose(EventKind.ENDED, how)
        wait_s = self.options.wait_s
        if wait_s is not None and not self._ever and time.perf_counter() - self._began > wait_s:
            raise LinkError(
                f"no PX4 came to {self._line_name} within {wait_s:g} s; start one, or wait longer with the option "
                f"wait_s={2.0 * wait_s:g}"
            )
        if self._awaited_us is not None and time.perf_counter() - self._sent > self.options.hang_s:
            self._lose(EventKind.HUNG, f"no answer to HIL_SENSOR {self._awaited_us} us for {self.options.hang_s:g} s")

    @property
    def _is_serial(self) -> bool:
        return isinstance(self.line, SerialLine)

    @property
    def _line_name(self) -> str:
        return f"{'serial line' if self._is_serial else 'port'} {self.line.port}"

    def close(self) -> None:
        super().close()
        if self._log is not None:
            self._log.close()
            self._log = None

    # ---- incoming

    def receive(self, kind: str, what: object) -> None:
        """Runs in the simulation's thread."""
        self.line.taken += 1
        if kind == "came":
            self._connected = self._ever = True
            self._locked = self._spoke = self._silent = self._in_time = self._seems_behind = self._has_origin = False
            self._first_us, self._behind_us, self._origin_due_us = -1, 0, 0
            self._awaited_us = None
            self._wire = Wire()
            self._states_every_us = -1
            self._handover.tell(EventKind.CONNECTED, f"PX4 from {what}")
        elif kind == "gone":
            self._lose(EventKind.LEFT, str(what))
        elif isinstance(what, bytes):
            for item in self._wire.read(what):
                if isinstance(item, Wanted):
                    self._ask_for(item)
                elif isinstance(item, Origin):
                    self._has_origin = True
                else:
                    self._act(item)

    def _ask_for(self, wanted: Wanted) -> None:
        if wanted.message == HIL_STATE_QUATERNION:
            usual = NS_PER_S // NS_PER_US // round(RATE.hz)
            self._states_every_us = round(wanted.interval_us) if wanted.interval_us else usual
            self._states_due_us = 0

    def _act(self, actuators: Actuators) -> None:
        self._answers += 1
        self._spoke = True
        if self._silent:
            self._silent = False
            self._handover.tell(EventKind.CONNECTED, "PX4 is back")
        if not self._answered_since_sent and len(self._latencies) < MOST_LATENCIES:
            self._latencies.append(time.perf_counter() - self._sent)
        self._answered_since_sent = True
        self._handover.drive(actuators.controls, actuators.armed)
        if self.options.lockstep != "none" and actuators.lockstep and not self._locked:
            self._locked = True
            self._handover.tell(EventKind.LOCKSTEP, f"first answer, after {self._steps} HIL_SENSOR")
        self._release(actuators.time_us + self._behind_us)

    def _release(self, t_us: int) -> None:
        """The answer to an earlier step does not count, unless PX4's clock lags and no other answer comes."""
        if self._awaited_us is not None and self._first_us <= t_us < self._awaited_us:
            self._seems_behind = not self._in_time and t_us + self._first_us == self._awaited_us
            return
        self._in_time |= t_us == self._awaited_us
        self._awaited_us = None

    def _lose(self, kind: EventKind, why: str) -> None:
        # a hung PX4 still gets a HIL_SENSOR now and then: otherwise one that waits for it could not come back
        self._silent = self._connected and kind == EventKind.HUNG
        self._connected, self._locked = self._silent, False
        self._awaited_us = None
        self._handover.let_go(kind, f"PX4: {why}")

    def _miss(self) -> None:
        if self._seems_behind:
            self._behind_us = self._first_us
        self._missed += 1
        if self._log is not None:
            self._log.write(
                f"{self._handover.port.now_ns / NS_PER_S:.3f} s: no answer within {self.options.miss_s * 1e3:g} ms\n"
            )
        self._awaited_us = None

    # ---- outgoing

    def _tick(self, t_ns: int) -> None:
        if not self._connected or t_ns == 0:
            return
        reset = self._ticks.set_back
        if reset:
            # PX4's clock must not go back: shift its stamps and mark the jump
            self._offset_us = self._last_us + NS_PER_S // NS_PER_US // round(RATE.hz) - t_ns // NS_PER_US
        if self._silent and time.perf_counter() - self._sent < min(PROBE_S, self.options.hang_s):
            return
        t_us = self._last_us = t_ns // NS_PER_US + self._offset_us
        # PX4 computes motors from gyroscope samples, so a step without a sample has no answer
        answered = self._feeds["ImuSample"][0].fresh
        data = self._slow_messages(t_us, reset)
        data += self._sensors(t_us, reset)
        if not self._answered_since_sent and not self._locked and self._spoke:
            self._missed += 1
        self._steps += 1
        self._answered_since_sent = self._seems_behind = False
        if self._first_us < 0:
            self._first_us = t_us
        self._sent = time.perf_counter()
        if self._is_serial and self._steps % HEARTBEAT_EVERY == 1:
            data += self._wire.heartbeat()
        if self._locked and answered:
            self._awaited_us = t_us
            if self.options.lockstep == "bounded":
                self.line.ring_after(self.options.miss_s)
        self.line.send(data)

    def _sensors(self, t_us: int, reset: bool) -> bytes:
        """Further IMUs come first, because number 0 advances PX4's clock."""
        groups = [self._feeds.get(kind, []) for kind in ("ImuSample", "MagnetometerSample", "BarometerSample")]
        data = b""
        for number in reversed(range(min(3, max(map(len, groups))))):
            feeds = [group[number] if number < len(group) else None for group in groups]
            imu, magnetometer, barometer = (None if feed is None else feed.take_mounted() for feed in feeds)
            if not number or imu or magnetometer or barometer:
                pressure = None if barometer is None else barometer[0]
                data += self._wire.sensor(t_us, number, imu, magnetometer, pressure, reset=reset)
        return data

    def _slow_messages(self, t_us: int, reset: bool) -> bytes:
        data = b""
        wire = self._wire
        for number, feed in enumerate(self._feeds.get("GnssFix", [])):
            if (fix := feed.take()) is not None:
                data += wire.gps(t_us, fix, number)
        for number, feed in enumerate(self._feeds.get("RangeSample", [])):
            if (sample := feed.take()) is not None:
                data += wire.distance(t_us, sample, feed.info.mount, number)
        for number, feed in enumerate(self._feeds.get("OpticalFlowSample", [])):
            if (flow := feed.take()) is not None and flow.integration_time_us:
                data += wire.flow(t_us, flow, number)
        odometry = self._odometry
        if odometry is not None and (estimate := odometry.take(self._port.now_ns, set_back=reset)) is not None:
            stamp_us = estimate.t_ns // NS_PER_US + self._offset_us
            data += wire.odometry(stamp_us, estimate, odometry.axes, odometry.resets)
            if not self._has_origin and t_us >= self._origin_due_us:
                data += self._origin(t_us) if self._origin_due_us else b""
                self._origin_due_us = t_us + ORIGIN_US
        if self._states_every_us > 0 and t_us >= self._states_due_us:
            self._states_due_us = max(self._states_due_us + self._states_every_us, t_us)
            data += wire.state(t_us, self._handover.port.truth, self._frame)
        return data

    def _origin(self, t_us: int) -> bytes:
        """Where the poses begin on Earth. Without that PX4 has no global position and refuses Hold, Mission and Return.

        On a serial line it is a message; SITL's simulator connection does not take that one."""
        home = self._frame.home
        if self._is_serial:
            return self._wire.origin(t_us, home)
        if self._locked and isinstance(self.target, Px4Process):
            self._has_origin = True
            place = (f"{home.latitude_deg:.7f}", f"{home.longitude_deg:.7f}", f"{home.altitude:.3f}")
            if why := self.target.ask("commander", "set_ekf_origin", *place):
                self._handover.tell(EventKind.REFUSED, f"PX4 did not take the origin of ODOMETRY: {why}")
        return b""

    def summary(self) -> Summary:
        worst = sorted(self._latencies)
        return {
            **self._told(),
            "lockstep": self.options.lockstep,
            "sensor_messages": self._steps,
            "answers": self._answers,
            "missed_deadlines": self._missed,
            "latency_median_s": statistics.median(worst) if worst else None,
            "latency_worst_s": worst[-1] if worst else None,
            "bad_messages": self._wire.bad,
            **({} if self._odometry is None else {"odometry": self._odometry.summary()}),
        }
