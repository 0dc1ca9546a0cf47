"""The picture of `skyloop reproduce drag`: error over speed in each truth, the ratios, and Table 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyloop_papers.drag.models import PUBLISHED_MEAN_RATIO, PUBLISHED_RATIO_AT_26, PUBLISHED_RMSE, TruthTrial
from skyloop_papers.plots import INK, figure

LINEAR, ROTOR, PAPER_COLOUR = "#d1495b", "#1f77b4", "#8a929a"
TRUTH_COLOURS = ("#2a9d5c", "#e08e1b", "#8a63b8", "#4b7f8c")
MODELS = {"linear": ("linear drag, eq. 5", LINEAR), "rotor": ("rotor drag, eq. 13", ROTOR)}
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
        for name, (_, colour) in MODELS.items():
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
    handles = [Line2D([], [], color=colour, lw=2, label=label) for label, colour in MODELS.values()]
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
    axis.axhline(mean, color=PAPER_COLOUR, ls="--", lw=1.4, label=f"paper, mean {mean}")
    axis.plot(26.0, fast, "*", color=PAPER_COLOUR, ms=12, label=f"paper, 26 m/s: {fast}")
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
        groups = [("paper", {name: PUBLISHED_RMSE[speed, name] for name in MODELS})]
        for trial in trials:
            score = next(s for s in trial.of("Table 2") if s.flight.speed == speed)
            groups.append((trial.truth.key, {name: score.rmse("imu", name) for name in MODELS}))
        for j, (name, rmse) in enumerate(groups):
            x = 1.3 * (i * (len(groups) + 0.6) + j)
            middles.append(x)
            names.append(name if j != len(groups) // 2 else f"{name}\n\n{speed:g} m/s")
            for shift, model in ((-0.29, "linear"), (0.29, "rotor")):
                bar = axis.bar(
                    x + shift, rmse[model], 0.56, color=MODELS[model][1], alpha=0.45 if j == 0 else 1.0,
                    hatch="//" if j == 0 else None, edgecolor="white",
                )  # fmt: skip
                axis.bar_label(bar, fmt="%.2f", fontsize=6.5, padding=1)
    axis.set_xticks(middles, names)
    axis.grid(visible=False, axis="x")
    axis.set(ylabel="RMSE [m/s²], MPU6000", title="Table 2: 80 m legs; hatched: the paper's real F450")
    axis.margins(y=0.12)
