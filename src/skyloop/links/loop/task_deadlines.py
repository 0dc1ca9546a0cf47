"""The tasks a program says it does, how long each takes on its own time, and the deadlines it declared for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skyloop_client.errors import LinkError

MOST_RUNNING = 64
MOST_KINDS = 1000
LONGEST_NAME = 100


@dataclass(slots=True)
class TaskTimes:
    """All runs of the tasks of one name."""

    runs: int = 0
    missed: int = 0
    longest_ns: int = 0
    deadline_ns: int | None = None
    """As declared last."""

    def plain(self) -> dict[str, Any]:
        deadline = None if self.deadline_ns is None else self.deadline_ns / 1e9
        return {"runs": self.runs, "missed": self.missed, "longest_s": self.longest_ns / 1e9, "deadline_s": deadline}


@dataclass(slots=True)
class _Running:
    name: str
    began_ns: int
    deadline_ns: int | None
    is_late: bool = False


class TaskDeadlines:
    """Of one session; tasks may start tasks, so the last one begun is the first to end."""

    def __init__(self) -> None:
        self.kinds: dict[str, TaskTimes] = {}
        self._running: list[_Running] = []

    @property
    def missed(self) -> int:
        return sum(times.missed for times in self.kinds.values())

    def take(self, told: Any, et_ns: int) -> list[str]:
        """What a question tells of beginnings and ends, at its execution time; a line for each deadline missed."""
        late = self._overdue(et_ns)
        for change in told or ():
            match change:
                case ["begin", str(name), None | int() as deadline_ns]:
                    self._begin(name[:LONGEST_NAME], et_ns, deadline_ns)
                case ["end", str(name), *_]:
                    self._end(name[:LONGEST_NAME], et_ns)
                case _:
                    raise LinkError('\'tasks\' are ["begin", name, deadline_ns] and ["end", name]')
        return late

    def _begin(self, name: str, et_ns: int, deadline_ns: int | None) -> None:
        if len(self._running) >= MOST_RUNNING or len(self.kinds) >= MOST_KINDS:
            raise LinkError(f"more than {MOST_RUNNING} tasks at once, or {MOST_KINDS} names of tasks")
        if deadline_ns is not None and deadline_ns < 0:
            raise LinkError(f"task '{name}': a deadline of {deadline_ns} ns; give 0 or more")
        times = self.kinds.setdefault(name, TaskTimes())
        times.runs += 1
        times.deadline_ns = deadline_ns
        self._running.append(_Running(name, et_ns, deadline_ns))

    def _end(self, name: str, et_ns: int) -> None:
        while self._running:
            # one that was broken off ends with the task that started it
            task = self._running.pop()
            times = self.kinds[task.name]
            times.longest_ns = max(times.longest_ns, et_ns - task.began_ns)
            if task.name == name:
                return

    def _overdue(self, et_ns: int) -> list[str]:
        """Each run is told once, as soon as it is late."""
        late = []
        for task in self._running:
            took = et_ns - task.began_ns
            if task.deadline_ns is not None and took > task.deadline_ns and not task.is_late:
                task.is_late = True
                self.kinds[task.name].missed += 1
                late.append(f"task {task.name}: {took / 1e9:.3f} s so far, {task.deadline_ns / 1e9:g} s declared")
        return late

    def plain(self) -> dict[str, Any]:
        return {name: times.plain() for name, times in self.kinds.items()}
