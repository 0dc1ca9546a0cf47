"""The whole processing chain, from bursts to images, points and tracks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from skyloop.core.radar_waveform import Waveform
from skyloop.sensors.radar.processing.angles import Antennas
from skyloop.sensors.radar.processing.config import ProcessingConfig
from skyloop.sensors.radar.processing.detection import points_of
from skyloop.sensors.radar.processing.spectra import (
    Volts,
    beat_ranges,
    mean_power,
    range_doppler,
    running_clutter,
    speed_cell,
    speeds,
    without_mean,
)
from skyloop.sensors.radar.processing.tracking import Tracker
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import RadarDetections, RadarScan, RangeDopplerImage

ROUNDING = 1e-12
"""A share of a burst's power. What clutter removal leaves below it is rounding, not signal."""


class RadarProcessor:
    """Remembers the clutter and the tracks between bursts, in `clutter` and `tracker`; a deep copy is a snapshot."""

    Config = ProcessingConfig
    products: ClassVar[dict[str, str]] = {"range_doppler": "RangeDopplerImage", "detections": "RadarDetections"}
    """By what is appended to the name of the radar, the record classes of what `process` gives, in order."""

    def __init__(self, details: Mapping[str, Any], config: ProcessingConfig | None = None) -> None:
        """`details`: those of the radar's StreamInfo."""
        self.config = config or ProcessingConfig()
        self.waveform = Waveform.from_details(details)
        self.antennas = Antennas.from_details(details)
        self.clutter: Volts | None = None
        tracking = self.config.tracking
        span = speed_cell(self.waveform) * self.waveform.n_chirps
        self.tracker = None if tracking is None else Tracker(tracking, span)

    def process(self, scan: RadarScan) -> tuple[RangeDopplerImage, RadarDetections]:
        """Returns the image after clutter removal, and the points and tracks of the burst."""
        wanted = (len(self.antennas.rx), self.waveform.n_chirps, self.waveform.n_samples)
        if scan.volts.shape != wanted:
            raise ScenarioError(f"a radar scan of shape {scan.volts.shape}, the stream's is {wanted}; check its source")
        c = self.config
        volts = self._without_clutter(scan.volts)
        power = mean_power(range_doppler(volts, self.waveform, c.window, c.range_padding, c.speed_padding))
        image = RangeDopplerImage(
            scan.t_ns,
            power.astype(np.float32),
            beat_ranges(self.waveform, c.range_padding),
            speeds(self.waveform, c.speed_padding),
        )
        found = points_of(scan.t_ns, volts, power, self.waveform, self.antennas, c)
        if self.tracker is None:
            return image, found
        tracks = self.tracker.update(found)
        states = np.array([track.state for track in tracks]).reshape(-1, 6)
        numbers = np.array([track.number for track in tracks], np.int32)
        return image, replace(found, track_ids=numbers, track_positions=states[:, :3], track_velocities=states[:, 3:])

    def _without_clutter(self, volts: Volts) -> Volts:
        if self.config.mti == "none":
            return volts
        if self.config.mti == "mean":
            rest = without_mean(volts, self.config.window)
        else:
            self.clutter = running_clutter(self.clutter, volts, self.config.clutter_bursts)
            rest = volts - self.clutter[:, None, :]
        # only float32 rounding is left where nothing moves and there is no noise
        return rest if np.vdot(rest, rest).real > ROUNDING * np.vdot(volts, volts).real else np.zeros_like(rest)
