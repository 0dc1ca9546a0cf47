"""Configuration of a radar, and its radiation pattern: a formula, a CSV table or a grey-scale picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.quantities import AirSpeed, Delay, Distance, Frequency, Length, Lever, Point, Positive, Seconds
from skyloop.core.radar_waveform import Waveform
from skyloop.sensors.sensor import SensorConfig, Vector3, numbers_of
from skyloop.world.semantics import CLASSES
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array
from skyloop_client.regular_files import checked, read_text

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
        rows = [line.split(",") for line in read_text(path).splitlines() if line.strip()]
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
        with Image.open(checked(path)) as picture:
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


MOST_SAMPLES = 1 << 22
"""Samples of one burst over all antennas; a larger number is taken for a mistake in the scenario."""


@dataclass(frozen=True, slots=True)
class RadarNumbers:
    """The numbers of RadarConfig."""

    width: int = 320
    height: int = 240
    horizontal_fov_deg: float = 90.0
    n_chirps: int = 64
    n_samples: int = 64
    bandwidth: float = 0.4e9
    chirp_duration: float = 390.975e-6
    chirp_repetition: float = 390.975e-6
    lower_frequency: float = 60.8e9
    n_rx: int = 3
    # the corner of the L is the third antenna; the first is beside it, the second above
    rx_positions: tuple[Vector3, ...] = ((0.0, -0.0025, 0.0), (0.0, 0.0, 0.0025), (0.0, 0.0, 0.0))
    tx_position: Vector3 = (0.0, 0.005, 0.0)
    tx_power_dbm: float = 5.0
    tx_gain_dbi: float = 6.0
    rx_gain_dbi: float = 6.0
    conversion_gain_db: float = 60.0
    impedance: float = 50.0
    lowpass_order: int = 4
    lowpass_corner_hz: float = 100e3
    thermal_noise: bool = False
    noise_figure_db: float = 12.0
    phase_noise: bool = False
    phase_noise_dbc: float = -80.0
    leakage: bool = False
    leakage_db: float = -90.0
    leakage_path: float = 0.02
    adc: bool = False
    adc_bits: int = 12
    adc_reference: float = 1.2


PRESETS = {
    # "airloop", Table 2; missing numbers have the order of magnitude of the data sheet; a perfect receiver
    "bgt60tr13c": RadarNumbers(),
    # the same with all errors of the real one
    "bgt60tr13c-real": RadarNumbers(thermal_noise=True, phase_noise=True, leakage=True, adc=True),
}


class RadarTarget(BaseModel):
    """A point of known radar cross section that only radars see, for calibration; nothing hides it, but it must be
    ahead."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: Literal["sphere", "trihedral", "point"] = "point"
    """`sphere` has the radius `size`; `trihedral` is a corner of triangles with edges of `size`; `point` has a cross
    section of `size`."""
    size: Length = 1.0
    """m, the radius or the edge; m², the cross section of a point."""
    position: Point
    """m, the position at the start, in world axes."""
    velocity: tuple[AirSpeed, AirSpeed, AirSpeed] = (0.0, 0.0, 0.0)
    """m/s, its velocity, in world axes."""

    def cross_section(self, wavelength: float) -> float:
        """m²."""
        if self.kind == "sphere":
            return math.pi * self.size**2
        return 4.0 * math.pi * self.size**4 / (3.0 * wavelength**2) if self.kind == "trihedral" else self.size


Count = Annotated[int, Field(ge=1, le=65536)]
Decibel = Annotated[float, Field(ge=-300.0, le=300.0)]


