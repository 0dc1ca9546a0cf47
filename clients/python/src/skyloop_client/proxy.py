"""Forwards one connection of the SUT to the simulator: whole messages both ways, with new stamps."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import msgpack

from skyloop_client.errors import LinkError
from skyloop_client.version import __version__
from skyloop_client.wire import LENGTH, MOST_FROM_CLIENT, MOST_FROM_SERVER, PROTOCOL, LinkMessage

CHUNK = 1 << 18
BUFFER = 4 << 20
"""Socket buffer towards the SUT in bytes, so that most answers are there before it continues."""


class FrameSocket:
    """A socket that never blocks. It gives whole frames, including their length."""

    def __init__(self, connection: socket.socket, most: int) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self.open = True
        """The other end may still send."""
        self._most = most
        self._held = bytearray()
        self._outbox: deque[memoryview] = deque()

    def read(self) -> list[bytes]:
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        self.open = self.open and bool(data)
        self._held += data
        frames = []
        while len(self._held) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._held)
            if length > self._most:
                self.open = False
                raise LinkError(f"a message of {length} bytes was announced, more than the {self._most} allowed")
            if len(self._held) < LENGTH.size + length:
                break
            frames.append(bytes(self._held[: LENGTH.size + length]))
            del self._held[: LENGTH.size + length]
        return frames

    def write(self, frame: bytes) -> None:
        self._outbox.append(memoryview(frame))
        self.flush()

    def flush(self) -> None:
        with suppress(BlockingIOError):
            while self._outbox:
                try:
                    sent = self.socket.send(self._outbox[0])
                except BlockingIOError:
                    raise
                except OSError:
                    # the reading side will notice
                    self._outbox.clear()
                    return
                self._outbox[0] = self._outbox[0][sent:]
                if not self._outbox[0]:
                    self._outbox.popleft()

    def flush_all(self, patience_s: float) -> None:
        """Write all pending data, or give up."""
        if self._outbox:
            self.socket.settimeout(patience_s)
            with suppress(OSError):
                self.socket.sendall(b"".join(self._outbox))
            self._outbox.clear()

    @property
    def has_more(self) -> bool:
        """Whether data is left to write."""
        return bool(self._outbox)

    def close(self) -> None:
        self.open = False
        self.socket.close()


class Proxy:
    """The agent's state about one connection."""

    def __init__(self, from_sut: socket.socket, simulator: tuple[str, int]) -> None:
        try:
            onward = socket.create_connection(simulator, timeout=10.0)
        except OSError as error:
            from_sut.close()
            raise LinkError(f"cannot reach a simulator at {simulator[0]}:{simulator[1]}: {error}") from None
        from_sut.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        self.sut = FrameSocket(from_sut, MOST_FROM_CLIENT)
        self.simulator = FrameSocket(onward, MOST_FROM_SERVER)
        self.session = ""
        self.vehicle = ""
        self.flies = False
        """It is the first connection of a pilot, so the simulator waits for its execution time."""
        self.in_sync = False
        self.said_bye = False
        self.asked_ns: int | None = None
        """Execution time of the question that is not answered, or whose answer is not delivered."""
        self.until_ns = 0
        """The question is not answered before this time."""
        self.answer: DueAnswer | None = None
        self.floor_ns = 0
        """The last execution time that the SUT was given."""
        self.announced_ns = 0
        """The last execution time that the simulator was sent."""
        self.idle_ns = 0
        """Sleep of the whole group up to the delivery of the last answer."""

    @property
    def is_held(self) -> bool:
        """A question is open."""
        return self.asked_ns is not None and self.answer is None

    @property
    def computes(self) -> bool:
        """Whether the simulator waits for its execution time."""
        return self.flies and self.in_sync and self.asked_ns is None and self.simulator.open

    def tell(self, et_ns: int) -> None:
        """Send the current execution time."""
        if et_ns > self.announced_ns:
            self.announced_ns = et_ns
            self.simulator.write(frame_of({"type": "progress", "et_ns": et_ns}))

    def close(self) -> None:
        self.sut.close()
        self.simulator.close()


