"""The serial protocol between a PC and the landing board (Szolc and Kryjak, arXiv 2207.12198), both ways.

PC to board: frames of four ASCII characters without terminator or checksum. Board to PC: ASCII lines, each ended by a
newline. Each side is written so that damage costs the damaged frame or line and nothing else.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

BAUD = 57_600
MOST_ALTITUDE_CM = 9_999
"""What two digits of metres and two of centimetres can say."""
MOST_SIZE_PX = 999
MOST_SPEED = 20.0
"""m/s. A line that asks for more along any axis is damaged."""
MOST_YAW_RATE_DEG = 360.0
"""deg/s, likewise."""
LONGEST_LINE = 80
"""Bytes without a newline after which what came is no line of the board."""
START, STOP = b"T111", b"T000"


# ---- what the PC sends


def altitude_frames(altitude: float) -> bytes:
    """`AmNN` and `AcNN`, of an altitude in m. It is rounded before it is split, so no fraction gives `Ac100`.

    Below 0 m it says 0, above 99.99 m it says 99.99. Without a number (NaN, infinite) it says nothing.
    """
    if not math.isfinite(altitude):
        return b""
    centimetres = min(max(round(altitude * 100.0), 0), MOST_ALTITUDE_CM)
    return b"Am%02dAc%02d" % divmod(centimetres, 100)


def size_frames(ring_px: float, square_px: float) -> bytes:
    """`CNNN` and `SNNN`, whole pixels between 0 and 999. Without numbers it says nothing."""
    if not (math.isfinite(ring_px) and math.isfinite(square_px)):
        return b""
    ring, square = (min(max(round(size), 0), MOST_SIZE_PX) for size in (ring_px, square_px))
    return b"C%03dS%03d" % (ring, square)


# ---- what the board understands


@dataclass(frozen=True, slots=True)
class Altitude:
    centimetres: int


@dataclass(frozen=True, slots=True)
class RingSize:
    pixels: int


@dataclass(frozen=True, slots=True)
class SquareSize:
    pixels: int


@dataclass(frozen=True, slots=True)
class Trigger:
    on: bool


PcMessage = Altitude | RingSize | SquareSize | Trigger
_FRAME = re.compile(rb"A[mc][0-9]{2}|[CS][0-9]{3}|T111|T000")
_BEGINNING = re.compile(rb"A(?:[mc][0-9]?)?|[CS][0-9]{0,2}|T(?:1{0,2}|0{0,2})")


class FrameScanner:
    """Finds frames in a stream of bytes, wherever it is cut. The firmware's `scanner.c` is the same in C.

    A byte that cannot begin or continue a frame is skipped. Centimetres count only straight after their metres, because
    with the metres of another measurement they would be wrong by up to a metre.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._metres: int | None = None
        self.skipped = 0
        """Bytes that were part of no frame."""

    def feed(self, data: bytes) -> list[PcMessage]:
        buffer = self._rest + data
        messages: list[PcMessage] = []
        at = 0
        while at < len(buffer):
            frame = _FRAME.match(buffer, at)
            if frame is not None:
                messages += self._read(frame.group())
                at = frame.end()
                continue
            if _BEGINNING.fullmatch(buffer, at):
                break
            self.skipped += 1
            self._metres = None
            at += 1
        self._rest = buffer[at:]
        return messages

    def _read(self, frame: bytes) -> list[PcMessage]:
        metres, self._metres = self._metres, None
        kind = frame[:2]
        if kind == b"Am":
            self._metres = int(frame[2:])
            return []
        if kind == b"Ac":
            return [] if metres is None else [Altitude(100 * metres + int(frame[2:]))]
        value = int(frame[1:])
        if frame[:1] == b"C":
            return [RingSize(value)]
        if frame[:1] == b"S":
            return [SquareSize(value)]
        return [Trigger(value == 111)]


# ---- what the board sends


