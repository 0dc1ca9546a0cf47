"""AirSim's simPlot methods: markers in the world, drawn into the images of external cameras."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from skyloop.core.frames import rotate, rotate_inverse
from skyloop.links.airsim.options import SensorOptions
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map, number_of, vector_of
from skyloop.links.airsim.vehicle import VehicleSide
from skyloop.sim.world_view import View
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

MOST_MARKS = 20_000
NEAR_M = 0.05
COVERED_M = 0.05
"""A mark less than this many m behind a surface counts as visible."""
DOT = (0, 255, 0)
"""Colour of sensor measurements."""
TRACE = ((255, 0, 0), 3.0)
"""Colour of the trace of a vehicle with EnableTrace."""
AXIS_COLOURS = ((255, 0, 0), (0, 255, 0), (0, 0, 255))


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A line. A point or text has equal ends."""

    start: Array
    end: Array
    colour: tuple[int, int, int]
    thickness: float
    """px. For a text, its height."""
    until_ns: int | None
    """None means until it is flushed."""
    text: str = ""


class Plots:
    """Holds and draws the marks."""

    def __init__(self, server: ServerState) -> None:
        self._server = server
        self.marks: list[Mark] = []
        self.traces: dict[str, tuple[tuple[int, int, int], float]] = {}
        """Colour and thickness of the trace of each vehicle."""
        for name, vehicle in server.vehicles.items():
            if vehicle.options.is_traced:
                self.traces[name] = TRACE
        self._traced: dict[str, Array] = {}
        server.every_tick.append(self._trace)

    def add(self, mark: Mark) -> None:
        if len(self.marks) >= MOST_MARKS:
            raise LinkError(f"there are {MOST_MARKS} marks already; call simFlushPersistentMarkers")
        self.marks.append(mark)

    def _trace(self, t_ns: int) -> None:
        for name, (colour, thickness) in self.traces.items():
            here = np.array(self._server.vehicle(name).truth.position)
            before = self._traced.setdefault(name, here)
            if np.linalg.norm(here - before) > 0.2 and len(self.marks) < MOST_MARKS:
                self.marks.append(Mark(before, here, colour, thickness, None))
                self._traced[name] = here

    def drawn(self, image: NDArray[np.uint8], view: View) -> NDArray[np.uint8]:
        """The image with all visible marks."""
        now = self._server.now_ns
        self.marks = [mark for mark in self.marks if mark.until_ns is None or mark.until_ns > now]
        image = self._with_measurements(image, view)
        if not self.marks:
            return image
        canvas = Image.fromarray(image)
        pen = ImageDraw.Draw(canvas)
        for mark in self.marks:
            _draw(pen, mark, view)
        return np.asarray(canvas)

    def _with_measurements(self, image: NDArray[np.uint8], view: View) -> NDArray[np.uint8]:
        """The image with the latest measurements of sensors that have DrawDebugPoints."""
        positions = [
            measured(self._server, vehicle, sensor)
            for vehicle in self._server.vehicles.values()
            for sensor in vehicle.options.sensors.values()
            if sensor.is_drawn
        ]
        if not positions:
            return image
        # measured points lie on surfaces, and the depth of distant surfaces is less exact
        u, v, shown = _seen(np.concatenate(positions), view, 0.02)
        column, row = (np.rint(at[shown]).astype(int) for at in (u, v))
        image = image.copy()
        for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            at = np.minimum(row + down, view.lens.height - 1), np.minimum(column + right, view.lens.width - 1)
            image[at] = DOT
        return image


