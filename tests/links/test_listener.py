"""Hostile and broken peers: whatever they do, the simulator flies on, says what happened and frees what they held."""

from __future__ import annotations

import contextlib
import socket
import struct
from functools import partial

import msgpack
import numpy as np
import pytest

from link_rig import Rig, Stranger, eventually, held, said
from skyloop.links.airsim.calls import RpcListener
from skyloop.links.inbox import Inbox
from skyloop.links.loop import peer as peer_module
from skyloop.links.loop.listener import MOST_PEERS, MOST_UNREAD, MOST_WAITING, Listener
from skyloop_client.errors import CodecError, LinkError
from skyloop_client.messages import Velocity
from skyloop_client.wire import MOST_FROM_CLIENT, PROTOCOL

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x00" * 64, "no record"),
        (b"\xff" * 64, "announced"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "announced"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, "announced"),
        (struct.pack("<I", 0xFFFF_FFFF), "4294967295 bytes was announced"),
        (struct.pack("<I", (64 << 10) + 1), "65537 bytes was announced"),
        (struct.pack("<I", 0), "no record"),
        (struct.pack("<II", 6, 2) + b"\x80\x80\x80", "no record"),
        (said(kind="hello"), "no type"),
        (said(type=5), "no type"),
    ],
)
def test_strangers_are_refused_with_a_reason(rig: Rig, data: bytes, words: str) -> None:
    with Stranger(rig) as stranger:
        assert words in stranger.raw(data + b"x" * 5).why()
    rig.news_of("refused", words)


@pytest.mark.parametrize("part", [b"", b"\x20", struct.pack("<I", 60) + b"half"])
def test_a_hello_must_come_soon(rig: Rig, monkeypatch: pytest.MonkeyPatch, part: bytes) -> None:
    monkeypatch.setattr(peer_module, "HELLO_S", 0.2)
    with Stranger(rig) as stranger:
        assert "no hello within 0.2 s" in stranger.raw(part).why()
    rig.news_of("refused", "no hello")


