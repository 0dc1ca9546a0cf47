"""A worker's processor time during a recording: rendering, sensors, journal, physics and the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from skyloop.sim.sensing import SensorPart
from skyloop.sim.simulation import Simulation


class WorkerProfile:
    """Counts core-seconds from `begin` on. Earlier time is preparation."""

    def __init__(self) -> None:
        self._seconds = {"sensors": 0.0, "journal": 0.0}
        self._began: tuple[float, float] | None = None

    def watch_sensors(self, simulation: Simulation) -> None:
        for part in simulation.parts_of(SensorPart):
            setattr(part.sensor, "measure", partial(self.timed, "sensors", part.sensor.measure))  # noqa: B010 - mypy

    def begin(self) -> None:
        """The first frame begins; a second call does nothing."""
        self._began = self._began or (time.process_time(), _children_seconds())

    def timed(self, stage: str, work: Callable[..., Any], *args: Any) -> Any:
        """The result of `work`. Its time is counted for a stage."""
        if self._began is None:
            return work(*args)
        began = time.process_time()
        try:
            return work(*args)
        finally:
            self._seconds[stage] += time.process_time() - began

    def core_seconds(self) -> dict[str, float]:
        """By stage, until now. Call it while the renderer runs."""
        if self._began is None:
            return {}
        own, rendering = time.process_time() - self._began[0], _children_seconds() - self._began[1]
        return {"rendering": rendering, **self._seconds, "physics_and_rest": own - sum(self._seconds.values())}


def _children_seconds() -> float:
    """Processor time of the child processes, which is the renderer. 0 if the system does not tell."""
    try:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
        # Linux's id of another process's processor clock (man 3 clock_getcpuclockid gives the same)
        return sum(time.clock_gettime(~int(child) << 3 | 2) for child in children)
    except OSError:
        return 0.0
