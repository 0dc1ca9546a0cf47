"""Everything that a scenario or a program can name, as an entry: its meaning, options, presets and parts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from skyloop.cli.catalogue import catalogue
from skyloop.cli.reference.fields import (
    REQUIRED,
    Option,
    argument_options,
    model_options,
    models_in,
    plain,
    record_options,
    summary_of,
)
from skyloop.core.plugins import plugins
from skyloop.sensors.registry import SENSORS
from skyloop.sensors.sensor import SensorConfig
from skyloop.sim.assembly import load_airframe
from skyloop.sim.scenario import Scenario, UserPilot, UserSensor, Vehicle
from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.airframe_figures import Figures, figures_of
from skyloop.vehicle.pilots.pilots import PILOTS
from skyloop.vehicle.pilots.sortie import PilotConfig
from skyloop.vehicle.trajectories.trajectories import TrajectoryConfig
from skyloop.world.atmosphere import Wind
from skyloop.world.imported import Imported
from skyloop.world.world import WORLDS, WorldConfig
from skyloop_client import messages
from skyloop_client.bundle import Bundle
from skyloop_client.codec import RECORDS
from skyloop_client.errors import UnknownNameError, nearest_name, unknown_name
from skyloop_client.streams import StreamInfo
from skyloop_client.user_code import is_plugin

OWN = "own"
"""The name under which a user's sensor or pilot is shown."""
FILE = "file"
"""The name under which a world from a file is shown."""
EXAMPLES = {
    "circle": "{kind: circle, centre: [0, 0, 5], radius: 10, speed: 5}",
    "lemniscate": "{kind: lemniscate, centre: [0, 0, 5], minimum_radius: 5, speed: 5}",
    "square": "{kind: square, corner: [0, 0, 5], side: 8, speed: 3}",
    "legs": "{kind: legs, points: [[0, 0, 3], [10, 0, 3]], speed: 3}",
    "explore": "{kind: explore, length: 50, altitude: 2, speed: 1, space: {heights: [1, 3], clearance: 0.7}}",
    "waypoints": "{kind: waypoints, waypoints: [[0, 0, 3], [10, 0, 3], [10, 10, 5]], speed: 3}",
    "constant": "{kind: constant, velocity: [3, 0, 0]}",
    "field": "{kind: field, source: file.py:Class}",
}
"""Examples for kinds with required keys."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One named thing with its documentation."""

    topic: str
    name: str
    summary: str
    options: tuple[Option, ...] = ()
    notes: tuple[str, ...] = ()
    example: str = ""
    """A line of a scenario that uses it."""
    presets: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: tuple[Entry, ...] = ()
    """Parts of its options that have their own options."""
    figures: dict[str, Any] = field(default_factory=dict)
    """What an airframe can do."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of thing, and the functions that make its entries."""

    heading: str
    names: Callable[[], dict[str, str]]
    """Each name with one line about it."""
    entry: Callable[[str], Entry]
    keys: type[BaseModel] | None = None
    """Keys that all of them share, or that a user's file may have."""


# ---- one function per topic


def sensor(name: str) -> Entry:
    if name == OWN:
        return replace(section(UserSensor, OWN), topic="sensor", example="sensors: {pitot: {kind: file.py:Class}}")
    made = SENSORS[name]
    config = made.Config
    known = vars(sys.modules[config.__module__]).get("PRESETS", {})
    presets = {key: plain(asdict(numbers)) for key, numbers in known.items()}
    usual = presets[config.model_fields["preset"].default] if presets else {}
    stream = "<vehicle>/<name>" + (f"/{made.stream}" if made.stream else "")
    notes = [f"It publishes `{made.message}` on `{stream}`."]
    if name == "radar":
        notes.append("`<vehicle>/<name>/range_doppler` has `RangeDopplerImage`, `/detections` has `RadarDetections`.")
    if made.truth_message is not None:
        where = " where `truth` asks for it" if name == "camera" else ""
        notes.append(f"It publishes the truth, `{made.truth_message}`, on `truth/<vehicle>/<name>`{where}.")
    if made.fault_fields:
        notes.append("A bias or spike fault may disturb: " + ", ".join(f"`{key}`" for key in made.fault_fields) + ".")
    options = tuple(_with_preset(each, usual) for each in model_options(config))
    return Entry(
        "sensor", name, summary_of(config), options, tuple(notes), f"sensors: {{{name}: {{kind: {name}}}}}", presets,
        parts_of(config),
    )  # fmt: skip


def _with_preset(option: Option, usual: dict[str, object]) -> Option:
    if option.default is not None or usual.get(option.name) is None:
        return option
    return replace(option, default=usual[option.name], from_preset=True)


