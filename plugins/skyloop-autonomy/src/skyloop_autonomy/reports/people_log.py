"""What detectors and people trackers said during a run, and the labels they are judged by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skyloop.core.bus import Bus
from skyloop_client.messages import (
    Array,
    Detections,
    Estimate,
    ImageTruth,
    Label,
    Message,
    Movers,
    VehicleState,
)
from skyloop_client.streams import StreamInfo


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The newest people of a tracker when an image was taken, moved on to that instant."""

    positions: Array
    """(n, 3) m, world, as if the vehicle knew its own position exactly."""
    velocities: Array
    """(n, 3) m/s, world."""
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PeopleInstant:
    """An image with labels, and what was known then."""

    t_ns: int
    position: Array
    """(3,) m, world, of the vehicle."""
    labels: tuple[Label, ...]
    said: dict[str, Said]
    """By stream of tracks."""


@dataclass(slots=True)
class VehiclePeople:
    instants: dict[str, list[PeopleInstant]] = field(default_factory=dict)
    """By camera, such as "front"."""
    found: dict[str, dict[int, Detections]] = field(default_factory=dict)
    """By stream of boxes, and by the stamp of the image."""
    arrived_ns: dict[str, list[int]] = field(default_factory=dict)
    """By stream of boxes: how long after its image each record came."""
    tracks: list[str] = field(default_factory=list)
    """Streams of tracks with covariances."""
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By camera: px of width and height."""
    range: float | None = None
    """m, the greatest range of the vehicle's radar."""


class PeopleLog:
    """Listens to vehicles that have a camera with labels."""

    def __init__(self, bus: Bus, states: dict[str, str]) -> None:
        """states: by vehicle, what its controller flies on, as the scenario says it."""
        self._bus = bus
        self._flown_on = {
            name: {f"{name}/{state}", *([f"{name}/estimate"] if state == "ekf" else [])}
            for name, state in states.items()
        }
        self.vehicles: dict[str, VehiclePeople] = {name: VehiclePeople() for name in states}
        self._truth: dict[str, VehicleState] = {}
        self._estimate: dict[str, Estimate] = {}
        self._off: dict[str, Array] = {}
        """By vehicle: m, what is added to a position to take the error of the vehicle's own position out of it."""
        self._said: dict[str, Movers] = {}
        bus.on_new(self._watch)

    def _watch(self, info: StreamInfo) -> None:
        there = self.vehicles.get(info.vehicle)
        if there is None:
            return
        if info.message == "CameraImage" and "width" in info.details:
            camera = info.name.partition("/")[2]
            there.sizes[camera] = int(info.details["width"]), int(info.details["height"])
        elif info.message == "RadarScan" and "d_max" in info.details:
            there.range = float(info.details["d_max"])
        takers = {"ImageTruth": self._on_labels, "Detections": self._on_boxes, "Movers": self._on_tracks}
        if info.message in takers:
            self._bus.on(info.name, takers[info.message])
        elif info.message == "VehicleState" or info.name in self._flown_on[info.vehicle]:
            self._bus.on(info.name, self._on_state)

    def _on_state(self, message: Message) -> None:
        state = message.data
        if isinstance(state, Estimate):
            vehicle = message.stream.partition("/")[0]
            self._estimate[vehicle] = state
        else:
            vehicle = message.stream.partition("/")[2]
            self._truth[vehicle] = state
        truth, estimate = self._truth.get(vehicle), self._estimate.get(vehicle)
        if truth is not None and estimate is not None and truth.t_ns == estimate.t_ns:
            self._off[vehicle] = truth.position - estimate.position

    def _on_boxes(self, message: Message) -> None:
        there, found = self.vehicles[message.stream.partition("/")[0]], message.data
        there.found.setdefault(message.stream, {})[found.t_ns] = found
        there.arrived_ns.setdefault(message.stream, []).append(message.arrival_ns - found.t_ns)

    def _on_tracks(self, message: Message) -> None:
        movers: Movers = message.data
        # objects that move on a map have none, and are not judged as people
        if movers.covariances is None:
            return
        there = self.vehicles[message.stream.partition("/")[0]]
        if message.stream not in there.tracks:
            there.tracks.append(message.stream)
        self._said[message.stream] = movers

    def _on_labels(self, message: Message) -> None:
        truth: ImageTruth = message.data
        _, vehicle, camera = message.stream.split("/", 2)
        state = self._truth.get(vehicle)
        if state is None:
            return
        off = self._off.get(vehicle, np.zeros(3))
        said = {stream: self._now(self._said[stream], truth.t_ns, off) for stream in self.vehicles[vehicle].tracks}
        instant = PeopleInstant(truth.t_ns, state.position, truth.labels, said)
        self.vehicles[vehicle].instants.setdefault(camera, []).append(instant)

    @staticmethod
    def _now(movers: Movers, t_ns: int, off: Array) -> Said:
        positions = movers.positions + (t_ns - movers.t_ns) * 1e-9 * movers.velocities + off
        return Said(positions, movers.velocities, tuple(int(number) for number in movers.ids))
