"""Our RTPS: datagrams of others are read, ours survive a bad network, and strangers cannot make it fail or grow."""

from __future__ import annotations

import math
import random
import socket
import struct
from functools import partial

import pytest

from link_rig import eventually
from skyloop.links.ros2.rtps import parameters as pl
from skyloop.links.ros2.rtps import reliability, wire
from skyloop.links.ros2.rtps.participant import RtpsParticipant
from skyloop.links.ros2.rtps.reliability import Outgoing, ReliableReader, ReliableWriter
from skyloop.links.ros2.rtps.server import Caller, question_of
from skyloop.links.ros2.rtps.sockets import port_of
from skyloop.links.ros2.settings import Ros2Settings

MINE = bytes.fromhex("00001342ba6484332d4a4b76")
THEIRS = bytes.fromhex("010f78fd516adf8600000000")
FAST_WRITER = bytes.fromhex(
    "525450530203010f010f78fd516adf860000000009010800b9f3fb6a072b952f15058c0100001000000003c7000003c200000000010000000003"
    "00002f00180001000000236900000000000000000000000000007f00000150001000010f78fd516adf8600000000000001c10500180014000000"
    "72712f64726f6e652f61726d526571756573740007002c00260000007374645f737276733a3a7372763a3a6464735f3a3a536574426f6f6c5f52"
    "6571756573745f00000070001000010f78fd516adf8600000000000001035a001000010f78fd516adf8600000000000001036000040040000000"
    "150004000203000016000400010f00001d000400000000001e001c0000000000000000000000000001000000ffffffffffffffffffffffff2300"
    "0800ffffff7fffffffff2700080000000000000000001b000c0000000000ffffff7fffffffff1a000c0002000000000000009a9999192b000800"
    "ffffff7fffffffff2c000400000000000400080000000000000000001f0004000000000025000400000000002100080000000000000000002900"
    "0400000000002e000400000000002d00040000000000010000008001380001000000206900000000000000000000000000007f000001b9f3fb6a"
    "c610ae2f1c00000000000000dc110000000000000000000000000000"
)
"""A writer of requests to /drone/arm, as Fast DDS 2.9.1 announces it."""
FAST_QUESTION = bytes.fromhex(
    "525450530203010f010f78fd516adf86000000000e010c0000001342ba6484332d4a4b7609010800b9f3fb6aac1fd92f15073c00000010000000"
    "05040000010300000000010000000f801800010f78fd516adf860000000000000204ffffffff0000000001000000000100000100000007011c00"
    "000005040000010300000000010000000000000001000000020000008001380001000000216900000000000000000000000000007f000001b9f3"
    "fb6a0031dc2f02000000000000004c010000000000000000000000000000"
)
"""{data: true} to /drone/arm, by the same."""
CYCLONE_QUESTION = bytes.fromhex(
    "52545053020501100110c67de9b584f0d74745ea09010800b9f3fb6a6672667015052c0000001000000000000000040300000000010000000001"
    "0000755de6e1ba6db67001000000000000000100000007011c0000000000000004030000000001000000000000000100000003000000"
)
"""The same question by Cyclone DDS 11, in rmw_cyclonedds's form."""
READER, WRITER = b"\x00\x00\x05\x04", b"\x00\x00\x05\x03"


def test_what_fast_dds_sends_is_read() -> None:
    (reported,) = wire.received(FAST_WRITER, MINE).parts
    assert isinstance(reported, wire.Data) and reported.writer == b"\x00\x00\x03\xc2" and reported.number == 1
    about = pl.endpoint_from(reported.payload)
    kind = "std_srvs::srv::dds_::SetBool_Request_"
    assert (about.topic, about.kind, about.reliable) == ("rq/drone/armRequest", kind, True)
    assert about.guid == THEIRS + b"\x00\x00\x01\x03" and about.addresses == (("127.0.0.1", 26915),)
    asked = wire.received(FAST_QUESTION, MINE)
    question, beat = asked.parts
    assert isinstance(question, wire.Data) and isinstance(beat, wire.Heartbeat) and (beat.first, beat.last) == (1, 1)
    related = dict(pl.parameters(question.inline, question.order))[pl.RELATED_OF_FAST_DDS]
    assert related[:16] == THEIRS + b"\x00\x00\x02\x04"
    guid = asked.prefix + question.writer
    assert question_of(asked.vendor, guid, question) == (b"\0\1\0\0\1\0\0\0", Caller(guid, 1, None))


