"""Chooses the topics of a stream: its own messages, and numbers to plot."""

from __future__ import annotations

from skyloop.links.foxglove.messages import VIEWS, View
from skyloop.links.foxglove.plot_numbers import plotted
from skyloop.links.foxglove.products import PRODUCT_VIEWS
from skyloop_client.streams import StreamInfo

UNPLOTTED = {
    "CameraImage", "DepthImage", "ImageTruth", "LidarScan", "RadarScan", "RadarDetections", "RangeDopplerImage",
    "Event", "Detections", "GridMap", "VoxelMap", "Path", "PointCloud", "KeyPose", "Goal",
    "GoalStatus", "Image", "Markers", "Movers",
}  # fmt: skip


def views_of(info: StreamInfo) -> list[View]:
    """The views of a stream. Empty for raw radar voltages."""
    views = [*VIEWS.get(info.message, ()), *PRODUCT_VIEWS.get(info.message, ())]
    if "fx" not in info.details:
        views = [view for view in views if view.kind != "CameraCalibration"]
    if info.message not in UNPLOTTED:
        views.append(View("", "JSON", lambda info, record: plotted(record)))
    return views
