"""AirSim's image methods. They also work while time is paused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import rotate
from skyloop.links.airsim.cameras import Camera, CameraSet
from skyloop.links.airsim.dialect import Dialect
from skyloop.links.airsim.image_effects import shown
from skyloop.links.airsim.listener import Reply
from skyloop.links.airsim.methods import later
from skyloop.links.airsim.options import IMAGE_TYPES
from skyloop.links.airsim.pixels import (
    ANNOTATION,
    INFRARED,
    SCENE,
    SEGMENTATION,
    Moving,
    Tables,
    as_bytes,
    as_floats,
    flow,
    raw_pixels,
)
from skyloop.links.airsim.plot_markers import Plots
from skyloop.links.airsim.segmentation import Segmentation, shown_ids
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map
from skyloop.links.airsim.wire import Floats
from skyloop.recording.formats.png_image import encode_png
from skyloop.sim.world_view import View
from skyloop_client.errors import LinkError

MOST_IMAGES = 64
"""Per call."""
STILL = Moving(np.zeros(3), np.zeros(3))


class Answer(Protocol):
    """The receiver of images: a client's `Reply`, or a recording."""

    def give_what(self, make: Callable[[], Any]) -> None:
        """Call `make` and give its result, or report why it failed."""

    def fail(self, why: str) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A requested image and the state at that instant, because it may be rendered later."""

    camera: Camera
    kind: int
    layer: str | None
    """Name of an annotation layer."""
    place: Map
    """Pose of the camera."""
    motion: Moving
    tables: Tables
    t_ns: int


class ImageTaker:
    """Takes images for clients and for recordings."""

    def __init__(self, server: ServerState, cameras: CameraSet, segmentation: Segmentation, plots: Plots) -> None:
        self._server, self._cameras = server, cameras
        self._segmentation, self._plots = segmentation, plots

    def answer(self, requests: list[Map], vehicle_name: str, external: Any, dialect: Dialect, reply: Answer) -> None:
        """Answer simGetImages."""
        shots = [self._asked(request, vehicle_name, external, dialect) for request in requests]

        def given(views: list[View]) -> None:
            taken = zip(requests, shots, views, strict=True)
            reply.give_what(lambda: [self._told(request, shot, view, dialect) for request, shot, view in taken])

        self._cameras.take([(shot.camera, shot.kind) for shot in shots], given, reply.fail)

    def answer_png(self, shot: Shot, reply: Answer) -> None:
        """Answer simGetImage."""
        self._cameras.take(
            [(shot.camera, shot.kind)],
            lambda views: reply.give_what(lambda: encode_png(self._bytes(shot, views[0]))),
            reply.fail,
        )

    def shot(self, camera: Camera, kind: int, layer: str | None, dialect: Dialect) -> Shot:
        """A shot of the current state."""
        tables, place = self._tables(kind, layer, dialect), camera.axes.pose(*camera.place())
        return Shot(camera, kind, layer, place, _motion(camera), tables, self._server.now_ns)

    def _asked(self, request: Any, vehicle_name: str, external: Any, dialect: Dialect) -> Shot:
        if not isinstance(request, dict):
            raise LinkError(f"a request is {request!r}; give a map with camera_name, image_type...")
        camera = self._cameras.find(request.get("camera_name", ""), vehicle_name, external)
        return self.shot(camera, type_of(request.get("image_type", 0)), request.get("annotation_name"), dialect)

    def _told(self, request: Map, shot: Shot, view: View, dialect: Dialect) -> Map:
        as_float, compress = bool(request.get("pixels_as_float")), bool(request.get("compress"))
        pixels, numbers = b"", Floats(())
        if as_float:
            floats = as_floats(shot.kind, view, shot.tables, shot.motion)
            numbers, compress = Floats(bent(floats, shot.camera, view.lens)), False
        else:
            colours = self._bytes(shot, view)
            pixels = encode_png(colours) if compress else raw_pixels(colours, blue_first=dialect is Dialect.AIRSIM)
        return {
            "image_data_uint8": pixels,
            "image_data_float": numbers,
            "camera_position": shot.place["position"],
            "camera_name": str(request.get("camera_name", "")),
            "camera_orientation": shot.place["orientation"],
            "time_stamp": shot.t_ns,
            "message": "",
            "pixels_as_float": as_float,
            "compress": compress,
            "width": view.lens.width,
            "height": view.lens.height,
            "image_type": shot.kind,
            "annotation_name": str(shot.layer or ""),
        }

    def _tables(self, kind: int, layer: Any, dialect: Dialect) -> Tables:
        if kind == ANNOTATION:
            return Tables(colours=self._segmentation.layer_colours(str(layer or "")))
        if kind == SEGMENTATION:
            return Tables(colours=self._segmentation.colours(dialect))
        return Tables(greys=shown_ids(self._segmentation.ids(dialect)) if kind == INFRARED else None)

    def _bytes(self, shot: Shot, view: View) -> NDArray[np.uint8]:
        """(height, width, 3), RGB."""
        camera, kind = shot.camera, shot.kind
        image = as_bytes(kind, view, shot.tables, shot.motion)
        look = camera.captures[kind].look
        if not look.is_plain:
            shift = flow(view, shot.motion) if look.blur else None
            name = f"{camera.vehicle.name if camera.vehicle else ''}/{camera.name}/{kind}"
            image = shown(image, look, camera.exposures[kind], shift, name, shot.t_ns)
        if kind == SCENE and camera.vehicle is None:
            image = self._plots.drawn(image, view)
        return bent(image, camera, view.lens)


def _motion(camera: Camera) -> Moving:
    if camera.vehicle is None:
        return STILL
    truth = camera.vehicle.truth
    rates = rotate(truth.quat_wxyz, truth.angular_velocity_body)
    arm = rotate(truth.quat_wxyz, camera.position)
    return Moving(truth.velocity_world + np.cross(rates, arm), rates)


class Images:
    def __init__(self, server: ServerState, cameras: CameraSet, taker: ImageTaker) -> None:
        self._server, self._cameras, self._taker = server, cameras, taker

    @later
    def simGetImages(self, reply: Reply, requests: list[Map], vehicle_name: str = "", external: Any = False) -> None:
        if not isinstance(requests, list) or len(requests) > MOST_IMAGES:
            raise LinkError(f"give a list of at most {MOST_IMAGES} requests")
        self._taker.answer(requests, vehicle_name, external, self._server.dialect, reply)

    @later
    def simGetImage(
        self, reply: Reply, camera_name: str, image_type: int, vehicle_name: str = "", external: Any = False
    ) -> None:
        """Answers with a PNG. Cosys-AirSim's client sends the name of an annotation layer in place of `external`."""
        layer = external if isinstance(external, str) else None
        camera, kind = self._cameras.find(camera_name, vehicle_name, external), type_of(image_type)
        self._taker.answer_png(self._taker.shot(camera, kind, layer, self._server.dialect), reply)


