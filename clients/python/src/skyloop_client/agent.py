"""The target's agent: starts a SUT of any kind, keeps its execution time (ET), and freezes it while ET stands still.

The SUT connects to the agent's port as if it were the simulator. Each of its connections is forwarded. All threads and
processes of the SUT share one ET. In mode `sync` the agent, not the SUT, stamps it:

- When a question comes, the agent reads ET, stops the whole group, and forwards the question to the simulator.
- The answer carries an instant t >= ET. A SUT with one thread has waited for it, so ET becomes t. Otherwise the threads
  that did not ask could have run from ET to t. They run for that long while the asking thread still waits. Then the
  answer is delivered. If no thread runs, the whole group waits, and ET becomes t at once.
- With several sessions, a question may be held while another session computes, and ST cannot advance without ET. The
  group stays stopped until ST has reached the question's ET. If there is no answer then, the group runs in steps of
  `STEP_NS`, or to the instant at which the question asked to be answered if that is earlier. After each step it waits
  for ST to catch up. So no thread is ahead of ST by more than one step, and an answer whose instant was not known
  before is late by at most one step. The agent knows ST from its own watching session.

ET counts from the moment at which the group may run to the moment at which its question has arrived. So it includes the
SUT's decoding and encoding and, on a wall clock, the loopback transfer. The SUT's own client leaves out both: about
0.3 ms per question with the Python client. The client's own `now()` between two answers is an estimate. It is too large
if another thread's question has stopped the client meanwhile.

In modes `none` and `realtime` the SUT's time is not kept. On the processor clock with a speed below 1 the SUT is then
really slow: a question leaves when a computer of that speed would have sent it, and the group stands still until then.
"""

from __future__ import annotations

import logging
import os
import selectors
import socket
import time
from collections import Counter
from collections.abc import Sequence

from skyloop_client.errors import LinkError
from skyloop_client.process_group import GroupTime, ProcessGroup
from skyloop_client.proxy import DueAnswer, Follower, Proxy, SlowBoard, frame_of, head_of

log = logging.getLogger(__name__)
STEP_NS = 2_000_000
TELL_NS = 20_000_000
"""ET between two `progress` messages."""
LOOK_S = 3e-4
"""Wall s between two checks of the running threads. A group is idle after two checks without any."""
POLL_S = 0.002
"""Wall s between two readings of the processor clock."""
PERIOD_S = 0.01
"""Wall s of one run and one rest of a throttled process, unless the run would be shorter than `SHORTEST_RUN_S`."""
SHORTEST_RUN_S = 0.001
GRACE_S = 2.0
"""Wall s that a SUT gets to end, or to come back, after the simulator has gone."""


