"""The simulation's end of the process that speaks DDS: it opens endpoints, sends, hears, and starts it again."""

from __future__ import annotations

import json
import logging
import mmap
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skyloop.core.child_process import ChildProcess
from skyloop.links.ros2 import dds_pipe as pipe
from skyloop.links.ros2.dds_types import Quality
from skyloop_client.errors import LinkError

log = logging.getLogger(__name__)

LOOK_S = 0.0002
"""Wall s between two looks for room."""
PATIENCE_S = 10.0
"""Wall s without an order carried out, while there is no room. A process that hangs for longer is ended."""
START_S = 60.0
GOODBYE_S = 5.0
LONGEST_PAUSE_S = 30.0
"""Wall s before a process that keeps ending is started again; the first time it is at once."""
STEADY_S = 60.0
"""Wall s after which a process counts as having run well."""
READ_BYTES = 1 << 16


@dataclass(slots=True)
class Endpoint:
    what: int
    order: bytes
    taken: Callable[[bytes], None] | None
    """Called in a thread of its own with each message; None: a writer."""
    is_latched: bool
    guid: bytes = b""
    """Empty until the process has opened it."""
    last: bytes = b""
    """Of a latched writer: the message that a new process is given."""


class DdsProcess:
    def __init__(self, domain: int, config: str | None) -> None:
        self._domain, self._config = domain, config or ""
        self._file = os.memfd_create("skyloop ROS 2")
        os.ftruncate(self._file, pipe.SIZE)
        self._memory = mmap.mmap(self._file, pipe.SIZE)
        self._counts = np.frombuffer(self._memory, np.uint64, pipe.COUNTS)
        self._matched = np.frombuffer(self._memory, np.uint8, pipe.MOST_ENDPOINTS, pipe.MATCHED)
        self._lock = threading.Lock()
        self._endpoints: list[Endpoint] = []
        self._ring = pipe.Ring(pipe.DATA, pipe.SIZE)
        self._orders = self._events = -1
        self._serves = self._closed = False
        self._lost_before = 0
        """Messages lost by processes that ended."""
        self.guid = b""
        """Of the participant; empty until there is one."""
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._error = ""
        self._start()
        self._thread = threading.Thread(target=self._attend, name="skyloop ROS 2", daemon=True)
        self._thread.start()

    @property
    def process_id(self) -> int:
        return self._process.pid

    def wait_ready(self) -> None:
        """Until it has its participant."""
        if not self._ready.wait(START_S):
            self._error = f"it did not start within {START_S:.0f} s"
        if self._error:
            raise LinkError(f"ROS 2: no participant in domain {self._domain}: {self._error}")

    # ---- endpoints

    def open(self, topic: str, kind: str, quality: Quality, taken: Callable[[bytes], None] | None = None) -> int:
        """A reader if `taken` is given, else a writer. Returns its number."""
        order = json.dumps({"topic": topic, "kind": kind, "quality": quality}).encode()
        what = pipe.OPEN_WRITER if taken is None else pipe.OPEN_READER
        with self._lock:
            number = len(self._endpoints)
            if number == pipe.MOST_ENDPOINTS:
                raise LinkError(f"ROS 2: there are {number} topics already, and no room for {topic}")
            self._endpoints.append(Endpoint(what, order, taken, quality == "latched"))
        self._order(what, number, order)
        return number

    def guid_of(self, number: int) -> bytes:
        return self._endpoints[number].guid

    def matched(self, number: int) -> int:
        """How many endpoints of others listen to it, or speak to it."""
        return int(self._matched[number])

    def send(self, number: int, data: bytearray) -> bool:
        """Whether the process has it. The data is padded in place."""
        data += bytes(-len(data) % 4)
        endpoint = self._endpoints[number]
        if endpoint.is_latched:
            endpoint.last = bytes(data)
        return self._order(pipe.SEND, number, data)

    @property
    def lost(self) -> int:
        """Messages for which DDS had no room."""
        return self._lost_before + int(self._counts[pipe.LOST])

    # ---- orders

    def _order(self, what: int, number: int, data: bytes | bytearray, *, opening: bool = False) -> bool:
        """Waits for room, but not for a process that hangs. False: there is no process, and it is lost."""
        if len(data) > pipe.SIZE - pipe.DATA:
            return False
        looks, done = 0, -1
        while True:
            with self._lock:
                if self._orders < 0 or not (self._serves or opening):
                    return False
                start = self._ring.take(len(data), int(self._counts[pipe.DONE]))
                if start is not None:
                    self._memory[start : start + len(data)] = data
                    with suppress(BrokenPipeError):
                        os.write(self._orders, pipe.ORDER.pack(what, number, start, len(data)))
                        return True
                    return False
            # looks are counted, not time: while both processes are stopped, none is late
            looks = looks + 1 if self._ring.done == done else 0
            done = self._ring.done
            if looks * LOOK_S > PATIENCE_S:
                self._process.kill()
                return False
            time.sleep(LOOK_S)

    # ---- the process

    def _start(self) -> None:
        theirs, ours = os.pipe()
        events, told = os.pipe()
        self._counts[:], self._matched[:] = 0, 0
        here = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH", "")])]
        command = [sys.executable, "-m", "skyloop.links.ros2.dds_process", str(theirs), str(told), str(self._file)]
        try:
            self._process = ChildProcess(
                [*command, str(self._domain), self._config], files=(theirs, told, self._file),
                environment={"PYTHONPATH": os.pathsep.join(here)},
            )  # fmt: skip
        except BaseException:
            os.close(ours)
            os.close(events)
            raise
        finally:
            os.close(theirs)
            os.close(told)
        with self._lock:
            self._ring = pipe.Ring(pipe.DATA, pipe.SIZE)
            for endpoint in self._endpoints:
                endpoint.guid = b""
            self._orders, self._events = ours, events
            self._serves = not self._endpoints
        self._started = time.monotonic()

    def _open_again(self) -> None:
        """All endpoints in their order, and what late readers are to get; then it serves."""
        number = 0
        while True:
            with self._lock:
                if number == len(self._endpoints):
                    self._serves = True
                    return
                endpoint = self._endpoints[number]
            if not self._order(endpoint.what, number, endpoint.order, opening=True):
                return
            if endpoint.last:
                self._order(pipe.SEND, number, endpoint.last, opening=True)
            number += 1

    def _attend(self) -> None:
        """Hears what the process says, and starts another one when it ends."""
        pause = 0.0
        while True:
            self._hear()
            self._let_go()
            if self._closed:
                return
            how = self._process.how_it_ended(GOODBYE_S) or "it closed its pipe"
            if not self._ready.is_set():
                self._error = self._error or how
                self._ready.set()
                return
            log.warning("ROS 2: the process that speaks DDS ended (%s); it is started again, the flight goes on", how)
            if time.monotonic() - self._started > STEADY_S:
                pause = 0.0
            if self._stopping.wait(pause):
                return
            pause = min(max(1.0, 2.0 * pause), LONGEST_PAUSE_S)
            self._process.close()
            self._start()
            threading.Thread(target=self._open_again, name="skyloop ROS 2 again", daemon=True).start()

    def _let_go(self) -> None:
        with self._lock:
            self._serves = False
            for number in (self._orders, self._events):
                if number >= 0:
                    os.close(number)
            self._orders = self._events = -1
            self._lost_before += int(self._counts[pipe.LOST])
            self._counts[:], self._matched[:] = 0, 0

    def _hear(self) -> None:
        """Until the process ends."""
        left = bytearray()
        while more := os.read(self._events, READ_BYTES):
            left += more
            at = 0
            while len(left) - at >= pipe.EVENT.size:
                what, number, size = pipe.EVENT.unpack_from(left, at)
                end = at + pipe.EVENT.size + size
                if end > len(left):
                    break
                self._happened(what, number, bytes(left[at + pipe.EVENT.size : end]))
                at = end
            del left[:at]

    def _happened(self, what: int, number: int, data: bytes) -> None:
        if what == pipe.READY:
            self.guid = data
            self._ready.set()
        elif what == pipe.FAILED:
            self._error = data.decode(errors="replace")
        elif what == pipe.OPENED:
            self._endpoints[number].guid = data
        elif (taken := self._endpoints[number].taken) is not None:
            taken(data)

    def close(self) -> None:
        """It may be called twice. What is under way is sent."""
        if self._closed:
            return
        self._closed = True
        self._stopping.set()
        with self._lock:
            orders, self._orders, self._serves = self._orders, -1, False
        if orders >= 0:
            os.close(orders)
        self._process.end(GOODBYE_S)
        self._thread.join(GOODBYE_S)
        self._process.close()
        self._counts, self._matched = self._counts.copy(), np.zeros_like(self._matched)
        self._memory.close()
        os.close(self._file)
