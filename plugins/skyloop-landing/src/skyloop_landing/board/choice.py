"""The boards that can land a vehicle, with the detector and the controller of `skyloop_landing.vision`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skyloop_client.errors import SetupError, unknown_name
from skyloop_landing.board.board_lines import SerialBoard, open_line
from skyloop_landing.board.board_turns import BoardProgram, LandingBoard, ObjectWords, TurningBoard
from skyloop_landing.board.landing_link import Fabric
from skyloop_landing.board.python_program import PythonProgram, ReferenceMind
from skyloop_landing.board.qemu_board import CLOCK_HZ, QemuProgram
from skyloop_landing.vision.control import LandingControlConfig
from skyloop_landing.vision.figures import Rules
from skyloop_landing.vision.object_list import MIN_CONTRAST, ObjectFinder, Pixels

BOARDS = ("python", "qemu", "arty:/dev/ttyUSB1", "pty:PATH", "tcp:HOST:PORT")
PYTHON_TURN_NS = 10_000
"""Simulated time of a turn of the board in Python: about that of the firmware, so that the two can be compared."""
CHOICES: dict[str, tuple[object, ...]] = {
    "altitude_filter": (False, True), "second_stage": ("published", "held", "aligned"), "when_lost": ("climb", "go on"),
}  # fmt: skip
"""Of the configuration; the firmware has their numbers, from 0."""


def firmware_numbers(config: LandingControlConfig) -> Sequence[float]:
    """The configuration as `struct control_config` in plugins/skyloop-landing/firmware/control.h has it."""
    values = config.model_dump()
    return [float(CHOICES[name].index(value) if name in CHOICES else value) for name, value in values.items()]


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


LOGICS: dict[str, type[ReferenceFabric] | type[AmaranthFabric]] = {
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
    logic: str = "reference"
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
    return TurningBoard(program, slower=options.slower, latency_ns=round(options.latency * 1e9)), fabric
