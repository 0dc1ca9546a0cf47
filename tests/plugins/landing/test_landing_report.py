"""A landing leaves its outcome in the summary and a sheet of pictures, also when it ends badly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from marker_pictures import as_pixels, picture
from skyloop.core.bus import Bus
from skyloop.core.frames import quat_from_yaw
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_client.messages import (
    CameraImage,
    Detections,
    Event,
    EventKind,
    LandingStatus,
    Message,
    VehicleState,
)
from skyloop_client.streams import Rate, StreamInfo
from skyloop_landing.landing_log import LandingLog, VehicleLanding
from skyloop_landing.report import binary_of, draw_landing, outcome

PAD = (np.array([6.0, 0.0, 0.0]), 0.0)
IMAGES = [as_pixels(picture(LandingMarker(), 9.0 - 0.8 * k)) for k in range(10)]
NS = 1_000_000_000
BOX = np.array([[560.0, 280.0, 720.0, 440.0]])


def heard(*, lands: bool, end: tuple[float, float, float] = (6.03, -0.04, 0.02)) -> VehicleLanding:
    """A landing of nine seconds with an image in each, reported over a bus."""
    bus = Bus()
    log = LandingLog(bus)
    for name, message in (
        ("down", "CameraImage"),
        ("landing/status", "LandingStatus"),
        ("landing/figures", "Detections"),
    ):
        bus.advertise(StreamInfo(f"drone/{name}", message, Rate(1), "drone"))
    bus.advertise(StreamInfo("truth/drone", "VehicleState", Rate(1), "drone"))
    bus.advertise(StreamInfo("drone/events", "Event", None, "drone"))

    def tell(stream: str, index: int, data: Any) -> None:
        bus.publish(Message(stream, index, data.t_ns, data.t_ns, data))

    none = np.zeros(3)
    for k in range(10):
        t_ns, altitude = k * NS, 9.0 - 0.8 * k
        x, y, yaw = end if k == 9 else (4.0, 1.0, 1.0)
        place = np.array([x, y, altitude])
        tell("truth/drone", k, VehicleState(t_ns, place, none, quat_from_yaw(yaw), none, none, none, none, none, none))
        tell("drone/down", k, CameraImage(t_ns, IMAGES[k]))
        found = 0 < k < 8 or lands
        stage = ("land" if lands else "given up") if k == 9 else "down" if k > 3 else "over"
        status = LandingStatus(
            t_ns, stage, found, altitude, np.zeros(2), 0.0, none, 0.0, "" if found else "no square with a rectangle"
        )
        tell("drone/landing/status", k, status)
        tell("drone/landing/figures", k, Detections(t_ns, BOX, ("ring",), np.ones(1), source="down"))
    if lands:
        tell("drone/events", 0, Event(9 * NS + NS // 2, EventKind.LANDED, "touched down"))
    return log.vehicles["drone"]


def test_a_landing_on_the_marker_is_told_with_its_errors_and_its_time() -> None:
    found = outcome(heard(lands=True), PAD)
    assert found["landed_on_marker"] is True
    assert found["landing"] == "landed on the marker, 0.05 m and 0.02 rad off, after 9.5 s"
    assert (found["landing_error_x_m"], found["landing_error_y_m"]) == pytest.approx((0.03, -0.04))
    assert (found["landing_error_m"], found["landing_s"]) == pytest.approx((0.05, 9.5))
    assert found["landing_heading_error_rad"] == pytest.approx(0.02)


def test_who_gave_up_or_came_down_elsewhere_has_not_landed_on_the_marker() -> None:
    gave_up = outcome(heard(lands=False), PAD)
    assert gave_up["landed_on_marker"] is False and gave_up["landing_s"] is None
    assert "did not land on the marker (given up)" in gave_up["landing"]
    beside = outcome(heard(lands=True, end=(8.0, 0.0, 0.0)), PAD)
    assert beside["landed_on_marker"] is False
    assert outcome(heard(lands=True), None)["landing"] == "land, after 9.5 s"


def test_moments_are_kept_with_their_images() -> None:
    good, bad = heard(lands=True), heard(lands=False)
    assert set(good.moments) == {"first sight", "descent begins", "below 3 m", "last image with the marker"}
    assert good.moments["descent begins"].status.t_ns == 4 * NS
    assert good.moments["below 3 m"].status.altitude == pytest.approx(2.6)
    assert bad.moments["last image without the marker"].status.t_ns == 9 * NS
    assert bad.moments["last image with the marker"].status.t_ns == 7 * NS


@pytest.mark.slow("draws a sheet of many images")
def test_the_sheet_shows_images_and_what_was_dark_in_them(tmp_path: Path) -> None:
    log = heard(lands=False)
    binaries = {moment.name: binary_of(moment.image, moment.before) for moment in log.moments.values()}
    assert all(0.01 < binary.mean() < 0.9 for binary in binaries.values())
    draw_landing(tmp_path / "landing.png", "a landing", log, binaries, PAD)
    drawn = np.asarray(Image.open(tmp_path / "landing.png").convert("RGB"))
    assert drawn.shape[1] > 1200
    # the images in the first row, and below them what was dark: of two colours only
    height = drawn.shape[0]
    images, dark = drawn[: height // 4], drawn[height // 4 : height // 2]
    assert len(np.unique(images.reshape(-1, 3), axis=0)) > 30
    assert 0.02 < (dark.sum(axis=2) < 380).mean() < 0.9
