"""The tracker, and the whole chain."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from radar_reference import DETAILS, RX, TABLE_2, TX, reference_volts
from skyloop.sensors.radar.processing import ProcessingConfig, RadarProcessor, Tracker, TrackingConfig
from skyloop.sensors.radar.processing.tracking import measurement_of
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import RadarDetections, RadarScan

PERIOD_NS = 100_000_000


def points(
    t_ns: int, places: list[np.ndarray], velocities: list[np.ndarray], rng: np.random.Generator
) -> RadarDetections:
    """Noisy points as a radar would find them."""
    states = np.array([[*p, *v] for p, v in zip(places, velocities, strict=True)]).reshape(-1, 6)
    values = measurement_of(states)[0] + rng.normal(0.0, 1.0, (len(states), 4)) * [0.05, 0.05, 0.03, 0.03]
    ranges, speeds, azimuths, elevations = values.T
    flat = ranges * np.cos(elevations)
    xyz = np.column_stack([flat * np.cos(azimuths), flat * np.sin(azimuths), ranges * np.sin(elevations)])
    snr = np.full(len(states), 20.0)
    empty = np.zeros((0, 3))
    return RadarDetections(
        t_ns, xyz.astype(np.float32), ranges, speeds, azimuths, elevations, snr, np.zeros(0, np.int32), empty, empty
    )


def test_derivatives_of_the_measurement() -> None:
    state = np.array([[3.0, -1.0, 0.7, 0.4, 1.1, -0.3]])
    _, slope = measurement_of(state)
    for i in range(6):
        step = np.zeros((1, 6))
        step[0, i] = 1e-6
        numeric = (measurement_of(state + step)[0] - measurement_of(state - step)[0]) / 2e-6
        np.testing.assert_allclose(slope[0, :, i], numeric[0], atol=1e-8)


def test_two_that_walk_past_each_other_keep_their_numbers_through_misses_and_clutter() -> None:
    rng = np.random.default_rng(8)
    tracker = Tracker(TrackingConfig())
    late_errors = []
    for i in range(80):
        t = i * 0.1
        places = [np.array([2.0 + 0.8 * t, -1.5, -0.5]), np.array([9.0 - 0.9 * t, 1.5, -0.5])]
        velocities = [np.array([0.8, 0.0, 0.0]), np.array([-0.9, 0.0, 0.0])]
        shown = [k for k in range(2) if rng.random() > 0.2]
        clutter = [rng.uniform([1.0, -4.0, -1.0], [10.0, 4.0, 1.0])] if rng.random() < 0.2 else []
        found = points(
            i * PERIOD_NS,
            [places[k] for k in shown] + clutter,
            [velocities[k] for k in shown] + [np.array([0.0, 0.0, 0.0])] * len(clutter),
            rng,
        )
        tracks = {track.number: track for track in tracker.update(found)}
        if i > 20:
            for p, v in zip(places, velocities, strict=True):
                nearest = min(tracks.values(), key=lambda track: float(np.linalg.norm(track.state[:3] - p)))
                late_errors.append((nearest.number, np.linalg.norm(nearest.state[:3] - p), nearest.state[3:] - v))
    assert len({number for number, _, _ in late_errors}) == 2
    assert np.mean([e for _, e, _ in late_errors]) < 0.25
    assert np.sqrt(np.mean([np.mean(e**2) for _, _, e in late_errors])) < 0.5


def test_tracks_are_born_by_m_of_n_and_die() -> None:
    rng = np.random.default_rng(1)
    tracker = Tracker(TrackingConfig(confirm_hits=3, confirm_bursts=5, max_misses=4))
    here, still = [np.array([4.0, 0.0, 0.0])], [np.zeros(3)]
    counts = [
        len(tracker.update(points(i * PERIOD_NS, here if seen else [], still if seen else [], rng)))
        for i, seen in enumerate([1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1])
    ]
    assert counts == [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]


def test_speed_beyond_the_unambiguous_is_followed() -> None:
    """The measured speed repeats every span; a track that is known to be faster takes it."""
    rng = np.random.default_rng(4)
    tracker = Tracker(TrackingConfig(), speed_span=4.0)
    for i in range(40):
        speed = 1.0 + 0.05 * i
        p = np.array([2.0 + 0.1 * i + 0.0025 * i * i, 0.0, 0.0])
        found = points(i * PERIOD_NS, [p], [np.array([(speed + 2.0) % 4.0 - 2.0, 0.0, 0.0])], rng)
        tracks = tracker.update(found)
    assert len(tracks) == 1 and tracks[0].number == 1
    assert tracks[0].state[3] == pytest.approx(1.0 + 0.05 * 39, abs=0.2)


def walking(t: float) -> tuple[list[np.ndarray], list[np.ndarray], list[float]]:
    """A torso, two swinging feet, and a wall behind."""
    torso, velocity = np.array([1.5 + 1.0 * t, 0.8, -0.3]), np.array([1.0, 0.0, 0.0])
    swing = np.array([0.3 * np.sin(6.0 * t), 0.0, -0.8]), np.array([1.8 * np.cos(6.0 * t), 0.0, 0.0])
    back = np.array([-0.3 * np.sin(6.0 * t), 0.0, -0.8]), np.array([-1.8 * np.cos(6.0 * t), 0.0, 0.0])
    places = [torso, torso + swing[0], torso + back[0], np.array([9.0, 1.0, 0.0])]
    return places, [velocity, velocity + swing[1], velocity + back[1], np.zeros(3)], [1.0, 0.3, 0.3, 5.0]


@pytest.mark.parametrize("mti", ["mean", "running"])
def test_the_whole_chain_follows_a_walker_before_a_wall(mti: Any) -> None:
    rng = np.random.default_rng(9)
    processor = RadarProcessor(DETAILS, ProcessingConfig(mti=mti))
    errors, numbers, saved = [], set(), None
    for i in range(50):
        t = i * 0.1
        volts = reference_volts(TABLE_2, TX, RX, *walking(t)) + rng.normal(0.0, 0.5, (3, 64, 64))
        scan = RadarScan(i * PERIOD_NS, volts.astype(np.float32), 0.0)
        if i == 30:
            saved = copy.deepcopy(processor)
        image, found = processor.process(scan)
        if i == 30 and saved is not None:
            again = saved.process(scan)[1]
            np.testing.assert_array_equal(again.track_positions, found.track_positions)
        assert image.power.shape == (65, 64)
        if i >= 10:
            torso = walking(t)[0][0]
            distance = np.linalg.norm(found.track_positions - torso, axis=1)
            nearest = int(np.argmin(distance))
            errors.append([distance[nearest], np.linalg.norm(found.track_velocities[nearest] - [1.0, 0.0, 0.0])])
            numbers.add(int(found.track_ids[nearest]))
            assert len(found.track_ids) <= 2
    mean = np.mean(errors, axis=0)
    assert len(numbers) == 1, numbers
    assert mean[0] < 0.3 and mean[1] < 0.6, mean


def test_bad_input_is_refused_in_one_line() -> None:
    with pytest.raises(ScenarioError, match="lack n_chirps"):
        RadarProcessor({k: v for k, v in DETAILS.items() if k != "n_chirps"})
    with pytest.raises(ScenarioError, match="lack rx_positions"):
        RadarProcessor({k: v for k, v in DETAILS.items() if k != "rx_positions"})
    with pytest.raises(ScenarioError, match="shapes"):
        RadarProcessor({**DETAILS, "rx_positions": [0.0, 0.0, 0.0]})
    with pytest.raises(ScenarioError, match=r"shape \(2, 64, 64\)"):
        RadarProcessor(DETAILS).process(RadarScan(0, np.zeros((2, 64, 64), np.float32), 0.0))
    for wrong in ({"window": "kaiser"}, {"training": (0, 0)}, {"min_range": 3.0, "max_range": 2.0}, {"n": 1}):
        with pytest.raises(ValidationError):
            ProcessingConfig(**wrong)
    with pytest.raises(ValidationError, match="confirm_hits"):
        TrackingConfig(confirm_hits=6)


def test_silence_gives_nothing() -> None:
    image, found = RadarProcessor(DETAILS).process(RadarScan(5, np.zeros((3, 64, 64), np.float32), 0.0))
    assert not image.power.any()
    assert found.t_ns == 5 and len(found.ranges) == len(found.track_ids) == 0
    assert found.points.shape == found.track_positions.shape == (0, 3)
