"""Detectors and people trackers of a run against the truth: precision, recall, AP50; position, speed, CLEAR MOT."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyloop.core.detection_scores import BoxScore
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.reports.people_log import PeopleInstant, VehiclePeople
from skyloop_client.messages import Array, Label

FAR = 1e9


@dataclass(slots=True)
class ClearMot:
    """Misses, false tracks and switches of numbers; give it one instant after the other.

    Bernardin and Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The CLEAR MOT Metrics", 2008. At each
    instant:

    1. A pair of the instant before stays a pair while it is within reach.
    2. All others are assigned so that the sum of distances is least; pairs beyond reach are none.
    3. An object without a track is a miss, a track without an object is false. An object whose track has another number
       than the one it had last, however long ago, is a switch.

        MOTA = 1 - (misses + false + switches) / objects

    Objects that need not be found, such as people behind a tree, are given as `ignored`: a track within reach of one of
    them, and of nobody else, is neither right nor false.
    """

    reach: float
    """m, within which a track is an object's."""
    objects: int = 0
    matches: int = 0
    misses: int = 0
    false: int = 0
    switches: int = 0
    _before: dict[int, int] = field(default_factory=dict)
    """By object, its track at the instant before."""
    _last: dict[int, int] = field(default_factory=dict)
    """By object, the number of the last track it had."""

    def add(
        self, objects: Mapping[int, Array], tracks: Mapping[int, Array], ignored: Mapping[int, Array] | None = None
    ) -> dict[int, int]:
        """The positions of objects and tracks by number, at one instant. Returns the tracks by object."""
        pairs = self._pairs(objects, tracks)
        for target, number in pairs.items():
            self.switches += self._last.get(target, number) != number
            self._last[target] = number
        self.objects += len(objects)
        self.matches += len(pairs)
        self.misses += len(objects) - len(pairs)
        taken = set(pairs.values())
        for number, position in tracks.items():
            excused = any(_apart(position, there) <= self.reach for there in (ignored or {}).values())
            self.false += number not in taken and not excused
        self._before = pairs
        return pairs

    def _pairs(self, objects: Mapping[int, Array], tracks: Mapping[int, Array]) -> dict[int, int]:
        kept = {
            target: number
            for target, number in self._before.items()
            if target in objects and number in tracks and _apart(objects[target], tracks[number]) <= self.reach
        }
        targets = [target for target in objects if target not in kept]
        numbers = [number for number in tracks if number not in kept.values()]
        if targets and numbers:
            # every run imports this file, few have tracks, and this takes as long as all else that a run imports
            from scipy.optimize import linear_sum_assignment

            apart = np.array([[_apart(objects[target], tracks[number]) for number in numbers] for target in targets])
            rows, columns = linear_sum_assignment(np.where(apart <= self.reach, apart, FAR))
            for i, k in zip(rows.tolist(), columns.tolist(), strict=True):
                if apart[i, k] <= self.reach:
                    kept[targets[i]] = numbers[k]
        return kept

    @property
    def mota(self) -> float:
        """1 at best; below 0 if there are more errors than objects; NaN without objects."""
        return 1.0 - (self.misses + self.false + self.switches) / self.objects if self.objects else float("nan")

    @property
    def recall(self) -> float:
        return self.matches / self.objects if self.objects else float("nan")

    @property
    def precision(self) -> float:
        """NaN without tracks."""
        found = self.matches + self.false
        return self.matches / found if found else float("nan")


def _apart(a: Array, b: Array) -> float:
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


PERSON = "person"
LEAST_HEIGHT_PX = 16
MOST_HIDDEN = 0.5
"""Of a person, the share behind something or outside the image, above which they need not be found."""
REACH = 1.5
"""m within which a track is a person's."""
IN_RANGE = 0.96
"""Of the radar's greatest range; the filters before its converter take the rest."""
USUAL_RANGE = 15.0
"""m, where there is no radar."""
LEAST_CLIMB = 1.5
"""m over the start, from which on tracks are judged."""
AROUND = 25.0
"""m around the vehicle in which people are known."""
ASIDE_NS = 200_000_000
"""True velocities are differences over twice that: within it hips sway, and people hardly turn."""

Seen = Callable[[PeopleInstant, str, dict[int, Array], dict[int, int]], None]


def counts(label: Label) -> bool:
    """Whether a person must be found in an image."""
    tall = label.box_px[3] + 1 - label.box_px[1]
    hidden = max(label.occlusion, label.truncation)
    return label.class_name == PERSON and tall >= LEAST_HEIGHT_PX and hidden <= MOST_HIDDEN


