"""What ROS 2 adds to RTPS: the graph that `ros2 node list` shows, and services.

Identities have 24 bytes in the graph until Humble, and 16 since Iron. A reader of Iron or later has the hash of its
type in its user data, so each one gets what it understands.

Fast DDS's clients of services know their reply by the related sample identity in its inline parameters. Cyclone's put
an identity and a number before the fields of the question, and look for them before those of the reply. The vendor's
number in the datagram of the question tells which one asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skyloop.links.ros2.rtps import parameters as pl
from skyloop.links.ros2.rtps import wire
from skyloop.links.ros2.rtps.parameters import EndpointData
from skyloop.links.ros2.rtps.participant import RtpsParticipant
from skyloop.links.ros2.rtps.reliability import MOST_PARTNERS
from skyloop.recording.ros2.types import encode, rmw_dds_common, type_hash

TOPIC = "ros_discovery_info"
KIND = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
FORMATS = {
    16: (rmw_dds_common.Gid, rmw_dds_common.NodeEntitiesInfo, rmw_dds_common.ParticipantEntitiesInfo),
    24: (rmw_dds_common.Gid24, rmw_dds_common.NodeEntitiesInfo24, rmw_dds_common.ParticipantEntitiesInfo24),
}
"""By the length of an identity."""
MOST_KNOWN = 2 * MOST_PARTNERS
"""Readers, some of which are gone."""
NODE = "skyloop"


class Graph:
    def __init__(self, participant: RtpsParticipant, namespace: str) -> None:
        self._participant, self._namespace = participant, namespace or "/"
        self._readers: dict[bytes, int] = {}
        """How many bytes an identity has for each."""
        self._told: dict[int, bytes] = {}
        about = f"typehash={type_hash(FORMATS[16][2].__msgtype__)};"
        participant.add_writer(TOPIC, KIND, about, latched=True, met=self._met)

    def tell(self, owner: bytes, readers: Sequence[bytes], writers: Sequence[bytes]) -> None:
        """`owner`: the participant of the node, by which others find it for an endpoint."""
        built = {}
        for size, (gid, node, participant) in FORMATS.items():
            mine, heard, said = (
                [gid(np.frombuffer(one.ljust(size, b"\0"), np.uint8)) for one in ids]
                for ids in ((owner,), readers, writers)
            )
            built[size] = bytes(encode(participant(mine[0], [node(self._namespace, NODE, heard, said)])))
        if built != self._told:
            self._told = built
            for reader in list(self._readers):
                self._send(reader)

    def _met(self, about: EndpointData) -> None:
        self._readers[about.guid] = 16 if b"typehash=" in about.user_data else 24
        if len(self._readers) > MOST_KNOWN:
            del self._readers[next(iter(self._readers))]
        self._send(about.guid)

    def _send(self, reader: bytes) -> None:
        if self._told:
            data = self._told[self._readers[reader]]
            self._participant.write(TOPIC, data + bytes(-len(data) % 4), b"", to=reader)


# ---- services


HEAD, ASKED = 4, 16
"""Bytes of CDR's header, and of Cyclone's who asks and which question."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and which of its questions it is."""

    writer: bytes
    number: int
    head: bytes | None
    """What a client of Cyclone put before its question, in our byte order."""


Asked = Callable[[bytes, Caller], None]
Taken = Callable[[bytes, object], None]
"""Called in a reading thread with a message and who sent it, as far as somebody needs to know."""


class ServiceServer:
    def __init__(self, participant: RtpsParticipant) -> None:
        self._participant = participant
        self.readers: list[bytes] = []
        self.writers: list[bytes] = []
        """The identities of the endpoints, for the graph."""

    def serve(self, name: str, kinds: tuple[str, str], user_data: tuple[str, str], asked: Asked) -> None:
        """`name` such as /drone/arm; `kinds` and `user_data` of the request and of the reply. `asked` is called in the
        reading thread, with the question in CDR."""

        def taken(vendor: bytes, writer: bytes, sample: wire.Data) -> None:
            question = question_of(vendor, writer, sample)
            if question is not None:
                asked(*question)

        # the reply's end is there first: a client that finds the other one may ask at once
        self.writers.append(self._participant.add_writer(f"rr{name}Reply", kinds[1], user_data[1]))
        self.readers.append(self._participant.add_reader(f"rq{name}Request", kinds[0], user_data[0], taken))

    def reply(self, name: str, caller: Caller, data: bytes) -> None:
        """From any thread. `data`: the reply in CDR."""
        inline = b""
        if caller.head is None:
            inline = pl.related(caller.writer, caller.number)
        else:
            data = data[:HEAD] + caller.head + data[HEAD:]
        data += bytes(-len(data) % 4)
        self._participant.write(f"rr{name}Reply", data, inline, to=caller.writer[:12])


def question_of(vendor: bytes, writer: bytes, sample: wire.Data) -> tuple[bytes, Caller] | None:
    """CDR without what a client of Cyclone puts before it, and who asks. None: it is no question."""
    data = sample.payload
    if len(data) < HEAD:
        return None
    if vendor != wire.CYCLONE:
        return data, Caller(writer, sample.number, None)
    if len(data) < HEAD + ASKED:
        return None
    who, which = data[HEAD : HEAD + 8], data[HEAD + 8 : HEAD + ASKED]
    if data[1] == 0:
        # big-endian; our replies are not
        who, which = who[::-1], which[::-1]
    return data[:HEAD] + data[HEAD + ASKED :], Caller(writer, sample.number, who + which)
