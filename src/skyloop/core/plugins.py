"""The door for everything that a scenario or the command line can name: sensors, worlds, pilots, verbs and so on.

A distribution brings some by an entry point of the group `skyloop.plugins` that names a `Plugin`. What skyloop brings
itself is the plugin in `skyloop/built_in.py`, read in the same way. A plugin holds names and "module:Name" of objects,
which are imported when they are first used, so a plugin whose objects cannot be imported breaks nothing else.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from skyloop_client import codec
from skyloop_client.errors import PluginError, unknown_name

log = logging.getLogger(__name__)

GROUP = "skyloop.plugins"
"""Of the entry points."""
BUILT_IN = "skyloop"
"""The name of the plugin that skyloop is itself."""

Objects = Mapping[str, str]
"""By name, the "module:Name" of an object."""


def _none() -> Objects:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What a distribution brings. `docs/how-to/plugin.md` has an example of each."""

    sensors: Objects = field(default_factory=_none)
    """Classes of the shape `skyloop.sensors.sensor.Sensor`, with a `Config`."""
    worlds: Objects = field(default_factory=_none)
    """Classes of the shape `skyloop.world.world.World`."""
    processors: Objects = field(default_factory=_none)
    """By the record class of a sensor's samples, classes made as `Class(details, config)`; what `process(sample)` gives
    is published beside them, as `products` says."""
    airframes: Path | None = None
    """A folder of YAML files; a file's name is the airframe's."""
    controllers: Objects = field(default_factory=_none)
    """Classes made as `Class(airframe, period_s, **controller_options)`, with a method `throttle`."""
    estimators: Objects = field(default_factory=_none)
    """Classes made as `Class(setup, **options)`, with a method `on_message`."""
    pilots: Objects = field(default_factory=_none)
    """Classes made with the fields of their `Config`; a call with a bundle gives setpoints and requests."""
    links: Objects = field(default_factory=_none)
    """Subclasses of `skyloop.links.link_gate.LinkConfig`; their fields are the options of `--link KIND:OPTIONS`."""
    formats: Objects = field(default_factory=_none)
    """Objects of class `skyloop.recording.formats.registry.Format`: what `--formats` writes."""
    messages: Objects = field(default_factory=_none)
    """Frozen dataclasses with t_ns first: records that streams, files and links carry, by their class names. Their
    modules are imported at every start."""
    ros2: Objects = field(default_factory=_none)
    """By the class name of a record, tuples of `skyloop.recording.ros2.views.View`: its ROS 2 messages and their
    topics, in bags, for nodes and in Foxglove."""
    scenarios: Path | None = None
    """A folder of YAML files; a file's name is the scenario's."""
    verbs: Objects = field(default_factory=_none)
    """Typer applications; their commands become verbs of `skyloop`. Their modules are imported at every start."""
    board_programs: Objects = field(default_factory=_none)
    """By the kind of an estimator, functions (scenario, vehicle, name) that give the command which runs it on the
    emulated board of `skyloop loop --target board`."""
    reports: Objects = field(default_factory=_none)
    """Classes made as `Class(bus, world, scenario, folder)` when a run begins; `finish(summary)` adds to its
    summary."""
    catalogues: Objects = field(default_factory=_none)
    """By heading, functions that give names with one line each, for `skyloop list`."""
    cockpit: Path | None = None
    """A folder with `layers.js`, which adds layers and tabs to the cockpit's page, and files that it imports."""


