"""Which device draws: EGL lists the GPUs of a machine and Mesa's software renderer, and `--device` chooses among them.

The loader (libEGL.so.1, of libglvnd) finds drivers by their vendor files. Without the loader nothing can be asked;
without a driver it has no device.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skyloop_client.errors import RendererError, unknown_name

VARIABLE = "SKYLOOP_DEVICE"
"""The environment variable that carries the choice to all processes that draw."""
CHOICES = {"auto": "the first that works, GPUs first", "cpu": "Mesa's software renderer", "gpu": "a GPU"}
MOST_DEVICES = 32
EXTENSIONS = 0x3055
"""EGL_EXTENSIONS."""
HOW_TO_USE_A_GPU = (
    "install the GPU's EGL driver (NVIDIA: libnvidia-gl of the driver's version; others: libgl1-mesa-dri), or name its "
    "vendor file in __EGL_VENDOR_LIBRARY_FILENAMES, or choose --device cpu"
)


@dataclass(frozen=True, slots=True)
class EglDevice:
    index: int
    is_software: bool


def check_choice(choice: str) -> str:
    if choice not in CHOICES:
        raise unknown_name("device", choice, CHOICES)
    return choice


def candidates(choice: str) -> list[EglDevice]:
    """The devices to be tried, in EGL's order, which puts GPUs first. Raises an error if there is none."""
    check_choice(choice)
    devices = listed_devices()
    if not devices:
        raise RendererError("the EGL loader is there, but it finds no driver")
    chosen = [each for each in devices if choice == "auto" or each.is_software == (choice == "cpu")]
    if chosen:
        return chosen
    if choice == "gpu":
        raise RendererError(f"--device gpu: EGL has no GPU, only the software renderer; {HOW_TO_USE_A_GPU}")
    raise RendererError("--device cpu: EGL has no software renderer, only GPUs; choose --device gpu or auto")


def listed_devices() -> list[EglDevice]:
    """All devices that EGL has a driver for."""
    # the variable by which the context's own library is chosen, too
    name = os.environ.get("GLCONTEXT_LINUX_LIBEGL") or "libEGL.so.1"
    try:
        egl = ctypes.CDLL(name)
    except OSError:
        raise RendererError(f"the EGL loader ({name}) is missing") from None
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    query = _function(egl, b"eglQueryDevicesEXT", ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    handles, count = (ctypes.c_void_p * MOST_DEVICES)(), ctypes.c_int()
    if not query(MOST_DEVICES, handles, ctypes.byref(count)) or not count.value:
        return []
    describe = _function(egl, b"eglQueryDeviceStringEXT", ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int)
    words = [(describe(handles[i], EXTENSIONS) or b"").split() for i in range(count.value)]
    return [EglDevice(i, b"EGL_MESA_device_software" in extensions) for i, extensions in enumerate(words)]


def _function(egl: ctypes.CDLL, name: bytes, *types: type) -> Callable[..., Any]:
    address = egl.eglGetProcAddress(name)
    if not address:
        raise RendererError(f"the EGL loader does not know {name.decode()}; it is too old")
    return ctypes.CFUNCTYPE(*types)(address)
