"""A board in a process of its own, as `hil_board.py END BAUD LATENCY_S LOSS`: it speaks HIL and hovers.

END is its end of a pair of pseudo-terminals, open already.
It reads no faster than BAUD. LATENCY_S is from a HIL_SENSOR to the bytes of its answer; LOSS is the share of messages
lost in either direction, as when bytes are damaged."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import deque
from contextlib import suppress
from typing import Any

from px4_peer import hovering
from pymavlink.dialects.v20 import common

STEP_S = 0.001


class Board:
    def __init__(self, line: int, baud: float, latency_s: float, loss: float) -> None:
        self.line = line
        os.set_blocking(self.line, False)
        self.baud, self.latency_s, self.loss = baud, latency_s, loss
        self.mav = common.MAVLink(None, 1, 1)
        self.fly = hovering(1.5)
        self.chance = random.Random(3)
        self.waiting: deque[tuple[float, bytes]] = deque()

    def actuate(self, t_us: int, controls: Any = (), *, armed: bool = False) -> None:
        """As the pilot of `hovering` answers; a board has no lockstep and stamps by its own clock."""
        padded = [*controls, *[0.0] * (16 - len(controls))]
        stamp = time.monotonic_ns() // 1000
        self.send(common.MAVLink_hil_actuator_controls_message(stamp, padded, 1 + 128 * armed, 0))

    def send(self, message: Any) -> None:
        data = message.pack(self.mav)
        if self.chance.random() >= self.loss:
            self.waiting.append((time.monotonic() + self.latency_s, data))

    def run(self) -> None:
        allowed, last = 0.0, time.monotonic()
        while True:
            time.sleep(STEP_S)
            now = time.monotonic()
            allowed, last = min(allowed + (now - last) * self.baud / 10.0, 4096.0), now
            while self.waiting and self.waiting[0][0] <= now:
                os.write(self.line, self.waiting.popleft()[1])
            try:
                data = os.read(self.line, int(allowed)) if allowed >= 1.0 else b""
            except BlockingIOError:
                continue
            allowed -= len(data)
            for message in self.mav.parse_buffer(data) or []:
                if self.chance.random() >= self.loss:
                    self.fly(self, message)


if __name__ == "__main__":
    end, *numbers = sys.argv[1:]
    with suppress(OSError):
        Board(int(end), *map(float, numbers)).run()
