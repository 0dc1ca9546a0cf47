"""The link: bundles per second beside a plain socket with the same bytes, and round trips while cameras run."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.links.pace import Pace
from skyloop.sim.assembly import build
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import Arm, Message, TakeOff
from skyloop_client.wire import framed
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, beyond
from skyloop_papers.benchmarks.peers import STREAM, echo, link_round_trips, link_throughput, take
from skyloop_papers.processes import child, line_of, result_of

SENSORS = ("rgb", "depth", "lidar", "gps")
RIG = ("rgb0", "depth0", "lidar0", "gps0")
RATE_HZ = 20.0
GROUND_S, RISE_S = 0.4, 5.0
"""Simulated s: on the ground until each sensor has a sample, and to climb and hover."""
QUESTION_BYTES = 131
"""Size of a question for a rig's bundle."""
CLIENT_S = 120.0
"""Wall s after which the client counts as stuck."""


def link(bundles: int = 150, rounds: int = 7, trip_s: float = 12.0, world: str = "park") -> Measurements:
    """Bundles per second and round trips of the link, beside plain sockets in the same run.

    `bundles`: per round over the link, then the same number over a plain socket."""
    options = RecordOptions(world=world, rate_hz=RATE_HZ, sensors=SENSORS)
    scenario = rig_scenario(options, {"vehicles.0.sensors.rgb0.truth": [], "vehicles.0.pilot": None})
    for measured in (_throughput, _through_memory, _large_through_memory):
        with build(scenario) as simulation:
            simulation.run_for(GROUND_S)
            yield from measured(simulation, bundles, rounds)
    # images of the climb are not needed
    with build(scenario, wanted=lambda t_ns: t_ns >= 1e9 * RISE_S) as simulation:
        simulation.send(Arm(), TakeOff(3.0))
        # start the renderer before the measurement
        simulation.run_until(RISE_S + 0.2)
        yield from _round_trips(simulation, trip_s, world)


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
    simulation: Simulation, bundles: int, rounds: int, *, shared_memory: bool, is_large: bool = False
) -> tuple[dict[str, Any], int]:
    """Seconds of bundles over the link and of the same bytes on a plain socket, and the bytes of one answer."""
    streams = tuple(f"{next(iter(simulation.autopilots))}/{name}" for name in RIG)
    feeder = Feeder(simulation, streams, 100 + bundles * (1 + rounds), is_large=is_large)
    with _linked(simulation, SessionOptions(), (feeder,)) as (link, address):
        answer = _example_answer(simulation, feeder)
        with _answering(answer) as port:
            given = {
                "port": port, "streams": streams, "bundles": bundles, "rounds": rounds,
                "answer_bytes": len(answer), "question_bytes": QUESTION_BYTES, "shared_memory": shared_memory,
            }  # fmt: skip
            seen = _run_client(simulation, link, link_throughput, address, given)
    sent = [row.bytes for row in link.timeline.rows]
    assert max(sent) - len(answer) < 64, "the plain answer is as large as the link's"
    return seen, len(answer)


def _through_memory(simulation: Simulation, bundles: int, rounds: int, *, is_large: bool = False) -> Measurements:
    """With a client on the same machine, which reads arrays where the simulator put them."""
    seen, size = _exchanges(simulation, bundles, rounds, shared_memory=True, is_large=is_large)
    link, plain = (np.median(seen[name], axis=1) for name in ("link", "plain"))
    prefix, aim, pixels = ("large_", None, "1280x720") if is_large else ("", 2.0, "320x240")
    rate = f"pictures of {pixels}: {size} bytes; rate of bundles whose arrays lie in shared memory {_OVER_PLAIN}"
    yield Measurement(f"{prefix}shared_memory_vs_raw_socket", float(np.median(plain / link)), RATIO, aim, rate)
    per_s = float(1.0 / np.median(link))
    yield Measurement(f"{prefix}shared_memory_bundles_per_s", per_s, "1/s", None, "the same bundles; median")


_large_through_memory = partial(_through_memory, is_large=True)
_OVER_PLAIN = (
    "over that of the same bytes, asked for and answered, on a plain socket between the same two processes; median of "
    "rounds"
)


