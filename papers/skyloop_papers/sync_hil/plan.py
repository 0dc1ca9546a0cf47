"""The flights of `skyloop reproduce sync-hil` and their evaluation, fixed before the flights; see its page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_papers.experiment import ExperimentPlan

HOST, TARGET, FREE, REAL = "host", "target", "target, no sync", "target, real sensors"
BOARD = 0.1
"""The target's speed, 1 being this machine's: about that of one core of a Raspberry Pi 4."""
SENSORS = {"range": "rangefinder", "front": "camera"}
ACQUIRING = {
    HOST: {"range": 0.0441, "front": 0.0561},
    TARGET: {"range": 0.0492, "front": 0.2510},
    REAL: {"range": 0.0977, "front": 0.0374},
}
"""s that a sample of a sensor takes, on the target's cable or of the real sensor: the paper's Table I."""
SLOW_SIMULATOR = 0.1
"""Simulated s per wall s without synchronisation. The paper's simulator is slower than real time."""
FIRST_RUN = 20
"""Runs before it were flown for the plan before this one, or to try this one."""
WIND_KT = 0.0
"""Of the gusts. The scenarios have 2 kt; the paper flies indoors and tells of none."""
MOVED, TURNED_DEG = 0.1, 4.0
"""m east and north, and degrees: the largest offsets of a start."""
PRECISION = 0.02
"""rad within which the vehicle faces the anchor: the tasks' default."""
SAMPLES = 100
"""Samples of a sensor per run of Table I."""
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
    rate_hz: float | None = None
    """Of rangefinder and camera, if it is not the scenario's."""
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
        "Table I", "face-anchor", "sensor-characterisation", {HOST: 3, TARGET: 3, REAL: 3}, 600.0, rate_hz=100.0,
        about=f"{SAMPLES} samples, each of them new, of rangefinder and camera, standing",
    ),
    Table(
        "Table II", "face-anchor", "relative-position", {HOST: 10, TARGET: 10, REAL: 10}, 60.0, 12.0,
        about="relative position, hovering at 1.5 m",
    ),
    Table(
        "Table III", "face-anchor", "face-anchor", {HOST: 20, TARGET: 20, FREE: 20, REAL: 20}, 120.0, 5.0,
        about="face anchor, the anchor at the edge of the view and all of it inside",
    ),
    Table(
        "Table IV", "move-forward", "move-forward", {HOST: 12, TARGET: 12, FREE: 12}, 600.0,
        arguments=("--flight-speed", "0.135"), about="move forward, 8 m at 0.135 m/s",
    ),
    Table(
        "Table V", "closed-path", "closed-path", {HOST: 12, TARGET: 12, FREE: 12}, 120.0,
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
        f"{setup}: {sensor}": {SAMPLE: (ACQUIRING[setup][stream], None)}
        for setup in ACQUIRING
        for stream, sensor in SENSORS.items()
    },
    "Table II": {
        HOST: {ANGLE: (0.269, None), DISTANCE: (0.071, None), TIME: (0.513, None)},
        TARGET: {ANGLE: (0.158, None), DISTANCE: (0.112, None), TIME: (0.644, None)},
        REAL: {ANGLE: (0.285, None), DISTANCE: (0.083, None), TIME: (0.558, None)},
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
    board: float = BOARD
    acquiring: dict[str, dict[str, float]] = field(default_factory=lambda: ACQUIRING)
    slow_simulator: float = SLOW_SIMULATOR
    first_run: int = FIRST_RUN
    wind_kt: float = WIND_KT
    moved: float = MOVED
    turned_deg: float = TURNED_DEG
    precision: float = PRECISION
    samples: int = SAMPLES
    level: float = LEVEL

    def plain(self) -> dict[str, Any]:
        # as flown, without the numbers that were left at their defaults
        # what the scenario calls success and how long it lasts decide nothing here
        flown = {
            name: load_scenario(name).model_dump(mode="json", exclude_defaults=True, exclude={"success", "duration"})
            for name in sorted({table.scenario for table in self.tables})
        }
        return {**asdict(self), "scenarios": flown}


QUICK = SyncPlan(tuple(replace(each, runs=dict.fromkeys(each.runs, 2)) for each in TABLES[:3]))
"""Two runs each of Tables I to III."""


def run_of(table: Table, k: int) -> Scenario:
    """Run k: its own seed and a slightly moved and turned start, the same on every set-up."""
    base = load_scenario(table.scenario)
    # three ratios whose multiples are evenly spread and never coincide
    east, north, turned = (2.0 * ((0.5 + k * ratio) % 1.0) - 1.0 for ratio in (0.8191725, 0.6710436, 0.5497005))
    x, y = base.vehicles[0].position[:2]
    sensors = () if table.rate_hz is None else SENSORS
    return load_scenario(
        table.scenario,
        {
            "seed": 1 + k,
            "duration": table.limit,
            "wind.w20_kt": WIND_KT,
            "vehicles.drone.position": [x + MOVED * east, y + MOVED * north],
            "vehicles.drone.yaw_deg": base.vehicles[0].yaw_deg + table.turned_deg + TURNED_DEG * turned,
            **{f"vehicles.drone.sensors.{name}.rate_hz": table.rate_hz for name in sensors},
        },
    )
