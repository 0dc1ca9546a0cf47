"""The interface of a world, and the list of worlds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, model_validator

from skyloop.core.plugins import Registry
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.model import Model
from skyloop_client.errors import ScenarioError, nearest_name, unknown_name
from skyloop_client.user_code import is_plugin, load_plugin

WORLDS: Registry[Callable[..., World]] = Registry("worlds", "world")
WORLD_FILES = (".glb", ".gltf", ".obj", ".sdf", ".world")
Randomised = Literal["sun", "weather", "textures", "colours", "people"]
"""What a seed may vary widely."""


class World(Protocol):
    """A world is created as `Class(seed, **options)`."""

    ground: Ground
    """The height field on which vehicles stand."""
    model: Model
    """Everything visible and solid. A world without a model shows its ground as grass."""


class WorldConfig(BaseModel):
    """Which world is built, and with which options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "flat"
    """A world of `skyloop list`, or your own class as module:Class."""
    file: str | None = None
    """A glTF, GLB, OBJ or SDF file (`.sdf`, `.world`: Gazebo's) that becomes the world, instead of a name."""
    options: dict[str, Any] = {}
    """The options of the world; `skyloop show world NAME` lists them."""
    randomise: tuple[Randomised, ...] = ()
    """What the seed varies widely, for training detectors. Topics that a world lacks have no effect: `room` has no
    people."""

    @model_validator(mode="after")
    def _named_or_read(self) -> WorldConfig:
        if self.file is not None and "name" in self.model_fields_set and self.name != "flat":
            raise ValueError(f"name '{self.name}' and file '{self.file}' are two worlds; keep one")
        return self


def build_world(config: WorldConfig, seed: int, folder: Path | None) -> World:
    """The world of a config: one with a name, one of a file, or a class of the user's."""
    label = config.name if config.file is None else config.file
    make: Any
    first: Any = seed
    if config.file is not None:
        from skyloop.world.imported import Imported

        make, first = Imported, Path(config.file) if folder is None else folder / config.file
    elif is_plugin(config.name):
        make = load_plugin(config.name, folder)
    elif config.name in WORLDS:
        make = WORLDS[config.name]
    else:
        raise unknown_name("world", config.name, WORLDS)
    known = inspect.signature(make).parameters
    for option in config.options:
        if option not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            hint = nearest_name(option, set(known) - {"seed", "path", "randomise"})
            raise ScenarioError(f"world '{label}' has no option '{option}'; {hint}")
    options = dict(config.options)
    topics = frozenset(config.randomise) - {"sun", "weather"}
    if topics and "randomise" in known:
        options["randomise"] = topics
    try:
        world: World = make(first, **options)
    except TypeError as error:
        raise ScenarioError(f"world '{label}' refuses its options {config.options}: {error}") from error
    ground, model = (getattr(world, name, None) for name in ("ground", "model"))
    if not isinstance(ground, Ground):
        raise ScenarioError(f"world '{label}' has no 'ground' of class skyloop.world.ground.Ground")
    if not isinstance(model, Model):
        world.model = Model()
        place_terrain(world.model, world.ground)
    return world
