"""The output of `skyloop reproduce drag --out`: results as CSV, JSON and Markdown, and a picture."""

from __future__ import annotations

from pathlib import Path

from skyloop.core.results import Result
from skyloop_papers.drag.plot import plot_trials
from skyloop_papers.drag.scores import PUBLISHED_MEAN_RATIO, Score, TruthTrial
from skyloop_papers.result_files import write_results


def write_report(folder: Path, trials: list[TruthTrial], results: list[Result]) -> None:
    write_results(folder, results)
    (folder / "results.md").write_text(markdown(trials, results), encoding="utf-8")
    plot_trials(trials, folder / "drag.png")


def markdown(trials: list[TruthTrial], results: list[Result]) -> str:
    lines = [
        "# Linear and rotor drag: RMSE of predicted acceleration",
        "",
        "m/s² against the true acceleration, in brackets against an MPU6000. Ratio > 1: rotor model better.",
        "",
        "| truth | flight | linear, eq. 5 | rotor, eq. 13 | ratio | published |",
        "|---|---|---|---|---|---|",
    ]
    for trial in trials:
        lines += [_row(trial.truth.key, score, results) for score in trial.scores]
        mean = f"{trial.mean_ratio('true'):.2f} ({trial.mean_ratio('imu'):.2f})"
        cells = ("mean ratio of Fig. 16's flights", "", "", mean, f"ratio {PUBLISHED_MEAN_RATIO}")
        lines.append(f"| {trial.truth.key} | " + " | ".join(cells) + " |")
    lines += ["", "| truth | drag flown | D of eq. 5, N/(m/s) | α, β of eq. 13 |", "|---|---|---|---|"]
    for trial in trials:
        linear, rotor = trial.models["true"]["linear"], trial.models["true"]["rotor"]
        d = ", ".join(f"{value:.3f}" for value in linear.d)  # type: ignore[union-attr]
        numbers = f"{rotor.alpha:.4f}, {rotor.beta:.3f}"  # type: ignore[union-attr]
        lines.append(f"| {trial.truth.key} | {trial.truth.label} | {d} | {numbers} |")
    lines += ["", "| time | measured, µs | published, µs |", "|---|---|---|"]
    for result in results:
        if result.table == "text":
            lines.append(f"| {result.cell} | {result.measured:.3g} ± {result.sd:.1g} | {result.published} |")
    return "\n".join(lines) + "\n"


def _row(key: str, score: Score, results: list[Result]) -> str:
    def both(name: str) -> str:
        return f"{score.rmse('true', name):.3f} ({score.rmse('imu', name):.3f})"

    published = [
        f"{result.published:.3g}"
        for result in results
        if result.cell.startswith(f"{key}: {score.flight.label},")
        and result.cell.endswith("truth")
        and result.published is not None
    ]
    shown = " / ".join(published[:2]) if len(published) > 1 else "".join(f"ratio {p}" for p in published)
    ratio = f"{score.ratio('true'):.2f} ({score.ratio('imu'):.2f})"
    return f"| {key} | {score.flight.label} | {both('linear')} | {both('rotor')} | {ratio} | {shown} |"
