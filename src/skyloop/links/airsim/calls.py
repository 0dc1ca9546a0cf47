"""Calls of AirSim clients: the listener, the answer to a call, and the method that a call names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from skyloop.links.airsim.wire import CallInlet, Dialect, response
from skyloop.links.loop.listener import Listener
from skyloop.links.loop.peer import Parts, Peer
from skyloop_client.errors import LinkError, SkyloopError, nearest_name


class RpcPeer(Peer):
    """An AirSim client. It may be silent for any length of time."""

    dialect: Dialect | None = None
    """The dialect it has shown so far."""

    def made_inlet(self) -> CallInlet:
        return CallInlet()

    def parts_of(self, message: Any) -> Parts:
        return response(*message)

    @property
    def owes_hello(self) -> bool:
        return False


class RpcListener(Listener):
    """The port is reserved at once and opened by `open`. Until then a client is refused and can try again."""

    peer_class = RpcPeer
    opens_at_once = False
    port_option = "--port"

    def tell(self, peer: Peer, why: str) -> None:
        """The protocol has no message for this, so the connection just ends."""

    def answer_here(self, peer: Peer, message: object) -> bool:
        return False


LATER = object()
"""Returned by a method that answers later through its Reply."""


class Reply:
    """The answer to one call. It is given once, now or later."""

    __slots__ = ("_answered", "_complain", "method", "number", "peer")

    def __init__(self, peer: Peer, number: int | None, method: str, complain: Callable[[str], None]) -> None:
        """`complain` gets a line when the call fails, because scripts that only wait for its end never see why."""
        self.peer, self.number, self.method = peer, number, method
        self._complain = complain
        self._answered = False

    def give(self, result: object) -> None:
        self._send(None, result)

    def give_what(self, make: Callable[[], object]) -> None:
        """Call `make` and give its result, or report why it failed."""
        try:
            result = make()
        except SkyloopError as error:
            self.fail(str(error))
        except Exception as error:
            # no input of a client may end the simulation
            self.fail(f"{type(error).__name__}: {error}")
        else:
            if result is not LATER:
                self.give(result)

    def fail(self, why: str) -> None:
        if not self._answered:
            self._complain(f"{self.method}: {why}")
        self._send(f"{self.method}: {why}", None)

    def _send(self, error: str | None, result: object) -> None:
        if not self._answered and self.number is not None:
            self.peer.send((self.number, error, result))
        self._answered = True


# ---- methods by name


_UNSUPPORTED_BY_REASON = {
    "is for cars; skyloop flies multirotors": "setCarControls getCarState getCarControls",
    "switches lamps on a vehicle, and vehicles here have none": (
        "simSetVehicleLightIntensity simSetVehicleLightVisibility"
    ),
    "is for Unreal's engine only": (
        "simSwapTextures simSetObjectMaterial simSetObjectMaterialFromTexture simRunConsoleCommand"
    ),
    "is for Unreal's cinema lenses only; simSetCameraFov sets the field of view": (
        "simGetPresetLensSettings simGetLensSettings simSetPresetLensSettings simGetPresetFilmbackSettings "
        "simSetPresetFilmbackSettings simEnableManualFocus simGetFocusDistance simSetFocusDistance "
        "simGetFocusAperture simSetFocusAperture simEnableFocusPlane"
    ),
    "reads a sensor that Cosys-AirSim has and skyloop has not": (
        "getEchoData getUWBData getUWBSensorData getWifiData getWifiSensorData simSetEchoPose"
    ),
    "paints textures of Unreal's; annotation by colour, ID and value works": (
        "simEnableAnnotationObjectTextureByPath simSetAnnotationObjectTextureByPath simGetAnnotationObjectTexturePath"
    ),
    "is not called by AirSim's own client, and its safety checks were never finished there": "setSafety",
}
UNSUPPORTED = {name: reason for reason, names in _UNSUPPORTED_BY_REASON.items() for name in names.split()}
"""By method: the rest of the error sentence that a call gets."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method that clients may call.

    If its first argument is a Reply, it answers through it, now or later. If its last argument is a record, clients
    send that record's fields."""

    function: Callable[..., object]
    signature: inspect.Signature
    """The parameters that clients send."""
    answers_later: bool
    record: type | None

    @staticmethod
    def of(function: Callable[..., object]) -> Method:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
        is_later = bool(parameters) and parameters[0].annotation is Reply
        del parameters[:is_later]
        last = parameters[-1].annotation if parameters else None
        record = last if isinstance(last, type) and is_dataclass(last) else None
        if record is not None:
            parameters[-1:] = inspect.signature(record, eval_str=True).parameters.values()
        return Method(function, inspect.Signature(parameters), is_later, record)

    def call(self, reply: Reply, params: Sequence[object]) -> object:
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
