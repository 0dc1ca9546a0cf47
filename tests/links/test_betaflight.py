"""Betaflight's link against a peer of raw bytes; the real one flies in the slow suite."""

from __future__ import annotations

import math
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from quad_pilot import QuadPilot

from skyloop.core.frames import GeoPoint, quat_from_euler
from skyloop.links.autopilots.betaflight import Betaflight, BetaflightOptions
from skyloop.links.autopilots.betaflight_wire import motors_from, msp, rc_packet, settings, state_packet, stick_for_rate
from skyloop.links.autopilots.rc_pilot import Leg, RcPilot
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.links.sockets import Datagrams
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError
from skyloop_client.messages import VehicleState

HOME = GeoPoint(47.0, -122.0, 100.0)


class Sitl(threading.Thread):
    """Answers each state with motors, from a port of its own, to whoever sent the state."""

    def __init__(self, answer: Callable[[tuple[float, ...]], list[float] | None]) -> None:
        super().__init__(daemon=True)
        self.states = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.states.bind(("127.0.0.1", 0))
        self.states.settimeout(0.2)
        self.rc = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.rc.bind(("127.0.0.1", 0))
        self.rc.setblocking(False)
        self.answer = answer
        self.got: list[tuple[float, ...]] = []
        self.channels: list[tuple[float, ...]] = []
        self.over = False
        self.start()

    def run(self) -> None:
        while not self.over:
            try:
                data, sender = self.states.recvfrom(2000)
            except OSError:
                continue
            with suppress(OSError):
                while True:
                    self.channels.append(struct.unpack("<d16H", self.rc.recv(2000)))
            self.got.append(struct.unpack("<18d", data))
            motors = self.answer(self.got[-1])
            if motors is not None:
                self.states.sendto(struct.pack("<4f", *motors), sender)

    def close(self) -> None:
        self.over = True
        self.join(timeout=5)
        self.states.close()
        self.rc.close()


class Bench:
    def __init__(
        self, answer: Any, rc: Any = None, pace: float = 20.0, wait_s: float = 30.0, target: Any = None, **vehicle: Any
    ) -> None:
        self.sitl = Sitl(answer)
        self.link_gate = LinkGate(Pace(pace))
        line = Datagrams(self.link_gate.inbox, "127.0.0.1", 0, "Betaflight")
        options = BetaflightOptions(
            state_port=self.sitl.states.getsockname()[1], rc_port=self.sitl.rc.getsockname()[1], hang_s=1.0,
            rate_hz=500, wait_s=wait_s,
        )  # fmt: skip
        self.link = self.link_gate.links["betaflight"] = Betaflight(line, "drone", HOME, rc, options, target)
        built = make_scenario({"truth_rate_hz": 10, "vehicles": [{"battery": False, **vehicle}]})
        self.sim = build(built, gates=(self.link_gate,))
        self.link_gate.attach(self.sim.port)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: Any) -> None:
        self.link_gate.finish("done")
        self.sim.close()
        self.sitl.close()


def test_axes() -> None:
    """As the 4.6 build showed them: rates FRD, quaternion ned_from_frd, acceleration minus the force in FLU."""
    quat = quat_from_euler(math.radians(20), math.radians(10), math.radians(30))
    truth = VehicleState(
        0, np.zeros(3), np.zeros(3), quat, np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(4), np.zeros(4), np.zeros(3)
    )
    rates, force = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 9.0])
    packet = state_packet(1.5, truth, rates, force, (47.5, -122.5, 30.0), np.array([4.0, 5.0, 6.0]), 99000.0)
    t, p, q, r, ax, ay, az, w, x, y, z, ve, vn, vu, longitude, latitude, altitude, pressure = struct.unpack(
        "<18d", packet
    )
    assert (t, p, q, r) == pytest.approx((1.5, 0.1, -0.2, -0.3))
    assert (ax, ay, az) == pytest.approx((-1.0, -2.0, -9.0))
    # heading 60 deg clockwise from north, nose 10 deg down, right side 20 deg down
    assert math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) == pytest.approx(60.0)
    assert math.degrees(math.asin(2 * (w * y - z * x))) == pytest.approx(-10.0)
    assert math.degrees(math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))) == pytest.approx(20.0)
    assert (ve, vn, vu, longitude, latitude, altitude, pressure) == (4.0, 5.0, 6.0, -122.5, 47.5, 30.0, 99000.0)


def test_packets() -> None:
    assert struct.unpack("<d16H", rc_packet(2.0, [1100, 1200, 99999, -5]))[:6] == (2.0, 1100, 1200, 65535, 0, 1000)
    assert motors_from(struct.pack("<4f", 0.25, 0.5, 0.75, 1.0)) == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert motors_from(struct.pack("<4f", 0.1, math.nan, 0.1, 0.1)) is None
    assert motors_from(b"1234") is None
    assert msp(108) == b"$M<\x00ll"
    assert settings()[0] == b"$M<\x05\x23\x00\x00\x00\x20\x30" + bytes([5 ^ 35 ^ 0x20 ^ 0x30])
    for share in (-1.0, -0.3, 0.0, 0.1, 1.0):
        x = stick_for_rate(share)
        assert (70.0 * x + 600.0 * x * abs(x)) / 670.0 == pytest.approx(share)


