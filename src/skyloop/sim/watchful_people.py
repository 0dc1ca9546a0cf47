"""Shows the vehicles to people who look where they go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.sim.part import Memory, Part
from skyloop.sim.parts import Context
from skyloop.world.scenery.actors.indoor_walks import EVERY, WatchfulWalker
from skyloop_client.streams import NS_PER_S, Rate

LOOKS = Rate(round(1.0 / EVERY))


class WatchfulPeoplePart(Part):
    """Ten times a second, every watchful person of the world looks for vehicles in front."""

    name = "watchful people"

    def __init__(self, walkers: list[WatchfulWalker], context: Context) -> None:
        self._walkers, self._context = walkers, context
        for walker in walkers:
            walker.forget()
        context.schedule.every(LOOKS, self._look)

    def _look(self, t_ns: int, index: int) -> None:
        fleet = self._context.fleet
        positions = np.array([fleet.state(i, t_ns).position for i in range(len(fleet.params))]).reshape(-1, 3)
        for walker in self._walkers:
            walker.look(t_ns / NS_PER_S, positions)

    def memory(self) -> object:
        return [walker.memory() for walker in self._walkers]

    @property
    def n_looks(self) -> int:
        """How many paces each of them remembers."""
        return len(self._walkers[0].paces)

    def looks_since(self, t: float) -> tuple[int, NDArray[np.float64]]:
        """The number of the first look that matters after `t` s, and (n_people, 2, n) paces and times from it on."""
        first = min(max(0, int(t / EVERY)), self.n_looks - 1)
        return first, np.array([(walker.paces[first:], walker.times[first:]) for walker in self._walkers])

    def show_looks(self, first: int, looks: NDArray[np.float64], n_looks: int) -> None:
        """Show them as they were in another process when they had looked so often."""
        for walker, (paces, times) in zip(self._walkers, looks[..., : n_looks - first].tolist(), strict=True):
            # nobody asks for what was long before
            walker.remember(([1.0] * first + paces, [0.0] * first + times))
        self._context.scene.model.forget()

    def remember(self, memory: Memory) -> None:
        for walker, kept in zip(self._walkers, memory, strict=True):
            walker.remember(kept)
        # poses that were computed for a future that is now another one
        self._context.scene.model.forget()
        if self._context.fleet.solids is not None:
            self._context.fleet.solids.forget()


def people_parts(context: Context) -> list[WatchfulPeoplePart]:
    """One part, or none where nobody looks."""
    walkers = [mover for mover in context.scene.model.movers if isinstance(mover, WatchfulWalker)]
    return [WatchfulPeoplePart(walkers, context)] if walkers else []
