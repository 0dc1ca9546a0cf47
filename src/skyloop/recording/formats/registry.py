"""The formats `--formats` and `--to` know, by name; imported only when asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    writer: str
    """module:Class, made with a Recording; has `first_group`, `add(messages)` for each group in turn, `finish()`."""
    output: str
    """File or folder in the dataset that is all its own."""
    grows: bool
    """Whether it is valid after each group, and can go on from there."""
    text: str


FORMATS = {
    "asl": Format("skyloop.recording.formats.asl:Asl", "mav0", True, "ASL/EuRoC: mav0/ with data.csv and sensor.yaml"),
    "voc": Format("skyloop.recording.formats.voc:Voc", "voc", False, "Pascal VOC: boxes in XML, masks as palette PNGs"),
    "coco": Format(
        "skyloop.recording.formats.coco:Coco", "coco", False, "COCO: instances with masks, one JSON per split"
    ),
    "yolo": Format("skyloop.recording.formats.yolo:Yolo", "yolo", False, "YOLO as Ultralytics reads it: data.yaml"),
    "mcap": Format("skyloop.recording.formats.ros2_bag:Mcap", "ros2", False, "MCAP with ROS 2 definitions (rosbag2)"),
    "tum": Format("skyloop.recording.formats.tum:Tum", "tum", False, "TUM RGB-D: trajectory, colour and depth images"),
    "kitti": Format("skyloop.recording.formats.kitti:Kitti", "kitti", False, "KITTI: clouds, images, labels, poses"),
}
