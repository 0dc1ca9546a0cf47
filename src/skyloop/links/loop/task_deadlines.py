"""The tasks that a program reports: their durations in its own time, and their declared deadlines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skyloop_client.errors import LinkError

MOST_RUNNING = 64
MOST_NAMES = 1000
LONGEST_NAME = 100
FORMS = '["begin", name, deadline_ns] and ["end", name]'


@dataclass(slots=True)
class TaskTimes:
    """All runs of the tasks of one name."""

    runs: int = 0
    missed: int = 0
    longest_ns: int = 0
    deadline_ns: int | None = None
    """The last declared one."""
    declared: bool = False
    """At least one run had a deadline."""
    met: int = 0
    worst_ns: int = 0
    """The largest excess over the deadline."""

    def plain(self) -> dict[str, float | None]:
        deadline = None if self.deadline_ns is None else self.deadline_ns / 1e9
        return {"runs": self.runs, "missed": self.missed, "longest_s": self.longest_ns / 1e9, "deadline_s": deadline}


@dataclass(slots=True)
class _Running:
    name: str
    began_ns: int
    deadline_ns: int | None
    is_late: bool = False


class TaskDeadlines:
    """Tasks of one session. Tasks may start tasks, so the last one begun is the first to end."""

    def __init__(self) -> None:
        self.by_name: dict[str, TaskTimes] = {}
        self._running: list[_Running] = []

    @property
    def missed(self) -> int:
        return sum(times.missed for times in self.by_name.values())

    @property
    def declared(self) -> bool:
        """Whether any task had a deadline."""
        return any(times.declared for times in self.by_name.values())

    def take(self, changes: Iterable[object] | None, went_on_ns: int, et_ns: int) -> list[str]:
        """Handle a question: tasks begin at the last answer (`went_on_ns`) and end at the question's own time.

        Returns a line for each deadline that was missed.
        """
        late = []
        for change in changes or ():
            match change:
                case ["begin", str(name), None | int() as deadline_ns]:
                    self._begin(name[:LONGEST_NAME], went_on_ns, deadline_ns)
                case ["end", str(name), *_]:
                    late += self._overdue(et_ns)
                    self._end(name[:LONGEST_NAME], et_ns)
                case _:
                    raise LinkError(f"'tasks' are {FORMS}")
        return late + self._overdue(et_ns)

    def _begin(self, name: str, went_on_ns: int, deadline_ns: int | None) -> None:
        if len(self._running) >= MOST_RUNNING or len(self.by_name) - (name in self.by_name) >= MOST_NAMES:
            raise LinkError(f"more than {MOST_RUNNING} tasks at once, or {MOST_NAMES} names of tasks")
        if deadline_ns is not None and deadline_ns < 0:
            raise LinkError(f"task '{name}': a deadline of {deadline_ns} ns; give 0 or more")
        times = self.by_name.setdefault(name, TaskTimes())
        times.runs += 1
        times.deadline_ns = deadline_ns
        times.declared |= deadline_ns is not None
        self._running.append(_Running(name, went_on_ns, deadline_ns))

    def _end(self, name: str, et_ns: int) -> None:
        if all(task.name != name for task in self._running):
            return
        while self._running:
            # an aborted task ends with the task that started it
            task = self._running.pop()
            times = self.by_name[task.name]
            times.longest_ns = max(times.longest_ns, et_ns - task.began_ns)
            times.met += task.deadline_ns is not None and not task.is_late
            if task.name == name:
                return

    def _overdue(self, et_ns: int) -> list[str]:
        """Each run is reported once, as soon as it is late."""
        late = []
        for task in self._running:
            took = et_ns - task.began_ns
            if task.deadline_ns is None or took <= task.deadline_ns:
                continue
            times = self.by_name[task.name]
            times.worst_ns = max(times.worst_ns, took - task.deadline_ns)
            if not task.is_late:
                task.is_late = True
                times.missed += 1
                late.append(f"task {task.name}: {took / 1e9:.3f} s so far, {task.deadline_ns / 1e9:g} s declared")
        return late

    def plain(self) -> dict[str, dict[str, float | None]]:
        return {name: times.plain() for name, times in self.by_name.items()}
