"""A client of Foxglove's WebSocket protocol that knows nothing of skyloop: it decodes by the schemas it is told."""

from __future__ import annotations

import base64
import json
import struct
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

MESSAGE_DATA, TIME = 1, 2


@dataclass(frozen=True, repr=False)
class Received:
    topic: str
    log_ns: int
    data: Any
    """A ROS 2 message, a protobuf message, or what was JSON."""


class Viewer:
    """Connects, is told the channels, subscribes, and gathers what comes in a thread of its own."""

    def __init__(self, url: str) -> None:
        self._open = ExitStack()
        protocols = [Subprotocol("foxglove.sdk.v1")]
        self._socket = self._open.enter_context(connect(url, subprotocols=protocols, max_size=None))
        self.info = json.loads(self._socket.recv(timeout=5))
        self.channels: dict[str, dict[str, Any]] = {}
        self.received: list[Received] = []
        self.raw: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        """By topic: log times and bytes."""
        self.times: list[int] = []
        self.statuses: list[dict[str, Any]] = []
        self.closed = False
        self._topics: dict[int, str] = {}
        self._decoders: dict[str, Callable[[bytes], Any]] = {}
        self._wanted: set[str] | None = set()
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def subscribe(self, *topics: str) -> None:
        """To some topics, or, without any, to all there are and all that come."""
        with self._news:
            self._wanted = set(topics) or None
            for topic in topics or list(self.channels):
                self._ask(topic)

    def until(self, holds: Callable[[], Any], timeout: float = 5.0) -> Any:
        """What `holds` says, as soon as it says something after news."""
        with self._news:
            return self._news.wait_for(holds, timeout)

    def on(self, topic: str) -> list[Received]:
        return [one for one in list(self.received) if one.topic == topic]

    def send(self, raw: str | bytes) -> None:
        self._socket.send(raw)

    def close(self) -> None:
        self._open.close()
        self._thread.join(timeout=5)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> None:
        try:
            for raw in self._socket:
                with self._news:
                    self._take(raw)
                    self._news.notify_all()
        except ConnectionClosed:
            pass
        with self._news:
            self.closed = True
            self._news.notify_all()

    def _take(self, raw: str | bytes) -> None:
        if isinstance(raw, str):
            reported = json.loads(raw)
            if reported["op"] == "advertise":
                for channel in reported["channels"]:
                    self.channels[channel["topic"]] = channel
                    self._decoders[channel["topic"]] = decoder(channel)
                    if self._wanted is None:
                        self._ask(channel["topic"])
            elif reported["op"] == "status":
                self.statuses.append(reported)
        elif raw[0] == TIME:
            self.times.append(struct.unpack_from("<Q", raw, 1)[0])
        elif raw[0] == MESSAGE_DATA:
            number, log_ns = struct.unpack_from("<IQ", raw, 1)
            topic = self._topics[number]
            self.raw[topic].append((log_ns, raw[13:]))
            self.received.append(Received(topic, log_ns, self._decoders[topic](raw[13:])))

    def _ask(self, topic: str) -> None:
        number = self.channels[topic]["id"]
        self._topics[number] = topic
        self._socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": number, "channelId": number}]}))


def decoder(channel: dict[str, Any]) -> Callable[[bytes], Any]:
    if channel["encoding"] == "json":
        return json.loads
    if channel["encoding"] == "cdr":
        schema = Schema(1, channel["schema"].encode(), channel["schemaEncoding"], channel["schemaName"])
        found = DecoderFactory().decoder_for("cdr", schema)
        assert found is not None
        return found
    assert channel["encoding"] == channel["schemaEncoding"] == "protobuf"
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(channel["schema"])).file:
        pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"]))
    return kind.FromString


def points_of(cloud: Any) -> Any:
    """The rows of a PointCloud2."""
    kinds = {4: "<u2", 6: "<u4", 7: "<f4"}
    layout = np.dtype(
        {
            "names": [field.name for field in cloud.fields],
            "formats": [kinds[field.datatype] for field in cloud.fields],
            "offsets": [field.offset for field in cloud.fields],
            "itemsize": cloud.point_step,
        }
    )
    return np.frombuffer(cloud.data, layout)


def pixels_of(image: Any, dtype: str) -> Any:
    return np.frombuffer(image.data, dtype).reshape(image.height, image.width)


def stamp_ns(header: Any) -> int:
    return int(header.stamp.sec) * 10**9 + int(header.stamp.nanosec)
