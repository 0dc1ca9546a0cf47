"""The flight in JAX is that of the flight kernel, to 1e-9 in float64, for all setpoints and models of drag."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyloop.core.keyed_random import KeyedRandom
from skyloop.gym.actions import ActionMeaning
from skyloop.gym.course import Course
from skyloop.gym.tasks import TASKS
from skyloop.sim.simulation_port import FlightMemory
from skyloop.vehicle.fleet_kernels import advance
from skyloop.vehicle.kernel_packing import DRAG_CODES
from skyloop_client.errors import ScenarioError
from skyloop_jax import DeviceEnv
from skyloop_jax.advance import flown
from skyloop_jax.craft import craft_from
from skyloop_jax.environment import KINDS
from skyloop_jax.episodes import philox
from skyloop_jax.flight import flight_from, motion_of

pytestmark = pytest.mark.flights

VEHICLES = 32
"""A group of `advance.py`, so that there are few shapes of arrays."""
AIR: dict[str, Any] = {
    "ground_effect": 1.0,
    "translational_lift": 0.01,
    "axial_inflow": 1e-4,
    "parasitic": (0.02, 0.03, 0.04),
}


@pytest.fixture(autouse=True)
def double_precision() -> Any:
    """And nothing is compiled: few steps, of many kinds, are faster one operation at a time."""
    jax.config.update("jax_enable_x64", True)
    with jax.disable_jit():
        yield
    jax.config.update("jax_enable_x64", False)


class RandomFlights:
    """The kernels' memory of many vehicles in random states: fast, upside down, turning, some on the ground."""

    def __init__(self, airframe: str = "iris", physics_rate_hz: float = 500.0, **changes: Any) -> None:
        self.course = Course(TASKS["hover"], airframe, physics_rate_hz)
        with self.course.simulation() as simulation:
            one = simulation.port.flight_memory()
        for field, value in changes.items():
            (one.inputs if field == "wind_mean" else one.params)[field] = value
        self.period_s, self.ground = one.period_s, one.ground
        self.params, self.inputs, self.one = one.params, one.inputs, one.states
        random = np.random.default_rng(7)
        n = VEHICLES
        self.states = np.repeat(one.states, n)
        motion = self.states["motion"]
        motion[:, 0:2] = random.uniform(-5.0, 5.0, (n, 2))
        motion[:, 2] = np.where(np.arange(n) % 4 == 0, random.uniform(-0.02, 0.2, n), random.uniform(0.3, 30.0, n))
        motion[:, 3:6] = random.normal(0.0, 3.0, (n, 3))
        quat = random.normal(size=(n, 4)) + np.where(np.arange(n)[:, None] % 2 == 0, [4.0, 0.0, 0.0, 0.0], 0.0)
        motion[:, 6:10] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
        motion[:, 10:13] = random.normal(0.0, 2.0, (n, 3))
        # one about to touch with its legs, and one upside down that breaks
        motion[4] = (1.0, 2.0, 0.121, 0.5, 0.0, -3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        motion[8] = (2.0, 1.0, 0.111, 0.0, 0.0, -6.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        rotors = int(one.params["n_rotors"][0])
        self.states["rotor_speed"][:, :rotors] *= random.uniform(0.0, 1.5, (n, rotors))
        self.states["velocity_integral"] = random.normal(0.0, 1.0, (n, 3))
        self.states["rate_integral"] = random.normal(0.0, 1.0, (n, 3))
        self.states["rate_before"] = motion[:, 10:13] + random.normal(0.0, 0.1, (n, 3))
        self.states["controller_ran"] = self.states["saturated"] = np.arange(n) % 3 == 0
        self.states["yaw_target"] = random.uniform(-4.0, 4.0, n)

    @property
    def flight(self) -> FlightMemory:
        return FlightMemory(self.states, self.inputs, self.params, self.period_s, self.ground)


def differences(memory: RandomFlights, action: str, steps: int, *, contact: bool = False) -> dict[str, float]:
    """The largest difference of each part of the state after these steps, with random actions; 50 m up where contact
    with the ground, which is most of the work, is left out."""
    if not contact:
        memory.states["motion"][:, 2] += 50.0
    meaning = ActionMeaning(action, memory.params)
    numbers = np.random.default_rng(3).uniform(-1.0, 1.0, (VEHICLES, meaning.size))
    states, at = memory.states.copy(), memory.states["motion"][:, :3].copy()
    inputs, params = np.repeat(memory.inputs, VEHICLES), np.repeat(memory.params, VEHICLES)
    meaning.write(inputs, numbers, at)
    advance(states, inputs, params, memory.period_s, steps, memory.ground)

    env = object.__new__(DeviceEnv)
    env.meaning, env.craft = meaning, craft_from(memory.flight)
    if not contact:
        env.craft = dataclasses.replace(env.craft, n_contacts=0)
    wanted = env._setpoint(list(jnp.asarray(numbers.T)), list(jnp.asarray(at.T)))
    flight = flight_from(memory.states, env.craft, jnp.float64)
    flight = flown(env.craft, KINDS[action], flight, wanted, steps)
    rotors = int(memory.params["n_rotors"][0])
    pairs = {
        "motion": (motion_of(flight), states["motion"]),
        "rotor_speed": (np.stack(flight.rotor_speed, 1), states["rotor_speed"][:, :rotors]),
        "impact_speed": (flight.impact_speed, states["impact_speed"]),
        "legs_down": (flight.legs_down, states["legs_down"] > 0),
        "body_down": (flight.body_down, states["body_down"] > 0),
        "crashed": (flight.crashed, states["crashed"] > 0),
    }
    if action != "motors":
        pairs["rate_integral"] = (np.stack(flight.rate_integral, 1), states["rate_integral"])
    if action not in ("motors", "rates"):
        pairs["velocity_integral"] = (np.stack(flight.velocity_integral, 1), states["velocity_integral"])
    # a broken vehicle's controller rests in the kernel and goes on here; nothing reads it any more
    flies = states["crashed"] == 0
    assert flies.sum() > VEHICLES / 2
    kept = {name: flies if "integral" in name else slice(None) for name in pairs}
    gaps = {name: np.abs(np.asarray(a) * 1.0 - b)[kept[name]] for name, (a, b) in pairs.items()}
    return {name: float(gap.max()) for name, gap in gaps.items()}


def assert_close(found: dict[str, float]) -> None:
    # rotors turn at up to 3000 rad/s, all else is of the order of one
    assert all(value < (1e-7 if name == "rotor_speed" else 1e-9) for name, value in found.items()), found


@pytest.mark.parametrize("action", KINDS)
def test_every_setpoint(action: str) -> None:
    assert_close(differences(RandomFlights(), action, 1))


@pytest.mark.slow("contact is most of the work; test_device_environment has it, compiled")
def test_contact_with_the_ground() -> None:
    assert_close(differences(RandomFlights(), "motors", 1, contact=True))


@pytest.mark.parametrize("drag", DRAG_CODES)
def test_every_drag_model_and_correction_of_thrust(drag: str) -> None:
    memory = RandomFlights(drag_model=DRAG_CODES[drag], has_frame_drag=1, wind_mean=(3.0, -2.0, 0.5), **AIR)
    assert_close(differences(memory, "motors", 1))


@pytest.mark.parametrize(
    ("airframe", "rate", "changes"),
    [
        pytest.param("crazyflie", 250.0, {}, marks=pytest.mark.slow("another number of rotors compiles anew")),
        ("iris-d435", 1000.0, {}),
        ("iris", 500.0, {"lag_on_thrust": 1, "home_altitude": 12e3}),
    ],
)
def test_other_airframes_rates_and_motors(airframe: str, rate: float, changes: dict[str, Any]) -> None:
    memory = RandomFlights(airframe, rate, **changes)
    assert_close(differences(memory, "rates", 2))


def test_the_ground_is_felt() -> None:
    """The comparison above would say nothing about contact if no vehicle met the ground."""
    memory = RandomFlights()
    states, inputs = memory.states.copy(), np.repeat(memory.inputs, VEHICLES)
    advance(states, inputs, np.repeat(memory.params, VEHICLES), memory.period_s, 1, memory.ground)
    for field in ("legs_down", "body_down", "impact_speed", "crashed"):
        assert (states[field] > 0).any() and (states[field] == 0).any(), field


def test_random_words_are_those_of_the_simulator() -> None:
    key, index = 0x0123456789ABCDEF, 7
    a, b, c, d = (int(word) for word in philox(key & 0xFFFFFFFF, key >> 32, index, 0))
    expected = KeyedRandom(np.uint64(key), index).uniform(2)
    assert expected[0] == pytest.approx((a + (b + 0.5) / 2**32) / 2**32, abs=1e-18)
    assert expected[1] == pytest.approx((c + (d + 0.5) / 2**32) / 2**32, abs=1e-18)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"has_battery": 1}, "does not cover a battery;"),
        ({"gusts": 1, "n_wrenches": 2}, "does not cover gusts and scheduled forces;"),
        ({"n_rotor_faults": 1}, "rotor faults"),
        ({"control": 2}, "a controller other than 'cascade'"),
    ],
)
def test_what_is_not_covered_is_refused_in_one_line(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said) as caught:
        craft_from(RandomFlights(**changes).flight)
    assert "\n" not in str(caught.value)


def test_ground_that_is_not_level_is_refused() -> None:
    memory = RandomFlights()
    memory.ground = (np.array([[0.0, 1.0], [0.0, 0.0]]), *memory.ground[1:])
    with pytest.raises(ScenarioError, match="not level"):
        craft_from(memory.flight)


def test_an_environment_says_what_it_has_not() -> None:
    with pytest.raises(ScenarioError, match="task 'landing' does not exist in JAX; take hover or gate"):
        DeviceEnv("landing")
    with pytest.raises(ScenarioError, match="no action kind named 'rate'"):
        DeviceEnv("hover", action="rate")
    with pytest.raises(ScenarioError, match="dtype is 'float16'"):
        DeviceEnv("hover", dtype="float16")
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ScenarioError, match="JAX_ENABLE_X64=1"):
        DeviceEnv("hover", dtype="float64")
    with pytest.raises(ScenarioError, match="num_envs is 0"):
        DeviceEnv("hover").reset(1, 0)
