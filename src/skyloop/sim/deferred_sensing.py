"""Sensing in another process than the one that flies: what it must be told of an instant, and how it is told.

A sample of an independent sensor is a function of the exact states of all vehicles, of the instant, of its number, and
of what never changes in a flight without links. Only people who look where they go remember something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.sim.parts import ScenePart
from skyloop.sim.sensing import ObserverPart, SensorPart
from skyloop.sim.simulation import Simulation
from skyloop.sim.watchful_people import WatchfulPeoplePart
from skyloop_client.messages import VehicleState
from skyloop_client.streams import NS_PER_S

BEFORE_S = 1.0
"""s before an instant of which a sensor may want to know, besides two of its own periods."""


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    t_ns: int
    states: tuple[VehicleState, ...]
    """Of all vehicles."""
    n_looks: int
    """How often people had looked around; 0 where nobody does."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What people who look where they go remember of a stretch of time."""

    first: int
    """The number of the first look in `paces`."""
    paces: NDArray[np.float64]
    """(n_people, 2, n_looks): pace and own time after each look."""


class DeferredSensing:
    """The independent sensors of a simulation, for the process that flies and for those that only sense."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._scene = simulation.parts_of(ScenePart)[0].scene
        self._people = next(iter(simulation.parts_of(WatchfulPeoplePart)), None)
        self._shown: tuple[int, int] | None = None
        self.parts: dict[int, SensorPart | ObserverPart] = {
            number: part
            for number, part in enumerate(simulation.parts)
            if isinstance(part, SensorPart | ObserverPart) and part.independent
        }
        """By their place among all parts, which is the same in every build of a scenario."""
        periods = [part.info.rate.period_s for part in self.parts.values() if part.info.rate is not None]
        self._before_s = BEFORE_S + 2.0 * max(periods, default=0.0)

    # ---- where the flight is flown

    def present(self) -> Instant:
        simulation = self._simulation
        t_ns, fleet = simulation.clock.now_ns, simulation.fleet
        states = tuple(fleet.state(i, t_ns) for i in range(len(fleet.params)))
        return Instant(t_ns, states, 0 if self._people is None else self._people.n_looks)

    def looks_since(self, t_ns: int) -> Looks:
        """What people did from a while before an instant on."""
        if self._people is None:
            return Looks(0, np.zeros((0, 2, 0)))
        return Looks(*self._people.looks_since(t_ns / NS_PER_S - self._before_s))

    # ---- where the samples are made

    def show(self, instant: Instant, looks: Looks) -> None:
        """Put vehicles and people where they were at an instant of the flight."""
        shown = instant.t_ns, instant.n_looks
        if shown == self._shown:
            return
        self._shown = shown
        self._simulation.clock.set(instant.t_ns)
        self._simulation.fleet.show(instant.states)
        if self._people is not None:
            self._people.show_looks(looks.first, looks.paces, instant.n_looks)

    def look(self, instant: Instant, numbers: Sequence[int]) -> None:
        """Have the renderer draw what these parts need, together."""
        requests = [request for number in numbers for request in self.parts[number].expected(instant.t_ns)]
        if requests:
            self._scene.at(instant.t_ns).views(requests)

    def sensed(self, instant: Instant, number: int, index: int) -> tuple[Any, Any]:
        """Sample `index` of a part, and what is hidden of it."""
        return self.parts[number].sensed(instant.t_ns, index)

    def warm_up(self) -> None:
        """Make the first sample of each part and drop it: the first image and the first rays take seconds."""
        instant = self.present()
        self.look(instant, list(self.parts))
        for number in self.parts:
            self.sensed(instant, number, 0)
        self._scene.forget()
