"""People in space from boxes, radar points and depth: an estimator that publishes movers, and boxes with numbers.

    estimators:
      detect: {kind: people-detector, inputs: [front]}
      people:
        kind: people-tracker
        inputs: [state, front, detect/boxes, radar/detections]

It runs in the simulator's process, in another one and on a target, as every estimator does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.validation import validated
from skyloop.sensors.radar.processing.tracking import clusters
from skyloop_autonomy.people.carrier import Carrier, CarrierHistory
from skyloop_autonomy.people.config import RadarModel, TrackerConfig
from skyloop_autonomy.people.sightings import HEIGHT, POSITION, VELOCITY, CameraMeasurements, RadarMeasurements
from skyloop_autonomy.people.tracker import Belief, Candidate, PersonTrack, PersonTracker, SensorReading
from skyloop_client import part
from skyloop_client.errors import PartError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import (
    Array,
    DepthImage,
    Detections,
    Estimate,
    Message,
    Movers,
    RadarDetections,
    VehicleState,
)
from skyloop_client.streams import StreamInfo

Products = list[tuple[str, Any]]
STATES = ("Estimate", "VehicleState")
SAME_VIEW_NS = 60_000_000
"""A depth image may be so much older or newer than the image of a box."""


@part
class PeopleTracker:
    """Inputs: the vehicle's `state`; for boxes a stream of Detections and the camera they come from; for the radar its
    detections; for depth a depth camera that looks where the camera looks."""

    def __init__(self, setup: EstimatorSetup, **options: Any) -> None:
        """options: those of TrackerConfig."""
        self._config = config = validated(TrackerConfig, options, f"{setup.vehicle}.estimators.{setup.name}.options")
        where = f"estimator '{setup.name}'"
        by_kind: dict[str, list[StreamInfo]] = {}
        for info in setup.infos.values():
            by_kind.setdefault(info.message, []).append(info)
        if sum(len(by_kind.get(kind, [])) for kind in STATES) != 1:
            raise PartError(f"{where} needs the vehicle's motion; put `state` under inputs")
        boxes, radars, cameras = (by_kind.get(k, []) for k in ("Detections", "RadarDetections", "CameraImage"))
        if not boxes and not radars:
            raise PartError(
                f"{where} has nothing to track people with; put detect/boxes or radar/detections under inputs"
            )
        if boxes and len(cameras) != 1:
            raise PartError(
                f"{where} gets boxes and {len(cameras)} cameras; put the one camera they come from under inputs"
            )
        self._camera = CameraMeasurements(cameras[0], config.camera, config.person) if cameras else None
        self._radar = RadarMeasurements(radars[0], config.radar, config.person) if radars else None
        self._name, self._source = setup.name, cameras[0].name.partition("/")[2] if cameras else ""
        self.products = {f"{setup.name}/tracks": "Movers"}
        """The streams it publishes on."""
        if boxes:
            self.products[f"{setup.name}/boxes"] = "Detections"
        self._history = CarrierHistory()
        self._depth: DepthImage | None = None
        self.tracker = PersonTracker(config)

    def on_message(self, message: Message) -> Products:
        data = message.data
        if isinstance(data, Estimate | VehicleState):
            self._history.add(data)
        elif isinstance(data, DepthImage):
            self._depth = data
        elif isinstance(data, Detections | RadarDetections):
            return self._measured(data)
        return []

    def _measured(self, record: Detections | RadarDetections) -> Products:
        carrier = self._history.at(record.t_ns)
        if carrier is None:
            return []
        if isinstance(record, RadarDetections):
            self._take_points(record, carrier)
            return self._tracks()
        boxes = self._take_boxes(record, carrier)
        return [*self._tracks(), (f"{self._name}/boxes", boxes)]

    def _take_points(self, found: RadarDetections, carrier: Carrier) -> None:
        sensor, evidence = self._radar, self._config.evidence
        assert sensor is not None
        points = moving_points(found, sensor, carrier, self._config.radar)
        candidates = [Candidate(sensor.sighting(p, carrier), Belief(*sensor.newcomer(p, carrier))) for p in points]
        reading = SensorReading(
            candidates, lambda b: sensor.sees(b.state, carrier), evidence.radar_hit, evidence.radar_miss
        )
        self.tracker.take(reading, carrier)

    def _take_boxes(self, found: Detections, carrier: Carrier) -> Detections:
        """Returns the boxes with the numbers of the people, and those of confirmed people whom no box shows."""
        sensor, evidence, camera = self._camera, self._config.evidence, self._config.camera
        assert sensor is not None
        wanted = [
            k
            for k, name in enumerate(found.classes)
            if name in self._config.classes and found.scores[k] >= camera.least_score
        ]
        candidates = []
        for k in wanted:
            box = found.boxes_px[k]
            depth = self._depth_in(box, found.t_ns)
            made = sensor.newcomer(box, carrier, depth) if found.scores[k] >= camera.birth_score else None
            newcomer = None if made is None else Belief(*made)
            candidates.append(Candidate(sensor.sighting(box, carrier, depth), newcomer))
        reading = SensorReading(
            candidates, lambda b: sensor.sees(b.state, carrier), evidence.camera_hit, evidence.camera_miss
        )
        owners = self.tracker.take(reading, carrier)
        return self._numbered(found, wanted, owners, carrier)

    def _depth_in(self, box: Array, t_ns: int) -> float | None:
        if self._depth is None or abs(self._depth.t_ns - t_ns) > SAME_VIEW_NS or self._camera is None:
            return None
        return depth_of(self._depth.depth, box, (self._camera.height, self._camera.width))

    def _numbered(
        self, found: Detections, wanted: list[int], owners: list[PersonTrack | None], carrier: Carrier
    ) -> Detections:
        sensor, seen = self._camera, {id(owner) for owner in owners if owner is not None}
        assert sensor is not None
        unseen = [
            track
            for track in self.tracker.tracks
            if track.confirmed and id(track) not in seen and sensor.sees(track.belief.state, carrier)
        ]
        more = [sensor.box_of(track.belief.state, carrier) for track in unseen]
        boxes = np.concatenate([found.boxes_px[wanted].reshape(-1, 4), np.array(more).reshape(-1, 4)])
        numbers = [-1 if owner is None else owner.number for owner in owners] + [track.number for track in unseen]
        classes = (*(found.classes[k] for k in wanted), *("person" for _ in unseen))
        # a box that no detector found has no score of one
        scores = np.concatenate([found.scores[wanted], np.zeros(len(unseen))])
        return Detections(found.t_ns, boxes, classes, scores, np.array(numbers, np.int64), self._source)

    def _tracks(self) -> Products:
        """All confirmed people at the newest instant measured, in the world."""
        now = self.tracker.now
        assert now is not None
        people = [track for track in self.tracker.tracks if track.confirmed]
        states = np.array([track.belief.state for track in people]).reshape(-1, 7)
        spreads = np.array([track.belief.covariance[:6, :6] for track in people]).reshape(-1, 6, 6).copy()
        # in the world they are as uncertain as the vehicle, too
        spreads[:, POSITION, POSITION] += np.diag(now.position_sd**2)
        sizes = np.column_stack([np.full(len(people), self._config.person.radius), states[:, HEIGHT]])
        numbers = np.array([track.number for track in people], np.int64)
        positions = states[:, POSITION] + now.position
        movers = Movers(now.t_ns, positions, states[:, VELOCITY].copy(), sizes, numbers, spreads)
        return [(f"{self._name}/tracks", movers)]


INNER = 0.25
"""Of a box's width and height, the share left out on each side: there the background begins."""
LEAST = 6
"""Pixels with a value."""
NEAREST_SHARE = 30.0
"""Percentile: a person covers most of the inner part of a box and is nearer than what is behind."""