def test_what_cyclone_sends_is_read() -> None:
    asked = wire.received(CYCLONE_QUESTION, MINE)
    question = asked.parts[0]
    assert isinstance(question, wire.Data) and asked.vendor == wire.CYCLONE
    head = bytes.fromhex("755de6e1ba6db6700100000000000000")
    found = question_of(asked.vendor, asked.prefix + question.writer, question)
    assert found == (b"\0\1\0\0\1\0\0\0", Caller(asked.prefix + question.writer, 1, head))


def test_other_byte_orders() -> None:
    """A big-endian client of Cyclone: the submessage, and its identity and number, which our reply turns round."""
    body = struct.pack(">HH", 0, 16) + READER + WRITER + struct.pack(">iI", 0, 7)
    body += b"\0\0\0\0" + struct.pack(">Qq", 0x1122334455667788, 5) + b"\1\0\0\0"
    datagram = b"RTPS\2\3" + wire.CYCLONE + THEIRS + struct.pack(">BBH", wire.DATA, wire.HAS_DATA, len(body)) + body
    (sample,) = wire.received(datagram, MINE).parts
    assert isinstance(sample, wire.Data) and sample.number == 7
    found = question_of(wire.CYCLONE, THEIRS + WRITER, sample)
    assert found is not None and found[1].head == struct.pack("<Qq", 0x1122334455667788, 5)


def test_who_it_is_for() -> None:
    beat = wire.heartbeat(READER, WRITER, 1, 3, 9)
    for to, count in ((MINE, 1), (None, 1), (THEIRS, 0)):
        assert len(wire.received(wire.datagram(THEIRS, to, [beat]), MINE).parts) == count


def test_own_datagrams_are_read_back() -> None:
    inline = pl.related(THEIRS + READER, (3 << 32) + 5)
    parts = [
        wire.data(READER, WRITER, 1 << 33, inline, b"\0\1\0\0abcd"),
        wire.acknack(READER, WRITER, 70, (70, 72, 133, 5000), 3, final=True),
        wire.gap(READER, WRITER, 4, 9),
        *wire.fragments(READER, WRITER, 2, b"", bytes(70_000)),
    ]
    data, ack, gap, one, two, three = wire.received(wire.datagram(MINE, None, parts), THEIRS).parts
    assert isinstance(data, wire.Data) and data.number == 1 << 33 and data.payload == b"\0\1\0\0abcd"
    assert dict(pl.parameters(data.inline, "<"))[pl.RELATED] == THEIRS + READER + struct.pack("<iI", 3, 5)
    assert isinstance(ack, wire.AckNack) and (ack.base, ack.missing) == (70, (70, 72, 133))
    assert isinstance(gap, wire.Gap) and (gap.start, gap.base, gap.more) == (4, 9, ())
    assert [part.first for part in (one, two, three) if isinstance(part, wire.DataFragment)] == [1, 2, 3]


# ---- a bad network


