"""For tests that look at something: a scene over the real renderer, shapes to place, and sensors at exact motions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from skyloop.core.frames import quat_from_euler
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.rendering.client import Renderer
from skyloop.sensors.camera import Camera, CameraConfig, CameraState
from skyloop.world.mesh import Mesh, mesh_of
from skyloop.world.model import Model, Shape
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.messages import CameraImage, Kinematics

KEY = stream_key(3, "drone/camera")
PERIOD_S = 0.05


class PaintedScene:
    def __init__(self, model: Model, **weather: Any) -> None:
        model.freeze()
        self.model = model
        self.weather = weather_at(WeatherConfig(**weather), 47.0)
        self.hidden_parts = None
        self.asked: list[ViewRequest] = []
        self._renderer = Renderer(model)

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        self.asked = list(requests)
        return self._renderer.render(requests, self.weather)

    def close(self) -> None:
        self._renderer.close()


class Tumbling:
    """One part that turns about a fixed axis at a constant rate while it flies straight on."""

    n_rows = 1

    def __init__(self, position: Any, velocity: Any, turn: Any) -> None:
        self.position, self.velocity, self.turn = (np.array(v, float) for v in (position, velocity, turn))

    def poses(self, t: float) -> np.ndarray:
        out = np.empty((1, 3, 4))
        out[0, :, :3] = Rotation.from_rotvec(self.turn * t).as_matrix()
        out[0, :, 3] = self.position + self.velocity * t
        return out


def panel(centre: Any, side: Any, up: Any, **look: Any) -> Mesh:
    """A flat parallelogram from its half edges."""
    c, a, b = (np.array(v, float) for v in (centre, side, up))
    corners = [c - a - b, c + a - b, c + a + b, c - a + b]
    return mesh_of(corners, [[0, 1, 2], [0, 2, 3]], **look)


def shape(mesh: Mesh) -> Shape:
    return Shape("test", (mesh,))


def moving(
    t_ns: int = 0,
    position: Any = (0.0, 0.0, 0.0),
    rotation_deg: Any = (0.0, 0.0, 0.0),
    velocity: Any = (0.0, 0.0, 0.0),
    rates: Any = (0.0, 0.0, 0.0),
    acceleration: Any = (0.0, 0.0, 0.0),
) -> Kinematics:
    p, v, w, a = (np.array(x, float) for x in (position, velocity, rates, acceleration))
    return Kinematics(t_ns, p, v, quat_from_euler(*np.radians(rotation_deg)), w, a, np.zeros(3))


def shoot(
    scene: Any, kinematics: Kinematics, state: CameraState | None = None, index: int = 0, **options: Any
) -> tuple[CameraImage, Any, CameraState]:
    # the truth has no narrower type: each test knows what of it was asked for
    camera = Camera(CameraConfig(**options), PERIOD_S)
    rng = KeyedRandom(KEY, index)
    image, state = camera.measure(kinematics, scene, state or camera.initial_state(rng), rng)
    return image, state.truth, state


def camera_axes(kinematics: Kinematics) -> np.ndarray:
    """world_from_camera of a camera that looks along the mount's +x, written out."""
    sensor = Rotation.from_quat(np.roll(kinematics.quat_wxyz, -1)).as_matrix()
    return np.stack([-sensor[:, 1], -sensor[:, 2], sensor[:, 0]], axis=1)


def in_camera(kinematics: Kinematics, points: Any) -> np.ndarray:
    return (np.asarray(points, float) - kinematics.position) @ camera_axes(kinematics)


def pinhole_px(details: dict[str, Any], points: np.ndarray) -> np.ndarray:
    """Of points in camera axes."""
    u = details["fx"] * points[..., 0] / points[..., 2] + details["cx"]
    v = details["fy"] * points[..., 1] / points[..., 2] + details["cy"]
    return np.stack([u, v], axis=-1)


def intrinsics(**options: Any) -> dict[str, Any]:
    return Camera(CameraConfig(**options), PERIOD_S).details()
