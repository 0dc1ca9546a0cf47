"""For tests of the renderer: poses, weather, light, corners."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from skyloop.core.frames import matrix_from_quat, quat_from_matrix
from skyloop.rendering.client import Renderer
from skyloop.world.model import Model
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import Weather, WeatherConfig, weather_at


def weather(**options: Any) -> Weather:
    return weather_at(WeatherConfig(**options), 47.0)


def looking(eye: Any, target: Any, t: float = 0.0) -> ViewPose:
    eye = np.array(eye, float)
    forward = np.array(target, float) - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return ViewPose(round(t * 1e9), eye, quat_from_matrix(np.stack([right, np.cross(forward, right), forward], axis=1)))


def shot(
    renderer: Renderer,
    eye: Any,
    target: Any,
    quality: str = "low",
    *,
    size: tuple[int, int] = (160, 120),
    fov: float = 1.4,
    t: float = 0.0,
    exposure: float = 1.0,
    **options: Any,
) -> View:
    request = ViewRequest(Pinhole.from_fov(*size, fov), looking(eye, target, t), quality, exposure)
    return renderer.render([request], weather(**options))[0]


def number_of(model: Model, name: str) -> int:
    return next(k for k, thing in enumerate(model.objects) if thing.name == name)


def places(view: View) -> NDArray[Any]:
    """(height, width, 3) from the camera to what each pixel shows, world axes; zero for the sky."""
    rays = view.lens.rays() * np.where(np.isfinite(view.depth), view.depth, 0.0)[..., None]
    return np.asarray(rays @ matrix_from_quat(view.pose.quat_wxyz).T)


def light_of(colour: Any) -> NDArray[Any]:
    """What the tone curve √(1 - exp(-light)) was given; full white is as good as 1.5 steps below."""
    shown = np.minimum(np.asarray(colour, float) / 255.0, 1.0 - 1.5 / 255.0)
    return -np.log(1.0 - shown**2)


def difference(a: View, b: View) -> float:
    """Mean over pixels and channels, steps of 255."""
    return float(np.abs(a.colour.astype(float) - b.colour).mean())


def corners(image: NDArray[np.float64], most: int = 1000, quality: float = 0.01, apart: int = 7) -> int:
    """How many Shi-Tomasi corners, as goodFeaturesToTrack with its 3 × 3 window counts them."""
    gx, gy = ndimage.sobel(image, 1), ndimage.sobel(image, 0)
    xx, yy, xy = (ndimage.uniform_filter(product, 3) for product in (gx * gx, gy * gy, gx * gy))
    least = 0.5 * (xx + yy) - np.sqrt(0.25 * (xx - yy) ** 2 + xy**2)
    peaks = (least == ndimage.maximum_filter(least, 3)) & (least > quality * least.max())
    rows, columns = np.nonzero(peaks)
    near = np.hypot(*np.mgrid[-apart : apart + 1, -apart : apart + 1]) < apart
    taken = np.zeros(np.add(image.shape, 2 * apart), bool)
    found = 0
    for k in np.argsort(-least[rows, columns], kind="stable"):
        row, column = rows[k], columns[k]
        if not taken[row + apart, column + apart]:
            taken[row : row + 2 * apart + 1, column : column + 2 * apart + 1] |= near
            found += 1
            if found == most:
                break
    return found
