"""Two hundred clients at once on every server: silent, slow, leaving and talking ones. The flight goes on."""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import struct
import time
from collections.abc import Iterable
from random import Random

from served_flights import PROTOCOLS, Served
from trials import Part, Result

CLIENTS = 200
SECONDS = 15.0
"""Wall time for which they are there."""


class Crowds(Part):
    name = "clients"

    def trial(self, number: int) -> Iterable[Result]:
        chance, protocol = self.chance(number), PROTOCOLS[number % len(PROTOCOLS)]
        folder = self.folder / f"{number:04d}"
        try:
            served = Served(protocol, folder)
        except Exception as error:
            return [Result(f"{protocol.name}, one client", f"{type(error).__name__}: {error}"[:300])]
        try:
            health = served.health()
            people = _Datagrams(served, chance) if protocol.datagrams else _Connections(served, chance)
            fault = ""
            with contextlib.closing(people):
                end, look = time.monotonic() + SECONDS, time.monotonic() + SECONDS / 2
                while time.monotonic() < end:
                    people.act()
                    if look and time.monotonic() > look:
                        look = 0.0
                        fault = served.fault(**health, crowded=True)
            # who spoke no word is sent away after some seconds
            time.sleep(3.0)
            fault = fault or served.fault(**health)
        finally:
            fault = served.close() or fault
        if not fault:
            shutil.rmtree(folder)
        return [Result(f"{protocol.name}, {CLIENTS} clients", fault)]


class _Connections:
    """Each does one thing: nothing, greet and never read, leave without a word, or talk."""

    def __init__(self, served: Served, chance: Random) -> None:
        self._served, self._chance = served, chance
        self._frames = served.protocol.frames(served, chance)
        self._roles = [chance.choice(("silent", "slow", "slow", "leaving", "talking")) for _ in range(CLIENTS)]
        self._sockets = [self._came(role) for role in self._roles]

    def _came(self, role: str) -> socket.socket:
        client = socket.socket()
        if role == "slow":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(5.0)
        with contextlib.suppress(OSError):
            client.connect(("127.0.0.1", self._served.port))
            client.setblocking(False)
            if role != "silent":
                client.send(self._served.protocol.greeting(self._served, self._chance))
        return client

    def act(self) -> None:
        """A few of them at a time."""
        for number in self._chance.sample(range(CLIENTS), 20):
            role, client = self._roles[number], self._sockets[number]
            with contextlib.suppress(OSError):
                if role == "leaving":
                    # with a reset instead of a goodbye
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    client.close()
                    self._sockets[number] = self._came(role)
                elif role in ("slow", "talking"):
                    client.send(self._chance.choice(self._frames))
        talking = [self._sockets[k] for k in range(CLIENTS) if self._roles[k] == "talking"]
        for client in select.select([one for one in talking if one.fileno() >= 0], [], [], 0.02)[0]:
            with contextlib.suppress(OSError):
                client.recv(1 << 16)

    def close(self) -> None:
        for client in self._sockets:
            client.close()


class _Datagrams:
    """Each has an address of its own, and says what is right from there."""

    def __init__(self, served: Served, chance: Random) -> None:
        self._chance = chance
        self._places = served.protocol.datagrams(served) if served.protocol.datagrams else []
        self._greetings = [served.protocol.greeting(served, chance) for _ in range(CLIENTS)]
        self._sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(CLIENTS)]
        for client in self._sockets:
            client.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            client.setblocking(False)

    def act(self) -> None:
        for number in self._chance.sample(range(CLIENTS), 20):
            for place in self._places:
                with contextlib.suppress(OSError):
                    self._sockets[number].sendto(self._greetings[number], place)
        time.sleep(0.02)

    def close(self) -> None:
        for client in self._sockets:
            client.close()