def test_pings_are_no_hello(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else 64 strangers who only ping could keep everybody out."""
    monkeypatch.setattr(peer_module, "HELLO_S", 0.3)
    with Stranger(rig) as stranger:
        answer = eventually(lambda: (heard := stranger.say(type="ping", number=1).hear())["type"] != "pong" and heard)
        assert answer
        assert "no hello" in answer["why"]


def test_half_a_message_then_silence(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "SILENCE_S", 0.2)
    with Stranger(rig) as stranger:
        hello = stranger.hello()
        stranger.raw(said(type="ask", number=1, et_ns=hello["t_ns"])[:-3])
        assert "half a message, then 0.2 s of silence" in stranger.why()
    rig.news_of("left", "half a message")


def test_messages_that_overlap_reads_are_no_silence(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who never stops talking always has half a message on its way."""
    monkeypatch.setattr(peer_module, "SILENCE_S", 0.3)
    with Stranger(rig) as stranger:
        hello = stranger.hello()
        message = said(type="progress", et_ns=hello["t_ns"])
        stranger.raw(message[:7])
        for _ in range(40):
            stranger.raw(message[7:] + message[:7])
            assert not eventually(lambda: stranger.socket.fileno() < 0, 0.02)
        stranger.raw(message[7:])
        assert stranger.ask(hello["t_ns"])["type"] == "reply"


def test_a_thousand_connects_one_after_the_other(rig: Rig) -> None:
    for k in range(1000):
        with Stranger(rig) as stranger:
            if k % 3 == 0:
                stranger.raw(b"\x00\x00")
            if k % 3 == 1:
                # gone with a reset instead of a goodbye
                stranger.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    rig.news_of("closed the connection")


def test_two_hundred_connects_at_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    # on a busy machine the first would be silent for too long before the last comes
    monkeypatch.setattr(peer_module, "STRANGER_S", 60.0)
    strangers = [Stranger(rig) for _ in range(200)]
    eventually(lambda: len(rig.listener._peers) == MOST_PEERS)
    refusals = [stranger.hear() for stranger in strangers[MOST_PEERS:]]
    assert all(f"already {MOST_PEERS} connections" in refusal["why"] for refusal in refusals)
    with pytest.raises(LinkError, match=r"refused by .*: there are already 64 connections"):
        rig.connect()
    for stranger in strangers:
        stranger.close()


def deaf(rig: Rig) -> Stranger:
    """A peer whose machine takes little that it does not read."""
    stranger = Stranger.__new__(Stranger)
    stranger.socket = socket.socket()
    stranger.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stranger.socket.settimeout(20.0)
    stranger.socket.connect(("127.0.0.1", rig.listener.ports[0]))
    return stranger


def fill(rig: Rig, stranger: Stranger) -> int:
    """Ask without reading, until more waits for it than the system holds; returns how often."""
    t_ns = stranger.hello()["t_ns"]
    question = said(type="ask", number=1, et_ns=t_ns, send=["no command"] * 16_000)
    (peer,) = rig.listener._peers.values()
    for asked in range(1, 50):
        before = rig.link.timeline.count
        stranger.raw(question)
        assert eventually(partial(lambda earlier: rig.link.timeline.count > earlier, before))
        if peer.unread:
            return asked
    raise AssertionError("the system holds everything")


def test_a_peer_that_never_reads_a_large_answer(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "SILENCE_S", 0.3)
    with deaf(rig) as stranger:
        fill(rig, stranger)
        rig.news_of("left", "did not read its answer within 0.3 s")


def test_a_slow_reader_is_no_deaf_one(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "SILENCE_S", 0.8)
    with deaf(rig) as stranger:
        fill(rig, stranger)
        (peer,) = rig.listener._peers.values()
        # a little now and then, for longer than anybody may be silent
        for _ in range(150):
            stranger.socket.recv(1 << 16)
            assert not eventually(lambda: not peer.open, 0.01)
        assert peer.unread


def test_pings_never_read(rig: Rig) -> None:
    with deaf(rig) as stranger:
        stranger.hello()
        most = 0
        pings = said(type="ping", number=1) * 100
        # its own machine may be too clogged to hear that it was sent away
        stranger.socket.settimeout(0.5)
        with contextlib.suppress(ConnectionError, TimeoutError):
            for _ in range(5000):
                stranger.raw(pings)
                most = max([most, *(peer.unread for peer in [*rig.listener._peers.values()])])
        rig.news_of("left", f"{MOST_UNREAD} answers were not read")
        assert most <= MOST_UNREAD + 1


def test_shut_by_another_thread_while_something_is_left_to_write() -> None:
    """Its descriptor's number is soon another peer's, who must not be taken for a writer."""

    class ShutMeanwhile(peer_module.Peer):
        @property
        def unread(self) -> int:
            self.shut()
            return 1

    class Unopened(Listener):
        opens_at_once = False

    listener = Unopened(Inbox())
    ours, theirs = socket.socketpair()
    listener._peers[ours.fileno()] = ShutMeanwhile(listener.wake, ours, "peer", 0)
    listener._readable.add(ours.fileno())
    listener._arrange_all()
    listener._arrange_all()
    assert (listener._peers, listener._writers, ours.fileno()) == ({}, set(), -1)
    theirs.close()
    listener.close()


def test_a_ping_is_no_place_for_data(rig: Rig) -> None:
    with Stranger(rig) as stranger:
        assert "ping" in stranger.say(type="ping", number="x" * 60_000).why()


def test_gone_at_every_byte_of_a_session(rig: Rig) -> None:
    ends = 0
    offset = 0
    while True:
        t_ns = rig.simulation.clock.now_ns + SECOND // 2
        session = b"".join(
            (
                said(type="hello", protocol=PROTOCOL),
                said(type="ask", number=1, et_ns=t_ns, send=[Velocity(np.ones(3))]),
                said(type="ask", number=2, et_ns=t_ns + 1000, want=None),
                said(type="bye"),
            )
        )
        with Stranger(rig) as stranger:
            stranger.raw(session[:offset])
            if offset % 2:
                stranger.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if offset >= len(session):
            ends += 1
        if ends > 5:
            break
        offset += 1
        if offset % 20 == 0:
            rig.news.clear()
            assert rig.error is None
    assert eventually(lambda: not rig.link.client_sessions.pilots)
    rig.news_of("left")


def test_what_is_too_large_to_send_is_refused_before_it_is_sent(rig: Rig) -> None:
    with rig.connect(clock=lambda: 0) as session:
        with pytest.raises(CodecError, match=f"more than the {MOST_FROM_CLIENT}"):
            session.send(Velocity(np.zeros(MOST_FROM_CLIENT // 8)))
        assert session.ask().status.mode == "disarmed"
    with Stranger(rig) as stranger:
        stranger.hello()
        assert "announced" in stranger.raw(struct.pack("<I", MOST_FROM_CLIENT + 1)).why()


def test_a_port_in_use_is_one_clear_line(rig: Rig) -> None:
    port = rig.listener.ports[0]
    for ports in ((port,), (0, 0, port)):
        with pytest.raises(LinkError, match=rf"^cannot listen on 127.0.0.1:{port}: Address already in use; choose"):
            Listener(Inbox(), ports=ports)
    with pytest.raises(LinkError, match=r"cannot listen on .*:70000"):
        Listener(Inbox(), ports=(70_000,))
    with pytest.raises(LinkError, match="cannot listen on"):
        Listener(Inbox(), "a" * 100)


def test_addresses_that_are_none(rig: Rig) -> None:
    from skyloop_client import connect

    for address in ("nowhere", "127.0.0.1:", "127.0.0.1:x", ":1", "127.0.0.1:70000", f"{'a' * 100}:1"):
        with pytest.raises(LinkError, match=r"is no address|cannot reach"):
            connect(address)


def test_messages_nobody_takes_are_bounded() -> None:
    before = held()
    listener = Listener(Inbox())
    with socket.create_connection(("127.0.0.1", listener.ports[0])) as peer:
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                peer.sendall(said(type="hello", protocol=PROTOCOL) * 100)
        assert eventually(lambda: listener.inbox.qsize() > MOST_WAITING)
        assert eventually(lambda: not listener._peers)
        assert listener.inbox.qsize() == MOST_WAITING + 1
    listener.close()
    listener.close()
    assert all(now <= then for now, then in zip(held(), before, strict=True))


def test_silent_strangers_make_room_for_those_who_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """AirSim's clients may be silent for as long as they like, but 64 of them must not keep everybody out."""
    inbox = Inbox()
    door = RpcListener(inbox)
    door.open()
    call = msgpack.packb([0, 1, "ping", []])
    with contextlib.ExitStack() as stack:
        stack.callback(door.close)
        address = ("127.0.0.1", door.ports[0])
        silent = [stack.enter_context(socket.create_connection(address)) for _ in range(MOST_PEERS)]
        silent[0].sendall(call)
        assert inbox.get(5.0)[2].method == "ping"
        # they have been silent for long enough
        monkeypatch.setattr(peer_module, "STRANGER_S", 0.0)
        late = stack.enter_context(socket.create_connection(address))
        late.sendall(call)
        heard = [inbox.get(5.0)[2], inbox.get(5.0)[2]]
        assert [what for what in heard if isinstance(what, str)] == ["it was silent, and others want to connect"]
        assert any(what.method == "ping" for what in heard if not isinstance(what, str))
        # the one who has spoken stays, the first who has not has gone
        silent[1].settimeout(5.0)
        assert silent[1].recv(1) == b""
        silent[0].sendall(call)
        assert inbox.get(5.0)[2].method == "ping"
