"""The formats of `--formats` and `--to` by name. A format is imported only on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.plugins import Registry
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message


@dataclass(frozen=True, slots=True)
class Format:
    """A format of `--formats`: its writer and where it writes."""

    writer: str
    """module:Class, built with a Recording. It has `first_group`, `add(messages)` for each group, `finish()`."""
    output: str
    """Its own folder in the dataset. With a folder per vehicle, that of the first vehicle."""
    grows: bool
    """Whether it is valid after each group and can be resumed there."""
    text: str
    one_vehicle: bool = False
    """Whether a writer holds only one vehicle, so that each vehicle gets a writer."""

    def outputs(self, n_vehicles: int) -> list[str]:
        """Folders by vehicle: mav0, mav1; voc, voc1; or one for all if the format holds all vehicles."""
        stem = self.output.removesuffix("0")
        numbered = self.one_vehicle or stem != self.output
        return [self.output, *(f"{stem}{k}" for k in range(1, n_vehicles if numbered else 1))]


ASL = Format("skyloop.recording.formats.asl:Asl", "mav0", True, "ASL/EuRoC: mav0/ with data.csv and sensor.yaml")
VOC = Format("skyloop.recording.formats.voc:Voc", "voc", False, "Pascal VOC: boxes in XML, masks as palette PNGs", True)
COCO = Format(
    "skyloop.recording.formats.coco:Coco", "coco", False, "COCO: instances with masks, one JSON per split", True
)
YOLO = Format("skyloop.recording.formats.yolo:Yolo", "yolo", False, "YOLO as Ultralytics reads it: data.yaml", True)
MCAP = Format("skyloop.recording.ros2.bag:Mcap", "ros2", False, "MCAP with ROS 2 definitions (rosbag2)")
TUM = Format("skyloop.recording.formats.tum:Tum", "tum", False, "TUM RGB-D: trajectory, colour and depth images", True)
KITTI = Format("skyloop.recording.formats.kitti:Kitti", "kitti", False, "KITTI: clouds, images, labels, poses", True)

FORMATS: Registry[Format] = Registry("formats", "format")


def output_folder(recording: Recording, name: str) -> Path:
    """The folder of the recording's vehicle, for a format that holds one vehicle."""
    outputs = FORMATS[name].outputs(len(recording.vehicles))
    return recording.formats_folder / outputs[recording.vehicles.index(recording.vehicle)]


class NothingForFormat(DatasetError):
    """The vehicle has no sensor that the format needs."""


class EachVehicle:
    """Runs one writer per vehicle. Vehicles without data for the format are left out."""

    first_group = 0

    def __init__(self, writer: Callable[[Recording], Any], recording: Recording) -> None:
        self._writers = []
        refusals = []
        for name in recording.vehicles:
            try:
                self._writers.append(writer(recording.of_vehicle(name)))
            except NothingForFormat as refusal:
                refusals.append(refusal)
        if not self._writers:
            raise refusals[0]

    def add(self, messages: list[Message]) -> None:
        for writer in self._writers:
            writer.add(messages)

    def finish(self) -> None:
        for writer in self._writers:
            writer.finish()
