"""The boards that can land a vehicle, with the detector and the controller of `skyloop_landing.vision`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from skyloop_client.errors import SetupError, unknown_name
from skyloop_landing.board.board_lines import SerialBoard, open_line
from skyloop_landing.board.board_turns import (
    BoardProgram,
    LandingBoard,
    LateBoard,
    ObjectWords,
    ThrottledProgram,
    TurningBoard,
)
from skyloop_landing.board.landing_link import Fabric
from skyloop_landing.board.python_program import Decision, PythonProgram
from skyloop_landing.board.qemu_board import CLOCK_HZ, QemuProgram
from skyloop_landing.vision.control import LAND, LandingControlConfig, LandingMemory, advance, measured
from skyloop_landing.vision.detector import MarkerSighting
from skyloop_landing.vision.figures import Rules, find_marker, min_area
from skyloop_landing.vision.object_list import MIN_AREA, MIN_CONTRAST, ObjectFinder, ObjectList, Pixels

BOARDS = ("python", "qemu", "arty:/dev/ttyUSB1", "pty:PATH", "tcp:HOST:PORT")
PYTHON_TURN_NS = 10_000
"""Simulated time of a turn of the board in Python: about that of the firmware, so that the two can be compared."""
AS_OURS = {"altitude_filter": True, "second_stage": "held"}
"""Choices of the configuration that the firmware has as 1; the other value is 0."""


class ReferenceMind:
    """The Python reference on a board. The firmware is the same in C, to the last bit."""

    def __init__(self, config: LandingControlConfig | None = None, rules: Rules = "touchdown") -> None:
        self._config, self._rules = config or LandingControlConfig(), rules
        self._memory, self._sighting = LandingMemory(), MarkerSighting()
        self.least_area = MIN_AREA

    def begin(self) -> None:
        self._memory, self._sighting = LandingMemory(), MarkerSighting()

    def measured(self, altitude_cm: int, t: float) -> None:
        self._memory = measured(self._memory, altitude_cm / 100.0, t, self._config)

    def decide(self, words: ObjectWords | None, sizes: tuple[int, int], t: float) -> Decision:
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
        if stage != LAND and not math.isnan(altitude):
            self.least_area = min_area(int(100.0 * altitude + 0.5), self._rules)
        forward, right, down = velocity
        return Decision(stage == LAND, (forward, right, down), yaw_rate_deg)


def firmware_numbers(config: LandingControlConfig) -> Sequence[float]:
    """The configuration as `struct control_config` in plugins/skyloop-landing/firmware/control.h has it."""
    values = config.model_dump()
    return [float(value == AS_OURS[name]) if name in AS_OURS else float(value) for name, value in values.items()]


class ReferenceFabric:
    """Stands in for the board's logic; the same lists, bit by bit."""

    def __init__(self, rules: Rules = "touchdown") -> None:
        # the published detector knows no flat tiles
        self._finder = ObjectFinder(min_contrast=0) if rules == "published" else ObjectFinder()

    def find(self, image: Pixels, least_area: int) -> ObjectWords:
        return self._finder.find(image, least_area).words()


class AmaranthFabric:
    """The logic itself, simulated clock by clock: 2 to 3 images a second."""

    def __init__(self, rules: Rules = "touchdown") -> None:
        try:
            from skyloop_landing.fpga.simulated import SimulatedFabric
        except ImportError as error:
            raise SetupError(f"the logic cannot be built ({error}); pip install 'skyloop-landing[fpga]'") from None
        self._fabric = SimulatedFabric(min_contrast=0 if rules == "published" else MIN_CONTRAST)

    def find(self, image: Pixels, least_area: int) -> ObjectWords:
        return self._fabric.objects_of(image, least_area)


Logic: TypeAlias = Literal["reference", "amaranth"]
LOGICS: dict[Logic, type[ReferenceFabric] | type[AmaranthFabric]] = {
    "reference": ReferenceFabric, "amaranth": AmaranthFabric,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoardOptions:
    """How the boards that run here are set up."""

    clock_mhz: float = CLOCK_HZ / 1e6
    """MHz of the emulated processor."""
    cycles_per_instruction: float = 1.0
    slower: float = 1.0
    """Every turn takes this many times as long."""
    latency: float = 0.0
    """s by which every answer comes later."""
    rules: Rules = "touchdown"
    control: LandingControlConfig = field(default_factory=LandingControlConfig)
    firmware: Path | None = None
    logic: Logic = "reference"
    """What makes the lists of objects for a board that runs here."""


def make_board(text: str, options: BoardOptions | None = None) -> tuple[LandingBoard, Fabric | None]:
    """`python`, `qemu`, `arty:/dev/ttyUSB1`, `pty:PATH` or `tcp:HOST:PORT`, and the logic before it if it has none."""
    options = options or BoardOptions()
    if text not in ("python", "qemu"):
        if ":" not in text:
            raise unknown_name("landing board", text, BOARDS)
        return SerialBoard(open_line(text)), None
    if options.logic not in LOGICS:
        raise unknown_name("logic", options.logic, LOGICS)
    fabric = LOGICS[options.logic](options.rules)
    program: BoardProgram
    if text == "python":
        program = PythonProgram(ReferenceMind(options.control, options.rules), execution_ns=PYTHON_TURN_NS)
    else:
        program = QemuProgram(
            options.firmware, clock_hz=options.clock_mhz * 1e6, rules=options.rules,
            cycles_per_instruction=options.cycles_per_instruction, config=firmware_numbers(options.control),
        )  # fmt: skip
    if options.slower != 1.0:
        program = ThrottledProgram(program, options.slower)
    board: LandingBoard = TurningBoard(program)
    if options.latency:
        board = LateBoard(board, round(options.latency * 1e9))
    return board, fabric
