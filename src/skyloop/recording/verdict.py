"""Whether a flight succeeded: rules over its summary, and the rule of a scenario that has none."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator

from skyloop.core.validation import parse_yaml
from skyloop.recording.flight_log import VehicleLog
from skyloop.recording.run_folder import Summary
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Event
from skyloop_client.streams import NS_PER_S

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
NAME = r"[A-Za-z_][\w.-]*"
HOW = "write NAME < NUMBER, NAME or not NAME, joined by and, such as landing_error_m < 0.3 and not crashed"
DEFAULT = "not crashed and not contacts and not failsafes and not left_in_air"
"""The rule of a scenario that has none."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a success rule."""

    metric: str
    compared: str
    """A key of `COMPARED`; empty: the metric itself is true."""
    value: Any

    def holds(self, metrics: Summary) -> bool:
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

    def margin(self, metrics: Summary) -> float:
        """How far the metric is on the good side of its limit; negative beyond it. Infinite if it is no number."""
        found = metrics.get(self.metric)
        if found is None:
            return -math.inf
        if self.compared not in ("<", "<=", ">", ">=") or isinstance(found, str):
            return math.inf if self.holds(metrics) else -math.inf
        return float(self.value - found if self.compared[0] == "<" else found - self.value)

    def failed(self, value: object) -> str:
        """In words, for a value that breaks it."""
        found = f"{value:.4g}" if isinstance(value, float) else str(value)
        return f"{self.metric} is {found}" + (f", not {self.compared} {self.value}" if self.compared else "")


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


def _is_rule(text: str) -> str:
    try:
        success_rule(text, "the rule")
    except ScenarioError as error:
        raise ValueError(str(error)) from None
    return text


SuccessRule = Annotated[str, AfterValidator(_is_rule)]
"""A checked rule, in a scenario."""


def in_summary(summary: Summary, name: str) -> tuple[object, bool]:
    """A value of the summary and whether it is there. A name without a path is also looked for in the first vehicle."""
    first: Summary = next(iter(summary.get("vehicles", {}).values()), {})
    return _found(name, summary, first)


def _found(name: str, *sources: Summary) -> tuple[object, bool]:
    for source in sources:
        here: Any = source
        for key in name.split("."):
            here = here.get(key, _absent) if isinstance(here, dict) else _absent
        if here is not _absent:
            return here, True
    return None, False


_absent = object()


def why_failed(rule: str | None, summary: Summary, logs: dict[str, VehicleLog]) -> str:
    """What broke the rule, in words; empty for a success. It is asked of each vehicle."""
    if "ended_by" in summary:
        return str(summary["ended_by"])
    # programs that flew a vehicle and were gone before the flight was over
    gone = {link["vehicle"]: link["gone"] for link in summary.get("links", {}).values() if "gone" in link}
    reasons = [why if len(logs) == 1 else f"{name}: {why}" for name, why in gone.items()]
    for name, vehicle in summary["vehicles"].items():
        broken = list(_broken(rule or DEFAULT, summary, vehicle))
        events = sorted((logs[name].first[metric] for metric, _ in broken if metric in logs[name].first), key=_when)
        told = [f"after {event.t_ns / NS_PER_S:.1f} s: {event.text}" for event in events[:1]]
        told += [text for metric, text in broken if metric not in logs[name].first]
        reasons += [text if len(logs) == 1 else f"{name}: {text}" for text in told]
    return "; ".join(dict.fromkeys(reasons))


def _broken(rule: str, summary: Summary, vehicle: Summary) -> Iterator[tuple[str, str]]:
    for condition in success_rule(rule, "success"):
        value, known = _found(condition.metric, vehicle, summary)
        if not condition.holds({condition.metric: value}):
            text = f"the flight has no {condition.metric}" if not known else condition.failed(value)
            if condition.metric in ("landed", "left_in_air"):
                text = f"not landed at the end, in mode {vehicle['mode']}"
            yield condition.metric, text


def _when(event: Event) -> int:
    return event.t_ns
