"""Section V-D's comparison with a real sensor: bursts that a user recorded, paired by distance with simulated ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skyloop.sensors.radar.processing import (
    Antennas,
    ProcessingConfig,
    detections,
    normalised_cross_correlation,
    paper_image,
    read_recording,
)
from skyloop.world.scenery.actors.gait import FASTEST, SLOWEST
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, RadarScan
from skyloop_papers.radar.setup import RadarSetup, Walk
from skyloop_papers.radar.walks import WalkRecord, radars, record, strongest

STEP, QUICK_STEP = 0.1, 0.4
"""m between the simulated bursts of a walk."""
SLOW = 0.2
"""m/s. A slower person does not count as walking."""
NEAREST, FARTHEST = 1.0, 7.0
"""m, as in the walks."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The bursts of a recording in which a person walks one way, and their simulated counterparts."""

    name: str
    """"away" or "towards"."""
    speed: float
    """m/s, median of the recorded bursts. The simulated walk has the same speed."""
    recorded: list[RadarScan]
    range: Array
    """m, as detected in each recorded burst."""
    simulated: WalkRecord
    partner: list[int]
    """The simulated burst for each recorded one."""
    ncc: dict[str, Array]
    """Eq. (8) by "ideal" and "real", the preset with noise and leakage; then both without static echoes."""


def compare_recording(path: Path, *, quick: bool) -> list[Pairs]:
    """Away and towards, as far as the recording has them."""
    radar = radars()["ideal"]
    scans = read_recording(path, radar.waveform, n_rx=radar.numbers.n_rx)
    antennas = Antennas.from_details(radar.details())
    config = ProcessingConfig(tracking=None)
    seen = np.array([strongest(detections(scan, radar.waveform, antennas, config)) for scan in scans])
    distance, speed = seen.T
    walking = (np.abs(speed) >= SLOW) & (distance >= NEAREST) & (distance <= FARTHEST)
    ways = {"away": walking & (speed > 0.0), "towards": walking & (speed < 0.0)}
    if not walking.any():
        raise ScenarioError(
            f"radar recording {path}: in none of its {len(scans)} bursts does anyone walk at {NEAREST:g} to "
            f"{FARTHEST:g} m; check that it has the waveform of Table 2"
        )
    walks = {}
    for name, chosen in ways.items():
        if chosen.any():
            ends = (NEAREST, FARTHEST) if name == "away" else (FARTHEST, NEAREST)
            pace = float(np.clip(np.median(np.abs(speed[chosen])), SLOWEST, FASTEST))
            walks[name] = Walk(name, *ends, pace)
    pairs = []
    with RadarSetup(list(walks.values())) as setup:
        for name, walk in walks.items():
            step = QUICK_STEP if quick else STEP
            # start after half a step, so that the person walks in every burst
            walked: Array = np.arange(0.5 * step, FARTHEST - NEAREST, step)
            simulated = record(setup, walk, walked / walk.speed)
            kept = [scan for scan, chosen in zip(scans, ways[name], strict=True) if chosen]
            pairs.append(_paired(walk, kept, distance[ways[name]], simulated))
    return pairs


def _paired(walk: Walk, recorded: list[RadarScan], distance: Array, simulated: WalkRecord) -> Pairs:
    waveform = radars()["ideal"].waveform
    known = np.where(np.isnan(simulated.found["real"].range), np.inf, simulated.found["real"].range)
    partner = [int(np.argmin(np.abs(known - d))) for d in distance]
    ncc = {}
    for mti, ending in ((False, ""), (True, ", moving only")):
        pictures = [paper_image(scan, waveform, mti=mti) for scan in recorded]
        for name, scans in simulated.scans.items():
            ncc[name + ending] = np.array(
                [
                    normalised_cross_correlation(paper_image(scans[k], waveform, mti=mti), picture)
                    for k, picture in zip(partner, pictures, strict=True)
                ]
            )
    return Pairs(walk.name, walk.speed, recorded, distance, simulated, partner, ncc)
