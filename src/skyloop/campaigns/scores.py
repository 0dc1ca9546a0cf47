"""What is kept of a run: metrics of its summary or of a function of yours, and whether it succeeded."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.validation import parse_yaml
from skyloop.recording.run_folder import Summary
from skyloop_client.errors import ScenarioError
from skyloop_client.user_code import call_user_code, is_plugin, load_plugin

Metrics = dict[str, Any]
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
NAME = r"[A-Za-z_][\w.-]*"
HOW = "write NAME < NUMBER, NAME or not NAME, joined by and, such as landing_error_m < 0.3 and not crashed"


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a success rule."""

    metric: str
    compared: str
    """A key of `COMPARED`; empty: the metric itself is true."""
    value: Any

    def holds(self, metrics: Metrics) -> bool:
        """A metric that the run does not have fails it."""
        found = metrics.get(self.metric)
        if found is None:
            return False
        if not self.compared:
            return bool(found) is self.value
        try:
            return COMPARED[self.compared](found, self.value)
        except TypeError:
            return False

    def margin(self, metrics: Metrics) -> float:
        """How far the metric is on the good side of its limit; negative beyond it. Infinite if it is no number."""
        found = metrics.get(self.metric)
        if found is None:
            return -math.inf
        if self.compared not in ("<", "<=", ">", ">=") or isinstance(found, str):
            return math.inf if self.holds(metrics) else -math.inf
        return float(self.value - found if self.compared[0] == "<" else found - self.value)


def success_rule(text: str, where: str) -> tuple[Condition, ...]:
    """ "landing_error_m < 0.3 and not crashed": every part must hold."""
    conditions = []
    for part in re.split(r"\s+and\s+", text.strip()):
        plain = re.fullmatch(rf"(not\s+)?({NAME})", part)
        compared = re.fullmatch(rf"({NAME})\s*(<=|>=|==|!=|<|>)\s*(\S.*)", part)
        if plain is not None:
            conditions.append(Condition(plain[2], "", plain[1] is None))
            continue
        value = None if compared is None else parse_yaml(compared[3], where)
        if compared is None or not isinstance(value, int | float | str):
            raise ScenarioError(f"{where}: cannot read '{part}'; {HOW}")
        if compared[2] not in ("==", "!=") and isinstance(value, str):
            raise ScenarioError(f"{where}: '{part}' compares with a text; {HOW}")
        conditions.append(Condition(compared[1], compared[2], value))
    return tuple(conditions)


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


def in_summary(summary: Summary, name: str) -> tuple[object, bool]:
    """A value of the summary and whether it is there. A name without a path is also looked for in the first vehicle."""
    first: Summary = next(iter(summary.get("vehicles", {}).values()), {})
    for source in (summary, first):
        here: Any = source
        for key in name.split("."):
            here = here.get(key, _absent) if isinstance(here, dict) else _absent
        if here is not _absent:
            return here, True
    return None, False


_absent = object()


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
