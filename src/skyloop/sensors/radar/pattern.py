"""Radiation patterns: how strong an echo is by its direction, from a formula, a CSV table or a grey-scale picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

TABLE_SIZE = 129
"""Points along each direction cosine, from -1 to 1."""
# the mask that ViRa ships, as Unity samples it; beyond its 50° it is extended to zero at 90°
VIRA_DEG, VIRA_WEIGHT = (0.0, 19.5, 42.4, 50.0, 90.0), (1.0, 0.9, 0.707, 0.58, 0.0)
Angle = Annotated[float, Field(gt=0.0, le=180.0)]


class _Pattern(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Isotropic(_Pattern):
    """The same strength in all directions ahead."""

    kind: Literal["isotropic"] = "isotropic"
    """The same strength in all directions ahead."""


class Beam(_Pattern):
    """A Gaussian beam."""

    kind: Literal["beam"] = "beam"
    """A Gaussian beam."""
    azimuth_deg: Angle = 60.0
    """The angle between the two sides at which one antenna has half its power."""
    elevation_deg: Angle = 40.0
    """The same angle, up and down."""


class Vira(_Pattern):
    """The antenna mask that ViRa ships, which the paper "airloop" took over."""

    kind: Literal["vira"] = "vira"
    """The antenna mask that ViRa ships, which the paper "airloop" took over."""


class CsvPattern(_Pattern):
    """A table of dB there and back."""

    kind: Literal["csv"] = "csv"
    """A table of dB there and back: the first row holds azimuths, the first column elevations, in degrees and rising.
    Outside the table nothing is sent."""
    file: str
    """The path of the table, from the folder of the scenario."""


class PicturePattern(_Pattern):
    """A grey-scale picture of the echo's amplitude."""

    kind: Literal["picture"] = "picture"
    """A grey-scale picture of the echo's amplitude there and back: white is 1, black is 0."""
    file: str
    """The path of the picture, from the folder of the scenario."""
    fov_deg: Annotated[float, Field(gt=0.0, lt=180.0)] = 100.0
    """The field of view across the picture, as a pinhole camera would see it."""


AnyPattern = Annotated[Isotropic | Beam | Vira | CsvPattern | PicturePattern, Field(discriminator="kind")]


def pattern_table(pattern: AnyPattern, folder: Path | None = None) -> NDArray[np.float32]:
    """(left, up) one antenna's amplitude over the direction cosines; an echo gets the product of two."""
    # imported here, because it loads slowly and flights without a radar do not need it
    from scipy.interpolate import PchipInterpolator

    axis = np.linspace(-1.0, 1.0, TABLE_SIZE)
    left, up = np.meshgrid(axis, axis, indexing="ij")
    ahead = np.sqrt(np.maximum(1.0 - left**2 - up**2, 0.0))
    azimuth, elevation = np.degrees(np.arctan2(left, ahead)), np.degrees(np.arcsin(np.clip(up, -1.0, 1.0)))
    if isinstance(pattern, Isotropic):
        both: Array = np.ones_like(left)
    elif isinstance(pattern, Beam):
        both = 0.5 ** ((2.0 * azimuth / pattern.azimuth_deg) ** 2 + (2.0 * elevation / pattern.elevation_deg) ** 2)
    elif isinstance(pattern, Vira):
        both = PchipInterpolator(VIRA_DEG, VIRA_WEIGHT)(np.degrees(np.arccos(np.clip(ahead, 0.0, 1.0))))
    elif isinstance(pattern, CsvPattern):
        both = _from_csv(_found(pattern.file, folder), azimuth, elevation)
    else:
        both = _from_picture(_found(pattern.file, folder), pattern.fov_deg, left, up, ahead)
    return np.sqrt(np.clip(both, 0.0, None)).astype(np.float32)


def _found(file: str, folder: Path | None) -> Path:
    path = Path(file) if folder is None else folder / file
    if not path.is_file():
        raise ScenarioError(f"radiation pattern {path}: no such file; the path begins at the scenario's folder")
    return path


def _from_csv(path: Path, azimuth: Array, elevation: Array) -> Array:
    from scipy.interpolate import RegularGridInterpolator

    wish = "give azimuths in the first row, elevations in the first column (degrees, rising) and dB between them"
    try:
        rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        widths = {len(row) for row in rows}
        if len(rows) < 3 or widths != {len(rows[0])} or len(rows[0]) < 3:
            raise ScenarioError(f"radiation pattern {path}: {len(rows)} rows of {sorted(widths)} columns; {wish}")
        azimuths = np.array([float(cell) for cell in rows[0][1:]])
        body = np.array([[float(cell) for cell in row] for row in rows[1:]])
    except (ValueError, UnicodeDecodeError) as error:
        raise ScenarioError(f"radiation pattern {path}: {error}; {wish}") from None
    elevations, gains = body[:, 0], body[:, 1:]
    if not (np.isfinite(body).all() and (np.diff(azimuths) > 0.0).all() and (np.diff(elevations) > 0.0).all()):
        raise ScenarioError(f"radiation pattern {path}: angles must rise and all numbers be finite; {wish}")
    # zero outside the table
    look_up = RegularGridInterpolator(
        (elevations, azimuths), 10.0 ** (gains / 20.0), bounds_error=False, fill_value=0.0
    )
    return np.asarray(look_up(np.stack([elevation, azimuth], axis=-1)))


def _from_picture(path: Path, fov_deg: float, left: Array, up: Array, ahead: Array) -> Array:
    from PIL import Image, UnidentifiedImageError
    from scipy.interpolate import RegularGridInterpolator

    try:
        with Image.open(path) as picture:
            grey = np.asarray(picture.convert("L"), np.float64) / 255.0
    except (UnidentifiedImageError, OSError) as error:
        raise ScenarioError(f"radiation pattern {path}: {error}; give a PNG or JPEG") from None
    height, width = grey.shape
    if min(height, width) < 2:
        raise ScenarioError(f"radiation pattern {path}: {width}x{height} pixels; give at least 2x2")
    half = np.tan(0.5 * np.radians(fov_deg))
    with np.errstate(divide="ignore", invalid="ignore"):
        across, upright = -left / ahead / half, -up / ahead / half * width / height
    rows, columns = np.linspace(-1.0, 1.0, height), np.linspace(-1.0, 1.0, width)
    look_up = RegularGridInterpolator((rows, columns), grey, bounds_error=False, fill_value=0.0)
    places = np.stack([upright, across], axis=-1)
    return np.asarray(look_up(np.where(np.isfinite(places), places, 9.0)))
