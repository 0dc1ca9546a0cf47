"""The sessions of clients: hellos, refusals, further connections, and a vehicle whose pilot has left."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel, ConfigDict

from skyloop.links.loop.listener import MOST_WHY, Listener
from skyloop.links.loop.peer import Peer, integer_of, shared_with
from skyloop.links.loop.remote_pilot import ClientSession, Deadlines, Question
from skyloop.links.loop.targets import PowerModel
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import HOVER_BEFORE_LANDING
from skyloop_client.codec import plain_info
from skyloop_client.errors import LinkError, StreamError, unknown_name
from skyloop_client.messages import EventKind, Message
from skyloop_client.session import ONLY
from skyloop_client.streams import NS_PER_S, StreamInfo
from skyloop_client.version import __version__
from skyloop_client.wire import PROTOCOL, LinkMessage

MODES = ("sync", "none", "realtime")
COMMANDER = "loop"
"""The name under which a pilot on the link commands its vehicle. There is one at a time."""
PATIENCE_S = 0.05
"""Wall s for which the simulation waits while a peer takes a large answer. The rest is sent in the background."""
MOST_PUBLISHED = 256
"""Most records with one question, so that their processing does not delay others."""
SLEEP_WORTH_TELLING_S = 0.02
MOST_NEWS = 1000
MOST_GONE = 1000


class SessionOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: str = "sync"
    delays: Mapping[str, float] = {}
    """s by message class: how long the acquisition of a sample takes, in the SUT's time."""
    hang_s: float = 60.0
    """Wall s of silence after which a computing SUT counts as hung."""
    wait_s: float = 60.0
    """Wall s to wait for the first pilot."""
    hover_s: float = HOVER_BEFORE_LANDING
    """Simulated s that a vehicle hovers and waits for its pilot before it lands."""
    power: PowerModel = PowerModel()
    """Power model of the SUT's computer."""
    pilots_inside: bool = False
    """The scenario's own pilots fly, so the flight does not wait for a pilot."""
    vehicles: tuple[str, ...] = ()
    """Those with a pilot in a program of their own: time begins when all are there. Empty: one pilot is enough."""

    def model_post_init(self, context: object) -> None:
        if self.mode not in MODES:
            raise LinkError(f"no mode named '{self.mode}'; give {', '.join(MODES)}")


