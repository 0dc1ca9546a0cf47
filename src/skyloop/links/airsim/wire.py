"""AirSim's msgpack-RPC without sockets: decodes calls, encodes answers, and tells the dialects of clients apart.

Clients use two generations of msgpack. The old one encodes strings and bytes alike as raw; the new one has separate
types. Both are accepted. Answers use the new one, with images as bin and texts as str, which both can read."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import msgpack
import numpy as np
from numpy.typing import ArrayLike

from skyloop_client.errors import LinkError

REQUEST, RESPONSE, NOTIFY = 0, 1, 2
MOST_FROM_CLIENT = 16 << 20
"""Most bytes of an incomplete call: enough for a path or plot of a hundred thousand points."""
LONGEST_ARRAY = 1 << 17
_FLOAT = [("mark", "u1"), ("value", ">f4")]
"""Each number of an array of floats, with its type."""


@dataclass(frozen=True, slots=True)
class Call:
    number: int | None
    """None for a notification, which gets no answer."""
    method: str
    params: list[object]


class Floats:
    """An array of floats, encoded like a C++ std::vector<float>: each number has a type byte."""

    __slots__ = ("values",)

    def __init__(self, values: ArrayLike) -> None:
        self.values = np.asarray(values, np.float32).reshape(-1)


class CallInlet:
    """Collects bytes and returns complete calls."""

    def __init__(self) -> None:
        self._fed = self._whole = 0
        self._unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            unicode_errors="replace",
            max_buffer_size=MOST_FROM_CLIENT,
            max_array_len=LONGEST_ARRAY,
            max_map_len=1 << 12,
            max_ext_len=0,
        )

    @property
    def is_within(self) -> bool:
        """Whether part of a call has arrived."""
        return self._fed > self._whole

    def feed(self, data: bytes) -> Iterator[Call]:
        self._fed += len(data)
        try:
            self._unpacker.feed(data)
            for message in self._unpacker:
                self._whole = self._unpacker.tell()
                yield _call(message)
        except (ValueError, TypeError, OverflowError, msgpack.UnpackException) as error:
            raise LinkError(f"not msgpack-RPC: {type(error).__name__} {error}".rstrip()) from None


def _call(message: object) -> Call:
    match message:
        case [0, int(number), str(method), list(params)]:
            return Call(number, method, params)
        case [2, str(method), list(params)]:
            return Call(None, method, params)
    raise LinkError("not a call of msgpack-RPC; expected [0, number, method, parameters]")


def response(number: int, error: str | None, result: object) -> list[bytes | memoryview]:
    """An answer as a list of parts to be written one after the other."""
    parts: list[bytes | memoryview] = [b"\x94" + msgpack.packb(RESPONSE) + msgpack.packb(number) + msgpack.packb(error)]
    _write(result, parts)
    return parts


def _write(value: object, parts: list[bytes | memoryview]) -> None:
    if isinstance(value, Floats):
        body = np.empty(len(value.values), _FLOAT)
        body["mark"], body["value"] = 0xCA, value.values
        parts += [struct.pack(">BI", 0xDD, len(body)), body.view(np.uint8).data]
    elif isinstance(value, dict):
        parts.append(struct.pack(">BI", 0xDF, len(value)))
        for key, item in value.items():
            parts.append(msgpack.packb(key))
            _write(item, parts)
    elif isinstance(value, list | tuple) and any(isinstance(item, dict | list | tuple | Floats) for item in value):
        parts.append(struct.pack(">BI", 0xDD, len(value)))
        for item in value:
            _write(item, parts)
    else:
        parts.append(msgpack.packb(value))


# ---- dialects


class Dialect(Enum):
    """AirSim's own client and Cosys-AirSim's share most calls, but some calls mean different things.

    The first calls of both clients are the same. A client is recognised by a method that only one of the two has, or by
    the number of parameters of a call. Until then the server's default dialect applies."""

    AIRSIM = "airsim"
    """Raw images are BGR. Segmentation ids are 0 to 255. LiDAR points are in the vehicle's NED axes."""
    COSYS = "cosys"
    """Raw images are RGB. Ids go up to 2 743 999. LiDAR points are in the sensor's axes; its pose comes along."""


COSYS_ONLY = frozenset((
    "getComputerVisionState", "getEchoData", "getGPULidarData", "getUWBData", "getUWBSensorData", "getWifiData",
    "getWifiSensorData", "simEnableAnnotationObjectTextureByPath", "simGetAnnotationObjectColor",
    "simGetAnnotationObjectID", "simGetAnnotationObjectTexturePath", "simGetAnnotationObjectValue",
    "simGetPhysicsRawKinematics", "simListAnnotationObjects", "simListAnnotationPoses",
    "simListInstanceSegmentationObjects", "simListInstanceSegmentationPoses", "simListSceneObjectsTags",
    "simSetAnnotationObjectColor", "simSetAnnotationObjectID", "simSetAnnotationObjectTextureByPath",
    "simSetAnnotationObjectValue", "simSetExtForce", "simSetPhysicsRawKinematics", "simSetVehicleLightIntensity",
    "simSetVehicleLightVisibility", "simSetWorldLightIntensity", "simSetWorldLightVisibility",
))  # fmt: skip
PARAMETERS = {
    "simGetCameraInfo": (3, 2), "simSetCameraPose": (4, 3), "simSetCameraFov": (4, 3), "simGetObjectPose": (1, 2),
    "simGetDistortionParams": (3, 2), "simSetDistortionParam": (5, 4), "simGetCurrentFieldOfView": (3, 2),
    "simGetFocalLength": (3, 2), "simSetFocalLength": (4, 3), "simGetFilmbackSettings": (3, 2),
    "simSetFilmbackSettings": (5, 4),
}  # fmt: skip
"""Number of parameters that AirSim's client sends, and that Cosys-AirSim's client sends."""


def dialect_of(call: Call) -> Dialect | None:
    """The dialect that a call reveals, or None."""
    if call.method in COSYS_ONLY:
        return Dialect.COSYS
    if call.method in PARAMETERS:
        return dict(zip(PARAMETERS[call.method], Dialect, strict=True)).get(len(call.params))
    match call.method, call.params:
        case "simGetImages", [[dict() as request, *_], *_]:
            # Cosys-AirSim's requests always have a field for an annotation layer
            return Dialect.COSYS if "annotation_name" in request else Dialect.AIRSIM
        case "simGetImage", [_, _, _, str() | bool() as last]:
            return Dialect.COSYS if isinstance(last, str) else Dialect.AIRSIM
    return None
