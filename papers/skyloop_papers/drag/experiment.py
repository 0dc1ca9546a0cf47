"""`skyloop reproduce drag`: section 3 of papers/depth-noise-and-rotor-drag, in truths that differ from both models.

For each truth both models are identified on one flight. Then they predict the acceleration of the other flights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.drag.flights import (
    AIRFRAME,
    CALIBRATION,
    CONTROL,
    FLIGHTS,
    QUICK_FLIGHTS,
    RATE_HZ,
    TRUTHS,
    DragFlight,
    Record,
    Truth,
    record_flight,
)
from skyloop_papers.drag.models import (
    PUBLISHED_MEAN_RATIO,
    PUBLISHED_RATIO_AT_26,
    PUBLISHED_RMSE,
    Models,
    RotorDrag,
    Score,
    TruthTrial,
    axis_errors,
    identify,
    time_evaluation,
)
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.plots import INK, figure
from skyloop_papers.runs import Progress, RunWorkers
from skyloop_papers.tables import Cells, Form, lines, table

FORCES = {"true": "truth", "imu": "MPU6000"}
"""The accelerations that count as measured, in identification and in evaluation."""
ROTOR, LINEAR, RATIO = "eq. 13", "eq. 5", "eq. 5 / eq. 13"
MODELS = {"linear": LINEAR, "rotor": ROTOR}
PUBLISHED_TIME = 4.36
"""µs."""


@dataclass(frozen=True, slots=True)
class DragPlan(ExperimentPlan):
    truths: tuple[Truth, ...] = (*TRUTHS, CONTROL)
    flights: tuple[DragFlight, ...] = FLIGHTS

    def plain(self) -> dict[str, Any]:
        return {
            "airframe": AIRFRAME,
            "rate_hz": RATE_HZ,
            "truths": [asdict(truth) for truth in self.truths],
            "flights": [asdict(flight) for flight in (CALIBRATION, *self.flights)],
            "published": [PUBLISHED_MEAN_RATIO, PUBLISHED_RATIO_AT_26, PUBLISHED_TIME, *PUBLISHED_RMSE.values()],
        }


class DragExperiment(Experiment[DragPlan, list[TruthTrial]]):
    paper = "depth-noise-and-rotor-drag"
    plans = DragPlan(), DragPlan(TRUTHS, QUICK_FLIGHTS)
    rules = (
        Rule("other", "a test of the test: the air is the rotor model itself", row="control"),
        Rule("speed", "not named", row="one drag evaluation.*"),
        Rule("other", "mass, airframe and paths of the paper's flights are not published", column=".*, eq. (5|13), .*"),
        Rule("repeat", "the same flights by the true acceleration; the paper has an IMU's", column=".*truth"),
        Rule("repeat", "the same flights in other air; the first one counts", row="B|C"),
        Rule("same", "the air here is not the model that is judged; see the page", row="A"),
    )
    pictures = ("drag.png",)
    resumes = False
    not_run_by_run = "it keeps no single runs"

    def fly(self, plan: DragPlan, folder: Path, progress: Progress, workers: RunWorkers) -> list[TruthTrial]:
        return [try_truth(truth, plan.flights) for truth in plan.truths]

    def judge(self, plan: DragPlan, runs: list[TruthTrial]) -> list[Cell]:
        return [cell for trial in runs for cell in trial_cells(trial)] + timing_cells(runs[0])

    def write(self, folder: Path, plan: DragPlan, runs: list[TruthTrial], cells: Sequence[Cell]) -> None:
        plot_trials(runs, folder / "drag.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        """Errors are against the true acceleration, in brackets against an MPU6000."""
        by = Cells(cells)
        times = (cell for cell in cells if cell.unit == "µs")
        return {"results": _flights(by), "identified": _identified(by), "times": lines(times, TIMES, right=None)}

    def sentences(self, cells: Sequence[Cell]) -> list[str]:
        return _sentences(Cells(cells))


EXPERIMENT = DragExperiment()


def try_truth(truth: Truth, flights: tuple[DragFlight, ...]) -> TruthTrial:
    calibration = record_flight(truth.drag, CALIBRATION)
    models: Models = {}
    for force in FORCES:
        linear, rotor = identify(calibration, measured(calibration, force))
        models[force] = {"linear": linear, "rotor": rotor}
    return TruthTrial(truth, models, tuple(_score(truth, flight, models) for flight in flights))


def measured(record: Record, force: str) -> Array:
    return record.true_specific_force if force == "true" else record.imu_specific_force


def _score(truth: Truth, flight: DragFlight, models: Models) -> Score:
    record = record_flight(truth.drag, flight)
    errors = {
        force: {name: axis_errors(model, record, measured(record, force)) for name, model in by_name.items()}
        for force, by_name in models.items()
    }
    return Score(flight, len(record.thrust), record.mean_speed, record.largest_tilt_deg, errors)


def trial_cells(trial: TruthTrial) -> list[Cell]:
    """RMSE and ratio of every flight, then the mean ratio over Fig. 16's flights."""
    cells, key = [], trial.truth.key
    for score in trial.scores:
        flight, n, of_table_2 = score.flight, score.samples, score.flight.table == "Table 2"
        for force, name in FORCES.items():
            about = {
                **_conditions(trial, name), "trajectory": flight.trajectory, "mean_speed": score.mean_speed,
                "largest_tilt_deg": score.largest_tilt_deg,
            }  # fmt: skip
            for model, equation in MODELS.items():
                published = PUBLISHED_RMSE[flight.speed, model] if of_table_2 else None
                more = {
                    "model": equation, "identified": asdict(trial.models[force][model]),
                    "rmse_along_body_axes": score.errors[force][model].tolist(),
                }  # fmt: skip
                column, rmse = f"{flight.label}, {equation}, {name}", score.rmse(force, model)
                cells.append(Cell(flight.table, key, column, published, rmse, "m/s²", n, None, {**about, **more}))
            published = PUBLISHED_RATIO_AT_26 if flight.label == "circle 26 m/s" else None
            if of_table_2:
                published = PUBLISHED_RMSE[flight.speed, "linear"] / PUBLISHED_RMSE[flight.speed, "rotor"]
            column, ratio = f"{flight.label}, {RATIO}, {name}", score.ratio(force)
            cells.append(Cell(flight.table, key, column, published, ratio, "1", n, None, about))
    for force, name in FORCES.items():
        mean, n = trial.mean_ratio(force), len(trial.of("Fig. 16"))
        about = {**_conditions(trial, name), "mean": "of the ratios of the flights"}
        column = f"mean of {RATIO}, {name}"
        cells.append(Cell("Fig. 16", key, column, PUBLISHED_MEAN_RATIO, mean, "1", n, None, about))
    return cells


