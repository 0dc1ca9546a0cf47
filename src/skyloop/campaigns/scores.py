"""What is kept of a run: metrics of its summary, or of a function of yours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyloop.recording.run_folder import Summary
from skyloop.recording.verdict import in_summary
from skyloop_client.errors import ScenarioError
from skyloop_client.user_code import call_user_code, is_plugin, load_plugin

Metrics = dict[str, Any]


def metric_name(metric: str) -> str:
    """The column of a metric: the name in the summary, or that of a function."""
    return metric.rpartition(":")[2] if is_plugin(metric) else metric


def measured(
    metrics: Sequence[str], summary: dict[str, object], folder: Path, plan_folder: Path | None
) -> tuple[Metrics, list[str]]:
    """The metrics of a run folder, and the names that the summary does not have.

    A function gets the folder. It returns a value, or several by name."""
    found: Metrics = {}
    absent: list[str] = []
    for metric in (metric for metric in metrics if not is_plugin(metric)):
        found[metric], known = in_summary(summary, metric)
        absent += [] if known else [metric]
    for metric in (metric for metric in metrics if is_plugin(metric)):
        value = call_user_code(f"metric {metric}", 0, load_plugin(metric, plan_folder), folder)
        found.update(value if isinstance(value, dict) else {metric_name(metric): value})
    missing = [name for name in absent if found[name] is None]
    return {name: _plain(name, value) for name, value in found.items()}, missing


def names_in(summary: Summary) -> list[str]:
    """Names that a metric may have."""
    first: Summary = next(iter(summary.get("vehicles", {}).values()), {})
    found = [name for name, value in (*summary.items(), *first.items()) if not isinstance(value, dict | list)]
    for name, value in first.items():
        if isinstance(value, dict):
            found += [f"{name}.{key}" for key, inner in value.items() if not isinstance(inner, dict | list)]
    return found


def _plain(name: str, value: object) -> object:
    """A number, a truth value or a text, for a column of a table."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, bool | int | float | str):
        # numbers that JSON cannot hold are texts in a summary
        return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else value
    raise ScenarioError(f"metric '{name}' is {type(value).__name__}; give a number, a truth value or a text")
