"""Who is at the other end: hellos, refusals, further connections, and what becomes of a vehicle whose pilot is gone."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skyloop.links.loop.commands import whole
from skyloop.links.loop.listener import Listener, Peer
from skyloop.links.loop.remote_pilot import Deadlines, Pilot
from skyloop.links.loop.targets import PowerModel
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import HOVER_BEFORE_LANDING
from skyloop_client.codec import plain_info
from skyloop_client.errors import LinkError, unknown_name
from skyloop_client.messages import EventKind, Message
from skyloop_client.streams import NS_PER_S, StreamInfo
from skyloop_client.wire import PROTOCOL

MODES = ("sync", "none", "realtime")
COMMANDER = "loop"
"""Under this name a pilot on the link commands its vehicle; there is one at a time."""
PATIENCE_S = 0.05
"""Wall s the simulation waits for a peer to take a large answer; the rest goes out by itself."""
MOST_NEWS = 1000
MOST_GONE = 1000


@dataclass(frozen=True, slots=True)
class LinkOptions:
    mode: str = "sync"
    delays: Mapping[str, float] = field(default_factory=dict)
    """s by message class: what acquiring a sample takes, on the SUT's time."""
    hang_s: float = 60.0
    """Wall s without a sign of life of a computing SUT before it is given up."""
    wait_s: float = 60.0
    """Wall s to wait for the first pilot."""
    hover_s: float = HOVER_BEFORE_LANDING
    """Simulated s a vehicle hovers for its pilot to come back before it lands."""
    power: PowerModel = field(default_factory=PowerModel)
    """Of the computer the SUT runs on."""
    classes: tuple[str, ...] = ()
    """Names of the class numbers in segmentations."""
    server: str = "skyloop"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise LinkError(f"no mode named '{self.mode}'; give {', '.join(MODES)}")


