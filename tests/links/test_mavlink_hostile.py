"""Clients that send rubbish, do not read, come in crowds or find the port taken: the simulation flies on."""

from __future__ import annotations

import math
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mavlink_setup import HOME, PLAIN, Client, Stage, staged
from pymavlink.dialects.v20 import common as mavlink

import skyloop
from free_ports import free_port
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import LinkGate
from skyloop.links.mavlink import listener
from skyloop.links.mavlink.link import GROUND_STATION, OWN_TCP, MavlinkConfig, MavlinkLink
from skyloop.links.mavlink.listener import MavlinkListener
from skyloop.links.pace import Pace
from skyloop.run import run_scenario
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, TakeOff

SPECIAL = (0.0, -1.0, 1.0, 1e38, -1e38, math.nan, math.inf, -math.inf, 2.5, 1e-40)


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(pace=20.0) as built:
        yield built


def some_value(chance: np.random.Generator, kind: str) -> Any:
    if kind in ("float", "double"):
        return float(chance.choice(SPECIAL)) if chance.random() < 0.5 else float(np.float32(chance.normal() * 100))
    bits = {"uint8_t": 8, "int8_t": 8, "uint16_t": 16, "int16_t": 16, "uint32_t": 32, "int32_t": 32}.get(kind, 64)
    low, high = (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if chance.random() < 0.6:
        return int(chance.integers(0, 8))
    return int(chance.integers(max(low, -(2**62)), min(high, 2**62)))


def some_message(chance: np.random.Generator, number: int) -> bytes | None:
    """A message with fields of every kind of value, for this vehicle as often as not."""
    kind = mavlink.mavlink_map[number]
    values: list[Any] = []
    for name, form, length in zip(kind.fieldnames, kind.fieldtypes, _lengths(kind), strict=True):
        if name in ("target_system", "target_component", "target"):
            values.append(int(chance.integers(0, 2)))
        elif form == "char":
            values.append(bytes(chance.integers(0, 256, length or 1).tolist()))
        elif length:
            values.append([some_value(chance, form) for _ in range(length)])
        else:
            values.append(some_value(chance, form))
    try:
        return bytes(kind(*values).pack(mavlink.MAVLink(None, srcSystem=255, srcComponent=190)))
    except (struct.error, TypeError, OverflowError):
        return None


def _lengths(kind: Any) -> list[int]:
    by_name = dict(zip(kind.ordered_fieldnames, kind.array_lengths, strict=True))
    return [by_name[name] for name in kind.fieldnames]


UNDERSTOOD = (
    "COMMAND_LONG", "COMMAND_INT", "SET_MODE", "PARAM_REQUEST_LIST", "PARAM_REQUEST_READ", "PARAM_SET", "MISSION_COUNT",
    "MISSION_ITEM_INT", "MISSION_ITEM", "MISSION_REQUEST_LIST", "MISSION_REQUEST_INT", "MISSION_REQUEST",
    "MISSION_CLEAR_ALL", "MISSION_SET_CURRENT", "SET_POSITION_TARGET_LOCAL_NED", "SET_POSITION_TARGET_GLOBAL_INT",
    "SET_ATTITUDE_TARGET", "MANUAL_CONTROL", "TIMESYNC", "PING",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_messages_of_all_values_are_survived(seed: int) -> None:
    """Straight into the vehicle, armed and flying, so that what they do is done; the state stays finite."""
    chance = np.random.default_rng(seed)
    link_gate = LinkGate(Pace(1000.0))
    link = MavlinkLink(link_gate.inbox, 1, HOME, MavlinkConfig(port_offset=None))
    link_gate.links["mavlink"] = link
    try:
        with skyloop.build(skyloop.make_scenario(PLAIN), gates=(link_gate,)) as simulation:
            link_gate.attach(simulation.port)
            simulation.run_for(0.3)
            vehicle = link.vehicles[0]
            channel = vehicle.channels[0]
            numbers = [getattr(mavlink, f"MAVLINK_MSG_ID_{name}") for name in UNDERSTOOD]
            for _ in range(40):
                simulation.send(Arm(), TakeOff(3.0))
                for number in chance.choice(numbers, 15):
                    data = some_message(chance, int(number))
                    for message in () if data is None else channel.inlet.feed(data):
                        vehicle.take(message, channel)
                channel.inlet.clear()
                simulation.run_for(0.05)
            assert vehicle.received > 100
            assert np.all(np.isfinite(simulation.truth().position))
    finally:
        link.listener.close()


def test_going_back_in_time_does_not_silence_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another link's reset does, while this one is at work; and forth again."""
    link_gate = LinkGate(Pace(1000.0))
    link = MavlinkLink(link_gate.inbox, 1, HOME, MavlinkConfig(port_offset=None))
    link_gate.links["mavlink"] = link
    try:
        with skyloop.build(skyloop.make_scenario(PLAIN), gates=(link_gate,)) as simulation:
            link_gate.attach(simulation.port)
            simulation.run_for(0.3)
            vehicle = link.vehicles[0]
            sent: list[Any] = []
            monkeypatch.setattr(vehicle.channels[0], "send", lambda message, component=1: sent.append(message))

            def beats(seconds: float) -> int:
                sent.clear()
                simulation.run_for(seconds)
                return sum(message.get_type() == "HEARTBEAT" for message in sent)

            simulation.run_for(0.005)
            early = simulation.snapshot()
            assert beats(5.0) in (5, 6)
            simulation.send(Arm())
            vehicle.modes.take_off(3.0)
            simulation.run_for(1.0)
            late = simulation.snapshot()
            simulation.restore(early)
            assert beats(3.0) in (3, 4)
            assert vehicle.modes.shown == "hold"
            simulation.restore(late)
            assert beats(3.0) in (3, 4)
    finally:
        link.listener.close()


def test_any_message_of_the_dialect_is_survived(stage: Stage) -> None:
    chance = np.random.default_rng(5)
    with socket.create_connection(("127.0.0.1", stage.ports[0]["tcp"])) as connection:
        client = Client(connection)
        for number in mavlink.mavlink_map:
            data = some_message(chance, number)
            if data is not None:
                connection.sendall(data)
        client.send(mavlink.MAVLink_timesync_message(0, 4242))
        client.until(lambda m: m.get_type() == "TIMESYNC" and m.ts1 == 4242)


def test_rubbish_and_half_messages_are_survived(stage: Stage) -> None:
    chance = np.random.default_rng(6)
    tcp, udp = stage.ports[0]["tcp"], stage.ports[0]["ground_station"]
    total = bytes(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(mavlink.MAVLink(None)))
    with (
        socket.create_connection(("127.0.0.1", tcp)) as stream,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        for _ in range(20):
            data = chance.bytes(int(chance.integers(1, 2000)))
            stream.sendall(data)
            datagrams.sendto(data, ("127.0.0.1", udp))
            datagrams.sendto(total[: int(chance.integers(1, len(total)))], ("127.0.0.1", udp))
        datagrams.connect(("127.0.0.1", udp))
        client = Client(datagrams)
        client.send(mavlink.MAVLink_timesync_message(0, 4243))
        client.until(lambda m: m.get_type() == "TIMESYNC" and m.ts1 == 4243)
    assert sum(channel.inlet.bad for channel in stage.link.vehicles[0].channels) > 0


def test_a_client_that_does_not_read_holds_nobody_up(stage: Stage) -> None:
    with socket.create_connection(("127.0.0.1", stage.ports[0]["tcp"])) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        began = stage.now
        with socket.create_connection(("127.0.0.1", stage.ports[0]["tcp"])) as connection:
            client = Client(connection)
            for _ in range(10):
                client.until("HEARTBEAT")
        assert stage.now - began > 5.0


def test_a_crowd_is_turned_away(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "GRACE_S", 60.0)
    crowd = [socket.create_connection(("127.0.0.1", stage.ports[0]["tcp"])) for _ in range(24)]
    try:
        turned_away = 0
        for connection in crowd:
            connection.settimeout(5.0)
            turned_away += connection.recv(1) == b""
        assert turned_away == 8
    finally:
        for connection in crowd:
            connection.close()


def test_silent_strangers_make_room_for_who_speaks(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen sockets that say nothing used to lock everybody out."""
    monkeypatch.setattr(listener, "GRACE_S", 0.1)
    tcp = ("127.0.0.1", stage.ports[0]["tcp"])
    silent = [socket.create_connection(tcp) for _ in range(listener.MOST_CONNECTIONS)]
    talkers = []
    try:
        for connection in silent:
            connection.settimeout(5.0)
            assert connection.recv(1)
        time.sleep(0.2)
        for number in range(listener.MOST_CONNECTIONS):
            talkers.append(Client(socket.create_connection(tcp)))
            talkers[-1].send(mavlink.MAVLink_timesync_message(0, 500 + number))
            talkers[-1].until(lambda m, number=number: m.get_type() == "TIMESYNC" and m.ts1 == 500 + number)
        # whoever has spoken stays, and then there is no room any more
        time.sleep(0.2)
        with socket.create_connection(tcp) as late:
            late.settimeout(5.0)
            assert late.recv(1) == b""
        for talker in talkers:
            talker.until("HEARTBEAT")
    finally:
        for connection in [*silent, *(talker.socket for talker in talkers)]:
            connection.close()


def test_datagrams_of_rubbish_take_no_room(stage: Stage) -> None:
    to = ("127.0.0.1", stage.ports[0]["companion"])
    strangers = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2 * listener.MOST_ADDRESSES)]
    try:
        for stranger in strangers:
            stranger.sendto(b"hello?", to)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.connect(to)
            client = Client(own)
            client.send(mavlink.MAVLink_timesync_message(0, 99))
            client.until(lambda m: m.get_type() == "TIMESYNC" and m.ts1 == 99)
    finally:
        for stranger in strangers:
            stranger.close()


def test_nothing_is_announced_before_it_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first heartbeat used to go out while the first pictures were painted, seconds before the first answer."""
    monkeypatch.setattr("skyloop.links.mavlink.link.BEAT_S", 0.0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ground:
        ground.bind(("127.0.0.1", free_port()))
        ground.settimeout(0.1)
        offset = ground.getsockname()[1] - GROUND_STATION
        gate = LinkGate(Pace(1000.0))
        link = gate.links["mavlink"] = MavlinkLink(gate.inbox, 1, HOME, MavlinkConfig(port_offset=offset))
        reported: list[float] = []
        try:
            with skyloop.build(skyloop.make_scenario(PLAIN), gates=(gate,)) as simulation:
                gate.attach(simulation.port)
                link.on_open = lambda: reported.append(simulation.now)
                link.poll()
                simulation.run_for(0.1)
                with pytest.raises(TimeoutError):
                    ground.recv(4096)
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", link.ports[0]["tcp"]))
                assert not reported
                simulation.run_for(0.3)
                assert reported == [pytest.approx(0.25)]
                assert ground.recv(4096)
                with socket.create_connection(("127.0.0.1", link.ports[0]["tcp"])) as connection:
                    client = Client(connection)
                    client.send(mavlink.MAVLink_timesync_message(0, 7))
                    end = time.monotonic() + 10.0
                    while "TIMESYNC" not in client.latest and time.monotonic() < end:
                        simulation.run_for(0.1)
                        client.receive()
                    assert client.latest["TIMESYNC"].ts1 == 7
        finally:
            link.listener.close()


def test_a_port_in_use_is_named_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port()))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LinkError, match=rf"cannot open TCP port {port} on 127\.0\.0\.1.*--port-offset") as caught:
            MavlinkLink(Inbox(), 1, HOME, MavlinkConfig(port_offset=port - OWN_TCP))
        assert "\n" not in str(caught.value)


def test_the_whole_run_leaves_its_folder_and_ends_when_landed(tmp_path: Path) -> None:
    """What `skyloop mavlink` does, with the first contact made by the vehicle."""
    scenario = skyloop.make_scenario({**PLAIN, "duration": 60.0})
    ends: list[str] = []
    import threading

    def fly() -> None:
        while not ends:
            pass
        with socket.create_connection(("127.0.0.1", int(ends[0].rpartition(":")[2]))) as connection:
            client = Client(connection)
            assert client.command(400, 1) == 0
            assert client.command(22, 0, 0, 0, math.nan, math.nan, math.nan, math.nan) == 0
            client.until_mode("hold")
            assert client.command(21) == 0
            client.until_disarmed()

    pilot = threading.Thread(target=fly)
    pilot.start()
    clients = MavlinkConfig(port_offset=None, until_landed=True, pace=10.0, opened=ends.append)
    summary = run_scenario(scenario, tmp_path / "run", links=[clients])
    pilot.join(timeout=10.0)
    assert summary["simulated_s"] < 40.0
    assert summary["vehicles"]["drone"]["highest_m"] > 2.0
    assert summary["links"]["mavlink"]["vehicles"][0]["messages_received"] >= 3
    assert (tmp_path / "run" / "summary.json").exists()


def test_somebody_who_cannot_be_reached_is_named() -> None:
    with pytest.raises(LinkError, match=r"10\.0\.0\.7 cannot be reached from 127\.0\.0\.1; give --listen 0\.0\.0\.0"):
        MavlinkListener(Inbox()).udp(0, 1, 0, ("10.0.0.7", 14550))


@pytest.mark.processes
def test_without_pymavlink_it_says_what_to_install() -> None:
    script = "import sys; sys.modules['pymavlink'] = None; import skyloop.links.mavlink.link"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "SetupError: MAVLink needs the package pymavlink" in done.stderr
