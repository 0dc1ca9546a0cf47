"""A ROS 2 node of other people's making, in a process of its own: Cyclone's Python package, with types from rosbags.

Definitions that rosbags does not know are read from our `types.idl` by its own parser.

Reads lines of JSON on stdin and answers each with one line:
    {"read": topic, "type": name, "quality": "best effort" | "reliable" | "latched"}   -> "ok"
    {"write": topic, "type": name, "values": ..., "reliable": bool}                    -> number of matched readers
    {"take": topic, "count": n, "wait": s}                                            -> list of messages
    {"call": service, "type": name, "values": ..., "wait": s}                         -> the reply, or null
    {"echo": stamped topic, "type": name, "to": topic, "times": n} -> "ok"; answers each with a TwistStamped of its
                                                            stamp, and n - 1 times more with another velocity
    {"record": folder, "topics": {topic: [name, quality]}}  -> "ok"; writes the bytes into a bag until {"stop": true}
    {"flood": topic, "type": name, "count": n}              -> "ok"; n zero messages, as fast as it can
    {"graph": s}                                            -> nodes (for Jazzy, for Humble), endpoints
The argument is the domain."""

from __future__ import annotations

import dataclasses
import json
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from cyclonedds._clayer import ddspy_take
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import InstanceState, Policy, Qos, SampleState, ViewState
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from rosbags.interfaces import Nodetype
from rosbags.rosbag2 import Writer
from rosbags.typesys import Stores, get_types_from_idl, get_typestore

CONFIG = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces><AllowMulticast>false'
    "</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32"
    '</MaxAutoParticipantIndex><Peers><Peer address="localhost"/></Peers></Discovery></Domain></CycloneDDS>'
)
EVERYTHING = int(SampleState.Any | ViewState.Any | InstanceState.Any)
QUALITIES = {
    "best effort": (Policy.Reliability.BestEffort, Policy.History.KeepLast(400)),
    "reliable": (Policy.Reliability.Reliable(10**9), Policy.History.KeepLast(400)),
    # what rclpy makes of `create_subscription(Type, topic, callback, 10)`
    "plain": (Policy.Reliability.Reliable(10**8), Policy.History.KeepLast(10), Policy.Durability.Volatile),
    "latched": (
        Policy.Reliability.Reliable(10**9), Policy.Durability.TransientLocal, Policy.History.KeepLast(10),
    ),
}  # fmt: skip


