"""Published streams as a client of Foxglove's protocol gets them: topics that appear in flight, and what is on them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foxglove_client import Viewer

import skyloop
from link_rig import eventually
from published_things import KINDS, TILTED, records
from skyloop.links.foxglove.stream import FoxgloveStream
from skyloop_client.messages import Number

THINGS = str(Path(__file__).parents[1] / "published_things.py")
TELLER: dict[str, Any] = {"vehicles": [{"name": "drone", "pilot": {"kind": f"{THINGS}:Teller", "rate_hz": 20}}]}
TYPES = {
    "/drone/vio": "skyloop.Estimate",
    "/drone/vio/pose": "foxglove.PoseInFrame",
    "/drone/detections": "foxglove.ImageAnnotations",
    "/drone/grid": "foxglove.Grid",
    "/drone/voxels": "foxglove.VoxelGrid",
    "/drone/path": "foxglove.PosesInFrame",
    "/drone/cloud": "foxglove.PointCloud",
    "/drone/key_pose": "foxglove.PoseInFrame",
    "/drone/colour": "foxglove.RawImage",
    "/drone/heat": "foxglove.RawImage",
    "/drone/markers": "foxglove.SceneUpdate",
    "/drone/movers": "foxglove.SceneUpdate",
    "/drone/cost": "skyloop.Number",
}


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    """Of a client that was there before the first record was published."""
    with skyloop.build(skyloop.make_scenario(copy.deepcopy(TELLER))) as simulation:
        stream = FoxgloveStream(port=0)
        stream.attach(simulation.port)
        with Viewer(stream.url) as looking:
            assert looking.until(lambda: "/truth/drone" in looking.channels)
            assert not set(TYPES) & set(looking.channels)
            simulation.run_until(0.1)
            assert looking.until(lambda: set(TYPES) <= set(looking.channels))
            looking.subscribe()
            assert eventually(lambda: all(stream._channels[topic].has_sinks() for topic in TYPES))
            simulation.run_until(0.3)
            assert looking.until(lambda: all(looking.on(topic) for topic in TYPES))
            yield looking
            stream.close()


def shown(viewer: Viewer, topic: str) -> Any:
    received = viewer.on(topic)[0]
    assert received.log_ns == 250_000_000
    return received.data


def test_topics_appear_with_the_streams(viewer: Viewer) -> None:
    assert {topic: viewer.channels[topic]["schemaName"] for topic in TYPES} == TYPES


def test_maps(viewer: Viewer) -> None:
    grid, expected = shown(viewer, "/drone/grid"), records()["grid"]
    assert (grid.frame_id, grid.column_count, grid.cell_size.x) == ("map", 3, 0.5)
    assert [grid.pose.position.x, grid.pose.position.y, grid.pose.position.z] == [-1.0, 2.0, 0.25]
    cells = packed(grid).reshape(2, 3)
    assert cells["occupancy"].tolist() == expected.cells.tolist()
    assert (cells["red"][0, 2], cells["red"][0, 1], cells["red"][0, 0]) == (0, 255, 150)
    voxels = shown(viewer, "/drone/voxels")
    # z, then y, then x
    there = packed(voxels).reshape(4, voxels.row_count, voxels.column_count)
    assert voxels.slice_stride == voxels.row_stride * 3
    assert there["occupancy"].transpose(2, 1, 0).tolist() == records()["voxels"].voxels.tolist()
    assert there["alpha"][0, 0, 0] == 0 < there["alpha"][3, 2, 1]


def packed(message: Any, stride: str = "cell_stride") -> Any:
    numbers = {1: "u1", 2: "i1", 3: "<u2", 5: "<u4", 7: "<f4"}
    layout = {
        "names": [field.name for field in message.fields],
        "formats": [numbers[field.type] for field in message.fields],
        "offsets": [field.offset for field in message.fields],
        "itemsize": getattr(message, stride),
    }
    return np.frombuffer(message.data, np.dtype(layout))  # type: ignore[call-overload]


def test_clouds_paths_and_images(viewer: Viewer) -> None:
    message = shown(viewer, "/drone/cloud")
    cloud = packed(message, "point_stride")
    assert message.frame_id == "drone/lidar"
    assert np.stack([cloud[axis] for axis in "xyz"], axis=-1).tolist() == records()["cloud"].points.tolist()
    assert (cloud["value"][3], cloud["red"][0], cloud["blue"][0], cloud["alpha"][0]) == (3.0, 255, 16, 255)
    assert cloud["id"].tolist() == [3, 5, 8, 13]
    assert shown(viewer, "/drone/key_pose").pose.position.z == 3.0
    poses = shown(viewer, "/drone/path").poses
    assert [pose.position.y for pose in poses] == [0.0, 1.0, 0.0]
    assert poses[2].orientation.z == pytest.approx(np.sin(1.5))
    colour, heat = shown(viewer, "/drone/colour"), shown(viewer, "/drone/heat")
    assert (colour.encoding, colour.step, list(colour.data)) == ("rgb8", 12, list(range(36)))
    assert (colour.frame_id, heat.frame_id, heat.encoding) == ("drone/front_optical", "drone/base_link", "32FC1")
    assert np.isnan(np.frombuffer(heat.data, "<f4")[1])


def test_detections_are_drawn_over_the_image(viewer: Viewer) -> None:
    drawn = shown(viewer, "/drone/detections")
    assert [(point.x, point.y) for point in drawn.points[0].points] == [(10, 20), (30, 20), (30, 60), (10, 60)]
    assert [text.text for text in drawn.texts] == ["person 0.90 #7", "car 0.50"]


def test_markers_take_the_place_of_those_before(viewer: Viewer) -> None:
    scene = shown(viewer, "/drone/markers")
    assert [deletion.type for deletion in scene.deletions] == [1]  # ALL
    entities = {entity.id.removeprefix("a "): entity for entity in scene.entities}
    assert tuple(entities) == KINDS and {entity.frame_id for entity in scene.entities} == {"drone/base_link"}
    box = entities["box"].cubes[0]
    assert [box.size.x, box.size.y, box.size.z] == [0.5, 0.25, 0.125]
    assert box.pose.orientation.w == TILTED[0]
    assert entities["sphere"].spheres[0].pose.position.z == 3.0
    arrow = entities["arrow"].arrows[0]
    assert arrow.shaft_length + arrow.head_length == pytest.approx(0.5)
    assert (len(entities["line"].lines[0].points), len(entities["points"].lines[0].points)) == (3, 6)
    assert entities["text"].texts[0].text == "hi"


def test_estimates_and_numbers_are_plotted(viewer: Viewer) -> None:
    vio = shown(viewer, "/drone/vio")
    assert vio["gyro_bias_rad_s"] == {"x": 1e-3, "y": 2e-3, "z": 3e-3} and "covariance" not in vio
    assert vio["valid"] is True and vio["reason"] == ""
    assert shown(viewer, "/drone/cost") == {"timestamp": {"sec": 0, "nsec": 250_000_000}, "value": 1.5, "unit": "m"}
    assert shown(viewer, "/drone/vio/pose").pose.position.y == 2.0


def test_streams_whose_topics_would_be_one_are_kept_apart() -> None:
    with skyloop.build(skyloop.make_scenario({"vehicles": [{"name": "drone"}]})) as simulation:
        stream = FoxgloveStream(port=0)
        stream.attach(simulation.port)
        publish = simulation.port.user_streams.publish
        publish("drone", "vio", records()["vio"], 0, sender="me")
        publish("drone", "vio/pose", Number(0, 1.0), 0, sender="me")
        topics = [topic for topic in stream._channels if topic.startswith("/drone/vio")]
        assert topics == ["/drone/vio/pose", "/drone/vio", "/drone/vio/pose_"]
        stream.close()
