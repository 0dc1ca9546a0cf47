"""Random scenarios from the tables that `skyloop show` prints: each option with values that fit its type, or do not."""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from skyloop.cli.reference.entries import EXAMPLES, OWN, SECTIONS, TOPICS, Entry, find
from skyloop.cli.reference.fields import REQUIRED, Option, model_options
from skyloop.sim.assembly import load_airframe

Data = dict[str, Any]
NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"
BETWEEN = re.compile(rf"({NUMBER}) to ({NUMBER})|[\[(]({NUMBER}), ({NUMBER})[\])]")
COUNTED = re.compile(r"(\d+) (\w+)(.*)")
JUNK: tuple[Any, ...] = (
    None, "", "nope", "truth", "..", "/dev/zero", "a:b", "1/0", "é\u0000", True, -1, 0, 1, 3, -0.5, 1e-320, 1e6, 1e30,
    -1e300, math.nan, math.inf, -math.inf, 2**31, 2**63, 10**40, [], {}, [1], [math.nan] * 3, [[1, 2, 3]],
    {"kind": "x"}, [1, 2], [0, 0, 0], [1e9, 1e9, 1e9], "x" * 5000, [[[]]], {"a": {"b": 1}}, "2026-01-01",
)  # fmt: skip
LOOKERS = ("camera", "depth_camera", "optical_flow", "radar")
PLACES = {"estimator": "estimators", "observer": "observers", "fault": "faults", "wrench": "wrenches",
          "rotor_fault": "rotor_faults"}  # fmt: skip
