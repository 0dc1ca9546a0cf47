"""Single records as Foxglove's schemas have them, without a server."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from foxglove_client import decoder, pixels_of, points_of

import skyloop_client.messages
from skyloop.links.foxglove.views import ANNOTATIONS, UNPLOTTED, payload, plot_name, plotted, schema_of, views_of
from skyloop.recording.ros2.types import schema_text
from skyloop_client.messages import (
    Array,
    BarometerSample,
    ImageTruth,
    Label,
    RadarDetections,
    RangeDopplerImage,
)
from skyloop_client.schema import record_fields
from skyloop_client.streams import Mount, Rate, StreamInfo


def test_every_number_has_its_unit() -> None:
    """In its own name, in ours, or none because it is a count, a share or a ratio."""
    bare = {"state_of_charge", "fix_type", "hdop", "vdop", "satellites", "quality", "quat_wxyz", "t_ns", "covariance"}
    for name in dir(skyloop_client.messages):
        if name in UNPLOTTED or not name.endswith(("Sample", "State", "Estimate", "Fix", "Bias", "Status")):
            continue
        for field in record_fields(getattr(skyloop_client.messages, name)).values():
            if (field.dtype or field.type in (float, int)) and field.name not in bare:
                assert field.note.unit, f"{name}.{field.name}"
    names = [plot_name(field) for field in record_fields(BarometerSample).values()]
    assert names == ["t_ns", "pressure_pa", "altitude_m", "temperature_k"]


def view(message: str, topic: str, record: Any, **info: Any) -> Any:
    """A view of a record, encoded, and decoded by the schema that would be advertised."""
    reported = StreamInfo("drone/radar/detections", message, Rate(10), "drone", 0, Mount(), info)
    (found,) = [view for view in views_of(reported) if view.topic == topic]
    built = payload(found, reported, record)
    if found.kind == ANNOTATIONS:
        schema = built.get_schema()
        channel = {"encoding": "protobuf", "schemaEncoding": schema.encoding, "schemaName": schema.name}
        return decoder({**channel, "schema": base64.b64encode(schema.data).decode()})(built.encode())
    channel = {"encoding": "cdr", "schemaEncoding": "ros2msg", "schemaName": found.kind}
    return decoder({**channel, "schema": schema_text(found.kind)})(built)


def test_radar_detections_are_a_cloud() -> None:
    points = np.array([[4.0, 1.0, 0.5], [9.0, -2.0, 0.25]], np.float32)
    speeds, snr, none = np.array([-1.5, 2.25]), np.array([12.0, 20.5]), np.zeros(2)
    empty = np.zeros((0, 3))
    record = RadarDetections(5, points, none, speeds, none, none, snr, np.zeros(0, np.int32), empty, empty)
    cloud = view("RadarDetections", "/{}/points", record)
    got = points_of(cloud)
    np.testing.assert_array_equal(np.stack([got[axis] for axis in "xyz"], axis=1), points)
    assert got["speed"].tolist() == speeds.tolist() and got["snr_db"].tolist() == snr.tolist()
    assert cloud.header.frame_id == "drone/radar"


def test_a_range_doppler_image_in_decibels() -> None:
    power = np.array([[1.0, 10.0, 100.0], [0.0, 0.1, 0.01]], np.float32)
    image = view("RangeDopplerImage", "/{}/image", RangeDopplerImage(5, power, np.arange(2.0), np.arange(3.0)))
    got = pixels_of(image, "<f4")
    np.testing.assert_allclose(got, [[-300.0, -10.0, -20.0], [0.0, 10.0, 20.0]], atol=1e-4)


def test_labels_are_outlined() -> None:
    place, size = np.array([5.0, 1.0, 0.5]), np.ones(3)
    label = Label(7, "bench 3", "bench", (10, 20, 13, 29), 40, 0.0, 0.0, place, size, 0.3, 5.1)
    drawn = view("ImageTruth", "/{}/labels", ImageTruth(5, np.zeros(3), np.zeros(4), labels=(label,)))
    corners = [(corner.x, corner.y) for corner in drawn.points[0].points]
    assert corners == [(10, 20), (14, 20), (14, 30), (10, 30)], "a box of 4 by 10 pixels"
    assert drawn.texts[0].text == "bench 5 m"
    # boxes of the image before are taken away
    assert not view("ImageTruth", "/{}/labels", ImageTruth(5, np.zeros(3), np.zeros(4))).points


def test_instances_are_drawn_with_16_bits() -> None:
    """The app has no images of 32-bit integers."""
    numbers = np.array([[1, 70_000], [3, 4]], np.int32)
    image = view("ImageTruth", "/{}/instances", ImageTruth(5, np.zeros(3), np.zeros(4), instances=numbers))
    assert image.encoding == "16UC1" and pixels_of(image, "<u2").tolist() == [[1, 70_000 - 65_536], [3, 4]]


@dataclass
class Thermometer:
    """A record of somebody else's."""

    t_ns: int
    celsius: float
    speeds: Array
    notes: tuple[str, ...] = ()


def test_other_people_s_records_keep_their_names() -> None:
    assert "speeds" not in plotted(Thermometer(7, 1.0, np.zeros(1000)))
    reported = plotted(Thermometer(7, float("inf"), np.array([1.0, 2.0])))
    assert reported == {"timestamp": {"sec": 0, "nsec": 7}, "celsius": None, "speeds": [1.0, 2.0]}
    assert schema_of("Thermometer") is None