class Follower:
    """A watching session of the agent, which reports when simulated time has reached an instant."""

    def __init__(self, simulator: tuple[str, int], vehicle: str) -> None:
        self.wire = FrameSocket(socket.create_connection(simulator, timeout=10.0), MOST_FROM_SERVER)
        self._number = 0
        self._asked = False
        client = f"skyloop-client {__version__} (agent, follows time)"
        hello = {"type": "hello", "protocol": PROTOCOL, "client": client, "vehicle": vehicle, "watch": True}
        self.wire.write(frame_of(hello))

    def ask(self, t_ns: int) -> None:
        """If an earlier question is still open, it asks again after that is answered."""
        if not self._asked:
            self._asked = True
            self._number += 1
            question = {"type": "ask", "number": self._number, "et_ns": t_ns, "until_ns": t_ns}
            self.wire.write(frame_of(question))

    def read(self) -> int:
        """Simulated time has reached at least this."""
        reached = 0
        for frame in self.wire.read():
            head = head_of(frame)
            if head.get("type") == "refused":
                raise LinkError(f"the agent may not watch: {head.get('why')}")
            if head.get("type") == "reply":
                self._asked = False
                reached = max(reached, int(head["t_ns"]))
        return reached


class DueAnswer:
    """An answer due at `t_ns`, and the number of its samples that come on other connections."""

    def __init__(self, frame: bytes, t_ns: int, number: object, parts: int) -> None:
        self.frame, self.t_ns, self.number, self.parts = frame, t_ns, number, parts


def head_of(frame: bytes) -> LinkMessage:
    """The head as plain data; arrays are not decoded. Empty if it is invalid: its receiver will say so."""
    with suppress(Exception):
        (length,) = LENGTH.unpack_from(frame, LENGTH.size)
        start = 2 * LENGTH.size
        head = msgpack.unpackb(frame[start : start + length], strict_map_key=False)
        if isinstance(head, dict) and isinstance(head.get("type"), str):
            return head
    return {}


def frame_of(head: LinkMessage, old: bytes = b"") -> bytes:
    """A message. With `old`, that one with a new head and the same arrays, whose offsets count from the head's end."""
    arrays = old[2 * LENGTH.size + LENGTH.unpack_from(old, LENGTH.size)[0] :] if old else b""
    packed: bytes = msgpack.packb(head)
    return b"".join((LENGTH.pack(LENGTH.size + len(packed) + len(arrays)), LENGTH.pack(len(packed)), packed, arrays))


class SlowBoard:
    """Imitates a slower computer in real time, one core of `speed`: computation takes longer by that factor, and
    questions wait for it."""

    def __init__(self, cpu_ns: Callable[[], int], speed: float) -> None:
        self._cpu_ns = cpu_ns
        self._speed = speed
        self._free_at = 0.0
        """Wall s at which the board has finished all its work so far."""
        self._counted_ns: int | None = None
        """Processor time up to which work was counted. None before the connection: preparation does not count."""
        self._waiting: list[tuple[float, Proxy, bytes]] = []

    @property
    def busy(self) -> bool:
        """Whether a question waits for the board."""
        return bool(self._waiting)

    def goes_on(self) -> None:
        """It got an answer: the next computation begins now, or when the board has finished the rest."""
        self._count()
        self._free_at = max(self._free_at, time.perf_counter())

    def send(self, passage: Proxy, frame: bytes) -> None:
        """Forward a question when the board would have sent it."""
        self._count()
        self._waiting.append((self._free_at, passage, frame))

    def let_pass(self) -> float:
        """Send the questions that are due. Returns wall s until the next."""
        now = time.perf_counter()
        while self._waiting and self._waiting[0][0] <= now:
            _, passage, frame = self._waiting.pop(0)
            passage.simulator.write(frame)
        return self._waiting[0][0] - now if self._waiting else 1.0

    def _count(self) -> None:
        spent_ns = self._cpu_ns()
        if self._counted_ns is not None:
            self._free_at += 1e-9 * (spent_ns - self._counted_ns) / self._speed
        self._counted_ns = spent_ns