def airframe(name: str) -> Entry:
    made = load_airframe(name)
    entry = section(Airframe, name, values=made)
    figures = figures_of(made)
    notes = (
        *_figure_lines(figures, made),
        *([f"Estimated, because the file leaves them out: {', '.join(made.left_out)}."] if made.left_out else []),
        *(f"{key}: {origin}." for key, origin in made.provenance.items() if key not in made.left_out),
        *(f"Source: {line}." for line in made.sources),
        "The defaults below are this airframe's numbers.",
    )
    options = tuple(each for each in entry.options if each.name not in ("sources", "provenance"))
    summary = f"{made.mass:g} kg, {len(made.rotors)} rotors"
    return replace(entry, topic="airframe", options=options, notes=notes, summary=summary,
                   example=f"airframe: {name}", figures=plain(asdict(figures)))  # fmt: skip


def _figure_lines(figures: Figures, made: Airframe) -> Iterator[str]:
    """What it can do, at sea level with a full battery."""
    yield f"Hover throttle {figures.hover_throttle:.0%}, thrust to weight {figures.thrust_to_weight:.2f}."
    if figures.endurance_s is not None:
        yield f"Hovers {figures.endurance_s / 60.0:.0f} min on {figures.hover_power_w:.0f} W, to 15 % of its charge."
    if figures.top_speed_m_s is None:
        yield "Top speed: no air resistance, so none."
    else:
        tilt, limits = figures.top_speed_tilt_deg, made.limits
        by = "limits.tilt_deg" if tilt > limits.tilt_deg - 0.5 else "the thrust"
        limited = f"; limits.speed keeps it at {limits.speed:g} m/s" if limits.speed < figures.top_speed_m_s else ""
        frame = made.drag.model == "box" or sum(made.drag.parasitic) > 0.0
        if not frame:
            limited += f". Drag model {made.drag.model} leaves out the frame (drag.parasitic), so a real one is slower"
        yield f"Top speed {figures.top_speed_m_s:.1f} m/s at {tilt:.0f}° of tilt, where {by} ends it{limited}."
    left = ", ".join(f"rotor {k} {share:.0%}" for k, share in enumerate(figures.headroom))
    yield f"Thrust that a hover leaves: {left}."


def world(name: str) -> Entry:
    if name == FILE:
        summary = "A world from a glTF, GLB or OBJ file of your own, or from Gazebo's SDF."
        options = argument_options(Imported, {"path"})
        return Entry("world", FILE, summary, options, example="world: {file: my.glb, options: {scale: 0.01}}")
    options = argument_options(WORLDS[name], {"seed", "randomise"})
    first = f", options: {{{options[0].name}: {options[0].default}}}" if options else ""
    return Entry("world", name, _names("worlds")[name], options, example=f"world: {{name: {name}{first}}}")


def pilot(name: str) -> Entry:
    config = UserPilot if name == OWN else PILOTS[name].Config
    more = {
        "trajectory": f", trajectory: {EXAMPLES['circle']}",
        "waypoints": ", waypoints: [[0, 0, 3], [10, 0, 3]]",
        "navigate": ", goals: [[4, 4], [-4, 8]]",
    }
    kind = "file.py:name" if name == OWN else name + more.get(name, "")
    return replace(section(config, name), topic="pilot", example=f"pilot: {{kind: {kind}}}")


def message(name: str) -> Entry:
    record = records()[name]
    return Entry("message", name, summary_of(record), record_options(record))


def section(model: type[BaseModel], name: str, values: BaseModel | None = None) -> Entry:
    """The keys of a part of the scenario file."""
    return Entry("section", name, summary_of(model), model_options(model, values), parts=parts_of(model, values))


def scenario(name: str) -> Entry:
    return Entry("scenario", name, _names("scenarios")[name])


# ---- lists of names


def records() -> dict[str, type]:
    """The classes of all records, and of what pilots and estimators get beside them, by name."""
    # those of plugins are known from then on
    plugins()
    found = {name: vars(messages)[name] for name in messages.__all__}
    known = {name: kind for name, kind in found.items() if isinstance(kind, type) and is_dataclass(kind)}
    return {**known, **RECORDS, "Bundle": Bundle, "StreamInfo": StreamInfo}


def _kinds(union: object) -> dict[str, type[BaseModel]]:
    """The members of a union with the discriminator `kind`."""
    members = get_args(get_args(union)[0])
    return {str(member.model_fields["kind"].default): member for member in members}


def _kind_topic(heading: str, name: str, union: object) -> Topic:
    kinds = {_literal(member) or key: member for key, member in _kinds(union).items()}
    return Topic(
        heading,
        lambda: {key: summary_of(member) for key, member in kinds.items()},
        lambda key: replace(
            section(kinds[key], key), topic=name, example=f"{name}: {EXAMPLES.get(key) or f'{{kind: {key}}}'}"
        ),
    )


