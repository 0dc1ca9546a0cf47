"""The board's program in Python: the same frames in, the same lines out as the firmware in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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


class LandingMind(Protocol):
    """Detector and controller. Links know neither, so whoever makes a board brings them."""

    @property
    def least_area(self) -> int:
        """px: smaller objects need not be listed by the logic."""

    def begin(self) -> None:
        """Forget all landings before."""

    def measured(self, altitude_cm: int, t: float) -> None:
        """A reading of the rangefinder."""

    def decide(self, words: ObjectWords | None, sizes: tuple[int, int], t: float) -> Decision:
        """words: the list of an image; None: there is no image. sizes: ring and square, px, as heard; 0: not heard."""


class PythonProgram:
    """A board program with detector and controller in this process."""

    def __init__(self, mind: LandingMind, execution_ns: int = 0) -> None:
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
