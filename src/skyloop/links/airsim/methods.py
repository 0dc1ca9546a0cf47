"""Finds the method that a call names. Methods of AirSim that skyloop lacks are listed with the reason."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from skyloop.links.airsim.listener import Reply
from skyloop_client.errors import LinkError, nearest_name

Function = TypeVar("Function", bound=Callable[..., Any])

_CAR = "is for cars; skyloop flies multirotors"
_UNREAL = "is for Unreal's engine only"
_LENS = "is for Unreal's cinema lenses only; simSetCameraFov sets the field of view"
_SENSOR = "reads a sensor that Cosys-AirSim has and skyloop has not"
_LIGHT = "switches lamps of Unreal's worlds; skyloop's have none that can be switched"
UNSUPPORTED = {
    "setCarControls": _CAR,
    "getCarState": _CAR,
    "getCarControls": _CAR,
    "simSetLightIntensity": _LIGHT,
    "simSetVehicleLightIntensity": _LIGHT,
    "simSetVehicleLightVisibility": _LIGHT,
    "simSetWorldLightIntensity": _LIGHT,
    "simSetWorldLightVisibility": _LIGHT,
    "simSwapTextures": _UNREAL,
    "simSetObjectMaterial": _UNREAL,
    "simSetObjectMaterialFromTexture": _UNREAL,
    "simRunConsoleCommand": _UNREAL,
    "simLoadLevel": "loads levels of Unreal's; start `skyloop serve --world NAME` instead",
    "simGetPresetLensSettings": _LENS,
    "simGetLensSettings": _LENS,
    "simSetPresetLensSettings": _LENS,
    "simGetPresetFilmbackSettings": _LENS,
    "simSetPresetFilmbackSettings": _LENS,
    "simEnableManualFocus": _LENS,
    "simGetFocusDistance": _LENS,
    "simSetFocusDistance": _LENS,
    "simGetFocusAperture": _LENS,
    "simSetFocusAperture": _LENS,
    "simEnableFocusPlane": _LENS,
    "getEchoData": _SENSOR,
    "getUWBData": _SENSOR,
    "getUWBSensorData": _SENSOR,
    "getWifiData": _SENSOR,
    "getWifiSensorData": _SENSOR,
    "simSetEchoPose": _SENSOR,
    "simEnableAnnotationObjectTextureByPath": "paints textures of Unreal's; annotation by colour, ID and value works",
    "simSetAnnotationObjectTextureByPath": "paints textures of Unreal's; annotation by colour, ID and value works",
    "simGetAnnotationObjectTexturePath": "paints textures of Unreal's; annotation by colour, ID and value works",
    "setSafety": "is not called by AirSim's own client, and its safety checks were never finished there",
}
"""By method: the rest of the error sentence that a call gets."""


def later(function: Function) -> Function:
    """Marks a method that gets a Reply and answers through it, now or later."""
    function.answers_later = True  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True, slots=True)
class Method:
    """A method that clients may call. If its last argument is a record, clients send that record's fields."""

    function: Callable[..., Any]
    signature: inspect.Signature
    """The parameters that clients send."""
    answers_later: bool
    record: type | None

    @staticmethod
    def of(function: Callable[..., Any]) -> Method:
        is_later = hasattr(function, "answers_later")
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())[is_later:]
        last: Any = parameters[-1].annotation if parameters else None
        record: type | None = last if is_dataclass(last) else None  # type: ignore[assignment]
        if record is not None:
            parameters[-1:] = inspect.signature(record, eval_str=True).parameters.values()
        return Method(function, inspect.Signature(parameters), is_later, record)

    def call(self, reply: Reply, params: Sequence[Any]) -> Any:
        try:
            self.signature.bind(*params)
        except TypeError as error:
            raise LinkError(f"{error}; it takes {self.signature}") from None
        given = list(params)
        if self.record is not None:
            first = len(self.signature.parameters) - len(fields(self.record))
            given[first:] = [self.record(*given[first:])]
        return self.function(reply, *given) if self.answers_later else self.function(*given)


class Methods:
    """All public methods of some objects, by name."""

    def __init__(self, groups: Sequence[object]) -> None:
        self.known: dict[str, Method] = {}
        for group in groups:
            for name, function in inspect.getmembers(group, inspect.ismethod):
                if not name.startswith("_"):
                    self.known[name] = Method.of(function)

    def find(self, name: str) -> Method:
        if name in self.known:
            return self.known[name]
        if name in UNSUPPORTED:
            raise LinkError(f"this method {UNSUPPORTED[name]}")
        raise LinkError(f"there is no such method; {nearest_name(name, self.known)}")
