"""Bodies of the cockpit's calls, as a page sends them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Order = Literal["arm", "kill", "take_off", "land", "home", "hover", "goal", "velocity", "hand", "give_back"]
Root = Literal["runs", "datasets"]
"""Where a folder is looked for."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OrderArguments(Strict):
    """What an order takes: take_off a height; goal a position; velocity and hand speeds along the body's axes."""

    height: FiniteFloat | None = None
    x: FiniteFloat | None = None
    y: FiniteFloat | None = None
    z: FiniteFloat | None = None
    straight: bool | None = None
    forward: FiniteFloat | None = None
    left: FiniteFloat | None = None
    up: FiniteFloat | None = None
    turn: FiniteFloat | None = None


class Waypoint(Strict):
    """m, world."""

    x: Annotated[float, Field(gt=-1e5, lt=1e5)]
    y: Annotated[float, Field(gt=-1e5, lt=1e5)]
    z: Annotated[float, Field(gt=-1e5, lt=1e5)]


class WaypointList(Strict):
    points: Annotated[list[Waypoint], Field(max_length=200)] | None = None
    fly: bool = False


class TimeChange(Strict):
    """Pause, step or speed of a flight; a recording also takes `seek`. Times are in s."""

    paused: bool | None = None
    step: FiniteFloat | None = None
    speed: FiniteFloat | Literal["unlimited"] | None = None
    seek: FiniteFloat | None = None


class FlightStart(Strict):
    """A shipped scenario by name, or the text of one; `changes` are paths as in --set."""

    scenario: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=500_000)] = ""
    changes: dict[str, Any] = {}


class ScenarioText(Strict):
    text: Annotated[str, Field(max_length=500_000)]


class ScenarioChange(ScenarioText):
    """Values by path, such as world, seed or vehicles.0.airframe; null takes a key out."""

    changes: Annotated[dict[str, Any], Field(max_length=100)]


class PlayerStart(Strict):
    run: Annotated[str, Field(max_length=200)]
    root: Root = "runs"


class SnapshotChoice(Strict):
    number: int


class JobStart(Strict):
    """A dataset, a reproduction or a bench, in a process of its own."""

    kind: Literal["record", "reproduce", "bench"]
    name: Annotated[str, Field(max_length=100)]
    quick: bool = True
