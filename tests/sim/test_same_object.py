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

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from same_object_flights import NIGHT, Flights, unit
from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat, quat_from_euler, quat_multiply
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.world.materials import MATERIALS
from skyloop.world.scene import WorldScene
from skyloop.world.semantics import CLASS_ID
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.world import WORLDS

pytestmark = pytest.mark.renders


def check(world: str, seed: int, count: int, actors: int) -> None:
    flights = Flights(world, seed)
    try:
        flown = [flights.fly(bool(flights.actors) and k < actors) for k in range(count)]
    finally:
        flights.close()
    wrong = {f"{flight.target} -> {flight.hit}": flight.faults() for flight in flown if flight.faults()}
    assert not wrong
    if flights.actors:
        # another thing may stand in the way of the other two
        assert any(flight.is_actor for flight in flown)
    assert flights.skipped <= count


def test_sees_ranges_and_hits_the_same() -> None:
    """Among walls, doors, furniture and people; the slow test flies in all worlds."""
    check("house", 3, 2, 1)


@pytest.mark.slow("a thousand flights")
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("world", WORLDS)
def test_sees_ranges_and_hits_the_same_on_ten_seeds(world: str, seed: int) -> None:
    check(world, seed, 10, 3)


@pytest.fixture(scope="module")
def park() -> Iterator[WorldScene]:
    """As a vehicle at home sees it."""
    vehicle = {"airframe": "iris", "position": [0.0, 0.0], "state": "truth"}
    with build(
        make_scenario({"seed": 1, "world": {"name": "park"}, "weather": NIGHT, "vehicles": [vehicle]})
    ) as simulation:
        part: Any = simulation.parts[0]
        yield part.scene.at(0, 0)


def looked_at(
    scene: WorldScene, eye: Any, pitch: float, yaw: float, quality: str, lens: Pinhole
) -> tuple[View, Any, Any]:
    """A picture, what rays through the centres of its pixels hit, and how many m farther each pixel is seen."""
    quat = quat_multiply(quat_from_euler(0.0, pitch, yaw), SENSOR_FROM_CAMERA)
    view = scene.view(ViewRequest(lens, ViewPose(0, np.asarray(eye, float), quat), quality))
    rays = lens.rays().reshape(-1, 3) @ matrix_from_quat(quat).T
    hits = scene.cast(np.tile(eye, (len(rays), 1)), unit(rays), 300.0, 0)
    with np.errstate(invalid="ignore"):
        return view, hits, view.distance.ravel() - hits.distance


@pytest.mark.slow("a flight through a forest")
def test_leaves_are_hit_where_they_are_seen(park: WorldScene) -> None:
    """At full detail, of all pixels in which camera or ray meet a tree's leaves, silhouettes and all, 99.8 % agree in
    thing, material and, within 5 mm, distance: no ray is stopped by what is not seen, and none slips through a leaf."""
    leaves = [k for k, material in enumerate(MATERIALS) if material.name in ("leaves", "needles")]
    model, lens = park.model, Pinhole.from_fov(96, 72, np.radians(50.0))
    trees = {}
    for row in np.flatnonzero(model.object_class[model.part_object[: model.n_standing]] == CLASS_ID["tree"]).tolist():
        trees[model.objects[model.part_object[row]].name.split()[0]] = row
    assert len(trees) >= 5
    agreeing = compared = 0
    for species, row in trees.items():
        pose, mesh = model.standing_poses[row], model.shapes[model.part_shape[row]].lods[0]
        top = float((mesh.positions @ pose[:, :3].T + pose[:, 3])[:, 2].max())
        crown = np.array([*pose[:2, 3], pose[2, 3] + 0.6 * (top - pose[2, 3])])
        # from above, so that few other trees are drawn
        view, hits, farther = looked_at(park, np.add(crown, (-6.0, 0.0, 6.0)), 0.8, 0.0, "cinematic", lens)
        met = np.where(hits.row >= 0, model.part_object[hits.row], 0)
        leafy = np.isin(hits.material, leaves) | np.isin(view.materials.ravel(), leaves)
        same = (met == view.instances.ravel()) & (hits.material == view.materials.ravel()) & (np.abs(farther) <= 5e-3)
        assert leafy.sum() > 360, species
        agreeing, compared = agreeing + int(same[leafy].sum()), compared + int(leafy.sum())
    print(f"{agreeing} of {compared} leafy pixels agree: {100.0 * agreeing / compared:.3f} %")
    assert agreeing >= 0.998 * compared


LOD_ERROR = {"ground": 0.15, "building": 0.4, "tree": 2.5}
"""m by which depth at quality `low` may be off 15 to 100 m away, for 95 % of the pixels."""


@pytest.mark.slow("draws a world in two qualities")
def test_depth_at_low_quality_is_within_the_stated_error(park: WorldScene) -> None:
    """Of pixels that show the thing a ray meets: exact within 8 m (bushes lose detail first), beyond 15 m as stated."""
    model, lens, chance = park.model, Pinhole.from_fov(160, 120, np.radians(90.0)), np.random.default_rng(5)
    errors: dict[str, list[Any]] = {kind: [] for kind in LOD_ERROR}
    near: list[Any] = []
    for _ in range(8):
        eye = np.array([*chance.uniform(-50.0, 50.0, 2), chance.choice([3.0, 8.0, 16.0])])
        view, hits, farther = looked_at(park, eye, chance.uniform(0.0, 0.4), chance.uniform(-3.0, 3.0), "low", lens)
        if hits.distance.min() < 0.3:
            continue  # cameras see nothing nearer than 5 cm
        row = np.maximum(hits.row, 0)
        kinds = {"ground": model.part_solid[row] == 0}
        kinds |= {kind: model.object_class[model.part_object[row]] == CLASS_ID[kind] for kind in ("building", "tree")}
        same = (hits.row >= 0) & (model.part_object[row] == view.instances.ravel())
        near.append(np.abs(farther[same & (hits.distance < 8.0)]))
        for kind, mine in kinds.items():
            errors[kind].append(np.abs(farther[same & mine & (hits.distance > 15.0) & (hits.distance < 100.0)]))
    assert np.mean(np.concatenate(near) < 5e-3) > 0.999
    for kind, bound in LOD_ERROR.items():
        found = np.concatenate(errors[kind])
        print(f"{kind}: {len(found)} pixels, 95 % within {1e3 * np.percentile(found, 95):.0f} mm")
        assert len(found) > 1250
        assert np.percentile(found, 95) <= bound
