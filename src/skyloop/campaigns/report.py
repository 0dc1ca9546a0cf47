"""report.html of a campaign: how often it succeeds and on what that depends, the worst cases, and what it cost."""

from __future__ import annotations

import html
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.campaigns.folder import FAILED, REPORT, WORST, CampaignFolder, Row, unpack
from skyloop.campaigns.intervals import wilson
from skyloop.campaigns.plan import CampaignPlan
from skyloop.campaigns.search import worst_first
from skyloop.core.files import write_whole
from skyloop.datasets.report_html import figure, jpeg, page, plot, section, table
from skyloop.recording.run_folder import Summary
from skyloop_client.regular_files import checked, read_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GOOD, BAD, LOST = "#2a9d5c", "#d1495b", "#8d99a3"
BINS = 8
"""Of a parameter with more values than that."""
PANELS = 3
"""Side by side."""
MOST_METRICS = 3
MOST_PARAMETERS = 12


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """Runs with the same or similar values of a parameter."""

    label: str
    middle: float | None
    """None for values that are no numbers."""
    successes: int
    n: int


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def groups_of(rows: list[Row], name: str) -> list[OutcomeGroup]:
    """By value, or by equally filled ranges of a number with many values. Lost runs do not count."""
    judged = [row for row in rows if row["outcome"] != "lost" and name in row["parameters"]]
    values = [row["parameters"][name] for row in judged]
    good = np.array([row["outcome"] == "success" for row in judged], bool)
    distinct = list(dict.fromkeys(map(repr, values)))
    if len(distinct) <= BINS or not all(map(is_number, values)):
        if all(map(is_number, values)):
            distinct.sort(key=lambda text: float(text))
        keys = [repr(value) for value in values]
        groups = [(text.strip("'"), np.array([key == text for key in keys])) for text in distinct[: 3 * BINS]]
        return [_group(label, np.array(values, object)[chosen], good[chosen]) for label, chosen in groups]
    numbers = np.array(values, float)
    edges = np.unique(np.quantile(numbers, np.linspace(0.0, 1.0, BINS + 1)))
    which = np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, len(edges) - 2)
    return [
        _group(f"{edges[k]:.3g} to {edges[k + 1]:.3g}", numbers[which == k], good[which == k])
        for k in range(len(edges) - 1)
        if (which == k).any()
    ]


def _group(label: str, values: Any, good: Any) -> OutcomeGroup:
    numbers = all(map(is_number, values.tolist()))
    middle = float(np.mean(values.astype(float))) if numbers and len(values) else None
    return OutcomeGroup(
        label if not numbers or " to " in label else f"{values[0]:.4g}", middle, int(good.sum()), len(good)
    )


def success_plots(rows: list[Row], parameters: list[str], confidence: float) -> str:
    """A panel for each parameter: the share of successes with its interval, and how many runs it is of."""
    shown = [name for name in parameters[:MOST_PARAMETERS] if len(groups_of(rows, name)) > 1]

    def draw_one(axes: Axes, name: str) -> None:
        groups = groups_of(rows, name)
        positions = [group.middle for group in groups if group.middle is not None]
        if len(positions) < len(groups):
            positions = [float(k) for k in range(len(groups))]
            axes.set_xticks(positions, [group.label for group in groups], rotation=20 if len(groups) > 4 else 0)
            axes.margins(x=0.15)
        for position, group in zip(positions, groups, strict=True):
            low, high = wilson(group.successes, group.n, confidence)
            rate = group.successes / group.n
            axes.plot([position, position], [100 * low, 100 * high], color="#7f8c96", lw=1.6, solid_capstyle="butt")
            axes.plot(position, 100 * rate, "o", ms=6, color=GOOD if rate > 0.5 else BAD)
            axes.annotate(f"n={group.n}", (position, 100 * low), (0, -4), textcoords="offset points", ha="center",
                          va="top", fontsize=7, color="#5a6872")  # fmt: skip
        axes.set(xlabel=name, ylim=(-14, 104), yticks=range(0, 101, 20))
        axes.set_ylabel("success [%]")

    return _panels([partial(draw_one, name=name) for name in shown])