class Agent:
    """Connects one SUT and one simulator, in one thread with one loop."""

    def __init__(
        self, command: Sequence[str], simulator: str, clock: str = "wall", speed: float = 1.0, share: float = 1.0
    ) -> None:
        host, _, port = simulator.rpartition(":")
        if not host or not port.isdecimal():
            raise LinkError(f"'{simulator}' is no address; give host:port")
        self._host, self._how = host, {"clock": f"agent {clock}", "speed": speed}
        # select() keeps time to the microsecond; epoll rounds up to the millisecond
        self._selector = selectors.SelectSelector()
        self._passages: list[Proxy] = []
        self._doors: dict[int, int] = {}
        """Our ports, by the simulator's."""
        self._listen(int(port))
        self._share = share
        variables = {
            "SKYLOOP_ADDRESS": f"127.0.0.1:{self._doors[int(port)]}",
            "SKYLOOP_CLOCK": clock,
            "SKYLOOP_SPEED": str(speed),
        }
        try:
            self._group = ProcessGroup(command, {**os.environ, **variables})
        except BaseException:
            self._free()
            raise
        log.debug("started the SUT; it finds the simulator at %s", variables["SKYLOOP_ADDRESS"])
        self._selector.register(self._group.ended_file, selectors.EVENT_READ)
        self._time = GroupTime(self._group, clock, speed)
        self._by_cpu = clock == "cpu"
        self._board = SlowBoard(self._group.cpu_ns, speed) if self._by_cpu and speed < 1.0 else None
        self._parts: Counter[tuple[str, object]] = Counter()
        self._st_ns = 0
        """Simulated time has reached at least this."""
        self._follower: Follower | None = None
        self._idle_looks = 0
        self._state = ""
        """The reason for which the group is stopped."""
        self._counted = time.perf_counter()
        self._ran_s = self._rested_s = 0.0
        """Wall s in which it could run, and in which only the throttle stopped it."""
        self._lost: float | None = None

    # ---- the loop

    def run(self) -> int:
        """Run until the SUT has ended. Returns its exit code."""
        try:
            while (code := self._group.ended()) is None:
                for key, events in self._selector.select(self._step()):
                    self._attend(key, events)
                if self._lost is not None and time.monotonic() - self._lost > GRACE_S:
                    log.error("the simulator has gone; the SUT is ended")
                    return 1
            # closed for writing by both sides
            self._group.end()
            self._drain()
            return code
        finally:
            self._group.end()
            self._free()

    def _free(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def _listen(self, simulators_port: int) -> int:
        """Open our port for one of the simulator's."""
        if simulators_port not in self._doors:
            listener = socket.create_server(("127.0.0.1", 0))
            listener.setblocking(False)
            self._doors[simulators_port] = listener.getsockname()[1]
            self._selector.register(listener, selectors.EVENT_READ, simulators_port)
        return self._doors[simulators_port]

    def _attend(self, key: selectors.SelectorKey, events: int) -> None:
        if isinstance(key.data, int):
            self._accept(key.fileobj, key.data)  # type: ignore[arg-type]
        elif isinstance(key.data, Follower):
            self._st_ns = max(self._st_ns, key.data.read())
            if not key.data.wire.open:
                self._selector.unregister(key.fileobj)
                key.data.wire.close()
                self._follower = None
        elif isinstance(key.data, Proxy):
            wire = key.data.sut if key.fileobj is key.data.sut.socket else key.data.simulator
            if events & selectors.EVENT_WRITE:
                wire.flush()
            if events & selectors.EVENT_READ:
                self._read(key.data, wire is key.data.sut)

    def _accept(self, listener: socket.socket, port: int) -> None:
        # connecting to the simulator may take a while, which does not count as the SUT's time
        self._freeze()
        try:
            passage = Proxy(listener.accept()[0], (self._host, port))
        except (OSError, LinkError) as error:
            log.error("%s", error)
            self._lost = self._lost or time.monotonic()
            return
        log.debug("a connection of the SUT goes on to %s:%d", self._host, port)
        self._passages.append(passage)
        for wire in (passage.sut, passage.simulator):
            self._selector.register(wire.socket, selectors.EVENT_READ, passage)

    def _read(self, passage: Proxy, from_sut: bool) -> None:
        wire = passage.sut if from_sut else passage.simulator
        try:
            for frame in wire.read():
                (self._from_sut if from_sut else self._from_simulator)(passage, frame)
        except LinkError as error:
            log.error("%s", error)
        if not wire.open:
            self._part(passage, by_simulator=not from_sut)

    def _part(self, passage: Proxy, by_simulator: bool) -> None:
        """One end has closed. The other end is closed once all its data is delivered."""
        if passage not in self._passages:
            return
        if by_simulator and passage.answer is not None:
            passage.sut.write(passage.answer.frame)
        (passage.sut if by_simulator else passage.simulator).flush_all(patience_s=1.0)
        self._passages.remove(passage)
        for wire in (passage.sut, passage.simulator):
            self._selector.unregister(wire.socket)
        passage.close()
        if by_simulator and not passage.said_bye and not self._passages:
            self._lost = time.monotonic()

    def _drain(self) -> None:
        """Data that the SUT wrote before it ended, such as its goodbye, is still forwarded."""
        for passage in list(self._passages):
            while passage.sut.open and passage in self._passages:
                self._read(passage, from_sut=True)

    # ---- messages

    def _from_sut(self, passage: Proxy, frame: bytes) -> None:
        head = head_of(frame)
        kind = head.get("type")
        if kind == "hello":
            self._freeze()
            passage.session = str(head.get("session") or "")
            passage.flies = not head.get("watch") and not passage.session
            passage.asked_ns, passage.until_ns = self._time.now(), 0
            frame = frame_of({**head, **self._how}, frame)
        elif kind == "ask":
            if passage.in_sync:
                self._freeze()
            et_ns = max(self._time.now(), passage.floor_ns)
            passage.asked_ns, passage.announced_ns = et_ns, et_ns
            until = head.get("until_ns")
            passage.until_ns = until if isinstance(until, int) else 0
            slept_ns = max(0, self._idle_ns() - passage.idle_ns)
            frame = frame_of({**head, "et_ns": et_ns, "slept_ns": slept_ns}, frame)
            if self._board is not None and not passage.in_sync:
                self._group.stop("board")
                self._board.send(passage, frame)
                return
        elif kind == "progress":
            passage.tell(max(self._time.now(), passage.floor_ns))
            return
        elif kind == "bye":
            passage.said_bye, passage.flies = True, False
        passage.simulator.write(frame)

    def _from_simulator(self, passage: Proxy, frame: bytes) -> None:
        head = head_of(frame)
        kind = head.get("type")
        t_ns = head.get("t_ns")
        if kind in ("hello", "reply") and isinstance(t_ns, int) and passage.asked_ns is not None:
            if kind == "hello":
                passage.session = passage.session or str(head.get("session"))
                passage.in_sync = head.get("mode") == "sync"
                passage.vehicle = str(head.get("vehicle", ""))
                self._lost = None
                frame = frame_of({**head, "ports": [self._listen(int(port)) for port in head.get("ports", ())]}, frame)
            if passage.in_sync:
                self._st_ns = max(self._st_ns, t_ns)
            passage.answer = DueAnswer(frame, t_ns, head.get("number"), len(head.get("elsewhere") or ()))
        else:
            if kind == "message":
                self._parts[passage.session, head.get("number")] += 1
            elif kind in ("end", "refused"):
                passage.flies, passage.asked_ns = False, None
            passage.sut.write(frame)

    def _deliver(self) -> None:
        """Deliver the answers that are due."""
        for passage in self._passages:
            answer = passage.answer
            if answer is None or self._parts[passage.session, answer.number] < answer.parts:
                continue
            if not passage.in_sync or not self._time.started or self._group.is_single():
                self._time.at_least(answer.t_ns)
            if self._time.now() < answer.t_ns:
                continue
            del self._parts[passage.session, answer.number]
            passage.answer, passage.asked_ns = None, None
            passage.floor_ns = passage.announced_ns = answer.t_ns
            if self._board is not None:
                self._board.goes_on()
            passage.sut.write(answer.frame)
            passage.idle_ns = self._idle_ns()

    # ---- time

    def _step(self) -> float:
        """Deliver, report, freeze or continue, as needed. Returns wall s until the next call."""
        self._deliver()
        self._arrange()
        resting = min(self._throttle(), self._board_works())
        limit = self._limit()
        now = self._time.now()
        if limit is not None and now >= limit:
            self._freeze()
            self._follow(now)
            return min(1.0, resting)
        if any(passage.sut.has_more for passage in self._passages):
            # the SUT must run to read its answer, but its time begins when it has read all of it
            self._group.go("time")
            self._count()
            return min(1.0, resting)
        self._let_go()
        wait = 1.0
        computing = [passage for passage in self._passages if passage.computes]
        if computing:
            due = min(passage.announced_ns for passage in computing) + TELL_NS
            if now >= due:
                for passage in computing:
                    passage.tell(now)
                due = now + TELL_NS
            wait = POLL_S if self._by_cpu else (due - now) * 1e-9
        if limit is not None:
            wait = min(wait, POLL_S if self._by_cpu else (limit - now) * 1e-9, self._look(limit))
        return max(0.0, min(wait, resting))

    def _limit(self) -> int | None:
        """The ET to which the group may run now. None: there is no limit."""
        held = [passage for passage in self._passages if passage.in_sync and passage.is_held]
        ripe = [passage.answer.t_ns for passage in self._passages if passage.in_sync and passage.answer is not None]
        joining = [passage for passage in self._passages if not passage.session and passage.is_held]
        if joining and self._time.started:
            return 0
        if not held:
            return min(ripe, default=None)
        if not any(passage.computes for passage in self._passages):
            return min(ripe, default=0)
        if self._st_ns < max(passage.asked_ns or 0 for passage in held):
            return 0
        known = [passage.until_ns for passage in held if passage.until_ns > self._st_ns]
        return min([self._st_ns + STEP_NS, *ripe, *known])

    def _look(self, limit: int) -> float:
        """If nothing runs before `limit`, the whole group waits, and time advances to the limit."""
        waits_for_answer = any(p.answer is not None and p.answer.t_ns == limit for p in self._passages)
        if not (self._by_cpu or waits_for_answer) or self._state:
            return 1.0
        self._idle_looks = 0 if self._group.is_running() else self._idle_looks + 1
        if self._idle_looks >= 2:
            self._idle_looks = 0
            self._time.at_least(limit)
            return 0.0
        return LOOK_S

    def _follow(self, now: int) -> None:
        """Frozen while one session waits and another computes: watch until ST has reached ET."""
        computing = [passage for passage in self._passages if passage.computes]
        if not computing or not any(passage.in_sync and passage.is_held for passage in self._passages):
            return
        for passage in computing:
            passage.tell(now)
        if self._st_ns >= now:
            return
        if self._follower is None:
            simulator = computing[0].simulator.socket.getpeername()
            self._follower = Follower(simulator[:2], computing[0].vehicle)
            self._selector.register(self._follower.wire.socket, selectors.EVENT_READ, self._follower)
        self._follower.ask(now)

    def _freeze(self) -> None:
        self._group.stop("time")
        self._time.stop()
        self._count()

    def _let_go(self) -> None:
        self._time.go()
        self._group.go("time")
        self._count()

    def _throttle(self) -> float:
        """Rest in proportion to the time it ran, in turns. Returns wall s until the next change.

        The share is kept over all turns, so a turn that took too long on a busy machine is compensated."""
        if self._share >= 1.0:
            return 1.0
        self._count()
        period = max(PERIOD_S, SHORTEST_RUN_S / self._share)
        rests = (1.0 - self._share) / self._share
        self._rested_s = min(self._rested_s, self._ran_s * rests + period)
        owed = self._ran_s * rests - self._rested_s
        turn = period * (1.0 - self._share)
        if owed >= turn:
            self._group.stop("throttle")
        elif owed <= 0.0:
            self._group.go("throttle")
        self._count()
        return max(1e-4, owed if self._state == "throttle" else (turn - owed) / rests)

    def _board_works(self) -> float:
        """Send the questions of a slow board when it would have sent them. Returns wall s until the next."""
        if self._board is None:
            return 1.0
        wait = self._board.let_pass()
        if not self._board.busy:
            self._group.go("board")
        return max(0.0, wait)

    def _count(self) -> None:
        """Add the time since the last call to the group's current state."""
        now = time.perf_counter()
        if self._state == "":
            self._ran_s += now - self._counted
        elif self._state == "throttle":
            self._rested_s += now - self._counted
        self._counted = now
        self._state = next((why for why in ("time", "board", "throttle") if self._group.is_stopped_for(why)), "")

    def _idle_ns(self) -> int:
        """Time so far in which it could run but no thread was runnable."""
        self._count()
        return round(self._ran_s * 1e9) - self._group.busy_ns()

    def _arrange(self) -> None:
        """Wait for writability of sockets with pending data."""
        for passage in self._passages:
            for wire in (passage.sut, passage.simulator):
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if wire.has_more else 0)
                if self._selector.get_key(wire.socket).events != wanted:
                    self._selector.modify(wire.socket, wanted, passage)