def _throughput(simulation: Simulation, bundles: int, rounds: int) -> Measurements:
    seen, size = _exchanges(simulation, bundles, rounds, shared_memory=False)
    # a median of single exchanges, so that other programs on the machine do not decide the ratio
    link, plain = (np.median(seen[name], axis=1) for name in ("link", "plain"))
    each_us = 1e6 * np.ravel(seen["link"])
    what = f"colour and float depth of 320x240, LiDAR scan, fix: {size} bytes; encoded, sent, decoded; median"
    yield Measurement("vs_raw_socket", float(np.median(plain / link)), RATIO, 0.7, f"rate over the link {_OVER_PLAIN}")
    for key, seconds, note in (
        ("bundles_per_s", link, what),
        ("raw_socket_per_s", plain, "asked for and answered, median"),
        ("raw_stream_per_s", seen["stream"], "one after the other, unasked"),
    ):
        yield Measurement(key, float(1.0 / np.median(seconds)), "1/s", None, note)
    yield Measurement("bundle_bytes", float(size), "B", None, "of one answer, with state and status")
    for q in (50, 99):
        note = f"question to decoded answer, n = {each_us.size}"
        yield Measurement(f"bundle_p{q}_us", float(np.percentile(each_us, q)), "µs", None, note)


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


def _round_trips(simulation: Simulation, trip_s: float, world: str) -> Measurements:
    pictures = f"{next(iter(simulation.autopilots))}/rgb0"
    images, began_ns = simulation.bus.counts[pictures], simulation.clock.now_ns
    with child(echo) as plain, _linked(simulation, SessionOptions(mode="none")) as (link, address):
        seen = _run_client(simulation, link, link_round_trips, address, int(line_of(plain)), trip_s)
    images = simulation.bus.counts[pictures] - images
    simulated = (simulation.clock.now_ns - began_ns) / 1e9
    us = {name: {q: float(np.percentile(1e6 * np.array(seen[name]), q)) for q in (50, 99)} for name in seen}
    during = f"while {world} is painted {images} times in {simulated:.0f} simulated s, mode none"
    above = "above a plain TCP ping-pong with a process that does nothing else, by turns in the same run"
    own = f"the link's own: ping to pong, {during}; median {above}; n = {len(seen['ping'])}"
    flown = f"a setpoint until the simulator says that it flies on it, median {above}"
    high = "the same, 99th percentile"
    yield beyond("round_trip_p50_us", us["ping"][50], us["plain"][50], "µs", 200.0, own)
    above_same = f"{high} above that of the plain one"
    yield beyond("round_trip_p99_us", us["ping"][99], us["plain"][99], "µs", 2000.0, above_same)
    yield beyond("ask_p50_us", us["ask"][50], us["plain"][50], "µs", None, flown)
    yield beyond("ask_p99_us", us["ask"][99], us["plain"][99], "µs", 2000.0, high)
    for q in (50, 99):
        yield Measurement(f"plain_p{q}_us", us["plain"][q], "µs", None, "the plain ping-pong itself")


@contextmanager
def _linked(
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


def _run_client(simulation: Simulation, link: Coordinator, function: Callable[..., object], *arguments: object) -> Any:
    """Step the simulation until the client has left. Returns the client's results."""
    with child(function, *arguments) as client:
        stuck = threading.Timer(CLIENT_S, client.kill)
        stuck.start()
        try:
            while not link.over and client.poll() is None:
                simulation.step()
            return result_of(client, "bench link: the client")
        finally:
            stuck.cancel()


@contextmanager
def _answering(answer: bytes) -> Iterator[int]:
    """A port where a thread answers plain questions with the same bytes every time."""

    def serve() -> None:
        question = memoryview(bytearray(QUESTION_BYTES))
        with suppress(OSError, EOFError):
            peer, _ = server.accept()
            with peer:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while True:
                    take(peer, question)
                    times = int.from_bytes(question[1:5], "little") if question[:1] == STREAM else 1
                    for _ in range(times):
                        peer.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
    thread.join(timeout=2.0)
