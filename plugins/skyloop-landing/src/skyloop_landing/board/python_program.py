"""The board's program in Python: the same frames in, the same lines out as the firmware in C."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

from skyloop_landing.board.board_turns import ObjectWords, Turn
from skyloop_landing.board.serial_frames import (
    ASK_ALTITUDE,
    ASK_SIZES,
    LAND,
    Altitude,
    FrameScanner,
    PcMessage,
    RingSize,
    SquareSize,
    Trigger,
    trigger_line,
    velocity_line,
    yaw_rate_line,
)
from skyloop_landing.vision.control import LAND as LAND_STAGE
from skyloop_landing.vision.control import LandingControlConfig, LandingMemory, advance, measured
from skyloop_landing.vision.detector import MarkerSighting
from skyloop_landing.vision.figures import Rules, find_marker, min_area
from skyloop_landing.vision.object_list import MIN_AREA, ObjectList

BLIND_AFTER_US = 250_000
"""Without an image for longer than this the marker counts as not seen; until then the last command holds."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What detector and controller make of an image."""

    lands: bool
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """m/s forward, right, down."""
    yaw_rate_deg: float = 0.0
    """Degrees per second to the right."""


class ReferenceMind:
    """The Python reference on a board. The firmware is the same in C, to the last bit."""

    def __init__(self, config: LandingControlConfig | None = None, rules: Rules = "touchdown") -> None:
        self._config, self._rules = config or LandingControlConfig(), rules
        self._memory, self._sighting = LandingMemory(), MarkerSighting()
        self.least_area = MIN_AREA
        """px: smaller objects need not be listed by the logic."""

    def begin(self) -> None:
        """Forgets all landings before."""
        self._memory, self._sighting = LandingMemory(), MarkerSighting()

    def measured(self, altitude_cm: int, t: float) -> None:
        """Takes a reading of the rangefinder."""
        self._memory = measured(self._memory, altitude_cm / 100.0, t, self._config)

    def decide(self, words: ObjectWords | None, sizes: tuple[int, int], t: float) -> Decision:
        """words: the list of an image; None: there is no image. sizes: ring and square, px, as heard; 0: not heard."""
        marker = None
        altitude = self._memory.altitude
        if words is not None and not math.isnan(altitude):
            known_sizes = sizes if all(sizes) else None
            listed, altitude_cm = ObjectList.from_words(words), int(100.0 * altitude + 0.5)
            detection = find_marker(listed, altitude_cm, self._sighting.marker, self._rules, known_sizes)
            self._sighting = self._sighting.after(detection)
            marker = detection.marker
        self._memory, command = advance(self._memory, marker, t, self._config)
        *velocity, yaw_rate_deg, stage = astuple(command)
        if stage != LAND_STAGE and not math.isnan(altitude):
            self.least_area = min_area(int(100.0 * altitude + 0.5), self._rules)
        forward, right, down = velocity
        return Decision(stage == LAND_STAGE, (forward, right, down), yaw_rate_deg)


class PythonProgram:
    """A board program with detector and controller in this process."""

    def __init__(self, mind: ReferenceMind, execution_ns: int = 0) -> None:
        """execution_ns: simulated time that each turn with an image takes."""
        self.name = "Python in process"
        self._mind, self._execution_ns = mind, execution_ns
        self._scanner = FrameScanner()
        self._running = False
        self._altitude_cm: int | None = None
        self._sizes = (0, 0)
        self._list_us = 0

    @property
    def least_area(self) -> int:
        return self._mind.least_area

    def turn(self, t_ns: int, received: bytes, words: ObjectWords | None) -> Turn:
        now_us = t_ns // 1000
        t = now_us / 1e6
        sent = b""
        triggered = False
        for message in self._scanner.feed(received):
            triggered |= isinstance(message, Trigger)
            self._obey(message, t, now_us)
        if triggered:
            sent += trigger_line(self._running)
        if not self._running:
            return Turn(sent, 0)
        if words is not None or now_us - self._list_us > BLIND_AFTER_US:
            if words is not None:
                self._list_us = now_us
            decision = self._mind.decide(words, self._sizes, t)
            if decision.lands:
                # until the PC stops the board, in case a line is lost
                return Turn(sent + LAND, self._execution_ns)
            sent += velocity_line(*decision.velocity) + yaw_rate_line(decision.yaw_rate_deg)
        return Turn(sent + ASK_ALTITUDE + ASK_SIZES, 0 if words is None else self._execution_ns)

    def _obey(self, message: PcMessage, t: float, now_us: int) -> None:
        match message:
            case Altitude(centimetres):
                self._altitude_cm = centimetres
                self._mind.measured(centimetres, t)
            case RingSize(pixels):
                self._sizes = (pixels, self._sizes[1])
            case SquareSize(pixels):
                self._sizes = (self._sizes[0], pixels)
            case Trigger(on):
                if on and not self._running:
                    self._begin(t, now_us)
                self._running = on

    def _begin(self, t: float, now_us: int) -> None:
        self._list_us = now_us
        self._mind.begin()
        if self._altitude_cm is not None:
            self._mind.measured(self._altitude_cm, t)

    def close(self) -> None:
        """Nothing is held."""
