"""Sockets and serial lines: a peer that floods or never reads holds nobody up; a board is a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
import threading
import time
import tty
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from px4_peer import scenario as px4_scenario
from pymavlink.dialects.v20 import common

from skyloop.core.frames import GeoPoint
from skyloop.links.autopilots.configs import Px4SerialConfig
from skyloop.links.autopilots.px4 import Px4, Px4Options
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import LinkGate
from skyloop.links.sockets import MOST_WAITING, Datagrams, OnePeer, SerialLine
from skyloop.run import run_scenario
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError

IMU = {"imu": {"kind": "imu", "preset": "perfect", "rate_hz": 250}}


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


class Board(threading.Thread):
    """Answers every second HIL_SENSOR, on a clock of its own."""

    def __init__(self, end: int) -> None:
        super().__init__(daemon=True)
        self.end = end
        self.mav = common.MAVLink(None, 1, 1)
        self.got: list[Any] = []
        self.start()

    def run(self) -> None:
        with suppress(OSError):
            while data := os.read(self.end, 4096):
                for message in self.mav.parse_buffer(data) or []:
                    self.got.append(message)
                    if message.get_type() == "HIL_SENSOR" and message.time_usec % 8000 == 0:
                        reply = common.MAVLink_hil_actuator_controls_message(99_000_000, [0.0] * 16, 1, 0)
                        os.write(self.end, reply.pack(self.mav))


def test_it_is_paced_and_reports_latency_and_missed_deadlines() -> None:
    end, other = pty.openpty()
    tty.setraw(other)
    link_gate = LinkGate()
    line = SerialLine(link_gate.inbox, os.ttyname(other))
    link = link_gate.links["px4"] = Px4(line, "drone", GeoPoint(47.0, -122.0, 0.0), Px4Options(lockstep="none"))
    built = make_scenario({"truth_rate_hz": 10, "vehicles": [{"sensors": IMU}]})
    board = Board(end)
    with build(built, gates=(link_gate,)) as sim:
        link_gate.attach(sim.port)
        sim.run_until(0.5)
        assert link.allows_realtime
        # the board is unplugged: the flight goes on without it
        os.close(other)
        summary = link.summary()
        link_gate.finish("done")
    os.close(end)
    board.join(timeout=5)
    assert [m.time_usec for m in board.got if m.get_type() == "HIL_SENSOR"][:3] == [4000, 8000, 12000]
    assert "HEARTBEAT" in [m.get_type() for m in board.got]
    assert 0.0 < summary["latency_median_s"] <= summary["latency_worst_s"]
    # it answers one in two, and may be late besides
    assert summary["missed_deadlines"] >= 50
    assert summary["sensor_messages"] == 124


@pytest.mark.slow("10 s in real time")
def test_a_board_in_a_process_hovers_over_a_line_with_latency_and_loss(tmp_path: Path) -> None:
    """At 921600 baud, 5 ms late, and one message in 200 lost each way."""
    end, other = pty.openpty()
    tty.setraw(other)
    program = [sys.executable, str(Path(__file__).with_name("hil_board.py")), str(end), "921600", "0.005", "0.005"]
    board = subprocess.Popen(program, pass_fds=[end])
    try:
        summary = run_scenario(
            px4_scenario().model_copy(update={"duration": 10.0}), tmp_path / "run",
            links=[Px4SerialConfig(program=os.ttyname(other))], plot_wanted=lambda _: False,
        )  # fmt: skip
    finally:
        board.kill()
        board.wait()
        os.close(end)
        os.close(other)
    told, drone = summary["links"]["px4-serial"], summary["vehicles"]["drone"]
    assert drone["highest_m"] == pytest.approx(1.5, abs=0.3) and not drone["crashed"]
    assert told["sensor_messages"] == 2499 and 2000 < told["answers"] < 2499 and told["missed_deadlines"] > 20


def test_a_line_that_is_not_there() -> None:
    with pytest.raises(LinkError, match="cannot open the serial line /dev/no-such-line at 921600 baud"):
        SerialLine(LinkGate().inbox, "/dev/no-such-line")