def _conditions(trial: TruthTrial, force: str) -> dict[str, Any]:
    return {
        "airframe": AIRFRAME, "truth": trial.truth.label, "drag": trial.truth.drag, "measured": force,
        "thrust": "static curve from rotor speeds", "calibration": CALIBRATION.label, "wind": "calm",
        "rate_hz": RATE_HZ,
    }  # fmt: skip


def timing_cells(trial: TruthTrial) -> list[Cell]:
    """Eq. (13) with the rotation into body axes: inside compiled code, and as one call from Python."""
    model = trial.models["true"]["rotor"]
    assert isinstance(model, RotorDrag)
    cells = []
    for how, rows, calls in (("compiled", 10_000, 10), ("called from Python", 1, 2_000)):
        taken = time_evaluation(model, rows=rows, calls=calls)
        mean, sd = float(np.mean(taken)), float(np.std(taken, ddof=1))
        about = {"rows_per_call": rows, "calls": calls, "paper": "their hardware, not stated beside the figure"}
        row = f"one drag evaluation, {how}"
        cells.append(Cell("text", row, "", PUBLISHED_TIME, mean, "µs", len(taken), sd, about))
    return cells


# ---- the page


def _both(cells: Cells, key: str, flight: str, what: str, digits: int) -> str:
    """The error against the truth, and in brackets against an MPU6000."""
    true, imu = (cells.value(key, f"{flight}, {what}, {force}") for force in ("truth", "MPU6000"))
    return f"{true:.{digits}f} ({imu:.{digits}f})"


KEYS = [truth.key for truth in (*TRUTHS, CONTROL)]
TIMES: dict[str, Form] = {
    "time": "{name}", "measured, µs": "{ours:.3g} ± {sd:.1g}", "published, µs": "{published}",
}  # fmt: skip


