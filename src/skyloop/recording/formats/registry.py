"""The formats `--formats` and `--to` know, by name; imported only when asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    writer: str
    """module:Class, made with a Recording; has `first_group`, `add(messages)` for one group after the other, `finish()`."""
    output: str
    """File or folder in the dataset that is all its own."""
    grows: bool
    """Whether it is valid after each group, and can go on from there."""
    text: str


FORMATS = {
    "asl": Format("skyloop.recording.formats.asl:Asl", "mav0", True, "ASL/EuRoC: mav0/ with data.csv and sensor.yaml"),
    "tum": Format("skyloop.recording.formats.tum:Tum", "tum", False, "TUM RGB-D: trajectory, colour and depth images"),
    "kitti": Format("skyloop.recording.formats.kitti:Kitti", "kitti", False, "KITTI: clouds, images, labels, poses"),
}
