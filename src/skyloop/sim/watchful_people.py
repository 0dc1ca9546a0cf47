"""Shows the vehicles to people who look where they go."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.sim.parts import Context
from skyloop.world.scenery.actors.watchful import EVERY, WatchfulWalker
from skyloop_client.streams import NS_PER_S, Rate

LOOKS = Rate(round(1.0 / EVERY))


class WatchfulPeoplePart:
    """Ten times a second, every watchful person of the world looks for vehicles in front."""

    name = "watchful people"

    def __init__(self, walkers: list[WatchfulWalker], context: Context) -> None:
        self._walkers, self._context = walkers, context
        for walker in walkers:
            walker.forget()
        context.schedule.every(LOOKS, self._look)

    def _look(self, t_ns: int, index: int) -> None:
        fleet = self._context.fleet
        places = np.array([fleet.state(i, t_ns).position for i in range(len(fleet.params))]).reshape(-1, 3)
        for walker in self._walkers:
            walker.look(t_ns / NS_PER_S, places)

    def memory(self) -> Any:
        return [walker.memory() for walker in self._walkers]

    def remember(self, memory: Any) -> None:
        for walker, kept in zip(self._walkers, memory, strict=True):
            walker.remember(kept)
        # poses that were computed for a future that is now another one
        self._context.scene.model.forget()
        if self._context.fleet.solids is not None:
            self._context.fleet.solids.forget()

    def close(self) -> None:
        pass


def people_parts(context: Context) -> list[WatchfulPeoplePart]:
    """One part, or none where nobody looks."""
    walkers = [mover for mover in context.scene.model.movers if isinstance(mover, WatchfulWalker)]
    return [WatchfulPeoplePart(walkers, context)] if walkers else []
