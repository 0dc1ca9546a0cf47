"""Nobody who looks on changes, slows or ends a flight: stalled clients, garbage, two at once; and how it is refused."""

from __future__ import annotations

import base64
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foxglove_client import Viewer

import skyloop
from left_out import leave_out
from link_rig import eventually
from skyloop.cli import console, main
from skyloop.links.foxglove import link as link_module
from skyloop.links.foxglove.link import FoxgloveLink
from skyloop.links.registry import LINKS
from skyloop.run import run_scenario
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation import Simulation
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import CameraImage

PLAIN: dict[str, Any] = {
    "world": "flat",
    "duration": 1.0,
    "vehicles": [
        {"name": "drone", "pilot": {"kind": "hover"}, "sensors": {"lidar": {"kind": "lidar", "preset": "vlp16"}}}
    ],
}


def plain() -> Scenario:
    return skyloop.make_scenario(PLAIN)


@pytest.fixture
def flying() -> Iterator[tuple[Simulation, FoxgloveLink]]:
    with skyloop.build(plain()) as simulation:
        stream = FoxgloveLink(port=0)
        stream.attach(simulation.port)
        yield simulation, stream
        stream.close()


def looks(simulation: Simulation, stream: FoxgloveLink, viewer: Viewer, topic: str = "/truth/drone") -> None:
    """A viewer that subscribes now is shown what happens now."""
    assert viewer.until(lambda: topic in viewer.channels)
    viewer.subscribe(topic)
    # another may be subscribed already: until this one is told something
    before = len(viewer.on(topic))

    def reported() -> bool:
        simulation.run_for(0.05)
        return len(viewer.on(topic)) > before

    assert eventually(reported)
    assert abs(viewer.on(topic)[-1].log_ns - simulation.clock.now_ns) < 10**9


class Raw:
    """A WebSocket client that never reads again after the handshake."""

    def __init__(self, port: int, protocol: str = "foxglove.sdk.v1") -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n".encode()
        )
        self.answer = self.socket.recv(12)

    def frame(self, opcode: int, data: bytes) -> None:
        assert len(data) < 1 << 16
        self.socket.sendall(bytes([0x80 | opcode, 0xFE]) + len(data).to_bytes(2, "big") + bytes(4) + data)


def test_who_never_reads_does_not_hold_up_the_flight(flying: tuple[Simulation, FoxgloveLink]) -> None:
    simulation, stream = flying
    with Viewer(stream.url) as viewer:
        assert viewer.until(lambda: set(viewer.channels) >= set(stream._channels))
        numbers = [channel["id"] for channel in viewer.channels.values()]
    stalled = Raw(stream.port)
    wanted = [{"id": number, "channelId": number} for number in numbers]
    stalled.frame(1, json.dumps({"op": "subscribe", "subscriptions": wanted}).encode())
    assert eventually(lambda: all(channel.has_sinks() for channel in stream._channels.values()))
    # by far more than the backlog and the system's buffers hold
    flight = threading.Thread(target=simulation.run_for, args=(5.0,), daemon=True)
    flight.start()
    flight.join(timeout=60.0)
    assert not flight.is_alive() and simulation.now == pytest.approx(5.0)
    with Viewer(stream.url) as viewer:
        looks(simulation, stream, viewer)
    stream.close()
    simulation.run_for(0.1)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", stream.port), timeout=1.0).close()
    stalled.socket.close()


def test_garbage_on_the_port_ends_nothing(flying: tuple[Simulation, FoxgloveLink]) -> None:
    simulation, stream = flying
    noise = np.random.default_rng(5).bytes(5000)
    for said in (b"", b"\x00" * 100, b"GET / HTTP/1.1\r\n\r\n", noise, b"GET " + b"x" * 100_000):
        with socket.create_connection(("127.0.0.1", stream.port)) as stranger:
            stranger.sendall(said)
    other = Raw(stream.port, "foxglove.other")
    assert other.answer == b"HTTP/1.1 400"
    other.socket.close()
    member = Raw(stream.port)
    assert member.answer == b"HTTP/1.1 101"
    for text in ("", "{", "[]", '{"op": 5}', '{"op": "subscribe"}', '{"op": "advertise", "channels": [{}]}',
                 '{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 999999}]}'):  # fmt: skip
        member.frame(1, text.encode())
    for data in (b"", b"\x01", b"\x02\xff\xff\xff\xff\xff", noise):
        member.frame(2, data)
    member.socket.sendall(noise)
    simulation.run_for(0.5)
    with Viewer(stream.url) as viewer:
        looks(simulation, stream, viewer)
    member.socket.close()


