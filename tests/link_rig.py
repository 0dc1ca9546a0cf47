"""A simulation with a listener, stepped by a thread of its own, and peers that speak the protocol byte by byte."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.links.pace import Pace
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.session import Session, connect
from skyloop_client.wire import LENGTH, PROTOCOL, framed, unframed

ONE: dict[str, Any] = {"vehicles": [{"name": "drone"}]}
TWO: dict[str, Any] = {
    "vehicles": [{"name": "a"}, {"name": "b", "position": [5.0, 0.0]}],
}


class Computer:
    """A SUT's own clock: computing takes as long as the script says, on whatever machine."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns

    def compute(self, ns: int) -> None:
        self.ns += ns


class Stopped(Exception):
    """The test has seen enough."""


class Stopper:
    """Put into the inbox: whoever takes it stops."""

    def taker(self) -> None:
        raise Stopped


class Rig:
    """What `skyloop loop` does, less the run folder; goes on until the test ends it."""

    def __init__(
        self,
        scenario: dict[str, Any],
        options: SessionOptions,
        ports: int = 1,
        folder: Path | None = None,
        pace: float | None = None,
    ) -> None:
        self.link_gate = LinkGate(Pace(pace if options.mode == "sync" else pace or 1.0))
        self.listener = Listener(self.link_gate.inbox, ports=(0,) * ports)
        self.link = self.link_gate.links["loop"] = Coordinator(self.listener, options)
        self.simulation = build(make_scenario(scenario), gates=(self.link_gate,))
        self.link_gate.attach(self.simulation.port, folder)
        self.mode = options.mode
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._fly, name="simulation")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listener.ports[0]}"

    @property
    def news(self) -> list[str]:
        return self.link.client_sessions.news

    def start(self) -> None:
        self.thread.start()

    def _fly(self) -> None:
        try:
            while True:
                self.simulation.step()
        except BaseException as error:
            self.error = error

    def stop(self) -> None:
        """Raises what the simulation died of, if it did."""
        if self.thread.is_alive():
            self.link_gate.inbox.put((Stopper(),))
            self.thread.join(10.0)
        self.link_gate.finish("the test is over")
        self.simulation.close()
        if self.error is not None and not isinstance(self.error, Stopped):
            raise self.error

    def connect(self, **options: Any) -> Session:
        return connect(self.address, timeout=20.0, **options)

    def news_of(self, *words: str, since: int = 0) -> str:
        """The first line of news with all these words; waits for it."""
        found = eventually(
            lambda: next((line for line in self.news[since:] if all(word in line for word in words)), None)
        )
        assert found, (words, self.news[since:][-5:], self.error)
        return str(found)


@contextmanager
def flying(
    scenario: dict[str, Any] | None = None,
    *,
    ports: int = 1,
    folder: Path | None = None,
    pace: float | None = None,
    **options: Any,
) -> Iterator[Rig]:
    rig = Rig(scenario or ONE, SessionOptions(**options), ports, folder, pace)
    rig.start()
    try:
        yield rig
    finally:
        rig.stop()


def eventually(ask: Callable[[], Any], seconds: float = 10.0) -> Any:
    until = time.monotonic() + seconds
    while not (answer := ask()) and time.monotonic() < until:
        time.sleep(0.002)
    return answer


def held() -> tuple[int, int]:
    """Descriptors and threads of this process."""
    return len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208


class Stranger:
    """A peer that says whatever a test wants it to."""

    def __init__(self, rig: Rig, port: int = 0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", rig.listener.ports[port]), timeout=20.0)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def raw(self, data: bytes) -> Stranger:
        self.socket.sendall(data)
        return self

    def say(self, **message: Any) -> Stranger:
        return self.raw(said(**message))

    def hello(self, **more: Any) -> dict[str, Any]:
        return self.say(**{"type": "hello", "protocol": PROTOCOL, **more}).hear()

    def ask(self, et_ns: int, number: int = 1, **more: Any) -> dict[str, Any]:
        return self.say(**{"type": "ask", "number": number, "et_ns": et_ns, **more}).hear()

    def hear(self) -> dict[str, Any]:
        """The next message; {} when the simulator has closed."""
        data = b""
        length = LENGTH.size
        while len(data) < length:
            try:
                got = self.socket.recv(length - len(data))
            except ConnectionResetError:
                return {}
            if not got:
                return {}
            data += got
            if len(data) == LENGTH.size == length:
                length += LENGTH.unpack(data)[0]
        return unframed(data[LENGTH.size :])

    def why(self) -> str:
        """Why it was sent away, and that it was."""
        answer = self.hear()
        assert answer.get("type") == "refused", answer
        assert self.hear() == {}
        return str(answer["why"])

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Stranger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def said(**message: Any) -> bytes:
    return b"".join(framed(message))
