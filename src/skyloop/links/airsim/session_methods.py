"""AirSim's session methods: versions, pause, exact time steps, reset, settings."""

from __future__ import annotations

from typing import Any

from skyloop.links.airsim.listener import Reply
from skyloop.links.airsim.methods import later
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map, geo_point, number_of
from skyloop_client.errors import LinkError
from skyloop_client.streams import NS_PER_S

SERVER_VERSION = 4
"""Version of Cosys-AirSim, the newest dialect. Older clients ask for at least 1."""
MIN_CLIENT_VERSION = 1
FRAMES_PER_S = 60
"""Frame rate for simContinueForFrames. Skyloop renders on request, so here a frame is a span of time."""


class SessionMethods:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def ping(self) -> bool:
        return True

    def getServerVersion(self) -> int:
        return SERVER_VERSION

    def getMinRequiredClientVersion(self) -> int:
        return MIN_CLIENT_VERSION

    def getSettingsString(self) -> str:
        return self._server.options.settings

    def listVehicles(self) -> list[str]:
        return list(self._server.vehicles)

    def getHomeGeoPoint(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        return geo_point(self._server.local_frame.geodetic_from_enu(vehicle.start.position))

    def reset(self) -> None:
        """Every vehicle returns to its initial state. Time and everything else continue."""
        for vehicle in self._server.vehicles.values():
            vehicle.begin_again()
        self._server.forget_forces()

    # ---- time

    def simPause(self, is_paused: bool) -> None:
        self._server.time.pause(bool(is_paused))

    def simIsPaused(self) -> bool:
        return self._server.time.is_paused

    @later
    def simContinueForTime(self, reply: Reply, seconds: float) -> None:
        """The answer comes when simulated time has paused again, exactly so many seconds later."""
        self._server.time.continue_for(round(_positive(seconds) * NS_PER_S), reply)

    @later
    def simContinueForFrames(self, reply: Reply, frames: int) -> None:
        self._server.time.continue_for(int(_positive(frames)) * NS_PER_S // FRAMES_PER_S, reply)

    def simPrintLogMessage(self, message: str, message_param: str = "", severity: int = 0) -> None:
        self._server.note(f"{message}{message_param}")


def _positive(value: Any) -> float:
    number = number_of(value)
    if not 0.0 < number <= 1e6:
        raise LinkError(f"{value} is out of range; give more than 0")
    return number