def _flights(cells: Cells) -> str:
    rows = []
    for key in KEYS:
        for flight in FLIGHTS:
            linear, rotor = (_both(cells, key, flight.label, what, 3) for what in (LINEAR, ROTOR))
            published = [cells[key, f"{flight.label}, {what}, truth"].published for what in (LINEAR, ROTOR, RATIO)]
            shown = f"{published[0]:.3g} / {published[1]:.3g}" if published[0] else ""
            shown = shown or (f"ratio {published[2]:.3g}" if published[2] else "")
            rows.append([key, flight.label, linear, rotor, _both(cells, key, flight.label, RATIO, 2), shown])
        mean = [cells.value(key, f"mean of {RATIO}, {force}") for force in ("truth", "MPU6000")]
        shown = f"{mean[0]:.2f} ({mean[1]:.2f})"
        rows.append([key, "mean ratio of Fig. 16's flights", "", "", shown, f"ratio {PUBLISHED_MEAN_RATIO}"])
    return table(["truth", "flight", "linear, eq. 5", "rotor, eq. 13", "ratio", "published"], rows)


def _identified(cells: Cells) -> str:
    rows = []
    for key in KEYS:
        linear, rotor = (cells[key, f"{FLIGHTS[0].label}, {what}, truth"].conditions for what in (LINEAR, ROTOR))
        d = ", ".join(f"{value:.3f}" for value in linear["identified"]["d"])
        found = rotor["identified"]
        rows.append([key, linear["truth"], d, f"{found['alpha']:.4f}, {found['beta']:.3f}"])
    return table(["truth", "drag flown", "D of eq. 5, N/(m/s)", "α, β of eq. 13"], rows)


def _sentences(cells: Cells) -> list[str]:
    """The numbers that the text of the page repeats."""

    def ratio(key: str, flight: str, force: str = "truth") -> str:
        return f"{cells.value(key, f'{flight}, {RATIO}, {force}'):.2f}"

    def along(key: str, axis: int) -> str:
        """Errors of both models along a body axis at 26 m/s, eq. 5 first."""
        found = (cells[key, f"circle 26 m/s, {what}, truth"].conditions for what in (LINEAR, ROTOR))
        return " ".join(f"{conditions['rmse_along_body_axes'][axis]:.2f}" for conditions in found)

    tilts = [cells[key, f"circle 26 m/s, {ROTOR}, truth"].conditions["largest_tilt_deg"] for key in "ABC"]
    fast = [ratio(key, "circle 26 m/s") for key in "ABC"]
    legs = [ratio(key, "80 m legs 10 m/s") for key in "ABC"]
    control = [
        cells.value("control", f"{flight.label}, {RATIO}, truth") for flight in FLIGHTS if flight.table == "Fig. 16"
    ]
    x5, x13 = along("A", 0).split()
    z5, z13 = along("A", 2).split()
    slow = ", ".join(ratio(key, "80 m legs 5 m/s", "MPU6000") for key in ("A", "B", "control"))
    return [
        f"At 26 m/s the ratio is {fast[0]} (A), {fast[1]} (B) and {fast[2]} (C)",
        f"here {legs[0]} (A), {legs[1]} (B), {legs[2]} (C)",
        f"rotor model is {int(np.floor(min(control)))} to {int(np.floor(max(control)))} times better",
        f"along body x are {x5} (eq. 5) and {x13} (eq. 13)",
        f"along body z {z5} and {z13}",
        f"tilted by {round(min(tilts))}° to {round(max(tilts))}°",
        f"A, B and the control ({slow})",
        f"from {ratio('control', 'circle 1.5 m/s', 'MPU6000')} at 1.5 m/s to "
        f"{float(ratio('control', 'circle 26 m/s', 'MPU6000')):.1f} at 26 m/s",
    ]


# ---- the picture: error over speed in each truth, the ratios, and Table 2

RED, BLUE, GREY = "#d1495b", "#1f77b4", "#8a929a"
TRUTH_COLOURS = ("#2a9d5c", "#e08e1b", "#8a63b8", "#4b7f8c")
CURVES = {"linear": ("linear drag, eq. 5", RED), "rotor": ("rotor drag, eq. 13", BLUE)}
MARKERS = {"circle": "o", "lemniscate": "s", "80 m legs": "^"}


def plot_trials(trials: list[TruthTrial], path: Path) -> None:
    title = "F450: error of the predicted acceleration; both models identified on one flight per truth"
    with figure(path, (12.5, 7.4), title) as drawn:
        rows = drawn.subfigures(2, 1)
        _errors(rows[0], trials)
        ratios, table = rows[1].subplots(1, 2, width_ratios=(1, 1.2))
        _ratios(ratios, trials)
        _table_2(table, trials)


