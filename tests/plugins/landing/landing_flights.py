"""Landings in the simulator without a renderer: the marker's place in the image is computed from the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyloop.core.frames import matrix_from_quat, yaw_from_quat
from skyloop.run import fly
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import make_scenario
from skyloop_client.bundle import Bundle
from skyloop_client.messages import LandingStatus, Message
from skyloop_landing.pilot import LandingPilot
from skyloop_landing.vision.figures import SQUARE, Figure, MarkerDetection, SeenMarker, heading_of

MARKER_XY = (6.0, 0.0)
BOARD = 0.03
"""m, the height of the marker's top."""
CAMERA = np.array([0.5, 0.0, -0.1])


class TruthDetector(LandingPilot):
    """Sees the marker where it really is in an image of 1280 x 720, as far as it is inside; `gone` hides it."""

    def __init__(self, gone: tuple[float, float] = (1e9, 1e9), **options: Any) -> None:
        """gone: s after the beginning of the landing, from when to when nothing is seen."""
        super().__init__(camera="range", **options)
        self._gone = gone
        self._bundle: Any = None

    def __call__(self, bundle: Bundle) -> Any:
        self._bundle = bundle
        return super().__call__(bundle)

    def _look(self, image: Any) -> MarkerDetection:
        since = (self._bundle.t_ns - self.began_ns) * 1e-9
        if self._gone[0] <= since < self._gone[1]:
            return MarkerDetection(None, "hidden", ())
        square, rectangle = (self._pixel(x) for x in (0.26, -0.26))
        side = 0.343 * 640.0 / max(self._height, 0.01)
        if not self._is_seen(square, 0.7 * side):
            return MarkerDetection(None, "out of the image", ())
        sx, sy, rx, ry = (round(16.0 * value) for value in (*square, *rectangle))
        there = Figure(0, SQUARE, round(side * side), sx, sy, 0, 0, 0, 0)
        seen = 1 if self._is_seen(rectangle, 1.1 * side) else -1
        dx, dy = sx - rx, sy - ry
        middle = (sx + rx) >> 1, (sy + ry) >> 1
        return MarkerDetection(
            SeenMarker(*middle, heading_of(dx, dy), there, dx, dy, round(16 * side), seen), "", (SQUARE,)
        )

    def _pixel(self, along: float) -> tuple[float, float]:
        """Of a point on the marker's axis, x to the right, y down."""
        state = self._bundle.state
        turn = matrix_from_quat(state.quat_wxyz)
        camera = state.position + turn @ CAMERA
        forward, left, up = turn.T @ (np.array([MARKER_XY[0] + along, MARKER_XY[1], BOARD]) - camera)
        self._height = float(-up)
        return 639.5 - 640.0 * left / -up, 359.5 - 640.0 * forward / -up

    @staticmethod
    def _is_seen(at: tuple[float, float], reach: float) -> bool:
        return reach < at[0] < 1279.0 - reach and reach < at[1] < 719.0 - reach


class Flight:
    """One landing and what came of it."""

    def __init__(
        self, seed: int = 1, *, vehicle: dict[str, Any] | None = None, distance: dict[str, Any] | None = None,
        more: dict[str, Any] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """vehicle, distance, more: changes to the scenario's vehicle, rangefinder, and the rest."""
        drone = {
            "name": "drone",
            "airframe": "airsim-quad",
            "sensors": {
                "range": {
                    "kind": "rangefinder", "preset": "airsim", "rate_hz": 60,
                    "mount": {"position": CAMERA.tolist(), "rotation_deg": [0.0, 90.0, 0.0]},
                    **(distance or {}),
                }
            },
            "pilot": {
                "kind": "landing_flights:TruthDetector", "rate_hz": 60, "options": {"start_seed": seed, **options},
            },
            **(vehicle or {}),
        }  # fmt: skip
        data = {"name": "landing", "seed": seed, "duration": 120, "world": "landing", "vehicles": [drone]}
        self.statuses: list[LandingStatus] = []
        with build(make_scenario({**data, **(more or {})})) as simulation:
            simulation.bus.on_every(self._take)
            fly(simulation, 120.0)
            pilot: Any = simulation.parts_of(PilotPart)[0].pilot
            port = simulation.port.vehicle("drone")
            state = port.truth
            self.seconds = simulation.now - 1.0 - pilot.began_ns * 1e-9
            self.error = state.position[:2] - np.array(MARKER_XY)
            self.height = float(state.position[2])
            self.askew = math.remainder(float(yaw_from_quat(state.quat_wxyz)), 2.0 * math.pi)
            self.landed = port.status.landed

    def _take(self, message: Message) -> None:
        if isinstance(message.data, LandingStatus):
            self.statuses.append(message.data)

    @property
    def stages(self) -> list[str]:
        """In order, each once in a row."""
        found = [status.stage for status in self.statuses]
        return [stage for k, stage in enumerate(found) if k == 0 or found[k - 1] != stage]
