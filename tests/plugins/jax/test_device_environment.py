"""Hover and gate in JAX are those of the vector environment, sample by sample, and PPO learns in them.

One environment is compiled, for one number of vehicles, and shared: compiling is nearly all that these tests cost.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyloop.gym import SkyloopVectorEnv
from skyloop_client.errors import ScenarioError, SetupError
from skyloop_jax import DeviceEnv
from skyloop_jax.episodes import Episode, judged, observed, started
from skyloop_jax.flight import flight_from, motion_of
from skyloop_jax.learning import Learner, LearningSettings, applied, made_networks, save_policy
from skyloop_papers.benchmarks import gym as bench
from skyloop_papers.benchmarks.measurement import Rounds

VEHICLES, LONGEST = 128, 90
EXAMPLE = Path(__file__).parents[3] / "examples" / "learned_hover"


@pytest.fixture(scope="module", autouse=True)
def double_precision() -> Any:
    """And a compiler in a hurry: nearly all of the time is its own."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.config.update("jax_enable_x64", False)


@pytest.fixture
def optimised() -> Any:
    """As users compile."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture(scope="module")
def hover(double_precision: None) -> DeviceEnv:
    return DeviceEnv("hover", dtype="float64", max_episode_steps=LONGEST)


@pytest.mark.slow("JAX compiles a thousand steps")
def test_hover_is_that_of_the_kernels_for_a_thousand_steps(hover: DeviceEnv) -> None:
    """110 actions, each of ten physics steps: gentle ones that fly to the time limit, and wild ones that crash."""
    kernels = SkyloopVectorEnv(VEHICLES, "hover", max_episode_steps=LONGEST, autoreset_mode="SameStep", threads=1)
    expected, _ = kernels.reset(seed=40)
    state, seen = hover.reset(40, VEHICLES)
    assert np.array_equal(seen, expected)
    random = np.random.default_rng(1)
    size = np.where(np.arange(VEHICLES) < 40, 0.05, 0.9)[:, None]
    ended = {"terminated": 0, "truncated": 0, "touched": 0}
    for _ in range(110):
        actions = (size * random.uniform(-1.3, 0.9, (VEHICLES, 4))).astype(np.float32)
        state, outcome = hover.step(state, jnp.asarray(actions))
        expected, rewards, terminated, truncated, infos = kernels.step(actions)
        assert np.array_equal(outcome.terminated, terminated) and np.array_equal(outcome.truncated, truncated)
        assert np.allclose(outcome.rewards, rewards, rtol=0.0, atol=1e-9)
        # float32, so one rounding may go the other way
        assert np.allclose(outcome.observations, expected, rtol=2e-7, atol=1e-9)
        assert np.allclose(motion_of(state.flight), kernels.states["motion"], rtol=0.0, atol=1e-9)
        over = terminated | truncated
        for i in np.flatnonzero(over):
            assert np.allclose(outcome.final_observations[i], infos["final_obs"][i], rtol=2e-7, atol=1e-9)
            assert bool(outcome.success[i]) == infos["final_info"]["is_success"][i]
            ended["touched"] += bool(infos["final_obs"][i][2] > 1.8)
        distance = np.where(over, infos["final_info"]["distance"] if over.any() else 0.0, infos["distance"])
        assert np.allclose(outcome.distance, distance, rtol=0.0, atol=1e-9)
        ended["terminated"] += int(terminated.sum())
        ended["truncated"] += int(truncated.sum())
    assert min(ended.values()) >= 5, ended


@pytest.mark.slow("JAX compiles a second task")
def test_gate_is_judged_as_by_the_kernels() -> None:
    """On states that the kernels flew: every start, reward, end and observation, without compiling a second flight."""
    n, task = 200, "gate"
    kernels = SkyloopVectorEnv(n, task, max_episode_steps=LONGEST, autoreset_mode="Disabled", action="velocity")
    env = DeviceEnv(task, dtype="float64", max_episode_steps=LONGEST)
    expected, _ = kernels.reset(seed=2**40)
    keys = np.uint64(2**40) + np.arange(n, dtype=np.uint64)
    count, nothing = jnp.zeros(n, jnp.uint32), jnp.zeros(n)
    low = jnp.asarray((keys & np.uint64(2**32 - 1)).astype(np.uint32))
    high = jnp.asarray((keys >> np.uint64(32)).astype(np.uint32))
    begun = Episode(low, high, count, count.astype(int), (nothing,) * 3, nothing)
    start = jax.jit(lambda episode: started(env.craft, env.task.kind, env.template, episode))(begun)
    assert np.allclose(motion_of(start), kernels.states["motion"], rtol=0.0, atol=1e-12)
    look = jax.jit(lambda flight: observed(env.craft, flight))
    judge = jax.jit(lambda flight, episode: judged(env.craft, env.task.kind, flight, episode, LONGEST))
    random, ends = np.random.default_rng(5), np.zeros(3, int)
    target = random.uniform(-1.2, 1.2, (n, 3)) * np.where(np.arange(n) % 2 == 0, 0.1, 1.0)[:, None]
    for number in range(LONGEST):
        e = kernels.episodes.copy()
        episode = Episode(low, high, count, jnp.asarray(e["steps"]), tuple(e["position"].T), jnp.asarray(e["distance"]))
        ahead = 0.3 * (expected[:, :3] + target * [0.0, 1.0, 1.0] + [2.0, 0.0, 0.0])
        actions = np.concatenate([np.clip(ahead, -1.0, 1.0), np.zeros((n, 1))], 1)
        expected, rewards, terminated, truncated, infos = kernels.step(actions)
        over = terminated | truncated
        if not over.any() and number % 10:
            continue
        flight = flight_from(kernels.states, env.craft, jnp.float64)
        assert np.allclose(look(flight), expected, rtol=2e-7, atol=1e-9)
        verdict, after = judge(flight, episode)
        assert np.allclose(verdict.rewards, rewards, rtol=0.0, atol=1e-9)
        assert np.array_equal(verdict.terminated, terminated) and np.array_equal(verdict.truncated, truncated)
        assert np.array_equal(verdict.success, infos["is_success"])
        assert np.allclose(after.distance, infos["distance"], rtol=0.0, atol=1e-12)
        won = infos["is_success"]
        ends += [(terminated & won).sum(), (terminated & ~won).sum(), truncated.sum()]
        if over.all():
            break
        if over.any():
            expected, _ = kernels.reset(options={"reset_mask": over})
    assert ends[:2].min() > 5, ends


def learned(env: DeviceEnv, settings: LearningSettings, updates: int) -> tuple[Any, list[Any]]:
    learner = Learner(env, settings, seed=3)
    found = list(learner.learn(updates * settings.steps_per_update))
    return jax.tree.leaves(learner.networks), found


@pytest.mark.slow("JAX compiles the learning")
def test_ppo_learns_and_the_same_seed_gives_the_same_policy(hover: DeviceEnv) -> None:
    settings = LearningSettings(num_envs=VEHICLES, horizon=8, epochs=1, minibatches=2, hidden=(16,))
    before = jax.tree.leaves(made_networks(18, 4, (16,), seed=3))
    first, found = learned(hover, settings, 2)
    again, _ = learned(hover, settings, 2)
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert all(np.isfinite(leaf).all() for leaf in first)
    assert not any(np.array_equal(one, other) for one, other in zip(first, before, strict=True))
    assert [each.steps for each in found] == [8 * VEHICLES, 16 * VEHICLES]


@pytest.mark.slow("fifteen updates, and their compilation")
def test_ppo_improves(hover: DeviceEnv) -> None:
    _, found = learned(hover, LearningSettings(num_envs=VEHICLES, horizon=32, minibatches=4), 15)
    returns = [each.mean_return for each in found]
    assert np.nanmean(returns[-3:]) > np.nanmean(returns[:5]) + 8.0, returns


@pytest.mark.slow("JAX compiles an environment")
def test_float32_is_what_a_user_gets() -> None:
    """Traced and not compiled: shapes and types of all that a step gives."""
    env = DeviceEnv("hover")
    key = np.zeros(64, np.uint32)
    state, observations = jax.eval_shape(env._begin, key, key)
    state, outcome = jax.eval_shape(env.step, state, jnp.zeros((64, 4), jnp.float32))
    assert observations.shape == outcome.observations.shape == outcome.final_observations.shape == (64, 18)
    assert {part.dtype.name for part in (observations, outcome.rewards, outcome.distance)} == {"float32"}
    assert {leaf.dtype.name for leaf in jax.tree.leaves(state.flight)} == {"float32", "bool"}
    assert outcome.terminated.dtype == outcome.truncated.dtype == bool


@pytest.mark.slow("JAX compiles an environment")
def test_a_saved_policy_is_what_the_pilot_flies(tmp_path: Path) -> None:
    networks = made_networks(18, 4, (64, 64), seed=5)
    save_policy(networks, tmp_path / "policy.npz")
    spec = importlib.util.spec_from_file_location("learned_pilot", EXAMPLE / "pilot.py")
    assert spec is not None and spec.loader is not None
    pilot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pilot)
    policy = pilot.Pilot(weights=str(tmp_path / "policy.npz")).policy
    seen = np.random.default_rng(1).normal(size=18).astype(np.float32)
    assert np.allclose(policy(seen), applied(networks.policy, seen), atol=1e-6)
    with np.load(tmp_path / "policy.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == sorted(f"{what}_{k}" for what in ("weight", "bias") for k in range(3))


@pytest.mark.slow("JAX compiles an environment")
def test_an_action_that_is_no_number_ends_its_episode_only(hover: DeviceEnv) -> None:
    state, _ = hover.reset(1, VEHICLES)
    actions = jnp.zeros((VEHICLES, 4)).at[3, 1].set(jnp.nan).astype(jnp.float32)
    state, outcome = hover.step(state, actions)
    assert np.flatnonzero(outcome.terminated).tolist() == [3]
    assert np.isfinite(motion_of(state.flight)).all() and np.isfinite(outcome.observations).all()


def test_minibatches_must_divide() -> None:
    with pytest.raises(ScenarioError, match="3 vehicles x 5 steps do not divide into 4"):
        LearningSettings(num_envs=3, horizon=5, minibatches=4)


@pytest.mark.slow("JAX compiles an environment")
def test_bench_measures_and_names_the_device(hover: DeviceEnv) -> None:
    timed = bench.batch_timings(hover, bench.Kernel(8), (VEHICLES,), seconds=0.01)
    taken = Rounds({**timed, f"flight {VEHICLES}": lambda: 50.0}, 1)
    figures = {each.key: each for each in bench.batch_measurements(taken, (VEHICLES,), 8)}
    assert figures["vehicle_steps_per_s"].aim == 1e8 and figures["vehicle_steps_per_s"].value == 50.0
    assert f"(cpu, JAX {jax.__version__})" in figures["vehicle_steps_per_s"].note
    assert figures["vs_numba"].value == pytest.approx(50.0 / taken["kernel"])
    assert figures["environment_vehicle_steps_per_s"].value == taken[f"tasks {VEHICLES}"] > 0.0


def test_bench_without_jax_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(SetupError, match="needs JAX, which is not installed: pip install 'jax"):
        next(bench.batch())


@pytest.mark.slow("compiles and learns to hover")
def test_bench_gives_every_figure(optimised: None) -> None:
    jax.config.update("jax_enable_x64", False)
    few = bench.batch(rounds=1, seconds=0.1, vehicles=(256,), kernel_vehicles=256, learning_steps=2_000_000)
    figures = {each.key: each for each in few}
    assert figures["hover_learned_steps"].value < 2_000_000
    assert all(each.value > 0.0 for each in figures.values()) and len(figures) == 6
    jax.config.update("jax_enable_x64", True)


@pytest.mark.slow("compiles two environments")
def test_float32_stays_close_for_two_seconds_of_flight(optimised: None) -> None:
    """100 actions on a position, in both precisions; docs/how-to/gym.md states the bound."""
    ends = []
    for dtype in ("float64", "float32"):
        env = DeviceEnv("hover", action="position", dtype=dtype)
        state, _ = env.reset(1, 256)
        random = np.random.default_rng(2)
        for _ in range(100):
            numbers = random.uniform(-0.1, 0.1, (256, 4))
            state, outcome = env.step(state, jnp.asarray(numbers, jnp.float32))
            assert not outcome.terminated.any()
        ends.append(motion_of(state.flight))
    away = np.abs(ends[0] - ends[1]).max(axis=0)
    print(f"float32 is off by {away[:3].max():.1e} m and {away[3:6].max():.1e} m/s")
    assert away[:3].max() < 1e-4


@pytest.mark.slow("learns to hover")
def test_the_example_learns_and_flies_in_the_whole_simulator(
    optimised: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jax.config.update("jax_enable_x64", False)
    weights = tmp_path / "weights.npz"
    monkeypatch.setattr(sys, "argv", ["train_jax.py", "800000", str(weights)])
    monkeypatch.syspath_prepend(str(EXAMPLE))
    runpy.run_path(str(EXAMPLE / "train_jax.py"), run_name="__main__")
    found = capsys.readouterr().out.splitlines()
    assert weights.exists() and [line.split(";")[0] for line in found[-3:]] == [
        f"{name}: 3 of 3 flew" for name in ("calm, truth", "wind, truth", "wind, EKF")
    ]
    jax.config.update("jax_enable_x64", True)
