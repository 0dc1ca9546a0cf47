"""Section V-D's walks in front of an ideal and a disturbed radar: recordings, detections and truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.radar.config import AnyPattern, Beam, RadarConfig
from skyloop.sensors.radar.processing import (
    RadarProcessor,
    normalised_cross_correlation,
    paper_image,
    spectrogram,
)
from skyloop.sensors.radar.radar import Radar
from skyloop_client.messages import Array, RadarDetections, RadarScan
from skyloop_papers.radar.setup import PERSON_AND_GROUND, RadarSetup, Walk

FRAMES_PER_SECOND = 7
WALKS = (
    Walk("away", 1.0, 7.0, 0.5, 1.1),
    Walk("towards", 7.0, 1.0, 0.5, 1.1),
    Walk("away at 1 m/s", 1.0, 7.0, 1.0, 1.1),
    Walk("towards at 1 m/s", 7.0, 1.0, 1.0, 1.1),
)
"""0.5 m/s is the slowest gait. 12 s of walking, with standing before and after, fill 100 frames at 7 FPS."""
FRAME_TIMES = np.arange(100) / FRAMES_PER_SECOND
"""s."""
QUICK_FRAME_TIMES = FRAME_TIMES[36:52]
GAUSSIAN = Beam()
GAIT = Walk("gait", 2.0, 8.0, 1.0)
LIMB_DB = -30.0
"""dB relative to the torso line. A weaker limb does not count."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkFindings:
    """The result of processing for each frame. nan if nothing was found."""

    range: Array
    """m, of the detection with the highest SNR."""
    speed: Array
    """m/s, of the same detection."""
    track_range: Array
    """m, of the track nearest to that detection."""
    track_speed: Array
    """m/s, along the line of sight."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkRecord:
    walk: Walk
    times: Array
    """s."""
    true_range: Array
    """m to the torso's surface."""
    true_speed: Array
    """m/s."""
    scans: dict[str, list[RadarScan]]
    """By "ideal" and "real", the preset with noise, phase noise, leakage and converter."""
    found: dict[str, WalkFindings]
    ncc: Array
    """Eq. (8) between ideal and real, frame by frame."""
    ncc_mti: Array
    """The same, each without static echoes."""
    pattern: AnyPattern
    """Antenna pattern of both radars."""

    @property
    def moving(self) -> Array:
        """Frames during which the person walks."""
        return np.array([self.walk.moves_at(t) for t in self.times])


def radars(classes: tuple[str, ...] = PERSON_AND_GROUND, pattern: AnyPattern = GAUSSIAN) -> dict[str, Radar]:
    presets = {"ideal": "bgt60tr13c", "real": "bgt60tr13c-real"}
    both = {}
    for name, preset in presets.items():
        config = RadarConfig(preset=preset, classes=classes, pattern=pattern)  # type: ignore[arg-type]
        both[name] = Radar(config, 1.0 / FRAMES_PER_SECOND)
    return both


def record(setup: RadarSetup, walk: Walk, times: Array, pattern: AnyPattern = GAUSSIAN) -> WalkRecord:
    """Bursts at these s, seen from 1.8 m by both radars at the same pose."""
    both = radars(pattern=pattern)
    processors = {name: RadarProcessor(radar.details()) for name, radar in both.items()}
    scans: dict[str, list[RadarScan]] = {name: [] for name in both}
    found: dict[str, list[Array]] = {name: [] for name in both}
    truth = []
    for index, t in enumerate(times):
        at = setup.radar_at(walk, t)
        shot = setup.shot(both["ideal"], at)
        torso = setup.torso(walk, shot)
        truth.append((torso.range, torso.speed))
        for name, radar in both.items():
            rng = KeyedRandom(stream_key(0, f"reproduce-radar/{walk.name}/{name}"), index)
            scan = shot.measured(radar, at, rng)
            scans[name].append(scan)
            found[name].append(_reading(processors[name].process(scan)[1]))
    waveform = both["ideal"].waveform
    ncc = [
        [
            normalised_cross_correlation(paper_image(a, waveform, mti=mti), paper_image(b, waveform, mti=mti))
            for a, b in zip(scans["ideal"], scans["real"], strict=True)
        ]
        for mti in (False, True)
    ]
    true_range, true_speed = np.array(truth).T
    answers = {name: WalkFindings(*np.array(values).T) for name, values in found.items()}
    return WalkRecord(walk, times, true_range, true_speed, scans, answers, np.array(ncc[0]), np.array(ncc[1]), pattern)


