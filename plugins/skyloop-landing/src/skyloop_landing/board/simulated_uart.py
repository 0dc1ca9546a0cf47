"""A serial line in simulated time: every byte takes ten bits, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from skyloop_client.errors import LinkError
from skyloop_landing.board.serial_frames import BAUD

NS_PER_S = 1_000_000_000
BITS_PER_BYTE = 10
"""A start bit, eight data bits and a stop bit."""


@dataclass(frozen=True, slots=True)
class StampedBytes:
    """Bytes and the simulated instant they belong to."""

    t_ns: int
    data: bytes


class SimulatedUart:
    """One direction of the line.

    A byte handed over at `t` follows those still waiting and has arrived ten bit times after the last of them, or after
    `t`. Instants are counted from the start of an unbroken run of bytes, so nothing accumulates.
    """

    def __init__(self, baud: int = BAUD) -> None:
        if baud <= 0:
            raise LinkError(f"a line of {baud} baud: give more than 0")
        self.baud = baud
        self._run_began_ns = 0
        self._run_count = 0
        self._arriving: deque[tuple[int, int]] = deque()

    def send(self, t_ns: int, data: bytes) -> None:
        """Hand over bytes. Instants must not go back."""
        if not data:
            return
        if t_ns >= self._arrival_ns(self._run_count):
            self._run_began_ns, self._run_count = t_ns, 0
        for value in data:
            self._run_count += 1
            self._arriving.append((self._arrival_ns(self._run_count), value))

    def deliver(self, parts: Sequence[StampedBytes]) -> None:
        """Bytes that have travelled elsewhere already; of a line that nothing is sent on."""
        self._arriving.extend((part.t_ns, value) for part in parts for value in part.data)

    def _arrival_ns(self, count: int) -> int:
        return self._run_began_ns + -(-count * BITS_PER_BYTE * NS_PER_S // self.baud)

    def received(self, t_ns: int) -> list[StampedBytes]:
        """What has arrived by `t_ns` and was not taken before, each byte with its own instant."""
        taken: list[StampedBytes] = []
        while self._arriving and self._arriving[0][0] <= t_ns:
            arrival_ns, value = self._arriving.popleft()
            taken.append(StampedBytes(arrival_ns, bytes((value,))))
        return taken


def joined(parts: list[StampedBytes]) -> bytes:
    return b"".join(part.data for part in parts)
