"""People who look where they go: they wait while a vehicle is close in front of them, and walk on when it is gone.

Their own time runs slower while they wait. It is decided every tenth of a second for the tenth after the next, so what
has been asked for never changes afterwards: poses stay functions of time for all that has happened and a little beyond.
"""

from __future__ import annotations

import math

from skyloop.world.ground import Ground
from skyloop.world.scenery.actors.gait import Gait
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.people import Walker
from skyloop_client.messages import Array

EVERY = 0.1
"""s between two looks, and until the next tenth, for which a look decides."""
STOPPING = 0.5
"""s in which they come to a stand, and in which they walk again."""
LOOK_AHEAD = 1.5
"""m from a person's middle to a vehicle's at which the person begins to stop. About 1 m is left then."""
LOOK_ASIDE = math.radians(70.0)
"""How far to each side of the way ahead they look."""
OVERHEAD = 2.4
"""m above the floor; what flies higher is in nobody's way."""


class WatchfulWalker(Walker):
    """A person who walks along a path for ever and waits for vehicles in front."""

    def __init__(self, gait: Gait, path: Path, ground: Ground) -> None:
        super().__init__(gait, path, ground)
        self.forget()

    def forget(self) -> None:
        """As before the first look."""
        self.paces, self.times = [1.0, 1.0], [0.0, EVERY]
        """At multiples of EVERY: seconds of its own time in a second, and its own time. Linear in between."""

    def memory(self) -> tuple[list[float], list[float]]:
        return list(self.paces), list(self.times)

    def remember(self, memory: tuple[list[float], list[float]]) -> None:
        self.paces, self.times = list(memory[0]), list(memory[1])

    def own_time(self, t: float) -> float:
        """s: as `t` where it never waited, less by what it has waited."""
        if t <= 0.0:
            return t
        last = len(self.paces) - 1
        knot = min(int(t / EVERY), last)
        since = t - knot * EVERY
        if knot == last:
            return self.times[last] + self.paces[last] * since
        change = (self.paces[knot + 1] - self.paces[knot]) / EVERY
        return self.times[knot] + (self.paces[knot] + 0.5 * change * since) * since

    def poses(self, t: float) -> Array:
        return super().poses(self.own_time(t))

    def look(self, t: float, vehicles: Array) -> None:
        """Decides the pace from t + EVERY to t + 2 EVERY. vehicles: (n, 3) m, world, where they are at t."""
        pace = self.paces[-1]
        wanted = 0.0 if self._is_in_the_way(t, vehicles) else 1.0
        most = EVERY / STOPPING
        after = pace + min(max(wanted - pace, -most), most)
        self.paces.append(after)
        self.times.append(self.times[-1] + 0.5 * (pace + after) * EVERY)

    def _is_in_the_way(self, t: float, vehicles: Array) -> bool:
        walk = self.gait.walk[0]
        (place,), (heading,) = self.path.at([walk["start"] + walk["speed"] * self.own_time(t)])
        floor = self.ground.at(float(place[0]), float(place[1]))[0]
        for x, y, z in vehicles.tolist():
            dx, dy = x - float(place[0]), y - float(place[1])
            aside = abs(math.remainder(math.atan2(dy, dx) - float(heading), math.tau))
            if math.hypot(dx, dy) < LOOK_AHEAD and aside < LOOK_ASIDE and z - floor < OVERHEAD:
                return True
        return False