def _literal(model: type[BaseModel]) -> str:
    return str(get_args(model.model_fields["kind"].annotation)[0])


@cache
def _names(heading: str) -> dict[str, str]:
    return catalogue()[heading]


TOPICS: dict[str, Topic] = {
    "sensor": Topic(
        "Sensors",
        lambda: (
            {name: summary_of(each.Config) for name, each in SENSORS.loadable().items()} | {OWN: summary_of(UserSensor)}
        ),
        sensor,
        SensorConfig,
    ),
    "airframe": Topic("Airframes", lambda: _names("airframes"), airframe, Airframe),
    "world": Topic("Worlds", lambda: _names("worlds") | {FILE: world(FILE).summary}, world, WorldConfig),
    "pilot": Topic(
        "Pilots",
        lambda: (
            {name: summary_of(each.Config) for name, each in PILOTS.loadable().items()} | {OWN: summary_of(UserPilot)}
        ),
        pilot,
    ),
    "trajectory": _kind_topic("Trajectories", "trajectory", TrajectoryConfig),
    "wind": _kind_topic("Wind", "wind", Wind),
    "message": Topic("Messages", lambda: {name: summary_of(kind) for name, kind in records().items()}, message),
    "scenario": Topic("Scenarios", lambda: _names("scenarios"), scenario, Scenario),
}


def _sections() -> dict[str, type[BaseModel]]:
    """Sections of the scenario file by their key. A member of a list has the key in the singular."""
    singular = {
        "estimators": "estimator",
        "faults": "fault",
        "observers": "observer",
        "rotor_faults": "rotor_fault",
        "wrenches": "wrench",
    }
    found: dict[str, type[BaseModel]] = {"vehicle": Vehicle}
    for model in (Scenario, Vehicle, SensorConfig):
        for key, each in model.model_fields.items():
            inside = list(models_in(each.annotation))
            if len(inside) == 1 and inside[0] not in (Vehicle, WorldConfig, Airframe):
                found[singular.get(key, key)] = inside[0]
    return found


SECTIONS = _sections()


def find(topic: str, name: str | None = None) -> Entry:
    """An entry by topic and name, or one of the sections. An unknown name is an error with a suggestion."""
    if topic in SECTIONS:
        if name is not None:
            raise UnknownNameError(f"'{topic}' takes no name, so not '{name}'; write skyloop show {topic}")
        return section(SECTIONS[topic], topic)
    if topic not in TOPICS:
        raise unknown_name("topic", topic, [*TOPICS, *SECTIONS])
    known = TOPICS[topic].names()
    if topic == "airframe" and name is not None and (name.endswith((".yaml", ".yml")) or is_plugin(name)):
        return airframe(name)
    if name not in known:
        raise unknown_name(topic, str(name), known)
    return TOPICS[topic].entry(str(name))


def elsewhere(name: str) -> str:
    """A hint for a name that is not a scenario: the command that shows it, or the nearest name."""
    for topic, what in TOPICS.items():
        if name in what.names():
            return f"there is a {topic}: skyloop show {topic} {name}"
    return nearest_name(name, [*TOPICS["scenario"].names(), *TOPICS, *SECTIONS])


# ---- parts


def parts_of(model: type[BaseModel], values: BaseModel | None = None) -> tuple[Entry, ...]:
    """The parts in the options of a model, except for those that have an entry of their own."""
    parts = []
    for key, each in model.model_fields.items():
        inside = [part for part in models_in(each.annotation) if not _has_a_place(part)]
        for part in dict.fromkeys(inside):
            kind = f" {_literal(part)}" if len(inside) > 1 else ""
            given = dict(values or ()).get(key)
            parts.append(section(part, key + kind, given if isinstance(given, part) else None))
    return tuple(parts)


def _has_a_place(model: type[BaseModel]) -> bool:
    named = (SensorConfig, PilotConfig, UserPilot, Airframe, WorldConfig)
    modules = ("skyloop.vehicle.trajectories.trajectories", "skyloop.world.atmosphere")
    return issubclass(model, named) or model.__module__ in modules or model in SECTIONS.values()


def as_data(entry: Entry) -> dict[str, object]:
    """The entry as plain data, for programs."""
    return {
        "topic": entry.topic,
        "name": entry.name,
        "summary": entry.summary,
        "notes": list(entry.notes),
        "example": entry.example,
        "options": [
            {"name": each.name, "type": each.type, "required": each.default == REQUIRED,
             "default": None if each.default == REQUIRED else each.default, "from_preset": each.from_preset,
             "unit": each.unit, "shape": each.shape, "meaning": each.meaning}
            for each in entry.options
        ],
        "presets": {name: plain(values) for name, values in entry.presets.items()},
        "figures": entry.figures,
        "parts": [as_data(part) for part in entry.parts],
    }  # fmt: skip
