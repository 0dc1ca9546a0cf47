"""MCAP with ROS 2 definitions, in a folder like rosbag2's: `ros2/ros2_0.mcap` beside `ros2/metadata.yaml`.

A message's log time is its arrival. Its publish time and its header's stamp are the instant it describes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

import yaml
from mcap.writer import CompressionType, Writer

from skyloop.core.files import PARTIAL, write_whole
from skyloop.recording.recording import Recording
from skyloop.recording.ros2.types import RosMessage, encode, schema_text
from skyloop.recording.ros2.views import check_topics, is_latched, mounts, views_of, without_form
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message

log = logging.getLogger(__name__)

FOLDER = "ros2"
BAG_VERSION = 5
"""Version of metadata.yaml. rosbag2 has read it since Galactic."""
FOR_EVER = {"sec": 9223372036, "nsec": 854775807}
LATCHED = yaml.safe_dump(
    [
        {
            "history": 1, "depth": 1, "reliability": 1, "durability": 1, "deadline": FOR_EVER, "lifespan": FOR_EVER,
            "liveliness": 1, "liveliness_lease_duration": FOR_EVER, "avoid_ros_namespace_conventions": False,
        }
    ],
    sort_keys=False,
)  # fmt: skip
"""Quality of service in rmw's numbers: late subscribers still get the last message."""


@dataclass(slots=True)
class Channel:
    number: int
    kind: str
    count: int = 0


class Mcap:
    """Without compression, so that the bytes do not depend on a compressor's version.

    zstd would take as long as all the rest, for a third of the size."""

    first_group = 0

    def __init__(self, recording: Recording) -> None:
        check_topics(recording.infos)
        if silent := without_form(recording.infos.values()):
            log.warning("mcap: left out, because no ROS 2 message is known for them: %s", ", ".join(silent))
        self._infos = recording.infos
        self._folder = recording.formats_folder / FOLDER
        self._path = self._folder / f"{FOLDER}_0.mcap"
        self._partial = self._path.with_name(self._path.name + PARTIAL)
        self._channels: dict[str, Channel] = {}
        self._schemas: dict[str, int] = {}
        self._first_ns, self._last_ns = 0, 0
        self._began = False
        self._file: IO[bytes] | None = None
        with self._reported():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._partial.open("wb")
            self._writer = Writer(self._file, compression=CompressionType.NONE)
            # a version here would change the bytes with every update of the package
            self._writer.start(profile="ros2", library="skyloop")

    def add(self, messages: list[Message]) -> None:
        with self._reported():
            for message in messages:
                if not self._began:
                    self._began, self._first_ns = True, message.arrival_ns
                    static = mounts(self._infos.values(), message.t_ns)
                    self._write("/tf_static", static, 0, message.t_ns, message.arrival_ns)
                self._last_ns = message.arrival_ns
                info = self._infos[message.stream]
                for view in views_of(info):
                    if view.in_bag and (made := view.make(info, message.data)) is not None:
                        self._write(view.topic_of(info), made, message.index, message.t_ns, message.arrival_ns)

    def finish(self) -> None:
        with self._reported():
            self._writer.finish()
            if self._file:
                self._file.close()
            self._partial.replace(self._path)
        write_whole(self._folder / "metadata.yaml", yaml.safe_dump(self._metadata(), sort_keys=False))

    def _write(self, topic: str, made: RosMessage, index: int, t_ns: int, arrival_ns: int) -> None:
        channel = self._channels.get(topic) or self._new_channel(topic, made.__msgtype__)
        channel.count += 1
        self._writer.add_message(channel.number, arrival_ns, bytes(encode(made)), t_ns, index)

    def _new_channel(self, topic: str, kind: str) -> Channel:
        if kind not in self._schemas:
            self._schemas[kind] = self._writer.register_schema(kind, "ros2msg", schema_text(kind).encode())
        quality = {"offered_qos_profiles": _quality(topic, kind)}
        number = self._writer.register_channel(topic, "cdr", self._schemas[kind], quality)
        self._channels[topic] = Channel(number, kind)
        return self._channels[topic]

    def _metadata(self) -> dict[str, object]:
        topics = [
            {
                "topic_metadata": {
                    "name": topic,
                    "type": channel.kind,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": _quality(topic, channel.kind),
                },
                "message_count": channel.count,
            }
            for topic, channel in self._channels.items()
        ]
        span = {
            "duration": {"nanoseconds": self._last_ns - self._first_ns},
            "starting_time": {"nanoseconds_since_epoch": self._first_ns},
            "message_count": sum(channel.count for channel in self._channels.values()),
        }
        bag = {
            "version": BAG_VERSION,
            "storage_identifier": "mcap",
            **span,
            "topics_with_message_count": topics,
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self._path.name],
            "files": [{"path": self._path.name, **span}],
        }
        return {"rosbag2_bagfile_information": bag}

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # buffered data cannot be written either
            with suppress(OSError):
                if self._file:
                    self._file.close()
            with suppress(OSError):
                self._partial.unlink()
            raise DatasetError(f"cannot write '{self._path}': {error.strerror}") from error


def _quality(topic: str, kind: str) -> str:
    return LATCHED if is_latched(topic, kind) else ""