class Network:
    """Loses, doubles and reorders datagrams between a writer and readers."""

    def __init__(self, writer: ReliableWriter, readers: list[ReliableReader], seed: int, loss: float) -> None:
        self.writer, self.readers, self.loss = writer, {("r", k): reader for k, reader in enumerate(readers)}, loss
        self.chance, self.now = random.Random(seed), 0.0
        self.way: list[tuple[tuple[str, int], bytes]] = []
        self.got: list[list[bytes]] = [[] for _ in readers]

    def put(self, outgoing: list[Outgoing]) -> None:
        for addresses, datagram in outgoing:
            for _ in range(self.chance.choice((1, 1, 1, 2))):
                if self.chance.random() >= self.loss:
                    self.way.append((addresses[0], datagram))
        self.chance.shuffle(self.way)

    def run(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += 0.05
            self.put(list(self.writer.due(self.now)))
            while self.way:
                address, datagram = self.way.pop()
                reported = wire.received(datagram, address_prefix(address))
                for part in reported.parts:
                    self.hear(address, reported.prefix, part)

    def hear(self, address: tuple[str, int], prefix: bytes, part: wire.Submessage) -> None:
        if isinstance(part, wire.AckNack | wire.NackFragments):
            self.put(self.writer.acknowledged(prefix + part.reader, part, self.now))
            return
        reader, guid = self.readers[address], prefix + part.writer
        if isinstance(part, wire.Heartbeat):
            found, outgoing = reader.heartbeat(guid, part)
            self.put([((("w", 0),), datagram) for _, datagram in outgoing])
        else:
            found = reader.gap(guid, part) if isinstance(part, wire.Gap) else reader.data(guid, part)
        self.got[address[1]] += [sample.payload.rstrip(b"\0") for sample in found]


def address_prefix(address: tuple[str, int]) -> bytes:
    return MINE if address[0] == "w" else THEIRS[:11] + bytes([address[1]])


def network(seed: int, loss: float, *, keeps: bool, readers: int = 2) -> Network:
    writer = ReliableWriter(MINE, WRITER, keeps=keeps)
    built = [ReliableReader(address_prefix(("r", k)), READER) for k in range(readers)]
    net = Network(writer, built, seed, loss)
    for k, reader in enumerate(built):
        reader.match(MINE + WRITER, (("w", 0),))
        net.put(writer.match(address_prefix(("r", k)) + READER, (("r", k),), 0.0))
    return net


@pytest.mark.parametrize("seed", range(6))
def test_everything_arrives_once_and_in_order(seed: int) -> None:
    net = network(seed, 0.3, keeps=True)
    sent = []
    for k in range(60):
        sent.append(b"%d-" % k + b"x" * (70_000 if k % 13 == 5 else k))
        net.put(net.writer.write(sent[-1], net.now))
        net.run(net.chance.choice((0.0, 0.05, 0.3)))
    net.run(60.0)
    assert net.got == [sent, sent]
    assert list(net.writer.due(net.now + 9.0)) == []


@pytest.mark.parametrize("seed", range(6))
def test_replies_reach_whom_they_are_for(seed: int) -> None:
    """The others are told that there is nothing for them."""
    net = network(seed, 0.3, keeps=False)
    sent: list[list[bytes]] = [[], []]
    for k in range(50):
        to = net.chance.randrange(2)
        sent[to].append(b"reply %d" % k)
        net.put(net.writer.write(sent[to][-1], net.now, b"", to=address_prefix(("r", to))))
        net.run(net.chance.choice((0.0, 0.05, 0.3)))
    net.run(60.0)
    assert net.got == sent


def test_a_reply_waits_for_the_news_of_its_reader() -> None:
    net = network(1, 0.0, keeps=False, readers=0)
    late = THEIRS[:11] + b"\0"
    net.put(net.writer.write(b"for another", 0.0, b"", to=THEIRS[:11] + b"\7"))
    net.put(net.writer.write(b"early", 0.0, b"", to=late))
    reader = ReliableReader(late, READER)
    reader.match(MINE + WRITER, (("w", 0),))
    net.readers[("r", 0)] = reader
    net.got.append([])
    net.put(net.writer.match(late + READER, (("r", 0),), 0.0))
    net.run(2.0)
    assert net.got == [[b"early"]]


def test_a_reader_that_never_confirms_is_given_up() -> None:
    writer = ReliableWriter(MINE, WRITER, keeps=True)
    writer.write(b"abcd", 0.0)
    assert writer.match(THEIRS + READER, (("r", 0),), 0.0)
    beats = sum(len(list(writer.due(k * 1.0))) for k in range(1, 500))
    assert beats == reliability.MOST_BEATS


# ---- strangers


def test_any_bytes_are_read_or_refused() -> None:
    chance = random.Random(11)
    good = [FAST_WRITER, FAST_QUESTION, CYCLONE_QUESTION]
    writer, reader = ReliableWriter(MINE, WRITER, keeps=False), ReliableReader(MINE, READER)
    writer.match(THEIRS + READER, (("127.0.0.1", 9),), 0.0)
    for prefix in (THEIRS, FAST_WRITER[8:20], CYCLONE_QUESTION[8:20]):
        for entity in (b"\x00\x00\x01\x03", b"\x00\x00\x04\x03", b"\x00\x00\x03\xc2"):
            reader.match(prefix + entity, (("127.0.0.1", 9),))
    refused = 0
    for _ in range(6000):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(20, len(data))] = chance.choice((0, 1, 255, chance.randrange(256)))
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        try:
            reported = wire.received(bytes(data), MINE)
            for part in reported.parts:
                guid = reported.prefix + part.writer
                if isinstance(part, wire.Data):
                    for sample in reader.data(guid, part):
                        pl.gone(sample.inline, sample.order, sample.payload)
                        question_of(reported.vendor, guid, sample)
                        pl.endpoint_from(sample.payload)
                        pl.participant_from(sample.payload)
                elif isinstance(part, wire.Heartbeat):
                    reader.heartbeat(guid, part)
                elif isinstance(part, wire.Gap):
                    reader.gap(guid, part)
                else:
                    writer.acknowledged(reported.prefix + part.reader, part, 0.0)
        except ValueError:
            refused += 1
    assert 500 < refused < 6000


