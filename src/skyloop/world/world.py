"""What a world is, and what sensors see of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from skyloop.errors import ScenarioError, unknown_name
from skyloop.frames import LocalFrame
from skyloop.messages import Array
from skyloop.plugins import is_plugin, load_plugin
from skyloop.world.earth import Earth
from skyloop.world.ground import Ground
from skyloop.world.worlds.flat import Flat
from skyloop.world.worlds.hills import Hills

WORLDS: dict[str, type[Any]] = {"flat": Flat, "hills": Hills}


class World(Protocol):
    """Made as `Class(seed, **options)`."""

    ground: Ground


class WorldConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "flat"
    """A world of `skyloop list`, or your own as module:Class."""
    options: dict[str, Any] = {}
    """Arguments of the world's class."""


def build_world(config: WorldConfig, seed: int, folder: Path | None) -> World:
    if is_plugin(config.name):
        make = load_plugin(config.name, folder)
    elif config.name in WORLDS:
        make = WORLDS[config.name]
    else:
        raise unknown_name("world", config.name, WORLDS)
    try:
        world: World = make(seed, **config.options)
    except TypeError as error:
        raise ScenarioError(f"world '{config.name}' refuses its options {config.options}: {error}") from error
    if not isinstance(getattr(world, "ground", None), Ground):
        raise ScenarioError(f"world '{config.name}' has no 'ground' of class skyloop.world.ground.Ground")
    return world


class Scene:
    """The world as sensors see it: rays, gravity, the magnetic field and the place on Earth."""

    def __init__(self, world: World, earth: Earth) -> None:
        self.world = world
        self.gravity: float = earth.gravity
        self.local_frame: LocalFrame = earth.local_frame
        self.magnetic_field_world: Array = earth.magnetic_field_world

    def rays(self, origins: Array, directions: Array, max_range: float) -> Array:
        """(n,) m from (n, 3) origins along (n, 3) unit directions; inf where nothing is hit."""
        return self.world.ground.cast(origins, directions, max_range=max_range)