def box_scores(log: VehiclePeople) -> dict[str, Any]:
    """By stream of boxes that carry no tracks."""
    out = {}
    for stream, found in log.found.items():
        one = next(iter(found.values()))
        instants = log.instants.get(one.source, [])
        if one.tracks is not None or not instants:
            continue
        score, looked = BoxScore(), 0
        for instant in instants:
            record = found.get(instant.t_ns)
            if record is None:
                continue
            looked += 1
            people = [k for k, name in enumerate(record.classes) if name == PERSON]
            labels = np.array([_edges(label) for label in instant.labels], float).reshape(-1, 4)
            must = np.array([counts(label) for label in instant.labels], bool)
            score.add(record.boxes_px[people], record.scores[people], labels, must)
        precision, recall = score.at()
        out[stream] = {
            "images": len(instants),
            "looked_at": looked,
            "people": score.labels,
            "precision": _finite(precision),
            "recall": _finite(recall),
            "ap50": _finite(score.ap50),
            "delay_ms_mean": 1e-6 * float(np.mean(log.arrived_ns[stream])),
        }
    return out


def _edges(label: Label) -> tuple[float, float, float, float]:
    left, top, right, bottom = label.box_px
    return left, top, right + 1.0, bottom + 1.0


def _finite(value: float) -> float | None:
    """JSON has no NaN."""
    return None if np.isnan(value) else float(value)


class TruePeople:
    """Where everybody near a vehicle was, looked up once for each instant."""

    def __init__(self, world: WorldView) -> None:
        self._world = world
        self._kept: dict[int, dict[int, Array]] = {}

    def at(self, t_ns: int, position: Array) -> dict[int, Array]:
        if t_ns not in self._kept:
            self._kept[t_ns] = self._world.middles_near(PERSON, t_ns * 1e-9, position, AROUND)
        return self._kept[t_ns]

    def velocity(self, number: int, t_ns: int, position: Array) -> Array | None:
        before, after = (self.at(t_ns + side, position).get(number) for side in (-ASIDE_NS, ASIDE_NS))
        return None if before is None or after is None else (after - before) / (2e-9 * ASIDE_NS)


@dataclass(slots=True)
class TrackScore:
    """Of one tracker in one flight, in sums that can be added to those of other flights."""

    mot: ClearMot = field(default_factory=lambda: ClearMot(REACH))
    squared_position: float = 0.0
    squared_speed: float = 0.0
    speeds: int = 0
    people: set[int] = field(default_factory=set)
    followed: set[int] = field(default_factory=set)

    def plain(self) -> dict[str, Any]:
        mot = self.mot
        return {
            "people": len(self.people),
            "people_followed": len(self.followed),
            "objects": mot.objects,
            "matches": mot.matches,
            "misses": mot.misses,
            "false": mot.false,
            "switches": mot.switches,
            "recall": _finite(mot.recall),
            "precision": _finite(mot.precision),
            "mota": _finite(mot.mota),
            "position_rms_m": _root(self.squared_position, mot.matches),
            "velocity_rms_m_s": _root(self.squared_speed, self.speeds),
            "speeds": self.speeds,
        }


def _root(squares: float, count: int) -> float | None:
    return float(np.sqrt(squares / count)) if count else None


def track_scores(log: VehiclePeople, world: WorldView, seen: Seen = lambda *_: None) -> dict[str, TrackScore]:
    """By stream of tracks. A person counts while their label counts and they are within the radar's range.

    `seen` is called with every instant and stream: who had to be found where, and who has which track."""
    range_ = USUAL_RANGE if log.range is None else IN_RANGE * log.range
    people, scores = TruePeople(world), {stream: TrackScore() for stream in log.tracks}
    for instants in list(log.instants.values())[:1]:
        start = float(instants[0].position[2])
        for instant in instants:
            if instant.position[2] - start < LEAST_CLIMB:
                continue
            now = people.at(instant.t_ns, instant.position)
            must = {label.instance for label in instant.labels if counts(label) and label.distance <= range_}
            objects = {number: now[number] for number in sorted(must) if number in now}
            for stream, score in scores.items():
                seen(instant, stream, objects, _judged(score, instant, stream, objects, people, range_))
    return scores


def _judged(
    score: TrackScore, instant: PeopleInstant, stream: str, objects: dict[int, Array], people: TruePeople, range_: float
) -> dict[int, int]:
    said = instant.said.get(stream)
    tracks: dict[int, Array] = {}
    velocities: dict[int, Array] = {}
    if said is not None:
        for number, position, velocity in zip(said.ids, said.positions, said.velocities, strict=True):
            if float(np.linalg.norm(position - instant.position)) <= range_:
                tracks[number], velocities[number] = position, velocity
    now = people.at(instant.t_ns, instant.position)
    others = {number: position for number, position in now.items() if number not in objects}
    pairs = score.mot.add(objects, tracks, others)
    score.people |= set(objects)
    score.followed |= set(pairs)
    for person, number in pairs.items():
        score.squared_position += float(np.sum((tracks[number] - now[person]) ** 2))
        true = people.velocity(person, instant.t_ns, instant.position)
        if true is not None:
            score.squared_speed += float(np.sum((velocities[number] - true) ** 2))
            score.speeds += 1
    return pairs
