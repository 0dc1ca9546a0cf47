"""AirSim's methods that take pictures; they work while time stands still, too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import rotate
from skyloop.links.airsim.cameras import Camera, CameraSet
from skyloop.links.airsim.dialect import Dialect
from skyloop.links.airsim.image_effects import shown
from skyloop.links.airsim.options import IMAGE_TYPES
from skyloop.links.airsim.pixels import (
    ANNOTATION,
    FLOW,
    FLOW_VIS,
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
from skyloop.links.airsim.plots import Plots
from skyloop.links.airsim.segmentation import Segmentation, shown_ids
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map
from skyloop.links.airsim.wire import Floats
from skyloop.recording.formats.png_image import encode_png
from skyloop_client.errors import LinkError

MOST_IMAGES = 64
"""In one call."""
STILL = Moving(np.zeros(3), np.zeros(3))


class ImageTaker:
    """Pictures as clients get them, and as recordings hold them."""

    def __init__(self, server: ServerState, cameras: CameraSet, segmentation: Segmentation, plots: Plots) -> None:
        self._server, self._cameras = server, cameras
        self._segmentation, self._plots = segmentation, plots

    def answers(self, requests: list[Map], vehicle_name: str, external: Any, dialect: Dialect) -> list[Map]:
        wanted = [self._wanted(request, vehicle_name, external) for request in requests]
        views = self._cameras.views(wanted)
        return [
            self._answer(request, *asked, view, dialect)
            for request, asked, view in zip(requests, wanted, views, strict=True)
        ]

    def png(self, camera: Camera, kind: int, layer: str | None, dialect: Dialect) -> bytes:
        view = self._cameras.views([(camera, kind)])[0]
        return encode_png(self._bytes(camera, kind, view, self._tables(kind, layer, dialect)))

    def _wanted(self, request: Any, vehicle_name: str, external: Any) -> tuple[Camera, int]:
        if not isinstance(request, dict):
            raise LinkError(f"a request is {request!r}; give a map with camera_name, image_type...")
        camera = self._cameras.find(request.get("camera_name", ""), vehicle_name, external)
        return camera, type_of(request.get("image_type", 0))

    def _answer(self, request: Map, camera: Camera, kind: int, view: Any, dialect: Dialect) -> Map:
        as_float, compress = bool(request.get("pixels_as_float")), bool(request.get("compress"))
        capture, layer = camera.captures[kind], request.get("annotation_name")
        place, tables = camera.axes.pose(*camera.place()), self._tables(kind, layer, dialect)
        pixels, numbers = b"", Floats(())
        if as_float:
            floats = as_floats(kind, view, tables, self._moving(camera, kind))
            numbers, compress = Floats(bent(floats, camera, view.lens)), False
        else:
            colours = self._bytes(camera, kind, view, tables)
            pixels = encode_png(colours) if compress else raw_pixels(colours, blue_first=dialect is Dialect.AIRSIM)
        return {
            "image_data_uint8": pixels,
            "image_data_float": numbers,
            "camera_position": place["position"],
            "camera_name": str(request.get("camera_name", "")),
            "camera_orientation": place["orientation"],
            "time_stamp": self._server.now_ns,
            "message": "",
            "pixels_as_float": as_float,
            "compress": compress,
            "width": capture.width,
            "height": capture.height,
            "image_type": kind,
            "annotation_name": str(layer or ""),
        }

    def _tables(self, kind: int, layer: Any, dialect: Dialect) -> Tables:
        if kind == ANNOTATION:
            return Tables(colours=self._segmentation.layer_colours(str(layer or "")))
        if kind == SEGMENTATION:
            return Tables(colours=self._segmentation.colours(dialect))
        return Tables(greys=shown_ids(self._segmentation.ids(dialect)) if kind == INFRARED else None)

    def _bytes(self, camera: Camera, kind: int, view: Any, tables: Tables) -> NDArray[np.uint8]:
        """(height, width, 3) red, green, blue."""
        image = as_bytes(kind, view, tables, self._moving(camera, kind))
        look = camera.captures[kind].look
        if not look.is_plain:
            shift = flow(view, self._motion(camera)) if look.blur else None
            name = f"{camera.vehicle.name if camera.vehicle else ''}/{camera.name}/{kind}"
            image = shown(image, look, camera.exposures[kind], shift, name, self._server.now_ns)
        if kind == SCENE and camera.vehicle is None:
            image = self._plots.drawn(image, view)
        return bent(image, camera, view.lens)

    def _moving(self, camera: Camera, kind: int) -> Moving:
        return self._motion(camera) if kind in (FLOW, FLOW_VIS) else STILL

    def _motion(self, camera: Camera) -> Moving:
        if camera.vehicle is None:
            return STILL
        truth = camera.vehicle.truth
        rates = rotate(truth.quat_wxyz, truth.angular_velocity_body)
        arm = rotate(truth.quat_wxyz, camera.position)
        return Moving(truth.velocity_world + np.cross(rates, arm), rates)


class Images:
    def __init__(self, server: ServerState, cameras: CameraSet, taker: ImageTaker) -> None:
        self._server, self._cameras, self._taker = server, cameras, taker

    def simGetImages(self, requests: list[Map], vehicle_name: str = "", external: Any = False) -> list[Map]:
        if not isinstance(requests, list) or len(requests) > MOST_IMAGES:
            raise LinkError(f"give a list of at most {MOST_IMAGES} requests")
        return self._taker.answers(requests, vehicle_name, external, self._server.dialect)

    def simGetImage(self, camera_name: str, image_type: int, vehicle_name: str = "", external: Any = False) -> bytes:
        """PNG. Cosys-AirSim's client gives the name of an annotation layer instead of `external`."""
        layer = external if isinstance(external, str) else None
        camera, kind = self._cameras.find(camera_name, vehicle_name, external), type_of(image_type)
        return self._taker.png(camera, kind, layer, self._server.dialect)


def type_of(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(IMAGE_TYPES):
        raise LinkError(f"there is no image type {value!r}; give 0 to {len(IMAGE_TYPES) - 1}")
    return value


def bent(image: NDArray[Any], camera: Camera, lens: Any) -> NDArray[Any]:
    """As a lens with the camera's Brown-Conrady parameters shows it; what lies outside the view is its edge."""
    k1, k2, k3, p1, p2 = camera.distortion.values()
    if not any((k1, k2, k3, p1, p2)):
        return image
    rays = lens.rays()
    seen_x, seen_y = rays[..., 0], rays[..., 1]
    x, y = seen_x.copy(), seen_y.copy()
    # where a straight ray must come from to be bent to each pixel, by repeated division
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
