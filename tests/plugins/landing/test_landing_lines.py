"""Lines to real boards: a serial device (a pseudo terminal stands in), a pseudo terminal of our own, a socket."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import termios

import pytest

from skyloop_client.errors import LinkEnded, LinkError
from skyloop_landing.board.board_lines import SerialBoard, open_line
from skyloop_landing.board.simulated_uart import StampedBytes


def read_all(read, count: int) -> bytes:
    data = b""
    for _ in range(1000):
        data += read()
        if len(data) >= count:
            break
    return data


@pytest.fixture
def device():
    """(its name, our end of it)."""
    ours, theirs = pty.openpty()
    yield os.ttyname(theirs), ours, theirs
    for descriptor in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def test_a_serial_device_at_57600_baud(device):
    name, ours, theirs = device
    board = SerialBoard(open_line(f"arty:{name}"))
    settings = termios.tcgetattr(theirs)
    assert settings[4] == settings[5] == termios.B57600
    assert settings[2] & termios.CSIZE == termios.CS8 and not settings[2] & termios.PARENB
    assert board.advance(0, [StampedBytes(0, b"T111"), StampedBytes(0, b"Am07")]) == []
    assert read_all(lambda: os.read(ours, 100), 8) == b"T111Am07"
    # raw: neither echo nor line ends are changed
    os.write(ours, b"t:1\nv:1,2,3\r\n\x03\x04")
    select.select([theirs], [], [], 10.0)
    (heard,) = board.advance(5, [])
    assert heard == StampedBytes(5, b"t:1\nv:1,2,3\r\n\x03\x04")
    assert board.has_own_line and board.summary()["bytes_heard"] == 15
    board.close()
    board.close()


def test_a_board_unplugged_in_flight(device):
    name, ours, theirs = device
    board = SerialBoard(open_line(f"arty:{name}"))
    os.close(ours)
    os.close(theirs)
    with pytest.raises(LinkEnded, match=rf"the landing board on {name} is gone .*plugged in"):
        for k in range(10):
            board.advance(k, [StampedBytes(k, b"Am01")])
    board.close()


def test_devices_that_cannot_be_used(tmp_path, monkeypatch):
    with pytest.raises(LinkError, match=r"there is no device .*ttyUSB9; is the board plugged in"):
        open_line(f"arty:{tmp_path}/ttyUSB9")
    plain = tmp_path / "file"
    plain.touch()
    with pytest.raises(LinkError, match="is not a serial device"):
        open_line(f"arty:{plain}")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(LinkError, match=r"you may not open /dev/ttyUSB1; join its group .*dialout"):
        open_line("arty:/dev/ttyUSB1")


@pytest.mark.parametrize("text", ["", "usb:3", "arty:", "arty", "tcp:", "pty"])
def test_names_of_no_board(text):
    with pytest.raises(LinkError, match="no landing board named"):
        open_line(text)


def test_a_pseudo_terminal_for_another_program(tmp_path):
    path = tmp_path / "board"
    line = open_line(f"pty:{path}")
    line.write(b"T111")
    other = os.open(path, os.O_RDWR | os.O_NOCTTY)
    assert read_all(lambda: os.read(other, 100), 4) == b"T111"
    os.write(other, b"t:1\n")
    assert read_all(line.read, 4) == b"t:1\n"
    # the other program may leave and come back
    os.close(other)
    assert line.read() == b""
    with pytest.raises(LinkError, match="File exists; name a path that is free"):
        open_line(f"pty:{path}")
    line.close()
    assert not path.is_symlink()


def test_a_socket():
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        line = open_line(f"tcp:127.0.0.1:{number}")
        peer = server.accept()[0]
    line.write(b"T000")
    assert peer.recv(100) == b"T000"
    peer.sendall(b"t:0\n")
    assert read_all(line.read, 4) == b"t:0\n"
    peer.close()
    with pytest.raises(LinkEnded, match=r"is gone .*the line was closed"):
        for _ in range(1000):
            line.read()
    # after that it is silent
    assert line.read() == b""
    with pytest.raises(LinkError, match=r"no landing board answers on tcp:127\.0\.0\.1"):
        open_line(f"tcp:127.0.0.1:{number}")
    with pytest.raises(LinkError, match="is no address; give tcp:HOST:PORT"):
        open_line("tcp:here")
