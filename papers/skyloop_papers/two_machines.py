"""An engine and a program under test (CUT) on two machines, or on one: each in a process of its own.

The second machine is a network namespace of an unprivileged user, joined by a virtual cable (veth). All of it vanishes
with its processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from shutil import which

from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkError
from skyloop_papers.processes import child, last_line, line_of, result_of
from skyloop_papers.runs import Run

HERE, THERE = "10.77.0.1", "10.77.0.2"
APART = ["unshare", "--user", "--map-root-user", "--net"]
"""Prefix of a command that runs on a separate machine, connected only by `Cable`."""
PATIENCE_S = 10.0
BURST, QUEUE = "16kb", "50ms"
"""What a cable of a given rate lets pass at once, a few packets, and what waits before it at most."""


def why_not_apart(rate: str = "") -> str:
    """The reason why a second machine, or a cable of this rate to it, is not possible. Empty if it is."""
    for tool in ("unshare", "nsenter", "ip", *(["tc"] if rate else [])):
        if which(tool) is None:
            return f"no `{tool}` here"
    add = ["ip", "link", "add", "here", "type", "veth", "peer", "name", "there"]
    shaped = ["&&", *shape("here", rate)] if rate else []
    try:
        run([*APART, "sh", "-c", " ".join([*add, *shaped])])
    except (OSError, subprocess.SubprocessError) as error:
        return last_line(error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error))
    return ""


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)


def shape(end: str, rate: str) -> list[str]:
    """The command that lets no more leave this end of a cable than its rate, as the kernel's token bucket keeps it."""
    return ["tc", "qdisc", "add", "dev", end, "root", "tbf", "rate", rate, "burst", BURST, "latency", QUEUE]


class Cable:
    """A cable from this process's machine to another. This process must run under `APART`.

    rate: each way, in the words of `tc`; empty: as fast as memory."""

    def __init__(self, rate: str = "") -> None:
        self._rate = rate
        run(["ip", "link", "set", "lo", "up"])
        run(["ip", "link", "add", "here", "type", "veth", "peer", "name", "there"])
        run(["ip", "address", "add", f"{HERE}/24", "dev", "here"])
        run(["ip", "link", "set", "here", "up"])
        if rate:
            run(shape("here", rate))

    def plug_in(self, process: int) -> None:
        """Connect the other end to the machine of a process started by `unshare --net`."""
        inside = ["nsenter", "--target", str(process), "--net"]
        run(["ip", "link", "set", "there", "netns", str(process)])
        run([*inside, "ip", "link", "set", "lo", "up"])
        run([*inside, "ip", "address", "add", f"{THERE}/24", "dev", "there"])
        run([*inside, "ip", "link", "set", "there", "up"])
        if self._rate:
            run([*inside, *shape("there", self._rate)])


def network_in_words(why_not: str) -> str:
    """What joins two machines. why_not: of `why_not_apart`."""
    return f"loopback, for two machines: {why_not}" if why_not else "network namespaces joined by veth"


class ProgramUnderTest:
    """A client in a process of its own, and the engine's side of the link to it. client: a function that calls
    `given_task` and returns its result. rate: of the cable to another machine."""

    def __init__(self, client: Callable[[], object], *, apart: bool, ports: int = 1, rate: str = "") -> None:
        self._cable = Cable(rate) if apart else None
        self._gate = LinkGate()
        self._listener = Listener(self._gate.inbox, HERE if apart else "127.0.0.1", (0,) * ports)
        self._opened = ExitStack()
        self.process = self._opened.enter_context(child(client, prefix=("unshare", "--net") if apart else ()))

    def __enter__(self) -> ProgramUnderTest:
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()
        self._listener.close()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def begin(
        self, simulation: Simulation, options: SessionOptions, task: Run, folder: Path | None = None
    ) -> Coordinator:
        """Join it to the simulation, and give it its task and the address. folder: for the link's timeline."""
        self._gate.links["loop"] = link = Coordinator(self._listener, options)
        self._gate.attach(simulation.port, folder)
        simulation.clock.gates = (self._gate,)
        assert self.process.stdin is not None
        if line_of(self.process) != "ready":
            raise LinkError(f"the CUT did not start: {last_line(self.process.communicate()[1])}")
        if self._cable is not None:
            self._cable.plug_in(self.process.pid)
        address = f"{self._listener.host}:{self._listener.ports[0]}"
        self.process.stdin.write(json.dumps({**task, "address": address}) + "\n")
        self.process.stdin.flush()
        return link

    def result(self, patience_s: float) -> Run:
        """What it returns, after the link has been closed."""
        self._gate.finish("the flight is over")
        given: Run = result_of(self.process, "the CUT", timeout=patience_s, error=LinkError)
        return given


def run_engine(name: str, fly: Callable[[Run], Run], task: Run, *, apart: bool, patience_s: float) -> Run:
    """What an engine gives for a task, on a separate machine or here. name: for errors.

    The program under test and the renderer belong to its process group and end with it."""
    with child(fly, task, prefix=APART if apart else (), group=True) as engine:
        flown: Run = result_of(engine, name, timeout=patience_s, error=LinkError)
        return flown