def test_memory_is_bounded() -> None:
    reader = ReliableReader(MINE, READER)
    for k in range(1000):
        reader.match(THEIRS + k.to_bytes(4, "big"), (("127.0.0.1", 9),))
    assert len(reader.writers) == reliability.MOST_PARTNERS
    guid = THEIRS + bytes(4)
    for k in range(2, 2000):
        reader.data(guid, wire.Data(READER, bytes(4), k, b"", "<", bytes(100)))
        total = 900_000
        reader.data(guid, wire.DataFragment(READER, bytes(4), 10**6 + k, b"", "<", bytes(60_000), 1, 1, 60_000, total))
    held = reader.writers[guid]
    assert len(held.held) == reliability.MOST_HELD
    assert sum(len(one.data) for one in held.pieces.values()) <= reliability.MOST_BYTES


def test_lists_of_addresses_are_short() -> None:
    many = [(pl.META_UNICAST, pl.locator((f"127.0.0.{k}", 7410))) for k in range(1, 200)]
    shared_memory = (pl.META_UNICAST, struct.pack("<iI", 16, 7410) + bytes(16))
    about = pl.participant_from(
        pl.LITTLE + pl.listed((pl.PARTICIPANT_GUID, THEIRS + pl.PARTICIPANT), shared_memory, *many)
    )
    assert about.meta == tuple((f"127.0.0.{k}", 7410) for k in range(1, 1 + pl.MOST_ADDRESSES))


def test_a_crowd_of_participants_is_bounded() -> None:
    """Each with another identity. The server lives, and forgets those whose lease is over."""
    server = RtpsParticipant(Ros2Settings(domain=232))

    def are_known(count: int) -> bool:
        return len(server._peers) >= count

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for k in range(1000):
                prefix = THEIRS[:8] + k.to_bytes(4, "big")
                said = pl.participant_payload(prefix, [("127.0.0.1", 9)], [("127.0.0.1", 9)], 1, b"\1\x0f")
                part = wire.data(wire.NOBODY, b"\x00\x01\x00\xc2", 1, b"", said)
                datagram = wire.datagram(prefix, None, [part])
                sender.sendto(datagram, server._sockets.meta_addresses[0])
                if k % 50 == 49:  # more than that its socket does not hold
                    assert eventually(partial(are_known, min(k // 2, reliability.MOST_PARTNERS)))
        assert eventually(lambda: len(server._peers) == reliability.MOST_PARTNERS, 60.0)
        assert eventually(lambda: not server._peers, 60.0) and server._thread.is_alive()
    finally:
        server.close()
    server.close()


def test_ports_by_the_formula() -> None:
    assert (port_of(0, None), port_of(0, 0), port_of(0, 0, user=True)) == (7400, 7410, 7411)
    assert (port_of(3, None), port_of(3, 2), port_of(3, 2, user=True)) == (8150, 8164, 8165)


def test_a_client_may_be_older_than_the_service() -> None:
    """Its endpoints are announced while the simulation is still being built."""
    client, server = (RtpsParticipant(Ros2Settings(domain=232)) for _ in range(2))
    came: list[bytes] = []
    try:
        client.add_writer("rq/aRequest", "Ask_", "")
        assert eventually(lambda: server._known, 60.0)
        reader = server.add_reader("rq/aRequest", "Ask_", "", lambda vendor, guid, sample: came.append(sample.payload))
        client.write("rq/aRequest", b"\0\1\0\0abcd", b"", to=reader)
        assert eventually(lambda: came, 60.0)
        assert came == [b"\0\1\0\0abcd"]
        # what ends is forgotten at once, and so is another participant for which it says so
        other = RtpsParticipant(Ros2Settings(domain=232))
        assert eventually(lambda: len(server._peers) == 2, 60.0)
        other._announce_at = math.inf
        client.close(other.prefix)
        assert eventually(lambda: not server._peers, 60.0)
        other.close()
    finally:
        client.close()
        server.close()