def leakage_ncc(setup: RadarSetup, walk: WalkRecord, levels_db: Sequence[float | None]) -> dict[float | None, Array]:
    """Eq. (8) between ideal and real radar by leakage, for every eighth frame. None: without leakage."""
    chosen = np.flatnonzero(walk.moving)[::8]
    out: dict[float | None, Array] = {}
    for level in levels_db:
        leaking = {"leakage": False} if level is None else {"leakage_db": level}
        config = RadarConfig(preset="bgt60tr13c-real", classes=PERSON_AND_GROUND, pattern=walk.pattern, **leaking)
        radar = Radar(config, 1.0 / FRAMES_PER_SECOND)
        ncc = []
        for k in chosen:
            at = setup.radar_at(walk.walk, walk.times[k])
            rng = KeyedRandom(stream_key(0, f"reproduce-radar/{walk.walk.name}/leakage"), int(k))
            scan = setup.shot(radar, at).measured(radar, at, rng)
            ideal = paper_image(walk.scans["ideal"][k], radar.waveform)
            ncc.append(normalised_cross_correlation(ideal, paper_image(scan, radar.waveform)))
        out[level] = np.array(ncc)
    return out


def mask_ncc(beam: WalkRecord, mask: WalkRecord) -> Array:
    """Eq. (8) between the ideal radar with its beam and with ViRa's mask, frame by frame."""
    waveform = radars()["ideal"].waveform
    pairs = zip(beam.scans["ideal"], mask.scans["ideal"], strict=True)
    return np.array(
        [normalised_cross_correlation(paper_image(a, waveform), paper_image(b, waveform)) for a, b in pairs]
    )


def strongest(found: RadarDetections) -> tuple[float, float]:
    """Range and speed of the point with the highest SNR. nan if there is none."""
    if not len(found.snr_db):
        return np.nan, np.nan
    best = int(np.argmax(found.snr_db))
    return float(found.ranges[best]), float(found.speeds[best])


def _reading(found: RadarDetections) -> Array:
    """(4,) in the order of WalkFindings's fields."""
    distance, speed = strongest(found)
    if not len(found.track_ids) or np.isnan(distance):
        return np.array([distance, speed, np.nan, np.nan])
    point = found.points[int(np.argmax(found.snr_db))]
    track = int(np.argmin(np.linalg.norm(found.track_positions - point, axis=1)))
    position = found.track_positions[track]
    away = float(np.linalg.norm(position))
    return np.array([distance, speed, away, float(found.track_velocities[track] @ position) / away])


@dataclass(frozen=True, slots=True, eq=False)
class GaitRecord:
    """Micro-Doppler of a person walking away."""

    speeds: Array
    """(n,) m/s."""
    times: Array
    """(t,) s."""
    decibel: Array
    """(n, t) dB."""
    line: Array
    """(t,) m/s, the maximum of the spectrogram."""
    fastest: Array
    """(t,) m/s, the highest speed within LIMB_DB of the line."""
    true_speed: Array
    """(t,) m/s, of the torso."""
    true_fastest: Array
    """(t,) m/s, of the body part that recedes fastest."""


def record_gait(setup: RadarSetup, walk: Walk, bursts: int) -> GaitRecord:
    """Burst after burst without a pause, with the ideal radar."""
    radar = radars()["ideal"]
    w = radar.waveform
    scans, times, torsos = [], [], []
    for index in range(bursts):
        t = walk.begins + 0.1 + index * w.n_chirps * w.chirp_repetition
        at = setup.radar_at(walk, t)
        shot = setup.shot(radar, at)
        times.append(t)
        torsos.append(setup.torso(walk, shot))
        rng = KeyedRandom(stream_key(0, "reproduce-radar/gait"), index)
        scans.append(shot.measured(radar, at, rng))
    near, far = min(t.range for t in torsos) - 1.0, max(t.range for t in torsos) + 1.0
    speeds, columns, decibel = spectrogram(scans, w, near, far)
    fastest = np.array([speeds[column >= column.max() + LIMB_DB].max() for column in decibel.T])
    line = np.array([_peak(speeds, column) for column in decibel.T])
    torso = np.interp(columns, times, [t.speed for t in torsos])
    limb = np.interp(columns, times, [t.fastest_part for t in torsos])
    return GaitRecord(speeds, columns, decibel, line, fastest, torso, limb)


def _peak(speeds: Array, decibel: Array) -> float:
    """m/s of the vertex of the parabola through the strongest cell and its neighbours."""
    k = int(np.argmax(decibel))
    left, middle, right = decibel[k - 1], decibel[k], decibel[(k + 1) % len(decibel)]
    bend = left - 2.0 * middle + right
    shift = 0.5 * (left - right) / bend if bend < 0.0 else 0.0
    return float(speeds[k] + shift * (speeds[1] - speeds[0]))
