"""A flight shown in Foxglove, as a link: `--link foxglove[:[HOST:]PORT]`. The WebSocket server only reads the bus.

A client cannot slow down the simulation: if it reads too slowly, the SDK drops the oldest messages. Messages without a
subscriber are not built."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from skyloop.links.foxglove.views import ANNOTATIONS, JSON, VehicleTracks, boxes, payload, schema_of, views_of
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Onlooker
from skyloop.links.registry import Address
from skyloop.links.sockets import bound
from skyloop.recording.ros2.types import RosMessage, encode, schema_text
from skyloop.recording.ros2.views import MARKERS, TF, View, mounts
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import Message, VehicleState
from skyloop_client.streams import NS_PER_S, StreamInfo

# after our own modules: if the SDK is missing, their import says in one line how to install it
import foxglove  # isort: skip
from foxglove import channels  # isort: skip
from foxglove.websocket import Capability, ChannelView, Client, ServerListener  # isort: skip

# bad requests to the port are not printed on the terminal; a program that sets up logging still gets them
logging.getLogger("foxglove").addHandler(logging.NullHandler())

PORT = 8765
"""Foxglove's default port."""
BACKLOG = 256
"""Most messages that wait for one client."""
CLOCK_NS = 20_000_000
"""Simulated time between two clock messages. The SDK does not drop these: it drops a slow client."""
GOODBYE_S = 1.0
"""Wall s for closing the connections."""
REPEAT_NS = NS_PER_S // 2
"""Simulated time between repetitions of static content, for clients that connected meanwhile."""