FOLDERS = ("airframes", "scenarios")
"""Kinds whose objects are YAML files in a folder."""
KINDS = tuple(each.name for each in fields(Plugin))


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plugin that is installed."""

    name: str
    version: str
    plugin: Plugin | None
    """None if it could not be loaded."""
    fault: str = ""
    """Why not, in one line."""
    distribution: str = ""
    """That brings it, as pip calls it."""


@cache
def plugins() -> tuple[InstalledPlugin, ...]:
    """Skyloop itself, then what is installed beside it, by name."""
    built_in = importlib.import_module("skyloop.built_in").PLUGIN
    found = [InstalledPlugin(BUILT_IN, importlib.import_module("skyloop_client.version").__version__, built_in)]
    _register_messages(built_in)
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        loaded = _load(entry, found)
        if loaded.fault:
            log.warning("plugin '%s' is left out: %s", loaded.name, loaded.fault)
        found.append(loaded)
    return tuple(found)


def _load(entry: EntryPoint, before: list[InstalledPlugin]) -> InstalledPlugin:
    version = entry.dist.version if entry.dist is not None else ""
    try:
        plugin = entry.load()
    except (Exception, SystemExit) as error:
        return InstalledPlugin(entry.name, version, None, _one_line(f"{type(error).__name__}: {error}"))
    if not isinstance(plugin, Plugin):
        return InstalledPlugin(entry.name, version, None, f"'{entry.value}' is no skyloop.core.plugins.Plugin")
    try:
        for kind in KINDS:
            for name in _names(plugin, kind):
                for other in before:
                    if other.plugin is not None and name in _names(other.plugin, kind):
                        raise PluginError(f"'{name}' under {kind} is already brought by '{other.name}'")
        _register_messages(plugin)
    except (PluginError, TypeError) as error:
        return InstalledPlugin(entry.name, version, None, str(error))
    distribution = entry.dist.name if entry.dist is not None else ""
    return InstalledPlugin(entry.name, version, plugin, distribution=distribution)


def _register_messages(plugin: Plugin) -> None:
    for name, path in plugin.messages.items():
        codec.register(load_object(path, f"message '{name}'"))


def _names(plugin: Plugin, kind: str) -> list[str]:
    brought = _brought(plugin, kind)
    if isinstance(brought, Mapping):
        return list(brought)
    return sorted(path.stem for path in brought.glob("*.yaml")) if kind in FOLDERS and brought is not None else []


def _brought(plugin: Plugin, kind: str) -> Objects | Path | None:
    brought: Objects | Path | None = getattr(plugin, kind)
    return brought


def _one_line(text: str) -> str:
    return " ".join(text.split())


T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """The objects of one kind by name, from all plugins. An object is imported when it is first asked for."""

    def __init__(self, kind: str, singular: str) -> None:
        if kind not in KINDS:
            raise ValueError(f"a Plugin has no '{kind}'")
        self._kind, self._singular = kind, singular
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> T:
        what = f"plugin '{self.origin(name)}', {self._singular} '{name}'" if name in self else ""
        loaded: T = load_object(self.path(name), what)
        return loaded

    def path(self, name: str) -> str:
        """Its "module:Name"."""
        for found in plugins():
            brought = _brought(found.plugin, self._kind) if found.plugin is not None else None
            if isinstance(brought, Mapping) and name in brought:
                return str(brought[name])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for found in plugins() if found.plugin is not None for name in _names(found.plugin, self._kind))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return any(name == each for each in self)

    def loadable(self) -> dict[str, T]:
        """All that can be imported; the rest is logged once, in one line each."""
        found = {}
        for name in self:
            try:
                found[name] = self[name]
            except PluginError as error:
                log.warning("%s", error)
        return found

    def origin(self, name: str) -> str:
        """The name of the plugin that brings it."""
        for found in plugins():
            if found.plugin is not None and name in _names(found.plugin, self._kind):
                return found.name
        raise unknown_name(self._singular, name, self)


class Files(Registry[Path]):
    """The YAML files of one kind by name, from the folders of all plugins."""

    def _load(self, name: str) -> Path:
        for found in plugins():
            folder = _brought(found.plugin, self._kind) if found.plugin is not None else None
            if isinstance(folder, Path) and (path := folder / f"{name}.yaml").is_file():
                return path
        raise KeyError(name)


def load_object(path: str, what: str) -> Any:
    """The object of a "module:Name"; any error becomes a PluginError of one line that begins with `what`."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        raise PluginError(_one_line(f"{what}: cannot load '{path}': {type(error).__name__}: {error}")) from error
