"""The people tracker on scenes with known answers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from people_scenes import CAMERA, RADAR, STATE, Scene, followed, setup

from skyloop_autonomy.people.carrier import Carrier, CarrierHistory
from skyloop_autonomy.people.config import TrackerConfig
from skyloop_autonomy.people.people_tracker import PeopleTracker, depth_of, moving_points
from skyloop_autonomy.people.sightings import CameraMeasurements, RadarMeasurements, Sighting
from skyloop_client.errors import PartError, ScenarioError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, Message, Movers

WALKER = (np.array([12.0, 1.0, 0.86]), np.array([-0.8, 0.2, 0.0]))
OTHER = (np.array([10.0, -2.0, 0.86]), np.array([0.3, 0.6, 0.0]))
CONFIG = TrackerConfig()


def sensors() -> tuple[CameraMeasurements, RadarMeasurements]:
    camera = CameraMeasurements(CAMERA, CONFIG.camera, CONFIG.person)
    return camera, RadarMeasurements(RADAR, CONFIG.radar, CONFIG.person)


def off(scene: Scene, said: Movers, k: int = 0) -> tuple[float, float]:
    """m and m/s from the nearest track to person k, by what the vehicle believes of itself."""
    position, velocity = scene.people[k]
    true = position + said.t_ns * 1e-9 * velocity + scene.off
    nearest = int(np.argmin(np.linalg.norm(said.positions - true, axis=1)))
    return (
        float(np.linalg.norm(said.positions[nearest] - true)),
        float(np.linalg.norm(said.velocities[nearest] - velocity)),
    )


def slopes_by_differences(sighting: Sighting, state: Array) -> Array:
    steps = 1e-6 * np.eye(7)
    return np.column_stack([
        (sighting.expect(state + step)[0] - sighting.expect(state - step)[0]) / 2e-6 for step in steps
    ])  # fmt: skip


def test_slopes_are_those_of_differences() -> None:
    carrier = Carrier.of(Scene([WALKER]).estimate(1.0))
    state = np.array([7.0, 1.2, -2.4, -0.7, 0.3, 0.05, 1.8])
    camera, radar = sensors()
    box = np.array([150.0, 90.0, 162.0, 130.0])
    for sighting in (
        camera.sighting(box, carrier),
        camera.sighting(box, carrier, depth=6.0),
        radar.sighting(np.array([7.0, -1.5, 0.1, -0.2]), carrier),
    ):
        assert sighting.expect(state)[1] == pytest.approx(slopes_by_differences(sighting, state), abs=1e-5)


def test_an_uncertain_attitude_makes_a_measurement_uncertain_and_a_position_does_not() -> None:
    """A turn by 0.02 rad moves a pixel by 0.02 f, and the person is as far away as before."""
    camera, _ = sensors()
    state, box = np.array([8.0, 0.0, -2.1, 0.0, 0.0, 0.0, 1.72]), np.array([155.0, 100.0, 165.0, 140.0])
    spreads = []
    for sd in (0.0, 0.02):
        carrier = Carrier.of(Scene([WALKER], attitude_sd=sd).estimate(1.0))
        spreads.append(camera.sighting(box, carrier).innovation(state)[2][0, 0])
    f = float(CAMERA.details["fx"])
    assert np.sqrt(spreads[1] - spreads[0]) == pytest.approx(0.02 * f, rel=0.15)


def test_two_people_are_followed_under_numbers_that_stay() -> None:
    scene = Scene([WALKER, OTHER])
    _, said = followed(scene, "camera", "radar")
    assert len(said.ids) == 2 and len(set(said.ids.tolist())) == 2
    for k in range(2):
        position, speed = off(scene, said, k)
        assert position < 0.35 and speed < 0.35
    sigmas = np.sqrt([np.diagonal(each)[:3] - 0.3**2 for each in said.covariances])
    assert 0.02 < sigmas[:, :2].max() < 0.5, "it knows how well it knows them, besides the vehicle's 0.3 m"
    _, more = followed(scene, "camera", "radar", seconds=4.4)
    assert set(more.ids.tolist()) == set(said.ids.tolist())


def test_both_sensors_are_better_than_either_alone() -> None:
    """Of somebody taller than usual, whom the camera alone takes to be nearer."""
    errors = {}
    for sensors in (("camera",), ("radar",), ("camera", "radar")):
        scenes = [Scene([WALKER], tall=1.88, seed=seed) for seed in range(6)]
        found = [off(scene, followed(scene, *sensors)[1]) for scene in scenes]
        errors[sensors] = np.sqrt(np.mean(np.square(found), axis=0))
    both = errors["camera", "radar"]
    assert (both < errors["camera",]).all() and (both < errors["radar",]).all(), errors


def test_the_error_of_the_vehicles_own_position_moves_nobody() -> None:
    """5 m off: people are off by the same 5 m in the world, and no more."""
    near = off(scene := Scene([WALKER]), followed(scene, "camera", "radar")[1])
    far = off(scene := Scene([WALKER], off=np.array([5.0, -3.0, 1.0])), followed(scene, "camera", "radar")[1])
    assert far == pytest.approx(near, abs=1e-6)


def test_boxes_that_come_late_are_used_for_when_they_were_taken() -> None:
    scene = Scene([WALKER])
    _, said = followed(scene, "camera", "radar", late=0.3)
    assert off(scene, said)[0] < 0.4, "0.3 s at 1.8 m/s would be 0.54 m"


def test_the_ground_is_nobody() -> None:
    """Neither as it is, nor as echoes from beyond the radar's range."""
    scene = Scene([])
    _, said = followed(scene, "radar")
    assert len(said.ids) == 0
    history = CarrierHistory()
    history.add(scene.estimate(1.0))
    carrier, found = history.at(1_000_000_000), scene.points(1.0)
    assert carrier is not None and len(found.ranges) == 5
    assert len(moving_points(found, sensors()[1], carrier, CONFIG.radar)) == 0
    moving = Scene([WALKER]).points(1.0)
    assert len(moving_points(moving, sensors()[1], carrier, CONFIG.radar)) == 1


