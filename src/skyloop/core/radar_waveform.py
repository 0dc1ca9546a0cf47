"""A burst of FMCW chirps: its numbers and what follows from them.

Both the radar that makes the data and the processing that reads it need these, so they are in the foundation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

LIGHT_SPEED = 299_792_458.0
"""m/s."""


@dataclass(frozen=True, slots=True)
class Waveform:
    """Rising chirps; a sample is taken at `n / sample_rate` after the start of its chirp."""

    lower_frequency: float
    """Hz, where each chirp begins."""
    bandwidth: float
    """Hz swept in `chirp_duration`."""
    chirp_duration: float
    """s in which the samples are taken."""
    chirp_repetition: float
    """s from the start of a chirp to the start of the next."""
    n_chirps: int
    n_samples: int
    iq: bool = False
    """Whether samples are complex; real ones cannot tell the sign of a beat."""

    @property
    def slope(self) -> float:
        """Hz/s."""
        return self.bandwidth / self.chirp_duration

    @property
    def sample_rate(self) -> float:
        """Hz."""
        return self.n_samples / self.chirp_duration

    @property
    def centre_frequency(self) -> float:
        """Hz, the mean over the samples."""
        return self.lower_frequency + 0.5 * self.bandwidth * (self.n_samples - 1) / self.n_samples

    @property
    def duration(self) -> float:
        """s from the first sample to the last."""
        return (self.n_chirps - 1) * self.chirp_repetition + (self.n_samples - 1) / self.sample_rate

    @property
    def range_resolution(self) -> float:
        """m: d_res of "airloop", Table 3."""
        return LIGHT_SPEED / (2.0 * self.bandwidth)

    @property
    def max_range(self) -> float:
        """m; what is farther folds: d_max of Table 3."""
        return self.range_resolution * self.n_samples / (1.0 if self.iq else 2.0)

    @property
    def max_speed(self) -> float:
        """m/s; what is faster folds: v_max of Table 3, which takes the wavelength at the lower frequency."""
        return LIGHT_SPEED / (4.0 * self.lower_frequency * self.chirp_repetition)

    @property
    def speed_resolution(self) -> float:
        """m/s: v_res of Table 3."""
        return 2.0 * self.max_speed / self.n_chirps

    def frequencies(self) -> Array:
        """(n_samples,) Hz sent at each sample."""
        return np.asarray(self.lower_frequency + self.slope * np.arange(self.n_samples) / self.sample_rate, np.float64)

    def times(self) -> Array:
        """(n_chirps, n_samples) s of each sample, from the middle of the burst."""
        within = np.arange(self.n_samples) / self.sample_rate
        starts = np.arange(self.n_chirps) * self.chirp_repetition
        return starts[:, None] + within - 0.5 * self.duration

    def range_shift(self, speed: float) -> float:
        """m by which range and speed are coupled: a beat is read as range + this, for a target at `speed` m/s."""
        return speed * self.centre_frequency * self.chirp_duration / self.bandwidth

    def details(self) -> dict[str, Any]:
        """Plain data for StreamInfo, with what follows from it under the paper's names."""
        return {
            **asdict(self),
            "d_res": self.range_resolution,
            "d_max": self.max_range,
            "v_max": self.max_speed,
            "v_res": self.speed_resolution,
        }

    @staticmethod
    def from_details(details: Mapping[str, Any]) -> Waveform:
        """From what `details` gave, wherever it has been since."""
        missing = [name for name in Waveform.__dataclass_fields__ if name not in details]
        if missing:
            raise ScenarioError(f"radar parameters lack {', '.join(missing)}; give those of the radar's StreamInfo")
        return Waveform(**{name: details[name] for name in Waveform.__dataclass_fields__})
