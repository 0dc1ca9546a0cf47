"""Video outputs by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.image_viewer import ImageWindow
from skyloop_client.errors import LinkError
from skyloop_landing.board.video_out import HEIGHT, RATE_HZ, WIDTH, Image, SharedVideo, StreamVideo, VideoOut, checked

TITLE = "skyloop: down camera"


class WindowVideo:
    """The screen that has a mode of 1280 x 720 at 60 Hz is switched to it; the last such screen is the board's.

    Without one it is a plain window of that size. Escape or closing the window ends the flight.
    """

    def __init__(self) -> None:
        self._window = ImageWindow(
            TITLE, (WIDTH, HEIGHT), instead="Else use --video shm:NAME or y4m:FILE", screen_of=self._screen_of_board
        )

    def _screen_of_board(self, glfw: Any) -> Any:
        self.name = "window"
        for screen in reversed(glfw.get_monitors()):
            modes = ((mode.size.width, mode.size.height, mode.refresh_rate) for mode in glfw.get_video_modes(screen))
            if (WIDTH, HEIGHT, RATE_HZ) in modes:
                self.name = f"full screen on {_text(glfw.get_monitor_name(screen))}"
                glfw.window_hint(glfw.REFRESH_RATE, RATE_HZ)
                return screen
        return None

    def show(self, t_ns: int, image: Image) -> None:
        self._window.show(checked(image))

    def seen(self) -> NDArray[np.uint8]:
        """What is on the screen, for tests: (rows, columns, 3), first row on top."""
        return self._window.seen()

    def close(self) -> None:
        """It may be called twice."""
        self._window.close()


def _text(name: str | bytes) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


USAGE = "give window, shm:NAME, y4m:FILE or raw:FILE"


def open_video(text: str) -> VideoOut:
    """`window`, `shm:NAME`, `y4m:FILE` or `raw:FILE`."""
    kind, _, where = text.partition(":")
    if kind == "window" and not where:
        return WindowVideo()
    if kind == "shm":
        return SharedVideo(where)
    if kind in ("y4m", "raw") and where:
        return StreamVideo(Path(where), y4m=kind == "y4m")
    raise LinkError(f"no video output named '{text}'; {USAGE}")
