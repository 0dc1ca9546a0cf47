from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.gnss import Gnss, GnssConfig, Outage

KEY = stream_key(5, "drone/gnss")


def fly(sensor: Gnss, scene, at_rest, times: list[float], **motion: object) -> list[Any]:
    state, fixes = sensor.initial_state(KeyedRandom(KEY, 0)), []
    for index, t in enumerate(times):
        kinematics = at_rest(t_ns=round(t * 1e9), **motion)
        fix, state = sensor.measure(kinematics, scene, state, KeyedRandom(KEY, index))
        fixes.append(fix)
    return fixes


def test_one_kilometre_away_against_the_radii_of_curvature(scene, at_rest) -> None:
    east, north, up = 800.0, -600.0, 90.0
    sensor = Gnss(GnssConfig(preset="perfect"), 0.1)
    (fix,) = fly(sensor, scene, at_rest, [0.0], position=[east, north, up], velocity_world=[1.0, 2.0, 3.0])
    a, e2 = 6378137.0, 6.69437999014e-3
    latitude, altitude = math.radians(47.3), 122.0
    w2 = 1.0 - e2 * math.sin(latitude) ** 2
    meridian, normal = a * (1.0 - e2) / w2**1.5 + altitude, a / math.sqrt(w2) + altitude
    tangent = math.tan(latitude)
    # Series to second order in distance over radius; what is left out is below a millimetre or so.
    north_along = north * (1.0 - up / meridian) - east**2 * tangent / (2.0 * normal)
    east_along = east * (1.0 - up / normal + north * tangent / normal)
    assert (fix.latitude_deg - 47.3) * math.pi / 180.0 * meridian == pytest.approx(north_along, abs=2e-3)
    assert (fix.longitude_deg - 8.5) * math.pi / 180.0 * normal * math.cos(latitude) == pytest.approx(
        east_along, abs=2e-3
    )
    rise = east**2 / (2.0 * normal) + north**2 / (2.0 * meridian)
    assert fix.altitude == pytest.approx(altitude + up + rise, abs=1e-3)
    assert fix.velocity_enu == pytest.approx([1.0, 2.0, 3.0])
    assert fix.fix_type == 3


def test_px4_errors_step_as_in_px4(scene, at_rest) -> None:
    sensor = Gnss(GnssConfig(preset="px4-sih"), 0.125)
    state, errors = sensor.initial_state(KeyedRandom(KEY, 0)), []
    for index in range(3000):
        fix, state = sensor.measure(at_rest(), scene, state, KeyedRandom(KEY, index))
        errors.append(state.error)
    drive = np.std(np.array(errors[1:]) - np.array(errors[:-1]) * ([0.76] * 3 + [0.54] * 3), axis=0)
    assert drive == pytest.approx([0.016, 0.016, 0.024, 0.02, 0.02, 0.024], rel=0.06)
    assert (fix.horizontal_sd, fix.vertical_sd, fix.speed_sd) == (0.9, 1.78, 0.4)
    measured = scene.local_frame.enu_from_geodetic_array([fix.latitude_deg, fix.longitude_deg, fix.altitude])
    assert measured == pytest.approx(state.error[:3], abs=1e-6)


@pytest.mark.parametrize(
    ("preset", "horizontal", "vertical", "speed"), [("m8n", 0.304, 0.412, 0.05), ("rtk", 0.016, 0.032, 0.03)]
)
def test_errors_are_as_large_as_reported(preset, horizontal, vertical, speed, scene, at_rest) -> None:
    sensor = Gnss(GnssConfig(preset=preset), 0.1)
    errors = []
    for seed in range(600):
        key = stream_key(seed, "gnss")
        state = sensor.initial_state(KeyedRandom(key, 0))
        fix, _ = sensor.measure(at_rest(t_ns=60 * 10**9), scene, state, KeyedRandom(key, 0))
        geodetic = [fix.latitude_deg, fix.longitude_deg, fix.altitude]
        errors.append([*scene.local_frame.enu_from_geodetic_array(geodetic), *fix.velocity_enu])
    sd = np.std(errors, axis=0)
    assert sd[:4] == pytest.approx([horizontal, horizontal, vertical, speed], rel=0.12)
    assert (fix.horizontal_sd, fix.vertical_sd) == pytest.approx((horizontal, vertical), rel=0.03)
    assert fix.speed_sd == pytest.approx(speed, rel=0.07)


def test_airsim_gets_its_fix_as_the_reported_sd_falls(scene, at_rest) -> None:
    sensor = Gnss(GnssConfig(preset="airsim"), 0.02)
    two_d, three_d = 1.0 + 0.9 * math.log(99.9 / 3.9), 1.0 + 0.9 * math.log(99.9 / 2.9)
    times = [0.5, two_d - 0.01, two_d + 0.01, three_d - 0.01, three_d + 0.01, 30.0]
    fixes = fly(sensor, scene, at_rest, times)
    assert [fix.fix_type for fix in fixes] == [0, 0, 2, 2, 3, 3]
    assert fixes[-1].horizontal_sd == pytest.approx(0.1, abs=1e-9)
    assert fixes[-1].latitude_deg == pytest.approx(47.3, abs=1e-12)


def test_an_outage_keeps_the_last_position_and_admits_it(scene, at_rest) -> None:
    config = GnssConfig(preset="m8n", outages=(Outage(start=10.0, end=12.0), Outage(start=20.0)))
    fixes = fly(Gnss(config, 0.1), scene, at_rest, [9.9, 10.0, 11.9, 12.1, 15.0, 19.9, 20.0, 99.0])
    assert [fix.fix_type for fix in fixes] == [3, 0, 0, 0, 3, 3, 0, 0]
    assert fixes[2].latitude_deg == fixes[0].latitude_deg != fixes[4].latitude_deg
    assert (fixes[1].horizontal_sd, fixes[1].satellites) == (100.0, 0)
    assert np.array_equal(fixes[1].velocity_enu, np.zeros(3))


def test_before_the_first_fix_it_says_home(scene, at_rest) -> None:
    (fix,) = fly(Gnss(GnssConfig(), 0.1), scene, at_rest, [0.0], position=[50.0, 60.0, 70.0])
    assert (fix.fix_type, fix.latitude_deg, fix.longitude_deg, fix.altitude) == (0, 47.3, 8.5, 122.0)
