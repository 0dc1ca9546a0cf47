"""Video for a board or another program: 1280 x 720, 60 images per simulated second, to a file, a pipe or memory.

Shared memory, `shm:NAME`, is the file /dev/shm/NAME. Little-endian:

    offset  bytes  content
    0       8      "SKYVIDEO"
    8       4 x 4  width, height, bytes per pixel (3: red, green, blue), images per second
    24      8      number n of the newest whole image, from 1; 0 before the first; written after the image
    32      8      its simulated time, ns
    64      w h 3  images with an even number
    64+w h 3       images with an odd number

A reader takes n, copies the image and takes n again. If n has changed, the copy may be of two images: it tries again.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from skyloop_client import regular_files
from skyloop_client.errors import LinkEnded, LinkError

WIDTH, HEIGHT, RATE_HZ = 1280, 720, 60
MARK = b"SKYVIDEO"
HEADER = 64
COUNTER_AT = 24
SHARED = Path("/dev/shm")
READS = 10
"""Times that a reader tries to get one whole image."""
Image = NDArray[np.uint8]


class VideoOut(Protocol):
    name: str

    def show(self, t_ns: int, image: Image) -> None:
        """image: (720, 1280, 3) red, green, blue."""

    def close(self) -> None: ...


def checked(image: Image) -> Image:
    if image.shape != (HEIGHT, WIDTH, 3) or image.dtype != np.uint8:
        raise LinkError(
            f"video out is {WIDTH} x {HEIGHT} px of 3 x 8 bits, and the camera gives {image.shape} {image.dtype}; "
            "use the camera preset down-1280"
        )
    return np.ascontiguousarray(image)


class StreamVideo:
    """Images one after the other into a file or a named pipe: raw red, green, blue, or Y4M."""

    def __init__(self, path: Path, y4m: bool) -> None:
        self.name = f"{'y4m' if y4m else 'raw'}:{path}"
        self._y4m = y4m
        try:
            self._file: BinaryIO = path.open("wb", buffering=0)
        except OSError as error:
            raise LinkError(f"cannot write video to {path}: {error.strerror}") from None
        if y4m:
            self._write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{RATE_HZ}:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\n".encode())

    def show(self, t_ns: int, image: Image) -> None:
        image = checked(image)
        if not self._y4m:
            self._write(image.tobytes())
            return
        self._write(b"FRAME\n")
        self._write(planes(image).tobytes())

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise LinkEnded(f"the video output {self.name} failed: {error.strerror}") from None

    def close(self) -> None:
        self._file.close()


def planes(image: Image) -> Image:
    """(3, h, w): luma and two chroma planes of BT.601 in studio range, in whole numbers."""
    red, green, blue = (image[:, :, k].astype(np.int32) for k in range(3))
    luma = ((66 * red + 129 * green + 25 * blue + 128) >> 8) + 16
    to_blue = ((-38 * red - 74 * green + 112 * blue + 128) >> 8) + 128
    to_red = ((112 * red - 94 * green - 18 * blue + 128) >> 8) + 128
    return np.stack([luma, to_blue, to_red]).astype(np.uint8)


class SharedVideo:
    """The newest image in shared memory; the layout is at the top of this file."""

    def __init__(self, name: str) -> None:
        if not name or "/" in name:
            raise LinkError(f"'shm:{name}' is no name of shared memory; give letters without a slash")
        self.name = f"shm:{name}"
        self._path = SHARED / name
        size = HEADER + 2 * WIDTH * HEIGHT * 3
        try:
            with self._path.open("xb+") as file:
                file.truncate(size)
                self._memory = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise LinkError(f"cannot make shared memory {self._path}: {error.strerror}; take another name") from None
        struct.pack_into("<8s4I", self._memory, 0, MARK, WIDTH, HEIGHT, 3, RATE_HZ)
        # whole stores, so that a reader never sees half a number
        self._numbers = np.frombuffer(self._memory, np.uint64, 2, COUNTER_AT)
        self._slots = np.frombuffer(self._memory, np.uint8, offset=HEADER).reshape(2, HEIGHT, WIDTH, 3)

    def show(self, t_ns: int, image: Image) -> None:
        number = int(self._numbers[0]) + 1
        self._slots[number % 2] = checked(image)
        self._numbers[1] = t_ns
        self._numbers[0] = number

    def close(self) -> None:
        """Readers keep what they have mapped."""
        self._path.unlink(missing_ok=True)


def read_shared(name: str) -> tuple[int, int, Image]:
    """Number, simulated time in ns and pixels of the newest image, for readers in Python."""
    path = SHARED / name
    try:
        with regular_files.opened(path) as file:
            memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except (OSError, ValueError) as error:
        raise LinkError(f"cannot read shared memory {path}: {error}") from None
    mark, width, height, depth, _ = struct.unpack_from("<8s4I", memory, 0)
    if mark != MARK:
        raise LinkError(f"{path} is no video of skyloop")
    numbers = np.frombuffer(memory, np.uint64, 2, COUNTER_AT)
    for _ in range(READS):
        number = int(numbers[0])
        t_ns, at = int(numbers[1]), HEADER + number % 2 * width * height * depth
        pixels = np.frombuffer(memory, np.uint8, width * height * depth, at).reshape(height, width, depth).copy()
        if int(numbers[0]) == number:
            return number, t_ns, pixels
    raise LinkError(f"the images in {path} come faster than they can be read")