def _errors(row: Any, trials: list[TruthTrial]) -> None:
    from matplotlib.lines import Line2D

    axes = row.subplots(1, len(trials), sharey=True)
    for axis, trial in zip(axes, trials, strict=True):
        for name, (_, colour) in CURVES.items():
            curve = sorted(trial.of("Fig. 16"), key=lambda score: score.flight.speed)
            axis.plot([s.flight.speed for s in curve], [s.rmse("true", name) for s in curve], color=colour, lw=1.4)
            for score in trial.scores:
                kind = score.flight.label.rsplit(" ", 2)[0]
                axis.plot(
                    score.flight.speed, score.rmse("true", name), MARKERS[kind], color=colour, ms=6,
                    mfc=colour if kind != "80 m legs" else "white",
                )  # fmt: skip
        axis.set(yscale="log", xlabel="speed [m/s]", xlim=(0, 28), title=_title(trial))
    axes[0].set_ylabel("RMSE [m/s²], true acceleration")
    handles = [Line2D([], [], color=colour, lw=2, label=label) for label, colour in CURVES.values()]
    handles += [
        Line2D([], [], color=INK, marker=m, ls="", mfc=INK if k != "80 m legs" else "white", label=k)
        for k, m in MARKERS.items()
    ]
    row.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _title(trial: TruthTrial) -> str:
    word = "" if trial.truth.key == "control" else "truth "
    return f"{word}{trial.truth.key}: {trial.truth.label}".replace(" + axial", "\n+ axial")


def _ratios(axis: Any, trials: list[TruthTrial]) -> None:
    for trial, colour in zip(trials, TRUTH_COLOURS, strict=False):
        curve = sorted(trial.of("Fig. 16"), key=lambda score: score.flight.speed)
        for force, style in (("true", "o-"), ("imu", "o:")):
            label = f"{trial.truth.key}, mean {trial.mean_ratio(force):.2f}"
            axis.plot(
                [score.flight.speed for score in curve], [score.ratio(force) for score in curve], style,
                color=colour, lw=1.3, ms=3.5, label=label + (", MPU6000" if force == "imu" else ""),
            )  # fmt: skip
    axis.axhline(1.0, color=INK, lw=0.8)
    mean, fast = PUBLISHED_MEAN_RATIO, PUBLISHED_RATIO_AT_26
    axis.axhline(mean, color=GREY, ls="--", lw=1.4, label=f"paper, mean {mean}")
    axis.plot(26.0, fast, "*", color=GREY, ms=12, label=f"paper, 26 m/s: {fast}")
    axis.set(
        yscale="log", xlim=(0, 28), xlabel="speed [m/s]", ylabel="RMSE eq. 5 / RMSE eq. 13",
        title="Fig. 16: above 1 the rotor model is better",
    )  # fmt: skip
    ticks = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _table_2(axis: Any, trials: list[TruthTrial]) -> None:
    """Groups of bars: the paper and each truth, at each speed; both models side by side."""
    middles, names = [], []
    speeds = sorted({score.flight.speed for score in trials[0].of("Table 2")})
    for i, speed in enumerate(speeds):
        groups = [("paper", {name: PUBLISHED_RMSE[speed, name] for name in CURVES})]
        for trial in trials:
            score = next(s for s in trial.of("Table 2") if s.flight.speed == speed)
            groups.append((trial.truth.key, {name: score.rmse("imu", name) for name in CURVES}))
        for j, (name, rmse) in enumerate(groups):
            x = 1.3 * (i * (len(groups) + 0.6) + j)
            middles.append(x)
            names.append(name if j != len(groups) // 2 else f"{name}\n\n{speed:g} m/s")
            for shift, model in ((-0.29, "linear"), (0.29, "rotor")):
                bar = axis.bar(
                    x + shift, rmse[model], 0.56, color=CURVES[model][1], alpha=0.45 if j == 0 else 1.0,
                    hatch="//" if j == 0 else None, edgecolor="white",
                )  # fmt: skip
                axis.bar_label(bar, fmt="%.2f", fontsize=6.5, padding=1)
    axis.set_xticks(middles, names)
    axis.grid(visible=False, axis="x")
    axis.set(ylabel="RMSE [m/s²], MPU6000", title="Table 2: 80 m legs; hatched: the paper's real F450")
    axis.margins(y=0.12)
