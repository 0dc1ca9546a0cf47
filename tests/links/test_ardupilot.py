"""ArduPilot's link against a peer of raw bytes, with a parser as picky as the real one's."""

from __future__ import annotations

import math
import re
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from quad_pilot import QuadPilot

from skyloop.core.frames import GeoPoint
from skyloop.links.autopilots.ardupilot import Ardupilot, ArdupilotOptions
from skyloop.links.autopilots.vision_line import VisionLine
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.links.sockets import Datagrams
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError

NUMBER = r"-?[0-9.]+(?:e-?[0-9]+)?"
DOWN = {"kind": "rangefinder", "preset": "perfect", "rate_hz": 50, "mount": {"rotation_deg": [0, 90, 0]}}


def found(line: str, section: str, key: str, width: int) -> list[float]:
    """As ArduPilot does: the first place where the section's name stands, then the key's, then at once the value."""
    at = line.index(section) if section else 0
    at = line.index(key, at) + len(key)
    value = rf"\[({','.join([NUMBER] * width)})\]" if width > 1 else rf"({NUMBER})"
    match = re.match(rf'":{value}', line[at:])
    assert match, f"failed to parse {section}/{key} in {line[at : at + 60]!r}"
    return [float(part) for part in match[1].split(",")]


def parsed(data: bytes) -> dict[str, Any]:
    assert data.startswith(b"\n") and data.endswith(b"\n") and data.count(b"\n") == 2
    line = data.decode("ascii")
    assert " " not in line and "rc" not in line  # the latter would begin a section
    wind, vane = found(line, "", "velocity_wind", 3), found(line, "windvane", "speed", 1)[0]
    read = {
        "t": found(line, "", "timestamp", 1)[0],
        "gyro": found(line, "imu", "gyro", 3),
        "accel": found(line, "imu", "accel_body", 3),
        "position": found(line, "", "position", 3),
        "quaternion": found(line, "", "quaternion", 4),
        "velocity": found(line, "", "velocity", 3),
        "wind": wind,
        "vane": (found(line, "windvane", "direction", 1)[0], vane),
        "airspeed": found(line, "", "airspeed", 1)[0],
    }
    if "rng_1" in line:
        read["rng_1"] = found(line, "", "rng_1", 1)[0]
    if "battery" in line:
        read["voltage"] = found(line, "battery", "voltage", 1)[0]
    read["no_lockstep"] = '"no_lockstep":1' in line
    return read


class Sitl(threading.Thread):
    """Sends servos, waits for a line, and so on, from an ephemeral port; `fly` gives 0..1 or None for silence."""

    def __init__(
        self, port: int, fly: Callable[[dict[str, Any] | None], list[float] | None], channels: int = 16
    ) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.to = ("127.0.0.1", port)
        self.fly = fly
        self.channels = channels
        self.count = 0
        self.got: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.over = False
        self.start()

    def send(self, throttle: list[float]) -> None:
        pwm = [round(1000 + 1000 * share) for share in throttle]
        pwm += [0] * (self.channels - len(pwm))
        magic = {16: 18458, 32: 29569}[self.channels]
        self.socket.sendto(struct.pack(f"<HHI{self.channels}H", magic, 1200, self.count, *pwm), self.to)

    def run(self) -> None:
        with suppress(OSError):
            self.send([0.0] * 4)
            while not self.over:
                try:
                    data = self.socket.recv(65000)
                except TimeoutError:
                    continue
                try:
                    self.got.append(parsed(data))
                except (AssertionError, ValueError) as error:
                    self.faults.append(str(error))
                throttle = self.fly(self.got[-1] if self.got else None)
                if throttle is not None:
                    self.count += 1
                    self.send(throttle)

    def close(self) -> None:
        self.over = True
        self.join(timeout=5)
        self.socket.close()


class Bench:
    def __init__(
        self, options: ArdupilotOptions | None = None, vision: VisionLine | None = None, **vehicle: Any
    ) -> None:
        self.link_gate = LinkGate()
        self.line = Datagrams(self.link_gate.inbox, "127.0.0.1", 0, "ArduPilot")
        self.link = self.link_gate.links["ardupilot"] = Ardupilot(self.line, "drone", options, None, vision)
        built = make_scenario({"truth_rate_hz": 10, "vehicles": [{"battery": False, **vehicle}]})
        self.sim = build(built, gates=(self.link_gate,))
        self.link_gate.attach(self.sim.port)
        self.peers: list[Sitl] = []

    def sitl(self, fly: Any, channels: int = 16) -> Sitl:
        self.peers.append(Sitl(self.line.port, fly, channels))
        return self.peers[-1]

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: Any) -> None:
        for peer in self.peers:
            peer.close()
        self.link_gate.finish("done")
        self.sim.close()

    def events(self) -> list[str]:
        return [line.split(" ", 3)[3].split(":")[0] for line in self.link._handover.news]


def still(line: Any) -> list[float]:
    return [0.0] * 4