def depth_of(depth: NDArray[np.float32], box: Array, image_size: tuple[int, int]) -> float | None:
    """m along the optical axis; None if too few pixels have a value. `image_size`: rows and columns of the image that
    the box is in. Both cameras must have the same field of view."""
    scale = np.array([depth.shape[1] / image_size[1], depth.shape[0] / image_size[0]])
    low, high = box[:2] * scale, box[2:] * scale
    inset = INNER * (high - low)
    (x0, y0), (x1, y1) = np.floor(low + inset).astype(int), np.ceil(high - inset).astype(int)
    part = depth[max(y0, 0) : y1, max(x0, 0) : x1]
    values = part[(part > 0.0) & np.isfinite(part)]
    return float(np.percentile(values, NEAREST_SHARE)) if values.size >= LEAST else None


def moving_points(found: RadarDetections, sensor: RadarMeasurements, carrier: Carrier, model: RadarModel) -> Array:
    """(n, 4) range, speed, azimuth, elevation of what moves over ground, one row for each cluster.

    Seen from a vehicle that flies, the ground moves. A sampler without a quadrature channel also shows what lies beyond
    the greatest range: mirrored, so that its speed has the other sign.
    """
    if not len(found.ranges):
        return np.zeros((0, 4))
    directions = found.points / np.maximum(np.linalg.norm(found.points, axis=1, keepdims=True), 1e-6)
    ground = sensor.ground_speeds(directions, carrier)
    stands = np.abs(wrapped(found.speeds - ground, sensor.span)) < model.still
    folded = np.abs(wrapped(found.speeds + ground, sensor.span)) < model.folded_still
    # of a vehicle that hovers both say the same, and a person who walks slowly must not be lost
    folded &= np.abs(ground) > model.folded_still
    chosen = ~stands & ~folded & (found.ranges <= model.max_range)
    merged = []
    for strongest, point in clusters(found, model.cluster_distance, np.flatnonzero(chosen)):
        # limbs swing around the strongest point, so theirs are not the body's speeds
        point[1] = found.speeds[strongest]
        merged.append(point)
    return np.array(merged).reshape(-1, 4)


def wrapped(values: Array, span: float) -> Array:
    return values - span * np.round(values / span) if np.isfinite(span) else values
