"""FMCW radar: turns bursts of voltages into range-Doppler images, points with speed and direction, and tracks."""

from skyloop.perception.radar_processing.angles import Antennas, range_angle_image
from skyloop.perception.radar_processing.bounds import cramer_rao
from skyloop.perception.radar_processing.config import ProcessingConfig, TrackingConfig
from skyloop.perception.radar_processing.detection import detections
from skyloop.perception.radar_processing.pictures import normalised_cross_correlation, paper_image, spectrogram
from skyloop.perception.radar_processing.processor import RadarProcessor
from skyloop.perception.radar_processing.recordings import read_recording
from skyloop.perception.radar_processing.spectra import range_doppler, range_doppler_image, range_spectrum
from skyloop.perception.radar_processing.tracking import Tracker

__all__ = [
    "Antennas",
    "ProcessingConfig",
    "RadarProcessor",
    "Tracker",
    "TrackingConfig",
    "cramer_rao",
    "detections",
    "normalised_cross_correlation",
    "paper_image",
    "range_angle_image",
    "range_doppler",
    "range_doppler_image",
    "range_spectrum",
    "read_recording",
    "spectrogram",
]
