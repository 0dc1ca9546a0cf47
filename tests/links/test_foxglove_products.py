"""Published streams as a client of Foxglove's protocol gets them: topics that appear in flight, and what is on them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from foxglove_client import Viewer

import skyloop
from link_rig import eventually
from published_things import records
from skyloop.links.foxglove.link import FoxgloveLink
from skyloop.recording.ros2.types import encode
from skyloop.recording.ros2.views import views_of
from skyloop_client.streams import StreamInfo

THINGS = str(Path(__file__).parents[1] / "published_things.py")
TELLER: dict[str, Any] = {"vehicles": [{"name": "drone", "pilot": {"kind": f"{THINGS}:Teller", "rate_hz": 20}}]}
TYPES = {
    "/drone/vio": "nav_msgs/msg/Odometry",
    "/drone/vio/numbers": "skyloop.Estimate",
    "/drone/detections": "foxglove.ImageAnnotations",
    "/drone/grid": "nav_msgs/msg/OccupancyGrid",
    "/drone/voxels": "sensor_msgs/msg/PointCloud2",
    "/drone/path": "nav_msgs/msg/Path",
    "/drone/cloud": "sensor_msgs/msg/PointCloud2",
    "/drone/key_pose": "geometry_msgs/msg/PoseStamped",
    "/drone/navigation": "visualization_msgs/msg/MarkerArray",
    "/drone/colour": "sensor_msgs/msg/Image",
    "/drone/heat": "sensor_msgs/msg/Image",
    "/drone/markers": "visualization_msgs/msg/MarkerArray",
    "/drone/movers": "visualization_msgs/msg/MarkerArray",
    "/drone/cost": "std_msgs/msg/Float64",
    "/drone/cost/numbers": "skyloop.Number",
}


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    """Of a client that was there before the first record was published."""
    with skyloop.build(skyloop.make_scenario(copy.deepcopy(TELLER))) as simulation:
        stream = FoxgloveLink(port=0)
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


def test_products_are_the_messages_of_a_bag(viewer: Viewer) -> None:
    """Byte for byte; `tests/recording/test_mcap_products.py` reads those."""
    for name, record in records(250_000_000).items():
        info = StreamInfo(f"drone/{name}", type(record).__name__, None, "drone")
        (view,) = views_of(info)
        if TYPES.get(f"/drone/{name}") == view.kind:
            log_ns, data = viewer.raw[f"/drone/{name}"][0]
            assert (log_ns, data) == (250_000_000, bytes(encode(view.make(info, record)))), name


def test_what_is_done_about_a_goal(viewer: Viewer) -> None:
    status = records()["navigation"]
    drawn = [one for one in shown(viewer, "/drone/navigation").markers if one.ns]
    assert [one.ns for one in drawn] == ["goal", "sub-goal", "state"]
    assert [drawn[0].pose.position.x, drawn[1].pose.position.x] == [status.goal[0], status.sub_goal[0]]
    assert drawn[2].text.startswith(status.state) and drawn[2].type == 9


def test_detections_are_drawn_over_the_image(viewer: Viewer) -> None:
    drawn = shown(viewer, "/drone/detections")
    assert [(point.x, point.y) for point in drawn.points[0].points] == [(10, 20), (30, 20), (30, 60), (10, 60)]
    assert [text.text for text in drawn.texts] == ["person 0.90 #7", "car 0.50"]


def test_estimates_and_numbers_are_plotted(viewer: Viewer) -> None:
    vio = shown(viewer, "/drone/vio/numbers")
    assert vio["gyro_bias_rad_s"] == {"x": 1e-3, "y": 2e-3, "z": 3e-3} and "covariance" not in vio
    assert vio["valid"] is True and vio["reason"] == ""
    cost = shown(viewer, "/drone/cost/numbers")
    assert cost == {"timestamp": {"sec": 0, "nsec": 250_000_000}, "value": 1.5, "unit": "m"}
    assert shown(viewer, "/drone/vio").pose.pose.position.y == 2.0


def test_streams_whose_topics_would_be_one_are_kept_apart() -> None:
    with skyloop.build(skyloop.make_scenario({"vehicles": [{"name": "drone"}]})) as simulation:
        stream = FoxgloveLink(port=0)
        stream.attach(simulation.port)
        publish = simulation.port.user_streams.publish
        publish("drone", "vio", records()["vio"], 0, sender="me")
        publish("drone", "vio/numbers", records()["path"], 0, sender="me")
        topics = [topic for topic in stream._channels if topic.startswith("/drone/vio")]
        assert topics == ["/drone/vio", "/drone/vio/numbers", "/drone/vio/numbers_"]
        stream.close()
