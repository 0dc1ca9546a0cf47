"""A peer that flies as PX4 does: it speaks pymavlink and knows nothing of our wire module. And a bench for it."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pymavlink.dialects.v20 import common
from quad_pilot import QuadPilot

from skyloop.core.frames import GeoPoint
from skyloop.links.autopilots.px4 import Px4, Px4Options
from skyloop.links.link_gate import LinkGate
from skyloop.links.sockets import OnePeer
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkError

HOME = GeoPoint(47.641468, -122.140165, 122.0)
SENSORS = {
    "imu": {"kind": "imu", "preset": "perfect", "rate_hz": 250},
    "gnss": {"kind": "gnss", "preset": "perfect", "rate_hz": 25, "latency": 0.0},
    "barometer": {"kind": "barometer", "preset": "perfect", "rate_hz": 50},
    "magnetometer": {"kind": "magnetometer", "preset": "perfect", "rate_hz": 50},
}


def scenario(**vehicle: Any) -> Scenario:
    data = {"sensors": SENSORS, "battery": False, **vehicle}
    return make_scenario({"truth_rate_hz": 10, "vehicles": [data]})


class Bench:
    """A simulation with a PX4 link on a free port."""

    def __init__(self, built: Scenario, options: Px4Options | None = None, folder: Any = None) -> None:
        self.link_gate = LinkGate()
        self.line = OnePeer(self.link_gate.inbox, "127.0.0.1", 0, "PX4")
        self.link = self.link_gate.links["px4"] = Px4(self.line, "drone", HOME, options)
        self.sim: Simulation = build(built, gates=(self.link_gate,))
        self.peers: list[Peer] = []
        try:
            self.link_gate.attach(self.sim.port, folder)
        except LinkError:
            self.__exit__()
            raise

    def peer(self, answer: Callable[[Peer, Any], None]) -> Peer:
        """One that is gone when the bench is."""
        self.peers.append(Peer(self.line.port, answer))
        return self.peers[-1]

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: Any) -> None:
        self.link_gate.finish("done")
        self.link_gate.close()
        self.sim.close()
        for peer in self.peers:
            peer.close()

    def events(self) -> list[str]:
        return [line.split(" ", 3)[3].split(":")[0] for line in self.link._handover.news]


class Peer(threading.Thread):
    """Connects as PX4 does; `answer(peer, message)` is called with each message, None when the line is closed."""

    def __init__(self, port: int, answer: Callable[[Peer, Any], None]) -> None:
        super().__init__(daemon=True)
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.mav = common.MAVLink(None, 1, 1)
        self.answer = answer
        self.got: list[Any] = []
        self.start()

    def send(self, message: Any) -> None:
        with suppress(OSError):
            self.socket.sendall(message.pack(self.mav))

    def actuate(self, t_us: int, controls: Any = (), *, armed: bool = False, lockstep: bool = True) -> None:
        padded = [*controls, *[0.0] * (16 - len(controls))]
        self.send(common.MAVLink_hil_actuator_controls_message(t_us, padded, 1 + 128 * armed, int(lockstep)))

    def run(self) -> None:
        with suppress(OSError):
            while data := self.socket.recv(65536):
                for message in self.mav.parse_buffer(data) or []:
                    self.got.append(message)
                    self.answer(self, message)

    def sensors(self, number: int = 0) -> list[Any]:
        return [m for m in self.got if m.get_type() == "HIL_SENSOR" and m.id == number]

    def close(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.join(timeout=5)
        self.socket.close()


def echo(peer: Peer, message: Any) -> None:
    if message.get_type() == "HIL_SENSOR" and message.id == 0:
        peer.actuate(message.time_usec)


def silent(peer: Peer, message: Any) -> None:
    pass


def hovering(
    height: float = 2.0, yaw: float = math.radians(60), north: float = 2.0, east: float = -1.0
) -> Callable[..., None]:
    """Flies on HIL_SENSOR and HIL_GPS alone."""
    pilot = QuadPilot((north, east, -height), yaw)
    memory: dict[str, Any] = {"t": 0, "pressure": None}

    def answer(peer: Peer, message: Any) -> None:
        if message.get_type() == "HIL_GPS":
            pilot.velocity = [message.vn / 100, message.ve / 100, message.vd / 100]
            metres = 6371000.0 * math.pi / 180
            pilot.position[0] = (message.lat * 1e-7 - HOME.latitude_deg) * metres
            pilot.position[1] = (
                (message.lon * 1e-7 - HOME.longitude_deg) * metres * math.cos(math.radians(HOME.latitude_deg))
            )
        if message.get_type() != "HIL_SENSOR":
            return
        if memory["t"] == 0:
            declination = math.radians(15.1)
            pilot.yaw = math.atan2(-message.ymag, message.xmag) + declination
        gyro = (message.xgyro, message.ygyro, message.zgyro)
        pilot.integrate_gyro(gyro, (message.time_usec - memory["t"]) * 1e-6 if memory["t"] else 0.0)
        memory["t"] = message.time_usec
        if message.fields_updated & 0x1A00:
            memory["pressure"] = memory["pressure"] or message.abs_pressure
            pilot.position[2] = -(memory["pressure"] - message.abs_pressure) * 100 / (1.2 * 9.81)
        armed = message.time_usec > 100_000
        peer.actuate(message.time_usec, pilot.throttles(gyro) if armed else [], armed=armed)

    return answer