def test_two_look_on_and_one_leaves(flying: tuple[Simulation, FoxgloveLink]) -> None:
    simulation, stream = flying
    with Viewer(stream.url) as first:
        looks(simulation, stream, first)
        with Viewer(stream.url) as second:
            looks(simulation, stream, second)
            # what does not change is said at once to whoever comes
            for topic in ("/tf_static", "/tracks", "/world"):
                looks(simulation, stream, second, topic)
        looks(simulation, stream, first)
    assert eventually(lambda: not any(channel.has_sinks() for channel in stream._channels.values()))


def test_a_vehicle_that_joins_is_shown_too(flying: tuple[Simulation, FoxgloveLink]) -> None:
    simulation, stream = flying
    with Viewer(stream.url) as viewer:
        looks(simulation, stream, viewer)
        assert "/second/lidar/points" not in viewer.channels
        simulation.editor.join("second", "drone", np.array([5.0, 0.0, 0.1]), np.array([1.0, 0.0, 0.0, 0.0]))
        simulation.run_for(0.1)
        looks(simulation, stream, viewer, "/second/lidar/points")
        assert viewer.on("/second/lidar/points")[-1].data.header.frame_id == "second/lidar"


def test_nothing_is_made_that_nobody_looks_at(flying: tuple[Simulation, FoxgloveLink]) -> None:
    simulation, stream = flying
    built: list[str] = []

    def spied(topic: str, make: Any, info: Any, record: Any) -> Any:
        built.append(topic)
        return make(info, record)

    for views in stream._views.values():
        for place, (topic, view) in enumerate(views):
            views[place] = (topic, replace(view, make=partial(spied, topic, view.make)))
    simulation.run_for(0.3)
    assert not built
    with Viewer(stream.url) as viewer:
        looks(simulation, stream, viewer)
        assert set(built) == {"/truth/drone"}


class OddCamera:
    """A sensor of somebody's own that says half of what a camera must."""

    message, latency = "CameraImage", 0.0

    def initial_state(self, rng: Any) -> None:
        return None

    def details(self) -> dict[str, float]:
        return {"fx": 100.0}

    def measure(self, kinematics: Any, scene: Any, state: Any, rng: Any) -> tuple[Any, Any]:
        return CameraImage(kinematics.t_ns, np.zeros((2, 3), np.uint8)), state


