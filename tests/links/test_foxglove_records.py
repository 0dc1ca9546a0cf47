"""Single records as Foxglove's schemas have them, without a server."""

from __future__ import annotations

import base64
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

import numpy as np
from foxglove_client import decoder, points_of

import skyloop_client.messages
from skyloop.links.foxglove.messages import frame_of, is_moving, mounts, moved
from skyloop.links.foxglove.plot_numbers import UNITS, plotted, schema_of
from skyloop.links.foxglove.views import UNPLOTTED, views_of
from skyloop_client.messages import (
    Array,
    GnssFix,
    ImageTruth,
    ImuSample,
    Label,
    RadarDetections,
    RangeDopplerImage,
)
from skyloop_client.streams import Mount, Rate, StreamInfo


def test_every_number_has_its_unit() -> None:
    """In its own name, in ours, or none because it is a count, a share or a ratio."""
    bare = {"state_of_charge", "fix_type", "hdop", "vdop", "satellites", "quality", "index", "instance"}
    for name in dir(skyloop_client.messages):
        schema = schema_of(name) if name.endswith(("Sample", "State", "Estimate", "Fix", "Bias", "Status")) else None
        if schema is None or name in UNPLOTTED:
            continue
        for field, hint in get_type_hints(getattr(skyloop_client.messages, name)).items():
            if hint in (float, int, Array) and field not in ("t_ns", "quat_wxyz", *bare):
                assert field in UNITS or field.endswith(("_deg", "_us", "_tesla")), f"{name}.{field}"
    assert {field.name for field in fields(ImuSample)} - {"t_ns"} <= set(UNITS)


def view(message: str, suffix: str, record: Any, **info: Any) -> Any:
    """A view of a record, encoded, and decoded by the schema that would be advertised."""
    told = StreamInfo("drone/radar/detections", message, Rate(10), "drone", 0, Mount(), info)
    (found,) = [view for view in views_of(told) if view.suffix == suffix]
    assert frame_of(told) == "drone/radar"
    return read(found.make(told, record))


def read(made: Any) -> Any:
    schema = made.get_schema()
    channel = {"encoding": "protobuf", "schemaEncoding": schema.encoding, "schemaName": schema.name}
    return decoder({**channel, "schema": base64.b64encode(schema.data).decode()})(made.encode())


def test_a_camera_on_a_gimbal_is_placed_in_the_world() -> None:
    details = {"gimbal": "stabilised"}
    image = StreamInfo("drone/cam", "CameraImage", Rate(10), "drone", 0, Mount(), details)
    truth = StreamInfo("truth/drone/cam", "ImageTruth", Rate(10), "drone", 0, Mount(), details)
    assert not read(mounts([image, truth], 0)).transforms, "no mount holds"
    assert is_moving(truth) and not is_moving(image)
    place, turn = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.3, 0.5, 0.8])
    (told,) = read(moved(truth, ImageTruth(5, place, turn))).transforms
    assert (told.parent_frame_id, told.child_frame_id) == ("map", "drone/cam_optical")
    p, q = told.translation, told.rotation
    assert [p.x, p.y, p.z, q.w, q.x, q.y, q.z] == [*place, *turn]


def test_radar_detections_are_a_cloud() -> None:
    points = np.array([[4.0, 1.0, 0.5], [9.0, -2.0, 0.25]], np.float32)
    speeds, snr, none = np.array([-1.5, 2.25]), np.array([12.0, 20.5]), np.zeros(2)
    empty = np.zeros((0, 3))
    record = RadarDetections(5, points, none, speeds, none, none, snr, np.zeros(0, np.int32), empty, empty)
    cloud = view("RadarDetections", "/points", record)
    got = points_of(cloud)
    np.testing.assert_array_equal(np.stack([got[axis] for axis in "xyz"], axis=1), points)
    assert got["speed"].tolist() == speeds.tolist() and got["snr_db"].tolist() == snr.tolist()
    assert cloud.frame_id == "drone/radar"


def test_a_range_doppler_image_in_decibels() -> None:
    power = np.array([[1.0, 10.0, 100.0], [0.0, 0.1, 0.01]], np.float32)
    image = view("RangeDopplerImage", "/image", RangeDopplerImage(5, power, np.arange(2.0), np.arange(3.0)))
    got = np.frombuffer(image.data, "<f4").reshape(image.height, image.width)
    np.testing.assert_allclose(got, [[-300.0, -10.0, -20.0], [0.0, 10.0, 20.0]], atol=1e-4)


def test_labels_are_outlined() -> None:
    place, size = np.array([5.0, 1.0, 0.5]), np.ones(3)
    label = Label(7, "bench 3", "bench", (10, 20, 13, 29), 40, 0.0, 0.0, place, size, 0.3, 5.1)
    drawn = view("ImageTruth", "/labels", ImageTruth(5, np.zeros(3), np.zeros(4), labels=(label,)))
    corners = [(corner.x, corner.y) for corner in drawn.points[0].points]
    assert corners == [(10, 20), (14, 20), (14, 30), (10, 30)], "a box of 4 by 10 pixels"
    assert drawn.texts[0].text == "bench 5 m"
    # boxes of the image before are taken away
    assert not view("ImageTruth", "/labels", ImageTruth(5, np.zeros(3), np.zeros(4))).points


def test_without_a_fix_there_is_no_place() -> None:
    nowhere = GnssFix(5, 47.0, 8.0, 400.0, np.zeros(3), 0, 99.0, 99.0, 0, 100.0, 100.0, 100.0)
    info = StreamInfo("drone/gnss", "GnssFix", Rate(10), "drone")
    assert [view.make(info, nowhere) for view in views_of(info) if view.suffix == "/fix"] == [None]


@dataclass
class Thermometer:
    """A record of somebody else's."""

    t_ns: int
    celsius: float
    speeds: Array
    notes: tuple[str, ...] = ()


def test_other_people_s_records_keep_their_names() -> None:
    assert "speeds" not in plotted(Thermometer(7, 1.0, np.zeros(1000)))
    told = plotted(Thermometer(7, float("inf"), np.array([1.0, 2.0])))
    assert told == {"timestamp": {"sec": 0, "nsec": 7}, "celsius": None, "speeds": [1.0, 2.0]}
    assert schema_of("Thermometer") is None
