"""The link: bundles per second beside a plain socket with the same bytes, and round trips while cameras run."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skyloop.benchmarks.link_client import STREAM, take
from skyloop.core.results import Figure
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.links.pace import Pace
from skyloop.sim.assembly import build
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Message, TakeOff
from skyloop_client.wire import framed

SENSORS = ("rgb", "depth", "lidar", "gps")
RIG = ("rgb0", "depth0", "lidar0", "gps0")
RATE_HZ = 20.0
GROUND_S, RISE_S = 0.4, 5.0
"""Simulated s: on the ground until each sensor has a sample, and to climb and hover."""
QUESTION_BYTES = 131
"""Size of a question for a rig's bundle."""
CLIENT_S = 120.0
"""Wall s after which the client counts as stuck."""
ECHO = """
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
peer, _ = server.accept()
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while data := peer.recv(16):
    peer.sendall(data)
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    bundles: int = 150
    """Per round over the link, then the same number over a plain socket."""
    rounds: int = 7
    trip_s: float = 12.0
    world: str = "park"


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench link`."""
    sizes = sizes or Sizes()
    options = RecordOptions(world=sizes.world, rate_hz=RATE_HZ, sensors=SENSORS)
    scenario = rig_scenario(options, {"vehicles.0.sensors.rgb0.truth": [], "vehicles.0.pilot": None})
    with build(scenario) as simulation:
        simulation.run_for(GROUND_S)
        figures = _throughput(simulation, sizes)
    for is_large in (False, True):
        with build(scenario) as simulation:
            simulation.run_for(GROUND_S)
            figures += _through_memory(simulation, sizes, is_large=is_large)
    # images of the climb are not needed
    with build(scenario, wanted=lambda t_ns: t_ns >= 1e9 * RISE_S) as simulation:
        simulation.send(Arm(), TakeOff(3.0))
        # start the renderer before the measurement
        simulation.run_until(RISE_S + 0.2)
        return figures + _round_trips(simulation, sizes)


class Feeder:
    """A gate behind the links' gate. After each answer it publishes a new sample of every stream."""

    def __init__(self, simulation: Simulation, streams: tuple[str, ...], most: int, *, is_large: bool) -> None:
        self._publish = simulation.bus.publish
        self.messages: list[Message] = []
        for stream in streams:
            message = simulation.bus.newest(stream)
            assert message is not None, stream
            self.messages.append(_enlarged(message) if is_large else message)
        # made beforehand, because that is not the link's work
        self._coming = iter([[replace(m, index=m.index + k) for m in self.messages] for k in range(1, most)])

    def pass_to(self, t_ns: int) -> int:
        for message in next(self._coming):
            self._publish(message)
        return t_ns


def _enlarged(message: Message) -> Message:
    """Pictures of 1280x720 in the place of those of 320x240."""
    larger = {
        name: np.tile(picture, (3, 4, 1)[: picture.ndim])
        for name in ("colour", "depth")
        if isinstance(picture := getattr(message.data, name, None), np.ndarray)
    }
    return replace(message, data=replace(message.data, **larger))


def _exchanges(
    simulation: Simulation, sizes: Sizes, *, shared_memory: bool, is_large: bool = False
) -> tuple[dict[str, Any], int]:
    """Seconds of bundles over the link and of the same bytes on a plain socket, and the bytes of one answer."""
    streams = tuple(f"{next(iter(simulation.autopilots))}/{name}" for name in RIG)
    feeder = Feeder(simulation, streams, 100 + sizes.bundles * (1 + sizes.rounds), is_large=is_large)
    with _link(simulation, SessionOptions(), (feeder,)) as (link, address):
        answer = _example_answer(simulation, feeder)
        with _Plain(answer) as plain:
            told = {
                "port": plain.port, "streams": streams, "bundles": sizes.bundles, "rounds": sizes.rounds,
                "answer_bytes": len(answer), "question_bytes": QUESTION_BYTES, "shared_memory": shared_memory,
            }  # fmt: skip
            seen = _run_client("throughput", address, told, simulation, link)
    sent = [row.bytes for row in link.timeline.rows]
    assert max(sent) - len(answer) < 64, "the plain answer is as large as the link's"
    return seen, len(answer)


def _through_memory(simulation: Simulation, sizes: Sizes, *, is_large: bool) -> list[Figure]:
    """With a client on the same machine, which reads arrays where the simulator put them."""
    seen, answer_bytes = _exchanges(simulation, sizes, shared_memory=True, is_large=is_large)
    link, plain = (np.median(seen[name], axis=1) for name in ("link", "plain"))
    prefix, aim = ("large_", None) if is_large else ("", 2.0)
    what = f"pictures of {'1280x720' if is_large else '320x240'}: {answer_bytes} bytes"
    return [
        Figure(f"{prefix}shared_memory_vs_raw_socket", float(np.median(plain / link)), "ratio", aim,
               f"{what}; rate of bundles whose arrays lie in shared memory over that of the same bytes, asked for and "
               "answered, on a plain socket between the same two processes; median of rounds"),
        Figure(f"{prefix}shared_memory_bundles_per_s", float(1.0 / np.median(link)), "1/s", None,
               "the same bundles; median"),
    ]  # fmt: skip


