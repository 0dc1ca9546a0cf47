"""The CUT of `skyloop reproduce online`: turns once around while it takes bundles, and stamps each step."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from skyloop_client import Bundle, connect
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Velocity

FASTEST = 1.5
"""rad/s, the fastest turn of the vehicle. With few frames there is no time for a whole turn."""


class Turning:
    """pilot(bundle) -> setpoint that turns on the spot and integrates the turned angle."""

    def __init__(self, streams: list[str], rate: float) -> None:
        self.turned = 0.0
        """rad."""
        self.unaligned = 0
        """Bundles whose samples were not all from one instant."""
        self._streams = streams
        self._setpoint = Velocity(np.zeros(3), yaw_rate=rate)
        self._yaw: float | None = None

    def __call__(self, bundle: Bundle) -> Velocity:
        self.unaligned += len({bundle.get(name).t_ns for name in self._streams}) != 1
        w, x, y, z = bundle.state.quat_wxyz
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        if self._yaw is not None:
            self.turned += math.remainder(yaw - self._yaw, math.tau)
        self._yaw = yaw
        return self._setpoint


def taken(address: str, task: dict[str, Any]) -> dict[str, Any]:
    """Seconds of this machine's clock at which each question was sent and each bundle was decoded."""
    streams, frames, warm = task["streams"], task["frames"], task["warm"]
    spread = streams if task["ports"] > 1 else ()
    asked, decoded = [], []
    with connect(address, spread=spread, timeout=60.0) as session:
        pilot = Turning(streams, min(FASTEST, math.tau * task["rate_hz"] / frames))
        setpoint = Velocity(np.zeros(3))
        for number in range(warm + frames):
            asked.append(time.perf_counter())
            bundle = session.ask(setpoint, want=streams, fresh=streams)
            decoded.append(time.perf_counter())
            if bundle.refused:
                raise SystemExit(f"refused: {bundle.refused[0]}")
            if number >= warm:
                setpoint = pilot(bundle)
        asked.append(time.perf_counter())
    return {"asked": asked, "decoded": decoded, "turned": pilot.turned, "unaligned": pilot.unaligned}


def answer_parent(taken: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    """The whole of a client process: says that it is ready, reads what to fly, and prints what it measured."""
    # the parent process may have to connect a cable before there is an address
    print("ready", flush=True)
    task = json.loads(sys.stdin.readline())
    try:
        print(json.dumps(taken(task["address"], task)))
    except SkyloopError as error:
        sys.exit(f"the CUT failed: {error}")


if __name__ == "__main__":
    answer_parent(taken)
