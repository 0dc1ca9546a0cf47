"""Large images at 10 Hz to Debian's Fast DDS, with the receive buffer that Linux gives to who does not ask for more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ros2_fast import FastNode, compiled
from ros2_rig import DOMAIN, Flown, flown

from skyloop_client.messages import Image

pytestmark = [
    pytest.mark.slow("compiles a node on Fast DDS, and sends for a minute"),
    pytest.mark.needs("libfastrtps.so", "g++"),
]
COUNT, RATE_HZ = 100, 10.0
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ros2.md"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("fast"))


@pytest.fixture(scope="module")
def it() -> Iterator[Flown]:
    with flown([{"name": "drone"}], DOMAIN + 1) as it:
        yield it


def came(it: Flown, node: FastNode, width: int, height: int, quality: str) -> int:
    """Of COUNT images in real time."""
    vehicle, stream = it.simulation.port.vehicle(), f"picture_{width}_{quality}"
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)

    def publish() -> None:
        it.run(1.0 / RATE_HZ)
        vehicle.publish(stream, Image(it.simulation.clock.now_ns, pixels), sender="test")

    publish()
    node.read(f"/drone/{stream}", "sensor_msgs/msg/Image", quality)
    it.wanted(f"/drone/{stream}")
    while not node.count(f"/drone/{stream}", 1, 0.5)():
        publish()
    arrived = node.count(f"/drone/{stream}", COUNT, 20.0)
    for _ in range(COUNT):
        it.comes(lambda: False, 1.0 / RATE_HZ)
        publish()
    return arrived()


@pytest.mark.parametrize(("width", "height"), [(640, 480), (1280, 720)])
@pytest.mark.parametrize("where", ["default", "localhost", "jazzy"])
def test_images_come_to_a_plain_subscription(it: Flown, program: Path, where: str, width: int, height: int) -> None:
    """`create_subscription(Image, topic, callback, 10)`, with ROS 2's settings of the range."""
    node = FastNode(program, where, DOMAIN + 1)
    try:
        assert came(it, node, width, height, "plain") >= 0.99 * COUNT
    finally:
        node.close()


@pytest.mark.parametrize(("width", "height"), [(640, 480), (1280, 720)])
def test_with_the_page_s_profile_best_effort_is_enough(
    it: Flown, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, height: int
) -> None:
    """`qos_profile_sensor_data`. It needs `net.core.rmem_max` as the page says."""
    found = re.search(r"```xml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / "profile.xml").write_text(found[1], encoding="utf-8")
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(tmp_path / "profile.xml"))
    assert int(Path("/proc/sys/net/core/rmem_max").read_text()) >= 4194304, "see the page's sysctl lines"
    node = FastNode(program, "default", DOMAIN + 1)
    try:
        assert came(it, node, width, height, "sensor") >= 0.99 * COUNT
    finally:
        node.close()
