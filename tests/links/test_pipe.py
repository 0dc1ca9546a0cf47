"""The client's end of a connection: messages in one piece, in many, or with the next one behind them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from link_rig import said
from skyloop_client.errors import LinkEnded, LinkError
from skyloop_client.messages import CameraImage
from skyloop_client.pipe import FIRST_BYTES, Pipe

PICTURE = np.random.default_rng(1).integers(0, 255, (200, 300, 3), np.uint8)


@pytest.fixture
def ends() -> Iterator[tuple[Pipe, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        pipe = Pipe(f"127.0.0.1:{server.getsockname()[1]}", 20.0)
        other, _ = server.accept()
        with other:
            yield pipe, other
        pipe.close(bye=False)


@pytest.mark.parametrize("awake", [False, True])
def test_messages_that_come_together_are_read_one_by_one(ends: tuple[Pipe, socket.socket], awake: bool) -> None:
    pipe, other = ends
    pipe.stays_awake = awake
    other.sendall(said(type="pong", number=1) + said(type="end", why="over") + said(type="pong", number=2)[:9])
    assert pipe.read() == {"type": "pong", "number": 1}
    assert pipe.read()["why"] == "over"
    other.sendall(said(type="pong", number=2)[9:])
    assert pipe.read()["number"] == 2


@pytest.mark.parametrize("pause_at", [2, 6, 40, 1000, FIRST_BYTES, FIRST_BYTES + 1, 100_000])
def test_a_large_message_in_two_pieces(ends: tuple[Pipe, socket.socket], pause_at: int) -> None:
    """Also one that ends in the middle of its length, of its head, or of an array."""
    pipe, other = ends
    data = said(type="message", data=CameraImage(5, PICTURE), more=np.arange(3.0))
    assert len(data) > 100_000

    def send() -> None:
        other.sendall(data[:pause_at])
        time.sleep(0.05)
        other.sendall(data[pause_at:] + said(type="pong"))

    thread = threading.Thread(target=send)
    thread.start()
    message = pipe.read()
    np.testing.assert_array_equal(message["data"].colour, PICTURE)
    np.testing.assert_array_equal(message["more"], np.arange(3.0))
    assert not message["data"].colour.flags.writeable
    assert pipe.read() == {"type": "pong"}
    thread.join()


def test_a_message_that_breaks_off(ends: tuple[Pipe, socket.socket]) -> None:
    pipe, other = ends
    other.sendall(said(type="message", data=CameraImage(5, PICTURE))[:60_000])
    other.close()
    with pytest.raises(LinkEnded, match="has closed the link"):
        pipe.read()


def test_a_head_that_is_no_message(ends: tuple[Pipe, socket.socket]) -> None:
    pipe, other = ends
    other.sendall((50_000).to_bytes(4, "little") + (20).to_bytes(4, "little") + b"\xc1" * 30)
    with pytest.raises(LinkError, match="not a message"):
        pipe.read()
