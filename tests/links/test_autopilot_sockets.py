"""Peers that flood, or never read, neither fill the memory nor hold anybody up."""

from __future__ import annotations

import socket
import time
from queue import Empty
from typing import Any

import pytest

from skyloop.links.inbox import Inbox
from skyloop.links.sockets import MOST_WAITING, Datagrams, OnePeer


def news(inbox: Inbox, kind: str, within_s: float = 10.0) -> Any:
    """The first of a kind."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            _, said, what = inbox.get(timeout=0.1)
        except Empty:
            continue
        if said == kind:
            return what
    raise AssertionError(f"no '{kind}' within {within_s} s")


def test_a_flood_of_datagrams_is_cut_off() -> None:
    inbox = Inbox()
    line = Datagrams(inbox, "127.0.0.1", 0, "flooded")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        for _ in range(3 * MOST_WAITING):
            peer.sendto(b"x" * 40, ("127.0.0.1", line.port))
        # nothing tells when the line has read, or dropped, the last of them
        time.sleep(0.2)
    assert 0 < inbox.qsize() <= MOST_WAITING + 1
    line.close()
    line.close()


def test_a_peer_that_never_reads_is_dropped_and_sending_never_waits() -> None:
    inbox = Inbox()
    line = OnePeer(inbox, "127.0.0.1", 0, "deaf")
    with socket.create_connection(("127.0.0.1", line.port)):
        news(inbox, "came")
        for _ in range(400):
            line.send(b"x" * 65536)
        assert news(inbox, "gone") == "closed the connection"
    line.send(b"nobody is there")
    line.close()


def test_alarms_ring_once_and_the_last_counts() -> None:
    inbox = Inbox()
    line = Datagrams(inbox, "127.0.0.1", 0, "alarmed")
    line.ring_after(60.0)
    line.ring_after(0.05)
    began = time.monotonic()
    news(inbox, "alarm")
    assert 0.04 < time.monotonic() - began < 10.0
    with pytest.raises(Empty):
        inbox.get(0.1)
    line.close()
