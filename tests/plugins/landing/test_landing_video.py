"""Video out: files that OpenCV opens, shared memory, and a window on a virtual screen."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from skyloop_client.errors import LinkEnded, LinkError, SetupError
from skyloop_landing.board.video_out import HEADER, HEIGHT, WIDTH, SharedVideo, read_shared
from skyloop_landing.board.video_outputs import open_video
from virtual_screens import needs_screen, said_before_a_screen


def image(number: int):
    """Four coloured quarters; the first changes with the number."""
    out = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    out[:360, :640] = (40 * number, 128, 128)
    out[:360, 640:] = (255, 0, 0)
    out[360:, :640] = (0, 255, 0)
    out[360:, 640:] = (255, 255, 255)
    return out


def test_y4m_is_opened_by_others(tmp_path):
    path = tmp_path / "down.y4m"
    video = open_video(f"y4m:{path}")
    for k in range(3):
        video.show(k, image(k))
    video.close()
    assert path.read_bytes().startswith(b"YUV4MPEG2 W1280 H720 F60:1 ")
    reader = cv2.VideoCapture(str(path))
    assert reader.get(cv2.CAP_PROP_FPS) == 60.0
    for k in range(3):
        fine, seen = reader.read()
        assert fine and seen.shape == (HEIGHT, WIDTH, 3)
        for y, x in ((100, 100), (100, 1000), (600, 100), (600, 1000)):
            # studio range and whole numbers cost a few steps
            assert np.abs(seen[y, x, ::-1].astype(int) - image(k)[y, x]).max() <= 4
    assert not reader.read()[0]


def test_raw_is_the_pixels_themselves(tmp_path):
    path = tmp_path / "down.rgb"
    video = open_video(f"raw:{path}")
    video.show(0, image(1))
    video.show(1, image(2))
    video.close()
    assert path.read_bytes() == image(1).tobytes() + image(2).tobytes()


def test_a_reader_that_leaves_its_pipe_ends_the_video(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []

    def read_some() -> None:
        with path.open("rb") as pipe:
            got.append(pipe.read(1000))

    reader = threading.Thread(target=read_some)
    reader.start()
    video = open_video(f"y4m:{path}")
    with pytest.raises(LinkEnded, match=r"the video output y4m:.* failed: Broken pipe"):
        for k in range(5):
            video.show(k, image(0))
    reader.join()
    video.close()
    assert got[0].startswith(b"YUV4MPEG2")


def test_shared_memory():
    name = f"skyloop-test-{os.getpid()}"
    video = SharedVideo(name)
    try:
        assert read_shared(name)[0] == 0
        for k in range(1, 4):
            video.show(1000 * k, image(k))
            number, t_ns, pixels = read_shared(name)
            assert (number, t_ns) == (k, 1000 * k)
            assert np.array_equal(pixels, image(k))
        with pytest.raises(LinkError, match="File exists; take another name"):
            SharedVideo(name)
        # the documented layout, without our reader: the image before is still in the other half
        raw = (video._path).read_bytes()
        assert raw[:8] == b"SKYVIDEO" and int.from_bytes(raw[24:32], "little") == 3
        assert raw[HEADER : HEADER + WIDTH * HEIGHT * 3] == image(2).tobytes()
    finally:
        video.close()
    with pytest.raises(LinkError, match="cannot read shared memory"):
        read_shared(name)


@pytest.mark.parametrize("text", ["", "hdmi", "y4m:", "shm:", "shm:a/b", "window:2"])
def test_names_of_no_output(text):
    with pytest.raises(LinkError, match=r"no video output named|no name of shared memory"):
        open_video(text)


def test_other_sizes_are_refused(tmp_path):
    video = open_video(f"raw:{tmp_path / 'x'}")
    with pytest.raises(LinkError, match=r"1280 x 720 .* camera gives \(4, 4, 3\) uint8; use .* down-1280"):
        video.show(0, np.zeros((4, 4, 3), np.uint8))
    video.close()
    with pytest.raises(LinkError, match="cannot write video to"):
        open_video(f"raw:{tmp_path / 'no' / 'x'}")


WINDOW = """
import numpy as np, sys
sys.path[:0] = {tests!r}
from test_landing_video import image
from skyloop_landing.board.video_outputs import open_video
video = open_video("window")
for k in range(3):
    video.show(k, image(k))
seen = video.seen()
video.close()
video.close()
print(video.name, np.array_equal(seen, image(2)))
"""


@needs_screen
@pytest.mark.processes
def test_a_window_shows_the_pixels():
    assert said_before_a_screen(
        WINDOW.format(tests=[str(Path(__file__).parent), str(Path(__file__).parents[2])])
    ).endswith("True")


@pytest.mark.processes
def test_without_a_screen_it_says_so(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetupError, match="there is no screen for a window"):
        open_video("window")
