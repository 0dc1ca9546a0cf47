"""Video outputs by name."""

from __future__ import annotations

from pathlib import Path

from skyloop_client.errors import LinkError
from skyloop_landing.board.video_out import SharedVideo, StreamVideo, VideoOut
from skyloop_landing.board.video_window import WindowVideo

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