def typestore() -> Any:
    store = get_typestore(Stores.ROS2_JAZZY)
    ours = Path(__file__).parents[2] / "src" / "skyloop" / "recording" / "ros2" / "types.idl"
    known = get_types_from_idl(ours.read_text(encoding="utf-8"))
    store.register({name: fields for name, fields in known.items() if name not in store.fielddefs})
    return store


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name != "__msgtype__"
        }
    if isinstance(value, bytes | bytearray):
        return list(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


class Peer:
    def __init__(self, domain: int, *, of_humble: bool) -> None:
        self.store = typestore()
        self.kinds: dict[str, Any] = {}
        self.domain = Domain(domain, CONFIG)
        self.participant = DomainParticipant(domain)
        self.topics: dict[tuple[str, str], Any] = {}
        self.readers: dict[str, Any] = {}
        self.writers: dict[tuple[str, str], Any] = {}
        self.asked = 0
        self.stopped = threading.Event()
        self.threads: list[threading.Thread] = []
        self.nodes = self._reader_of_humble() if of_humble else self._reader_of_jazzy()

    def _reader_of_jazzy(self) -> Any:
        """Of the graph. It has the hash of the type in its user data."""
        topic = self.topic("ros_discovery_info", "rmw_dds_common/msg/ParticipantEntitiesInfo")
        return DataReader(self.participant, topic, Qos(*QUALITIES["latched"], Policy.Userdata(b"typehash=RIHS01_0;")))

    def _reader_of_humble(self) -> Any:
        """It has no hash, and longer identities. Not beside the other one in this process: Cyclone has one state of a
        writer for all readers of a process, so that what is for one of them is lost for the other."""
        many: Any = types
        gid = make_idl_struct("Gid24", "rmw_dds_common::msg::dds_::Gid_", {"data": many.array[types.uint8, 24]})
        node = make_idl_struct(
            "Node24", "rmw_dds_common::msg::dds_::NodeEntitiesInfo_",
            {
                "node_namespace": str, "node_name": str, "reader_gid_seq": many.sequence[gid],
                "writer_gid_seq": many.sequence[gid],
            },
        )  # fmt: skip
        reported = make_idl_struct(
            "Told24", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
            {"gid": gid, "node_entities_info_seq": many.sequence[node]},
        )  # fmt: skip
        return DataReader(
            self.participant, Topic(self.participant, "ros_discovery_info", reported), Qos(*QUALITIES["latched"])
        )

    def kind(self, name: str) -> Any:
        if name not in self.kinds:
            package, folder, short = name.split("/")
            fields = {field: self._hint(about) for field, about in self.store.fielddefs[name][1]}
            fields = fields or {"structure_needs_at_least_one_member": types.uint8}
            if name.endswith(("_Request", "_Response")):
                fields = {"client_guid": types.uint64, "sequence_number": types.int64, **fields}
            self.kinds[name] = make_idl_struct(name.replace("/", "_"), f"{package}::{folder}::dds_::{short}_", fields)
        return self.kinds[name]

    def _hint(self, about: Any) -> Any:
        what, rest = about
        if what == Nodetype.NAME:
            return self.kind(rest)
        if what == Nodetype.BASE:
            simple = {"string": str, "bool": bool, "char": types.uint8}
            return simple.get(rest[0]) or getattr(types, rest[0])
        inner, length = rest
        many: Any = types
        return many.array[self._hint(inner), length] if what == Nodetype.ARRAY else many.sequence[self._hint(inner)]

    def topic(self, name: str, kind: str) -> Any:
        if (name, kind) not in self.topics:
            self.topics[name, kind] = Topic(self.participant, name, self.kind(kind))
        return self.topics[name, kind]

    def built(self, name: str, values: Any) -> Any:
        """A message from nested dictionaries. What is left out is zero."""
        values, kind = values or {}, self.kind(name)
        parts = {field: self._part(about, values.get(field)) for field, about in self.store.fielddefs[name][1]}
        for field in kind.__annotations__:
            parts.setdefault(field, values.get(field, 0))
        return kind(**parts)

    def _part(self, about: Any, value: Any) -> Any:
        what, rest = about
        if what == Nodetype.NAME:
            return self.built(rest, value)
        if what == Nodetype.SEQUENCE:
            return [self._part(rest[0], one) for one in value or []]
        if what == Nodetype.ARRAY:
            return [self._part(rest[0], one) for one in value or [0] * rest[1]]
        zero: Any = {"string": "", "bool": False}.get(rest[0], 0.0 if "float" in rest[0] else 0)
        return zero if value is None else type(zero)(value)

    def read(self, topic: str, kind: str, quality: str) -> str:
        dds = self.topic(f"rt{topic}", kind)
        self.readers[topic] = DataReader(self.participant, dds, Qos(*QUALITIES[quality]))
        return "ok"

    def take(self, topic: str, count: int, wait: float) -> list[Any]:
        until = time.monotonic() + wait
        found: list[Any] = []
        while len(found) < count and time.monotonic() < until:
            for sample in self.readers[topic].take(1000):
                if sample.sample_info.valid_data:
                    found.append(plain(sample))
            time.sleep(0.005)
        return found

    def write(self, topic: str, kind: str, values: Any, reliable: bool, wait: float) -> int:
        if (topic, kind) not in self.writers:
            quality = QUALITIES["reliable" if reliable else "best effort"]
            self.writers[topic, kind] = DataWriter(self.participant, self.topic(f"rt{topic}", kind), Qos(*quality))
        writer, until = self.writers[topic, kind], time.monotonic() + wait
        while not writer.get_publication_matched_status().current_count and time.monotonic() < until:
            time.sleep(0.01)
        writer.write(self.built(kind, values))
        return int(writer.get_publication_matched_status().current_count)

    def call(self, service: str, kind: str, values: Any, wait: float) -> Any:
        """As rmw_cyclonedds does: who asks and the number of the question stand before the fields."""
        name = f"call {service}"
        is_new = name not in self.readers
        if is_new:
            quality = Qos(*QUALITIES["reliable"])
            ask = self.topic(f"rq{service}Request", f"{kind}_Request")
            self.writers[name, kind] = DataWriter(self.participant, ask, quality)
            reply = self.topic(f"rr{service}Reply", f"{kind}_Response")
            self.readers[name] = DataReader(self.participant, reply, quality)
        writer, reader, until = self.writers[name, kind], self.readers[name], time.monotonic() + wait
        while time.monotonic() < until and not (
            writer.get_publication_matched_status().current_count
            and reader.get_subscription_matched_status().current_count
        ):
            time.sleep(0.01)
        if is_new:
            # that the server has found us, too, nobody tells
            time.sleep(0.1)
        self.asked += 1
        head = {"client_guid": writer.get_instance_handle() & (2**63 - 1), "sequence_number": self.asked}
        writer.write(self.built(f"{kind}_Request", {**head, **(values or {})}))
        while time.monotonic() < until:
            for sample in reader.take(10):
                if sample.client_guid == head["client_guid"] and sample.sequence_number == self.asked:
                    return plain(sample)
            time.sleep(0.005)
        return None

    def echo(self, topic: str, kind: str, to: str, times: int) -> str:
        """The velocity east is the stamp's seconds, so that each answer can be told from the others. Those too
        many come at any moment."""
        self.read(topic, kind, "reliable")
        reader = self.readers[topic]
        out = DataWriter(
            self.participant, self.topic(f"rt{to}", "geometry_msgs/msg/TwistStamped"), Qos(*QUALITIES["reliable"])
        )

        def answer() -> None:
            while not self.stopped.wait(0.0005):
                for sample in reader.take(10):
                    stamp = plain(sample.header.stamp)
                    east = stamp["sec"] + stamp["nanosec"] * 1e-9
                    head = {"stamp": stamp, "frame_id": "map"}
                    values = {"header": head, "twist": {"linear": {"x": east, "y": -0.25}}}
                    out.write(self.built("geometry_msgs/msg/TwistStamped", values))
                    values = {"header": head, "twist": {"linear": {"x": -5.0, "y": 5.0}}}
                    for _ in range(times - 1):
                        time.sleep(random.uniform(0.0, 0.001))
                        out.write(self.built("geometry_msgs/msg/TwistStamped", values))

        self.threads.append(threading.Thread(target=answer, daemon=True))
        self.threads[-1].start()
        return "ok"

    def record(self, folder: str, topics: dict[str, Any]) -> str:
        """As `ros2 bag record`: the bytes of each topic, and when they came."""
        readers = {}
        for topic, (kind, quality) in topics.items():
            self.read(topic, kind, quality)
            readers[topic] = self.readers[topic]

        def write() -> None:
            with Writer(Path(folder), version=8) as bag:
                places = {
                    topic: bag.add_connection(topic, kind, typestore=self.store) for topic, (kind, _) in topics.items()
                }
                while not self.stopped.is_set() or any(reader.read(1) for reader in readers.values()):
                    for topic, reader in readers.items():
                        found = ddspy_take(reader._ref, EVERYTHING, 1000)
                        for data, info in found if isinstance(found, list) else ():
                            if info.valid_data:
                                bag.write(places[topic], info.source_timestamp, data)
                    time.sleep(0.002)

        self.threads.append(threading.Thread(target=write))
        self.threads[-1].start()
        return "ok"

    def stop(self) -> str:
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        self.stopped.clear()
        self.threads.clear()
        return "ok"

    def flood(self, topic: str, kind: str, count: int) -> str:
        assert self.write(topic, kind, {}, True, 60.0)
        message = self.built(kind, {})
        for _ in range(count):
            self.writers[topic, kind].write(message)
        return "ok"

    def graph(self, wait: float) -> dict[str, Any]:
        until = time.monotonic() + wait
        nodes: dict[str, Any] = {}
        while time.monotonic() < until and not nodes:
            for sample in self.nodes.take(10):
                for node in sample.node_entities_info_seq:
                    name = f"{node.node_namespace}/{node.node_name}".replace("//", "/")
                    nodes[name] = [
                        [bytes(gid.data).hex() for gid in seq] for seq in (node.reader_gid_seq, node.writer_gid_seq)
                    ]
            time.sleep(0.02)
        ends = {}
        for what in (BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription):
            for end in BuiltinDataReader(self.participant, what).take(500):
                ends[end.key.hex] = [end.topic_name, end.type_name, what is BuiltinTopicDcpsPublication]
        return {"nodes": nodes, "ends": ends}


def main() -> None:
    peer = Peer(int(sys.argv[1]), of_humble="humble" in sys.argv[2:])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        reported = json.loads(line)
        verb = next(iter(reported))
        kind, values = reported.get("type", ""), reported.get("values")
        if verb == "read":
            answer: Any = peer.read(reported["read"], kind, reported["quality"])
        elif verb == "take":
            answer = peer.take(reported["take"], reported["count"], reported["wait"])
        elif verb == "write":
            answer = peer.write(reported["write"], kind, values, reported["reliable"], reported["wait"])
        elif verb == "echo":
            answer = peer.echo(reported["echo"], kind, reported["to"], reported["times"])
        elif verb == "record":
            answer = peer.record(reported["record"], reported["topics"])
        elif verb == "stop":
            answer = peer.stop()
        elif verb == "flood":
            answer = peer.flood(reported["flood"], kind, reported["count"])
        elif verb == "call":
            answer = peer.call(reported["call"], kind, values, reported["wait"])
        else:
            answer = peer.graph(reported["graph"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
