"""PX4's link against a peer that speaks pymavlink and knows nothing of our wire module."""

from __future__ import annotations

import math
import socket
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from px4_peer import HOME, SENSORS, Bench, Peer, echo, hovering, scenario, silent
from pymavlink.dialects.v20 import common

from skyloop.links.autopilots.px4 import Px4Options
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.links.sockets import OnePeer
from skyloop_client.errors import LinkError


def test_every_step_is_answered_before_the_next_is_sent() -> None:
    with Bench(scenario()) as bench:
        lead: list[int] = []

        def answer(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR":
                time.sleep(0.001)
                lead.append(bench.sim.clock.now_ns // 1000 - message.time_usec)
                peer.actuate(message.time_usec)

        peer = bench.peer(answer)
        bench.sim.run_until(0.4)
        stamps = [m.time_usec for m in peer.sensors()]
        # time was never beyond what PX4 had answered, from its first answer on
        assert stamps[:3] == [4000, 8000, 12000]
        assert set(np.diff(stamps)) == {4000}
        assert set(lead[50:]) == {0}
        assert bench.link.summary()["missed_deadlines"] == 0
        assert "lockstep" in bench.events()


def test_groups_are_marked_when_they_are_new() -> None:
    with Bench(scenario()) as bench:
        peer = bench.peer(echo)
        bench.sim.run_until(0.2)
        fields = {m.time_usec: m.fields_updated for m in peer.sensors()}
        assert fields[4000] == 0x1FFF & ~0x400  # what t = 0 had measured
        assert all(fields[t] == (0x1BFF if t % 20000 == 0 else 0x3F) for t in fields if t > 4000)
        fixes = [m for m in peer.got if m.get_type() == "HIL_GPS"]
        assert [m.time_usec for m in fixes[1:4]] == [40000, 80000, 120000]


def test_it_boots_in_silence_while_time_goes_on_at_real_pace() -> None:
    with Bench(scenario()) as bench:
        answered: list[int] = []

        def late(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR" and message.time_usec >= 80_000:
                answered.append(message.time_usec)
                peer.actuate(message.time_usec)

        peer = bench.peer(late)
        began = time.perf_counter()
        bench.sim.run_until(0.08)
        assert time.perf_counter() - began > 0.06
        bench.sim.run_until(0.3)
        assert answered[0] == 80_000
        assert len(peer.sensors()) == 74 == len(answered) + 19


def test_a_silent_px4_is_given_up_and_its_vehicle_lands() -> None:
    with Bench(scenario(), Px4Options(hang_s=1.0)) as bench:
        pilot = hovering(1.0)

        def falls_silent(peer: Peer, message: Any) -> None:
            if bench.sim.clock.now_ns < 2e9:
                pilot(peer, message)

        bench.peer(falls_silent)
        bench.sim.run_until(2.02)
        assert "hung" in bench.events()
        assert bench.sim.truth().position[2] > 0.5
        bench.link_gate.pace = Pace(1000.0)
        bench.sim.run_until(11.0)
        assert bench.sim.autopilots["drone"].status(0).landed


def test_bounded_waiting_logs_each_miss(tmp_path: Any) -> None:
    with Bench(scenario(), Px4Options(lockstep="bounded", miss_s=0.02), tmp_path) as bench:
        dropped = {100_000, 120_000, 160_000}

        def forgetful(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR" and message.time_usec not in dropped:
                peer.actuate(message.time_usec)

        bench.peer(forgetful)
        bench.sim.run_until(0.3)
        bench.link_gate.finish("done")
        misses = [float(line.split()[0]) for line in (tmp_path / "px4-misses-drone.txt").read_text().splitlines()]
        assert {0.1, 0.12, 0.16} <= set(misses)
        assert bench.link.summary()["missed_deadlines"] == len(misses)


def test_a_px4_without_lockstep_is_never_waited_for() -> None:
    with Bench(scenario(), Px4Options(hang_s=5.0)) as bench:

        def freely(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR" and message.time_usec < 60_000:
                peer.actuate(message.time_usec, lockstep=False)

        bench.peer(freely)
        bench.sim.run_until(0.2)
        assert bench.link.allows_realtime
        assert "lockstep" not in bench.events()
        # from 60 ms on nobody answered, which is told
        assert bench.link.summary()["missed_deadlines"] >= 30


def test_a_late_answer_does_not_release_the_next_step() -> None:
    with Bench(scenario()) as bench:
        ahead: list[int] = []

        def twice(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR":
                peer.actuate(message.time_usec)
                peer.actuate(message.time_usec)
                time.sleep(0.001)
                ahead.append(bench.sim.clock.now_ns // 1000 - message.time_usec)

        bench.peer(twice)
        bench.sim.run_until(0.4)
        # the second answer belongs to the same step, so the simulation is one step ahead at most
        assert max(ahead[50:]) <= 4000


def test_a_px4_that_counts_from_its_first_sensor_message_is_not_taken_for_late() -> None:
    with Bench(scenario(), Px4Options(hang_s=3.0)) as bench:
        ahead: list[int] = []

        def from_zero(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR":
                time.sleep(0.001)
                ahead.append(bench.sim.clock.now_ns // 1000 - message.time_usec)
                peer.actuate(message.time_usec - peer.sensors()[0].time_usec)

        bench.peer(from_zero)
        bench.sim.run_until(0.4)
        assert "hung" not in bench.events()
        assert set(ahead[50:]) == {0}


def test_one_that_missed_an_answer_comes_back() -> None:
    with Bench(scenario(), Px4Options(hang_s=0.3)) as bench:

        def misses_one(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR" and message.time_usec != 100_000:
                peer.actuate(message.time_usec)

        bench.peer(misses_one)
        bench.sim.run_until(0.3)
        assert [kind for kind in bench.events() if kind in ("hung", "connected", "lockstep")] == [
            "connected", "lockstep", "hung", "connected", "lockstep",
        ]  # fmt: skip


def test_one_that_was_stopped_flies_on_the_present_when_it_goes_on() -> None:
    """As with SIGSTOP and SIGCONT: what it has not read waits in its socket, and it answers all of that first."""
    with Bench(scenario(), Px4Options(hang_s=0.3)) as bench:
        ahead: list[int] = []

        def stops(peer: Peer, message: Any) -> None:
            if message.get_type() != "HIL_SENSOR":
                return
            if message.time_usec == 100_000:
                time.sleep(1.0)
            time.sleep(0.001)
            ahead.append(bench.sim.clock.now_ns // 1000 - message.time_usec)
            peer.actuate(message.time_usec)

        peer = bench.peer(stops)
        bench.sim.run_until(1.2)
        assert bench.events().count("hung") == 1
        # time went on without it for 0.7 s, and it got next to nothing of that
        steps = np.diff([m.time_usec for m in peer.sensors()])
        assert (steps > 4000).sum() <= 3 and steps[steps > 4000].sum() > 500_000
        assert set(ahead[-20:]) == {0}


def test_truth_comes_when_it_was_asked_for() -> None:
    with Bench(scenario(position=[3.0, 7.0, 5.0], yaw_deg=30.0)) as bench:
        peer = bench.peer(echo)
        peer.send(common.MAVLink_heartbeat_message(2, 12, 128, 0, 0, 3))
        peer.send(common.MAVLink_command_long_message(0, 0, 511, 0, 115, 5000, 0, 0, 0, 0, 0))
        bench.sim.run_until(0.2)
        states = [m for m in peer.got if m.get_type() == "HIL_STATE_QUATERNION"]
        assert 20 <= len(states) <= 41
        yaw = math.radians(90 - 30)
        np.testing.assert_allclose(
            states[0].attitude_quaternion, [math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)], atol=1e-4
        )
        metres = 6378137.0 * math.pi / 180 * 1e-7
        assert (states[0].lat - HOME.latitude_deg * 1e7) * metres == pytest.approx(7.0, rel=0.01)
        east = (states[0].lon - HOME.longitude_deg * 1e7) * metres * math.cos(math.radians(HOME.latitude_deg))
        assert east == pytest.approx(3.0, rel=0.01)
        assert states[0].zacc == pytest.approx(1000, abs=20)  # it falls: 1 g downwards


def test_a_peer_hovers_on_our_sensors() -> None:
    with Bench(scenario(yaw_deg=30.0)) as bench:
        bench.peer(hovering())
        bench.sim.run_until(6.0)
        truth = bench.sim.truth()
        np.testing.assert_allclose(truth.position[:2], [-1.0, 2.0], atol=0.1)
        assert truth.position[2] - 0.12 == pytest.approx(2.0, abs=0.15)
        assert float(np.linalg.norm(truth.velocity_world)) < 0.1
        assert bench.sim.autopilots["drone"].status(0).armed


def test_rangefinder_and_odometry_go_out_and_a_dropped_imu_sample_holds_nobody_up() -> None:
    down = {"kind": "rangefinder", "preset": "perfect", "rate_hz": 50, "mount": {"rotation_deg": [0, 90, 0]}}
    gap = [{"kind": "off", "start": 1.0, "end": 1.05}]
    sensors = {**SENSORS, "imu": {**SENSORS["imu"], "faults": gap}, "down": down}
    options = Px4Options(odometry="drone/estimate", odometry_frame="ned", hang_s=5.0)
    with Bench(scenario(state="ekf", sensors=sensors, position=[3.0, 7.0]), options) as bench:

        def answer(peer: Peer, message: Any) -> None:
            if message.get_type() == "HIL_SENSOR" and message.fields_updated & 0x38:
                peer.actuate(message.time_usec)

        peer = bench.peer(answer)
        bench.sim.run_until(3.0)
        assert "hung" not in bench.events()
        assert 10 <= sum(not m.fields_updated & 0x3F for m in peer.sensors()) <= 14
        ranges = [m for m in peer.got if m.get_type() == "DISTANCE_SENSOR"]
        assert len(ranges) >= 149
        assert (ranges[-1].current_distance, ranges[-1].orientation) == (12, 25)
        seen = [m for m in peer.got if m.get_type() == "ODOMETRY"]
        assert (seen[-1].x, seen[-1].y, seen[-1].z) == pytest.approx((7.0, 3.0, -0.12), abs=0.2)


def test_fuzz_neither_kills_nor_hangs() -> None:
    with Bench(scenario()) as bench:
        rng = np.random.default_rng(5)
        hello = common.MAVLink(None, 1, 1)
        total = common.MAVLink_hil_actuator_controls_message(4000, [math.nan] * 16, 129, 1).pack(hello)
        odd = common.MAVLink_command_long_message(0, 0, 511, 0, math.inf, math.nan, 0, 0, 0, 0, 0).pack(hello)

        def noisy(peer: Peer, message: Any) -> None:
            if message.get_type() != "HIL_SENSOR":
                return
            rubbish = rng.integers(0, 256, rng.integers(0, 200), dtype=np.uint8).tobytes()
            broken = bytearray(total)
            broken[int(rng.integers(len(broken)))] ^= int(rng.integers(1, 256))
            with suppress(OSError):
                peer.socket.sendall(rubbish + bytes(broken) + odd + total)
            peer.actuate(message.time_usec, [math.nan, math.inf, -math.inf, 1e30], armed=True)

        bench.peer(noisy)
        bench.sim.run_until(0.5)
        assert np.isfinite(bench.sim.truth().position).all()
        assert bench.link.summary()["bad_messages"] > 0


def test_a_second_px4_is_turned_away_and_a_new_one_may_come() -> None:
    with Bench(scenario()) as bench:
        first = bench.peer(echo)
        bench.sim.run_until(0.05)
        second = bench.peer(silent)
        second.join(timeout=5)
        assert bench.line.refused == 1 and not second.got
        first.close()
        while "left" not in bench.events():
            bench.sim.run_for(0.02)
        third = bench.peer(echo)
        while not third.sensors():
            bench.sim.run_for(0.02)
        bench.sim.run_for(0.1)
        assert bench.events().count("lockstep") == 2


def test_its_clock_goes_on_when_ours_is_set_back() -> None:
    with Bench(scenario()) as bench:
        peer = bench.peer(echo)
        bench.sim.run_until(0.1)
        saved = bench.sim.snapshot()
        bench.sim.run_until(0.2)
        bench.sim.restore(saved)
        bench.sim.run_until(0.3)
        stamps = np.array([m.time_usec for m in peer.sensors()])
        resets = [m for m in peer.sensors() if m.fields_updated & 0x80000000]
        assert (np.diff(stamps) == 4000).all()
        assert len(resets) == 1


def test_what_is_wrong_is_told_in_a_line() -> None:
    link_gate = LinkGate()
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    with pytest.raises(LinkError, match=rf"^PX4: cannot listen on 127.0.0.1:{port}: Address already in use; .*"):
        OnePeer(link_gate.inbox, "127.0.0.1", port, "PX4")
    taken.close()
    slow = {**SENSORS, "imu": {"kind": "imu", "rate_hz": 200}}
    with pytest.raises(LinkError, match="250 Hz or a multiple; it runs at 200 Hz"):
        Bench(scenario(sensors=slow))
    with pytest.raises(LinkError, match="needs an IMU on drone"):
        Bench(scenario(sensors={}))
    with pytest.raises(LinkError, match="no lockstep named 'soft'"):
        Px4Options(lockstep="soft")
    with Bench(scenario(), Px4Options(wait_s=0.01)) as bench, pytest.raises(LinkError, match="no PX4 came to port"):
        bench.sim.run_until(0.1)