def scatter_plots(rows: list[Row], parameters: list[str], metrics: list[str]) -> str:
    """Where failures lie among two parameters, then metrics along parameters."""
    numeric = [name for name in parameters if all(is_number(row["parameters"].get(name)) for row in rows)]
    varied = [name for name in numeric if len({row["parameters"][name] for row in rows}) > 1]
    pairs = [(varied[i], varied[j]) for i in range(len(varied)) for j in range(i + 1, len(varied))][:PANELS]
    draws: list[Callable[[Axes], None]] = [
        partial(_points, rows=rows, x=_parameter(x), y=_parameter(y), names=(x, y)) for x, y in pairs
    ]
    measured = [name for name in metrics if any(is_number(row["metrics"].get(name)) for row in rows)][:MOST_METRICS]
    draws += [
        partial(_points, rows=rows, x=_parameter(x), y=_metric(y), names=(x, y))
        for y in measured
        for x in varied[:PANELS]
    ]
    return _panels(draws)


def _parameter(name: str) -> Callable[[Row], object]:
    return lambda row: row["parameters"].get(name)


def _metric(name: str) -> Callable[[Row], object]:
    return lambda row: row["metrics"].get(name)


def _points(
    axes: Axes, rows: list[Row], x: Callable[[Row], Any], y: Callable[[Row], Any], names: tuple[str, str]
) -> None:
    looks = (("success", GOOD, "o", 0.65), ("failed", BAD, "X", 0.9), ("lost", LOST, "s", 0.8))
    for outcome, colour, mark, alpha in looks:
        dots = [
            (x(row), y(row)) for row in rows if row["outcome"] == outcome and is_number(x(row)) and is_number(y(row))
        ]
        if dots:
            size = 26 if len(rows) < 400 else 10
            along, up = zip(*dots, strict=True)
            axes.scatter(along, up, s=size, c=colour, marker=mark, alpha=alpha, lw=0, label=outcome)
    axes.set(xlabel=names[0], ylabel=names[1])
    if len({row["outcome"] for row in rows}) > 1:
        axes.legend(frameon=False, fontsize=7, loc="best", handletextpad=0.2)


def _panels(draws: list[Callable[[Axes], None]]) -> str:
    """Rows of panels of one size; the last row is filled up with nothing."""
    out = []
    for first in range(0, len(draws), PANELS):
        row = draws[first : first + PANELS]

        def draw(*axes: Axes, row: list[Callable[[Axes], None]] = row) -> None:
            for one, panel in zip(axes, [*row, *[None] * (PANELS - len(row))], strict=True):
                panel(one) if panel is not None else one.set_axis_off()

        out.append(plot(draw, (10.6, 3.1), columns=PANELS))
    return "\n".join(out)


WORST_SHOWN = 6
PICTURE_WIDTH = 900
PICTURES = ("landing-*.png", "navigation-*.png", "people-*.png", "flight.png", "pictures.png", "*.png", "*.jpg")
"""What shows a run best comes first."""
MOST_LOST = 20

FlyAgain = Callable[[Sequence[Row]], dict[int, bytes]]


def write_report(held: CampaignFolder, plan: CampaignPlan, rows: list[Row], summary: Summary, again: FlyAgain) -> Path:
    worst = [row for row in worst_first(plan, rows) if row["outcome"] != "lost"][:WORST_SHOWN]
    folders = pictured(held, plan, worst, again)
    sections = [
        _numbers(summary),
        _by_parameter(plan, rows, summary["confidence"]),
        _scatter(plan, rows),
        _found(summary),
        _worst(plan, worst, folders, held.path),
        _metrics(rows),
        _lost(rows),
        _costs(rows, summary),
        _plan(held.path),
    ]
    path = held.path / REPORT
    write_whole(path, page(f"Campaign {plan.name}", in_words(summary), [part for part in sections if part]))
    return path


