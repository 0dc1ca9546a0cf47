"""Figs 12 and 13 of papers/airloop: a person off the axis, and the IF signals of the three antennas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import rotate_inverse
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.radar.processing import range_spectrum
from skyloop.world.views import Pinhole
from skyloop_papers.radar.setup import RadarSetup, Walk
from skyloop_papers.radar.walks import radars

NEVER = 1e6
"""s. These people only stand."""
PLACES = (
    ("Fig. 12", Walk("left, above", 4.0, 3.0, 1.0, NEVER), math.radians(-20.0), 0.4),
    ("Fig. 13", Walk("right, below", 4.0, 3.0, 1.0, NEVER), math.radians(20.0), 2.6),
)
"""Figure, person, the radar's yaw (rad, left) and height (m)."""
SPACING = 0.0025
"""m from RX3 to RX1 (to the right) and to RX2 (upwards)."""
PICTURE = Pinhole.from_fov(480, 360, math.radians(90.0))


@dataclass(frozen=True, slots=True, eq=False)
class AntennaCheck:
    figure: str
    name: str
    picture: NDArray[np.uint8]
    volts: NDArray[Any]
    """(3, n_samples) V, the first chirp."""
    sample_rate: float
    """Hz."""
    phase_across: float
    """rad, of RX1 over RX3."""
    phase_up: float
    """rad, of RX3 over RX2."""
    azimuth: float
    """rad, from those phases, positive to the left."""
    elevation: float
    """rad, positive upwards."""
    true_azimuth: float
    """rad, of the middle of the torso."""
    true_elevation: float
    """rad."""
    true_phase_across: float
    """rad, of a plane wave from the middle of the torso."""
    true_phase_up: float
    """rad."""


def check_antennas(setup: RadarSetup, figure: str, walk: Walk, yaw: float, height: float) -> AntennaCheck:
    radar = radars(("person",))["ideal"]
    at = setup.radar_at(walk, 0.0, height=height, yaw=yaw)
    shot = setup.shot(radar, at)
    rng = KeyedRandom(stream_key(0, f"reproduce-radar/{figure}"), 0)
    scan = shot.measured(radar, at, rng)
    along = rotate_inverse(at.quat_wxyz, setup.torso(walk, shot).point)
    along = along / np.linalg.norm(along)
    turn = 2.0 * np.pi * SPACING / radar.paths.wavelength
    across, up = phase_steps(range_spectrum(scan.volts, radar.waveform)[:, 0, :])
    sine = up / turn
    elevation = math.asin(sine)
    azimuth = math.asin(across / turn / math.cos(elevation))
    return AntennaCheck(
        figure, walk.name, setup.photograph(at, PICTURE).colour, scan.volts[:, 0, :], radar.waveform.sample_rate,
        across, up, azimuth, elevation, math.atan2(along[1], along[0]), math.asin(along[2]), turn * along[1],
        turn * along[2],
    )  # fmt: skip


def phase_steps(spectrum: NDArray[Any]) -> tuple[float, float]:
    """rad of RX1 over RX3 and of RX3 over RX2, of (3, n_ranges) V at the strongest range. The farther antenna leads."""
    rx1, rx2, rx3 = spectrum[:, int(np.argmax(np.sum(np.abs(spectrum) ** 2, axis=0)))]
    return float(np.angle(rx1 * np.conj(rx3))), float(np.angle(rx3 * np.conj(rx2)))
