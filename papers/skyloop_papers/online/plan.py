"""What `skyloop reproduce online` flies: the paper's three configurations and one more, over cables of three rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from skyloop_papers.experiment import ExperimentPlan

RATE_HZ = 20.0
CABLES = {"": "as fast as memory", "1gbit": "1 Gbit/s", "100mbit": "100 Mbit/s"}
"""By rate in the words of `tc`."""
PAPERS_CABLE = "1gbit"
"""Both of the paper's machines have ports of that rate."""
LEVEL = 0.05
"""Significance level of both comparisons together, after Holm's correction."""


@dataclass(frozen=True, slots=True)
class Configuration:
    name: str
    apart: bool
    spread: bool
    """A port for each sensor and one for commands."""
    published: float | None
    """Frames per second, without radar."""
    board: bool = False
    """The SUT runs beside the CUT and pulls from the engine, with a thread for each sensor."""

    def ports(self, radar: bool) -> int:
        return 5 + radar if self.spread else 1


CONFIGURATIONS = (
    Configuration("SUT and CUT on board, engine remote, one port", True, False, 8.45, board=True),
    Configuration("SUT with the engine, CUT remote, one port", True, False, 11.72),
    Configuration("SUT with the engine, CUT remote, a port each", True, True, 8.44),
    Configuration("all on one machine, one port", False, False, None),
)
ON_BOARD, ONE_PORT, PORT_EACH, _ = CONFIGURATIONS
PUBLISHED = {ON_BOARD: 11.72 / 8.45, PORT_EACH: 11.72 / 8.44}
"""How many times as fast as these the paper's one port with the SUT beside the engine is."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A configuration over a cable."""

    configuration: Configuration
    cable: str
    """Its rate."""
    radar: bool

    @property
    def name(self) -> str:
        joined = f", {CABLES[self.cable]}" if self.cable else ""
        return f"{self.configuration.name}{joined}, {'with' if self.radar else 'without'} radar"

    @property
    def file(self) -> str:
        return f"{CONFIGURATIONS.index(self.configuration)}-{self.cable or 'memory'}{'-radar' if self.radar else ''}"


@dataclass(frozen=True, slots=True)
class OnlinePlan(ExperimentPlan):
    turns: int = 20
    turn: int = 21
    """Frames. The first of a turn is not counted."""
    runs: int = 8
    """Of the set-ups over the paper's cable: as many as show a tenth more where rounds spread by 0.08."""
    other_runs: int = 2
    world: str = "park"
    cables: tuple[str, ...] = tuple(CABLES)
    radar: bool = True

    @property
    def frames(self) -> int:
        return self.turns * self.turn

    def rings(self, k: int) -> Iterator[list[Setup]]:
        """In round k: set-ups that take turns."""
        for cable in self.cables:
            if k < (self.runs if cable == PAPERS_CABLE else self.other_runs):
                yield [Setup(each, cable, False) for each in CONFIGURATIONS if each.apart or not cable]
        if self.radar and k < self.other_runs:
            yield [Setup(each, "", True) for each in CONFIGURATIONS]

    def plain(self) -> dict[str, Any]:
        configurations = [asdict(configuration) for configuration in CONFIGURATIONS]
        return {**asdict(self), "rate_hz": RATE_HZ, "level": LEVEL, "configurations": configurations}
