"""Finds how slow the computer may be before the mission fails: one flight after the other, at different speeds."""

from __future__ import annotations

import csv
import json
import math
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from skyloop.campaigns.truth_judges import Judge
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import Target, compiled
from skyloop.recording.run_folder import Summary
from skyloop.run import run_scenario
from skyloop.sim.scenario import Scenario
from skyloop_client.calibration import Calibration, Ratio, calibrate, compared, read_calibration
from skyloop_client.errors import LinkError, SetupError, SkyloopError
from skyloop_client.regular_files import opened_text, read_text

CALIBRATION_SOURCE = Path(__file__).parents[3] / "clients" / "cpp" / "calibrate.cpp"
OUTPUT = "sut.txt"
"""The file with the SUT's output in a run folder. Its last line may be its result as JSON."""


@dataclass(frozen=True, slots=True)
class SizingFlight:
    """One flight with a computer of one speed."""

    speed: float
    """Speed of the computer. 1 is this machine."""
    seed: int
    success: bool
    """The SUT finished without an error, the vehicle did not crash, and the judge's error is within its limit."""
    error: float | None
    """The true error, measured by the judge. None without a judge."""
    told_success: bool | None
    """`success` of the SUT's result. It decides if there is no judge."""
    told_error: float | None
    """`error` of the SUT's result, if there is one."""
    time: float
    """Simulated s until the SUT was done."""
    computed: float
    """s of computation in the SUT's own time."""
    cycle_p50: float
    """Percentiles of the computation between an answer and the next question, s."""
    cycle_p90: float
    cycle_p99: float
    cycle_max: float
    vehicle_energy: float
    """J."""
    computer_energy: float
    """J."""
    deadlines_missed: int
    """Missed deadlines of the period, of the time between questions, and of tasks."""
    battery_left: float
    """State of charge of the vehicle's battery, which also feeds the SUT's computer. 1 is full."""
    trouble: str
    """The problem, in words."""


def size(
    scenario: Scenario,
    target_of: Callable[[float], Target],
    speeds: Sequence[float],
    folder: Path,
    *,
    runs: int = 3,
    options: LoopConfig | None = None,
    judge: Judge | None = None,
    progress: Callable[[SizingFlight], None] = lambda flight: None,
) -> list[SizingFlight]:
    """Fly with every speed and `runs` seeds. Writes a run folder per flight, a table and a plot."""
    flights = []
    for speed in sorted(speeds, reverse=True):
        for k in range(runs):
            seeded = scenario.model_copy(update={"seed": scenario.seed + k})
            run_folder = folder / f"speed-{speed:g}-seed-{seeded.seed}"
            flights.append(fly_once(seeded, target_of(speed), speed, run_folder, options or LoopConfig(), judge=judge))
            progress(flights[-1])
    write_table(flights, folder / "size.csv")
    plot(flights, folder / "size.png", scenario.name, judge)
    return flights


def fly_once(
    scenario: Scenario, target: Target, speed: float, folder: Path, options: LoopConfig, *, judge: Judge | None = None
) -> SizingFlight:
    summary: Summary = {}
    trouble = ""
    try:
        summary = run_scenario(scenario, folder, links=[options.model_copy(update={"target": target})])
    except SkyloopError as error:
        trouble = str(error)
        if (folder / "summary.json").exists():
            summary = json.loads(read_text(folder / "summary.json"))
    result = sut_result(folder / OUTPUT)
    vehicles = summary.get("vehicles", {})
    how = target.ended()
    if how is not None and not how.startswith("exit code 0"):
        trouble = trouble or how
    elif how is None and not options.pilots_inside:
        trouble = trouble or f"not done after {summary.get('simulated_s', 0.0):g} s"
    trouble = trouble or next((f"{name} crashed" for name, vehicle in vehicles.items() if vehicle["crashed"]), "")
    off = judge.error(folder, scenario, summary) if judge is not None and vehicles else None
    if judge is not None and off is not None and not off <= judge.limit:
        trouble = trouble or f"{off:.3g} {judge.unit}".rstrip() + f" error, not {judge.text}"
    claimed = bool(result["success"]) if "success" in result else None
    if judge is None and claimed is False:
        trouble = trouble or "the software says it failed"
    pilots = summary.get("links", {}).get("loop", {}).get("pilots", [])
    cycle: dict[str, float] = max((pilot["cycle_s"] for pilot in pilots), key=lambda one: one["count"], default={})
    return SizingFlight(
        speed=speed,
        seed=scenario.seed,
        success=not trouble,
        error=off,
        told_success=claimed,
        told_error=float(result["error"]) if isinstance(result.get("error"), int | float) else None,
        time=done_at(folder / "timeline.csv", float(summary.get("simulated_s", math.nan))),
        computed=sum(pilot["computed_s"] for pilot in pilots),
        **{f"cycle_{name}": float(cycle.get(name, math.nan)) for name in ("p50", "p90", "p99", "max")},
        vehicle_energy=sum(vehicle["energy_j"] for vehicle in vehicles.values()),
        computer_energy=sum(pilot["computer_energy_j"] for pilot in pilots),
        deadlines_missed=sum(pilot["deadlines_missed"] for pilot in pilots),
        battery_left=min((vehicle["battery_left"] for vehicle in vehicles.values()), default=math.nan),
        trouble=trouble,
    )


def done_at(timeline: Path, otherwise: float) -> float:
    """Simulated s of the last answer to the SUT."""
    if not timeline.exists():
        return otherwise
    with opened_text(timeline) as file:
        answered = [int(row["st_replied_ns"]) for row in csv.DictReader(file)]
    return max(answered) / 1e9 if answered else otherwise


