"""Manual flight: keys of a terminal or a gamepad command velocities, through the link gate like every other link.

Keys and speeds are those of E2ES's keyboard node. There are 20 setpoints a second. A held key commands a speed. A key
counts as released when the terminal stops repeating it."""

from __future__ import annotations

import logging
import math
import os
import re
import select
import struct
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np

from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Factor, Link, LinkConfig, LinkGate, Summary
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError, SetupError
from skyloop_client.messages import Arm, Array, Event, EventKind, Hover, Land, TakeOff, Velocity

log = logging.getLogger(__name__)
COMMANDER = "hand"
"""The name under which keys and sticks command the vehicle."""
SPEED, CLIMB, TURN = 1.0, 0.5, 0.3
"""m/s horizontally, m/s vertically, rad/s."""
TAKEOFF_HEIGHT = 1.5
"""m."""
TICK_NS = 50_000_000
HELD_S = 0.6
"""Wall s for which a key counts as held. Terminals start to repeat a key after up to half a second."""
KEYS: dict[str, tuple[float, float, float, float]] = {
    "w": (0, 0, CLIMB, 0), "s": (0, 0, -CLIMB, 0), "a": (0, 0, 0, TURN), "d": (0, 0, 0, -TURN),
    "y": (SPEED, 0, 0, 0), "h": (-SPEED, 0, 0, 0), "g": (0, SPEED, 0, 0), "j": (0, -SPEED, 0, 0),
}  # fmt: skip
"""Forward, left, up in m/s and rad/s to the left."""
HELP = "1 take off, 2 land, w/s up and down, a/d turn, y/h forward and back, g/j left and right, space hover, q end"
KEYS_AT_ONCE = 256
"""Bytes per read from a terminal. The bytes of one special key arrive together."""
GAMEPAD = Path("/dev/input/js0")
DEAD_ZONE = 0.1
_EVENT = struct.Struct("<IhBB")
"""An event of Linux's joystick interface: ms, value, type (1 button, 2 axis), number."""


class ByHand(Link):
    """A link that takes keys or stick positions and commands one vehicle."""

    name = "by_hand"
    allows_realtime = True

    def __init__(
        self,
        inbox: Inbox,
        show: Callable[[str], None],
        *,
        now: Callable[[], float] | None = None,
    ) -> None:
        self.show = show
        self._inbox = inbox
        self._now = now or time.monotonic
        self._held: dict[str, float] = {}
        self._axes = np.zeros(4)
        """Forward, left, up in m/s and turn in rad/s, from a gamepad."""
        self._ended = False
        self._reading = ExitStack()
        self._gate: LinkGate | None = None
        self._moved = False
        self._ticked_ns = -1

    # ---- called by the link gate

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port, self._gate = port, link_gate
        self._vehicle = next(iter(port.vehicles.values()))
        self._vehicle.on_event(self._on_event)
        self.show(HELP)
        self._schedule(port.now_ns)

    @property
    def over(self) -> bool | None:
        return self._ended or None

    def stop_at(self, t_ns: int) -> int:
        now = self._port.now_ns
        if not self._ticked_ns <= now <= self._ticked_ns + TICK_NS:
            # a restored snapshot does not hold the scheduled tick of this link
            self._schedule(now)
        return t_ns

    def finish(self, why: str) -> None:
        self._ended = True

    def read_from(self, device: AbstractContextManager[None]) -> None:
        """Keys or sticks, until the link is closed."""
        self._reading.enter_context(device)

    def close(self) -> None:
        self._reading.close()

    def summary(self) -> Summary:
        return {"vehicle": self._vehicle.name}

    # ---- keys and sticks

    def taker(self, kind: str, value: str | Array) -> None:
        """Handle a key, or the four axes of a gamepad."""
        if kind == "axes":
            self._axes = np.asarray(value, np.float64)
            return
        key = str(value).lower()
        if key in KEYS:
            self._held[key] = self._now()
        elif key == "1":
            self._vehicle.send(Arm(), TakeOff(TAKEOFF_HEIGHT), by=COMMANDER)
        elif key == "2":
            self._vehicle.send(Land(), by=COMMANDER)
        elif key == " ":
            self._held.clear()
            self._vehicle.send(Hover(), by=COMMANDER)
        elif key in ("q", "\x03"):
            self._ended = True
            if self._gate is not None:
                self._gate.stop()

    def put(self, kind: str, value: str | Array) -> None:
        """May be called from any thread."""
        self._inbox.put((self, kind, value))

    # ---- commands

    def _schedule(self, t_ns: int) -> None:
        self._ticked_ns = t_ns
        self._port.at(t_ns, self._tick)

    def _tick(self) -> None:
        now_ns = self._port.now_ns
        self._ticked_ns = now_ns
        self._port.at(now_ns + TICK_NS, self._tick)
        status = self._vehicle.status
        if not status.armed or status.landed or status.mode in ("takeoff", "land", "home"):
            return
        wanted = self.wanted()
        if np.any(wanted):
            setpoint = Velocity(wanted[:3], "body", yaw_rate=float(wanted[3]))
            self._vehicle.send(setpoint, by=COMMANDER)
        elif self._moved:
            self._vehicle.send(Hover(), by=COMMANDER)
        self._moved = bool(np.any(wanted))

    def wanted(self) -> Array:
        """(4,) forward, left, up in m/s and turn in rad/s: the sum of all held keys and axes."""
        now = self._now()
        self._held = {key: t for key, t in self._held.items() if now - t < HELD_S}
        return np.sum([KEYS[key] for key in self._held], axis=0) + self._axes if self._held else self._axes

    def _on_event(self, event: Event) -> None:
        if event.kind != EventKind.CONTACT:
            self.show(f"{event.t_ns / 1e9:7.2f} s {event.kind}: {event.text}")


