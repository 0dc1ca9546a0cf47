"""The flights of `skyloop reproduce sync-hil` and their evaluation, fixed before the flights; see its page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_papers.experiment import ExperimentPlan

HOST, TARGET, FREE, DELAYED = "host", "target", "target, no sync", "real delays"
PUBLISHED_POSITION_S = 0.644
"""s that the paper's target needs for a relative position (Table II)."""
PUBLISHED_IMAGE_S = 0.0374
"""s of it that its camera needs (Table I)."""
COMPUTING_S = round(PUBLISHED_POSITION_S - PUBLISHED_IMAGE_S, 4)
"""s that remain for the board's computation. Its speed follows from this alone."""
SLOW_SIMULATOR = 0.1
"""Simulated s per wall s without synchronisation. The paper's simulator is slower than real time."""
MOVED, TURNED_DEG = 0.1, 4.0
"""m east and north, and degrees: the largest offsets of a start."""
PRECISION = 0.02
"""rad within which the vehicle faces the anchor: the tasks' default."""
SAMPLES = 100
"""Samples of a sensor per run of Table I."""
SENSORS = {"range": "rangefinder", "front": "camera"}
DELAYED_RATE_HZ = 100.0
"""Sensor rate in Table I with the real sensors' delays, so that the delay decides and not the rate."""
LEVEL = 0.05
"""Significance level for the family of claims after Holm's correction."""


