"""What a run tells of landings on a marker: errors, time, and a sheet of pictures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.bus import Bus
from skyloop.core.frames import yaw_from_quat
from skyloop.sim.scenario import Scenario
from skyloop.sim.world_view import WorldView
from skyloop_client.messages import Array
from skyloop_landing.landing_log import LandingLog, VehicleLanding
from skyloop_landing.landing_pictures import BOARD_RADIUS, draw_landing
from skyloop_landing.vision.object_list import Pixels, dark, grey, smoothed, tiles_of

MARKER = "landing marker"
"""The thing's name in the world."""


class LandingReport:
    """Listens during a run, and afterwards adds to its summary and draws."""

    def __init__(self, bus: Bus, world: WorldView, scenario: Scenario, folder: Path) -> None:
        self._world, self._scenario, self._folder = world, scenario, folder
        self._log = LandingLog(bus)

    def finish(self, summary: dict[str, Any]) -> None:
        for name, log in self._log.vehicles.items():
            pad = self._pad()
            told = outcome(log, pad)
            summary["vehicles"][name].update(told)
            title = f"{self._scenario.name} (seed {self._scenario.seed}): {name} {told['landing']}"
            binaries = {moment.name: binary_of(moment.image, moment.before) for moment in log.moments.values()}
            draw_landing(self._folder / f"landing-{name}.png", title, log, binaries, pad)

    def _pad(self) -> tuple[Array, float] | None:
        """The marker's middle and yaw; None in a world without one."""
        number = self._world.things().get(MARKER)
        if number is None:
            return None
        position, quat, _ = self._world.place_of(number)
        return position, float(yaw_from_quat(quat))


def outcome(log: VehicleLanding, pad: tuple[Array, float] | None) -> dict[str, Any]:
    """How it ended: time from the beginning to touch-down, and errors in the world's axes."""
    stage, seconds = log.ended_in, None
    if log.ended_ns >= 0:
        seconds = (log.ended_ns - log.began_ns) * 1e-9
    after = "" if seconds is None else f", after {seconds:.1f} s"
    if pad is None:
        return {"landing": stage + after, "landing_s": seconds}
    _, x, y, _, yaw = log.track[-1]
    off, askew = np.array([x, y]) - pad[0][:2], math.remainder(yaw - pad[1], 2.0 * math.pi)
    distance = float(np.hypot(*off))
    on_marker = seconds is not None and stage == "land" and distance < BOARD_RADIUS
    where = "landed on the marker" if on_marker else f"did not land on the marker ({stage})"
    return {
        "landing": f"{where}, {distance:.2f} m and {abs(askew):.2f} rad off{after}",
        "landed_on_marker": on_marker,
        "landing_s": seconds,
        "landing_error_x_m": float(off[0]),
        "landing_error_y_m": float(off[1]),
        "landing_error_m": distance,
        "landing_heading_error_rad": askew,
    }


def binary_of(image: Pixels, before: Pixels) -> Pixels:
    """1 where the detector takes an image for dark."""
    return dark(smoothed(grey(image)), tiles_of(smoothed(grey(before))))
