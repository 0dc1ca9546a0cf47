"""Figs. 7 to 9 of the paper: walls as point clouds, and a depth image without and with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import quat_from_yaw
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.depth_camera import DepthCamera, DepthCameraConfig
from skyloop.world.views import Pinhole
from skyloop_client.messages import Array, Kinematics
from skyloop_papers.depth_noise.checks import GROWTH
from skyloop_papers.depth_noise.fits import core_sd, kim_sigma
from skyloop_papers.depth_noise.stereo import APART, LENS, MATERIAL_NAMES, Walls, in_front_of, matched_depth, shoot_pair
from skyloop_papers.one_view import OneView
from skyloop_papers.plots import INK, figure

DISTANCE = 3.0
"""m. The paper does not say how far its walls were; up to here a D435 is best, as it says."""
GROWN = (0.35, 0.55)
"""1/m, of Fig. 7."""
SEEN = ("formboard", "plastic")
"""By the synthetic pair, where Fig. 8 has a wall with wallpaper and one with reflective plastic."""
SLANT, NEAREST = 35.0, 2.0
"""Degrees between the optical axis and the wall's normal, and m from the wall, of Fig. 9."""
ROWS = 24
"""Of the middle of an image: the cloud as it is seen from above."""
POINT, WALL = "#1f77b4", "#d1495b"


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """A wall as a camera sees it."""

    title: str
    across: Array
    """(n,) m, to the right."""
    depth: Array
    """(n,) m."""
    sigma: float
    """m, from the median absolute deviation, without mismatches."""


@dataclass(frozen=True, slots=True, eq=False)
class Pictures:
    clouds: list[Cloud]
    """Of Fig. 7, then of Fig. 8."""
    true: NDArray[np.float32]
    """m, of Fig. 9."""
    noisy: NDArray[np.float32]


def shoot_pictures(walls: Walls) -> Pictures:
    clouds = [_modelled(walls, growth) for growth in GROWN] + [_matched(walls, name) for name in SEEN]
    still, turned = np.zeros(3), np.asarray(quat_from_yaw(math.radians(SLANT)))
    position: Array = np.array([-NEAREST, MATERIAL_NAMES.index("cement") * APART, 0.0])
    at = Kinematics(0, position, still, turned, still, still, still)
    ideal = DepthCameraConfig(preset="kim", noise_scale=0.0, zero_share=0.0)
    true, noisy = (_shot(walls, config, at)[0] for config in (ideal, DepthCameraConfig(preset="kim")))
    return Pictures(clouds, true, noisy)


def _modelled(walls: Walls, growth: float) -> Cloud:
    config = DepthCameraConfig(preset="kim", noise_growth=growth)
    depth, lens = _shot(walls, config, in_front_of("cement", DISTANCE))
    told = 1e3 * float(kim_sigma(growth, np.array(DISTANCE)))
    return _cloud(f"Fig. 7: our camera, m = {growth:g} /m\neq. 4: σ = {told:.0f} mm", depth, lens)


def _matched(walls: Walls, material: str) -> Cloud:
    depth = matched_depth(shoot_pair(walls, material, DISTANCE, 0))
    told = 1e3 * float(kim_sigma(GROWTH[material], np.array(DISTANCE)))
    title = f"Fig. 8: synthetic stereo, {material}\neq. 4 with m = {GROWTH[material]:g}: σ = {told:.0f} mm"
    return _cloud(title, depth, LENS)


def _cloud(title: str, depth: NDArray[np.float32], lens: Pinhole) -> Cloud:
    middle = depth[len(depth) // 2 - ROWS // 2 : len(depth) // 2 + ROWS // 2]
    columns = np.broadcast_to(np.arange(middle.shape[1]) - 0.5 * (middle.shape[1] - 1), middle.shape)
    valid = middle > 0.0
    across = np.asarray(columns * middle / lens.fx, float)
    return Cloud(title, across[valid], middle[valid].astype(float), core_sd(depth))


def _shot(walls: Walls, config: DepthCameraConfig, at: Kinematics) -> tuple[NDArray[np.float32], Pinhole]:
    camera = DepthCamera(config, 1.0 / 30.0)
    picture = OneView(walls.views(camera.requests(at, ()))[0], walls.weather)
    depth = picture.measured(camera, at, KeyedRandom(stream_key(0, "depth-noise/pictures"), 0)).depth
    return depth, camera.lens


def plot_clouds(clouds: list[Cloud], path: Path) -> None:
    with figure(path, (14.0, 4.0), f"A wall at {DISTANCE:g} m seen from above: the middle {ROWS} rows") as drawn:
        axes = drawn.subplots(1, len(clouds), sharey=True, sharex=True)
        for axis, cloud in zip(axes, clouds, strict=True):
            axis.plot(cloud.across, cloud.depth, ",", color=POINT, alpha=0.5)
            axis.axhline(DISTANCE, color=WALL, lw=1.0)
            axis.set(xlabel="across [m]", xlim=(-1.6, 1.6), ylim=(DISTANCE - 0.6, DISTANCE + 0.6))
            axis.set_title(f"{cloud.title}, seen: {1e3 * cloud.sigma:.0f} mm")
        axes[0].set_ylabel("depth [m]")


def plot_images(pictures: Pictures, path: Path) -> None:
    with figure(path, (14.0, 4.0), f"Fig. 9: a cement wall at a slant of {SLANT:g}°") as drawn:
        axes = drawn.subplots(1, 3, width_ratios=(1, 1, 1.1))
        farthest = float(np.percentile(pictures.true, 99.0))
        for axis, image, title in zip(
            axes, (pictures.true, pictures.noisy), ("without noise", "with noise, m = 0.5 /m"), strict=False
        ):
            shown = axis.imshow(np.where(image > 0.0, image, np.nan), cmap="viridis", vmin=0.0, vmax=farthest)
            axis.set(title=title, xticks=[], yticks=[])
            axis.grid(False)
        drawn.colorbar(shown, ax=axes[:2], label="depth [m]", shrink=0.85)
        _errors(axes[2], pictures)


def _errors(axis: Any, pictures: Pictures) -> None:
    """Those of one row, by depth, with eq. (4)."""
    row = len(pictures.true) // 2
    true, noisy = pictures.true[row], pictures.noisy[row]
    valid = noisy > 0.0
    axis.plot(true[valid], noisy[valid] - true[valid], ".", color=POINT, ms=3, label="pixels of the middle row")
    at = np.linspace(float(true.min()), float(true.max()), 100)
    sigma = kim_sigma(GROWTH["cement"], at)
    for side in (-2.0, 2.0):
        axis.plot(at, side * sigma, color=INK, lw=1.0, label="± 2 σ of eq. 4" if side > 0.0 else "")
    axis.set(xlabel="depth [m]", ylabel="error [m]", title="error by depth")
    axis.legend(loc="upper left")