def sut_result(path: Path) -> Summary:
    """The last line of the SUT's output, if it is a JSON object."""
    try:
        lines = read_text(path, errors="replace").strip().splitlines()
        result = json.loads(lines[-1]) if lines else {}
    except (OSError, ValueError):
        return {}
    return result if isinstance(result, dict) else {}


def speeds_from(text: str, count: int = 6) -> list[float]:
    """ "0.05..2" as `count` speeds in equal ratios, or "0.1,0.5,1" as they are."""
    try:
        if ".." in text:
            low, high = (float(part) for part in text.split(".."))
            steps = max(count - 1, 1)
            speeds = [low * (high / low) ** (k / steps) for k in range(steps + 1)]
        else:
            speeds = [float(part) for part in text.split(",")]
    except (ValueError, ZeroDivisionError):
        speeds = []
    if not speeds or not all(1e-3 <= speed <= 1e3 for speed in speeds):
        raise LinkError(f"--speed {text}: give LOW..HIGH or numbers with commas, each 0.001 to 1000")
    return [float(f"{speed:.3g}") for speed in speeds]


def slowest_good(flights: Sequence[SizingFlight]) -> float | None:
    """The slowest computer with which, and with every faster one, all flights succeeded."""
    good = None
    for speed in sorted({flight.speed for flight in flights}, reverse=True):
        if not all(flight.success for flight in flights if flight.speed == speed):
            break
        good = speed
    return good


def verdict(flights: Sequence[SizingFlight]) -> str:
    """The speed from which it succeeds, in words that claim no more than was tested."""
    tried, good = sorted({flight.speed for flight in flights}), slowest_good(flights)
    if good is None:
        better = any(flight.success for flight in flights)
        return "fails at the highest speed tried" if better else "fails at all speeds tried"
    if good == tried[0]:
        return f"succeeds at all speeds tried (lowest {good:g}; 1 is this machine)"
    below = tried[tried.index(good) - 1]
    return f"succeeds at speed {good:g} and above and fails at {below:g} (1 is this machine)"


def board_verdict(flights: Sequence[SizingFlight], speed: float) -> str:
    """Whether a board of this speed is fast enough, according to the flights."""
    good, tried = slowest_good(flights), sorted({flight.speed for flight in flights})
    if good is not None and speed >= good:
        return "fast enough" if speed <= tried[-1] else "faster than what was tried, and slower ones succeed"
    bad = [one for one in tried if good is None or one < good]
    if bad and speed <= bad[-1]:
        return "too slow" if speed >= tried[0] else "too slow, if slower is worse: slower than what was tried"
    if bad:
        return f"between {bad[-1]:g}, which fails, and {good:g}, which succeeds; try more steps there"
    return "slower than what was tried; try lower speeds"


def board_speed(path: Path) -> Ratio:
    """Speed of a board relative to this machine, which does the same work with the same program.

    `path`: the output of `skyloop-client calibrate` or calibrate.cpp there."""
    board = read_calibration(path)
    return compared(board, _cpp_here() if board.program.startswith("c++") else calibrate())


def _cpp_here() -> Calibration:
    if not CALIBRATION_SOURCE.is_file():
        raise SetupError("calibrate.cpp is only in a checkout of skyloop; use skyloop-client calibrate on both")
    said = subprocess.run([compiled(CALIBRATION_SOURCE)], capture_output=True, text=True, check=True).stdout
    plain = json.loads(said)
    return Calibration(plain["program"], plain["machine"], plain["rates"])


def write_table(flights: Sequence[SizingFlight], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(SizingFlight)])
        writer.writeheader()
        writer.writerows(asdict(flight) for flight in flights)


def plot(flights: Sequence[SizingFlight], path: Path, title: str, judge: Judge | None = None) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    speeds = sorted({flight.speed for flight in flights})
    error = "error, by its own word" if judge is None else f"true error ({judge.unit})".replace(" ()", "")
    rows: dict[str, list[float | None]] = {
        "time (s)": [flight.time for flight in flights],
        error: [flight.told_error if judge is None else flight.error for flight in flights],
    }
    rows = {label: values for label, values in rows.items() if any(value is not None for value in values)}
    n_rows = 1 + len(rows)
    figure, axes = pyplot.subplots(n_rows, 1, sharex=True, figsize=(8, 2.6 * n_rows), dpi=110, squeeze=False)
    shares = [100.0 * statistics.mean(f.success for f in flights if f.speed == s) for s in speeds]
    axes[0, 0].plot(speeds, shares, "o-", color="#2c6fbb")
    axes[0, 0].set_ylim(-5, 105)
    for values, axis in zip(rows.values(), axes[1:, 0], strict=True):
        for flight, value in zip(flights, values, strict=True):
            if value is not None:
                axis.plot(flight.speed, value, "o" if flight.success else "x", ms=5,
                          color="#2c6fbb" if flight.success else "#c0392b")  # fmt: skip
    if error in rows and judge is not None:
        axes[-1, 0].axhline(judge.limit, color="#999999", ls="--", lw=1)
    for label, axis in zip(("flights that succeeded (%)", *rows), axes[:, 0], strict=True):
        axis.set_ylabel(label)
        axis.grid(alpha=0.3, which="both")
        axis.set_xscale("log")
    axes[0, 0].set_title(f"{title}: how fast must the computer be?")
    axes[-1, 0].set_xlabel("speed of the computer (1: this one)")
    axes[-1, 0].set_xticks(speeds, [f"{speed:g}" for speed in speeds])
    axes[-1, 0].minorticks_off()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
