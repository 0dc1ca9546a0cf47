"""The graph that `ros2 node list` shows: which endpoints are our node's, told on the topic of ROS 2's discovery.

Identities have 24 bytes in it until Humble, and 16 since Iron. A reader of Iron or later has the hash of its type in
its user data, so each one gets what it understands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
NODE, NAMESPACE = "skyloop", "/"


class Graph:
    def __init__(self, participant: RtpsParticipant) -> None:
        self._participant = participant
        self._readers: dict[bytes, int] = {}
        """How many bytes an identity has for each."""
        self._told: dict[int, bytes] = {}
        about = f"typehash={type_hash(FORMATS[16][2].__msgtype__)};"
        participant.add_writer(TOPIC, KIND, about, latched=True, met=self._met)

    def tell(self, owner: bytes, readers: Sequence[bytes], writers: Sequence[bytes]) -> None:
        """`owner`: the participant of the node, by which others find it for an endpoint."""
        made = {}
        for size, (gid, node, whole) in FORMATS.items():
            mine, heard, said = (
                [gid(np.frombuffer(one.ljust(size, b"\0"), np.uint8)) for one in ids]
                for ids in ((owner,), readers, writers)
            )
            made[size] = bytes(encode(whole(mine[0], [node(NAMESPACE, NODE, heard, said)])))
        if made != self._told:
            self._told = made
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
