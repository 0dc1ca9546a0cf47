"""One vehicle at a time: Gymnasium's own checker, seeds, actions, ends and pictures."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.passive_env_checker import env_render_passive_checker

import skyloop.gym
from skyloop.gym.episodes import BONUS, HEIGHT, LOST, OPENING
from skyloop.rendering.client import Renderer
from skyloop_client.errors import ScenarioError, SetpointError, SetupError, UnknownNameError

pytestmark = pytest.mark.flights

IDS = [f"skyloop/{name}-v0" for name in ("Hover", "Waypoint", "Gate", "Landing")]


@pytest.fixture(scope="module")
def hover() -> Any:
    env = skyloop.gym.SkyloopEnv("hover")
    yield env
    env.close()


def moved(env: Any, position: Any, velocity: Any = (0.0, 0.0, 0.0)) -> None:
    """Level, facing east, at rest but for a velocity; the task sees it as where the vehicle was at the last look."""
    state = env.states[0]
    state["motion"] = (*position, *velocity, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    state["yaw_target"] = 0.0
    env.episode[0]["position"] = position


@pytest.mark.parametrize("name", IDS)
def test_the_checker_is_content(name: str) -> None:
    # warnings are errors throughout the suite
    env = gymnasium.make(name)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.renders
def test_the_checker_is_content_with_images_and_pictures() -> None:
    env = gymnasium.make("skyloop/Landing-v0", observation="image", render_mode="rgb_array", picture_size=(48, 64))
    check_env(env.unwrapped, skip_render_check=True, skip_close_check=True)
    env_render_passive_checker(env.unwrapped)
    observation, _ = env.reset(seed=1)
    picture = env.render()
    assert observation["image"].shape == (64, 64, 3) and picture.shape == (48, 64, 3)
    # straight down from about 3 m: the white board of the pad stands out, and what is seen moves with the vehicle
    assert observation["image"].max() > 200 and observation["image"].std() > 10.0
    assert observation["state"].shape == (15,)
    later = env.step(np.zeros(4, np.float32))[0]["image"]
    assert (later != observation["image"]).any() and (env.render() != picture).any()
    again, _ = env.reset(seed=1)
    assert np.array_equal(again["image"], observation["image"])
    assert (env.render() == picture).all()
    env.close()
    env.close()


@pytest.mark.renders
def test_nothing_is_drawn_before_render(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    started: list[Any] = []
    render, start = Renderer.render, Renderer.__init__

    def counted(self: Renderer, views: Any, weather: Any) -> Any:
        drawn.extend(views)
        return render(self, views, weather)

    def noted(self: Renderer, *more: Any, **named: Any) -> None:
        started.append(self)
        start(self, *more, **named)

    monkeypatch.setattr(Renderer, "render", counted)
    monkeypatch.setattr(Renderer, "__init__", noted)
    env = gymnasium.make("skyloop/Hover-v0", render_mode="rgb_array", picture_size=(48, 64))
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.zeros(4, np.float32))
    assert (drawn, started) == ([], [])
    picture = env.render()
    assert len(drawn) == 1 and picture.shape == (48, 64, 3) and picture.std() > 5.0
    env.step(np.ones(4, np.float32))
    assert len(drawn) == 1
    assert (env.render() != picture).any() and len(drawn) == 2
    env.close()


def test_gymnasium_knows_the_time_limits() -> None:
    assert {name: gymnasium.spec(name).max_episode_steps for name in IDS} == dict(
        zip(IDS, (500, 1000, 500, 750), strict=True)
    )
    env = gymnasium.make("skyloop/Hover-v0", action="velocity", max_episode_steps=3)
    env.reset(seed=0)
    ends = [env.step(np.zeros(4, np.float32))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    env.close()


def test_a_seed_is_an_episode_bit_for_bit(hover: Any) -> None:
    other = skyloop.gym.SkyloopEnv("hover")
    actions = np.random.default_rng(3).uniform(-0.3, 0.3, (40, 4)).astype(np.float32)

    def flight(env: Any, seed: int) -> bytes:
        seen = [env.reset(seed=seed)[0], env.reset()[0]]
        seen += [env.step(action)[0] for action in actions]
        return b"".join(part.tobytes() for part in seen)

    first = flight(hover, 7)
    assert flight(hover, 7) == first == flight(other, 7)
    assert flight(hover, 8) != first
    second = [hover.reset(seed=7)[0], hover.reset()[0]]
    assert not np.array_equal(*second)
    assert not np.array_equal(skyloop.gym.SkyloopEnv("hover").reset()[0], skyloop.gym.SkyloopEnv("hover").reset()[0])


def test_what_is_observed_is_the_truth(hover: Any) -> None:
    observation, info = hover.reset(seed=11)
    for _ in range(20):
        observation, _, _, _, info = hover.step(np.array([0.1, 0.2, -0.1, 0.3], np.float32))
    truth = hover.simulation.truth()
    to_goal = np.array([0.0, 0.0, HEIGHT]) - truth.position
    w, x, y, z = truth.quat_wxyz
    body_x = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
    assert observation[0:3] == pytest.approx(to_goal, abs=1e-6)
    assert observation[3:6] == pytest.approx(truth.velocity_world, abs=1e-6)
    assert observation[6:15].reshape(3, 3)[:, 0] == pytest.approx(body_x, abs=1e-6)
    assert observation[15:18] == pytest.approx(truth.angular_velocity_body, abs=1e-6)
    assert info["distance"] == pytest.approx(np.linalg.norm(to_goal), abs=1e-12)


def test_hover_pays_for_being_near(hover: Any) -> None:
    hover.reset(seed=2)
    moved(hover, (0.0, 0.0, HEIGHT))
    _, near, ends, _, info = hover.step(np.zeros(4, np.float32))
    assert near == pytest.approx(1.0, abs=0.01) and not ends and info["is_success"]
    moved(hover, (1.0, 0.0, HEIGHT))
    assert hover.step(np.zeros(4, np.float32))[1] == pytest.approx(0.5, abs=0.02)
    moved(hover, (4.2, 0.0, HEIGHT))
    _, far, ends, truncated, info = hover.step(np.zeros(4, np.float32))
    assert far == pytest.approx(1.0 / (1.0 + 4.2**2) - LOST, abs=0.02) and (ends, truncated) == (True, False)
    assert not info["is_success"]


def test_zero_rates_hover_and_each_number_turns_its_axis(hover: Any) -> None:
    for k in range(3):
        hover.reset(seed=4)
        moved(hover, (0.0, 0.0, HEIGHT))
        action = np.zeros(4, np.float32)
        action[1 + k] = 0.2
        for _ in range(15):
            hover.step(action)
        rates = hover.simulation.truth().angular_velocity_body
        most = hover.params[0]["max_rate"]
        assert rates == pytest.approx(0.2 * most * (np.arange(3) == k), abs=0.08 * most[k])
    hover.reset(seed=4)
    moved(hover, (0.0, 0.0, HEIGHT))
    for _ in range(25):
        hover.step(np.zeros(4, np.float32))
    assert abs(hover.simulation.truth().velocity_world[2]) < 0.15


def test_velocity_and_motors() -> None:
    env = skyloop.gym.SkyloopEnv("hover", action="velocity")
    env.reset(seed=1)
    moved(env, (0.0, 0.0, HEIGHT))
    for _ in range(75):
        env.step(np.array([0.2, 0.1, -0.1, 0.0], np.float32))
    assert env.simulation.truth().velocity_world == pytest.approx([0.6, 0.3, -0.3], abs=0.08)
    env = skyloop.gym.SkyloopEnv("hover", action="motors")
    env.reset(seed=1)
    env.step(np.array([1.0, 0.0, -1.0, 5.0], np.float32))
    assert env.states[0]["command"][:4] == pytest.approx([1100.0, 550.0, 0.0, 1100.0])


@pytest.mark.parametrize(
    ("y", "z", "x", "passes"),
    [(0.0, HEIGHT, -0.05, True), (0.3, HEIGHT - 0.3, -0.05, True), (1.8, HEIGHT, -0.05, False),
     (OPENING, HEIGHT, -0.2, False)],
)  # fmt: skip
def test_gate(y: float, z: float, x: float, passes: bool) -> None:
    env = skyloop.gym.SkyloopEnv("gate")
    env.reset(seed=1)
    moved(env, (x, y, z), (5.0, 0.0, 0.0))
    env.episode[0]["distance"] = np.linalg.norm([x, y, z - HEIGHT])
    _, reward, ends, _, info = env.step(np.zeros(4, np.float32))
    assert ends and info["is_success"] == passes
    assert reward == pytest.approx(BONUS if passes else -LOST, abs=0.1)


def test_waypoints_follow_each_other() -> None:
    env = skyloop.gym.SkyloopEnv("waypoint")
    observation, info = env.reset(seed=9)
    for number in range(1, 5):
        goal, after = env.episode[0]["goal"].copy(), observation[18:21] - observation[0:3] + env.episode[0]["goal"]
        moved(env, goal)
        observation, reward, ends, _, info = env.step(np.zeros(4, np.float32))
        assert reward > 4.9 and info["reached"] == number
        assert env.episode[0]["goal"] == pytest.approx(after, abs=1e-5)
    assert ends and info["is_success"] and reward > 14.9


@pytest.mark.parametrize(("x", "speed", "lands"), [(0.2, 0.5, True), (0.2, 1.5, False), (0.9, 0.5, False)])
def test_landing(x: float, speed: float, lands: bool) -> None:
    env = skyloop.gym.SkyloopEnv("landing", action="velocity")
    env.reset(seed=1)
    moved(env, (x, 0.0, 0.4), (0.0, 0.0, -speed))
    for _ in range(50):
        _, reward, ends, _, info = env.step(np.array([0.0, 0.0, -speed / 3.0, 0.0], np.float32))
        if ends:
            break
    assert ends and info["is_success"] == lands
    assert reward == pytest.approx(BONUS if lands else -LOST, abs=0.2)
    # the crash of one episode leaves the next alone
    env.reset()
    assert env.inputs["armed"][0] and not env.states["crashed"][0]
    assert not env.step(np.zeros(4, np.float32))[2]


def test_what_cannot_be_flown_is_said(hover: Any) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hover'"):
        skyloop.gym.SkyloopEnv("hoover")
    with pytest.raises(ScenarioError, match="'rates'"):
        skyloop.gym.SkyloopEnv("hover", action="rate")
    with pytest.raises(ScenarioError, match="state or image"):
        skyloop.gym.SkyloopEnv("hover", observation="pixels")
    with pytest.raises(ScenarioError, match="render_mode is 'human'"):
        skyloop.gym.SkyloopEnv("hover", render_mode="human")
    wrong: tuple[dict[str, Any], ...] = ({"control_rate_hz": 60}, {"control_rate_hz": 600}, {"physics_rate_hz": 850})
    for rates in wrong:
        with pytest.raises(ScenarioError, match="does not divide"):
            skyloop.gym.SkyloopEnv("hover", **rates)
    with pytest.raises(gymnasium.error.ResetNeeded):
        skyloop.gym.SkyloopEnv("hover").step(np.zeros(4))
    hover.reset(seed=0)
    with pytest.raises(SetpointError, match="not finite"):
        hover.step(np.array([0.0, np.nan, 0.0, 0.0]))
    with pytest.raises(SetpointError, match=r"shape \(3,\)"):
        hover.step(np.zeros(3))
    assert hover.render() is None


def test_without_gymnasium_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "skyloop.gym")
    with pytest.raises(ImportError, match=r"^skyloop.gym needs Gymnasium.*: pip install 'skyloop\[gym\]'$") as caught:
        importlib.import_module("skyloop.gym")
    assert isinstance(caught.value, SetupError) and caught.value.__suppress_context__
