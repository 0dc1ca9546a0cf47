"""What the PC does during one landing: settle, start the board, answer its questions, obey its commands, stop it.

The steps are those of the authors' script (facts A.3). Time is simulated time; nothing here knows a vehicle or a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, PositiveFloat, PositiveInt

from skyloop_client.errors import LinkError
from skyloop_landing.board.serial_frames import (
    START,
    STOP,
    AltitudeWanted,
    BoardMessage,
    LandingDecided,
    LineReader,
    SizesWanted,
    TriggerState,
    VelocityCommand,
    YawRateCommand,
    altitude_frames,
    size_frames,
)

NS_PER_S = 1_000_000_000
RING_PX_M = 1096.67
"""px m: the ring's size in the image times altitude, of the authors' look-up table."""
TABLE_FIRST, TABLE_LAST = 4.00, 44.95
"""m, the altitudes of its first and last row."""
RING_PER_SQUARE = 5.0
Kind = TypeVar("Kind")


class PcProcedureConfig(BaseModel):
    """Times of the PC's procedure."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    settle_count: PositiveInt = 7
    """Altitudes sent before the board is started."""
    settle_every: PositiveFloat = 1.0
    """s between two of them."""
    trigger_every: PositiveFloat = 0.1
    """s between two triggers while the board does not acknowledge."""
    trigger_patience: PositiveFloat = 5.0
    """s without acknowledgement after which there is no board."""
    silence: PositiveFloat = 1.0
    """s without a velocity command after which the vehicle hovers, and after which a yaw rate is no longer valid."""
    give_up_after: NonNegativeFloat = 120.0
    """s of landing after which the PC stops the board and the vehicle hovers."""


@dataclass(frozen=True, slots=True)
class HeadingVelocity:
    """Axes of a vehicle's heading: forward, left, up in m/s, and rad/s counter-clockwise."""

    velocity: tuple[float, float, float]
    yaw_rate: float


@dataclass(frozen=True, slots=True)
class PcStep:
    """What follows from one look at the line."""

    send: bytes = b""
    motion: HeadingVelocity | None = None
    """A new command for the vehicle."""
    hovers: bool = False
    """The vehicle is to stay where it is."""
    lands: bool = False
    """The lower controller is to land it."""


def figure_sizes(altitude: float) -> tuple[float, float]:
    """px: ring and square as the authors' table gives them: in rows of 1 cm, between its first and its last."""
    row = min(max(round(altitude, 2), TABLE_FIRST), TABLE_LAST) if math.isfinite(altitude) else math.nan
    return RING_PX_M / row, RING_PX_M / row / RING_PER_SQUARE


