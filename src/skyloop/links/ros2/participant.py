"""A DDS participant that speaks as ROS 2 nodes do: topics and the graph that `ros2 node list` shows.

Messages pass through here as bytes. Nothing here knows what they mean."""

from __future__ import annotations

import ctypes
import logging
import threading
import time
from collections.abc import Callable

from skyloop.links.ros2.dds_types import Quality, idl_class, qos
from skyloop.links.ros2.rtps.participant import RtpsParticipant
from skyloop.links.ros2.rtps.server import Graph, ServiceServer
from skyloop.links.ros2.settings import Ros2Settings
from skyloop.recording.ros2.types import type_hash
from skyloop_client.errors import LinkError

# after our own modules: if Cyclone is missing, their import says in one line how to install it
from cyclonedds._clayer import ddspy_take  # isort: skip
from cyclonedds.core import (  # isort: skip
    DDSException, GuardCondition, InstanceState, Policy, Qos, ReadCondition, SampleState, ViewState, WaitSet,
)  # fmt: skip
from cyclonedds.domain import Domain, DomainParticipant  # isort: skip
from cyclonedds.idl import IdlStruct  # isort: skip
from cyclonedds.internal import dds_c_t  # isort: skip
from cyclonedds.pub import DataWriter  # isort: skip
from cyclonedds.sub import DataReader  # isort: skip
from cyclonedds.topic import Sample, Topic  # isort: skip

log = logging.getLogger(__name__)

ANYTHING = int(SampleState.Any | ViewState.Any | InstanceState.Any)
AT_ONCE = 64
"""Most messages taken from one reader before the others have their turn."""
BREATH_S = 0.001
"""Wall s between two turns, so that a flood leaves the interpreter to the simulation."""
WAIT_NS = 200_000_000
WRITE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)(("dds_write", DomainParticipant._dll_handle))
"""Takes bytes as they are. The package's own `write` encodes, and holds the interpreter."""
Taken = Callable[[bytes, object], None]
"""Called in a reading thread with a message and who sent it, as far as somebody needs to know."""


class Writer:
    """A publisher."""

    def __init__(self, entity: DataWriter[IdlStruct]) -> None:
        self.entity = entity
        self.sent = self.lost = 0
        self._reference = entity._ref
        self._status = dds_c_t.publication_matched_status()

    @property
    def is_wanted(self) -> bool:
        """Whether anybody listens."""
        self.entity._get_publication_matched_status(self._reference, ctypes.byref(self._status))
        return bool(self._status.current_count)

    def send(self, data: bytearray) -> None:
        """It is padded in place. The interpreter is free meanwhile. A message that finds no room is lost, as by a slow
        reader."""
        data += bytes(-len(data) % 4)
        held = ctypes.c_char.from_buffer(data)
        container = Sample(ctypes.c_void_p(ctypes.addressof(held)), len(data))
        if WRITE(self._reference, ctypes.byref(container)) < 0:
            self.lost += 1
        else:
            self.sent += 1


class Participant:
    """One ROS 2 node, `/skyloop`."""

    def __init__(self, settings: Ros2Settings) -> None:
        self.settings = settings
        try:
            self._domain = Domain(settings.domain, settings.config())
            self._participant = DomainParticipant(settings.domain, Qos(Policy.Userdata(b"enclave=/;")))
        except DDSException as error:
            raise LinkError(f"ROS 2: no participant in domain {settings.domain}: {str(error).strip()}") from None
        self._topics: dict[str, Topic[IdlStruct]] = {}
        self._writers: dict[str, Writer] = {}
        self._readers: list[tuple[DataReader[IdlStruct], list[Taken]]] = []
        self.topics_read: dict[str, tuple[str, DataReader[IdlStruct], list[Taken]]] = {}
        """By topic: its type, and who gets its messages."""
        self._lock = threading.Lock()
        self._waitset = WaitSet(self._participant)
        self._stop = GuardCondition(self._participant)
        self._waitset.attach(self._stop)
        self._closed = False
        self._told = (0, 0)
        self._rtps = RtpsParticipant(settings)
        self._graph = Graph(self._rtps)
        self.server = ServiceServer(self._rtps)
        self._thread = threading.Thread(target=self._read, name="skyloop ROS 2", daemon=True)
        self._thread.start()

    # ---- endpoints

    def writer(self, topic: str, kind: str, quality: Quality) -> Writer:
        """Of a topic such as /tf."""
        with self._lock:
            if topic not in self._writers:
                built = DataWriter(self._participant, self._topic(topic, kind), qos(quality, _about(kind)))
                self._writers[topic] = Writer(built)
            return self._writers[topic]

    def reader(self, topic: str, kind: str, quality: Quality, taken: Taken) -> None:
        with self._lock:
            built = DataReader(self._participant, self._topic(topic, kind), qos(quality, _about(kind)))
            takers = [taken]
            self._readers.append((built, takers))
            self.topics_read[topic] = (kind, built, takers)
            self._waitset.attach(ReadCondition(built, ANYTHING))

    def kind_read(self, topic: str) -> str | None:
        return self.topics_read[topic][0] if topic in self.topics_read else None

    def is_heard(self, topic: str) -> bool:
        """Whether somebody publishes on a topic that we read."""
        return bool(self.topics_read[topic][1].get_subscription_matched_status().current_count)

    def also(self, topic: str, taken: Taken) -> None:
        """Another one gets the messages of a topic that we read, after those before it."""
        self.topics_read[topic][2].append(taken)

    def _topic(self, topic: str, kind: str) -> Topic[IdlStruct]:
        if topic not in self._topics:
            self._topics[topic] = Topic(self._participant, f"rt{topic}", idl_class(kind))
        return self._topics[topic]

    # ---- the graph

    def tell_graph(self) -> None:
        """Say which endpoints are the node's, if that changed."""
        with self._lock:
            readers = [reader.guid.bytes for reader, _ in self._readers]
            writers = [writer.entity.guid.bytes for writer in self._writers.values()]
        if (len(readers), len(writers)) != self._told:
            self._told = (len(readers), len(writers))
            self._graph.tell(
                self._participant.guid.bytes, [*readers, *self.server.readers], [*writers, *self.server.writers]
            )

    # ---- reading

    def _read(self) -> None:
        while not self._closed:
            try:
                self._waitset.wait(WAIT_NS)
            except DDSException:
                return
            if self._closed:
                return
            with self._lock:
                readers = list(self._readers)
            for reader, takers in readers:
                found = ddspy_take(reader._ref, ANYTHING, AT_ONCE)
                for data, info in found if isinstance(found, list) else ():
                    if info.valid_data:
                        for taken in list(takers):
                            taken(data, info.publication_handle)
            time.sleep(BREATH_S)

    @property
    def lost(self) -> int:
        return sum(writer.lost for writer in self._writers.values())

    @property
    def sent(self) -> int:
        return sum(writer.sent for writer in self._writers.values())

    def close(self) -> None:
        """It may be called twice."""
        if self._closed:
            return
        self._closed = True
        prefix = self._participant.guid.bytes[:12]
        self._stop.set(True)
        self._thread.join(timeout=2.0)
        # the domain takes all that is in it along
        for entity in (self._participant, self._domain):
            entity._entities.pop(entity._ref, None)
            entity._delete(entity._ref)
        # Cyclone's own goodbye lacks what Fast DDS looks for; it would show the node for 10 s more
        self._rtps.close(prefix)


def _about(kind: str) -> str:
    return f"typehash={type_hash(kind)};"
