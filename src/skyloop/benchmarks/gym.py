"""Environment steps per second, beside gym-pybullet-drones at the same rates in the same run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.benchmarks.physics import interleaved
from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Figure
from skyloop_client.errors import SetupError

PHYSICS_HZ, CONTROL_HZ = 240, 30
"""Rates on both sides: the defaults of gym-pybullet-drones."""
AROUND_HOVER = 0.05
"""Our actions are random rotor speeds within this share of hover. The peer's are hover itself, see `peer_gym`."""
HOW_TO_GET_IT = (
    "pip install --no-deps swarm-drone-gym transforms3d 'setuptools<81' (it asks for an old Gymnasium and for PyTorch, "
    "and needs neither here), and pip install 'skyloop[bench]' for PyBullet"
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    rounds: int = 5
    """Each round measures everything once. Figures are medians over rounds."""
    seconds: float = 2.0
    """Duration of each measurement."""
    environments: int = 2048


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench gym`."""
    sizes = sizes or Sizes()
    if importlib.util.find_spec("gym_pybullet_drones") is None:
        raise SetupError(f"bench gym compares with gym-pybullet-drones, which is not installed: {HOW_TO_GET_IT}")
    with ExitStack() as opened:
        return figures(interleaved(timings(sizes, opened), sizes.rounds), sizes)


def timings(sizes: Sizes, opened: ExitStack) -> dict[str, Callable[[], float]]:
    """Environment steps per second, by measurement."""
    same: dict[str, Any] = {
        "airframe": "crazyflie",
        "action": "motors",
        "physics_rate_hz": PHYSICS_HZ,
        "control_rate_hz": CONTROL_HZ,
    }
    many, usual = Many(sizes.environments, **same), Many(sizes.environments)
    single, image = Single(**same), Single(observation="image")
    for timed in (many, usual, single, image):
        opened.callback(timed.env.close)
    return {
        "many": lambda: many.steps_per_second(sizes.seconds),
        "peer": lambda: peer_steps_per_second(sizes.seconds, usable_cores()),
        "usual": lambda: usual.steps_per_second(sizes.seconds),
        "single": lambda: single.steps_per_second(sizes.seconds),
        "peer_single": lambda: peer_steps_per_second(sizes.seconds, 1),
        "image": lambda: image.steps_per_second(sizes.seconds),
    }


def figures(taken: dict[str, np.ndarray[Any, Any]], sizes: Sizes) -> list[Figure]:
    """Medians over rounds. A ratio is the median of the ratios within each round."""
    mid = {name: float(np.median(values)) for name, values in taken.items()}
    rates = f"physics {PHYSICS_HZ} Hz, control {CONTROL_HZ} Hz"
    cores = usable_cores()
    ours = f"hover, crazyflie, rotors commanded; {rates}"
    peer = f"HoverAviary, rotors at hover speed and so hardly ever reset; one process per core, their sum; {rates}"
    usual = f"hover as it comes: iris, thrust and rates, physics 500 Hz, control 50 Hz; {sizes.environments} at once"
    ratio = float(np.median(taken["many"] / taken["peer"]))
    single_ratio = float(np.median(taken["single"] / taken["peer_single"]))
    alone = "one environment in one process, nothing else beside it"
    return [
        Figure("steps_per_s", mid["many"], "1/s", None, f"{sizes.environments} at once on {cores} cores; {ours}"),
        Figure(
            "vs_gym_pybullet_drones", ratio, "1", 50.0, f"same rates and cores ({cores}), rotors commanded; {rates}"
        ),
        Figure("gym_pybullet_drones_steps_per_s", mid["peer"], "1/s", None, peer),
        Figure("usual_steps_per_s", mid["usual"], "1/s", None, usual),
        Figure("single_steps_per_s", mid["single"], "1/s", None, f"{alone}; {ours}"),
        Figure("single_vs_gym_pybullet_drones", single_ratio, "1", 5.0, f"{alone}, on both sides; {rates}"),
        Figure("gym_pybullet_drones_single_steps_per_s", mid["peer_single"], "1/s", None, f"HoverAviary, {alone}"),
        Figure("image_steps_per_s", mid["image"], "1/s", None, "one environment, gate, an image of 64x64 px each step"),
    ]


class Many:
    """The vector environment, with random actions around hover."""

    def __init__(self, count: int, **options: Any) -> None:
        from skyloop.gym import SkyloopVectorEnv

        self.env = SkyloopVectorEnv(count, "hover", **options)
        self._actions = actions_around_hover(self.env, (50, count))
        self.env.reset(seed=1)

    def steps_per_second(self, seconds: float) -> float:
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            self.env.step(self._actions[steps % len(self._actions)])
            steps += 1
        return steps * self.env.num_envs / (time.perf_counter() - began)


class Single:
    """One environment, reset whenever an episode ends."""

    def __init__(self, **options: Any) -> None:
        from skyloop.gym import SkyloopEnv

        self.env = SkyloopEnv("gate" if "observation" in options else "hover", **options)
        self._actions = actions_around_hover(self.env, (1000,))
        self.env.reset(seed=1)

    def steps_per_second(self, seconds: float) -> float:
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            if self.env.step(self._actions[steps % len(self._actions)])[2]:
                self.env.reset()
            steps += 1
        return steps / (time.perf_counter() - began)


def actions_around_hover(env: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Random, close to hovering."""
    meaning = env.meaning
    noise = AROUND_HOVER * np.random.default_rng(1).uniform(-1.0, 1.0, (*shape, meaning.size))
    if meaning.kind != "motors":
        return noise.astype(np.float32)
    params = env.params[0]
    lift = params["mass"] * params["gravity"] / params["n_rotors"]
    throttle = np.sqrt(lift / params["thrust_per_speed_squared"]) / params["max_speed"]
    return np.asarray(2.0 * throttle * (1.0 + noise) - 1.0, np.float32)


def peer_steps_per_second(seconds: float, processes: int) -> float:
    """The sum over so many processes, all running at the same time."""
    command = [sys.executable, "-m", "skyloop.benchmarks.peer_gym", str(PHYSICS_HZ), str(CONTROL_HZ), str(seconds)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    told = [process.communicate() for process in running]
    for process, (_, errors) in zip(running, told, strict=True):
        if process.returncode:
            last = (errors.strip().splitlines() or ["no message"])[-1]
            raise SetupError(f"bench gym: gym-pybullet-drones failed: {last}; {HOW_TO_GET_IT}")
    return sum(float(output.split()[-1]) for output, _ in told)