def type_of(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(IMAGE_TYPES):
        raise LinkError(f"there is no image type {value!r}; give 0 to {len(IMAGE_TYPES) - 1}")
    return value


def bent(image: NDArray[Any], camera: Camera, lens: Any) -> NDArray[Any]:
    """The image through a lens with the camera's Brown-Conrady parameters. Beyond the view the edge is repeated."""
    k1, k2, k3, p1, p2 = camera.distortion.values()
    if not any((k1, k2, k3, p1, p2)):
        return image
    rays = lens.rays()
    seen_x, seen_y = rays[..., 0], rays[..., 1]
    x, y = seen_x.copy(), seen_y.copy()
    # iterate to find the undistorted position that the lens maps to each pixel
    for _ in range(8):
        square = x * x + y * y
        radial = np.maximum(1.0 + square * (k1 + square * (k2 + square * k3)), 0.1)
        x, y = (
            (seen_x - 2.0 * p1 * x * y - p2 * (square + 2.0 * x * x)) / radial,
            (seen_y - 2.0 * p2 * x * y - p1 * (square + 2.0 * y * y)) / radial,
        )
    column = np.clip(np.rint(lens.fx * x + lens.cx), 0, lens.width - 1).astype(int)
    row = np.clip(np.rint(lens.fy * y + lens.cy), 0, lens.height - 1).astype(int)
    return np.asarray(image[row, column])
