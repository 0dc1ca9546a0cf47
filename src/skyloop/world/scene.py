"""The world as sensors see it: rays, views, gravity, the magnetic field, the weather and the position on Earth."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.frames import LocalFrame
from skyloop.world.earth import Earth
from skyloop.world.model import Model
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import Weather
from skyloop_client.errors import RendererError
from skyloop_client.messages import Array

Rows = tuple[int, int]
Meanwhile = Callable[[Callable[[], bool]], None]
T = TypeVar("T")


class Beside(Protocol):
    def __call__(self, work: Callable[[], T]) -> T:
        """Calls a function in another thread, answers clients until it is done, and returns its result."""


class ViewRenderer(Protocol):
    """The interface of a renderer; `rendering.client.Renderer` implements it."""

    meanwhile: Meanwhile | None
    """Called while it renders, with a function that says whether the views are ready; it returns once they are."""

    def render(self, requests: Sequence[ViewRequest], weather: Weather) -> list[View]: ...

    def submit(self, requests: Sequence[ViewRequest], weather: Weather) -> None:
        """Requests views of the present state without waiting for them."""

    def collect(self) -> list[View]:
        """The views of the oldest request under way."""

    @property
    def has_room(self) -> bool:
        """Whether a request can be submitted beside those under way."""

    def has_answered(self) -> bool:
        """Whether `collect` would return at once."""

    def retable(self) -> None:
        """Must be called when the model's rows have changed but not its shapes."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Painting:
    """Views under way, and the callbacks that wait for them."""

    given: Callable[[list[View]], None]
    failed: Callable[[RendererError], None]


