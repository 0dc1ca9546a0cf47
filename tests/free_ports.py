"""Ports for servers that must be told theirs, before they open them."""

from __future__ import annotations

import itertools
import os
import socket

# below the range that the system hands out by itself, so that no other test is given one in between
_candidates = itertools.count(20_000 + os.getpid() * 16 % 10_000)


def free_port() -> int:
    """Nobody listens there, on TCP or UDP, and no other worker of the tests is likely to try it."""
    for port in _candidates:
        try:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                with socket.socket(socket.AF_INET, kind) as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return port
    raise AssertionError("no port is free")
