"""The client process of `skyloop bench link`. It uses the link and plain sockets in turn and prints its timings."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

import numpy as np

from skyloop_client import Session, connect
from skyloop_client.messages import Velocity

STREAM = b"s"
"""First byte of a plain question for a number of answers in a row."""


def plain_socket(port: int) -> socket.socket:
    peer = socket.create_connection(("127.0.0.1", port), timeout=60.0)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def take(peer: socket.socket, into: memoryview) -> None:
    """Read exactly as many bytes as fit."""
    while into:
        got = peer.recv_into(into, len(into), socket.MSG_WAITALL)
        if not got:
            raise EOFError
        into = into[got:]


def throughput(address: str, told: dict[str, Any]) -> dict[str, Any]:
    """By round, seconds of each bundle over the link, of each plain exchange, and of an answer in a plain stream."""
    into = memoryview(bytearray(told["answer_bytes"]))
    question = b"?" * told["question_bytes"]
    count = told["bundles"]
    seen: dict[str, list[Any]] = {"link": [], "plain": [], "stream": []}
    os.environ["SKYLOOP_SHARED_MEMORY"] = "1" if told["shared_memory"] else "0"
    # its execution time is zero, so that no simulated time passes
    with connect(address, clock=lambda: 0, timeout=60.0) as session, plain_socket(told["port"]) as peer:
        for _ in range(1 + told["rounds"]):
            link, plain = [time.perf_counter()], []
            for _ in range(count):
                bundle = session.ask(want=told["streams"])
                link.append(time.perf_counter())
            assert all(bundle.get(name) is not None for name in told["streams"])
            plain.append(time.perf_counter())
            for _ in range(count):
                peer.sendall(question)
                take(peer, into)
                plain.append(time.perf_counter())
            peer.sendall((STREAM + count.to_bytes(4, "little")).ljust(len(question), b" "))
            for _ in range(count):
                take(peer, into)
            seen["stream"].append((time.perf_counter() - plain[-1]) / count)
            seen["link"].append(np.diff(link).tolist())
            seen["plain"].append(np.diff(plain).tolist())
    # the first round is a warm-up
    return {name: rounds[1:] for name, rounds in seen.items()}


def round_trips(address: str, told: dict[str, Any]) -> dict[str, list[float]]:
    """Seconds of pings over the link, plain ping-pongs and commands, in turn for the given time."""
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
                # so that it arrives at random points of the simulation's work
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
