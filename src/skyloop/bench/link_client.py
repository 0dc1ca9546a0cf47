"""The other process of `skyloop bench link`: asks over the link and over plain sockets by turns, prints what it saw."""

from __future__ import annotations

import json
import socket
import sys
import time
from typing import Any

import numpy as np

from skyloop.client import Session, connect
from skyloop.messages import Velocity

STREAM, STOP = b"s", b"x"
"""First byte of a plain question: one answer after the other without questions, or none at all."""


def plain_socket(port: int) -> socket.socket:
    peer = socket.create_connection(("127.0.0.1", port), timeout=60.0)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def take(peer: socket.socket, into: memoryview) -> None:
    """Exactly as many bytes as there is room for."""
    while into:
        got = peer.recv_into(into, len(into), socket.MSG_WAITALL)
        if not got:
            raise EOFError
        into = into[got:]


def throughput(address: str, told: dict[str, Any]) -> dict[str, Any]:
    """Seconds per bundle over the link, per plain exchange and per plain answer, of as many rounds as told."""
    into = memoryview(bytearray(told["answer_bytes"]))
    question = b"?" * told["question_bytes"]
    count = told["bundles"]
    seen: dict[str, Any] = {"link": [], "plain": [], "stream": [], "each": []}
    # its execution time stands still, so that no simulated time passes
    with connect(address, clock=lambda: 0, timeout=60.0) as session, plain_socket(told["port"]) as peer:
        for _ in range(1 + told["rounds"]):
            each = [time.perf_counter()]
            for _ in range(count):
                bundle = session.ask(want=told["streams"])
                each.append(time.perf_counter())
            assert all(bundle.get(name) is not None for name in told["streams"])
            began = time.perf_counter()
            for _ in range(count):
                peer.sendall(question)
                take(peer, into)
            exchanged = time.perf_counter()
            peer.sendall((STREAM + count.to_bytes(4, "little")).ljust(len(question), b" "))
            for _ in range(count):
                take(peer, into)
            streamed = time.perf_counter()
            seen["link"].append((each[-1] - each[0]) / count)
            seen["plain"].append((exchanged - began) / count)
            seen["stream"].append((streamed - exchanged) / count)
            seen["each"] += np.diff(each).tolist()
        peer.sendall(STOP.ljust(len(question), b" "))
    # the first round warms up
    return {**{name: seen[name][1:] for name in ("link", "plain", "stream")}, "each": seen["each"][count:]}


def round_trips(address: str, told: dict[str, Any]) -> dict[str, list[float]]:
    """Seconds of pings over the link, plain ping-pongs and commands, by turns for as long as told."""
    seen: dict[str, list[float]] = {"ping": [], "plain": [], "ask": []}
    word = memoryview(bytearray(16))
    with connect(address, timeout=60.0) as session, plain_socket(told["port"]) as peer:
        end = time.perf_counter() + told["seconds"]
        while time.perf_counter() < end:
            for name in seen:
                began = time.perf_counter()
                if name == "ping":
                    session.ping()
                elif name == "plain":
                    peer.sendall(word)
                    take(peer, word)
                else:
                    command(session)
                seen[name].append(time.perf_counter() - began)
                # so that it meets the simulation at any point of its work
                time.sleep(0.0017)
    return seen


def command(session: Session) -> None:
    answer = session.ask(Velocity(np.zeros(3), yaw_rate=0.2))
    assert not answer.refused, answer.refused


def main() -> None:
    what, address, told = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    print(json.dumps({"throughput": throughput, "round_trips": round_trips}[what](address, told)))


if __name__ == "__main__":
    main()
