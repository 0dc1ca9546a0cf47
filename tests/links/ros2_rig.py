"""A simulation with its ROS 2 link in this process, and a node of other people's making in another one."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import skyloop
from link_rig import eventually
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.links.ros2.link import Ros2Link
from skyloop.links.ros2.settings import settings_from
from skyloop.links.ros2.simulation_services import WorldFacts
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation

DOMAIN = 100 + os.getpid() % 130
"""Not that of other tests beside this one."""
PATIENCE_S = 60.0
WORLDS = WorldFacts("blocks", (("blocks", "boxes"), ("park", "trees")))


class NodeProcess(ABC):
    """Another process, which takes a line for each order and answers with a line."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert self._answer() == "ready"
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _answer(self) -> Any:
        """The next line, decoded."""

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _write_line(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def has_answered(self) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Node(NodeProcess):
    """On Cyclone DDS; see `ros2_peer.py` for what it does."""

    def __init__(self, domain: int = DOMAIN, *options: str) -> None:
        super().__init__([sys.executable, Path(__file__).with_name("ros2_peer.py"), str(domain), *options])

    def _answer(self) -> Any:
        return json.loads(self._read_line())

    def _say(self, **order: Any) -> None:
        self._write_line(json.dumps(order))

    def read(self, topic: str, kind: str, quality: str = "best effort") -> None:
        self._say(read=topic, type=kind, quality=quality)
        assert self._answer() == "ok"

    def take(self, topic: str, count: int = 1, wait: float = PATIENCE_S) -> list[Any]:
        self._say(take=topic, count=count, wait=wait)
        return self._answer()

    def write(self, topic: str, kind: str, values: Any, *, reliable: bool = True, wait: float = PATIENCE_S) -> int:
        self._say(write=topic, type=kind, values=values, reliable=reliable, wait=wait)
        return self._answer()

    def ask(self, service: str, kind: str, values: Any = None, wait: float = PATIENCE_S) -> None:
        """Ask, without waiting for the answer."""
        self._say(call=service, type=kind, values=values, wait=wait)

    def answer(self) -> Any:
        """The reply to what was asked."""
        return self._answer()

    def reported(self, **reported: Any) -> Any:
        """Any other verb."""
        self._say(**reported)
        return self._answer()

    def graph(self, wait: float = PATIENCE_S) -> Any:
        self._say(graph=wait)
        return self._answer()


class Flown:
    def __init__(self, simulation: Simulation, link: Ros2Link, gate: LinkGate) -> None:
        self.simulation, self.link, self.gate = simulation, link, gate

    def run(self, seconds: float) -> None:
        self.simulation.run_for(seconds)

    def until(self, done: Callable[[], bool], seconds: float = 60.0) -> None:
        """Go on until `done`, for so many simulated seconds at most."""
        end = self.simulation.now + seconds
        while not done():
            assert self.simulation.now < end, "it did not happen"
            self.simulation.step()

    def wanted(self, *topics: str) -> None:
        """Let the gate work, without time passing, until somebody listens to these topics."""
        found = eventually(lambda: all(map(self.link.publications.wants, topics)), PATIENCE_S)
        assert found, [topic for topic in topics if not self.link.publications.wants(topic)]

    def call(self, node: Node, service: str, kind: str, values: Any = None) -> Any:
        """Ask, and go on until the answer is there."""
        node.ask(service, kind, values)
        self.serve_until(node.has_answered)
        return node.answer()

    def comes(self, done: Callable[[], bool], wait: float) -> bool:
        """Whether it happens within so many seconds of wall time."""
        until = time.monotonic() + wait
        while not done() and time.monotonic() < until:
            self.gate._take(0.01)
        return done()

    def serve_until(self, done: Callable[[], bool]) -> None:
        """Handle messages while simulated time stands, or passes as the link lets it."""
        until = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < until, "nothing came in time"
            while self.gate._take(0.01):
                pass
            self.link.poll()
            if self.link.pauses.is_stepping:
                self.simulation.step()


class Unpaced(Ros2Link):
    """Tests do not wait for real time."""

    allows_realtime = False


@contextmanager
def flown(
    vehicles: Any, domain: int = DOMAIN, lockstep: str | None = None, namespace: str = "", **more: Any
) -> Iterator[Flown]:
    """`vehicles` and the rest are as in a scenario."""
    gate = LinkGate(Pace(None))
    settings = settings_from({"ROS_DOMAIN_ID": str(domain)}, namespace)
    link = gate.links["ros2"] = Unpaced(gate.inbox, settings, lockstep=lockstep, world=WORLDS)
    try:
        scenario = make_scenario({"name": "ros2", "vehicles": vehicles, **more})
        with skyloop.build(scenario, gates=(gate,)) as simulation:
            gate.attach(simulation.port)
            yield Flown(simulation, link, gate)
    finally:
        gate.finish("over")
        gate.close()


def xyz(values: Any) -> Any:
    return np.array([values["x"], values["y"], values["z"]])


def wxyz(values: Any) -> Any:
    return np.array([values["w"], values["x"], values["y"], values["z"]])


def ns(stamp: Any) -> int:
    return int(stamp["sec"]) * 10**9 + int(stamp["nanosec"])