WHOLE: dict[str, Data] = {
    # what a section needs to be one at all
    "wrench": {"start": 0.2, "end": 0.4, "force": [1.0, 0.0, 0.0]},
    "rotor_fault": {"kind": "slow", "rotor": 0, "start": 0.5, "effectiveness": 0.9},
    "fault": {"kind": "dropout", "start": 0.2, "end": 0.3},
    "materials": {"depth_m": 0.1},
    "estimator": {"kind": "ekf"},
    "observer": {"mode": "fixed", "width": 32, "height": 24, "rate_hz": 2},
}
NEEDED = {
    "circle": EXAMPLES["circle"], "lemniscate": EXAMPLES["lemniscate"], "square": EXAMPLES["square"],
    "legs": EXAMPLES["legs"], "waypoints": EXAMPLES["waypoints"], "explore": EXAMPLES["explore"],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """One option and where it stands."""

    topic: str
    name: str
    keys: tuple[str, ...]
    """Of the parts that hold it, such as ("pattern beam",), and its own name last."""
    option: Option

    def __str__(self) -> str:
        return f"{self.topic} {self.name} {'.'.join(self.keys)}".replace("  ", " ")


@cache
def places() -> tuple[Place, ...]:
    """Every option that `skyloop show` knows, less the fields of records, which no scenario has."""
    found = []
    for topic, known in TOPICS.items():
        if topic not in ("message", "scenario"):
            for name in known.names():
                found += list(_options_of(find(topic, name), topic, name))
    for name in SECTIONS:
        found += list(_options_of(find(name), "section", name))
    for topic in ("scenario", "world"):
        keys = TOPICS[topic].keys
        assert keys is not None
        found += [Place(topic, "", (option.name,), option) for option in model_options(keys)]
    return tuple(found)


def _options_of(entry: Entry, topic: str, name: str, keys: tuple[str, ...] = ()) -> Iterator[Place]:
    for option in entry.options:
        yield Place(topic, name, (*keys, option.name), option)
    for part in entry.parts:
        yield from _options_of(part, topic, name, (*keys, part.name))


# ---- values


def fitting(option: Option, chance: random.Random) -> Any:
    """A value as the option's type asks for."""
    default, words = option.default, option.type
    if default not in (None, REQUIRED, "inf", "see below") and chance.random() < 0.15:
        return default
    if isinstance(default, list) and default and all(isinstance(each, int | float) for each in default):
        return [_near(each, words, chance) for each in default]
    if " / " in words:
        choices = re.sub(r"^list of \(|\)$|, or null$", "", words).split(" / ")
        picked = {"true": True, "false": False}.get(chosen := chance.choice(choices), chosen)
        return [picked] if words.startswith("list of") else picked
    if counted := COUNTED.match(words):
        return [_near(None, counted[2] + counted[3], chance) for _ in range(int(counted[1]))]
    if words.startswith(("list of at least", "list of (3 numbers")):
        return [[chance.uniform(-3.0, 3.0) for _ in range(3)] for _ in range(chance.randint(1, 5))]
    if words.startswith("list of numbers"):
        return [_near(None, words, chance) for _ in range(chance.randint(0, 4))]
    if words.startswith(("number", "integer")):
        return _near(default, words, chance)
    return default if default not in (REQUIRED, "see below", "its defaults", "inf") else chance.choice(JUNK)


def _near(default: object, words: str, chance: random.Random) -> Any:
    """A number near the default, or anywhere between the limits that the words name."""
    between = BETWEEN.search(words)
    whole = "integer" in words or (isinstance(default, int) and not isinstance(default, bool) and "number" not in words)
    low, high = (float(each) for each in between.groups() if each is not None) if between else (-math.inf, math.inf)
    if "≥" in words or ">" in words:
        low = float(words.split("≥" if "≥" in words else ">")[1].split()[0].rstrip(","))
    if isinstance(default, int | float) and math.isfinite(default) and chance.random() < 0.7:
        value = default * chance.choice((0.25, 0.5, 0.9, 1.1, 2.0, 4.0)) if default else chance.uniform(-1.0, 1.0)
    elif between and chance.random() < 0.6:
        value = chance.choice((low, high, chance.uniform(low, high)))
    else:
        value = chance.choice((0.01, 0.5, 1.0, 3.0, 10.0, 50.0)) + (low if math.isfinite(low) else 0.0)
    value = min(max(value, low), high)
    return round(value) if whole else float(value)


def misfit(option: Option, chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(JUNK))


# ---- scenarios


def random_scenario(number: int, chance: random.Random) -> tuple[Data, list[str]]:
    """A scenario around one option, which follows from the number so that all have their turn, with a few others
    changed as well; and what was changed, in words."""
    main = places()[number % len(places())]
    vehicle: Data = {"name": "drone", "airframe": chance.choice(tuple(TOPICS["airframe"].names()))}
    scenario: Data = {"name": "soaked", "seed": chance.randrange(1000), "vehicles": [vehicle], "truth_rate_hz": 100.0}
    scenario["world"] = chance.choice(("flat", "flat", "flat", "hills", "blocks", "room", "corridor"))
    scenario["duration"] = round(chance.uniform(0.3, 3.0), 3)
    if chance.random() < 0.7:
        vehicle["pilot"] = {"kind": "hover", "altitude": chance.uniform(0.5, 3.0), "duration": 1.0}
    sensors = [kind for kind in TOPICS["sensor"].names() if kind not in (OWN, *LOOKERS)]
    vehicle["sensors"] = {kind: {"kind": kind} for kind in chance.sample(sensors, chance.randint(0, 3))}
    if chance.random() < 0.08:
        vehicle["sensors"]["seen"] = {"kind": "camera", "width": 32, "height": 24, "rate_hz": 5}
    if chance.random() < 0.15:
        vehicle["state"] = "ekf"
        vehicle["sensors"] |= {kind: {"kind": kind} for kind in ("imu", "gnss", "barometer", "magnetometer")}
    if chance.random() < 0.2:
        scenario["wind"] = {"kind": "dryden", "mean": [chance.uniform(-5, 5), 0.0, 0.0], "w20_kt": 10.0}
    told = []
    rest = chance.sample(places(), chance.choice((0, 0, 0, 1, 2)))
    for place in (main, *rest):
        value = (misfit if chance.random() < 0.3 else fitting)(place.option, chance)
        if _put(scenario, place, value, chance):
            told.append(f"{place} = {str(value)[:80]}")
    if chance.random() < 0.05:
        _odd_key(scenario, chance)
        told.append("a key nobody knows")
    _shorten(scenario)
    return scenario, told


def _put(scenario: Data, place: Place, value: Any, chance: random.Random) -> bool:
    """Put a value where its option stands. What has to be there for it is made."""
    vehicle = scenario["vehicles"][0]
    if not isinstance(vehicle, dict):
        return False
    here = _holder(scenario, vehicle, place, chance)
    for key in place.keys[:-1]:
        name, _, kind = key.partition(" ")
        inner = here.get(name)
        if isinstance(inner, list):
            if not inner or not isinstance(inner[0], dict):
                here[name] = inner = [{}]
            inner = inner[0]
        elif not isinstance(inner, dict):
            inner = here[name] = {}
        if kind:
            inner["kind"] = kind
        here = inner
    here[place.keys[-1]] = value
    return True


def _holder(scenario: Data, vehicle: Data, place: Place, chance: random.Random) -> Data:
    topic, name = place.topic, place.name
    if topic == "scenario":
        return scenario
    if topic == "world" and not name:
        if not isinstance(scenario.get("world"), dict):
            scenario["world"] = {"name": scenario.get("world", "flat")}
        return scenario["world"]
    if topic == "sensor":
        small = {"width": 32, "height": 24, "rate_hz": 5} if name in ("camera", "depth_camera", "radar") else {}
        kind = "own.py:Own" if name == OWN else name
        return _mapping(vehicle, "sensors").setdefault(name, {"kind": kind, **small})
    if topic == "airframe":
        return _airframe(vehicle, name)
    if topic == "world":
        chosen = {"file": "cube.obj"} if name == "file" else {"name": name}
        if not isinstance(scenario.get("world"), dict) or not chosen.items() <= scenario["world"].items():
            scenario["world"] = {**chosen, "options": {}}
        return _mapping(scenario["world"], "options")
    if topic == "pilot":
        return _pilot(vehicle, name)
    if topic == "trajectory":
        from yaml import safe_load

        vehicle["pilot"] = {"kind": "trajectory", "trajectory": safe_load(NEEDED[name])}
        return vehicle["pilot"]["trajectory"]
    if topic == "wind":
        held = scenario.get("wind")
        if not isinstance(held, dict) or held.get("kind") != name:
            scenario["wind"] = {"kind": name} | ({"velocity": [3, 0, 0]} if name == "constant" else {})
        return scenario["wind"]
    return _section(scenario, vehicle, name, chance)


def _mapping(held_in: Data, key: str) -> Data:
    if not isinstance(held_in.get(key), dict):
        held_in[key] = {}
    made: Data = held_in[key]
    return made


def _airframe(vehicle: Data, name: str) -> Data:
    if not isinstance(vehicle.get("airframe"), dict):
        vehicle["airframe"] = load_airframe(name).model_dump(mode="json")
    made: Data = vehicle["airframe"]
    return made


def _pilot(vehicle: Data, name: str) -> Data:
    held = vehicle.get("pilot")
    if not isinstance(held, dict) or held.get("kind") != name:
        more: Data = {"waypoints": {"waypoints": [[0, 0, 2], [2, 0, 2]]}, "navigate": {"goals": [[4, 4]]}}.get(name, {})
        if name == "trajectory":
            more = {"trajectory": {"kind": "circle", "centre": [0, 0, 2], "radius": 2, "speed": 2}}
        vehicle["pilot"] = held = {"kind": "own.py:fly" if name == OWN else name, **more}
    return held


def _section(scenario: Data, vehicle: Data, name: str, chance: random.Random) -> Data:
    whole: Data = copy.deepcopy(WHOLE.get(name, {}))
    if name == "vehicle":
        return vehicle
    if name in ("mount", "fault"):
        sensors = _mapping(vehicle, "sensors")
        sensor = sensors.setdefault("imu", {"kind": "imu"})
        if name == "mount":
            return _mapping(sensor, "mount")
        sensor["faults"] = [whole]
        return whole
    if name == "perception":
        _mapping(vehicle, "sensors")["radar"] = {"kind": "radar", "rate_hz": 2, "width": 32, "height": 24}
        return _mapping(_mapping(vehicle, "perception"), "radar")
    if name in ("wrench", "rotor_fault"):
        vehicle[PLACES[name]] = [whole]
        return whole
    if name in ("estimator", "observer", "materials"):
        of_vehicle = name == "estimator"
        held = _mapping(vehicle if of_vehicle else scenario, PLACES.get(name, name))
        made: Data = held.setdefault("grass" if name == "materials" else "one", whole)
        return made
    if name in ("failsafes", "ekf", "px4", "drag"):
        return _mapping(vehicle, name)
    return _mapping(scenario, name)


def _odd_key(scenario: Data, chance: random.Random) -> None:
    here: Any = scenario
    for _ in range(chance.randrange(4)):
        inner = [each for each in (here.values() if isinstance(here, dict) else here) if isinstance(each, dict | list)]
        if not inner:
            break
        here = chance.choice(inner)
    if isinstance(here, dict):
        here[chance.choice(("", "speeed", "kind ", "éé", 7, "__class__"))] = chance.choice(JUNK)


def _shorten(scenario: Data) -> None:
    """Values that fit may make a run long on purpose, such as a million seconds; a soak has no time for those."""
    for key, most in (("duration", 3.0), ("truth_rate_hz", 2000.0)):
        value = scenario.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and most < value <= 1e9:
            scenario[key] = most
    pacing = scenario.get("pacing")
    if isinstance(pacing, dict):
        factor = pacing.get("factor", 1.0)
        if isinstance(factor, int | float) and 0 < factor < 1:
            pacing["factor"] = 1.0
    for sensor in scenario["vehicles"][0].get("sensors", {}).values() if _sensors_are_some(scenario) else ():
        if isinstance(sensor, dict):
            _fewer_pixels(sensor)


def _sensors_are_some(scenario: Data) -> bool:
    return isinstance(scenario["vehicles"][0], dict) and isinstance(scenario["vehicles"][0].get("sensors"), dict)


def _fewer_pixels(sensor: Data) -> None:
    for key, most in (("width", 640), ("height", 480), ("n_chirps", 256), ("n_samples", 256), ("rate_hz", 2000)):
        value = sensor.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and most < value < 1e5:
            sensor[key] = most
