"""Every option of radar processing changes the images, points or tracks of one recording."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from option_flights import DRONE, Script, check_change, fields_of, fly, numbered

from radar_reference import DETAILS, RX, TABLE_2, TX, place, reference_volts
from skyloop.sensors.radar.processing import ProcessingConfig, RadarProcessor, TrackingConfig
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, RadarDetections, RadarScan, RangeDopplerImage

BURSTS, PERIOD_NS = 14, 100_000_000
NOISE = 0.3
ABSENT = (3, 7, 11)
"""Bursts in which the one who crosses is not seen."""
ARRIVED = 4
"""Burst from which on a cupboard stands at 8 m."""


@functools.cache
def recording() -> list[RadarScan]:
    """One crosses at 4 m, one leaves from 6 m with an arm swinging, and walls stand behind."""
    rng = np.random.default_rng(5)
    scans = []
    for k in range(BURSTS):
        t = 0.1 * k
        targets: list[tuple[Any, Any, float]] = [
            ((4.0, 1.2 - 1.5 * t, 0.0), (0.4, -1.5, 0.0), 0.0 if k in ABSENT else 1.0),
            ((6.0 + 1.0 * t, -1.0, 0.2), (1.0, 0.0, 0.0), 0.6),
            ((6.1 + 1.5 * t, -1.2, 0.1), (1.5, 0.0, 0.0), 0.25),
            (place(10.0, 0.3, 0.0), (0.0, 0.0, 0.0), 5.0),
            (place(8.0, -0.4, 0.1), (0.0, 0.0, 0.0), 3.0 if k >= ARRIVED else 0.0),
        ]
        places, velocities, amplitudes = zip(*targets, strict=True)
        volts = reference_volts(TABLE_2, TX, RX, places, velocities, amplitudes)
        volts += rng.normal(0.0, NOISE, volts.shape)
        scans.append(RadarScan(k * PERIOD_NS, volts.astype(np.float32), 0.0))
    return scans


@dataclass(frozen=True)
class Found:
    images: list[RangeDopplerImage]
    points: list[RadarDetections]

    def all(self, name: str) -> Array:
        return np.concatenate([getattr(burst, name) for burst in self.points])

    @property
    def image(self) -> RangeDopplerImage:
        return self.images[-1]

    def crossing(self) -> tuple[Array, Array]:
        """Range, speed and azimuth of the track at about 4 m and of the point nearest to it, (n, 6), burst by burst
        where both are; and (n, 3) m/s of the track."""
        rows, velocities = [], []
        for burst in self.points:
            if len(burst.track_positions) and len(burst.ranges):
                away = np.linalg.norm(burst.track_positions, axis=1)
                i = int(np.argmin(np.abs(away - 4.2)))
                if abs(away[i] - 4.2) > 1.0:
                    continue
                j = int(np.argmin(np.abs(burst.ranges - away[i])))
                p, v = burst.track_positions[i], burst.track_velocities[i]
                track = [away[i], v @ p / away[i], np.arctan2(p[1], p[0])]
                rows.append([*track, burst.ranges[j], burst.speeds[j], burst.azimuths[j]])
                velocities.append(v)
        return np.array(rows).reshape(-1, 6), np.array(velocities).reshape(-1, 3)


@functools.cache
def _processed(options: str) -> Found:
    processor = RadarProcessor(DETAILS, ProcessingConfig.model_validate_json(options))
    both = [processor.process(scan) for scan in recording()]
    return Found([image for image, _ in both], [points for _, points in both])


def processed(**options: Any) -> Found:
    return _processed(ProcessingConfig(**options).model_dump_json())


Measure = Callable[[Found], float]


def count(found: Found) -> float:
    """Points of all bursts."""
    return float(len(found.all("ranges")))


def signal(found: Found) -> float:
    """dB, mean of the points over the noise around them."""
    return float(found.all("snr_db").mean())


def rows(found: Found) -> float:
    return float(found.image.power.shape[0])


def columns(found: Found) -> float:
    return float(found.image.power.shape[1])


def bright(found: Found) -> float:
    """Cells within 25 dB of the strongest: how wide the lobes are."""
    return float((found.image.power > found.image.power.max() * 10.0**-2.5).sum())


def standing(distance: float) -> Measure:
    """dB of what stands at a distance, in the last image."""

    def level(found: Found) -> float:
        near = np.abs(found.image.ranges - distance) < 0.3
        still = np.abs(found.image.speeds) < 0.05
        return 10.0 * float(np.log10(found.image.power[np.ix_(near, still)].max() + 1e-12))

    return level


def nearest(found: Found) -> float:
    return float(found.all("ranges").min())


def farthest(found: Found) -> float:
    return float(found.all("ranges").max())


def turn(found: Found) -> float:
    """rad, sum of all elevations."""
    return float(np.abs(found.all("elevations")).sum())


def tracks(found: Found) -> float:
    """Shown, in all bursts."""
    return float(len(found.all("track_ids")))


def first_track(found: Found) -> float:
    """Burst in which one is shown first."""
    return float(next(k for k, burst in enumerate(found.points) if len(burst.track_ids)))


def off(column: int) -> Measure:
    """How far the track of the one who crosses is from its points: in range, speed or azimuth."""

    def distance(found: Found) -> float:
        both, _ = found.crossing()
        return float(np.abs(both[:, column] - both[:, column + 3]).mean())

    return distance


def sideways(found: Found) -> float:
    """m/s to the left, of the one who crosses to the right, when it is first shown."""
    return float(found.crossing()[1][0, 1])


def names(found: Found) -> float:
    """How many numbers were given to what was followed."""
    return float(len(np.unique(found.all("track_ids"))))


@dataclass(frozen=True)
class Change:
    value: Any
    measure: Measure
    least: float
    """Signed: negative when the number must fall."""
    given: dict[str, Any] | None = None


ORDERED = {"cfar": "ordered_statistic"}
RUNNING = {"mti": "running"}
PROCESSING: dict[str, list[Change]] = {
    "window": [Change("rectangular", bright, -5), Change("blackman", bright, 5)],
    "range_padding": [Change(4, rows, 64)],
    "speed_padding": [Change(2, columns, 64)],
    "mti": [Change("none", standing(10.0), 40.0), Change("running", standing(8.0), 20.0)],
    "clutter_bursts": [Change(2.0, standing(8.0), -10.0, RUNNING)],
    "cfar": [Change("ordered_statistic", signal, 0.5)],
    "threshold_db": [Change(20.0, count, -5)],
    "guard": [Change((0, 0), signal, -3.0)],
    "training": [Change((1, 1), signal, 0.4)],
    "rank": [Change(0.95, signal, -0.5, ORDERED)],
    "dynamic_range_db": [Change(6.0, count, -5)],
    "max_detections": [Change(1, count, -10)],
    "angle_method": [Change("capon", turn, -0.01)],
    "min_range": [Change(5.0, nearest, 0.5)],
    "max_range": [Change(5.0, farthest, -1.0)],
    "tracking": [Change(None, tracks, -10)],
}
TRACKING: dict[str, list[Change]] = {
    "range_sd": [Change(5.0, off(0), 0.02)],
    "speed_sd": [Change(5.0, off(1), 0.05)],
    "angle_sd": [Change(1.0, off(2), 0.02)],
    "acceleration_sd": [Change(50.0, off(1), -0.01)],
    "start_speed_sd": [Change(0.01, sideways, 0.3)],
    "gate": [Change(0.01, tracks, -10)],
    "cluster_distance": [Change(5.0, names, -1)],
    "confirm_hits": [Change(1, first_track, -2)],
    "confirm_bursts": [Change(4, tracks, -3, {"confirm_hits": 4})],
    "max_misses": [Change(0, names, 1)],
}


def test_every_option_has_a_case() -> None:
    assert set(PROCESSING) == fields_of(ProcessingConfig)
    assert set(TRACKING) == fields_of(TrackingConfig)


@pytest.mark.parametrize(("option", "number"), numbered(PROCESSING))
def test_processing(option: str, number: int) -> None:
    change = PROCESSING[option][number]
    given = change.given or {}
    before, after = (change.measure(processed(**given, **more)) for more in ({}, {option: change.value}))
    check_change(option, before, after, change.least)


@pytest.mark.parametrize(("option", "number"), numbered(TRACKING))
def test_tracking(option: str, number: int) -> None:
    change = TRACKING[option][number]
    given = change.given or {}
    before, after = (change.measure(processed(tracking={**given, **m})) for m in ({}, {option: change.value}))
    check_change(option, before, after, change.least)


SMALL = {"kind": "radar", "rate_hz": 5, "width": 64, "height": 48, "n_chirps": 16}
SENSORS = {"usual": SMALL, "finer": SMALL, "none": SMALL}
STAND = Script((), 0.3, {DRONE + "sensors": SENSORS, "world": "radar-lab"})


@pytest.mark.renders
def test_perception_of_a_vehicle() -> None:
    flight = fly(STAND, {DRONE + "perception": {"finer": {"range_padding": 4}, "none": None}})
    assert flight.records("usual/range_doppler")[0].power.shape == (65, 16)
    assert flight.records("finer/range_doppler")[0].power.shape == (129, 16)
    streams = {name.removeprefix("drone/none/") for name in flight.messages if name.startswith("drone/none")}
    assert streams == {"raw"}
    assert len(flight.records("none/raw")) == len(flight.records("usual/detections")) == 2


def test_perception_of_no_radar() -> None:
    with pytest.raises(ScenarioError, match="no radar named 'usal' under sensors; did you mean 'usual'"):
        make_scenario({"vehicles": [{"sensors": SENSORS, "perception": {"usal": None}}]})