@dataclass(frozen=True, slots=True)
class Table:
    """The flights of one table of the paper."""

    name: str
    scenario: str
    task: str
    runs: dict[str, int]
    """By set-up."""
    limit: float
    """s of simulated time, including take-off. A run that takes longer is unfinished."""
    turned_deg: float = 0.0
    """Offset of the start for all runs. An anchor cut off by the edge of the image would be measured wrong."""
    arguments: tuple[str, ...] = ()
    """Arguments of the software after the task's name."""
    delays: bool = False
    """Samples have the delays of the real sensors."""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the family: `one` is larger than `other`, or both are equal within the margin, in pairs by seed."""

    number: int
    text: str
    table: str
    score: str
    one: str
    other: str
    margin: float | None = None
    """In the unit of the score. None: `one` is larger."""

    @property
    def test(self) -> str:
        if self.margin is None:
            return "larger"
        return f"equal within {self.margin:g} {self.score.rpartition('(')[2].rstrip(')')}"


TABLES = (
    Table(
        "Table I", "face-anchor", "sensor-characterisation", {HOST: 10, TARGET: 10, DELAYED: 10}, 600.0,
        about=f"{SAMPLES} samples, each of them new, of rangefinder and camera, standing",
    ),
    Table(
        "Table II", "face-anchor", "relative-position", {HOST: 10, TARGET: 10}, 60.0, 12.0, delays=True,
        about="relative position, hovering at 1.5 m, delays of the real sensors in force",
    ),
    Table(
        "Table III", "face-anchor", "face-anchor", {HOST: 20, TARGET: 20, FREE: 20}, 120.0,
        about="face anchor, the anchor at the edge of the view",
    ),
    Table(
        "Table IV", "move-forward", "move-forward", {HOST: 12, TARGET: 12, FREE: 12}, 600.0,
        arguments=("--flight-speed", "0.135"), about="move forward, 8 m at 0.135 m/s",
    ),
    Table(
        "Table V", "closed-path", "closed-path", {HOST: 20, TARGET: 20, FREE: 10}, 120.0,
        arguments=("--distance", "3", "--flight-speed", "0.5"), about="closed path, four legs of 3 m at 0.5 m/s",
    ),
)  # fmt: skip
OSCILLATIONS, TIME, POSITION, ESTIMATE = "oscillations", "time (s)", "position error (m)", "estimate error (m)"
CLAIMS = (
    Claim(1, "the target oscillates more than the host", "Table III", OSCILLATIONS, TARGET, HOST),
    Claim(2, "the target takes longer than the host", "Table III", TIME, TARGET, HOST),
    Claim(3, "without synchronisation the oscillations are hidden", "Table III", OSCILLATIONS, TARGET, FREE),
    Claim(4, "without synchronisation it seems quicker", "Table III", TIME, TARGET, FREE),
    Claim(5, "the target is less precise than the host", "Table IV", POSITION, TARGET, HOST),
    Claim(6, "without synchronisation it seems more precise", "Table IV", POSITION, TARGET, FREE),
    Claim(7, "target and host take the same time", "Table IV", TIME, TARGET, HOST, 3.0),
    Claim(8, "the position error is the same on target and host", "Table V", POSITION, TARGET, HOST, 0.16),
    Claim(9, "the time is the same on target and host", "Table V", TIME, TARGET, HOST, 1.4),
    Claim(10, "the estimate error is the same on target and host", "Table V", ESTIMATE, TARGET, HOST, 0.11),
)


ANGLE, DISTANCE, SAMPLE = "angle error (deg)", "distance error (m)", "acquiring a sample (s)"
PUBLISHED: dict[str, dict[str, dict[str, tuple[float, float | None]]]] = {
    "Table I": {
        f"{HOST}: rangefinder": {SAMPLE: (0.0441, None)},
        f"{HOST}: camera": {SAMPLE: (0.0561, None)},
        f"{TARGET}: rangefinder": {SAMPLE: (0.0492, None)},
        f"{TARGET}: camera": {SAMPLE: (0.2510, None)},
        f"{DELAYED}: rangefinder": {SAMPLE: (0.0977, None)},
        f"{DELAYED}: camera": {SAMPLE: (0.0374, None)},
    },
    "Table II": {
        HOST: {ANGLE: (0.269, None), DISTANCE: (0.071, None), TIME: (0.513, None)},
        TARGET: {ANGLE: (0.158, None), DISTANCE: (0.112, None), TIME: (0.644, None)},
    },
    "Table III": {
        HOST: {OSCILLATIONS: (0.0, 0.0), TIME: (2.480, 0.033)},
        TARGET: {OSCILLATIONS: (1.0, 1.612), TIME: (9.242, 13.767)},
        FREE: {OSCILLATIONS: (0.0, 0.0), TIME: (2.504, 0.108)},
    },
    "Table IV": {
        HOST: {POSITION: (0.027, 0.0187), TIME: (59.689, 0.800)},
        TARGET: {POSITION: (0.106, 0.0440), TIME: (58.484, 0.517)},
        FREE: {POSITION: (0.046, 0.0454), TIME: (59.014, 0.960)},
    },
    "Table V": {
        HOST: {POSITION: (0.320, 0.256), ESTIMATE: (0.218, 0.131), TIME: (27.816, 1.242)},
        TARGET: {POSITION: (0.359, 0.301), ESTIMATE: (0.211, 0.195), TIME: (27.121, 1.815)},
        FREE: {POSITION: (0.328, 0.262), ESTIMATE: (0.245, 0.122), TIME: (26.899, 1.596)},
    },
}
"""By table, set-up and score: mean and standard deviation over ten runs."""


@dataclass(frozen=True, slots=True)
class SyncPlan(ExperimentPlan):
    """Everything that decides the content of the tables."""

    tables: tuple[Table, ...] = TABLES
    claims: tuple[Claim, ...] = CLAIMS
    computing_s: float = COMPUTING_S
    slow_simulator: float = SLOW_SIMULATOR
    moved: float = MOVED
    turned_deg: float = TURNED_DEG
    precision: float = PRECISION
    samples: int = SAMPLES
    delayed_rate_hz: float = DELAYED_RATE_HZ
    level: float = LEVEL

    def plain(self) -> dict[str, Any]:
        # as flown, without the numbers that were left at their defaults
        flown = {
            name: load_scenario(name).model_dump(mode="json", exclude_defaults=True)
            for name in sorted({table.scenario for table in self.tables})
        }
        return {**asdict(self), "scenarios": flown}


QUICK = SyncPlan(tuple(replace(each, runs=dict.fromkeys(each.runs, 2)) for each in TABLES[:3]))
"""Two runs each of Tables I to III."""


def run_of(table: Table, k: int, *, rate_hz: float | None = None) -> Scenario:
    """The k-th run: its own seed and a slightly moved and turned start, the same on every set-up.

    With `rate_hz`, rangefinder and camera have that rate."""
    base = load_scenario(table.scenario)
    # three ratios whose multiples are evenly spread and never coincide
    east, north, turned = (2.0 * ((0.5 + k * ratio) % 1.0) - 1.0 for ratio in (0.8191725, 0.6710436, 0.5497005))
    x, y = base.vehicles[0].position[:2]
    return load_scenario(
        table.scenario,
        {
            "seed": 1 + k,
            "duration": table.limit,
            "vehicles.drone.position": [x + MOVED * east, y + MOVED * north],
            **({} if rate_hz is None else {f"vehicles.drone.sensors.{name}.rate_hz": rate_hz for name in SENSORS}),
            "vehicles.drone.yaw_deg": base.vehicles[0].yaw_deg + table.turned_deg + TURNED_DEG * turned,
        },
    )