class ClientSessions:
    """All sessions of one simulation."""

    def __init__(self, port: SimulationPort, listener: Listener, options: LinkOptions) -> None:
        self.pilots: dict[str, Pilot] = {}
        """By token; watchers among them."""
        self.gone: list[Pilot] = []
        """The first thousand who left."""
        self.last: dict[str, tuple[int, Pilot]] = {}
        """By vehicle: when its last pilot left, and which."""
        self.news: list[str] = []
        """What happened to the link, for people."""
        self.infos: dict[str, StreamInfo] = dict(port.bus.infos)
        """What a pilot may ask for."""
        self._port = port
        self._listener = listener
        self._options = options
        for vehicle in port.vehicles.values():
            # before anything is recorded: the link's own events are streams, too
            vehicle.announce_link()
            port.bus.on(f"{vehicle.name}/events", self._on_event)

    @property
    def flying(self) -> Iterator[Pilot]:
        return (pilot for pilot in self.pilots.values() if not pilot.watch)

    def at(self, peer: Peer) -> Pilot | None:
        """Whose questions come through this connection."""
        return next((pilot for pilot in self.pilots.values() if pilot.peer is peer), None)

    def _of(self, peer: Peer) -> Pilot | None:
        """To whose session this connection belongs."""
        return next((pilot for pilot in self.pilots.values() if pilot.peer is peer or peer in pilot.joined), None)

    def tell(self, vehicle: str, kind: EventKind, text: str) -> None:
        """An event on `link/<vehicle>`."""
        self._port.vehicles[vehicle].tell(kind, text)
        self._note(f"{self._port.now_ns / NS_PER_S:.3f} s {vehicle} {kind}: {text}")

    def _note(self, line: str) -> None:
        if len(self.news) < MOST_NEWS:
            self.news.append(line)

    def _on_event(self, message: Message) -> None:
        for pilot in self.pilots.values():
            if message.stream == f"{pilot.vehicle}/events":
                pilot.events.append(message.data)

    def stream(self, pilot: Pilot, name: Any) -> str:
        """The full name of what a pilot calls `imu`."""
        for full in (f"{pilot.vehicle}/{name}", name):
            if full in self.infos:
                return str(full)
        raise LinkError(str(unknown_name("stream", str(name), self.infos)))

    def greet(self, peer: Peer, hello: dict[str, Any]) -> None:
        if (protocol := whole(hello, "protocol")) != PROTOCOL:
            raise LinkError(f"protocol {protocol} is not spoken here; this simulator speaks {PROTOCOL}")
        if self._of(peer) is not None:
            raise LinkError("hello was said twice")
        if hello.get("session"):
            self._join(peer, hello)
            return
        vehicles = list(self._port.vehicles)
        vehicle = hello.get("vehicle") or (vehicles[0] if len(vehicles) == 1 else "")
        watch = bool(hello.get("watch", False))
        if vehicle not in vehicles:
            raise LinkError(f"no vehicle named '{vehicle}'; there are {', '.join(vehicles)}")
        for pilot in self.pilots.values():
            if not watch and not pilot.watch and pilot.vehicle == vehicle:
                raise LinkError(f"'{vehicle}' is flown by {pilot.peer.name} already; watch, or fly another one")
        declared = {name: whole(hello, name) for name in ("period_ns", "duration_ns") if hello.get(name) is not None}
        client = str(hello.get("client", ""))[:100]
        token = secrets.token_hex(8)
        peer.welcome()
        now = self._port.now_ns
        pilot = Pilot(token, peer, vehicle, watch, client, Deadlines(**declared), now, now, heard=time.perf_counter())
        self.pilots[token] = pilot
        self._answer_hello(pilot)
        if not watch:
            self._port.vehicles[vehicle].claim(COMMANDER)
        self.tell(vehicle, EventKind.CONNECTED, f"{peer.name} ({client}) {'watches' if watch else 'flies'} {vehicle}")

    def _answer_hello(self, pilot: Pilot, peer: Peer | None = None) -> None:
        (peer or pilot.peer).send(
            {
                "type": "hello",
                "protocol": PROTOCOL,
                "server": self._options.server,
                "session": pilot.token,
                "vehicle": pilot.vehicle,
                "vehicles": list(self._port.vehicles),
                "mode": self._options.mode,
                "t_ns": self._port.now_ns,
                "streams": {name: plain_info(info) for name, info in self.infos.items()},
                "classes": list(self._options.classes),
                "ports": list(self._listener.ports),
            },
            patience_s=PATIENCE_S,
        )

    def _join(self, peer: Peer, hello: dict[str, Any]) -> None:
        """A further connection of a session, for some of its streams."""
        pilot = self.pilots.get(str(hello["session"]))
        if pilot is None:
            raise LinkError("there is no such session")
        streams = [self.stream(pilot, stream) for stream in hello["streams"]]
        if taken := [stream for stream in streams if stream in pilot.parts]:
            raise LinkError(f"'{taken[0]}' is carried by another connection already")
        peer.welcome()
        pilot.joined.append(peer)
        pilot.parts.update(dict.fromkeys(streams, peer))
        self._answer_hello(pilot, peer)

    def leave(self, peer: Peer, why: str) -> None:
        pilot = self._of(peer)
        if pilot is None:
            # what is left of a session that is over needs no mention
            if not peer.greeted:
                self._listener.refused += 1
                self._note(f"{peer.name} refused: {why}")
            return
        if peer is not pilot.peer:
            pilot.joined.remove(peer)
            pilot.parts = {stream: part for stream, part in pilot.parts.items() if part is not peer}
            return
        del self.pilots[pilot.token]
        pilot.question = None  # what it asked for may be large, and due in an hour
        for part in pilot.joined:
            self._listener.drop(part, "its session is over")
        self.tell(pilot.vehicle, EventKind.LEFT, f"{peer.name}: {'said goodbye' if pilot.said_bye else why}")
        if not pilot.watch:
            self.last[pilot.vehicle] = self._port.now_ns, pilot
            if len(self.gone) < MOST_GONE:
                self.gone.append(pilot)
            self._port.vehicles[pilot.vehicle].release(COMMANDER, self._options.hover_s)
