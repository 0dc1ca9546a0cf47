"""The logic itself, clock by clock, for use in a loop: an image in, its object list out."""

from __future__ import annotations

import ctypes
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import StreamError
from skyloop_landing.fpga.compiled import library
from skyloop_landing.fpga.config import (
    FIELD_WORDS,
    HEADER_WORDS,
    MIN_AREA_ADDRESS,
    MIN_CONTRAST_ADDRESS,
    STATE_ADDRESS,
    FabricConfig,
)

FRONT_PORCH, SYNC = 5, 5
"""Lines of the vertical blanking below the image, and of the synchronisation after them, as 720p has them."""
_OVERRUN = 1


class SimulatedFabric:
    """Feeds images at 720p60's timing and reads the list over the AXI port.

    The first image is thresholded with nothing and gives an empty list, as after a chip's configuration; each further
    one with the statistics of the image before. The same images give the same words. One thread at a time.
    """

    def __init__(self, config: FabricConfig | None = None, *, min_contrast: int | None = None) -> None:
        """min_contrast: Steps of grey, the register's value from the first image on; 0 is as published."""
        self.config = config or FabricConfig()
        self._min_contrast = min_contrast
        self._library = _loaded(str(library(self.config)))
        self._handle: int | None = None
        self.reset()

    def reset(self) -> None:
        """As if the chip had just been configured."""
        self.close()
        c = self.config
        porches = (FRONT_PORCH, SYNC, c.frame_blanking - FRONT_PORCH - SYNC)
        timing = (ctypes.c_uint32 * 6)(c.width, c.height, c.line_blanking, *porches)
        self._handle = self._library.fabric_open(timing)
        if self._min_contrast is not None:
            self.write(MIN_CONTRAST_ADDRESS, self._min_contrast)

    def objects_of(self, image: NDArray[np.uint8], min_area: int | None = None) -> NDArray[np.uint32]:
        """The words of the image's list, 4 + 8 for each object, little-endian.

        image: (height, width, 3) uint8 red, green, blue, or (height, width) uint8 grey.
        min_area: px; written to its register before the image, which keeps it.
        """
        if min_area is not None:
            self.write(MIN_AREA_ADDRESS, min_area)
        self.send(image)
        if self.state & _OVERRUN:
            raise RuntimeError("the landing fabric lost a row; its timing proof is wrong")
        words = HEADER_WORDS + FIELD_WORDS * self.read(4)
        return np.array([self.read(4 * k) for k in range(words)], "<u4")

    def send(self, image: NDArray[np.uint8], lines: int | None = None) -> None:
        """An image with its blanking. lines: Only so many of its lines, as from a broken source."""
        c = self.config
        if image.shape[:2] != (c.height, c.width) or image.ndim not in (2, 3) or image.dtype != np.uint8:
            raise StreamError(
                f"the landing fabric was given an image of shape {image.shape} and type {image.dtype}; "
                f"give it {c.width} x {c.height} px of 8 bits, or make a SimulatedFabric of the image's size"
            )
        if image.ndim == 2:
            image = np.repeat(image[:, :, None], 3, axis=2)
        pixels = np.ascontiguousarray(image)
        self._library.fabric_send(self._open(), pixels.ctypes.data, c.height if lines is None else lines)

    def read(self, address: int) -> int:
        """One word over the AXI port. address: In bytes."""
        return int(self._library.fabric_read(self._open(), address))

    def write(self, address: int, word: int) -> None:
        """One word over the AXI port, to a register."""
        self._library.fabric_write(self._open(), address, word)

    @property
    def state(self) -> int:
        """Bit 0: a row was lost, which is never to happen. Bit 1: an image had too few or too many pixels."""
        return self.read(STATE_ADDRESS)

    @property
    def clocks(self) -> int:
        """Since the reset."""
        return int(self._library.fabric_clocks(self._open()))

    @property
    def latency_clocks(self) -> int:
        """From the last pixel of the last image to its list."""
        return int(self._library.fabric_latency(self._open()))

    def close(self) -> None:
        if self._handle is not None:
            self._library.fabric_close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def _open(self) -> int:
        if self._handle is None:
            raise StreamError("this simulated landing fabric is closed; make another one, or call reset()")
        return self._handle


def _loaded(path: str) -> Any:
    loaded = ctypes.CDLL(path)
    loaded.fabric_open.restype = ctypes.c_void_p
    for name in ("close", "clocks", "latency"):
        getattr(loaded, f"fabric_{name}").argtypes = [ctypes.c_void_p]
    loaded.fabric_clocks.restype = loaded.fabric_latency.restype = ctypes.c_uint64
    loaded.fabric_read.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    loaded.fabric_read.restype = ctypes.c_uint32
    loaded.fabric_write.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]
    loaded.fabric_send.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]
    return loaded