def _kept_free(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen. It reserves the port: only our server can listen there."""
    if not 0 <= port < 1 << 16:
        raise _refused(host, port, "port numbers are 0 to 65535")
    try:
        return bound(socket.SOCK_STREAM, host, port)
    except OSError as error:
        raise _refused(host, port, str(error.strerror)) from None


def _refused(host: str, port: int, why: str) -> LinkError:
    return LinkError(f"Foxglove: cannot listen on {host}:{port}: {why}; give --foxglove another port")


def _encoded(make: Callable[[], RosMessage]) -> bytes:
    return bytes(encode(make()))


class Newcomers(ServerListener):  # type: ignore[misc, unused-ignore]
    """The SDK calls this in its own threads."""

    def __init__(self) -> None:
        self.topics: set[str] = set()
        """Topics with new subscribers that have not been served yet."""

    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        self.topics.add(channel.topic)


class FoxgloveLink(Onlooker):
    """Built before the world, so that a port in use is reported at once.

    For people to watch, so in real time unless another link has another pace."""

    name = "foxglove"
    allows_realtime = True

    def __init__(
        self, host: str = "127.0.0.1", port: int = PORT, announce: Callable[[str], None] = lambda url: None
    ) -> None:
        """`announce` gets the address when clients are accepted."""
        self._announce = announce
        self._reserved = _kept_free(host, port)
        self.host, self.port = host, int(self._reserved.getsockname()[1])
        self._context = foxglove.Context()
        self._newcomers = Newcomers()
        self._server: Any = None
        self._channels: dict[str, Any] = {}
        """By topic. None if the topic cannot be shown."""
        self._views: dict[str, list[tuple[str, View]]] = {}
        """By stream: its topics and what they show."""
        self._tracks = VehicleTracks()
        self._tick = self._repeat = -1
        self._closed = False
        self._port: SimulationPort | None = None

    @property
    def url(self) -> str:
        return f"ws://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def attach(self, port: SimulationPort, folder: Path | None = None, link_gate: LinkGate | None = None) -> None:
        """Watch all streams, including later ones, and accept clients."""
        self._port = port
        for topic, kind in (
            ("/tf", TF),
            ("/tf_static", TF),
            ("/tracks", MARKERS),
            ("/world", MARKERS),
        ):
            self._open(topic, kind)
        port.bus.on_new(self._watch)
        port.bus.on_every(self._on_message)
        # last, because the SDK may refuse a client that subscribes at the moment a topic is announced
        try:
            self._server = foxglove.start_server(
                name="skyloop", host=self.host, port=self.port, capabilities=[Capability.Time], context=self._context,
                message_backlog_size=BACKLOG, server_listener=self._newcomers,
            )  # fmt: skip
        except RuntimeError as error:
            raise _refused(self.host, self.port, str(error)) from None
        self._reserved.close()
        self._announce(self.url)

    def close(self) -> None:
        """It may be called twice."""
        if self._closed:
            return
        self._closed = True
        for channel in filter(None, self._channels.values()):
            channel.close()
        self._channels.clear()
        self._reserved.close()
        if self._server is None:
            return
        # the SDK says goodbye to each client, and would wait forever for one that does not read
        leaving = threading.Thread(target=self._server.stop, name="skyloop Foxglove leaves", daemon=True)
        leaving.start()
        leaving.join(timeout=GOODBYE_S)

    def _watch(self, info: StreamInfo) -> None:
        """Open the topics of a stream."""
        taken = {topic for views in self._views.values() for topic, _ in views}
        views = self._views[info.name] = []
        for view in views_of(info):
            topic = view.topic_of(info)
            # a user may publish `gnss` and `gnss/velocity`, so the topics of the two must differ
            while topic in taken and topic != "/tf":
                topic += "_"
            views.append((topic, view))
            if topic not in self._channels and not self._closed:
                self._open(topic, view.kind, info.message)

    def _open(self, topic: str, kind: str, record: str = "") -> None:
        if kind == JSON:
            self._channels[topic] = foxglove.Channel(topic, schema=schema_of(record), context=self._context)
        elif kind == ANNOTATIONS:
            self._channels[topic] = channels.ImageAnnotationsChannel(topic, context=self._context)
        else:
            schema = foxglove.Schema(name=kind, encoding="ros2msg", data=schema_text(kind).encode())
            self._channels[topic] = foxglove.Channel(
                topic, message_encoding="cdr", schema=schema, context=self._context
            )

    def _on_message(self, message: Message) -> None:
        assert self._port is not None
        bus = self._port.bus
        if self._closed:
            return
        info, now_ns = bus.infos[message.stream], message.arrival_ns
        self._tell_time(now_ns)
        for topic, view in self._views[message.stream]:
            self._log(topic, now_ns, partial(payload, view, info, message.data))
        if isinstance(message.data, VehicleState):
            self._tracks.add(info, message.data)

    def _tell_time(self, now_ns: int) -> None:
        if now_ns // CLOCK_NS == self._tick:
            return
        self._tick = now_ns // CLOCK_NS
        self._server.broadcast_time(now_ns)
        assert self._port is not None
        editor, infos = self._port.editor, self._port.bus.infos
        again = now_ns // REPEAT_NS != self._repeat
        self._repeat = now_ns // REPEAT_NS
        static: dict[str, tuple[bool, Callable[[], RosMessage]]] = {
            "/tf_static": (True, lambda: mounts(infos.values(), now_ns)),
            "/tracks": (True, lambda: self._tracks.update(now_ns)),
            "/world": (False, lambda: boxes(editor, now_ns)),
        }
        for topic, (repeated, make) in static.items():
            if (again and repeated) or topic in self._newcomers.topics:
                self._newcomers.topics.discard(topic)
                self._log(topic, now_ns, partial(_encoded, make))

    def _log(self, topic: str, now_ns: int, make: Callable[[], object]) -> None:
        """Send the result of `make` if the topic has subscribers."""
        channel = self._channels.get(topic)
        if channel is None or not channel.has_sinks():
            return
        try:
            built = make()
            if built is not None:
                channel.log(built, log_time=now_ns)
        except Exception as error:
            # a user's record may differ from ours of the same name; that must not end a flight
            text = f"{topic} cannot be shown: {type(error).__name__}: {error}"
            self._server.publish_status(text, foxglove.StatusLevel.Error, topic)
            channel.close()
            self._channels[topic] = None


# ---- the link


class FoxgloveConfig(LinkConfig):
    """Foxglove shows the flight."""

    kind: ClassVar[str] = "foxglove"
    bare: ClassVar[str] = "address"
    invitation: ClassVar[str] = "Foxglove may connect to %s"

    address: Address = ("127.0.0.1", PORT)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        return [FoxgloveLink(*self.address, self.announce)]