def test_one_line_for_each_packet_on_our_own_grid() -> None:
    with Bench(ArdupilotOptions(rate_hz=400)) as bench:
        sitl = bench.sitl(still)
        bench.sim.run_until(0.5)
        stamps = np.array([line["t"] for line in sitl.got])
        np.testing.assert_allclose(stamps, 0.0025 * np.arange(1, len(stamps) + 1), atol=1e-9)
        assert sitl.count in (len(stamps) - 1, len(stamps))
        assert not sitl.faults
        np.testing.assert_allclose(sitl.got[-1]["accel"], [0, 0, -9.80665], atol=1e-3)
        assert bench.link.summary()["its_rate_hz"] == 1200


def test_time_stands_still_without_packets_and_a_repeated_one_brings_the_line_again() -> None:
    with Bench(ArdupilotOptions(rate_hz=400, hang_s=5.0)) as bench:
        sitl = bench.sitl(lambda line: still(line) if line["t"] < 0.1 else None)
        reached: list[float] = []

        def asks_again() -> None:
            while len(sitl.got) < 40:
                threading.Event().wait(0.01)
            threading.Event().wait(0.1)
            reached.append(bench.sim.now)
            for _ in range(3):
                sitl.send([0.0] * 4)  # the same count: it has lost our line
                threading.Event().wait(0.05)
            reached.append(bench.sim.now)
            sitl.fly = still
            sitl.count += 1
            sitl.send([0.0] * 4)

        thread = threading.Thread(target=asks_again)
        thread.start()
        bench.sim.run_until(0.2)
        thread.join()
        assert reached == pytest.approx([0.1, 0.1])
        assert [line["t"] for line in sitl.got[39:43]] == pytest.approx([0.1] * 4)
        assert bench.link.summary()["asked_again"] == 3


@pytest.mark.parametrize("channels", [16, 32])
def test_channels_drive_motors_in_quad_x_order(channels: int) -> None:
    with Bench(ArdupilotOptions(rate_hz=400), position=[0.0, 0.0, 50.0]) as bench:
        outputs = [0.2, 0.4, 0.6, 0.8]
        sitl = bench.sitl(lambda line: outputs, channels)
        bench.sim.run_until(0.3)
        speeds = bench.sim.truth().rotor_speeds / 1100.0
        np.testing.assert_allclose(speeds, outputs, atol=0.01)
        assert not sitl.faults


def test_a_crazyflies_rotors_are_found_by_where_they_are() -> None:
    """Its own order is front right, rear right, rear left, front left."""
    with Bench(ArdupilotOptions(rate_hz=400), airframe="crazyflie", position=[0.0, 0.0, 50.0]) as bench:
        bench.sitl(lambda line: [0.2, 0.4, 0.6, 0.8])
        bench.sim.run_until(0.5)
        command = bench.sim.fleet.actuators(0, 0).commands
        top = command.max() / 0.8
        np.testing.assert_allclose(command / top, [0.2, 0.8, 0.4, 0.6], atol=0.01)


def test_a_restarted_sitl_is_taken_on() -> None:
    with Bench(ArdupilotOptions(rate_hz=400)) as bench:
        sitl = bench.sitl(still)
        bench.sim.run_until(0.1)
        sitl.close()
        bench.sitl(still)
        bench.sim.run_until(0.3)
        assert bench.events().count("restarted") == 1
        stamps = np.array([line["t"] for line in bench.peers[1].got])
        assert (np.diff(stamps) > 0).all() and stamps[0] > 0.099


def test_time_may_be_set_back() -> None:
    with Bench(ArdupilotOptions(rate_hz=400)) as bench:
        sitl = bench.sitl(still)
        bench.sim.run_until(0.1)
        saved = bench.sim.snapshot()
        bench.sim.run_until(0.2)
        bench.sim.restore(saved)
        bench.sim.run_until(0.3)
        steps = np.diff([line["t"] for line in sitl.got])
        assert (steps < 0).sum() == 1
        np.testing.assert_allclose(steps[steps > 0], 0.0025, atol=1e-9)
        assert "reset" in bench.events()


def test_without_lockstep_nobody_waits() -> None:
    with Bench(ArdupilotOptions(rate_hz=400, no_lockstep=True)) as bench:
        bench.link_gate.pace = Pace(5.0)
        sitl = bench.sitl(lambda line: None)
        bench.sim.run_until(0.5)
        threading.Event().wait(0.1)
        assert len(sitl.got) > 150
        assert all(line["no_lockstep"] for line in sitl.got)


def test_a_vanished_ardupilot_leaves_a_vehicle_that_lands() -> None:
    with Bench(ArdupilotOptions(rate_hz=400, hang_s=1.0), position=[0.0, 0.0, 1.5]) as bench:
        bench.sitl(lambda line: [0.73] * 4 if line["t"] < 0.5 else None)
        bench.sim.run_until(0.6)
        assert "hung" in bench.events()
        bench.link_gate.pace = Pace(1000.0)
        bench.sim.run_until(10.0)
        assert bench.sim.autopilots["drone"].status(0).landed


