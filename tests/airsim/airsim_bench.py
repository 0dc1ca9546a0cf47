"""A simulation with an AirSim server that the test steps itself: no threads, no sockets, no wall clock."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

from skyloop.core.bus import Fingerprint
from skyloop.links.airsim.calls import RpcListener
from skyloop.links.airsim.link import AirSimServer
from skyloop.links.airsim.settings import read_settings
from skyloop.links.airsim.wire import Call
from skyloop.links.link_gate import LinkGate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario


class Client:
    """Stands where a connection would: keeps what it is sent."""

    name, taken, dialect = "127.0.0.1:1", 0, None

    def __init__(self) -> None:
        self.answers: dict[int, tuple[Any, Any]] = {}

    def send(self, answer: tuple[int, Any, Any]) -> None:
        number, error, result = answer
        self.answers[number] = (error, result)


class Bench:
    """A simulation with an AirSim server, stepped by the test."""

    def __init__(self, settings: dict[str, Any], *, world: str = "blocks", linked: bool = True) -> None:
        read = read_settings(json.dumps(settings), world=world)
        self._ends = ExitStack()
        gate = LinkGate()
        self.lines: list[str] = []
        """What is told people."""
        self.sim = self._ends.enter_context(build(make_scenario(read.scenario), gates=(gate,) if linked else ()))
        if linked:
            listener = RpcListener(gate.inbox, "127.0.0.1", (0,))
            self.server = gate.links["airsim"] = AirSimServer(listener, read.options, self.lines.append)
            gate.attach(self.sim.port)
            self._ends.callback(gate.finish, "over")
        self.client = Client()
        self._number = 0

    def __call__(self, method: str, *params: Any) -> Any:
        number = self.start(method, *params)
        error, result = self.client.answers[number]
        assert error is None, error
        return result

    def start(self, method: str, *params: Any) -> int:
        self._number += 1
        self.server.receive(self.client, Call(self._number, method, list(params)))  # type: ignore[arg-type]
        return self._number

    def connect(self) -> None:
        """As somebody else."""
        self.client = Client()

    def flown(self, seconds: float) -> dict[str, str]:
        """What all streams carry meanwhile."""
        reported = Fingerprint(self.sim.bus)
        self.sim.run_for(seconds)
        return reported.hexdigests()

    def close(self) -> None:
        self._ends.close()