def in_words(summary: Summary) -> str:
    """The result in one line."""
    runs, rate = summary["runs"], summary["success_rate"]
    parts = [f"{runs} runs" if runs == summary["planned"] else f"{runs} of {summary['planned']} planned runs"]
    if rate is not None:
        low, high = summary["interval"]
        parts.append(
            f"{rate:.1%} succeeded ({summary['confidence']:.0%} interval: {low:.1%} to {high:.1%})".replace("%", " %")
        )
    parts += [f"{summary['failed']} failed"] if summary["failed"] else []
    parts += [f"{summary['lost']} lost"] if summary["lost"] else []
    return ", ".join(parts)


def pictured(held: CampaignFolder, plan: CampaignPlan, worst: list[Row], again: FlyAgain) -> dict[int, Path]:
    """The folders of the worst runs. One that was not kept whole is flown again: it is the same flight."""
    folders = {row["run"]: held.path / FAILED / f"{row['run']:06d}" for row in worst}
    bare = [row for row in worst if _picture(folders[row["run"]]) is None]
    for row in bare:
        folders[row["run"]] = held.path / WORST / f"{row['run']:06d}"
    missing = [row for row in bare if _picture(folders[row["run"]]) is None]
    if missing and plan.scenario is not None:
        for number, archive in again(missing).items():
            unpack(archive, folders[number], everything=True)
    return folders


def _picture(folder: Path) -> Path | None:
    return next((path for pattern in PICTURES for path in sorted(folder.glob(pattern))), None)


def _numbers(summary: Summary) -> str:
    keys = ("runs", "success", "failed", "lost")
    body = "".join(
        f'<td style="padding-right:44px"><div style="font-size:30px;line-height:1.1">{summary[key]}</div>{name}</td>'
        for key, name in zip(keys, ("runs", "succeeded", "failed", "lost"), strict=True)
    )
    rate = summary["success_rate"]
    if rate is not None:
        low, high = summary["interval"]
        body += (
            f'<td><div style="font-size:30px;line-height:1.1">{100 * rate:.1f} %</div>success rate, '
            f"{100 * low:.1f} to {100 * high:.1f} % with {100 * summary['confidence']:.3g} % confidence</td>"
        )
    note = "Lost runs gave no verdict; they are not in the success rate." if summary["lost"] else ""
    return section("Result", f"<table><tr>{body}</tr></table>", note)


def _by_parameter(plan: CampaignPlan, rows: list[Row], confidence: float) -> str:
    plots = success_plots(rows, plan.parameters, confidence)
    if not plots:
        return ""
    shown = []
    for name in plan.parameters:
        groups = groups_of(rows, name)
        shown += [(name, group.label, group.successes, group.n) for group in groups] if len(groups) > 1 else []
    details = table(("parameter", "value", "successes", "runs"), shown)
    note = f"Dots: the share of runs that succeeded; lines: Wilson's interval, {100 * confidence:.3g} %."
    return section("Success by parameter", f"{plots}\n<details><summary>the numbers</summary>{details}</details>", note)


def _scatter(plan: CampaignPlan, rows: list[Row]) -> str:
    metrics = list(dict.fromkeys(name for row in rows for name in row["metrics"]))
    plots = scatter_plots(rows, plan.parameters, metrics)
    return section("Runs", plots, "Each mark is a run.") if plots else ""


def _found(summary: Summary) -> str:
    search = summary.get("search")
    if search is None or search["worst"] is None:
        return ""
    worst = search["worst"]
    rows = [("worst run", str(worst["run"])), ("outcome", worst["outcome"]), ("cause", worst["cause"] or "–")]
    rows += [(name, _shown(value)) for name, value in {**worst["parameters"], **worst["metrics"]}.items()]
    rows += [(f"failures between, {name}", f"{low:.4g} and {high:.4g}") for name, (low, high) in
             search["failed_between"].items()]  # fmt: skip
    note = "The worst that this search has found. It proves no limit: a longer search may find worse."
    return section("The search for the worst case", table(("", ""), rows), note)


