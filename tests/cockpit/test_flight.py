"""Viewers of a flight: they see it, one of them steers it, and when that one vanishes the vehicle lands by itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from pathlib import Path

import numpy as np
import pytest

from cockpit_rig import CockpitRig, until
from skyloop.cockpit.commands import CommandsConfig
from skyloop.cockpit.hub import Viewer
from skyloop.core.validation import read_yaml
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario


def orders_of(folder: Path) -> list[str]:
    return [row.split(",")[2] for row in (folder / "commands.csv").read_text().splitlines()[1:]]


@pytest.mark.processes
def test_a_flight_is_seen_and_steered(rig: CockpitRig) -> None:
    rig.fly()
    run = rig.run
    viewer = rig.viewer("truth/drone", "drone/status", "drone/battery")
    assert viewer.next("rec", s="truth/drone")["n"]["position"][2] < 1.0
    assert "on the ground" in viewer.order("goal", x=1, y=1, z=2)["detail"]
    # time: pause, one step, on
    assert viewer.call("/api/time", {"paused": True})["ok"]
    until(lambda: rig.get("/api/about")["clock"]["paused"])
    before = rig.get("/api/about")["clock"]["t_ns"]
    assert viewer.call("/api/time", {"step": 0.5})["ok"]
    until(lambda: rig.get("/api/about")["clock"]["t_ns"] - before == 500_000_000)
    assert "give 0.01" in viewer.call("/api/time", {"speed": 1e9})["detail"]
    assert viewer.call("/api/time", {"paused": False, "speed": 20})["ok"]
    # one steers, the other watches
    assert viewer.order("take_off", height=3)["ok"]
    second = rig.viewer()
    assert second.order("land")["status"] == 409
    assert second.call("/api/time", {"paused": True})["status"] == 409
    assert second.call("/api/snapshots", {})["status"] == 409
    until(lambda: viewer.next("rec", s="drone/status")["n"]["mode"] == "hover")
    # waypoints one after the other, straight, for no planner flies here
    points = [{"x": 2.0, "y": 0.0, "z": 3.0}, {"x": 2.0, "y": 2.0, "z": 3.0}]
    told = viewer.call("/api/vehicles/drone/waypoints", {"points": points, "fly": True})
    assert told["points"] == points and told["flying"]
    until(lambda: not viewer.next("clock")["vehicles"]["drone"]["waypoints"]["points"])
    until(lambda: np.linalg.norm(viewer.next("rec", s="truth/drone")["n"]["position"] - np.array([2, 2, 3])) < 0.3)
    # the page vanishes without a word
    viewer.socket.socket.shutdown(socket.SHUT_RDWR)
    kinds = [second.next("rec", v="event")["kind"] for _ in range(1)]
    while "landed" not in kinds:
        kinds.append(second.next("rec", v="event")["kind"])
    assert "released" in kinds
    # home: it lands where it took off; then armed, and killed in the air
    assert second.order("take_off")["ok"]
    second.socket.send(json.dumps({"want": ["truth/drone", "drone/status"]}))
    until(lambda: second.next("rec", s="drone/status")["n"]["mode"] == "hover")
    assert second.order("home")["ok"]
    until(lambda: second.next("rec", s="drone/status")["n"]["mode"] == "disarmed")
    assert second.order("arm")["ok"]
    until(lambda: second.next("rec", s="drone/status")["n"]["armed"])
    assert second.order("take_off", height=3)["ok"]
    until(lambda: second.next("rec", s="drone/status")["n"]["mode"] == "hover")
    assert second.order("kill")["ok"]
    contact = second.next("rec", v="event", kind="contact")["contact"]
    assert contact["speed"] > 0.5 and abs(contact["position"][2]) < 0.2
    until(lambda: not second.next("rec", s="drone/status")["n"]["armed"])
    assert second.call("/api/flight/stop", {}) is None
    second.next("ended")
    assert orders_of(run) == [
        "take_off",
        "goal",
        "goal",
        "release",
        "take_off",
        "home",
        "arm",
        "take_off",
        "kill",
        "end",
    ]
    second.close()


def rows_of(path: Path, from_ns: int) -> list[str]:
    """Rows of a stream that arrived later than an instant."""
    return [row for row in path.read_text().splitlines()[1:] if int(row.split(",", 2)[1]) > from_ns]


@pytest.mark.processes
def test_back_to_a_snapshot_and_on_from_there(rig: CockpitRig, tmp_path: Path) -> None:
    """The flight goes on as if nothing had been after that instant, and its orders repeat it to the same bytes."""
    sensors = {"imu": {"kind": "imu", "rate_hz": 100}, "gnss": {"kind": "gnss", "rate_hz": 5}}
    vehicle = {"name": "drone", "sensors": sensors}
    rig.fly({"name": "back", "seed": 5, "duration": 100, "wind": {"kind": "dryden"}, "vehicles": [vehicle]})
    first = rig.run
    viewer = rig.viewer("truth/drone", "drone/status")
    viewer.call("/api/time", {"speed": 50})
    viewer.order("take_off", height=2)
    until(lambda: viewer.next("rec", s="drone/status")["n"]["mode"] == "hover")
    kept = viewer.call("/api/snapshots", {})
    assert [kept["number"], kept["t"], True] in viewer.next("clock")["snapshots"] or until(
        lambda: [kept["number"], kept["t"], True] in viewer.next("clock")["snapshots"]
    )
    viewer.order("goal", x=3.0, y=0.0, z=2.0)
    until(lambda: viewer.next("rec", v="event")["kind"] == "arrived")
    assert "no snapshot 99" in viewer.call("/api/snapshots/back", {"number": 99})["detail"]
    assert viewer.call("/api/snapshots/back", {"number": kept["number"]}) == {"t": kept["t"]}
    viewer.next("source")
    until(lambda: rig.run != first)
    second = rig.run
    # paused at that instant, over the start, and still in this person's hands
    told = until(lambda: (clock := viewer.next("clock"))["paused"] and clock["t_ns"] / 1e9 == kept["t"] and clock)
    assert told["mine"]
    viewer.call("/api/time", {"paused": False, "speed": 50})
    viewer.order("goal", x=0.0, y=1.0, z=2.0)
    until(lambda: viewer.next("rec", v="event")["kind"] == "arrived")
    viewer.call("/api/flight/stop", {})
    viewer.next("ended")
    until(lambda: (second / "summary.json").exists())
    assert orders_of(first) == ["take_off", "goal", "end"] and orders_of(second) == ["take_off", "goal", "end"]
    again = make_scenario(read_yaml(second / "scenario.yaml"))
    run_scenario(again, tmp_path / "again", links=[CommandsConfig(file=second / "commands.csv")])
    from_ns = round(kept["t"] * 1e9)
    for name in ("truth/drone", "drone/imu", "drone/gnss", "drone/status"):
        rows = rows_of(second / "streams" / f"{name}.csv", from_ns)
        assert len(rows) > 5 and rows == rows_of(tmp_path / "again" / "streams" / f"{name}.csv", from_ns), name
    viewer.close()


@pytest.mark.processes
def test_two_see_the_same_and_held_keys_fly_until_released(rig: CockpitRig) -> None:
    rig.fly()
    viewer, other = rig.viewer("truth/drone", "drone/status"), rig.viewer("truth/drone")
    times, also = ([one.next("rec", s="truth/drone")["t"] for _ in range(20)] for one in (viewer, other))
    assert times == sorted(set(times)) and set(times) & set(also)
    assert rig.get("/api/about")["viewers"] == 2
    other.close()
    viewer.order("take_off")
    until(lambda: viewer.next("rec", s="drone/status")["n"]["mode"] == "hover")
    for _ in range(20):
        viewer.socket.send(json.dumps({"order": "hand", "vehicle": "drone", "arguments": {"forward": 1.0}}))
        viewer.next("clock")
    until(lambda: viewer.next("rec", s="drone/status")["n"]["mode"] == "setpoint")
    # nothing more is heard of the keys: the dead man's rule
    until(lambda: viewer.next("rec", s="drone/status")["n"]["mode"] == "hover")
    orders = orders_of(rig.run)
    assert orders.count("velocity") >= 2 and orders[-1] == "hover"
    viewer.close()


@pytest.mark.slow("fills the buffers of a viewer that does not read")
@pytest.mark.processes
def test_who_does_not_read_loses_frames_and_slows_nobody(rig: CockpitRig) -> None:
    """Scans for a socket that never reads pile up nowhere: they are lost, and the flight and another viewer go on."""
    rig.fly({"name": "deaf", "duration": 600, "vehicles": [{"name": "drone", "sensors": {"lidar": {"kind": "lidar"}}}]})
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", rig.port))
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    host = f"Host: 127.0.0.1:{rig.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    deaf.sendall(f"GET /api/live?token={rig.cockpit.server.token} HTTP/1.1\r\n{host}{key}\r\n".encode())
    wish = json.dumps({"want": ["truth/drone", "drone/lidar"]}).encode()
    deaf.sendall(bytes([0x81, 0x80 | len(wish)]) + bytes(4) + wish)
    viewer = rig.viewer("truth/drone", "drone/lidar")
    until(lambda: rig.get("/api/about")["viewers"] == 2)
    seen, given = [], 0
    while given < 5_000_000:
        scan = viewer.next("rec", s="drone/lidar")
        seen.append(scan["t"])
        given += len(scan["payload"])
    assert seen == sorted(seen)
    viewer.close()
    # what it finds when it reads at last, after the flight, is less than the other was given
    rig.end()
    deaf.settimeout(1.0)
    got = 0
    with deaf, contextlib.suppress(TimeoutError, ConnectionError):
        while data := deaf.recv(1 << 16):
            got += len(data)
    assert 0 < got < given


def test_who_reads_slowly_loses_frames_and_no_events() -> None:
    async def read() -> tuple[list[bytes], int]:
        viewer = Viewer()
        for number in range(1000):
            viewer.put_newest("truth/drone", b"%d" % number)
        viewer.put_each(b"event")
        return [await viewer.next(), await viewer.next()], viewer.lost

    assert asyncio.run(read()) == ([b"event", b"999"], 999)
