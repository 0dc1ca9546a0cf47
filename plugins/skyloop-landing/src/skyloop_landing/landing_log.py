"""What a landing on a marker leaves behind: the track, what was believed, a few images and what was found in them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop.core.bus import Bus
from skyloop.core.frames import yaw_from_quat
from skyloop_client.messages import (
    Array,
    CameraImage,
    Detections,
    Event,
    EventKind,
    LandingStatus,
    Message,
    VehicleState,
)

TRACK_EVERY_NS = 50_000_000
LOW = 3.0
"""m: a moment below this altitude is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """An image of the landing."""

    name: str
    status: LandingStatus
    figures: Detections
    image: NDArray[np.uint8]
    before: NDArray[np.uint8]
    """The image before it, whose brightness gives the threshold."""


@dataclass(slots=True)
class VehicleLanding:
    statuses: list[LandingStatus] = field(default_factory=list)
    moments: dict[str, Moment] = field(default_factory=dict)
    track: list[tuple[float, ...]] = field(default_factory=list)
    """t [s], x, y, z [m], yaw [rad]."""
    ended_ns: int = -1
    """When it touched down after the landing had begun."""

    @property
    def began_ns(self) -> int:
        return self.statuses[0].t_ns

    @property
    def ended_in(self) -> str:
        """The last stage."""
        return self.statuses[-1].stage

    def rows(self) -> Array:
        """(n, 5) the track from the beginning of the landing on."""
        rows = np.array(self.track)
        return rows[rows[:, 0] >= self.began_ns * 1e-9 - 0.1]


class LandingLog:
    """Listens to all vehicles; only those that publish a LandingStatus are in `vehicles`."""

    def __init__(self, bus: Bus) -> None:
        self.vehicles: dict[str, VehicleLanding] = {}
        self._tracks: dict[str, list[tuple[float, ...]]] = {}
        self._images: dict[str, list[CameraImage]] = {}
        """By stream, the last two."""
        bus.on_every(self._take)

    def _take(self, message: Message) -> None:
        data, vehicle = message.data, message.stream.partition("/")[0]
        if isinstance(data, VehicleState) and vehicle == "truth":
            self._on_state(message.stream.partition("/")[2], data)
        elif isinstance(data, CameraImage):
            self._images[message.stream] = [*self._images.get(message.stream, ())[-1:], data]
        elif isinstance(data, LandingStatus):
            there = self.vehicles.setdefault(vehicle, VehicleLanding(track=self._tracks.get(vehicle, [])))
            there.statuses.append(data)
        elif isinstance(data, Detections) and vehicle in self.vehicles:
            self._on_figures(vehicle, data)
        elif isinstance(data, Event) and data.kind == EventKind.LANDED and vehicle in self.vehicles:
            self.vehicles[vehicle].ended_ns = data.t_ns

    def _on_state(self, vehicle: str, state: VehicleState) -> None:
        track = self._tracks.setdefault(vehicle, [])
        if not track or state.t_ns * 1e-9 - track[-1][0] >= TRACK_EVERY_NS * 1e-9:
            yaw = math.remainder(float(yaw_from_quat(state.quat_wxyz)), 2.0 * math.pi)
            track.append((state.t_ns * 1e-9, *state.position.tolist(), yaw))

    def _on_figures(self, vehicle: str, figures: Detections) -> None:
        """Keeps the image if the moment is one to be shown."""
        there = self.vehicles[vehicle]
        images = self._images.get(f"{vehicle}/{figures.source}", [])
        if not there.statuses or len(images) < 2 or images[-1].t_ns != figures.t_ns:
            return
        status = there.statuses[-1]
        for name in _moments(status, there.moments):
            there.moments[name] = Moment(name, status, figures, images[-1].colour, images[-2].colour)


def _moments(status: LandingStatus, kept: dict[str, Moment]) -> list[str]:
    if not status.found:
        return ["last image without the marker"]
    names = ["last image with the marker"]
    due = {"first sight": True, "descent begins": status.stage == "down", "below 3 m": status.altitude < LOW}
    return names + [name for name, now in due.items() if now and name not in kept]
