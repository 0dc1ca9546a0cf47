"""A DDS participant that speaks as ROS 2 nodes do: topics and the graph that `ros2 node list` shows.

Messages pass through here as bytes. Nothing here knows what they mean. Topics are Cyclone's, which runs in a process of
its own; services are answered here, see `rtps/`."""

from __future__ import annotations

from skyloop.links.ros2.dds_client import DdsProcess
from skyloop.links.ros2.dds_types import Quality
from skyloop.links.ros2.rtps.parameters import EndpointData
from skyloop.links.ros2.rtps.participant import RtpsParticipant
from skyloop.links.ros2.rtps.server import Graph, ServiceServer, Taken
from skyloop.links.ros2.settings import Ros2Settings


class Writer:
    """A publisher."""

    def __init__(self, process: DdsProcess, number: int) -> None:
        self._process, self.number = process, number
        self.sent = self.lost = 0

    @property
    def readers(self) -> int:
        """How many listen."""
        return self._process.matched(self.number)

    @property
    def is_wanted(self) -> bool:
        """Whether anybody listens."""
        return self._process.matched(self.number) > 0

    def send(self, data: bytearray) -> None:
        """It is padded in place. A message is lost while there is no process to send it."""
        if self._process.send(self.number, data):
            self.sent += 1
        else:
            self.lost += 1


class Participant:
    """One ROS 2 node, `/skyloop`."""

    def __init__(self, settings: Ros2Settings) -> None:
        """Its process starts meanwhile; `wait_ready` waits for it."""
        self.settings = settings
        self._process = DdsProcess(settings.domain, settings.config())
        self._writers: dict[str, Writer] = {}
        self._readers: dict[tuple[str, str], int] = {}
        """By topic and type, with the numbers of the endpoints."""
        self._own: set[bytes] = set()
        """The beginnings of the identities of all our processes."""
        self._told: tuple[bytes, ...] = ()
        try:
            self._rtps = RtpsParticipant(settings)
        except BaseException:
            self._process.close()
            raise
        self._graph = Graph(self._rtps, settings.namespace)
        self.server = ServiceServer(self._rtps)

    def wait_ready(self) -> None:
        self._process.wait_ready()

    @property
    def process_id(self) -> int:
        """Of the process that speaks DDS."""
        return self._process.process_id

    # ---- endpoints

    def writer(self, topic: str, kind: str, quality: Quality) -> Writer:
        """Of a topic such as /tf, which gets the namespace."""
        topic = self.settings.full(topic)
        if topic not in self._writers:
            self._writers[topic] = Writer(self._process, self._process.open(topic, kind, quality))
        return self._writers[topic]

    def reader(self, topic: str, kind: str, quality: Quality, taken: Taken) -> None:
        """A topic may have several readers, each of another type. `taken` is called in a thread that reads."""
        topic = self.settings.full(topic)
        self._readers[topic, kind] = self._process.open(topic, kind, quality, lambda data: taken(data, None))

    @property
    def kinds_read(self) -> dict[str, list[str]]:
        """By topic: the types that are read."""
        found: dict[str, list[str]] = {}
        for topic, kind in self._readers:
            found.setdefault(topic, []).append(kind)
        return found

    def is_heard(self, topic: str) -> bool:
        """Whether somebody publishes on a topic that we read."""
        return any(self._process.matched(number) for (name, _), number in self._readers.items() if name == topic)

    # ---- the graph

    def tell_graph(self) -> None:
        """Say which endpoints are the node's, if that changed."""
        owner = self._process.guid
        readers = [self._process.guid_of(number) for number in self._readers.values()]
        writers = [self._process.guid_of(one.number) for one in self._writers.values()]
        told = (owner, *readers, *writers)
        # one that is not opened yet has no identity
        if told != self._told and all(told):
            if self._told and self._told[0] != owner:
                # of a process that has ended
                self._rtps.say_goodbye(self._told[0][:12])
            self._told = told
            self._graph.tell(owner, [*readers, *self.server.readers], [*writers, *self.server.writers])

    def others(self) -> list[tuple[str, EndpointData]]:
        """Endpoints of other nodes: `writers` or `readers`, and what they say of themselves."""
        self._own.add(self._process.guid[:12])
        return [(what, about) for what, about in self._rtps.others() if about.guid[:12] not in self._own]

    @property
    def lost(self) -> int:
        return self._process.lost + sum(writer.lost for writer in self._writers.values())

    @property
    def sent(self) -> int:
        return sum(writer.sent for writer in self._writers.values())

    def close(self) -> None:
        """It may be called twice."""
        self._process.close()
        # Cyclone's own goodbye lacks what Fast DDS looks for; it would show the node for 10 s more
        self._rtps.close(self._process.guid[:12])
