from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from painted_world import PERIOD_S, PaintedScene, Tumbling, moving, shape
from skyloop.core.frames import quat_from_euler
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.sensors.optical_flow import OpticalFlow, OpticalFlowConfig
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model

pytestmark = pytest.mark.renders

KEY = stream_key(3, "drone/flow")
DOWN = Rotation.from_euler("Y", 90.0, degrees=True)


@pytest.fixture(scope="module")
def scene() -> Iterator[PaintedScene]:
    """Grass; a black, textureless square in the west; in the south a conveyor that moves east."""
    model = Model()
    model.place(shape(quad((-60, -60, 0), (60, -60, 0), (60, 60, 0), (-60, 60, 0), material="grass")), is_a="ground")
    model.place(shape(box((10, 10, 0.2), colour=(0, 0, 0))), (-40.0, 0.0, 0.0), is_a="ground")
    belt = Tumbling((0.0, -40.0, 0.0), (1.5, 0.0, 0.0), (0.0, 0.0, 0.0))
    model.add_mover(belt, [shape(box((20.0, 10.0, 1.0), material="grass"))], is_a="object")
    painted = PaintedScene(model)
    yield painted
    painted.close()


def looking_down(t_ns=0, position=(0.0, 0.0, 2.0), body_deg=(0.0, 0.0, 0.0), velocity=(0, 0, 0), body_rates=(0, 0, 0)):
    """Kinematics of a mount with rotation_deg (0, 90, 0) on a body with this motion."""
    body = Rotation.from_quat(np.roll(quat_from_euler(*np.radians(body_deg)), -1))
    still = moving(t_ns, position, velocity=velocity)
    return replace(
        still,
        quat_wxyz=np.roll((body * DOWN).as_quat(), 1),
        angular_velocity=DOWN.inv().apply(np.array(body_rates, float)),
    )


def flown(scene, n: int = 2, sensor_options=None, **motion):
    """Samples along a straight path at constant rates."""
    sensor = OpticalFlow(OpticalFlowConfig(**{"preset": "perfect", **(sensor_options or {})}), PERIOD_S)
    state, samples = sensor.initial_state(KeyedRandom(KEY, 0)), []
    first = looking_down(**motion)
    for k in range(n):
        dt = k * PERIOD_S
        turn = Rotation.from_quat(np.roll(first.quat_wxyz, -1)) * Rotation.from_rotvec(dt * first.angular_velocity)
        now = replace(
            first,
            t_ns=round(dt * 1e9),
            position=first.position + dt * first.velocity_world,
            quat_wxyz=np.roll(turn.as_quat(), 1),
        )
        sample, state = sensor.measure(now, scene, state, KeyedRandom(KEY, k))
        samples.append(sample)
    return samples


def body_velocity(sample) -> np.ndarray:
    """(2,) forward and right, as MAVLink's axes have it."""
    time = sample.integration_time_us * 1e-6
    gyro_x, gyro_y, _ = sample.integrated_gyro
    return np.array([sample.integrated_y - gyro_y, -(sample.integrated_x - gyro_x)]) * sample.distance / time


@pytest.mark.parametrize("height", [1.0, 5.0])
@pytest.mark.parametrize("body_rates", [(0.0, 0.0, 0.0), (0.5, -0.4, 1.0)])
def test_velocity_over_ground_within_three_percent(scene, height: float, body_rates) -> None:
    velocity = (1.2, 0.7, 0.0)
    sample = flown(scene, position=(2.0, 3.0, height), velocity=velocity, body_rates=body_rates)[-1]
    assert sample.integration_time_us == 50_000
    # within the interval the heading turns by up to 0.05 rad
    middle = Rotation.from_rotvec(0.5 * PERIOD_S * np.array(body_rates)).inv().apply(velocity)
    assert body_velocity(sample) == pytest.approx([middle[0], -middle[1]], abs=0.03 * np.hypot(*velocity[:2]))
    assert sample.quality > 200


