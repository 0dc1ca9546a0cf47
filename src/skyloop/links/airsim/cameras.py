"""Cameras as AirSim clients see them: their pose, their field of view and the images they take."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from skyloop.core.frames import euler_from_quat, flu_from_frd, quat_from_euler, quat_multiply, rotate
from skyloop.links.airsim.options import CAMERA_NUMBERS, IMAGE_TYPES, CameraOptions, Capture
from skyloop.links.airsim.pixels import LIGHTING, SCENE, Exposure
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Axes, Map, mount_of, number_of, quat_of_ned_euler
from skyloop.links.airsim.vehicle import VehicleSide
from skyloop.sim.world_view import Painting, View, ViewRequest
from skyloop_client.errors import LinkError, unknown_name
from skyloop_client.messages import Array

NEAR_CM = 10.0
"""Unreal's near plane, used in the projection matrix that clients get."""
SENSOR_MM = (24.0, 13.5)
LENS_PARAMETERS = ("K1", "K2", "K3", "P1", "P2")


class AirSimCamera:
    """One camera of a vehicle, or an external one."""

    def __init__(self, name: str, options: CameraOptions, vehicle: VehicleSide | None, world: Axes) -> None:
        self.name, self.vehicle = name, vehicle
        self.axes = world if vehicle is None else vehicle.axes
        """The axes in which its pose is reported."""
        self.gimbal = options.gimbal
        self.captures = {kind: options.captures.get(kind, Capture()) for kind in range(len(IMAGE_TYPES))}
        angles = np.radians(options.rotation_deg).tolist()
        self.exposures: dict[int, Exposure] = defaultdict(Exposure)
        """By image type."""
        self.sensor_mm = SENSOR_MM
        self.distortion = dict.fromkeys(LENS_PARAMETERS, 0.0)
        self.position: Array
        """m: FLU in the body, or world axes for an external camera."""
        self.quat: Array
        """body_from_sensor, or world_from_sensor for an external camera, FLU."""
        if vehicle is None:
            self.position, self.quat = world.world(options.position), quat_of_ned_euler(*angles)
        else:
            roll, pitch, yaw = angles
            self.position, self.quat = flu_from_frd(options.position), quat_from_euler(roll, -pitch, -yaw)

    def world_pose(self) -> tuple[Array, Array]:
        """The current position and world_from_sensor."""
        if self.vehicle is None:
            return self.position, self.quat
        truth = self.vehicle.truth
        position = truth.position + rotate(truth.quat_wxyz, self.position)
        quat = quat_multiply(truth.quat_wxyz, self.quat)
        return position, self._steadied(quat) if self.gimbal.stabilization > 0.0 else quat

    def _steadied(self, quat: Array) -> Array:
        """Turned towards the gimbal's angles by its stabilization share."""
        roll, pitch, yaw = euler_from_quat(quat).tolist()
        share, g = min(self.gimbal.stabilization, 1.0), self.gimbal
        wanted = (
            None if g.roll_deg is None else math.radians(g.roll_deg),
            None if g.pitch_deg is None else -math.radians(g.pitch_deg),
            None if g.yaw_deg is None else 0.5 * math.pi - math.radians(g.yaw_deg),
        )
        turned = [
            now if goal is None else now + share * math.remainder(goal - now, 2.0 * math.pi)
            for now, goal in zip((roll, pitch, yaw), wanted, strict=True)
        ]
        return quat_from_euler(*turned)


class CameraSet:
    """All cameras."""

    def __init__(self, server: ServerState) -> None:
        self._server = server
        self._own: dict[str, dict[str, AirSimCamera]] = {}
        for vehicle in server.vehicles.values():
            self.equip(vehicle)
        server.on_join.append(self.equip)
        self._external = {
            name: AirSimCamera(name, options, None, server.world)
            for name, options in server.options.external_cameras.items()
        }

    def equip(self, vehicle: VehicleSide) -> None:
        """Create the cameras of a vehicle."""
        given = vehicle.options.cameras.items()
        self._own[vehicle.name] = {
            name: AirSimCamera(name, options, vehicle, self._server.world) for name, options in given
        }

    def find(self, name: object, vehicle_name: str, external: bool | str) -> AirSimCamera:
        """Find a camera by its name or by AirSim's old number. An empty name means the first camera."""
        name = str(name)
        known = self._external if external is True else self._own[self._server.vehicle(vehicle_name).name]
        if not name and known:
            return next(iter(known.values()))
        if name.isdecimal() and name not in known and external is not True:
            number = int(name)
            name = CAMERA_NUMBERS[number] if number < len(CAMERA_NUMBERS) else name
        if name not in known and not external:
            # Cosys-AirSim's client has no parameter for external cameras
            known = {**self._external, **known}
        if name not in known:
            raise unknown_name("external camera" if external is True else "camera", name, known)
        return known[name]

    def take(
        self,
        wanted: list[tuple[AirSimCamera, int]],
        given: Callable[[list[View]], None],
        failed: Callable[[str], None],
        *,
        surfaces: bool = False,
    ) -> None:
        """Pass the current views to `given`: at once, or later when flight continues while images are rendered.

        `wanted` lists cameras with their image types: each type has its own size, and needs colours or surfaces.
        `surfaces`: they are needed whatever the type."""
        requests = [(self._request(camera, kind, surfaces), _owner(camera)) for camera, kind in wanted]
        began, editor = time.perf_counter(), self._server.editor
        if not self._server.paints_beside:
            views = editor.views(requests)
            self._server.painting_s += time.perf_counter() - began
            given(views)
            return

        def painted(views: list[View]) -> None:
            self._server.count_painting(time.perf_counter() - began)
            given(views)

        editor.paint_beside(requests, Painting(painted, lambda error: failed(str(error))))

    def _request(self, camera: AirSimCamera, kind: int, surfaces: bool) -> ViewRequest:
        capture, colour = camera.captures[kind], kind in (SCENE, LIGHTING)
        fov = 2.0 * math.atan(0.5 * capture.width / capture.focal_px)
        size = (capture.width, capture.height)
        whole = self._server.editor.request(size, fov, *camera.world_pose(), self._server.options.quality)
        # marks in the pictures of external cameras are hidden by surfaces, and blur follows their motion
        covered = camera.vehicle is None or capture.look.blur > 0.0
        return replace(whole, colour=colour, surface=surfaces or covered or not colour)


