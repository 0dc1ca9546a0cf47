"""Shows a run folder or a recording as if it were flying: any instant, any speed, forwards and backwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from skyloop.cockpit.courier import Courier
from skyloop.recording.run_reader import IndexedStreams
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.streams import NS_PER_S

TICK_S = 1.0 / 30.0
SPEEDS = (0.01, 100.0)
SEEK_EVENTS = 200
"""Events before the instant that are shown after a jump."""

MovingAt = Callable[[int], Any]


class Player:
    """Runs in the main thread until it is stopped."""

    def __init__(
        self, courier: Courier, reader: IndexedStreams, about: dict[str, Any], world: bytes, moving: MovingAt
    ) -> None:
        self._courier = courier
        self._reader = reader
        self._moving = moving
        self._lock = threading.Lock()
        self._t_ns = float(reader.begin_ns)
        self._speed = 1.0
        self._paused = False
        self._jumped = True
        self._stopping = threading.Event()
        self._shown: dict[str, int] = {}
        marks = [[message.arrival_ns / NS_PER_S, str(message.data.kind)] for message in reader.events()]
        details = {
            "live": False,
            "begin": reader.begin_ns / NS_PER_S,
            "end": reader.end_ns / NS_PER_S,
            "marks": marks[:2000],
        }
        infos = {name: stream.info for name, stream in reader.streams.items()}
        courier.connect({**about, **details}, infos, world, self.clock)

    def clock(self) -> dict[str, Any]:
        return {
            "t_ns": int(self._t_ns), "paused": self._paused, "factor": 0.0 if self._paused else self._speed,
            "speed": self._speed, "vehicles": {}, "commander": "", "execution": {}, "snapshots": [],
        }  # fmt: skip

    def stop(self) -> None:
        self._stopping.set()

    def answer(self, order: dict[str, Any]) -> None:
        """In the courier's thread."""
        reply: dict[str, Any] = {"kind": "reply", "id": order.get("id"), "ok": True}
        try:
            self.set_time(order.get("arguments", {}))
        except SkyloopError as error:
            reply |= {"ok": False, "error": str(error)}
        self._courier.tell(reply)

    def set_time(self, given: dict[str, Any]) -> None:
        with self._lock:
            if given.get("speed") is not None:
                speed = given["speed"]
                if not isinstance(speed, int | float) or not SPEEDS[0] <= speed <= SPEEDS[1]:
                    raise LinkError(f"speed is {speed!r}; give {SPEEDS[0]:g} to {SPEEDS[1]:g}")
                self._speed = float(speed)
            if "paused" in given:
                self._paused = bool(given["paused"])
            if given.get("seek") is not None:
                self._t_ns, self._jumped = self._within(float(given["seek"]) * NS_PER_S), True
            if given.get("step") is not None:
                self._paused, self._jumped = True, True
                self._t_ns = self._within(self._t_ns + max(float(given["step"]), 0.01) * NS_PER_S)

    def _within(self, t_ns: float) -> float:
        return min(max(t_ns, float(self._reader.begin_ns)), float(self._reader.end_ns))

    def run(self, interrupted: Callable[[], None] = lambda: None) -> None:
        last = time.monotonic()
        while not self._stopping.wait(TICK_S):
            interrupted()
            now = time.monotonic()
            with self._lock:
                if not self._paused:
                    self._t_ns = self._within(self._t_ns + (now - last) * self._speed * NS_PER_S)
                jumped, self._jumped = self._jumped, False
                t_ns = int(self._t_ns)
            last = now
            try:
                self._show(t_ns, jumped)
            except SkyloopError as error:
                # a file that was removed or cut off; the rest can still be looked at
                self._courier.put_line("error", str(error))
                self._paused = True
        self._courier.disconnect()

    def _show(self, t_ns: int, jumped: bool) -> None:
        """Everything that is new at this instant; after a jump, everything."""
        for name, stream in self._reader.streams.items():
            index = stream.index_at(t_ns)
            before = self._shown.get(name, -1)
            if index < 0 or (index == before and not jumped):
                continue
            if stream.info.message == "Event":
                # each is shown once, also when a person goes to and fro
                self._shown[name] = max(index, before)
                first = max(before + 1, index - SEEK_EVENTS)
                for number in range(first, index + 1):
                    self._courier.put(stream.at(number))
            elif self._courier.wants(name):
                self._shown[name] = index
                self._courier.put(stream.at(index))
            else:
                # whoever wants it later gets it then, also while time stands still
                self._shown.pop(name, None)
        self._courier.put_extra("movers", self._moving(t_ns))
