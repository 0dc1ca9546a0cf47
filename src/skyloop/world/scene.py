"""The world as sensors see it: rays, views, gravity, the magnetic field, the weather and the place on Earth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from skyloop.core.frames import LocalFrame
from skyloop.world.earth import Earth
from skyloop.world.model import Model
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import Weather
from skyloop_client.messages import Array

Rows = tuple[int, int]
Meanwhile = Callable[[Callable[[], bool]], None]


class Painter(Protocol):
    """What makes pictures: `rendering.client.Renderer`."""

    meanwhile: Meanwhile | None
    """Called with a question while it paints, and returns when the answer is yes: the views are there."""

    def render(self, requests: Sequence[ViewRequest], weather: Weather) -> list[View]: ...

    def retable(self) -> None:
        """The model's rows have changed, its shapes have not."""

    def close(self) -> None: ...


class Scene:
    """One for all sensors; `at` moves it to an instant and to the eyes of one vehicle."""

    def __init__(self, model: Model, earth: Earth, weather: Weather, start_painter: Callable[[Model], Painter]) -> None:
        self.model = model
        self.weather = weather
        self.gravity: float = earth.gravity
        self.local_frame: LocalFrame = earth.local_frame
        self.magnetic_field_world: Array = earth.magnetic_field_world
        self.vehicle_rows: list[Rows] = []
        """Of each vehicle; its own sensors look through them."""
        self.t_ns = 0
        self.hidden_rows: Rows | None = None
        self.meanwhile: Meanwhile | None = None
        """What to do while pictures are painted: somebody outside may wait for an answer."""
        self._start_painter = start_painter
        self._painter: Painter | None = None
        self._tracer: RayTracer | None = None
        self._views: dict[Any, View] = {}

    def at(self, t_ns: int, vehicle: int | None = None) -> Scene:
        """This scene at an instant, seen from a vehicle."""
        if t_ns != self.t_ns:
            self.t_ns = t_ns
            self._views.clear()
        self.hidden_rows = None if vehicle is None or not self.vehicle_rows else self.vehicle_rows[vehicle]
        return self

    def rays(self, origins: Array, directions: Array, max_range: float) -> Array:
        """(n,) m from (n, 3) origins along (n, 3) unit directions; inf where nothing is hit."""
        return np.asarray(self.cast(origins, directions, max_range).distance, np.float64)

    def cast(self, origins: Any, directions: Any, max_range: float, t_ns: int | None = None) -> RayHits:
        """What rays hit at `t_ns`, now when left out."""
        if self._tracer is None:
            self._tracer = RayTracer(self.model)
        motion = self.model.motion(self.t_ns if t_ns is None else t_ns)
        return self._tracer.cast(origins, directions, max_range, motion, self.hidden_rows)

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        """Pictures of this instant; one that was made before is not made again."""
        requests = [
            request if request.hidden_rows else replace(request, hidden_rows=self.hidden_rows) for request in requests
        ]
        missing = {_key(request): request for request in requests if _key(request) not in self._views}
        if missing:
            self.expect_views()
            assert self._painter is not None
            self._painter.meanwhile = self.meanwhile
            painted = self._painter.render(list(missing.values()), self.weather)
            self._views.update(zip(missing, painted, strict=True))
        return [self._views[_key(request)] for request in requests]

    def seen(self, requests: Sequence[ViewRequest]) -> list[ViewRequest]:
        """The same requests without the vehicle that looks."""
        return [replace(request, hidden_rows=self.hidden_rows) for request in requests]

    def view(self, request: ViewRequest) -> View:
        return self.views([request])[0]

    def expect_views(self) -> None:
        """Start the painter now, so that it gets ready while other things are."""
        if self._painter is None:
            self._painter = self._start_painter(self.model)

    def forget(self) -> None:
        """Time was set back: what was seen may not have happened."""
        self._views.clear()
        self.model.forget()

    def rebuild(self) -> None:
        """The model's rows have changed, its shapes have not."""
        self.forget()
        self._tracer = None
        if self._painter is not None:
            self._painter.retable()

    def close(self) -> None:
        if self._painter is not None:
            self._painter.close()
            self._painter = None


def _key(request: ViewRequest) -> Any:
    lens, pose = request.lens, request.pose
    return (
        (lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy),
        (pose.t_ns, pose.position.tobytes(), pose.quat_wxyz.tobytes()),
        (request.quality, request.exposure, request.hidden_rows),
    )