def _worst(plan: CampaignPlan, worst: list[Row], folders: dict[int, Path], folder: Path) -> str:
    shown = []
    for row in worst:
        run_folder = folders[row["run"]]
        values = ", ".join(f"{name} {_shown(value)}" for name, value in row["parameters"].items())
        metrics = ", ".join(f"{name} {_shown(value)}" for name, value in row["metrics"].items())
        verdict = f"failed: {row['cause']}" if row["outcome"] == "failed" else "succeeded"
        caption = f"Run {row['run']}, seed {row['seed']}: {verdict}. {values}. {metrics}."
        picture = _picture(run_folder)
        body = figure(_small(picture), caption) if picture is not None else f"<p>{html.escape(caption)}</p>"
        again = run_folder.relative_to(folder) / "scenario.yaml"
        if (folder / again).exists():
            body += f"<p class=note><code>skyloop run {html.escape(again.as_posix())}</code> flies it again.</p>"
        shown.append(f"<div>{body}</div>")
    if not shown:
        return ""
    grid = '<div class="grid" style="grid-template-columns:repeat(auto-fill,minmax(460px,1fr));gap:22px">'
    title = "Worst cases" if any(row["outcome"] == "failed" for row in worst) else "Worst cases (none failed)"
    return section(title, grid + "\n".join(shown) + "</div>")


def _small(path: Path) -> str:
    import numpy as np
    from PIL import Image

    with Image.open(checked(path)) as opened:
        image = opened.convert("RGB")
    if image.width > PICTURE_WIDTH:
        image = image.resize(
            (PICTURE_WIDTH, round(image.height * PICTURE_WIDTH / image.width)), Image.Resampling.LANCZOS
        )
    return jpeg(np.asarray(image))


def _metrics(rows: list[Row]) -> str:
    shown: list[tuple[object, ...]] = []
    for name in dict.fromkeys(name for row in rows for name in row["metrics"]):
        values = [float(row["metrics"][name]) for row in rows if is_number(row["metrics"].get(name))]
        if values:
            sd = statistics.stdev(values) if len(values) > 1 else "–"
            middle = statistics.median(values)
            shown.append((name, len(values), statistics.fmean(values), sd, min(values), middle, max(values)))
    head = ("metric", "runs", "mean", "sd", "least", "median", "most")
    return section("Metrics", table(head, shown)) if shown else ""


def _lost(rows: list[Row]) -> str:
    lost = [row for row in rows if row["outcome"] == "lost"]
    again = [row for row in rows if row["outcome"] != "lost" and row["attempts"] > 1]
    if not lost and not again:
        return ""
    body = ""
    if lost:
        causes = Counter(row["cause"] for row in lost).most_common(MOST_LOST)
        body = table(("runs", "cause"), [(count, cause) for cause, count in causes])
    note = f"{len(again)} runs were made more than once, because a worker or process was lost, and then gave a verdict."
    return section("Lost runs", body, note if again else "The same command tries lost runs again.")


def _costs(rows: list[Row], summary: Summary) -> str:
    spent = [row["processor_s"] for row in rows if row["outcome"] != "lost"]
    if not spent:
        return ""
    machine = summary["machine"]
    shown = [
        ("processor time of a run", f"{statistics.fmean(spent):.3g} s in the mean, {max(spent):.3g} s at most"),
        ("processor time of all", f"{sum(spent):.4g} s"),
        ("made by the last start", f"{summary['made_now']} runs in {summary['wall_s']:.4g} s"),
        ("machine that led it", f"{machine['cpu']}, {machine['cores']} cores, {machine['os']}"),
    ]
    return section("Cost", table(("", ""), shown))


def _plan(folder: Path) -> str:
    files = {name: html.escape(read_text(folder / name)) for name in ("plan.json", "versions.json")}
    body = "".join(f"<details><summary>{name}</summary><pre>{text}</pre></details>" for name, text in files.items())
    return section("Plan", body)


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value if isinstance(value, str) else json.dumps(value))