def test_states_motors_and_rc() -> None:
    rc = RcPilot([Leg(0.0)])
    with Bench(lambda state: [0.2, 0.4, 0.6, 0.8], rc, position=[0.0, 0.0, 50.0]) as bench:
        bench.sim.run_until(0.3)
        np.testing.assert_allclose(bench.sim.truth().rotor_speeds / 1100, [0.2, 0.4, 0.6, 0.8], atol=0.01)
        steps = np.diff([state[0] for state in bench.sitl.got])
        np.testing.assert_allclose(steps, 0.002, atol=1e-9)
        first = bench.sitl.got[0]
        assert first[14:17] == pytest.approx((-122.0, 47.0, 150.0), abs=1e-3)
        assert first[17] == pytest.approx(101325 * (1 - 2.25577e-5 * 150) ** 5.25588)
        assert 10 <= len(bench.sitl.channels) <= 16
        assert bench.sitl.channels[0][1:5] == (1500, 1500, 1000, 1500)
        # once the rotors turn, both switches are on
        assert bench.sitl.channels[-1][5:7] == (2000, 2000)


def test_the_outer_loop_leans_and_turns_the_right_way() -> None:
    """Looking north, with the goal 4 m east and 3 m north, and a turn to the left to make."""
    pilot = RcPilot([Leg(0.0, east=4.0, north=3.0, height=2.0, turn=math.pi / 2)])
    north = quat_from_euler(0.0, 0.0, math.pi / 2)
    spinning = np.ones(4)

    def at(position: list[float]) -> VehicleState:
        zero = np.zeros(3)
        return VehicleState(0, np.array(position), zero, north, zero, zero, zero, spinning, spinning, zero)

    roll, pitch, throttle, yaw, arm, angle = pilot(0.0, at([0.0, 0.0, 0.1]))
    assert roll > 1600 and pitch > 1580 and yaw < 1450 and throttle > 1600
    assert (arm, angle) == (2000, 2000)
    roll, pitch, throttle, yaw, *_ = pilot(0.1, at([8.0, 6.0, 5.0]))
    assert roll < 1400 and pitch < 1420 and throttle < 1600


def test_a_peer_hovers() -> None:
    pilot = QuadPilot((2.0, -1.0, -2.0), math.radians(60))

    def fly(state: tuple[float, ...]) -> list[float]:
        t, p, q, r, _, _, _, w, x, y, z, ve, vn, vu, longitude, latitude, altitude, _ = state
        pilot.set_attitude(w, x, y, z)
        metres = 6378137.0 * math.pi / 180
        east = (longitude + 122.0) * metres * math.cos(math.radians(47))
        pilot.position = [(latitude - 47.0) * metres * 0.9957, east, 100.0 - altitude]
        pilot.velocity = [vn, ve, -vu]
        return pilot.throttles((p, q, r)) if t > 0.1 else [0.0] * 4

    with Bench(fly, yaw_deg=30.0) as bench:
        # a peer on a busy machine answers late, and takes longer to come to rest
        for t in (5.0, 10.0, 20.0, 40.0):
            bench.sim.run_until(t)
            if np.allclose(bench.sim.truth().position, [-1.0, 2.0, 2.0], atol=0.15):
                break
        np.testing.assert_allclose(bench.sim.truth().position, [-1.0, 2.0, 2.0], atol=0.15)


def test_rubbish_and_silence() -> None:
    sent = [0]

    def rubbish(state: tuple[float, ...]) -> list[float] | None:
        sent[0] += 1
        return (
            [0.75] * 4 if state[0] < 0.4 and sent[0] % 2 else [math.nan, 0.0, math.inf, 0.0] if state[0] < 0.4 else None
        )

    with Bench(rubbish, position=[0.0, 0.0, 1.5]) as bench:
        bench.sim.run_until(1.0)
        while not any("hung" in line for line in bench.link._handover.news):
            bench.sim.run_for(0.1)
        assert bench.link.summary()["bad_packets"] > 50
        bench.link_gate.pace = Pace(1000.0)
        bench.sim.run_for(9.0)
        assert bench.sim.autopilots["drone"].status(0).landed
    with Bench(lambda state: None, wait_s=0.01) as bench, pytest.raises(LinkError, match="no Betaflight sent to port"):
        bench.sim.run_until(20.0)


class Sleepy:
    """A process whose first start does not come to life."""

    name = "sleepy"

    def __init__(self) -> None:
        self.starts = self.stops = 0

    def start(self, address: str, folder: Any) -> None:
        self.starts += 1

    def ended(self) -> str | None:
        return None

    def stop(self) -> None:
        self.stops += 1


def test_one_that_does_not_wake_up_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyloop.links.autopilots.betaflight.STUCK_S", 0.3)
    sleepy = Sleepy()

    def answer(state: tuple[float, ...]) -> list[float] | None:
        # the first packet is the one it sends before its main loop runs
        return [0.0] * 4 if sleepy.starts > 1 or state[0] < 0.003 else None

    with Bench(answer, target=sleepy, pace=1.0) as bench:
        while sleepy.starts < 2:
            bench.sim.run_for(0.1)
        bench.sim.run_for(0.3)
        assert sleepy.stops == 1
        assert bench.link.summary()["restarts"] == 1
        assert bench.link.summary()["motor_packets"] > 50
        assert any("restarted: Betaflight did not wake up" in line for line in bench.link.summary()["news"])
