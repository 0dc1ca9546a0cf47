"""The boards that can land a vehicle, with the detector and the controller of `skyloop.perception.landing`."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.links.landing_board.board_turns import ObjectWords
from skyloop.links.landing_board.python_program import Decision
from skyloop.perception.landing.control import LAND, LandingControlConfig, LandingMemory, advance, measured
from skyloop.perception.landing.detector import Sighting
from skyloop.perception.landing.figures import Rules, find_marker, min_area
from skyloop.perception.landing.object_list import MIN_AREA, ObjectList

AS_OURS = {"altitude_filter": True, "second_stage": "held"}
"""Choices of the configuration that the firmware has as 1; the other value is 0."""


class ReferenceMind:
    """The Python reference on a board. The firmware is the same in C, to the last bit."""

    def __init__(self, config: LandingControlConfig | None = None, rules: Rules = "touchdown") -> None:
        self._config, self._rules = config or LandingControlConfig(), rules
        self._memory, self._sighting = LandingMemory(), Sighting()
        self.least_area = MIN_AREA

    def begin(self) -> None:
        self._memory, self._sighting = LandingMemory(), Sighting()

    def measured(self, altitude_cm: int, t: float) -> None:
        self._memory = measured(self._memory, altitude_cm / 100.0, t, self._config)

    def decide(self, words: ObjectWords | None, sizes: tuple[int, int], t: float) -> Decision:
        marker = None
        altitude = self._memory.altitude
        if words is not None and altitude == altitude:
            detection = find_marker(
                ObjectList.from_words(words), int(100.0 * altitude + 0.5), self._sighting.marker, self._rules
            )
            self._sighting = self._sighting.after(detection)
            marker = detection.marker
        self._memory, command = advance(self._memory, marker, t, self._config)
        if command.stage != LAND and altitude == altitude:
            self.least_area = min_area(int(100.0 * altitude + 0.5), self._rules)
        return Decision(command.stage == LAND, (command.vx, command.vy, command.vz), command.yaw_rate_deg)


def firmware_numbers(config: LandingControlConfig) -> Sequence[float]:
    """The configuration as `struct control_config` in boards/landing/firmware/control.h has it."""
    values = config.model_dump()
    return [float(value == AS_OURS[name]) if name in AS_OURS else float(value) for name, value in values.items()]
