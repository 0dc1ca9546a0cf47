"""Lands a vehicle with a board: camera to video and object lists, rangefinder and commands over the serial line.

It is a link behind the link gate. Every poll reads the line at one instant of simulated time, so that two runs exchange
the same bytes at the same instants.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from skyloop.core.frames import yaw_from_quat
from skyloop.links.link_gate import Link, LinkGate
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import unknown_name
from skyloop_client.messages import Arm, Goal, Hover, Land, Request, Setpoint, TakeOff, Velocity
from skyloop_client.streams import Rate
from skyloop_landing.board.board_turns import LandingBoard, ObjectWords
from skyloop_landing.board.pc_procedure import PcProcedure, PcProcedureConfig, PcStep
from skyloop_landing.board.simulated_uart import SimulatedUart, StampedBytes, joined
from skyloop_landing.board.video_out import RATE_HZ, Image, VideoOut
from skyloop_landing.pilot import hovers_at

COMMANDER = "landing board"
POLLS_PER_IMAGE = 4
"""The line is looked at 240 times a second."""
HOVER_NS = 1_000_000_000
"""It has hovered at the start for so long before the landing begins."""
JOURNAL = "serial.csv"


class Fabric(Protocol):
    """The board's logic, or what stands in for it."""

    def find(self, image: Image, least_area: int) -> ObjectWords:
        """The list of dark objects of one image after the other."""


@dataclass(frozen=True, slots=True)
class LandingOptions:
    start: tuple[float, float, float]
    """m, world, where the landing begins."""
    start_yaw: float = 0.0
    """rad, counter-clockwise from east."""
    camera: str = "down"
    rangefinder: str = "range"
    takeoff_altitude: float = 2.0
    """m."""
    procedure: PcProcedureConfig = field(default_factory=PcProcedureConfig)
    polls_per_step: int = 1
    """Of the looks at the line, every how many the PC answers and obeys. 1: 240 times a second."""


