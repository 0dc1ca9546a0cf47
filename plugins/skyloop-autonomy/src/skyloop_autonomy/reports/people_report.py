"""What a run tells of people: how good boxes and tracks were, and a map of where they were and where they were seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyloop.core.bus import Bus
from skyloop.sim.scenario import Scenario
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.people.people_scores import box_scores, track_scores
from skyloop_autonomy.reports.people_log import PeopleInstant, PeopleLog
from skyloop_autonomy.reports.people_pictures import PeopleMap, draw_people
from skyloop_client.messages import Array


class PeopleReport:
    """Listens during a run, and afterwards adds to its summary and draws."""

    def __init__(self, bus: Bus, world: WorldView, scenario: Scenario, folder: Path) -> None:
        self._world, self._scenario, self._folder = world, scenario, folder
        self._log = PeopleLog(bus, {vehicle.name: vehicle.state for vehicle in scenario.vehicles})

    def finish(self, summary: dict[str, Any]) -> None:
        for name, log in self._log.vehicles.items():
            boxes = box_scores(log)
            maps: dict[str, PeopleMap] = {stream: PeopleMap() for stream in log.tracks}

            def keep(
                instant: PeopleInstant,
                stream: str,
                objects: dict[int, Array],
                pairs: dict[int, int],
                maps: dict[str, PeopleMap] = maps,
            ) -> None:
                maps[stream].add(instant, stream, objects, pairs)

            tracks = {stream: score.plain() for stream, score in track_scores(log, self._world, keep).items()}
            if boxes or tracks:
                summary["vehicles"][name]["people"] = {"boxes": boxes, "tracks": tracks}
            if any(seen.flown for seen in maps.values()):
                title = f"{self._scenario.name} (seed {self._scenario.seed}): people around {name}"
                drawn = {stream: seen for stream, seen in maps.items() if seen.flown}
                draw_people(self._folder / f"people-{name}.png", title, drawn, tracks)