class PcProcedure:
    """A state machine: settle, start, fly, land, stop, done. Call `step` as often as the line is to be read."""

    def __init__(
        self, config: PcProcedureConfig | None = None, report: Callable[[str], None] = lambda text: None
    ) -> None:
        self._config = config or PcProcedureConfig()
        self._report = report
        self._reader = LineReader()
        self.phase = "settle"
        self._settled = 0
        self._phase_ns = 0
        """When the phase began."""
        self._sent_ns: int | None = None
        """When the last trigger or altitude of settling was sent."""
        self._moved_ns = 0
        self._turned_ns = 0
        self._yaw_rate_deg = 0.0
        self._hovers = False
        self.started_ns: int | None = None
        """When the board acknowledged its start."""
        self.decided_ns: int | None = None
        """When the board decided to land."""
        self.landed_ns: int | None = None
        """When the vehicle stood on the ground."""
        self.gave_up = False

    @property
    def refused_lines(self) -> int:
        return self._reader.refused

    def step(self, t_ns: int, received: bytes, altitude: float, landed: bool) -> PcStep:
        """altitude: m, of the rangefinder, NaN without a return. landed: whether the vehicle stands on the ground."""
        messages = self._reader.feed(received)
        if self.phase == "settle":
            return self._settle(t_ns, altitude)
        if self.phase == "start":
            return self._trigger(t_ns, messages, True, altitude)
        if self.phase == "fly":
            return self._fly(t_ns, messages, altitude)
        if self.phase == "land":
            if landed:
                self.landed_ns = t_ns
                self._enter("stop", t_ns)
            return PcStep()
        if self.phase == "stop":
            return self._trigger(t_ns, messages, False, altitude)
        return PcStep()

    def _enter(self, phase: str, t_ns: int) -> None:
        self.phase, self._phase_ns, self._sent_ns = phase, t_ns, None

    def _is_due(self, t_ns: int, every: float) -> bool:
        if self._sent_ns is not None and t_ns - self._sent_ns < every * NS_PER_S:
            return False
        self._sent_ns = t_ns
        return True

    def _settle(self, t_ns: int, altitude: float) -> PcStep:
        if not self._is_due(t_ns, self._config.settle_every):
            return PcStep()
        if self._settled == self._config.settle_count:
            self._enter("start", t_ns)
            return PcStep()
        self._settled += 1
        return PcStep(altitude_frames(altitude))

    def _trigger(self, t_ns: int, messages: list[BoardMessage], on: bool, altitude: float) -> PcStep:
        """T111 until t:1, or T000 until t:0."""
        acknowledged = any(message == TriggerState(on) for message in messages)
        if acknowledged and on:
            self._enter("fly", t_ns)
            self.started_ns = self._moved_ns = t_ns
            # what came in the same read as the acknowledgement counts already
            return self._fly(t_ns, messages, altitude)
        if acknowledged:
            self._enter("done", t_ns)
            return PcStep()
        frame = START if on else STOP
        if t_ns - self._phase_ns > self._config.trigger_patience * NS_PER_S:
            patience = self._config.trigger_patience
            if on:
                raise LinkError(
                    f"the landing board did not answer {frame.decode()} within {patience:g} s; "
                    "is it the right device, and is the landing firmware running on it?"
                )
            self._report(f"the landing board did not answer {frame.decode()} within {patience:g} s")
            self._enter("done", t_ns)
            return PcStep()
        return PcStep(frame) if self._is_due(t_ns, self._config.trigger_every) else PcStep()

    def _fly(self, t_ns: int, messages: list[BoardMessage], altitude: float) -> PcStep:
        if _newest(messages, LandingDecided) is not None:
            self.decided_ns = t_ns
            self._enter("land", t_ns)
            return PcStep(lands=True)
        assert self.started_ns is not None
        if t_ns - self.started_ns > self._config.give_up_after * NS_PER_S:
            self._report(
                f"no landing within {self._config.give_up_after:g} s; the board is stopped, the vehicle hovers"
            )
            self.gave_up = True
            self._enter("stop", t_ns)
            return PcStep(hovers=True)
        send = b""
        if _newest(messages, AltitudeWanted) is not None:
            send += altitude_frames(altitude)
        if _newest(messages, SizesWanted) is not None:
            send += size_frames(*figure_sizes(altitude))
        return self._obey(t_ns, messages, send)

    def _obey(self, t_ns: int, messages: list[BoardMessage], send: bytes) -> PcStep:
        silence_ns = self._config.silence * NS_PER_S
        turn = _newest(messages, YawRateCommand)
        if turn is not None:
            self._turned_ns, self._yaw_rate_deg = t_ns, turn.clockwise_deg
        elif t_ns - self._turned_ns >= silence_ns:
            self._yaw_rate_deg = 0.0
        velocity = _newest(messages, VelocityCommand)
        if velocity is not None:
            self._moved_ns, self._hovers = t_ns, False
            ahead = velocity.forward, -velocity.right, -velocity.down
            return PcStep(send, HeadingVelocity(ahead, -math.radians(self._yaw_rate_deg)))
        if t_ns - self._moved_ns >= silence_ns and not self._hovers:
            self._hovers = True
            self._report(f"no command of the landing board for {self._config.silence:g} s; the vehicle hovers")
            return PcStep(send, hovers=True)
        return PcStep(send)


def _newest(messages: list[BoardMessage], kind: type[Kind]) -> Kind | None:
    """Of several of one kind in one read the last counts."""
    found = [message for message in messages if isinstance(message, kind)]
    return found[-1] if found else None
