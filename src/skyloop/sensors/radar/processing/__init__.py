"""FMCW radar: turns bursts of voltages into range-Doppler images, points with speed and direction, and tracks."""

from skyloop.sensors.radar.processing.angles import Antennas, range_angle_image
from skyloop.sensors.radar.processing.bounds import cramer_rao
from skyloop.sensors.radar.processing.config import ProcessingConfig, TrackingConfig
from skyloop.sensors.radar.processing.detection import detections
from skyloop.sensors.radar.processing.pictures import normalised_cross_correlation, paper_image, spectrogram
from skyloop.sensors.radar.processing.processor import RadarProcessor
from skyloop.sensors.radar.processing.recordings import read_recording
from skyloop.sensors.radar.processing.spectra import range_doppler, range_doppler_image, range_spectrum
from skyloop.sensors.radar.processing.tracking import Tracker

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
