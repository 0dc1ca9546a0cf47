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
    """What is flown once in each round."""

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
    frames: int = 300
    runs: int = 12
    """Rounds. One with the radar is flown in the first of them."""
    radar_runs: int = 3
    world: str = "park"
    cables: tuple[str, ...] = tuple(CABLES)

    def round(self, k: int) -> Iterator[Setup]:
        for cable in self.cables:
            for configuration in CONFIGURATIONS:
                if configuration.apart or not cable:
                    yield Setup(configuration, cable, False)
        if k < self.radar_runs:
            yield from (Setup(configuration, "", True) for configuration in CONFIGURATIONS)

    def plain(self) -> dict[str, Any]:
        configurations = [asdict(configuration) for configuration in CONFIGURATIONS]
        return {**asdict(self), "rate_hz": RATE_HZ, "level": LEVEL, "configurations": configurations}