def test_what_cannot_be_shown_ends_no_flight(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("from test_foxglove_hostile import OddCamera\n", encoding="utf-8")
    sensors = {"odd": {"kind": f"{tmp_path / 'odd.py'}:OddCamera", "rate_hz": 20}}
    with skyloop.build(skyloop.make_scenario({"world": "flat", "vehicles": [{"sensors": sensors}]})) as simulation:
        stream = FoxgloveLink(port=0)
        stream.attach(simulation.port)
        with Viewer(stream.url) as viewer:
            looks(simulation, stream, viewer)
            viewer.subscribe("/drone/odd/camera_info")

            def reported() -> list[Any]:
                simulation.run_for(0.05)
                return viewer.statuses

            assert eventually(reported)
            assert viewer.statuses[0]["message"].startswith("/drone/odd/camera_info cannot be shown: KeyError")
            simulation.run_for(0.5)
            viewer.until(lambda: len(viewer.on("/truth/drone")) > 20)
            assert len(viewer.statuses) == 1, "and that is said once"
        stream.close()


def contents(folder: Path) -> dict[str, bytes]:
    """All but how long it took."""
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    summary = json.loads(files.pop("summary.json"))
    for key in ("wall_s", "real_time_factor"):
        del summary[key]
    return {**files, "summary": json.dumps(summary).encode()}


def test_a_run_is_the_same_with_and_without(tmp_path: Path) -> None:
    run_scenario(plain(), tmp_path / "alone")
    viewers: list[Viewer] = []

    class Watched(FoxgloveLink):
        def attach(self, port: SimulationPort, folder: Any = None, link_gate: Any = None) -> None:
            super().attach(port, folder, link_gate)
            viewers.append(Viewer(self.url))
            viewers[0].subscribe()
            assert eventually(lambda: all(channel.has_sinks() for channel in self._channels.values()))

        def finish(self, why: str) -> None:
            (viewer,) = viewers
            assert viewer.until(lambda: viewer.on("/truth/drone") and viewer.on("/drone/lidar/points"))

    run_scenario(plain(), tmp_path / "watched", links=[Watched(port=0)])
    (viewer,) = viewers
    assert viewer.until(lambda: viewer.closed), "the flight is over"
    viewer.close()
    alone, watched = contents(tmp_path / "alone"), contents(tmp_path / "watched")
    assert len(alone) > 8 and alone == watched


def complaint(capsys: Any, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["skyloop", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    said = capsys.readouterr()
    assert not said.out and len(said.err.splitlines()) == 1
    return str(said.err)


def test_a_port_in_use_is_named(capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        said = complaint(capsys, monkeypatch, "run", "hover", "--out", str(tmp_path / "run"), "--foxglove", place)
    assert place in said and "in use" in said and not (tmp_path / "run").exists()


def test_the_newer_internet_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        leave_out("IPv6")
    stream = FoxgloveLink("::1", 0)
    assert stream.url == f"ws://[::1]:{stream.port}"
    with skyloop.build(plain()) as simulation:
        stream.attach(simulation.port)
        with Viewer(stream.url) as viewer:
            looks(simulation, stream, viewer)
    stream.close()


def test_a_port_is_kept_while_the_world_is_built() -> None:
    first = FoxgloveLink(port=0)
    with skyloop.build(plain()) as simulation:
        first.attach(simulation.port)
        with pytest.raises(LinkError, match=f"127.0.0.1:{first.port}.* in use"):
            FoxgloveLink(port=first.port)
    first.close()

    def is_free() -> bool:
        try:
            FoxgloveLink(port=first.port).close()
        except LinkError:
            return False
        return True

    # the SDK lets go of it in a thread of its own
    assert eventually(is_free)


@pytest.mark.parametrize("place", ["no.such.host.invalid:0", "127.0.0.1:70000", "127.0.0.1:", "=nonsense"])
def test_a_place_that_is_none(capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str) -> None:
    said = complaint(capsys, monkeypatch, "run", "hover", "--out", str(tmp_path / "run"), f"--foxglove={place}")
    assert place in said


def test_without_the_sdk_one_line_says_how_to_get_it(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "foxglove", None)
    monkeypatch.setattr(LINKS, "_loaded", {})
    for name in [name for name in sys.modules if name.startswith("skyloop.links.foxglove.")]:
        monkeypatch.delitem(sys.modules, name)
    said = complaint(capsys, monkeypatch, "run", "hover", "--out", str(tmp_path / "run"), "--foxglove")
    assert "pip install 'skyloop[foxglove]'" in said


def test_the_option_alone_means_the_usual_place() -> None:
    host, _, port = console.PLACES["--foxglove"].rpartition(":")
    assert (host, int(port)) == ("127.0.0.1", link_module.PORT)
    usual = f"--foxglove={console.PLACES['--foxglove']}"
    for written, meant in (
        ([], []),
        (["run", "hover", "--foxglove"], ["run", "hover", usual]),
        (["run", "--foxglove", "hover"], ["run", usual, "hover"]),
        (["run", "hover", "--foxglove", "--json"], ["run", "hover", usual, "--json"]),
        (["run", "hover", "--foxglove", "9000"], ["run", "hover", "--foxglove", "9000"]),
        (["run", "hover", "--foxglove", "0.0.0.0:9"], ["run", "hover", "--foxglove", "0.0.0.0:9"]),
        (["run", "hover", "--foxglove=9000"], ["run", "hover", "--foxglove=9000"]),
    ):
        assert console.with_places(written) == meant
