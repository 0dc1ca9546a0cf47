"""Detectors and people trackers of a run against the truth: precision, recall, AP50; position, speed, CLEAR MOT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyloop.core.boxes import BoxScore
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.people.clear_mot import ClearMot
from skyloop_autonomy.reports.people_log import PeopleInstant, VehiclePeople
from skyloop_client.messages import Array, Label

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
            "precision": _told(precision),
            "recall": _told(recall),
            "ap50": _told(score.ap50),
            "delay_ms_mean": 1e-6 * float(np.mean(log.arrived_ns[stream])),
        }
    return out


def _edges(label: Label) -> tuple[float, float, float, float]:
    left, top, right, bottom = label.box_px
    return left, top, right + 1.0, bottom + 1.0


def _told(value: float) -> float | None:
    """JSON has no NaN."""
    return None if np.isnan(value) else float(value)


class TruePeople:
    """Where everybody near a vehicle was, looked up once for each instant."""

    def __init__(self, world: WorldView) -> None:
        self._world = world
        self._kept: dict[int, dict[int, Array]] = {}

    def at(self, t_ns: int, place: Array) -> dict[int, Array]:
        if t_ns not in self._kept:
            self._kept[t_ns] = self._world.middles_near(PERSON, t_ns * 1e-9, place, AROUND)
        return self._kept[t_ns]

    def velocity(self, number: int, t_ns: int, place: Array) -> Array | None:
        before, after = (self.at(t_ns + side, place).get(number) for side in (-ASIDE_NS, ASIDE_NS))
        return None if before is None or after is None else (after - before) / (2e-9 * ASIDE_NS)


@dataclass(slots=True)
class TrackScore:
    """Of one tracker in one flight, in sums that can be added to those of other flights."""

    mot: ClearMot = field(default_factory=lambda: ClearMot(REACH))
    squared_place: float = 0.0
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
            "recall": _told(mot.recall),
            "precision": _told(mot.precision),
            "mota": _told(mot.mota),
            "position_rms_m": _root(self.squared_place, mot.matches),
            "velocity_rms_m_s": _root(self.squared_speed, self.speeds),
            "speeds": self.speeds,
        }


def _root(squares: float, count: int) -> float | None:
    return float(np.sqrt(squares / count)) if count else None


def track_scores(log: VehiclePeople, world: WorldView, seen: Seen = lambda *_: None) -> dict[str, TrackScore]:
    """By stream of tracks. A person counts while their label counts and they are within the radar's range.

    `seen` is told of every instant and stream: who had to be found where, and who has which track."""
    range_ = USUAL_RANGE if log.range is None else IN_RANGE * log.range
    people, scores = TruePeople(world), {stream: TrackScore() for stream in log.tracks}
    for instants in list(log.instants.values())[:1]:
        start = float(instants[0].place[2])
        for instant in instants:
            if instant.place[2] - start < LEAST_CLIMB:
                continue
            now = people.at(instant.t_ns, instant.place)
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
        for number, place, velocity in zip(said.ids, said.places, said.velocities, strict=True):
            if float(np.linalg.norm(place - instant.place)) <= range_:
                tracks[number], velocities[number] = place, velocity
    now = people.at(instant.t_ns, instant.place)
    others = {number: place for number, place in now.items() if number not in objects}
    pairs = score.mot.add(objects, tracks, others)
    score.people |= set(objects)
    score.followed |= set(pairs)
    for person, number in pairs.items():
        score.squared_place += float(np.sum((tracks[number] - now[person]) ** 2))
        true = people.velocity(person, instant.t_ns, instant.place)
        if true is not None:
            score.squared_speed += float(np.sum((velocities[number] - true) ** 2))
            score.speeds += 1
    return pairs
