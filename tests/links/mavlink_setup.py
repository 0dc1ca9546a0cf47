"""A simulation with a MAVLink link in a thread of its own, for tests that are its clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

import skyloop
from skyloop.core.frames import GeoPoint
from skyloop.links.link_gate import LinkGate
from skyloop.links.mavlink.link import MavlinkConfig, MavlinkLink
from skyloop.links.mavlink.wire import Inlet
from skyloop.links.pace import Pace
from skyloop.run import fly

HOME = GeoPoint(47.641468, -122.140165, 122.0)
PLAIN = {"world": "flat", "duration": 4000, "vehicles": [{"name": "drone", "airframe": "x500", "yaw_deg": 30}]}
SENSORS = {
    "imu": {"kind": "imu", "preset": "mpu6000", "rate_hz": 100},
    "gnss": {"kind": "gnss", "preset": "m8n", "rate_hz": 10, "latency": 0.12},
    "barometer": {"kind": "barometer", "preset": "ms5611", "rate_hz": 20},
    "magnetometer": {"kind": "magnetometer", "preset": "hmc5883", "rate_hz": 20},
}


class Stage:
    def __init__(self, link: MavlinkLink, simulation: Any) -> None:
        self.link = link
        self.simulation = simulation
        self.ports = link.ports
        self.track: list[tuple[float, np.ndarray]] = []
        """Seconds and true positions of the first vehicle."""
        self.failure: BaseException | None = None

    @property
    def now(self) -> float:
        return float(self.simulation.now)

    @property
    def position(self) -> np.ndarray:
        return self.track[-1][1]


@contextmanager
def staged(scenario: dict[str, Any] | None = None, *, pace: float = 8.0, folder: Path | None = None) -> Iterator[Stage]:
    """Flies until the block ends; an error of the simulation's thread is raised then."""
    built = skyloop.make_scenario(scenario or PLAIN)
    link_gate = LinkGate(Pace(pace))
    link = MavlinkLink(link_gate.inbox, len(built.vehicles), HOME, MavlinkConfig(port_offset=None))
    link_gate.links["mavlink"] = link
    with skyloop.build(built, gates=(link_gate,)) as simulation:
        link_gate.attach(simulation.port, folder)
        stage = Stage(link, simulation)
        name = f"truth/{built.vehicles[0].name}"
        simulation.bus.on(name, lambda m: stage.track.append((m.t_ns / 1e9, m.data.position)))

        def run() -> None:
            try:
                fly(simulation, built.duration, links=link_gate)
            except BaseException as error:
                stage.failure = error

        thread = threading.Thread(target=run)
        thread.start()
        try:
            while not link.is_open and thread.is_alive():
                time.sleep(0.01)
            yield stage
        finally:
            link_gate.stop()
            thread.join(timeout=30.0)
            link_gate.finish("the test is over")
    assert not thread.is_alive()
    if stage.failure is not None:
        raise stage.failure


class Client:
    """A ground station on a raw socket, with pymavlink's messages; asks with a deadline in wall time."""

    def __init__(self, connection: Any, *, system_id: int = 255) -> None:
        self.socket = connection
        self.texts: list[str] = []
        self.latest: dict[str, Any] = {}
        self.counts: dict[str, int] = {}
        self._inlet = Inlet()
        self._packer = mavlink.MAVLink(None, srcSystem=system_id, srcComponent=190)
        self._waiting: list[Any] = []
        connection.settimeout(0.2)

    def send(self, message: Any) -> None:
        self.socket.sendall(message.pack(self._packer))

    def receive(self) -> Any:
        """The next message, or None."""
        if not self._waiting:
            try:
                self._waiting = list(self._inlet.feed(self.socket.recv(1 << 16)))
            except TimeoutError:
                return None
        if not self._waiting:
            return None
        message = self._waiting.pop(0)
        kind = message.get_type()
        self.latest[kind] = message
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == "STATUSTEXT":
            self.texts.append(message.text)
        return message

    def until(self, wanted: Any, timeout: float = 20.0) -> Any:
        """The first message that `wanted` (a type, or a test) is true of."""
        is_it = (lambda m: m.get_type() == wanted) if isinstance(wanted, str) else wanted
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            message = self.receive()
            if message is not None and is_it(message):
                return message
        raise AssertionError(f"nothing of that kind within {timeout} s; texts: {self.texts}")

    def command(self, number: int, *params: float) -> int:
        """COMMAND_LONG; the result of its acknowledgement."""
        filled = [*params, *[0.0] * (7 - len(params))]
        self.send(mavlink.MAVLink_command_long_message(1, 1, number, 0, *filled))
        return int(self.until(lambda m: m.get_type() == "COMMAND_ACK" and m.command == number).result)

    def mode(self, main: int, sub: int = 0) -> int:
        return self.command(mavlink.MAV_CMD_DO_SET_MODE, 1, main, sub)

    def until_mode(self, name: str, timeout: float = 20.0) -> Any:
        from skyloop.links.mavlink.wire import custom_mode

        wanted = custom_mode(name)
        return self.until(lambda m: m.get_type() == "HEARTBEAT" and m.custom_mode == wanted, timeout)

    def until_disarmed(self, timeout: float = 20.0) -> None:
        self.until(lambda m: m.get_type() == "HEARTBEAT" and not m.base_mode & 128, timeout)