def _owner(camera: AirSimCamera) -> int | None:
    return None if camera.vehicle is None else camera.vehicle.index


class CameraMethods:
    def __init__(self, cameras: CameraSet) -> None:
        self._cameras = cameras

    def simGetCameraInfo(self, camera_name: str, vehicle_name: str = "", external: bool = False) -> Map:
        camera = self._cameras.find(camera_name, vehicle_name, external)
        capture = camera.captures[0]
        # from forward, right, down, as in Unreal's plugin: x grows to the right and y upwards, depth is reversed with
        # an infinite far plane, and w is minus the distance along the optical axis
        matrix = [[0.0] * 4 for _ in range(4)]
        matrix[0][1], matrix[1][2] = 2.0 * capture.focal_px / capture.width, -2.0 * capture.focal_px / capture.height
        matrix[2][3], matrix[3][0] = NEAR_CM, -1.0
        pose = camera.axes.pose(*camera.world_pose())
        return {"pose": pose, "fov": capture.fov_deg, "proj_mat": {"matrix": matrix}}

    def simSetCameraPose(self, camera_name: str, pose: Map, vehicle_name: str = "", external: bool = False) -> None:
        """The pose is relative to the body. For an external camera it is in the world's NED axes."""
        camera = self._cameras.find(camera_name, vehicle_name, external)
        if camera.vehicle is None:
            camera.position, camera.quat = camera.axes.world_pose(pose)
        else:
            camera.position, camera.quat = mount_of(pose)

    def simSetCameraFov(
        self, camera_name: str, fov_degrees: float, vehicle_name: str = "", external: bool = False
    ) -> None:
        fov = number_of(fov_degrees, "fov_degrees")
        if not 1.0 <= fov <= 170.0:
            raise LinkError(f"a field of view of {fov:g} degrees; give 1 to 170")
        camera = self._cameras.find(camera_name, vehicle_name, external)
        camera.captures = {kind: replace(c, fov_deg=fov) for kind, c in camera.captures.items()}

    def simGetCurrentFieldOfView(self, camera_name: str, vehicle_name: str = "", external: bool = False) -> str:
        return f"{self._cameras.find(camera_name, vehicle_name, external).captures[0].fov_deg:f}"

    def simGetFocalLength(self, camera_name: str, vehicle_name: str = "", external: bool = False) -> float:
        """In mm, for the sensor size that simSetFilmbackSettings sets."""
        camera = self._cameras.find(camera_name, vehicle_name, external)
        return 0.5 * camera.sensor_mm[0] / math.tan(0.5 * math.radians(camera.captures[0].fov_deg))

    def simSetFocalLength(
        self, focal_length: float, camera_name: str, vehicle_name: str = "", external: bool = False
    ) -> None:
        """In mm. The field of view follows."""
        camera = self._cameras.find(camera_name, vehicle_name, external)
        length = number_of(focal_length, "focal_length")
        if not length > 0.0:
            raise LinkError(f"a focal length of {length:g} mm; give more than 0")
        fov = 2.0 * math.degrees(math.atan(0.5 * camera.sensor_mm[0] / length))
        self.simSetCameraFov(camera_name, fov, vehicle_name, external)

    def simGetFilmbackSettings(self, camera_name: str, vehicle_name: str = "", external: bool = False) -> str:
        width, height = self._cameras.find(camera_name, vehicle_name, external).sensor_mm
        return f"Sensor Width: {width:g}, Sensor Height: {height:g}, Sensor Aspect Ratio: {width / height:g}"

    def simSetFilmbackSettings(
        self,
        sensor_width: float,
        sensor_height: float,
        camera_name: str,
        vehicle_name: str = "",
        external: bool = False,
    ) -> float:
        """In mm. The focal length stays, so the field of view changes. Returns the aspect ratio."""
        width, height = number_of(sensor_width, "sensor_width"), number_of(sensor_height, "sensor_height")
        if not (width > 0.0 and height > 0.0):
            raise LinkError(f"a sensor of {width:g} by {height:g} mm; give more than 0")
        length = self.simGetFocalLength(camera_name, vehicle_name, external)
        self._cameras.find(camera_name, vehicle_name, external).sensor_mm = (width, height)
        self.simSetFocalLength(length, camera_name, vehicle_name, external)
        return width / height

    def simGetDistortionParams(self, camera_name: str, vehicle_name: str = "", external: bool = False) -> list[float]:
        return list(self._cameras.find(camera_name, vehicle_name, external).distortion.values())

    def simSetDistortionParam(
        self, camera_name: str, param_name: str, value: float, vehicle_name: str = "", external: bool = False
    ) -> None:
        camera = self._cameras.find(camera_name, vehicle_name, external)
        if param_name not in camera.distortion:
            raise unknown_name("lens parameter", str(param_name), LENS_PARAMETERS)
        camera.distortion[param_name] = number_of(value, param_name)
