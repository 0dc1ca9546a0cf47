"""Reads the JSON of a settings.json and collects warnings about it."""

from __future__ import annotations

import json
import re
from typing import Any

from skyloop.links.airsim.settings_keys import IDLE
from skyloop_client.errors import ScenarioError, nearest_name


class Reader:
    """One pass over a settings.json."""

    def __init__(self, text: str, place: str) -> None:
        self.place, self.warnings = place, list[str]()
        self._idle: dict[str, None] = {}
        """Keys without an effect, in the order they came."""
        try:
            data = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)) if text.strip() else {}
        except ValueError as error:
            raise ScenarioError(f"{place} is no JSON: {error}") from None
        if not isinstance(data, dict):
            raise ScenarioError(f"{place}: settings are a map of keys to values")
        self.root: dict[str, Any] = data

    def part(self, value: Any, known: tuple[str, ...], where: str, idle: tuple[str, ...] = ()) -> dict[str, Any]:
        """A map without NaN values, which AirSim treats as not given. Unknown keys give a warning."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ScenarioError(f"{self.place}: {where} must be a map of keys to values")
        for key in value:
            if key not in known:
                at = f"{where}.{key}" if where else key
                line = f"{self.place}: unknown key '{at}'; {nearest_name(key, known)}"
                # the defaults of cameras are read once per camera
                if line not in self.warnings:
                    self.warnings.append(line)
            elif (key in IDLE or key in idle) and not _is_blank(value[key]):
                self.idle(key)
        return {key: entry for key, entry in value.items() if entry == entry}

    def idle(self, key: str) -> None:
        """Warn that this key has no effect."""
        self._idle[key] = None

    def all_warnings(self) -> list[str]:
        if self._idle:
            return [*self.warnings, f"{self.place}: these keys change nothing here: {', '.join(self._idle)}"]
        return self.warnings

    def number(self, data: dict[str, Any], key: str, default: float, where: str) -> float:
        value = data.get(key, default)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not -1e12 < number < 1e12:
            raise ScenarioError(f"{self.place}: {where}.{key} is {value!r}; give a number")
        return number

    def numbers(self, data: dict[str, Any], keys: str, where: str) -> tuple[float, float, float]:
        x, y, z = (self.number(data, key, 0.0, where) for key in keys.split())
        return x, y, z


def _is_blank(value: Any) -> bool:
    return value in ("", None, {}, []) or value != value