class LandingLink(Link):
    """One vehicle, one board."""

    name = "landing"
    allows_realtime = False

    def __init__(
        self,
        board: LandingBoard,
        fabric: Fabric | None,
        options: LandingOptions,
        video: VideoOut | None = None,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        """fabric: None if the board has logic of its own, which sees the video."""
        self.board, self.options = board, options
        self._fabric, self._video = fabric, video
        self.procedure = PcProcedure(options.procedure, self._report)
        self._show = report
        self.news: list[str] = []
        """What was reported, with its time."""
        self._to_board, self._to_pc = (SimulatedUart() for _ in range(2))
        self._phase = "ground"
        self._ready_ns: int | None = None
        self._polls = 0
        self._altitude = math.nan
        self.images = 0
        """Images sent to the board."""
        self._journal: TextIO | None = None
        self._finished = False
        self._end: dict[str, object] = {}
        """Where the vehicle was in truth when the flight ended."""
        self._port: SimulationPort | None = None

    # ---- called by the link gate

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port, self._bus, self._vehicle = port, port.bus, next(iter(port.vehicles.values()))
        self._camera, self._rangefinder = (
            self._stream(name) for name in (self.options.camera, self.options.rangefinder)
        )
        if folder is not None:
            self._journal = (folder / JOURNAL).open("w", newline="", encoding="ascii")
            self._rows = csv.writer(self._journal)
            self._rows.writerow(["t_ns", "from", "bytes"])
        port.every(Rate(RATE_HZ * POLLS_PER_IMAGE), self._poll)

    def _stream(self, name: str) -> str:
        stream = f"{self._vehicle.name}/{name}"
        if stream not in self._bus.infos:
            own = [info.split("/", 1)[1] for info in self._bus.infos if info.startswith(f"{self._vehicle.name}/")]
            raise unknown_name(f"stream of {self._vehicle.name}", name, own)
        return stream

    @property
    def over(self) -> bool:
        if self.procedure.phase != "done":
            return False
        return self.procedure.gave_up or self._vehicle.status.landed

    def finish(self, why: str) -> None:
        if self._finished:
            return
        self._finished = True
        if self._port is not None:
            state = self._vehicle.truth
            self._end = {
                "landed": self._vehicle.status.landed, "position": [float(value) for value in state.position],
                "heading_deg": math.degrees(float(yaw_from_quat(state.quat_wxyz))),
            }  # fmt: skip
        self.close()

    def close(self) -> None:
        self.board.close()
        if self._video is not None:
            self._video.close()
        if self._journal is not None:
            self._journal.close()

    def summary(self) -> dict[str, Any]:
        procedure = self.procedure
        return {
            **self.board.summary(), "phase": self._phase if self._phase != "land" else procedure.phase,
            "start_to_landing_decision_s": self._since_start(procedure.decided_ns),
            "start_to_touchdown_s": self._since_start(procedure.landed_ns), "gave_up": procedure.gave_up,
            "images_sent": self.images, "lines_refused": procedure.refused_lines, "news": self.news, **self._end,
        }  # fmt: skip

    def _since_start(self, t_ns: int | None) -> float | None:
        began_ns = self.procedure.started_ns
        return None if t_ns is None or began_ns is None else (t_ns - began_ns) / 1e9

    def _report(self, text: str) -> None:
        self.news.append(f"{self._vehicle.now_ns / 1e9:.2f} s {text}")
        self._show(text)

    # ---- one poll

    def _poll(self, t_ns: int) -> None:
        if self._finished:
            return
        words = self._look(t_ns) if self._polls % POLLS_PER_IMAGE == 0 else None
        steps = self._polls % self.options.polls_per_step == 0
        self._polls += 1
        self._read_rangefinder()
        if self._phase != "land":
            self._fly_to_start(t_ns)
            step = PcStep()
        elif not steps:
            step = PcStep()
        else:
            received = self._received(t_ns)
            step = self.procedure.step(t_ns, received, self._altitude, self._vehicle.status.landed)
        self._exchange(t_ns, step.send, words)
        self._act(step)

    def _look(self, t_ns: int) -> ObjectWords | None:
        """The newest image goes out, again if there is no newer one, as on any video cable."""
        image = self._bus.latest(self._camera)
        if image is None:
            return None
        if self._video is not None:
            self._video.show(t_ns, image.colour)
        self.images += 1
        if self._fabric is None or self._phase != "land":
            # before the landing nobody reads the lists
            return None
        # also an image that is shown again: the logic then has its own threshold instead of that of the one before
        return self._fabric.find(image.colour, self.board.least_area)

    def _read_rangefinder(self) -> None:
        """A reading that did not come is not replaced by an older one."""
        newest = self._bus.newest(self._rangefinder)
        if newest is not None:
            self._altitude = newest.data.distance

    def _received(self, t_ns: int) -> bytes:
        data = joined(self._to_pc.received(t_ns))
        self._note(t_ns, "board", data)
        return data

    def _exchange(self, t_ns: int, data: bytes, words: ObjectWords | None) -> None:
        self._note(t_ns, "pc", data)
        if self.board.has_own_line:
            sent = self.board.advance(t_ns, [StampedBytes(t_ns, data)] if data else [], words)
            # it has travelled already
            self._to_pc.deliver(sent)
            return
        self._to_board.send(t_ns, data)
        for part in self.board.advance(t_ns, self._to_board.received(t_ns), words):
            self._to_pc.send(part.t_ns, part.data)

    def _act(self, step: PcStep) -> None:
        if step.lands:
            self._send(Land())
        elif step.hovers:
            self._send(Hover())
        elif step.motion is not None:
            self._send(Velocity(np.array(step.motion.velocity), frame="body", yaw_rate=step.motion.yaw_rate))

    def _send(self, *items: Setpoint | Request) -> None:
        self._vehicle.send(*items, by=COMMANDER)

    def _note(self, t_ns: int, who: str, data: bytes) -> None:
        if data and self._journal is not None:
            self._rows.writerow([t_ns, who, data.decode("latin-1").encode("unicode_escape").decode("ascii")])

    # ---- the way to the start

    @property
    def at_start(self) -> bool:
        """Whether it hovers where the landing begins, or lands already."""
        return self._phase == "land" or self._ready_ns is not None

    def _fly_to_start(self, t_ns: int) -> None:
        status, options = self._vehicle.status, self.options
        if self._phase == "ground":
            if not status.armed:
                if self._vehicle.knows_where:
                    self._send(Arm(), TakeOff(options.takeoff_altitude))
                return
            self._phase = "climb"
        if self._phase == "climb" and status.mode == "hover":
            self._send(Goal(np.array(options.start), options.start_yaw))
            self._phase = "approach"
        if self._phase == "approach" and self._is_ready(t_ns):
            self._phase = "land"

    def _is_ready(self, t_ns: int) -> bool:
        if not hovers_at(self._vehicle.belief, np.array(self.options.start), self.options.start_yaw):
            self._ready_ns = None
            return False
        if self._ready_ns is None:
            self._ready_ns = t_ns
        return t_ns - self._ready_ns >= HOVER_NS
