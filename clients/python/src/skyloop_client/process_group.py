"""A command and its descendants, which can be stopped, timed and ended together (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from skyloop_client.errors import LinkError, SetupError

FRESH_S = 0.02
"""Wall s for which the list of processes stays valid."""
END_S = 0.4
"""Wall s between the request to end and the kill."""
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class ProcessGroup:
    """A child in its own session. Processes that it orphans or that leave its group are found, too."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        if not hasattr(os, "pidfd_open") or not Path("/proc/self/schedstat").exists():
            raise SetupError("the agent needs Linux 5.3 or newer with /proc; elsewhere let the SUT connect by itself")
        system = ctypes.CDLL(None)
        system.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

        def end_with_agent() -> None:
            """The keeper below ends its descendants, too, but it starts later."""
            system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

        try:
            self._process = subprocess.Popen(
                command, env=dict(environment), start_new_session=True, preexec_fn=end_with_agent
            )
        except OSError as error:
            raise LinkError(f"cannot start the SUT '{command[0]}': {error.strerror}") from None
        self.pid = self._process.pid
        # ends the group even if the agent is killed: its input then ends without a line
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", 'read done || kill -9 -"$0"', str(self.pid)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.ended_file = os.pidfd_open(self.pid)
        """Readable when the command has ended."""
        self._stopped_for: set[str] = set()
        self._members: list[int] = [self.pid]
        self._strays: list[int] = []
        self._looked = 0.0
        self._ran = _Sums()
        self._waited = _Sums()

    # ---- stop and continue

    def stop(self, why: str) -> None:
        """Stop the whole group until `go` was called for each reason."""
        if not self._stopped_for:
            self._signal(signal.SIGSTOP)
        self._stopped_for.add(why)

    def go(self, why: str) -> None:
        if why in self._stopped_for:
            self._stopped_for.discard(why)
            if not self._stopped_for:
                self._signal(signal.SIGCONT)

    def is_stopped_for(self, why: str) -> bool:
        return why in self._stopped_for

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)
        for stray in self._strays:
            with suppress(ProcessLookupError):
                os.kill(stray, number)

    # ---- queries

    def members(self) -> list[int]:
        """Process ids, at most `FRESH_S` old."""
        now = time.monotonic()
        if now - self._looked > FRESH_S:
            self._looked = now
            own = [pid for pid in _children(os.getpid()) if pid != self._keeper.pid]
            self._members = [*own, *(heir for pid in own for heir in _descendants(pid))]
            self._strays = [pid for pid in self._members if _group(pid) not in (self.pid, None)]
        return self._members

    def cpu_ns(self) -> int:
        """Processor time of the whole group so far. A process that lives for less than `FRESH_S` may be missed."""
        seen = {}
        for pid in self.members():
            with suppress(OSError):
                # Linux's id of another process's processor clock (man 3 clock_getcpuclockid)
                seen[pid] = time.clock_gettime_ns(~pid << 3 | 2)
        return self._ran.total(seen)

    def busy_ns(self) -> int:
        """Time on a core plus time spent waiting for one."""
        seen = {}
        for pid, thread in self._threads():
            with suppress(OSError, ValueError):
                seen[thread] = int(_read(f"/proc/{pid}/task/{thread}/schedstat").split()[1])
        return self.cpu_ns() + self._waited.total(seen)

    def is_running(self) -> bool:
        """Whether a thread computes or waits for a disk. Meaningless while stopped."""
        for pid, thread in self._threads():
            with suppress(OSError):
                # the name before the state is in brackets and may contain anything
                if _read(f"/proc/{pid}/task/{thread}/stat").rpartition(b") ")[2][:1] in b"RD":
                    return True
        return False

    def is_single(self) -> bool:
        """Whether it is one process with one thread."""
        return len(self.members()) == 1 and len(list(self._threads())) == 1

    def _threads(self) -> Iterator[tuple[int, int]]:
        for pid in self.members():
            with suppress(OSError):
                yield from ((pid, int(thread)) for thread in os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208

    # ---- the end

    def ended(self) -> int | None:
        """Exit code of the command as in a shell, or None while it runs. Also reaps orphans."""
        while True:
            try:
                gone = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if gone is None or gone.si_pid in (self.pid, self._keeper.pid):
                break
            os.waitpid(gone.si_pid, 0)
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def end(self) -> None:
        """Ask all processes to end, then kill the rest, stopped or not."""
        if self._keeper.returncode is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._is_over():
                break
            # a stopped process must continue to receive the signal
            self._signal(signal.SIGCONT)
            self._signal(number)
            until = time.monotonic() + END_S
            while time.monotonic() < until and not self._is_over():
                time.sleep(0.005)
        self._process.wait()
        with suppress(BrokenPipeError):
            self._keeper.communicate(b"done\n")
        os.close(self.ended_file)

    def _is_over(self) -> bool:
        self._looked = 0.0
        return self.ended() is not None and not self.members()


class GroupTime:
    """ET of a group: wall time while it may run, or its processor time divided by a speed."""

    def __init__(self, group: ProcessGroup, clock: str, speed: float) -> None:
        self._by_cpu = clock == "cpu"
        self._source = (lambda: round(group.cpu_ns() / speed)) if self._by_cpu else time.perf_counter_ns
        self._et_ns = 0
        self._mark: int | None = None
        self.started = False

    def now(self) -> int:
        return self._et_ns if self._mark is None else self._et_ns + self._source() - self._mark

    def at_least(self, t_ns: int) -> None:
        """After an answer, or when the whole group waits: ET is at least `t_ns`."""
        if not self.started:
            self._et_ns, self._mark, self.started = t_ns, self._source(), True
        elif (behind := t_ns - self.now()) > 0:
            self._et_ns += behind

    def stop(self) -> None:
        # processor time stops by itself, and includes what runs until the stop takes effect
        if not self._by_cpu:
            self._et_ns, self._mark = self.now(), None

    def go(self) -> None:
        if self._mark is None and self.started:
            self._mark = self._source()


class _Sums:
    """Keeps the values of processes that have ended."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._gone = 0

    def total(self, seen: dict[int, int]) -> int:
        self._gone += sum(value for key, value in self._last.items() if key not in seen)
        self._last = seen
        return self._gone + sum(seen.values())


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with suppress(OSError):
                found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