@dataclass(frozen=True, slots=True)
class VelocityCommand:
    """m/s forward, right, down: NED axes turned by the vehicle's yaw, as the board's authors have them."""

    forward: float
    right: float
    down: float


@dataclass(frozen=True, slots=True)
class YawRateCommand:
    clockwise_deg: float
    """deg/s, clockwise seen from above."""


@dataclass(frozen=True, slots=True)
class AltitudeWanted:
    pass


@dataclass(frozen=True, slots=True)
class SizesWanted:
    pass


@dataclass(frozen=True, slots=True)
class LandingDecided:
    pass


@dataclass(frozen=True, slots=True)
class TriggerState:
    on: bool


BoardMessage = VelocityCommand | YawRateCommand | AltitudeWanted | SizesWanted | LandingDecided | TriggerState
_NUMBER = r"[-+]?[0-9]+(?:\.[0-9]*)?"
_VELOCITY = re.compile(rf"v:({_NUMBER}),({_NUMBER}),({_NUMBER})$")
_YAW_RATE = re.compile(rf"y:({_NUMBER})$")
_QUESTION = re.compile(r"([af]):$")


class LineReader:
    """Lines of the board from a stream of bytes, wherever it is cut.

    What cannot be read costs its own line. Noise before a command or a question is cut off. Decisions (`l:`, `t:`) must
    be the whole line: noise must not land a vehicle.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._overlong = False
        self.refused = 0
        """Lines that were not understood."""

    def feed(self, data: bytes) -> list[BoardMessage]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages: list[BoardMessage] = []
        for line in lines:
            # of a line longer than this the reader has kept the end, and that is no decision
            damaged = self._overlong or len(line) > LONGEST_LINE
            self._overlong = False
            message = _read_line(line[-LONGEST_LINE:], damaged)
            if message is not None:
                messages.append(message)
            elif line.strip(b"\r"):
                self.refused += 1
        if len(self._rest) > LONGEST_LINE:
            self._overlong, self._rest = True, self._rest[-LONGEST_LINE:]
        return messages


def _read_line(line: bytes, damaged: bool) -> BoardMessage | None:
    text = line.decode("latin-1").removesuffix("\r")
    if not damaged:
        if text == "l:":
            return LandingDecided()
        if text in ("t:0", "t:1"):
            return TriggerState(text == "t:1")
    if found := _VELOCITY.search(text):
        values = [float(value) for value in found.groups()]
        return VelocityCommand(*values) if max(map(abs, values)) <= MOST_SPEED else None
    if found := _YAW_RATE.search(text):
        rate = float(found.group(1))
        return YawRateCommand(rate) if abs(rate) <= MOST_YAW_RATE_DEG else None
    if found := _QUESTION.search(text):
        return AltitudeWanted() if found.group(1) == "a" else SizesWanted()
    return None


# ---- the board's lines, for boards written in Python


def velocity_line(forward: float, right: float, down: float) -> bytes:
    """Three decimals, as in the paper's example `v:3.456,7.892,1.936`."""
    return f"v:{decimal(forward)},{decimal(right)},{decimal(down)}\n".encode()


def yaw_rate_line(clockwise_deg: float) -> bytes:
    return f"y:{decimal(clockwise_deg)}\n".encode()


def trigger_line(on: bool) -> bytes:
    return b"t:1\n" if on else b"t:0\n"


ASK_ALTITUDE, ASK_SIZES, LAND = b"a:\n", b"f:\n", b"l:\n"


def decimal(value: float) -> str:
    """Thousandths, rounded half away from zero, as the firmware writes them; there is no `-0.000`.

    Without a number (NaN) it is 0.000: a vehicle that stays where it is. The greatest is 999.999.
    """
    thousandths = 0 if math.isnan(value) else int(min(abs(value), 999.999) * 1000.0 + 0.5)
    sign = "-" if value < 0.0 and thousandths else ""
    return f"{sign}{thousandths // 1000}.{thousandths % 1000:03d}"
