"""A video file of JPEG images: AVI with the codec MJPG. OpenCV, FFmpeg and most players open it.

RIFF as OpenDML 1.0 needs it below 2 GiB: a list of headers, a list of images, an index.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import DatasetError

QUALITY = 80
MOST_BYTES = 2_000_000_000
"""Of a file; images beyond are left out, and counted."""
KEY_FRAME = 0x10
HAS_INDEX = 0x10


class MotionJpeg:
    """Images are on disk as they come. A file that was not closed lacks its index, and most players show it all the
    same."""

    def __init__(self, path: Path, rate: tuple[int, int]) -> None:
        """rate: images per second, as a fraction."""
        self._path, self._rate = path, rate
        self._file: BinaryIO | None = None
        self._size = (0, 0)
        self._index: list[tuple[int, int]] = []
        """Of each image: where its chunk begins, from the list's name on, and its length."""
        self._at, self._longest = 4, 0
        self.left_out = 0

    def add(self, pixels: NDArray[np.uint8]) -> None:
        """pixels: (height, width, 3) red, green, blue; all of one size."""
        from PIL import Image

        memory = io.BytesIO()
        Image.fromarray(pixels).save(memory, "JPEG", quality=QUALITY)
        data = memory.getvalue()
        if self._at + len(data) > MOST_BYTES:
            self.left_out += 1
            return
        try:
            if self._file is None:
                self._size = pixels.shape[1], pixels.shape[0]
                self._file = self._path.open("wb")
                self._file.write(self._head())
            self._file.write(struct.pack("<4sI", b"00dc", len(data)) + data + b"\0" * (len(data) % 2))
        except OSError as error:
            raise DatasetError(f"cannot write the video '{self._path}': {error.strerror}") from None
        self._index.append((self._at, len(data)))
        self._at += 8 + len(data) + len(data) % 2
        self._longest = max(self._longest, len(data))

    def close(self) -> None:
        """Write the index and the numbers of the headers. It may be called twice."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with file:
            entries = b"".join(struct.pack("<4sIII", b"00dc", KEY_FRAME, at, size) for at, size in self._index)
            file.write(struct.pack("<4sI", b"idx1", len(entries)) + entries)
            file.seek(0)
            file.write(self._head())

    def _head(self) -> bytes:
        """Up to the first image. Its length does not depend on the numbers in it."""
        (width, height), (per, every), n = self._size, self._rate, len(self._index)
        main = struct.pack(
            "<14I", 1_000_000 * every // per, self._longest * per // every, 0, HAS_INDEX, n, 0, 1, self._longest,
            width, height, 0, 0, 0, 0,
        )  # fmt: skip
        stream = struct.pack(
            "<4s4sIHHIIIIIIII4H", b"vids", b"MJPG", 0, 0, 0, 0, every, per, 0, n, self._longest, 0xFFFFFFFF, 0,
            0, 0, width, height,
        )  # fmt: skip
        form = struct.pack("<IiiHH4sIiiII", 40, width, height, 1, 24, b"MJPG", 3 * width * height, 0, 0, 0, 0)
        streams = _list(b"strl", _chunk(b"strh", stream) + _chunk(b"strf", form))
        heads = _list(b"hdrl", _chunk(b"avih", main) + streams)
        images = struct.pack("<4sI4s", b"LIST", self._at, b"movi")
        whole = 4 + len(heads) + 8 + self._at + 8 + 16 * n
        return struct.pack("<4sI4s", b"RIFF", whole, b"AVI ") + heads + images


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack("<4sI", name, len(data)) + data


def _list(name: bytes, data: bytes) -> bytes:
    return _chunk(b"LIST", name + data)