def _throughput(simulation: Simulation, sizes: Sizes) -> list[Figure]:
    seen, answer_bytes = _exchanges(simulation, sizes, shared_memory=False)
    # a median of single exchanges, so that other programs on the machine do not decide the ratio
    link, plain = (np.median(seen[name], axis=1) for name in ("link", "plain"))
    each_us = 1e6 * np.ravel(seen["link"])
    n = f"n = {each_us.size}"
    what = f"colour and float depth of 320x240, LiDAR scan, fix: {answer_bytes} bytes"
    return [
        Figure("vs_raw_socket", float(np.median(plain / link)), "ratio", 0.7,
               "rate over the link over that of the same bytes, asked for and answered, on a plain socket between the "
               "same two processes; median of rounds"),
        Figure("bundles_per_s", float(1.0 / np.median(link)), "1/s", None, f"{what}; encoded, sent, decoded; median"),
        Figure("raw_socket_per_s", float(1.0 / np.median(plain)), "1/s", None, "asked for and answered, median"),
        Figure("raw_stream_per_s", float(1.0 / np.median(seen["stream"])), "1/s", None, "one after the other, unasked"),
        Figure("bundle_bytes", float(answer_bytes), "B", None, "of one answer, with state and status"),
        Figure("bundle_p50_us", float(np.percentile(each_us, 50)), "µs", None, f"question to decoded answer, {n}"),
        Figure("bundle_p99_us", float(np.percentile(each_us, 99)), "µs", None, f"question to decoded answer, {n}"),
    ]  # fmt: skip


def _example_answer(simulation: Simulation, feeder: Feeder) -> bytes:
    """The bytes of an answer with all of the feeder's messages."""
    autopilot = next(iter(simulation.autopilots.values()))
    now = simulation.clock.now_ns
    reply = {
        "type": "reply", "number": 100, "t_ns": now, "state": autopilot.state(now), "status": autopilot.status(now),
        "messages": {m.stream: [m.index + 100, m.t_ns, m.arrival_ns, m.data] for m in feeder.messages},
        "elsewhere": {}, "refused": [], "events": [],
        "battery": next(iter(simulation.port.vehicles.values())).battery, "computer_energy_j": 0.0,
    }  # fmt: skip
    return b"".join(framed(reply))


def _round_trips(simulation: Simulation, sizes: Sizes) -> list[Figure]:
    echo = subprocess.Popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE, text=True)
    try:
        assert echo.stdout is not None
        told = {"port": int(echo.stdout.readline()), "seconds": sizes.trip_s}
        images = simulation.bus.counts[f"{next(iter(simulation.autopilots))}/rgb0"]
        began_ns = simulation.clock.now_ns
        with _link(simulation, SessionOptions(mode="none")) as (link, address):
            seen = _run_client("round_trips", address, told, simulation, link)
        images = simulation.bus.counts[f"{next(iter(simulation.autopilots))}/rgb0"] - images
    finally:
        echo.kill()
        echo.communicate()
    simulated = (simulation.clock.now_ns - began_ns) / 1e9
    us = {name: {q: float(np.percentile(1e6 * np.array(seen[name]), q)) for q in (50, 99)} for name in seen}
    n = f"n = {len(seen['ping'])}"
    during = f"while {sizes.world} is painted {images} times in {simulated:.0f} simulated s, mode none"
    above = "above a plain TCP ping-pong with a process that does nothing else, by turns in the same run"
    figures = [
        Figure("round_trip_p50_us", us["ping"][50] - us["plain"][50], "µs", 200.0,
               f"the link's own: ping to pong, {during}; median {above}; {n}", lower_is_better=True),
        Figure("round_trip_p99_us", us["ping"][99] - us["plain"][99], "µs", 2000.0,
               "the same, 99th percentile above that of the plain one", lower_is_better=True),
        Figure("ask_p50_us", us["ask"][50] - us["plain"][50], "µs", None,
               f"a setpoint until the simulator says that it flies on it, median {above}"),
        Figure("ask_p99_us", us["ask"][99] - us["plain"][99], "µs", 2000.0, "the same, 99th percentile",
               lower_is_better=True),
    ]  # fmt: skip
    for q in (50, 99):
        figures.append(Figure(f"plain_p{q}_us", us["plain"][q], "µs", None, "the plain ping-pong itself"))
    return figures


@contextmanager
def _link(
    simulation: Simulation, options: SessionOptions, further_gates: tuple[Any, ...] = ()
) -> Iterator[tuple[Coordinator, str]]:
    """A listener and a coordinator on the simulation's clock."""
    link_gate = LinkGate(Pace(None if options.mode == "sync" else 1.0))
    listener = Listener(link_gate.inbox)
    try:
        link_gate.links["link"] = link = Coordinator(listener, options)
        link_gate.attach(simulation.port)
        simulation.clock.gates = (link_gate, *further_gates)
        try:
            yield link, f"127.0.0.1:{listener.ports[0]}"
        finally:
            link_gate.finish("the bench is over")
    finally:
        listener.close()


def _run_client(what: str, address: str, told: dict[str, Any], simulation: Simulation, link: Coordinator) -> Any:
    """Step the simulation until the client has left. Returns the client's results."""
    command = [sys.executable, "-m", "skyloop.benchmarks.link_client", what, address, json.dumps(told)]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stuck = threading.Timer(CLIENT_S, client.kill)
    stuck.start()
    try:
        while not link.over and client.poll() is None:
            simulation.step()
        out, err = client.communicate()
    finally:
        stuck.cancel()
        client.kill()
    if client.returncode:
        raise LinkError(f"bench link: the client failed: {(err.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(out)


class _Plain:
    """A thread that answers plain questions with the same bytes every time."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> _Plain:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self._thread.join(timeout=2.0)

    def _serve(self) -> None:
        question = memoryview(bytearray(QUESTION_BYTES))
        with suppress(OSError, EOFError):
            peer, _ = self._server.accept()
            with peer:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while True:
                    take(peer, question)
                    times = int.from_bytes(question[1:5], "little") if question[:1] == STREAM else 1
                    for _ in range(times):
                        peer.sendall(self._answer)
