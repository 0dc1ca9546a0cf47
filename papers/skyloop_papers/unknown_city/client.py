"""The whole stack of the unknown city as a client under test (CUT): localiser, map, planner and pilot in one program.

It stamps every question and answer with the machine's clock and with its own execution time."""

from __future__ import annotations

import time
from typing import Any

from skyloop_autonomy.grid_slam.localiser import GridLocaliser
from skyloop_client import connect
from skyloop_client.onboard import run_onboard
from skyloop_papers.online.client import answer_parent
from skyloop_papers.unknown_city.stack import ClockedCityPilot

PATIENCE_S = 300.0
RATE_HZ = 10.0
"""Of the pilot, as in the scenario."""


class StampedSession:
    """A session that notes when it asks and when it has the answer."""

    def __init__(self, session: Any, lidar: str) -> None:
        self._session, self._lidar = session, lidar
        self.rows: list[list[float]] = []
        """Of each question: asked and answered in s of the machine's clock, the same in ns of execution time, whether
        it sends a setpoint, and whether the answer brings a sweep."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def ask(self, *send: Any, **how: Any) -> Any:
        before = self._session.now()
        asked = time.perf_counter()
        bundle = self._session.ask(*send, **how)
        answered = time.perf_counter()
        sweep = any(message.stream == self._lidar for message in bundle.arrived)
        self.rows.append([asked, answered, before, self._session.now(), bool(send), sweep])
        return bundle


def taken(address: str, task: dict[str, Any]) -> dict[str, Any]:
    pilot = ClockedCityPilot(**task["options"])
    how = {"clock": "cpu", "speed": task["speed"], "timeout": PATIENCE_S}
    with connect(address, estimator="slam", role="pilot", **how) as session:
        stamped: Any = StampedSession(session, "drone/lidar")
        run_onboard(stamped, GridLocaliser, pilot, RATE_HZ)
    return {"rows": stamped.rows, "doing": pilot.doing, "reached": pilot.reached, "retreats": pilot.retreats}


if __name__ == "__main__":
    answer_parent(taken)