def stick(value: int) -> float:
    """Map -32767..32767 to -1..1, with a dead zone around the middle."""
    share = max(-1.0, min(1.0, value / 32767))
    return 0.0 if abs(share) < DEAD_ZONE else math.copysign((abs(share) - DEAD_ZONE) / (1.0 - DEAD_ZONE), share)


class Pad:
    """Turns joystick events into axes and keys: left stick climbs and turns, right stick flies forward and left."""

    def __init__(self, by_hand: ByHand) -> None:
        self._by_hand = by_hand
        self._axes = np.zeros(4)

    def event(self, data: bytes) -> None:
        if len(data) != _EVENT.size:
            return
        _, value, kind, number = _EVENT.unpack(data)
        kind &= 0x7F  # the driver marks the initial state of each axis and button
        if kind == 2:
            position = {0: (3, -TURN), 1: (2, -CLIMB), 3: (1, -SPEED), 4: (0, -SPEED)}.get(number)
            if position is not None:
                self._axes[position[0]] = stick(value) * position[1] * 2.0
                self._by_hand.put("axes", self._axes.copy())
        elif kind == 1 and value == 1:
            key = {0: "1", 1: "2", 2: " ", 7: "q"}.get(number)
            if key is not None:
                self._by_hand.put("key", key)


@contextmanager
def reading_keys(by_hand: ByHand) -> Iterator[None]:
    """Within this context the terminal delivers each key at once and without echo."""
    if not sys.stdin.isatty():
        raise LinkError("--keyboard needs a terminal; standard input is not one")
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        with _thread(lambda ending: _read(ending, terminal, KEYS_AT_ONCE, lambda data: _press(by_hand, data))):
            yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _press(by_hand: ByHand, data: bytes) -> None:
    """Arrow keys and the like arrive as ESC, [ and letters. They are ignored."""
    for key in re.sub(r"\x1b(\[[0-9;]*[A-Za-z~]|O.)?", "", data.decode("ascii", "replace")):
        by_hand.put("key", key)


@contextmanager
def reading_gamepad(by_hand: ByHand, path: Path = GAMEPAD) -> Iterator[None]:
    try:
        device = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise SetupError(f"no gamepad at {path}: {error.strerror}; plug one in, or use --keyboard") from None
    pad = Pad(by_hand)
    try:
        with _thread(lambda ending: _read(ending, device, _EVENT.size, pad.event)):
            yield
    finally:
        os.close(device)


@contextmanager
def _thread(work: Callable[[threading.Event], None]) -> Iterator[None]:
    ending = threading.Event()
    thread = threading.Thread(target=work, args=(ending,), name="skyloop by hand", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join(timeout=2.0)


def _read(ending: threading.Event, device: int, size: int, take: Callable[[bytes], None]) -> None:
    while not ending.is_set():
        if not select.select([device], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(device, size)
        except OSError:
            return
        if not data:
            return
        take(data)


def _log(line: str) -> None:
    log.info("%s", line)


class KeyboardConfig(LinkConfig):
    """Fly the first vehicle with the keys of this terminal."""

    kind: ClassVar[str] = "keyboard"
    pace: Factor = 1.0
    show: Callable[[str], None] = _log
    """Gets the keys' meanings and the vehicle's events."""

    def flown(self, scenario: Scenario) -> frozenset[str]:
        return frozenset([scenario.vehicles[0].name])

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        link = ByHand(inbox, self.show)
        link.read_from(self._device(link))
        return [link]

    def _device(self, link: ByHand) -> AbstractContextManager[None]:
        return reading_keys(link)


class GamepadConfig(KeyboardConfig):
    """Fly the first vehicle with the gamepad at /dev/input/js0."""

    kind: ClassVar[str] = "gamepad"

    def _device(self, link: ByHand) -> AbstractContextManager[None]:
        return reading_gamepad(link)
