"""Sensors that look, side by side on one vehicle in one flight: for each option one without it and one with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from option_flights import DRONE, HERE, IRIS, Flight, Script, fly, hold

from skyloop.sensors.registry import SENSORS
from skyloop.sim.scenario import make_scenario
from skyloop_client.messages import Arm, Array
from skyloop_client.streams import Rate

WORLD = {"name": "option_plugins.py:Studio"}
VEHICLES = [
    {"name": "drone", "airframe": IRIS, "position": [0.0, 0.0, 5.0]},
    # falls past the first one's eyes
    {"name": "other", "airframe": IRIS, "position": [1.5, 0.2, 5.1]},
]
DASH = Script(((0.0, Arm()), (0.0, hold(8, 3, 7, 1.0))), 0.6, {"world": WORLD, "vehicles": VEHICLES})
"""At 0.5 s it leans, turns and moves."""
EVERY = 0.5
"""s between two samples, of which there are two."""


@dataclass(frozen=True)
class Seen:
    """What one sensor published."""

    samples: list[Any]
    truths: list[Any]
    details: dict[str, Any]
    lateness: list[float]
    """s."""

    @property
    def last(self) -> Any:
        return self.samples[-1]

    @property
    def image(self) -> Array:
        return np.asarray(self.last.colour, np.float64)


@dataclass(frozen=True)
class Pair:
    """An option's changed value, and how far apart `measure` puts the sensor with it from the one without."""

    value: Any
    measure: Callable[[Seen, Seen], float]
    least: float
    """Signed: negative when the number must be at most this."""
    given: dict[str, Any] | None = None
    """Other options, of both."""


def sensors_of(plain: dict[str, Any], pairs: dict[str, list[Pair]]) -> dict[str, dict[str, Any]]:
    """By stream name: <option>_<number>_before and _after."""
    made = {}
    for option, tried in pairs.items():
        for number, pair in enumerate(tried):
            before = {**plain, **(pair.given or {})}
            made[f"{option}_{number}_before"] = before
            made[f"{option}_{number}_after"] = {**before, option: pair.value}
    return made


def seen(flight: Flight, name: str, config: dict[str, Any]) -> Seen:
    parsed = make_scenario({"vehicles": [{"sensors": {"it": config}}]}, folder=HERE).vehicles[0].sensors["it"]
    sensor = SENSORS[parsed.kind].from_config(parsed, Rate.from_hz(parsed.rate_hz).period_s, HERE)
    messages = flight.messages["/".join(filter(None, ("drone", name, sensor.stream)))]
    truths = [message.data for message in flight.messages.get(f"truth/drone/{name}", [])]
    return Seen(
        [m.data for m in messages], truths, sensor.details(), [(m.arrival_ns - m.t_ns) * 1e-9 for m in messages]
    )


def check_pair(plain: dict[str, Any], pairs: dict[str, list[Pair]], option: str, number: int, script: Script) -> None:
    """One flight, made once per process, serves all pairs."""
    sensors = sensors_of(plain, pairs)
    flight = fly(script, {DRONE + "sensors": sensors})
    names = [f"{option}_{number}_{when}" for when in ("before", "after")]
    before, after = (seen(flight, name, sensors[name]) for name in names)
    pair = pairs[option][number]
    found = pair.measure(before, after)
    assert (found - pair.least) * np.sign(pair.least) >= 0.0, f"{option} = {pair.value}: {found:.4g}, not {pair.least}"


def more_samples(before: Seen, after: Seen) -> float:
    return len(after.samples) - len(before.samples)


def later(before: Seen, after: Seen) -> float:
    return min(after.lateness) - max(before.lateness)


def difference(before: Seen, after: Seen) -> float:
    """Mean, of 255, of the last images."""
    return float(np.abs(after.image - before.image).mean())


def brighter(before: Seen, after: Seen) -> float:
    return float(after.image.mean() - before.image.mean())


COMMON = {"rate_hz": [Pair(8.0, more_samples, 3)], "latency": [Pair(0.05, later, 0.05)]}
"""Of every sensor."""