class ClientSessions:
    """All sessions of one simulation."""

    def __init__(self, port: SimulationPort, listener: Listener, options: SessionOptions) -> None:
        self.pilots: dict[str, ClientSession] = {}
        """By token, including watchers."""
        self.gone: list[ClientSession] = []
        """The first thousand sessions that have ended."""
        self.last: dict[str, tuple[int, ClientSession]] = {}
        """By vehicle: when its last pilot left, and which."""
        self.news: list[str] = []
        """Events of the link, for people."""
        self._port = port
        self._listener = listener
        self._options = options
        self._claimed: set[str] = set()
        """Streams of estimators that a session has claimed."""
        for vehicle in port.vehicles.values():
            # before anything is recorded, because the link's own events are streams, too
            vehicle.announce_link()
            port.bus.on(f"{vehicle.name}/events", self._on_event)

    @property
    def infos(self) -> dict[str, StreamInfo]:
        """The streams that can be requested now."""
        return {name: info for name, info in self._port.bus.infos.items() if not name.startswith("link/")}

    @property
    def computing(self) -> Iterator[ClientSession]:
        """The sessions whose execution time counts."""
        return (pilot for pilot in self.pilots.values() if not pilot.watch)

    @property
    def flying(self) -> Iterator[ClientSession]:
        return (pilot for pilot in self.pilots.values() if pilot.role == "pilot")

    def others_go_first(self, t_ns: int) -> bool:
        """Whether a question must wait for a session that goes first and still computes.

        At one instant estimators go first, then companions, then pilots. Where each vehicle has a program of its own
        this holds among all, so that what one publishes reaches the others at the same instant in every flight."""
        if len(self.pilots) < 2:
            return False
        several = bool(self._options.vehicles)
        asking = [pilot for pilot in self.computing if pilot.is_due(t_ns)]
        return any(
            (several or one.vehicle == other.vehicle) and one.order < other.order and one.bound_ns <= t_ns
            for one in self.computing
            if one.blocks_time
            for other in asking
        )

    @property
    def others_fly(self) -> bool:
        """Whether a vehicle is in flight that the scenario's own pilot flies, because others have programs."""
        own, all_ = self._options.vehicles, self._port.vehicles
        return bool(own) and any(all_[name].status.armed for name in all_.keys() - own)

    @property
    def waited_for(self) -> str:
        """A program that the flight needs and that has not come yet, for people; empty if all are there."""
        flown = {pilot.vehicle for pilot in self.flying}
        pilots = [f"pilot of '{vehicle}'" for vehicle in self._options.vehicles if vehicle not in flown]
        if not flown and not pilots and not self._options.pilots_inside:
            pilots = ["pilot"]
        return next(iter([*(f"estimator for {stream}" for stream in self.missing), *pilots]), "")

    @property
    def missing(self) -> list[str]:
        """Streams of external estimators that no session has claimed yet."""
        return [stream for stream in self._port.user_streams.outside if stream not in self._claimed]

    def at(self, peer: Peer) -> ClientSession | None:
        """The session whose first connection this is."""
        return next((pilot for pilot in self.pilots.values() if pilot.peer is peer), None)

    def _of(self, peer: Peer) -> ClientSession | None:
        """The session that this connection belongs to."""
        return next((pilot for pilot in self.pilots.values() if pilot.peer is peer or peer in pilot.joined), None)

    def tell(self, vehicle: str, kind: EventKind, text: str) -> None:
        """Publish an event on `link/<vehicle>`."""
        self._port.vehicles[vehicle].tell(kind, text)
        self._note(f"{self._port.now_ns / NS_PER_S:.3f} s {vehicle} {kind}: {text}")

    def _note(self, line: str) -> None:
        if len(self.news) < MOST_NEWS:
            self.news.append(line)

    def _on_event(self, message: Message) -> None:
        for pilot in self.pilots.values():
            if message.stream == f"{pilot.vehicle}/events":
                pilot.events.append(message.data)

    def stream(self, pilot: ClientSession, name: object) -> str:
        """The full name of a stream, such as `imu`, of a pilot's vehicle."""
        for full in (f"{pilot.vehicle}/{name}", name):
            if full in self._port.bus.infos and not str(full).startswith("link/"):
                return str(full)
        raise LinkError(str(unknown_name("stream", str(name), self.infos)))

    def greet(self, peer: Peer, hello: LinkMessage) -> None:
        if (protocol := integer_of(hello, "protocol")) != PROTOCOL:
            raise LinkError(f"protocol {protocol} is not spoken here; this simulator speaks {PROTOCOL}")
        if self._of(peer) is not None:
            raise LinkError("hello was said twice")
        if hello.get("session"):
            self._join(peer, hello)
            return
        vehicles = list(self._port.vehicles)
        vehicle = hello.get("vehicle") or (vehicles[0] if len(vehicles) == 1 else "")
        role = "watcher" if hello.get("watch") else str(hello.get("role") or "pilot")
        if vehicle not in vehicles:
            raise LinkError(f"no vehicle named '{vehicle}'; there are {', '.join(vehicles)}")
        if role not in ("pilot", "companion", "watcher"):
            raise LinkError(f"no role named '{role[:40]}'; give pilot, companion or watcher")
        claimed = self._claim(vehicle, str(hello.get("estimator") or ""))
        for pilot in self.flying:
            if role == "pilot" and pilot.vehicle == vehicle:
                raise LinkError(f"'{vehicle}' is flown by {pilot.peer.name} already; watch, or fly another one")
        declared = {
            name: integer_of(hello, name) for name in ("period_ns", "duration_ns") if hello.get(name) is not None
        }
        client = str(hello.get("client", ""))[:100]
        token = secrets.token_hex(8)
        peer.welcome()
        peer.memory = shared_with(peer.name) if hello.get("memory") is True else None
        now = self._port.now_ns
        pilot = ClientSession(
            token, peer, vehicle, role, client, Deadlines(**declared), now, now, claimed, heard=time.perf_counter(),
            hears_energy=bool(hello.get("energy")),
        )  # fmt: skip
        self.pilots[token] = pilot
        self.draw_power(pilot)
        if claimed:
            self._claimed.add(claimed)
            infos = self._port.user_streams.outside[claimed].setup.infos
            pilot.held.streams.update(info.name for info in infos.values())
        self._answer_hello(pilot)
        does = {"pilot": "flies", "companion": "computes beside", "watcher": "watches"}[role]
        if role == "pilot":
            self._port.vehicles[vehicle].claim(COMMANDER)
        does = f"is {claimed} of" if claimed else does
        self.tell(vehicle, EventKind.CONNECTED, f"{peer.name} ({client}) {does} {vehicle}")

    def _claim(self, vehicle: str, name: str) -> str:
        """The stream of the estimator that a session claims. Empty if it claims none."""
        if not name:
            return ""
        own = {stream: it for stream, it in self._port.user_streams.outside.items() if it.setup.vehicle == vehicle}
        if not own:
            raise LinkError(f"'{vehicle}' has no estimator of kind link; give it one in the scenario")
        names = [it.setup.name for it in own.values()]
        stream = next(iter(own)) if name == ONLY and len(own) == 1 else f"{vehicle}/{name}"
        if stream not in own:
            raise LinkError(f"no estimator named '{name[:40]}' runs outside; there are {', '.join(names)}")
        for pilot in self.pilots.values():
            if pilot.claimed == stream:
                raise LinkError(f"'{stream}' is estimated by {pilot.peer.name} already")
        return stream

    def _answer_hello(self, pilot: ClientSession, peer: Peer | None = None) -> None:
        infos = self.infos
        pilot.known_streams.update(infos)
        (peer or pilot.peer).send(
            {
                "type": "hello",
                "protocol": PROTOCOL,
                "server": f"skyloop {__version__}",
                "session": pilot.token,
                "vehicle": pilot.vehicle,
                "vehicles": list(self._port.vehicles),
                "mode": self._options.mode,
                "t_ns": self._port.now_ns,
                "role": pilot.role,
                "estimator": self._estimator_fields(pilot),
                "streams": {name: plain_info(info) for name, info in infos.items()},
                "classes": list(self._port.editor.class_names),
                "ports": list(self._listener.ports),
                "memory": None if peer or pilot.peer.memory is None else pilot.peer.memory.for_hello,
            },
            patience_s=PATIENCE_S,
        )

    def _estimator_fields(self, pilot: ClientSession) -> LinkMessage | None:
        if not pilot.claimed:
            return None
        outside = self._port.user_streams.outside[pilot.claimed]
        inputs = {short: info.name for short, info in outside.setup.infos.items()}
        return {
            "name": outside.setup.name, "inputs": inputs, "options": outside.options, "start": outside.setup.start,
        }  # fmt: skip

    def publish(self, pilot: ClientSession, published: list[object]) -> list[str]:
        """Put published records on the bus. Returns a line for each refused record."""
        refused = []
        if len(published) > MOST_PUBLISHED:
            refused = [f"{len(published)} records with one question; only the first {MOST_PUBLISHED} were looked at"]
        for item in published[:MOST_PUBLISHED]:
            try:
                if not isinstance(item, list | tuple) or len(item) != 2:
                    raise StreamError("what is published is a pair of a name and a record")
                if pilot.watch:
                    raise StreamError("a watcher may not publish; connect as a companion")
                name, record = item
                streams = self._port.user_streams
                outside = streams.outside[pilot.claimed] if pilot.claimed else None
                mine = outside is not None and outside.publishes(name)
                sender = outside.sender if outside is not None and mine else pilot.sender
                streams.publish(pilot.vehicle, name, record, self._port.now_ns, sender=sender)
            except StreamError as error:
                refused.append(str(error)[:MOST_WHY])
        return refused

    def arrived(self, pilot: ClientSession) -> list[list[object]]:
        """All messages held for a session, for its answer."""
        messages, lost = pilot.held.take()
        if lost:
            self.tell(pilot.vehicle, EventKind.FELL_BEHIND, f"{pilot.peer.name}: {lost} messages were dropped")
        for message in messages:
            pilot.given[message.stream] = message.index
        return [[each.stream, each.index, each.t_ns, each.arrival_ns, each.data] for each in messages]

    def new_streams(self, pilot: ClientSession) -> LinkMessage:
        """The streams that were advertised since the session was last informed."""
        bus = self._port.bus
        if len(bus.infos) == pilot.n_known_streams:
            return {}
        pilot.n_known_streams = len(bus.infos)
        new = {name: plain_info(info) for name, info in self.infos.items() if name not in pilot.known_streams}
        pilot.known_streams.update(new)
        return new

    def _join(self, peer: Peer, hello: LinkMessage) -> None:
        """Add a further connection to a session, for some of its streams."""
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
            # further connections of a session that has ended are not reported
            if not peer.greeted:
                self._listener.refused += 1
                self._note(f"{peer.name} refused: {why}")
            return
        if peer is not pilot.peer:
            pilot.joined.remove(peer)
            pilot.parts = {stream: part for stream, part in pilot.parts.items() if part is not peer}
            return
        del self.pilots[pilot.token]
        pilot.take_back_memory(None)
        self.draw_power(pilot, gone=True)
        pilot.question = None  # its open question may be large, and due only in an hour
        for part in pilot.joined:
            self._listener.drop(part, "its session is over")
        self.tell(pilot.vehicle, EventKind.LEFT, f"{peer.name}: {'said goodbye' if pilot.said_bye else why}")
        self._port.user_streams.release(pilot.sender)
        if not pilot.watch and len(self.gone) < MOST_GONE:
            self.gone.append(pilot)
        if pilot.role == "pilot":
            self.last[pilot.vehicle] = self._port.now_ns, pilot
            self._port.vehicles[pilot.vehicle].release(COMMANDER, self._options.hover_s)

    # ---- time and energy of a session

    def note_times(self, pilot: ClientSession, question: Question, tasks: Iterable[object] | None) -> None:
        """Account for the time since the last answer, and report missed deadlines."""
        pilot.heard = time.perf_counter()
        if pilot.watch:
            return
        sync = self._options.mode == "sync"
        computed = question.et_ns - pilot.went_on_ns if sync else 0
        pilot.busy_ns += computed
        if sync:
            pilot.cycles.add(computed)
        since = None if pilot.asked_ns is None else question.et_ns - pilot.asked_ns
        pilot.asked_ns = question.et_ns
        if over := pilot.deadlines.check(since, computed):
            self.tell(pilot.vehicle, EventKind.DEADLINE_MISSED, f"question {question.number}: {over}")
        self.note_tasks(pilot, tasks, question.et_ns)
        if question.slept_ns > SLEEP_WORTH_TELLING_S * NS_PER_S:
            pilot.slept_ns += question.slept_ns
            said = f"{question.slept_ns / 1e6:.0f} ms before question {question.number}; use sleep_until"
            self.tell(pilot.vehicle, EventKind.SLEPT, said)

    def note_tasks(self, pilot: ClientSession, tasks: Iterable[object] | None, et_ns: int) -> None:
        """Record tasks that began at the last answer or ended with this question."""
        for line in pilot.tasks.take(tasks, pilot.went_on_ns, et_ns):
            self.tell(pilot.vehicle, EventKind.DEADLINE_MISSED, line)

    def draw_power(self, pilot: ClientSession, *, gone: bool = False) -> None:
        """A computer begins or stops computing: the vehicle's battery feeds the computers of all its sessions."""
        if pilot.watch:
            return
        power = self._options.power
        watts = 0.0 if gone else power.busy if pilot.computes else power.idle
        is_new = watts != pilot.meter.watts
        pilot.meter.turn_to(watts, self._port.now_ns)
        if not is_new:
            return
        drawn = sum(one.meter.watts for one in self.computing if one.vehicle == pilot.vehicle)
        self._port.vehicles[pilot.vehicle].set_computer_power(drawn)

    def energy_fields(self, pilot: ClientSession) -> LinkMessage:
        """The battery and the computer's energy for an answer, if the program asks for them."""
        if not pilot.hears_energy:
            return {}
        battery = self._port.vehicles[pilot.vehicle].battery
        return {"battery": battery, "computer_energy_j": pilot.meter.joules(self._port.now_ns)}

    @property
    def computers(self) -> list[ClientSession]:
        """All computing sessions, also those that have ended."""
        return [pilot for pilot in [*self.gone, *self.pilots.values()] if not pilot.watch]
