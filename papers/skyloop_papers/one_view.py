"""A scene that is one picture, so that several sensors see the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.sensor import Scene
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import Weather
from skyloop_client.messages import Kinematics

Record_co = TypeVar("Record_co", covariant=True)


class ViewSensor(Protocol[Record_co]):
    """A sensor that measures in a picture."""

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: tuple[()], rng: KeyedRandom
    ) -> tuple[Record_co, tuple[()]]: ...


class OneView:
    def __init__(self, view: View, weather: Weather) -> None:
        self.view, self.weather = view, weather

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        return [self.view]

    def measured(self, sensor: ViewSensor[Record_co], at: Kinematics, rng: KeyedRandom) -> Record_co:
        scene: Any = self
        return sensor.measure(at, scene, (), rng)[0]