class WorldScene:
    """One scene for all sensors; `at` moves it to an instant and to one vehicle."""

    def __init__(
        self, model: Model, earth: Earth, weather: Weather, start_painter: Callable[[Model], ViewRenderer]
    ) -> None:
        self.model = model
        self.weather = weather
        self.gravity: float = earth.gravity
        self.local_frame: LocalFrame = earth.local_frame
        self.magnetic_field_world: Array = earth.magnetic_field_world
        self.vehicle_parts: list[Rows] = []
        """The rows of each vehicle; its own sensors do not see them."""
        self.t_ns = 0
        self.hidden_parts: Rows | None = None
        self.meanwhile: Meanwhile | None = None
        """What to do while pictures are rendered, because a client may wait for an answer."""
        self.beside: Beside | None = None
        """How costly samples are measured while clients are answered. None: they wait."""
        self._start_painter = start_painter
        self._painter: ViewRenderer | None = None
        self._tracer: RayTracer | None = None
        self._views: dict[Hashable, View] = {}
        self._under_way: deque[Painting] = deque()

    def at(self, t_ns: int, vehicle: int | None = None) -> WorldScene:
        """This scene at an instant, seen from a vehicle."""
        if t_ns != self.t_ns:
            self.t_ns = t_ns
            self._views.clear()
        self.hidden_parts = None if vehicle is None or not self.vehicle_parts else self.vehicle_parts[vehicle]
        return self

    def measure(self, work: Callable[[], T]) -> T:
        """The result of a costly measurement of this scene."""
        if self.beside is None:
            return work()
        # clients are answered by the thread that waits, not by the one that measures
        meanwhile, self.meanwhile = self.meanwhile, None
        try:
            return self.beside(work)
        finally:
            self.meanwhile = meanwhile

    def rays(self, origins: Array, directions: Array, max_range: float) -> Array:
        """(n,) m from (n, 3) origins along (n, 3) unit directions; inf where nothing is hit."""
        return np.asarray(self.cast(origins, directions, max_range).distance, np.float64)

    def cast(self, origins: ArrayLike, directions: ArrayLike, max_range: float, t_ns: int | None = None) -> RayHits:
        """The hits of rays at `t_ns`, by default now."""
        if self._tracer is None:
            self._tracer = RayTracer(self.model)
        motion = self.model.motion(self.t_ns if t_ns is None else t_ns)
        return self._tracer.cast(origins, directions, max_range, motion, self.hidden_parts)

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        """Pictures of this instant; a picture is rendered only once."""
        requests = [
            request if request.hidden_parts else replace(request, hidden_parts=self.hidden_parts)
            for request in requests
        ]
        missing = _merged([request for request in requests if not _shows(self._views.get(_key(request)), request)])
        if missing:
            self.settle()
            self.expect_views()
            assert self._painter is not None
            self._painter.meanwhile = self.meanwhile
            painted = self._painter.render(list(missing.values()), self.weather)
            for key, view in zip(missing, painted, strict=True):
                self._views[key] = _joined(self._views.get(key), view)
        return [self._views[_key(request)] for request in requests]

    def paint_beside(self, requests: Sequence[ViewRequest], painting: Painting) -> None:
        """Renders pictures of this instant while time goes on; `attend` or `settle` delivers them.

        The requests name the rows they do not see.
        """
        self.expect_views()
        assert self._painter is not None
        while self._under_way and not self._painter.has_room:
            self._finish_one()
        merged, keys = _merged(requests), [_key(request) for request in requests]

        def given(views: list[View]) -> None:
            painted = dict(zip(merged, views, strict=True))
            painting.given([painted[key] for key in keys])

        self._painter.submit(list(merged.values()), self.weather)
        self._under_way.append(replace(painting, given=given))

    @property
    def is_painting(self) -> bool:
        """Whether pictures from `paint_beside` are under way."""
        return bool(self._under_way)

    def attend(self) -> None:
        """Delivers the pictures that are ready."""
        while self._under_way and self._painter is not None and self._painter.has_answered():
            self._finish_one()

    def settle(self) -> None:
        """Waits for all pictures under way, because the rows they show are about to be renumbered."""
        while self._under_way:
            self._finish_one()

    def _finish_one(self) -> None:
        assert self._painter is not None
        painting = self._under_way.popleft()
        try:
            views = self._painter.collect()
        except RendererError as error:
            painting.failed(error)
            return
        painting.given(views)

    def seen(self, requests: Sequence[ViewRequest]) -> list[ViewRequest]:
        """The same requests, with the vehicle of the camera hidden."""
        return [replace(request, hidden_parts=self.hidden_parts) for request in requests]

    def view(self, request: ViewRequest) -> View:
        return self.views([request])[0]

    def expect_views(self) -> None:
        """Starts the renderer now, so that it gets ready in the background."""
        if self._painter is None:
            self._painter = self._start_painter(self.model)

    def forget(self) -> None:
        """Drops all views, because time was set back and they may no longer be true."""
        self._views.clear()
        self.model.forget()

    def rebuild(self) -> None:
        """Must be called when the model's rows have changed but not its shapes."""
        self.forget()
        self._tracer = None
        if self._painter is not None:
            self._painter.retable()

    def close(self) -> None:
        self._under_way.clear()
        if self._painter is not None:
            self._painter.close()
            self._painter = None


def _shows(view: View | None, request: ViewRequest) -> bool:
    """Whether a picture has all that is requested."""
    if view is None:
        return False
    return (view.colour.size > 0 or not request.colour) and (view.surface.size > 0 or not request.surface)


def _joined(before: View | None, now: View) -> View:
    """A picture with the parts of the same picture that were painted before."""
    if before is None:
        return now
    colour = now.colour if now.colour.size else before.colour
    surface = now.surface if now.surface.size else before.surface
    return View(now.lens, now.pose, now.model, now.motion, colour, surface)


def _merged(requests: Sequence[ViewRequest]) -> dict[Hashable, ViewRequest]:
    """One picture serves all cameras at one position, so it has all that any of them needs."""
    merged: dict[Hashable, ViewRequest] = {}
    for request in requests:
        key = _key(request)
        both = merged.get(key, request)
        merged[key] = replace(request, colour=request.colour or both.colour, surface=request.surface or both.surface)
    return merged


def _key(request: ViewRequest) -> Hashable:
    lens, pose = request.lens, request.pose
    return (
        (lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy),
        (pose.t_ns, pose.position.tobytes(), pose.quat_wxyz.tobytes()),
        (request.quality, request.exposure, request.hidden_parts),
    )
