"""AirSim's methods for images and for object detection in them. They also work while time is paused."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA, frd_from_flu, quat_conjugate, quat_multiply, rotate, rotate_inverse
from skyloop.links.airsim.calls import Reply
from skyloop.links.airsim.cameras import AirSimCamera, CameraSet
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
    shown,
)
from skyloop.links.airsim.plot_markers import Plots
from skyloop.links.airsim.segmentation import Segmentation, shown_ids
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import (
    MOST_REPEATS,
    Map,
    body_pose,
    geo_point,
    names_of,
    number_of,
    shown_name,
    vector,
    vector2,
)
from skyloop.links.airsim.wire import Dialect, Floats
from skyloop.recording.formats.png_image import encode_png
from skyloop.sim.world_view import View
from skyloop_client.errors import LinkError

MOST_IMAGES = 64
"""Per call."""
Pixels = TypeVar("Pixels", NDArray[np.uint8], NDArray[np.float32])
STILL = Moving(np.zeros(3), np.zeros(3))


class ImageReceiver(Protocol):
    """A client's `Reply`, or a recording."""

    def give_what(self, make: Callable[[], list[Map]]) -> None:
        """Call `make` and give its result, or report why it failed."""

    def fail(self, why: str) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class RequestedImage:
    """A requested image and the state at that instant, because it may be rendered later."""

    camera: AirSimCamera
    kind: int
    layer: str | None
    """Name of an annotation layer."""
    pose: Map
    """Pose of the camera."""
    motion: Moving
    tables: Tables
    t_ns: int


class ImageTaker:
    """Takes images for clients and for recordings."""

    def __init__(self, server: ServerState, cameras: CameraSet, segmentation: Segmentation, plots: Plots) -> None:
        self._server, self._cameras = server, cameras
        self._segmentation, self._plots = segmentation, plots

    def answer(
        self, requests: list[Map], vehicle_name: str, external: bool | str, dialect: Dialect, reply: ImageReceiver
    ) -> None:
        """Answer simGetImages."""
        shots = [self._asked(request, vehicle_name, external, dialect) for request in requests]

        def given(views: list[View]) -> None:
            taken = zip(requests, shots, views, strict=True)
            reply.give_what(lambda: [self._told(request, shot, view, dialect) for request, shot, view in taken])

        self._cameras.take([(shot.camera, shot.kind) for shot in shots], given, reply.fail)

    def answer_png(self, shot: RequestedImage, reply: Reply) -> None:
        """Answer simGetImage."""
        self._cameras.take(
            [(shot.camera, shot.kind)],
            lambda views: reply.give_what(lambda: encode_png(self._bytes(shot, views[0]))),
            reply.fail,
        )

    def shot(self, camera: AirSimCamera, kind: int, layer: str | None, dialect: Dialect) -> RequestedImage:
        """A shot of the current state."""
        tables, pose = self._tables(kind, layer, dialect), camera.axes.pose(*camera.world_pose())
        return RequestedImage(camera, kind, layer, pose, _motion(camera), tables, self._server.now_ns)

    def _asked(self, request: object, vehicle_name: str, external: bool | str, dialect: Dialect) -> RequestedImage:
        if not isinstance(request, dict):
            raise LinkError(f"a request is {request!r}; give a map with camera_name, image_type...")
        camera = self._cameras.find(request.get("camera_name", ""), vehicle_name, external)
        return self.shot(camera, type_of(request.get("image_type", 0)), request.get("annotation_name"), dialect)

    def _told(self, request: Map, shot: RequestedImage, view: View, dialect: Dialect) -> Map:
        as_float, compress = bool(request.get("pixels_as_float")), bool(request.get("compress"))
        pixels, numbers = b"", Floats(())
        if as_float:
            floats = as_floats(shot.kind, view, shot.tables, shot.motion)
            numbers, compress = Floats(bent(floats, shot.camera, view)), False
        else:
            colours = self._bytes(shot, view)
            pixels = encode_png(colours) if compress else raw_pixels(colours, blue_first=dialect is Dialect.AIRSIM)
        return {
            "image_data_uint8": pixels,
            "image_data_float": numbers,
            "camera_position": shot.pose["position"],
            "camera_name": str(request.get("camera_name", "")),
            "camera_orientation": shot.pose["orientation"],
            "time_stamp": shot.t_ns,
            "message": "",
            "pixels_as_float": as_float,
            "compress": compress,
            "width": view.lens.width,
            "height": view.lens.height,
            "image_type": shot.kind,
            "annotation_name": str(shot.layer or ""),
        }

    def _tables(self, kind: int, layer: str | None, dialect: Dialect) -> Tables:
        if kind == ANNOTATION:
            return Tables(colours=self._segmentation.layer_colours(str(layer or "")))
        if kind == SEGMENTATION:
            return Tables(colours=self._segmentation.colours(dialect))
        return Tables(greys=shown_ids(self._segmentation.ids(dialect)) if kind == INFRARED else None)

    def _bytes(self, shot: RequestedImage, view: View) -> NDArray[np.uint8]:
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
        return bent(image, camera, view)


def _motion(camera: AirSimCamera) -> Moving:
    if camera.vehicle is None:
        return STILL
    truth = camera.vehicle.truth
    rates = rotate(truth.quat_wxyz, truth.angular_velocity_body)
    arm = rotate(truth.quat_wxyz, camera.position)
    return Moving(truth.velocity_world + np.cross(rates, arm), rates)