def measured(server: ServerState, vehicle: VehicleSide, sensor: SensorOptions) -> Array:
    """(n, 3) m, world: the points of a LiDAR's latest sweep, or the end of a distance sensor's ray."""
    stream = f"{vehicle.options.vehicle}/{sensor.stream}"
    sample, mount = server.port.bus.latest(stream), server.port.bus.infos[stream].mount
    if sample is None:
        return np.zeros((0, 3))
    truth = server.scan_truth.get(stream, vehicle.truth)
    if sensor.kind == "rangefinder":
        points = np.array([[sample.distance, 0.0, 0.0]])[: int(np.isfinite(sample.distance))]
    else:
        points = sample.points.astype(np.float64)
    in_body = rotate(mount.quat_wxyz, points) + mount.position
    return np.asarray(rotate(truth.quat_wxyz, in_body) + truth.position)


def _seen(positions: Array, view: View, blur: float = 0.0) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Column and row of world points, and which of them are visible. `blur` is the relative error of the depth."""
    seen = rotate_inverse(view.pose.quat_wxyz, positions - view.pose.position)
    lens, ahead = view.lens, seen[:, 2] > NEAR_M
    depth = np.where(ahead, seen[:, 2], 1.0)
    u, v = lens.fx * seen[:, 0] / depth + lens.cx, lens.fy * seen[:, 1] / depth + lens.cy
    inside = ahead & (u > -0.5) & (u < lens.width - 0.5) & (v > -0.5) & (v < lens.height - 0.5)
    column, row = (np.where(inside, np.rint(at), 0.0).astype(int) for at in (u, v))
    return u, v, inside & (seen[:, 2] < (1.0 + blur) * view.depth[row, column] + COVERED_M)


def _draw(pen: ImageDraw.ImageDraw, mark: Mark, view: View) -> None:
    n = 1 if mark.start is mark.end else 64
    u, v, shown = _seen(mark.start + np.linspace(0.0, 1.0, n)[:, None] * (mark.end - mark.start), view)
    half = max(0.5 * mark.thickness, 0.5)
    if mark.text and shown[0]:
        pen.text((u[0], v[0]), mark.text, fill=mark.colour, font=_font(round(mark.thickness)))
    elif n == 1 and shown[0]:
        pen.rectangle((u[0] - half, v[0] - half, u[0] + half, v[0] + half), fill=mark.colour)
    for k in np.flatnonzero(shown[1:] & shown[:-1]).tolist():
        pen.line((u[k], v[k], u[k + 1], v[k + 1]), fill=mark.colour, width=max(1, round(mark.thickness)))


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(min(max(size, 6), 200))


@dataclass(frozen=True, slots=True)
class LineArguments:
    """How to draw lines."""

    color_rgba: Sequence[float]
    thickness: float = 5.0
    duration: float = -1.0
    is_persistent: bool = False


class PlotMethods:
    def __init__(self, server: ServerState, own: Plots) -> None:
        self._server, self._own = server, own

    def simFlushPersistentMarkers(self) -> None:
        self._own.marks.clear()

    def simPlotPoints(
        self,
        points: list[Map],
        color_rgba: Sequence[float],
        size: float = 10.0,
        duration: float = -1.0,
        is_persistent: bool = False,
    ) -> None:
        for position in self._positions(points):
            self._add(position, position, _colour(color_rgba), 0.5 * number_of(size), duration, is_persistent)

    def simPlotLineStrip(self, points: list[Map], how: LineArguments) -> None:
        self._lines(itertools.pairwise(self._positions(points)), how)

    def simPlotLineList(self, points: list[Map], how: LineArguments) -> None:
        positions = self._positions(points)
        self._lines(zip(positions[::2], positions[1::2], strict=False), how)

    def _lines(self, ends: Iterable[tuple[Array, Array]], how: LineArguments) -> None:
        for start, end in ends:
            self._add(
                start, end, _colour(how.color_rgba), 0.4 * number_of(how.thickness), how.duration, how.is_persistent
            )

    def simPlotArrows(
        self, points_start: list[Map], points_end: list[Map], color_rgba: Sequence[float], thickness: float = 5.0,
        arrow_size: float = 2.0, duration: float = -1.0, is_persistent: bool = False,
    ) -> None:  # fmt: skip
        colour, wide = _colour(color_rgba), 0.4 * number_of(thickness)
        for start, end in zip(self._positions(points_start), self._positions(points_end), strict=True):
            self._add(start, end, colour, wide, duration, is_persistent)
            for tip in _arrow_head(start, end, number_of(arrow_size)):
                self._add(end, tip, colour, wide, duration, is_persistent)

    def simPlotStrings(
        self, strings: list[str], positions: list[Map], scale: float = 5.0,
        color_rgba: Sequence[float] = (1.0, 0.0, 0.0, 1.0), duration: float = -1.0,
    ) -> None:  # fmt: skip
        for text, position in zip(strings, self._positions(positions), strict=True):
            self._add(position, position, _colour(color_rgba), 2.0 * number_of(scale), duration, False, str(text))

    def simPlotTransforms(
        self, poses: list[Map], scale: float = 5.0, thickness: float = 5.0, duration: float = -1.0,
        is_persistent: bool = False,
    ) -> None:  # fmt: skip
        """Axes of `scale` cm: forward red, right green, down blue."""
        for pose in poses:
            position, quat = self._server.world.world_pose(pose)
            for axis, colour in zip(np.diag([1.0, -1.0, -1.0]), AXIS_COLOURS, strict=True):
                end = position + rotate(quat, 0.01 * number_of(scale) * axis)
                self._add(position, end, colour, 0.4 * number_of(thickness), duration, is_persistent)

    def simPlotTransformsWithNames(
        self, poses: list[Map], names: list[str], tf_scale: float = 5.0, tf_thickness: float = 5.0,
        text_scale: float = 10.0, text_color_rgba: Sequence[float] = (1.0, 0.0, 0.0, 1.0), duration: float = -1.0,
    ) -> None:  # fmt: skip
        self.simPlotTransforms(poses, tf_scale, tf_thickness, duration, False)
        self.simPlotStrings(names, [pose["position"] for pose in poses], text_scale, text_color_rgba, duration)

    def simSetTraceLine(self, color_rgba: Sequence[float], thickness: float = 3.0, vehicle_name: str = "") -> None:
        """From now on the vehicle leaves a trace. Thickness 0 ends it."""
        name, wide = self._server.vehicle(vehicle_name).name, number_of(thickness)
        self._own.traces.pop(name, None)
        if wide > 0.0:
            self._own.traces[name] = (_colour(color_rgba), wide)

    def _positions(self, points: list[Map]) -> list[Array]:
        return [self._server.world.world(vector_of(point, f"points[{k}]")) for k, point in enumerate(points)]

    def _add(
        self, start: Array, end: Array, colour: tuple[int, int, int], thickness: float, duration: float, keeps: bool,
        text: str = "",
    ) -> None:  # fmt: skip
        lasts = number_of(duration, "duration")
        # AirSim shows a mark without a duration for one frame; here it stays until it is flushed
        until = None if keeps or lasts < 0.0 else self._server.now_ns + round(lasts * NS_PER_S)
        self._own.add(Mark(start, end, colour, thickness, until, text))


def _arrow_head(start: Array, end: Array, size: float) -> list[Array]:
    """The ends of the two head lines: as in Unreal, back and aside by the square root of the size in cm."""
    way = end - start
    length = float(np.linalg.norm(way))
    if length < 1e-9:
        return []
    ahead, reach = way / length, 0.01 * math.sqrt(size if size > 0.0 else 10.0)
    aside = np.cross(ahead, [0.0, 0.0, 1.0])
    aside = aside if np.linalg.norm(aside) > 1e-6 else np.cross(ahead, [1.0, 0.0, 0.0])
    aside /= np.linalg.norm(aside)
    return [end + reach * (side * aside - ahead) for side in (1.0, -1.0)]


def _colour(rgba: Sequence[float]) -> tuple[int, int, int]:
    red, green, blue = (round(255.0 * min(max(number_of(part), 0.0), 1.0)) for part in list(rgba)[:3])
    return red, green, blue
