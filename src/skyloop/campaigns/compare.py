"""What changed from one campaign to another: the success rate, each metric, and the runs whose verdict turned."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.campaigns.folder import PLAN, RESULTS, SUMMARY, Row, read_rows
from skyloop.campaigns.intervals import difference
from skyloop.campaigns.report import is_number
from skyloop.core.files import write_whole
from skyloop.datasets.report_html import page, section, table
from skyloop_client.errors import RunFolderError
from skyloop_client.regular_files import read_text

MOST_SHOWN = 50
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class MetricChange:
    name: str
    before: float
    after: float
    n: int
    """Runs that are in both campaigns and have it; if there are none, those of the smaller one."""
    paired: bool
    """Of the same runs, so that `change` is the mean of differences and `error` their standard error."""
    change: float
    error: float | None


@dataclass(frozen=True, slots=True)
class CampaignComparison:
    before: tuple[int, int]
    """Successes and judged runs."""
    after: tuple[int, int]
    lost: tuple[int, int]
    change: float
    """Of the success rate."""
    interval: tuple[float, float]
    same: int
    """Runs with the same parameters and seed in both."""
    broken: list[tuple[Row, Row]]
    """Runs that succeeded and now fail."""
    mended: list[tuple[Row, Row]]
    metrics: list[MetricChange]
    plan: list[tuple[str, Any, Any]]
    """Keys of the plans that differ."""

    @property
    def verdict(self) -> str:
        low, high = self.interval
        if low > 0.0:
            return "better"
        return "worse" if high < 0.0 else "no difference that these runs could show"


def compare(a: Path, b: Path) -> CampaignComparison:
    """From a to b."""
    rows_a, rows_b = finished(a), finished(b)
    before, after = _counts(rows_a), _counts(rows_b)
    change, interval = difference(before, after, CONFIDENCE)
    by_key = {_key(row): row for row in rows_a}
    pairs = [(by_key[_key(row)], row) for row in rows_b if _key(row) in by_key]
    return CampaignComparison(
        before,
        after,
        (len(rows_a) - before[1], len(rows_b) - after[1]),
        change,
        interval,
        len(pairs),
        [pair for pair in pairs if _turned(pair, "success", "failed")],
        [pair for pair in pairs if _turned(pair, "failed", "success")],
        _metrics(rows_a, rows_b, pairs),
        _plans(a, b),
    )


def finished(folder: Path) -> list[Row]:
    """The rows of a campaign's results, without runs that were made but came after the stop."""
    if not (folder / RESULTS).exists():
        raise RunFolderError(f"'{folder}' is no finished campaign: it has no {RESULTS}")
    rows = {row["run"]: row for row in read_rows(folder)}
    count = json.loads(read_text(folder / SUMMARY))["runs"]
    return [rows[number] for number in sorted(rows)[:count]]


def _key(row: Row) -> str:
    return json.dumps([row["parameters"], row["seed"], row["repeat"]], sort_keys=True)


def _counts(rows: list[Row]) -> tuple[int, int]:
    outcomes = [row["outcome"] for row in rows]
    return outcomes.count("success"), len(outcomes) - outcomes.count("lost")


def _turned(pair: tuple[Row, Row], before: str, after: str) -> bool:
    return bool(pair[0]["outcome"] == before and pair[1]["outcome"] == after)


def _metrics(rows_a: list[Row], rows_b: list[Row], pairs: list[tuple[Row, Row]]) -> list[MetricChange]:
    out = []
    for name in dict.fromkeys(name for row in rows_b for name in row["metrics"]):
        both = [(_value(a, name), _value(b, name)) for a, b in pairs]
        both = [(x, y) for x, y in both if is_number(x) and is_number(y)]
        if both:
            changes = [after - before for before, after in both]
            error = statistics.stdev(changes) / len(changes) ** 0.5 if len(changes) > 1 else None
            before, after = (statistics.fmean(side) for side in zip(*both, strict=True))
            out.append(MetricChange(name, before, after, len(both), True, statistics.fmean(changes), error))
            continue
        sides = [[_value(row, name) for row in rows if is_number(_value(row, name))] for rows in (rows_a, rows_b)]
        if all(sides):
            before, after = map(statistics.fmean, sides)
            spreads = [statistics.variance(side) / len(side) for side in sides if len(side) > 1]
            error = sum(spreads) ** 0.5 if len(spreads) == 2 else None
            out.append(MetricChange(name, before, after, min(map(len, sides)), False, after - before, error))
    return out


def _value(row: Row, name: str) -> Any:
    return row["metrics"].get(name)


def _plans(a: Path, b: Path) -> list[tuple[str, object, object]]:
    plans = [json.loads(read_text(folder / PLAN)) for folder in (a, b)]
    keys = dict.fromkeys((*plans[0], *plans[1]))
    return [(key, plans[0].get(key), plans[1].get(key)) for key in keys if plans[0].get(key) != plans[1].get(key)]


def lines(both: CampaignComparison) -> list[str]:
    """For a terminal."""
    (good_a, n_a), (good_b, n_b) = both.before, both.after
    low, high = both.interval
    out = [
        f"success {_percent(good_a, n_a)} ({good_a} of {n_a}) -> {_percent(good_b, n_b)} ({good_b} of {n_b}): "
        f"{100 * both.change:+.1f} points, {100 * low:+.1f} to {100 * high:+.1f} with 95 % confidence: {both.verdict}",
        f"{both.same} runs are in both: {len(both.broken)} fail now, {len(both.mended)} succeed now",
    ]
    for metric in both.metrics:
        error = "" if metric.error is None else f" ± {metric.error:.2g}"
        which = "the same runs" if metric.paired else "different runs"
        out.append(f"{metric.name}: {metric.before:.4g} -> {metric.after:.4g} ({metric.change:+.3g}{error}, {which})")
    out += [f"lost runs: {both.lost[0]} -> {both.lost[1]}"] if any(both.lost) else []
    out += [f"plan: {key} was {_short(was)}, is {_short(now)}" for key, was, now in both.plan]
    return out


def _percent(good: int, n: int) -> str:
    return f"{100 * good / n:.1f} %" if n else "of nothing"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def write_comparison(both: CampaignComparison, a: Path, b: Path, path: Path) -> None:
    said = lines(both)
    turned = [("fails now", *pair) for pair in both.broken] + [("succeeds now", *pair) for pair in both.mended]
    rows = [
        (how, str(after["run"]), str(after["seed"]), _short(after["parameters"]), after["cause"] or before["cause"])
        for how, before, after in turned[:MOST_SHOWN]
    ]
    metrics = [
        (one.name, one.before, one.after, one.change, "–" if one.error is None else one.error, one.n,
         "same" if one.paired else "different")
        for one in both.metrics
    ]  # fmt: skip
    head = ("metric", "before", "after", "change", "standard error", "runs", "which runs")
    sections = [
        section("Success", f"<p>{said[0]}</p><p>{said[1]}</p>", "Newcombe's interval for a difference of two rates."),
        section("Metrics", table(head, metrics)) if metrics else "",
        section("Runs whose verdict turned", table(("", "run", "seed", "parameters", "cause"), rows)) if rows else "",
        section("The plans", table(("key", "before", "after"), [(key, _short(was), _short(now)) for key, was, now in
                                                               both.plan])) if both.plan else "",
    ]  # fmt: skip
    write_whole(path, page(f"{a.name} → {b.name}", said[0], [part for part in sections if part]))
