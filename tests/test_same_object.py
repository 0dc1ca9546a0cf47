"""What a vehicle sees, ranges and hits is one thing at one place and time.

Of every flight (see same_object_flights) these are compared, in SI units with 5 mm everywhere:

- the event's place lies on a triangle of the event's thing where that is at the event's instant, and, within a step
  of physics, on the hull of the vehicle as it flies;
- the event comes no later than two steps after rays along the paths of all points of the hull say;
- a ray from the sensors to that place, carried back with the thing (actors move) to the stamp of image and sweep,
  meets the same thing at that distance;
- the pixel nearest to that place shows the same thing at the depth of the ray through the pixel's centre. At an edge
  the centre may miss the thing: then the nearest of the eight pixels around whose ray meets it is taken;
- the beam of the LiDAR sweep that ends nearest to that place returned from the same thing;
- all over the image, 99.8 % of the pixels show the thing and the depth that a ray through their centre meets; what is
  left are edges, which either may miss by a hair, and neighbours that share a face, as two fences at their corner.

A flight whose place was hidden from the camera at the stamp, out of the picture, or thinner than a pixel, is flown anew
at another surface and counted. The ground is met by legs and body only, not by rotors.
"""

from __future__ import annotations

import pytest

from same_object_flights import Flights
from skyloop.world.world import WORLDS

QUICK = [
    "blocks",
    "room",
    "corridor",
    "house",
    "landing",
    "radar-lab",
    "park",
    "forest",
    "urban",
    "urban-walls",
    "warehouse",
]


def check(world: str, seed: int, count: int, actors: int) -> None:
    flights = Flights(world, seed)
    try:
        flown = [flights.fly(bool(flights.actors) and k < actors) for k in range(count)]
    finally:
        flights.close()
    wrong = {f"{flight.target} -> {flight.hit}": flight.faults() for flight in flown if flight.faults()}
    assert not wrong
    if flights.actors:
        assert sum(flight.is_actor for flight in flown) >= min(2, actors)
    assert flights.skipped <= count


@pytest.mark.parametrize("world", QUICK)
def test_sees_ranges_and_hits_the_same(world: str) -> None:
    check(world, 3, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("world", WORLDS)
def test_sees_ranges_and_hits_the_same_on_ten_seeds(world: str, seed: int) -> None:
    check(world, seed, 10, 3)