def test_signs_are_those_of_mavlink(scene) -> None:
    ahead = flown(scene, velocity=(1.0, 0.0, 0.0))[-1]
    assert ahead.integrated_y == pytest.approx(0.5 * PERIOD_S, rel=0.01), "moving along +x: positive about y"
    assert ahead.integrated_x == pytest.approx(0.0, abs=1e-4)
    right = flown(scene, velocity=(0.0, -1.0, 0.0))[-1]
    assert right.integrated_x == pytest.approx(-0.5 * PERIOD_S, rel=0.01), "moving along +y: negative about x"
    rolling = flown(scene, body_rates=(0.4, 0.0, 0.0))[-1]
    assert rolling.integrated_x == pytest.approx(0.4 * PERIOD_S, rel=0.01)
    assert rolling.integrated_gyro == pytest.approx([0.4 * PERIOD_S, 0.0, 0.0], abs=1e-9)
    nose_up = flown(scene, body_rates=(0.0, -0.4, 0.0))[-1]
    assert nose_up.integrated_y == pytest.approx(0.4 * PERIOD_S, rel=0.01), "nose up is positive about right"
    assert nose_up.integrated_gyro == pytest.approx([0.0, 0.4 * PERIOD_S, 0.0], abs=1e-9)
    clockwise = flown(scene, body_rates=(0.0, 0.0, -0.4))[-1]
    assert clockwise.integrated_gyro == pytest.approx([0.0, 0.0, 0.4 * PERIOD_S], abs=1e-9)


def test_distance_is_along_the_line_of_sight(scene) -> None:
    level, tilted = (flown(scene, body_deg=(0.0, pitch, 0.0))[-1] for pitch in (0.0, 20.0))
    assert level.distance == pytest.approx(2.0, abs=2e-3)
    assert tilted.distance == pytest.approx(2.0 / math.cos(math.radians(20.0)), abs=4e-3)
    upwards = flown(scene, body_deg=(180.0, 0.0, 0.0))[-1]
    assert upwards.distance == -1.0
    assert flown(scene, sensor_options={"max_range": 1.5})[-1].distance == -1.0


def test_the_first_sample_has_nothing_to_compare_with(scene) -> None:
    first = flown(scene, velocity=(1.0, 0.0, 0.0))[0]
    assert (first.integration_time_us, first.quality, first.integrated_y) == (0, 0, 0.0)


def test_what_moves_below_is_seen_to_move(scene) -> None:
    sample = flown(scene, position=(0.0, -40.0, 2.5))[-1]
    assert body_velocity(sample) == pytest.approx([-1.5, 0.0], abs=0.03)


def test_without_texture_there_is_no_flow(scene) -> None:
    sample = flown(
        scene, sensor_options={"texture_threshold": 3.0}, position=(-40.0, 0.0, 2.0), velocity=(1.0, 0.0, 0.0)
    )[-1]
    assert (sample.quality, sample.integrated_x, sample.integrated_y) == (0, 0.0, 0.0)
    over_grass: dict[str, Any] = {"position": (0.0, 0.0, 1.0), "velocity": (1.0, 0.0, 0.0)}
    qualities = [flown(scene, sensor_options={"texture_threshold": t}, **over_grass)[-1].quality for t in (1.0, 80.0)]
    assert qualities[0] > qualities[1]


def test_too_fast_is_not_seen(scene) -> None:
    options = {"max_flow_rate": 1.0}
    assert flown(scene, sensor_options=options, velocity=(1.8, 0.0, 0.0))[-1].quality > 0
    assert flown(scene, sensor_options=options, velocity=(2.2, 0.0, 0.0))[-1].quality == 0


def test_noise(scene) -> None:
    noise_sd, gyro_noise_sd = 0.05, 0.02
    options = {"noise_sd": noise_sd, "gyro_noise_sd": gyro_noise_sd, "size_px": 16}
    samples = flown(scene, 250, options, position=(0.0, 0.0, 1.5))[1:]
    grain = math.sqrt(255.0 / samples[0].quality)
    flow = np.array([[s.integrated_x, s.integrated_y] for s in samples]) / PERIOD_S
    gyro = np.array([s.integrated_gyro for s in samples]) / PERIOD_S
    assert flow.std() == pytest.approx(noise_sd * grain, rel=0.1)
    assert gyro.std() == pytest.approx(gyro_noise_sd, rel=0.1)


def test_faults_and_details(scene) -> None:
    sensor = OpticalFlow(OpticalFlowConfig(), PERIOD_S)
    fault = Fault(kind="bias", value=0.1, field="integrated_y")
    check_faults([fault], sensor, "drone/flow")
    sample = flown(scene)[-1]
    disturbed, _, _ = apply_faults([fault], sensor, sample, None, KeyedRandom(KEY, 0))
    assert disturbed.integrated_y == pytest.approx(sample.integrated_y + 0.1)
    details = sensor.details()
    assert (details["preset"], details["size_px"], details["max_flow_rate"]) == ("px4flow", 64, 2.5)