def test_nobody_behind_a_sensor_is_measured_by_it() -> None:
    camera, radar = sensors()
    carrier = Carrier.of(Scene([WALKER]).estimate(1.0))
    behind = np.array([-5.0, 0.0, -2.0, 0.0, 0.0, 0.0, 1.72])
    assert not camera.sighting(np.array([150.0, 90.0, 162.0, 130.0]), carrier).possible(behind)
    assert not radar.sighting(np.array([5.0, -1.0, 0.0, 0.0]), carrier).possible(behind)
    assert not camera.sees(behind, carrier) and not radar.sees(behind, carrier)


def test_somebody_who_is_gone_is_forgotten() -> None:
    scene = Scene([WALKER])
    tracker, said = followed(scene, "camera", seconds=2.0)
    assert len(said.ids) == 1
    for t in np.arange(2.0, 3.2, 0.1):
        for record in (scene.estimate(float(t)), Scene([]).boxes(float(t))):
            tracker.on_message(sent(record))
    assert tracker.tracker.tracks == []


def sent(record: Any) -> Message:
    return Message("x", 0, record.t_ns, record.t_ns, record)


def test_a_copy_goes_on_as_the_tracker_does() -> None:
    scene = Scene([WALKER, OTHER])
    tracker, _ = followed(scene, "camera", "radar", seconds=2.0)
    other = copy.deepcopy(tracker)
    said = []
    for each in (tracker, other):
        again = Scene([WALKER, OTHER], seed=5)
        each.on_message(sent(again.estimate(2.02)))
        said.append(each.on_message(sent(again.boxes(2.02)))[0][1])
    assert said[0].positions.tobytes() == said[1].positions.tobytes()
    assert said[0].ids.tolist() == said[1].ids.tolist()


def test_depth_is_that_of_the_person_and_not_of_what_is_behind() -> None:
    depth = np.full((60, 80), 20.0, np.float32)
    depth[20:50, 30:40] = 6.0
    depth[25:27, 30:40] = 0.0
    box = np.array([112.0, 72.0, 168.0, 208.0])
    assert depth_of(depth, box, (240, 320)) == pytest.approx(6.0)
    assert depth_of(np.zeros((60, 80), np.float32), box, (240, 320)) is None


def test_a_tracker_without_what_it_needs_says_so() -> None:
    with pytest.raises(PartError, match="put `state` under inputs"):
        PeopleTracker(EstimatorSetup("drone", "people", {"radar/detections": RADAR}, setup().start))
    with pytest.raises(PartError, match="nothing to track people with"):
        PeopleTracker(EstimatorSetup("drone", "people", {"state": STATE}, setup().start))
    with pytest.raises(PartError, match="the one camera they come from"):
        infos = {name: info for name, info in setup("camera").infos.items() if name != "front"}
        PeopleTracker(EstimatorSetup("drone", "people", infos, setup().start))
    with pytest.raises(ScenarioError, match=r"drone\.estimators\.people\.options.*gate"):
        PeopleTracker(setup("camera"), gate=1.5)
