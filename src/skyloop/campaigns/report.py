"""report.html of a campaign: how often it succeeds and on what that depends, the worst cases, and what it cost."""

from __future__ import annotations

import html
import json
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from skyloop.campaigns.folder import FAILED, REPORT, WORST, CampaignFolder, Row
from skyloop.campaigns.parcels import unpack
from skyloop.campaigns.plan import Plan
from skyloop.campaigns.report_plots import groups_of, is_number, scatter_plots, success_plots
from skyloop.campaigns.search import worst_first
from skyloop.core.files import write_whole
from skyloop.datasets.report_html import figure, jpeg, page, section, table

WORST_SHOWN = 6
PICTURE_WIDTH = 900
PICTURES = ("landing-*.png", "navigation-*.png", "people-*.png", "flight.png", "pictures.png", "*.png", "*.jpg")
"""What shows a run best comes first."""
MOST_LOST = 20

FlyAgain = Callable[[Sequence[Row]], dict[int, bytes]]


def write_report(held: CampaignFolder, plan: Plan, rows: list[Row], summary: dict[str, Any], again: FlyAgain) -> Path:
    worst = [row for row in worst_first(plan, rows) if row["outcome"] != "lost"][:WORST_SHOWN]
    places = pictured(held, plan, worst, again)
    sections = [
        _numbers(summary),
        _by_parameter(plan, rows, summary["confidence"]),
        _scatter(plan, rows),
        _found(summary),
        _worst(plan, worst, places, held.path),
        _metrics(rows),
        _lost(rows),
        _costs(rows, summary),
        _plan(held.path),
    ]
    path = held.path / REPORT
    write_whole(path, page(f"Campaign {plan.name}", in_words(summary), [part for part in sections if part]))
    return path


def in_words(summary: dict[str, Any]) -> str:
    """The result in one line."""
    runs, rate = summary["runs"], summary["success_rate"]
    told = [f"{runs} runs" if runs == summary["planned"] else f"{runs} of {summary['planned']} planned runs"]
    if rate is not None:
        low, high = summary["interval"]
        told.append(
            f"{rate:.1%} succeeded ({summary['confidence']:.0%} interval: {low:.1%} to {high:.1%})".replace("%", " %")
        )
    told += [f"{summary['failed']} failed"] if summary["failed"] else []
    told += [f"{summary['lost']} lost"] if summary["lost"] else []
    return ", ".join(told)


def pictured(held: CampaignFolder, plan: Plan, worst: list[Row], again: FlyAgain) -> dict[int, Path]:
    """The folders of the worst runs. One that was not kept whole is flown again: it is the same flight."""
    places = {row["run"]: held.path / FAILED / f"{row['run']:06d}" for row in worst}
    bare = [row for row in worst if _picture(places[row["run"]]) is None]
    for row in bare:
        places[row["run"]] = held.path / WORST / f"{row['run']:06d}"
    missing = [row for row in bare if _picture(places[row["run"]]) is None]
    if missing and plan.scenario is not None:
        for number, parcel in again(missing).items():
            unpack(parcel, places[number], whole=True)
    return places


def _picture(folder: Path) -> Path | None:
    return next((path for pattern in PICTURES for path in sorted(folder.glob(pattern))), None)


def _numbers(summary: dict[str, Any]) -> str:
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


def _by_parameter(plan: Plan, rows: list[Row], confidence: float) -> str:
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


def _scatter(plan: Plan, rows: list[Row]) -> str:
    metrics = list(dict.fromkeys(name for row in rows for name in row["metrics"]))
    plots = scatter_plots(rows, plan.parameters, metrics)
    return section("Runs", plots, "Each mark is a run.") if plots else ""


def _found(summary: dict[str, Any]) -> str:
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


def _worst(plan: Plan, worst: list[Row], places: dict[int, Path], folder: Path) -> str:
    shown = []
    for row in worst:
        place = places[row["run"]]
        values = ", ".join(f"{name} {_shown(value)}" for name, value in row["parameters"].items())
        metrics = ", ".join(f"{name} {_shown(value)}" for name, value in row["metrics"].items())
        verdict = f"failed: {row['cause']}" if row["outcome"] == "failed" else "succeeded"
        caption = f"Run {row['run']}, seed {row['seed']}: {verdict}. {values}. {metrics}."
        picture = _picture(place)
        body = figure(_small(picture), caption) if picture is not None else f"<p>{html.escape(caption)}</p>"
        again = place.relative_to(folder) / "scenario.yaml"
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

    with Image.open(path) as opened:
        image = opened.convert("RGB")
    if image.width > PICTURE_WIDTH:
        image = image.resize(
            (PICTURE_WIDTH, round(image.height * PICTURE_WIDTH / image.width)), Image.Resampling.LANCZOS
        )
    return jpeg(np.asarray(image))


def _metrics(rows: list[Row]) -> str:
    shown: list[tuple[Any, ...]] = []
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
    told = f"{len(again)} runs were made more than once, because a worker or process was lost, and then gave a verdict."
    return section("Lost runs", body, told if again else "The same command tries lost runs again.")


def _costs(rows: list[Row], summary: dict[str, Any]) -> str:
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
    files = {name: html.escape((folder / name).read_text(encoding="utf-8")) for name in ("plan.json", "versions.json")}
    body = "".join(f"<details><summary>{name}</summary><pre>{text}</pre></details>" for name, text in files.items())
    return section("Plan", body)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value if isinstance(value, str) else json.dumps(value))
