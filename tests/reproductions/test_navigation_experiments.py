"""The fifty missions and the flights through the unknown city, whole: hours, so that they can be stopped and go on.

`runs/slow/` in the checkout keeps what was flown, one folder for each state of the code, with a line for every flight
in `progress.txt`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skyloop.core.results import Result
from skyloop.reproductions import e2es_missions, unknown_city
from skyloop.reproductions.code_state import state_name

RUNS = Path(__file__).parents[2] / "runs" / "slow"
WORLDS = ("room", "corridor", "house", "warehouse", "with walkers")


def whole(reproduce: Callable[..., list[Result]]) -> dict[str, Result]:
    """What all flights gave, by cell."""
    folder = RUNS / f"{reproduce.__module__.rpartition('.')[2]}-{state_name(reproduce.__module__)}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "progress.txt").open("a", buffering=1, encoding="utf-8") as progress:
        results = reproduce(folder=folder, told=lambda line: progress.write(f"{line}\n"))
    return {result.cell: result for result in results}


@pytest.mark.slow("flies fifty missions")
def test_fifty_missions_reach_all_goals_without_a_collision() -> None:
    found = whole(e2es_missions.reproduce)
    reached = {
        world: (found[f"{world}: all goals reached"].measured, found[f"{world}: all goals reached"].n)
        for world in WORLDS
    }
    assert reached == dict.fromkeys(WORLDS, (10, 10))
    assert {world: found[f"{world}: collisions"].measured for world in WORLDS} == dict.fromkeys(WORLDS, 0)


@pytest.mark.slow("flies forty times through the city")
def test_twenty_flights_through_the_unknown_city_and_twenty_without_gnss() -> None:
    found = whole(unknown_city.reproduce)
    assert (found["with GNSS: goal reached"].measured, found["with GNSS: goal reached"].n) == (20, 20)
    assert found["without GNSS: goal reached"].measured >= 18 and found["without GNSS: goal reached"].n == 20
    assert [found[f"{how} GNSS: collisions"].measured for how in ("with", "without")] == [0, 0]
