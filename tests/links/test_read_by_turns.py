"""Sockets are read by the thread that waits for the inbox, and by the listener's thread while nobody waits."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from queue import Empty
from typing import Any

import pytest

from link_rig import eventually, held, said
from skyloop.links.inbox import Inbox
from skyloop.links.loop import listener as listener_module
from skyloop.links.loop.listener import Listener
from skyloop.links.loop.peer import Peer
from skyloop_client.wire import LENGTH, unframed

PATIENCE_S = 20.0


class WhoReads(Peer):
    """Remembers which threads have read something."""

    threads: set[str]

    def read(self) -> list[Any]:
        if messages := super().read():
            WhoReads.threads.add(threading.current_thread().name)
        return messages


class Door(Listener):
    peer_class = WhoReads


@pytest.fixture
def door() -> Iterator[tuple[Door, socket.socket]]:
    WhoReads.threads = set()
    before = held()
    with ExitStack() as stack:
        listener = Door(Inbox())
        stack.callback(listener.close)
        client = stack.enter_context(socket.create_connection(("127.0.0.1", listener.ports[0]), PATIENCE_S))
        assert eventually(lambda: listener._peers)
        yield listener, client
    assert listener.inbox.reader is None
    assert all(now <= then for now, then in zip(held(), before, strict=True))


def test_who_waits_reads(door: tuple[Door, socket.socket]) -> None:
    listener, client = door
    here = threading.current_thread().name
    later = threading.Timer(0.2, client.sendall, (said(type="hello", protocol=1),))
    later.start()
    assert listener.inbox.get(PATIENCE_S)[2]["type"] == "hello"
    later.join()
    assert WhoReads.threads == {here}


def test_while_nobody_waits_the_listener_reads(door: tuple[Door, socket.socket]) -> None:
    listener, client = door
    with pytest.raises(Empty):
        listener.inbox.get(0.01)
    client.sendall(said(type="ping", number=7))
    data = client.recv(1000)
    assert unframed(data[LENGTH.size :]) == {"type": "pong", "number": 7}
    assert WhoReads.threads == {"skyloop listener"}


@pytest.mark.parametrize("selectable", [1024, 0])
def test_news_of_other_threads_end_the_wait(
    door: tuple[Door, socket.socket], monkeypatch: pytest.MonkeyPatch, selectable: int
) -> None:
    """A wake-up that is lost would cost the whole time limit."""
    monkeypatch.setattr(listener_module, "SELECTABLE", selectable)
    listener, client = door
    count = 2000

    def put_all() -> None:
        for k in range(count):
            listener.inbox.put((k,))
            if k % 50 == 0:
                # the listener's thread is awake now and then, too
                client.sendall(said(type="ping", number=k))

    threading.Thread(target=put_all).start()
    assert [listener.inbox.get(PATIENCE_S)[0] for _ in range(count)] == list(range(count))


def test_messages_keep_their_order_whoever_reads(door: tuple[Door, socket.socket]) -> None:
    listener, client = door
    count = 900
    got: list[int] = []

    def send_all() -> None:
        for k in range(count):
            client.sendall(said(type="progress", et_ns=k))

    threading.Thread(target=send_all).start()
    while len(got) < count:
        try:
            got.append(listener.inbox.get(0.0001)[2]["et_ns"])
        except Empty:
            # away for a moment, as a simulation that works
            sum(range(2000))
    assert got == list(range(count))


def test_the_second_listener_of_an_inbox_reads_in_its_own_thread(door: tuple[Door, socket.socket]) -> None:
    first, _ = door
    second = Door(first.inbox)
    try:
        with socket.create_connection(("127.0.0.1", second.ports[0]), PATIENCE_S) as client:
            client.sendall(said(type="hello", protocol=1))
            assert first.inbox.get(PATIENCE_S)[2]["type"] == "hello"
            assert WhoReads.threads == {"skyloop listener"}
            client.close()
            assert first.inbox.get(PATIENCE_S)[2] == "closed the connection"
    finally:
        second.close()
    assert first.inbox.reader is not None
