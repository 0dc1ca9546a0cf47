"""The monitor of a landing: what is drawn on an image, and the video of all of them, which OpenCV reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from skyloop.core.bus import Bus
from skyloop_client.errors import DatasetError
from skyloop_client.messages import CameraImage, Detections, Event, EventKind, LandingStatus, Message
from skyloop_client.streams import Rate, StreamInfo
from skyloop_landing import motion_jpeg
from skyloop_landing.landing_video import LandingVideos
from skyloop_landing.monitor import COMMAND, MARKER, TROUBLE, monitor_picture
from skyloop_landing.motion_jpeg import MotionJpeg

NS = 1_000_000_000
GREY = np.full((720, 1280, 3), 90, np.uint8)
STATUS = LandingStatus(0, "over", True, 6.0, np.array([1.0, 0.5]), 0.3, np.array([1.0, 0.0, 0.0]), 0.4)
MARKER_BOXES = np.array(
    [[500.0, 200.0, 700.0, 400.0], [580, 240, 620, 280], [570, 300, 630, 370], [100, 100, 140, 140]]
)
FIGURES = Detections(
    0, MARKER_BOXES, ("ring", "square", "rectangle", "square"), np.array([1.0, 1.0, 1.0, 0.0]), source="down"
)


def of_colour(picture: Any, colour: str) -> Any:
    """Rows and columns of the pixels of a colour."""
    wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return np.argwhere((picture == wanted).all(axis=2))


def test_marker_command_and_words_are_where_they_belong() -> None:
    shown = monitor_picture(GREY, STATUS, FIGURES)
    assert shown.shape == (360, 640, 3)
    # between the middles of rectangle and square, at half the size
    arrow = of_colour(shown, MARKER)
    drawn = arrow[(arrow[:, 0] > 120) & (arrow[:, 0] < 200)]
    assert 130 <= drawn[:, 0].min() < 145 and 160 < drawn[:, 0].max() <= 170
    assert np.abs(drawn[:, 1] - 300).max() < 12
    # 1 m/s forward is up
    pointed = of_colour(shown[:320], COMMAND)
    upwards = pointed[np.abs(pointed[:, 1] - 320) < 5]
    assert upwards[:, 0].min() == pytest.approx(120, abs=3)
    assert len(of_colour(shown, TROUBLE)) == 0
    lost = replace(STATUS, found=False, reason="no square with a rectangle", velocity=np.array([0.0, 0.0, -1.0]))
    assert len(of_colour(monitor_picture(GREY[..., 0], lost, None), TROUBLE)) > 4


def test_without_anything_found_it_is_the_image_with_a_cross() -> None:
    shown = monitor_picture(GREY, None, None)
    assert (np.delete(np.delete(shown, 180, axis=0), 320, axis=1) == 90).all()


@pytest.mark.parametrize("reader", [cv2.CAP_FFMPEG, cv2.CAP_OPENCV_MJPEG])
def test_two_readers_open_the_video(reader: int, tmp_path: Path) -> None:
    path = tmp_path / "landing.avi"
    video = MotionJpeg(path, (30_000, 1001))
    for k in range(7):
        pixels = np.full((90, 160, 3), 20 * k, np.uint8)
        pixels[:, :80, 0] = 200
        video.add(pixels)
    video.close()
    video.close()
    opened = cv2.VideoCapture(str(path), reader)
    assert opened.get(cv2.CAP_PROP_FPS) == pytest.approx(30_000 / 1001, rel=1e-3)
    assert opened.get(cv2.CAP_PROP_FRAME_COUNT) == 7
    for k in range(7):
        fine, seen = opened.read()
        assert fine and seen.shape == (90, 160, 3)
        assert seen[45, 130].tolist() == pytest.approx([20 * k] * 3, abs=3)
        assert int(seen[45, 30, 2]) == pytest.approx(200, abs=6)
    assert not opened.read()[0]


def test_a_video_that_was_not_closed_is_still_read_and_a_long_one_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion_jpeg, "MOST_BYTES", 5000)
    video = MotionJpeg(tmp_path / "cut.avi", (10, 1))
    for _ in range(20):
        video.add(np.full((64, 64, 3), 128, np.uint8))
    assert 0 < video.left_out < 20 and (tmp_path / "cut.avi").stat().st_size < 6000
    assert cv2.VideoCapture(str(tmp_path / "cut.avi")).read()[0]
    video.close()
    opened = cv2.VideoCapture(str(tmp_path / "cut.avi"))
    assert opened.get(cv2.CAP_PROP_FRAME_COUNT) == 20 - video.left_out
    monkeypatch.undo()
    with pytest.raises(DatasetError, match="cannot write the video"):
        MotionJpeg(tmp_path / "missing" / "cut.avi", (10, 1)).add(GREY)


def test_the_video_has_each_image_of_the_landing_once_with_what_was_found_in_it(tmp_path: Path) -> None:
    bus = Bus()
    videos = LandingVideos(bus, tmp_path)
    streams = {"down": "CameraImage", "landing/status": "LandingStatus", "landing/figures": "Detections"}
    for name, message in streams.items():
        bus.advertise(StreamInfo(f"drone/{name}", message, Rate(10), "drone"))
    bus.advertise(StreamInfo("drone/events", "Event", None, "drone"))

    def tell(stream: str, data: Any) -> None:
        bus.publish(Message(f"drone/{stream}", 0, data.t_ns, data.t_ns, data))

    for k in range(12):
        t_ns = k * NS // 10
        tell("down", CameraImage(t_ns, GREY))
        if 3 <= k < 8:
            # the landing begins with the fourth image, and its last commands come with the eighth
            tell("landing/status", replace(STATUS, t_ns=t_ns, stage="land" if k == 7 else "down"))
            tell("landing/figures", replace(FIGURES, t_ns=t_ns))
        if k == 9:
            tell("events", Event(t_ns, EventKind.CONTACT, "legs hit the marker"))
    videos.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["landing-drone.avi"]
    opened = cv2.VideoCapture(str(tmp_path / "landing-drone.avi"))
    assert opened.get(cv2.CAP_PROP_FPS) == 10.0
    blue = []
    while (read := opened.read())[0]:
        blue.append(int((read[1].astype(int)[..., 0] - read[1][..., 2] > 60).sum()))
    # five with the ring's box, and two while the autopilot lands
    assert len(blue) == 7 and min(blue[:5]) > 200 and max(blue[5:]) < 20


def test_a_run_without_a_landing_leaves_no_video(tmp_path: Path) -> None:
    bus = Bus()
    videos = LandingVideos(bus, tmp_path)
    bus.advertise(StreamInfo("drone/down", "CameraImage", Rate(10), "drone"))
    bus.publish(Message("drone/down", 0, 0, 0, CameraImage(0, GREY)))
    videos.finish()
    assert not list(tmp_path.iterdir())