class Images:
    def __init__(self, server: ServerState, cameras: CameraSet, taker: ImageTaker) -> None:
        self._server, self._cameras, self._taker = server, cameras, taker

    def simGetImages(
        self, reply: Reply, requests: list[Map], vehicle_name: str = "", external: bool | str = False
    ) -> None:
        if not isinstance(requests, list) or len(requests) > MOST_IMAGES:
            raise LinkError(f"give a list of at most {MOST_IMAGES} requests")
        self._taker.answer(requests, vehicle_name, external, self._server.dialect, reply)

    def simGetImage(
        self, reply: Reply, camera_name: str, image_type: int, vehicle_name: str = "", external: bool | str = False
    ) -> None:
        """Answers with a PNG. Cosys-AirSim's client sends the name of an annotation layer in place of `external`."""
        layer = external if isinstance(external, str) else None
        camera, kind = self._cameras.find(camera_name, vehicle_name, external), type_of(image_type)
        self._taker.answer_png(self._taker.shot(camera, kind, layer, self._server.dialect), reply)


def type_of(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(IMAGE_TYPES):
        raise LinkError(f"there is no image type {value!r}; give 0 to {len(IMAGE_TYPES) - 1}")
    return value


def bent(image: Pixels, camera: AirSimCamera, view: View) -> Pixels:
    """The image through a lens with the camera's Brown-Conrady parameters. Beyond the view the edge is repeated."""
    k1, k2, k3, p1, p2 = camera.distortion.values()
    if not any((k1, k2, k3, p1, p2)):
        return image
    lens = view.lens
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


# ---- object detection


DEFAULT_RADIUS_CM = 20_000.0
MOST_NAMES = 1000
LEAST_PX = 4
"""An object is reported from this number of visible pixels."""


@dataclass(slots=True)
class Filter:
    names: list[str] = field(default_factory=list)
    """May contain the wildcards * and ?."""
    radius_cm: float = DEFAULT_RADIUS_CM


class DetectionMethods:
    def __init__(self, server: ServerState, cameras: CameraSet) -> None:
        self._server, self._cameras = server, cameras
        self._filters: dict[tuple[int, int], Filter] = {}
        """By camera and image type."""

    def _filter(
        self, camera_name: str, image_type: int, vehicle_name: str, external: bool | str
    ) -> tuple[AirSimCamera, int, Filter]:
        camera, kind = self._cameras.find(camera_name, vehicle_name, external), type_of(image_type)
        return camera, kind, self._filters.setdefault((id(camera), kind), Filter())

    def simAddDetectionFilterMeshName(
        self, camera_name: str, image_type: int, mesh_name: str, vehicle_name: str = "", external: bool | str = False
    ) -> None:
        names = self._filter(camera_name, image_type, vehicle_name, external)[2].names
        if len(names) >= MOST_NAMES or str(mesh_name).count("*") > MOST_REPEATS or len(str(mesh_name)) > 200:
            raise LinkError(f"give at most {MOST_NAMES} names, each with at most {MOST_REPEATS} asterisks")
        if str(mesh_name) not in names:
            names.append(str(mesh_name))

    def simSetDetectionFilterRadius(
        self, camera_name: str, image_type: int, radius_cm: float, vehicle_name: str = "", external: bool | str = False
    ) -> None:
        self._filter(camera_name, image_type, vehicle_name, external)[2].radius_cm = number_of(radius_cm, "radius_cm")

    def simClearDetectionMeshNames(
        self, camera_name: str, image_type: int, vehicle_name: str = "", external: bool | str = False
    ) -> None:
        self._filter(camera_name, image_type, vehicle_name, external)[2].names.clear()

    def simGetDetections(
        self, reply: Reply, camera_name: str, image_type: int, vehicle_name: str = "", external: bool | str = False
    ) -> None:
        camera, kind, chosen = self._filter(camera_name, image_type, vehicle_name, external)
        if not chosen.names:
            reply.give([])
            return
        self._cameras.take(
            [(camera, kind)],
            lambda views: reply.give_what(lambda: self._found(views[0], chosen)),
            reply.fail,
            surfaces=True,
        )

    def _found(self, view: View, chosen: Filter) -> list[Map]:
        found = []
        for number in np.flatnonzero(np.bincount(view.instances.ravel()) >= LEAST_PX).tolist():
            known = names_of(self._server.editor.name_of(number))
            if number and any(fnmatch.fnmatchcase(own, name) for name in chosen.names for own in known):
                info = self._info(number, view, chosen.radius_cm)
                found += [] if info is None else [info]
        return found

    def _info(self, number: int, view: View, radius_cm: float) -> Map | None:
        """None beyond the radius. 3-D boxes and poses are in the camera's axes, FRD."""
        editor = self._server.editor
        position, quat, _ = editor.place_of(number)
        corners = editor.box_of(number)
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        if np.linalg.norm(middle - view.pose.position) > 0.01 * radius_cm:
            return None
        world_from_sensor = quat_multiply(view.pose.quat_wxyz, quat_conjugate(SENSOR_FROM_CAMERA))
        box = frd_from_flu(rotate_inverse(world_from_sensor, corners - view.pose.position))
        rows, columns = np.nonzero(view.instances == number)
        relative = rotate_inverse(world_from_sensor, position - view.pose.position)
        turn = quat_multiply(quat_conjugate(world_from_sensor), quat)
        return {
            "name": shown_name(editor.name_of(number)),
            "geo_point": geo_point(self._server.local_frame.geodetic_from_enu(middle)),
            "box2D": {"min": vector2(columns.min(), rows.min()), "max": vector2(columns.max(), rows.max())},
            "box3D": {"min": vector(box.min(axis=0)), "max": vector(box.max(axis=0))},
            "relative_pose": body_pose(relative, turn),
        }
