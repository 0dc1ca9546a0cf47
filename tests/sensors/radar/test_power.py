"""Absolute power against the radar equation: points, a matt patch, a wall, balls, plates; and no effect of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from radar_scans import before, decibel, echoes_of, mean_square, radar, scanned
from radar_stages import BALL, BALL_RADIUS, MATT, MATT_SIDE, PERSON, PLATE, PLATE_SIDE, WALL, X

from painted_world import moving
from skyloop.sensors.radar.radar import Radar
from skyloop.world.materials import MATERIAL_ID, mirror_amplitudes, scattered_shares

pytestmark = pytest.mark.renders

DISTANCES = (2.0, 4.0, 7.0, 10.0)


def expected(sensor: Radar, cross_section: float, distance: float) -> float:
    """V² of I/Q samples by the radar equation with (4π)³, and the low-pass."""
    n, w = sensor.numbers, sensor.waveform
    watts = 1e-3 * 10.0 ** (0.1 * (n.tx_power_dbm + n.tx_gain_dbi + n.rx_gain_dbi))
    wavelength = 299792458.0 / w.centre_frequency
    received = watts * wavelength**2 * cross_section / ((4.0 * np.pi) ** 3 * distance**4)
    beat = 2.0 * w.slope * distance / 299792458.0
    kept = 1.0 / (1.0 + (beat / n.lowpass_corner_hz) ** (2 * n.lowpass_order))
    # a voltage of so many watts into the impedance has a peak of √2 times its RMS
    return 2.0 * n.impedance * received * kept * 10.0 ** (0.1 * n.conversion_gain_db)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(
    ("kind", "size", "cross_section"),
    [
        ("sphere", 0.3, np.pi * 0.3**2),
        ("trihedral", 0.1, 4.0 * np.pi * 0.1**4 / (3.0 * (299792458.0 / 60.996875e9) ** 2)),
        ("point", 0.7, 0.7),
    ],
)
def test_calibration_targets(stages: Any, kind: str, size: float, cross_section: float, distance: float) -> None:
    target = {"kind": kind, "size": size, "position": (distance, -300.0, 0.0)}
    sensor = radar(iq=True, targets=(target,))
    scan = scanned(sensor, stages, moving(position=(0.0, -300.0, 0.0)))
    assert decibel(mean_square(scan) / expected(sensor, cross_section, distance)) == pytest.approx(0.0, abs=0.05)


def looks(sensor: Radar, scene: Any, setup: float, distance: float, count: int) -> float:
    """Mean V² over views turned and shifted a little, so that other points are met."""
    random = np.random.default_rng(4)
    total = 0.0
    for _ in range(count):
        y, z = random.uniform(-0.05, 0.05, 2)
        turned = (0.0, *random.uniform(-3.0, 3.0, 2))
        total += mean_square(scanned(sensor, scene, moving(position=(X - distance, setup + y, z), rotation_deg=turned)))
    return total / count


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_matt_patch(stages: Any, distance: float) -> None:
    sensor = radar(iq=True, n_chirps=1, n_rx=1, width=160, height=120)
    share = scattered_shares(sensor.paths.wavelength)[MATERIAL_ID["grass"]]
    # σ⁰ = 4·share·cos² θ over the patch, each part at its own distance
    at = (np.arange(100) + 0.5) / 100 * MATT_SIDE - 0.5 * MATT_SIDE
    apart2 = distance**2 + at[:, None] ** 2 + at**2
    cross_section = np.sum(4.0 * share * distance**2 / apart2 * (distance**4 / apart2**2)) * (MATT_SIDE / 100) ** 2
    got = looks(sensor, stages, MATT, distance, 200)
    assert decibel(got / expected(sensor, cross_section, distance)) == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_metal_wall_is_a_mirror(stages: Any, distance: float) -> None:
    """λ²G²/((4π)²(2R)²) of what is sent, which is the cross section π·R²."""
    sensor = radar(iq=True, n_chirps=1)
    reflected = mirror_amplitudes(sensor.paths.wavelength)[MATERIAL_ID["metal"]] ** 2
    got = looks(sensor, stages, WALL, distance, 12)
    assert decibel(got / expected(sensor, np.pi * distance**2 * reflected, distance)) == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_ball(stages: Any, distance: float) -> None:
    sensor = radar(iq=True, n_chirps=1)
    curved = BALL_RADIUS * distance / (BALL_RADIUS + distance)
    reflected = mirror_amplitudes(sensor.paths.wavelength)[MATERIAL_ID["metal"]] ** 2
    got = looks(sensor, stages, BALL, distance, 12)
    assert decibel(got / expected(sensor, np.pi * curved**2 * reflected, distance)) == pytest.approx(0.0, abs=1.0)


def test_a_small_plate_echoes_as_its_area_squared(stages: Any) -> None:
    sensor = radar(iq=True, n_chirps=1, horizontal_fov_deg=20.0)
    wavelength = sensor.paths.wavelength
    reflected = mirror_amplitudes(wavelength)[MATERIAL_ID["metal"]] ** 2
    cross_section = 4.0 * np.pi * PLATE_SIDE**4 / wavelength**2 * reflected
    got = mean_square(scanned(sensor, stages, before(PLATE, 10.5, X)))
    assert decibel(got / expected(sensor, cross_section, 10.5)) == pytest.approx(0.0, abs=1.5)


@pytest.mark.parametrize("classes", [None, pytest.param(("road",), marks=pytest.mark.slow("192 scans of a street"))])
def test_power_does_not_depend_on_the_number_of_pixels(stages: Any, classes: Any) -> None:
    """A person on a street, over 40 looks and two doublings."""
    powers = []
    for width, height in ((120, 90), (240, 180), (480, 360)):
        sensor = radar(iq=True, n_chirps=1, n_rx=1, width=width, height=height, classes=classes)
        random, total = np.random.default_rng(1), 0.0
        for _ in range(40):
            y, z = random.uniform(-0.3, 0.3, 2)
            kinematics = moving(
                t_ns=int(random.uniform(0.0, 3e9)),
                position=(X - 4.0, PERSON + y, 1.6 + z),
                rotation_deg=(0.0, random.uniform(5.0, 15.0), random.uniform(-8.0, 8.0)),
            )
            total += mean_square(scanned(sensor, stages, kinematics))
        powers.append(total / 40)
    assert max(abs(decibel(power / powers[0])) for power in powers) < 1.0


def test_phase_stays_with_the_surface(stages: Any) -> None:
    """Seen twice, a surface gives the same volts; seen from a wavelength aside, others."""
    sensor = radar(classes=("road",), n_chirps=1)
    here = moving(position=(X - 4.0, PERSON, 1.6), rotation_deg=(0.0, 10.0, 0.0))
    there = moving(position=(X - 4.0, PERSON + 0.1, 1.6), rotation_deg=(0.0, 10.0, 0.0))
    first, again, other = (scanned(sensor, stages, k).volts for k in (here, here, there))
    np.testing.assert_array_equal(first, again)
    assert abs(np.corrcoef(first[0, 0], other[0, 0])[0, 1]) < 0.95


def test_only_the_chosen_classes_echo(stages: Any) -> None:
    here = moving(position=(X - 4.0, PERSON, 1.6), rotation_deg=(0.0, 10.0, 0.0))
    counts = {
        classes: len(echoes_of(radar(classes=classes, specular=False), stages, here)[0].strengths)
        for classes in (None, ("road",), ("person",), ("road", "person"))
    }
    assert counts[("road", "person")] == counts[("road",)] + counts[("person",)] == counts[None]
    assert counts[("person",)] > 100
