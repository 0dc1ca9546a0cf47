"""Vehicle-steps per second of the flight in JAX on the device found, beside the flight kernel in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from skyloop.benchmarks.physics import interleaved
from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Figure
from skyloop.vehicle.fleet_kernels import advance
from skyloop_client.errors import MissingExtra, SetupError

STEPS_PER_CALL = 100
"""Physics steps of the flight alone, 0.2 s, always from the same start."""
LEARNED = 450.0
"""The mean return, of 500 possible, at which hover counts as learned."""
LEAST_EPISODES = 20
"""Ended episodes that a mean return is taken over, at least."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    rounds: int = 5
    """Each round measures everything once. Figures are medians over rounds."""
    seconds: float = 1.0
    """Duration of each measurement, at least."""
    vehicles: tuple[int, ...] = ()
    """Sizes of the batch in JAX, of which the fastest counts; left out: by the kind of device."""
    kernel_vehicles: int = 10_000
    learning_steps: int = 2_000_000


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench batch`."""
    sizes = sizes or Sizes()
    try:
        import jax

        from skyloop_jax import DeviceEnv
    except (ImportError, MissingExtra):
        raise SetupError("bench batch needs JAX, which is not installed: pip install 'skyloop[batch]'") from None
    env = DeviceEnv("hover")
    counts = sizes.vehicles or ((8192,) if jax.default_backend() == "cpu" else (1 << 16, 1 << 18, 1 << 20))
    kernel = Kernel(sizes.kernel_vehicles)
    taken = interleaved(timings(env, kernel, counts, sizes.seconds), sizes.rounds)
    return [*figures(taken, counts, sizes), *learning_figures(env, sizes.learning_steps)]


def timings(env: Any, kernel: Kernel, counts: tuple[int, ...], seconds: float) -> dict[str, Callable[[], float]]:
    """Vehicle-steps per second, by measurement. Compiling is over after the first call of each."""
    taken: dict[str, Callable[[], float]] = {"kernel": partial(kernel.steps_per_second, seconds)}
    for count in counts:
        taken[f"flight {count}"] = partial(Flights(env, count).steps_per_second, seconds)
        taken[f"tasks {count}"] = partial(Tasks(env, count).steps_per_second, seconds)
    return taken


def figures(taken: dict[str, np.ndarray[Any, Any]], counts: tuple[int, ...], sizes: Sizes) -> list[Figure]:
    """Medians over rounds, of the fastest batch. The ratio is the median of the ratios within each round."""
    mid = {name: float(np.median(values)) for name, values in taken.items()}
    best, best_tasks = max(counts, key=lambda n: mid[f"flight {n}"]), max(counts, key=lambda n: mid[f"tasks {n}"])
    device, what = device_name(), "iris with rotor drag, RK4 and controller 500 Hz, thrust and rates commanded"
    ratio = float(np.median(taken[f"flight {best}"] / taken["kernel"]))
    tried = " and ".join(map(str, counts))
    return [
        Figure(
            "vehicle_steps_per_s", mid[f"flight {best}"], "1/s", 1e8,
            f"aim is for a GPU; float32 on {device}; {best} at once, of {tried} tried; {what}",
        ),
        Figure(
            "numba_vehicle_steps_per_s", mid["kernel"], "1/s", None,
            f"the flight kernel, float64 on {usable_cores()} cores; {sizes.kernel_vehicles} at once; {what}",
        ),
        Figure("vs_numba", ratio, "1", None, f"{device} over {usable_cores()} cores"),
        Figure(
            "environment_vehicle_steps_per_s", mid[f"tasks {best_tasks}"], "1/s", None,
            f"hover with observations, rewards and resets, 10 steps per action; {best_tasks} at once on {device}",
        ),
    ]  # fmt: skip


def learning_figures(env: Any, steps: int) -> list[Figure]:
    """From nothing to a policy that hovers, compiling of the learning included."""
    from skyloop_jax.learning import Learner

    began = time.perf_counter()
    learner = Learner(env, seed=1)
    for progress in learner.learn(steps):
        if progress.episodes >= LEAST_EPISODES and progress.mean_return >= LEARNED:
            elapsed = time.perf_counter() - began
            note = f"PPO, {learner.settings.num_envs} vehicles, seed 1, until the return is {LEARNED:g} of 500"
            return [
                Figure("hover_learned_s", elapsed, "s", 300.0, f"{note}; {device_name()}", lower_is_better=True),
                Figure("hover_learned_steps", progress.steps, "1", None, f"environment steps; {note}"),
            ]
    raise SetupError(f"PPO did not reach a return of {LEARNED:g} in {steps} steps on {device_name()}")


def device_name() -> str:
    import jax

    device = jax.devices()[0]
    return f"{device.device_kind} ({device.platform}, JAX {jax.__version__})"


def _per_second(call: Callable[[], Any], steps: int, seconds: float) -> float:
    """`steps` over the time of a call, which is waited for."""
    import jax

    jax.block_until_ready(call())
    calls, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        jax.block_until_ready(call())
        calls += 1
    return calls * steps / (time.perf_counter() - began)


class Flights:
    """The flight alone, from the start of hover episodes, with small body rates asked for."""

    def __init__(self, env: Any, count: int) -> None:
        import jax

        from skyloop.vehicle.kernel_records import SET_RATES
        from skyloop_jax.advance import flown
        from skyloop_jax.control import Setpoint

        craft = env.craft
        state, _ = env.reset(1, count)
        level = jax.numpy.zeros(count, env.dtype)
        wanted = Setpoint(thrust=level + craft.p.mass * craft.p.gravity, rates=(level, level, level))
        fly = jax.jit(lambda flight, wanted: flown(craft, SET_RATES, flight, wanted, STEPS_PER_CALL))
        self._call = lambda: fly(state.flight, wanted)
        self._steps = count * STEPS_PER_CALL

    def steps_per_second(self, seconds: float) -> float:
        return _per_second(self._call, self._steps, seconds)


class Tasks:
    """The hover environment with random actions around hover."""

    def __init__(self, env: Any, count: int) -> None:
        import jax

        self._env, self._count = env, count
        self._state, _ = env.reset(1, count)
        noise = np.random.default_rng(1).uniform(-0.05, 0.05, (count, env.meaning.size))
        self._actions = jax.numpy.asarray(noise, jax.numpy.float32)

    def steps_per_second(self, seconds: float) -> float:
        return _per_second(self._step, self._count * self._env.course.steps_per_action, seconds)

    def _step(self) -> Any:
        self._state, outcome = self._env.step(self._state, self._actions)
        return outcome.rewards


class Kernel:
    """The flight kernel on all cores, from the same starts with the same setpoints as `Flights`."""

    def __init__(self, count: int) -> None:
        from skyloop.gym import SkyloopVectorEnv

        env = SkyloopVectorEnv(count, "hover")
        with env.course.simulation() as simulation:
            memory = simulation.port.flight_memory()
        env.reset(seed=1)
        env.meaning.write(env.inputs, np.zeros((count, 4)), env.episodes["position"])
        env.close()
        self._begin, self._inputs, self._params = env.states, env.inputs, env.params
        self._rest = (memory.period_s, STEPS_PER_CALL, memory.ground)
        self._states = self._begin.copy()

    def steps_per_second(self, seconds: float) -> float:
        cores, count = usable_cores(), len(self._states)
        slices = [slice(a, b) for a, b in pairwise(count * k // cores for k in range(cores + 1))]
        calls, elapsed = 0, 0.0
        with ThreadPoolExecutor(cores) as pool:
            while calls == 0 or elapsed < seconds:
                self._states[:] = self._begin
                began = time.perf_counter()
                list(pool.map(self._advance, slices))
                elapsed += time.perf_counter() - began
                calls += 1
        return calls * count * STEPS_PER_CALL / elapsed

    def _advance(self, part: slice) -> None:
        advance(self._states[part], self._inputs[part], self._params[part], *self._rest)
