"""What a run shows of people: how good boxes and tracks were, and a map of where they were and where they were seen."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop import Scenario
from skyloop.core.bus import Bus
from skyloop.recording.flight_plot import COLOURS, INK, REFERENCE, saved_figure
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.people.people_scores import box_scores, track_scores
from skyloop_autonomy.reports.people_log import PeopleInstant, PeopleLog
from skyloop_client.messages import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MAPS = 4
"""Trackers in one picture."""
MARGIN = 3.0
"""m around everything."""


@dataclass(slots=True)
class PeopleMap:
    """Of one tracker."""

    flown: list[Array] = field(default_factory=list)
    true: dict[int, list[Array]] = field(default_factory=dict)
    """By person: the positions where they had to be found."""
    right: dict[int, list[Array]] = field(default_factory=dict)
    """By track: positions where it was a person's."""

    def add(self, instant: PeopleInstant, stream: str, objects: dict[int, Array], pairs: dict[int, int]) -> None:
        self.flown.append(instant.position)
        for person, position in objects.items():
            self.true.setdefault(person, []).append(position)
        said = instant.said.get(stream)
        if said is None:
            return
        owned = set(pairs.values())
        for number, position in zip(said.ids, said.positions, strict=True):
            if number in owned:
                self.right.setdefault(number, []).append(position)


def draw_people(path: Path, title: str, maps: dict[str, PeopleMap], scores: dict[str, Any]) -> None:
    shown = dict(list(maps.items())[:MOST_MAPS])
    with saved_figure(path, title, (1.0 + 6.4 * len(shown), 7.2)) as figure:
        for axis, (stream, seen) in zip(np.atleast_1d(figure.subplots(1, len(shown))), shown.items(), strict=True):
            _draw(axis, seen)
            axis.set_title(f"{stream}: {_in_words(scores[stream])}", fontsize=9)


def _in_words(score: dict[str, Any]) -> str:
    if score["recall"] is None:
        return "nobody was in range"
    off = "" if score["position_rms_m"] is None else f", {score['position_rms_m']:.2f} m off"
    return f"recall {score['recall']:.2f}, MOTA {score['mota']:.2f}{off}, {score['switches']} switches"


def _draw(axis: Axes, seen: PeopleMap) -> None:
    flown = np.array(seen.flown).reshape(-1, 3)
    axis.plot(flown[:, 0], flown[:, 1], color=INK, lw=1.0, ls="--", label="vehicle")
    for k, positions in enumerate(seen.true.values()):
        there = np.array(positions)
        label = "people in view and in range" if k == 0 else None
        axis.plot(there[:, 0], there[:, 1], ".", color=REFERENCE, ms=7.0, label=label)
    for k, (number, positions) in enumerate(sorted(seen.right.items())):
        there = np.array(positions)
        colour = COLOURS[number % len(COLOURS)]
        axis.plot(there[:, 0], there[:, 1], ".", color=colour, ms=2.5, label="tracks, by number" if k == 0 else None)
        axis.annotate(str(number), (there[-1, 0], there[-1, 1]), color=colour, fontsize=7)
    everything = np.vstack([flown[:, :2], *(np.array(p)[:, :2] for p in seen.true.values())])
    low, high = everything.min(axis=0) - MARGIN, everything.max(axis=0) + MARGIN
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="east [m]", ylabel="north [m]")
    axis.set_aspect("equal")
    axis.legend(loc="upper left", bbox_to_anchor=(0.0, -0.08), ncols=3, fontsize=8, edgecolor="none")


def _keep(
    maps: dict[str, PeopleMap], instant: PeopleInstant, stream: str, objects: dict[int, Array], pairs: dict[int, int]
) -> None:
    maps[stream].add(instant, stream, objects, pairs)


class PeopleReport:
    """Listens during a run, and afterwards adds to its summary and draws."""

    def __init__(self, bus: Bus, world: WorldView, scenario: Scenario, folder: Path) -> None:
        self._world, self._scenario, self._folder = world, scenario, folder
        self._log = PeopleLog(bus, {vehicle.name: vehicle.state for vehicle in scenario.vehicles})

    def finish(self, summary: dict[str, Any]) -> None:
        for name, log in self._log.vehicles.items():
            boxes = box_scores(log)
            maps: defaultdict[str, PeopleMap] = defaultdict(PeopleMap)
            scores = track_scores(log, self._world, partial(_keep, maps))
            tracks = {stream: score.plain() for stream, score in scores.items()}
            if boxes or tracks:
                summary["vehicles"][name]["people"] = {"boxes": boxes, "tracks": tracks}
            # in the order of the streams, however many have anything to show
            drawn = {stream: maps[stream] for stream in log.tracks if stream in maps}
            if drawn:
                title = f"{self._scenario.name} (seed {self._scenario.seed}): people around {name}"
                draw_people(self._folder / f"people-{name}.png", title, drawn, tracks)
