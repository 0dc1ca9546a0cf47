"""Flies a scenario by hand, with the keyboard or a gamepad. Behind `skyloop fly`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.apps.run import Watch, run_scenario, without_pilots
from skyloop.links.link_gate import LinkGate
from skyloop.links.manual_control import ByHand, reading_gamepad, reading_keys
from skyloop.links.pace import Pace
from skyloop.sim.scenario import Scenario


def run_by_hand(
    scenario: Scenario,
    folder: Path,
    device: str = "keyboard",
    *,
    pace: float = 1.0,
    duration: float | None = None,
    show: Callable[[str], None] = print,
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Fly the first vehicle with the keys of this terminal or with a gamepad. `show` gets its events."""
    scenario = without_pilots(scenario, duration)
    link_gate = LinkGate(Pace(pace))
    link = link_gate.links["by_hand"] = ByHand(link_gate.inbox, show)
    with reading_gamepad(link) if device == "gamepad" else reading_keys(link):
        return run_scenario(scenario, folder, links=link_gate, watch=watch)