class RadarConfig(SensorConfig):
    """FMCW radar: the raw samples of every burst in volts, and from them range-Doppler images, points and tracks."""

    kind: Literal["radar"] = "radar"
    """The kind of sensor."""
    rate_hz: float | str = 7.0
    """Bursts per second."""
    latency: Delay | None = None  # type: ignore[assignment]
    """s, the time from the middle of a burst to the instant its data may be read; null: until the end of the burst."""
    preset: Literal["bgt60tr13c", "bgt60tr13c-real"] = "bgt60tr13c"
    """The radar whose numbers are used where yours are null: a perfect receiver, or one with noise, leakage and a
    converter."""
    width: Annotated[int, Field(ge=8, le=4096)] | None = None
    """px, the width of the picture whose pixels are the scatterers."""
    height: Annotated[int, Field(ge=8, le=4096)] | None = None
    """px, the height of the picture whose pixels are the scatterers."""
    horizontal_fov_deg: Annotated[float, Field(ge=1.0, lt=170.0)] | None = None
    """The field of view across the middle row of the picture; objects outside it give no echo."""
    quality: Literal["low", "medium", "high", "epic", "cinematic"] = "low"
    """How much detail the surfaces have."""
    n_chirps: Count | None = None
    """The number of chirps in a burst."""
    n_samples: Count | None = None
    """The number of samples in a chirp."""
    bandwidth: Frequency | None = None
    """Hz, the frequency range swept during `chirp_duration`."""
    chirp_duration: Seconds | None = None
    """s, the time in which the samples of a chirp are taken."""
    chirp_repetition: Seconds | None = None
    """s, the time from chirp to chirp, not shorter than `chirp_duration`. It equals `chirp_duration` when only that is
    given."""
    lower_frequency: Frequency | None = None
    """Hz, the frequency at which a chirp begins."""
    n_rx: Count | None = None
    """The number of `rx_positions` that are used, from the first on."""
    rx_positions: tuple[Lever, ...] | None = None
    """m, the receiving antennas, in sensor axes (forward, left, up)."""
    tx_position: Lever | None = None
    """m, the sending antenna, in sensor axes."""
    tx_power_dbm: Decibel | None = None
    """The power into the sending antenna."""
    tx_gain_dbi: Decibel | None = None
    """The largest gain of the sending antenna."""
    rx_gain_dbi: Decibel | None = None
    """The largest gain of each receiving antenna."""
    conversion_gain_db: Decibel | None = None
    """The voltage gain from an antenna's terminals to the converter."""
    impedance: Positive | None = None
    """Ω, the impedance at the antennas' terminals."""
    lowpass_order: Annotated[int, Field(ge=1, le=12)] | None = None
    """The order of the Butterworth filter before the converter."""
    lowpass_corner_hz: Frequency | None = None
    """The frequency at which the filter has 3 dB."""
    iq: bool = False
    """true: samples are complex, which gives the sign of a beat and doubles the range."""
    classes: tuple[str, ...] | None = None
    """The classes of the surfaces that echo, as "airloop" masks them; null: all."""
    pattern: AnyPattern = Beam()
    """How strong an echo is, by its direction."""
    specular: bool = True
    """true: planes and rounded objects give mirror-like echoes."""
    ground_bounce: bool = False
    """true: echoes are also reflected by the ground below, on the outward path, the return path, or both."""
    see_through: bool = False
    """true: a second echo comes from behind surfaces that transmit the waves."""
    targets: tuple[RadarTarget, ...] = ()
    """Points of known radar cross section, for calibration."""
    thermal_noise: bool | None = None
    """true: the receiver has thermal noise."""
    noise_figure_db: Decibel | None = None
    """The noise of the receiver over that of a resistor at 290 K."""
    phase_noise: bool | None = None
    """true: the oscillator has phase noise; it cancels the better, the nearer an echo is."""
    phase_noise_dbc: Decibel | None = None
    """dBc/Hz, the phase noise at 100 kHz from the carrier, falling by 20 dB per decade."""
    leakage: bool | None = None
    """true: part of the sent power leaks straight to the receivers."""
    leakage_db: Decibel | None = None
    """The leakage over the sent power, after the receiver's high-pass."""
    leakage_path: Distance | None = None
    """m, the distance the leakage travels."""
    adc: bool | None = None
    """true: the converter rounds and clips; false: volts are exact and unlimited."""
    adc_bits: Annotated[int, Field(ge=1, le=24)] | None = None
    """The number of bits of the converter."""
    adc_reference: Positive | None = None
    """V, the range from the lowest code to the highest; zero is in the middle."""
    backend: Literal["auto", "cpu", "gpu"] = "auto"
    """Where echoes are found and summed; `auto` takes a GPU that CuPy can use."""

    @model_validator(mode="before")
    @classmethod
    def _chirps_back_to_back(cls, data: Any) -> Any:
        if isinstance(data, dict) and "chirp_duration" in data and "chirp_repetition" not in data:
            return {**data, "chirp_repetition": data["chirp_duration"]}
        return data

    @model_validator(mode="after")
    def _fits(self) -> RadarConfig:
        n = numbers_of(self, PRESETS)
        if n.n_rx > len(n.rx_positions):
            raise ValueError(
                f"n_rx is {n.n_rx}, but rx_positions has {len(n.rx_positions)}; add positions or lower n_rx"
            )
        if n.chirp_repetition < n.chirp_duration:
            raise ValueError(
                f"chirp_repetition {n.chirp_repetition} s is shorter than chirp_duration {n.chirp_duration} s"
            )
        if n.n_rx * n.n_chirps * n.n_samples > MOST_SAMPLES:
            raise ValueError(
                f"{n.n_rx} antennas x {n.n_chirps} chirps x {n.n_samples} samples; at most {MOST_SAMPLES} fit"
            )
        unknown = [name for name in self.classes or () if name not in CLASSES]
        if unknown:
            raise ValueError(f"'{unknown[0]}' is no class; the classes are {', '.join(CLASSES)}")
        return self

    def waveform(self) -> Waveform:
        n = numbers_of(self, PRESETS)
        times = (n.chirp_duration, n.chirp_repetition)
        return Waveform(n.lower_frequency, n.bandwidth, *times, n.n_chirps, n.n_samples, self.iq)
