"""Fits depth images of a real camera in front of a wall, as in section 2.3 of papers/depth-noise-and-rotor-drag."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop_client.errors import ScenarioError, SkyloopError
from skyloop_client.messages import Array
from skyloop_papers.depth_noise.fits import error_sd, fit_laws, kim_sigma, r_squared
from skyloop_papers.depth_noise.stereo import MATERIAL_NAMES

FEWEST_DISTANCES = 3
KINDS = (".npy", ".png")


def read_depth(path: Path) -> NDArray[Any]:
    """m. 0 means no value. Integers are millimetres, floats metres."""
    try:
        image = np.load(path) if path.suffix == ".npy" else _read_png(path)
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path}: not a readable depth image ({error})") from None
    if image.ndim != 2:
        raise ScenarioError(f"{path}: a depth image has two dimensions, this one {image.ndim}")
    if image.dtype == np.uint8 or image.dtype.kind not in "uif":
        raise ScenarioError(f"{path}: has {image.dtype} values; save 16-bit millimetres or float metres")
    metres = image.astype(np.float64) * (1.0 if image.dtype.kind == "f" else 1e-3)
    return np.where(np.isfinite(metres), metres, 0.0)


def _read_png(path: Path) -> NDArray[Any]:
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture)


def true_distance(path: Path) -> float:
    """m, from a name such as 1.25.png, or 1.25_2.png for another image at the same distance."""
    try:
        distance = float(path.stem.split("_")[0])
    except ValueError:
        distance = float("nan")
    if not 0.0 < distance < np.inf:
        raise ScenarioError(f"{path}: name it by its distance in metres, for example 1.25.png or 1.25_2.png")
    return distance


def sigma_of_folder(folder: Path) -> tuple[Array, Array, int]:
    """Distances, sigma at each (the mean over its images), and the number of images."""
    if not folder.is_dir():
        raise ScenarioError(f"{folder}: no such folder; give one with depth images named by their distance")
    found: dict[float, list[float]] = defaultdict(list)
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() in KINDS):
        distance = true_distance(path)
        sigma = error_sd(read_depth(path), distance)
        if np.isnan(sigma):
            raise ScenarioError(f"{path}: has no pixel with a value; remove it")
        found[distance].append(sigma)
    if len(found) < FEWEST_DISTANCES:
        raise ScenarioError(f"{folder}: {len(found)} distances in .npy or .png images; {FEWEST_DISTANCES} are needed")
    distances = sorted(found)
    return np.array(distances), np.array([np.mean(found[d]) for d in distances]), sum(map(len, found.values()))


def report_on(folder: Path) -> str:
    """A report for the user about their images."""
    distance, sigma, images = sigma_of_folder(folder)
    laws = fit_laws(distance, sigma)
    lines = [
        f"{images} images at {len(distance)} distances from {distance[0]:g} to {distance[-1]:g} m",
        f"0.005·exp(m·d)   m = {laws.growth:.4f} 1/m   R² = {laws.growth_r2:.4f}",
        f"a·d²             a = {laws.square:.3e} 1/m   R² = {laws.square_r2:.4f}",
    ]
    for name in MATERIAL_NAMES:
        m = MATERIALS[MATERIAL_ID[name]].depth_noise
        lines.append(f"Table 1, {name:<9} m = {m:.2f} 1/m     R² = {r_squared(sigma, kim_sigma(m, distance)):.4f}")
    lines += ["", "distance_m  sigma_m"]
    lines += [f"{d:10.3f}  {s:.5f}" for d, s in zip(distance, sigma, strict=True)]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """`python -m skyloop_papers.depth_noise.frames FOLDER`: the same fits for depth images of a real camera."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit("usage: python -m skyloop_papers.depth_noise.frames FOLDER (images named by distance: 1.25.png)")
    try:
        print(report_on(Path(arguments[0])))
    except SkyloopError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
