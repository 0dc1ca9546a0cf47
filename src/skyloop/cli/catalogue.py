"""Everything that a scenario or the command line can name, each with one line about it."""

from __future__ import annotations

from skyloop.benchmarks.registry import BENCHES
from skyloop.core.validation import read_yaml
from skyloop.reproductions.registry import REPRODUCTIONS
from skyloop.sensors.registry import SENSORS
from skyloop.sim.scenario import AIRFRAMES, SCENARIOS, shipped_airframes, shipped_scenarios
from skyloop.tasks.pilots import PILOTS
from skyloop.world.world import WORLDS


def catalogue() -> dict[str, dict[str, str]]:
    return {
        "scenarios": {name: _description(name) for name in shipped_scenarios()},
        "airframes": {name: _airframe(name) for name in shipped_airframes()},
        "worlds": {name: _first_line(world) for name, world in WORLDS.items()},
        "sensors": {name: _presets(config) for name, (config, _) in SENSORS.items()},
        "pilots": {name: _first_line(pilot) for name, (_, pilot) in PILOTS.items()},
        "benches": {name: text for name, (_, text) in BENCHES.items()},
        "reproductions": {name: text for name, (_, text) in REPRODUCTIONS.items()},
    }


def _description(name: str) -> str:
    return str(read_yaml(SCENARIOS / f"{name}.yaml").get("description", ""))


def _airframe(name: str) -> str:
    data = read_yaml(AIRFRAMES / f"{name}.yaml")
    return f"{data['mass']:g} kg, {len(data['rotors'])} rotors"


def _presets(config: type) -> str:
    presets = getattr(config.model_fields["preset"].annotation, "__args__", ())  # type: ignore[attr-defined]
    return "presets " + ", ".join(presets)


def _first_line(thing: type) -> str:
    import sys

    text = thing.__doc__ or sys.modules[thing.__module__].__doc__ or ""
    return text.strip().splitlines()[0]