def test_fuzz_is_counted_and_changes_nothing() -> None:
    with Bench(ArdupilotOptions(rate_hz=400)) as bench:
        rng = np.random.default_rng(7)

        def noisy(line: Any) -> list[float]:
            magic = int(rng.choice([18458, 29569, 0]))
            size = int(rng.choice([0, 1, 7, 8, 39, 41, 60, 71, 1400]))
            rubbish = struct.pack("<HHI", magic, 0, 0) + rng.integers(0, 256, size, dtype=np.uint8).tobytes()
            sitl.socket.sendto(rubbish[: size or 4], sitl.to)
            return [0.0] * 4

        sitl = bench.sitl(noisy)
        bench.sim.run_until(0.3)
        assert bench.link.summary()["bad_packets"] > 50
        assert bench.link.summary()["restarts"] == 0
        assert not bench.sim.autopilots["drone"].status(0).armed


def test_a_peer_hovers_on_our_lines() -> None:
    up = {**DOWN, "mount": {"rotation_deg": [0, -90, 0]}}
    with Bench(ArdupilotOptions(rate_hz=400), yaw_deg=30.0, sensors={"down": DOWN, "up": up}) as bench:
        pilot = QuadPilot((2.0, -1.0, -2.0), math.radians(60))

        def fly(line: dict[str, Any]) -> list[float]:
            pilot.set_attitude(*line["quaternion"])
            pilot.position, pilot.velocity = line["position"], line["velocity"]
            return pilot.throttles(line["gyro"]) if line["t"] > 0.1 else [0.0] * 4

        sitl = bench.sitl(fly)
        bench.sim.run_until(5.5)
        truth = bench.sim.truth()
        np.testing.assert_allclose(truth.position, [-1.0, 2.0, 2.0], atol=0.1)
        assert float(np.linalg.norm(truth.velocity_world)) < 0.1
        assert sitl.got[-1]["rng_1"] == pytest.approx(2.0, abs=0.1)
        assert '"rng_2":10000.0' in bench.link._last_line.decode()
        assert not sitl.faults


def test_estimates_come_over_its_second_port() -> None:
    """As ArduPilot does, it takes ODOMETRY in one pair of frames only, and says when its EKF has an origin."""
    seen: list[Any] = []
    server = socket.create_server(("127.0.0.1", 0))

    def listens() -> None:
        line, _ = server.accept()
        mav = common.MAVLink(None, 1, 1)
        with line, suppress(OSError):
            while data := line.recv(65536):
                for message in mav.parse_buffer(data) or []:
                    seen.append(message)
                    if message.get_type() == "SET_GPS_GLOBAL_ORIGIN":
                        place = message.latitude, message.longitude, message.altitude
                        line.sendall(common.MAVLink_gps_global_origin_message(*place).pack(mav))

    threading.Thread(target=listens, daemon=True).start()
    home = GeoPoint(-35.5, 149.25, 584.0)
    things = f"{Path(__file__).parents[1] / 'published_things.py'}:FromTruth"
    with Bench(
        ArdupilotOptions(rate_hz=400, odometry="vio"), VisionLine(home, server.getsockname()[1]), yaw_deg=30.0,
        position=[3.0, 7.0], estimators={"vio": {"kind": things, "inputs": ["truth/drone"]}},
    ) as bench:  # fmt: skip
        bench.sitl(still)
        bench.sim.run_until(2.5)
    (origin,) = [message for message in seen if message.get_type() == "SET_GPS_GLOBAL_ORIGIN"]
    assert (origin.latitude, origin.longitude, origin.altitude) == (-355000000, 1492500000, 584000)
    odometry = [message for message in seen if message.get_type() == "ODOMETRY"]
    # the truth of this bench has 10 Hz
    assert {(m.frame_id, m.child_frame_id) for m in odometry} == {(20, 12)} and len(odometry) > 20
    assert (odometry[-1].x, odometry[-1].y) == pytest.approx((7.0, 3.0), abs=1e-3)
    assert 2.0 * math.atan2(odometry[-1].q[3], odometry[-1].q[0]) == pytest.approx(math.radians(60.0), abs=1e-3)
    server.close()


def test_what_is_wrong_is_told_in_a_line() -> None:
    link_gate = LinkGate()
    taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taken.bind(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    with pytest.raises(LinkError, match=rf"^ArduPilot: cannot listen on 127.0.0.1:{port}: Address already in use; .*"):
        Datagrams(link_gate.inbox, "127.0.0.1", port, "ArduPilot")
    taken.close()
    with pytest.raises(LinkError, match="more than 10"):
        ArdupilotOptions(rate_hz=10)
    with Bench(ArdupilotOptions(wait_s=0.01)) as bench, pytest.raises(LinkError, match="waits for a ground station"):
        bench.sim.run_until(0.1)
