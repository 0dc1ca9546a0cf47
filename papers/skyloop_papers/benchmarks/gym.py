"""Environment steps per second on all cores, and the flight in JAX on the device found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.core.machine_info import usable_cores
from skyloop.vehicle.fleet_kernels import advance
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_client.messages import Array
from skyloop_papers.benchmarks.measurement import (
    Measurement,
    Measurements,
    Rounds,
    calls_per_second,
    log,
    lower,
    on_all_cores,
    peer_or_why,
)
from skyloop_papers.benchmarks.peers import gym_pybullet_drones
from skyloop_papers.processes import child, result_of

if TYPE_CHECKING:
    from skyloop_jax import DeviceEnv

PHYSICS_HZ, CONTROL_HZ = 240, 30
"""Rates on both sides: the defaults of gym-pybullet-drones."""
AROUND_HOVER = 0.05
"""Our actions are random rotor speeds within this share of hover. The peer's are hover itself."""
HOW_TO_GET_IT = "`make bench` installs it"
STEPS_PER_CALL = 100
"""Physics steps of the flight alone, 0.2 s, always from the same start."""
LEARNED = 450.0
"""The mean return, of 500 possible, at which hover counts as learned."""
TELL_EVERY_S = 5.0
"""Wall s."""
LEAST_EPISODES = 20
"""Ended episodes that a mean return is taken over, at least."""


def gym(rounds: int = 5, seconds: float = 2.0, environments: int = 2048) -> Measurements:
    """Gymnasium environments, beside gym-pybullet-drones at the same rates in the same run."""
    _, why_missing = peer_or_why(lambda: peer_steps_per_second(0.0, 1))
    with ExitStack() as opened:
        timings = gym_timings(seconds, environments, opened, peer=not why_missing)
        taken = Rounds(timings, rounds, why_missing)
    yield from gym_measurements(taken, environments)


def gym_timings(seconds: float, environments: int, opened: ExitStack, *, peer: bool) -> dict[str, Callable[[], float]]:
    """Environment steps per second, by measurement."""
    same: dict[str, Any] = {
        "airframe": "crazyflie",
        "action": "motors",
        "physics_rate_hz": PHYSICS_HZ,
        "control_rate_hz": CONTROL_HZ,
    }
    many, usual = ManyEnvironments(environments, **same), ManyEnvironments(environments)
    single, image = SingleEnvironment(**same), SingleEnvironment(observation="image")
    for timed in (many, usual, single, image):
        opened.callback(timed.env.close)
    timings: dict[str, Callable[[], float]] = {
        "many": lambda: environments * calls_per_second(many.step, seconds),
        "usual": lambda: environments * calls_per_second(usual.step, seconds),
        "single": lambda: calls_per_second(single.step, seconds),
        "image": lambda: calls_per_second(image.step, seconds),
    }
    if peer:
        timings["peer"] = lambda: peer_steps_per_second(seconds, usable_cores())
        timings["peer_single"] = lambda: peer_steps_per_second(seconds, 1)
    return timings


def gym_measurements(taken: Rounds, environments: int) -> Measurements:
    rates = f"physics {PHYSICS_HZ} Hz, control {CONTROL_HZ} Hz"
    cores = usable_cores()
    ours = f"hover, crazyflie, rotors commanded; {rates}"
    peer = f"HoverAviary, rotors at hover speed and so hardly ever reset; one process per core, their sum; {rates}"
    usual = f"hover as it comes: iris, thrust and rates, physics 500 Hz, control 50 Hz; {environments} at once"
    alone = "one environment in one process, nothing else beside it"
    many = f"{environments} at once on {cores} cores; {ours}"
    same = f"same rates and cores ({cores}), rotors commanded; {rates}"
    yield Measurement("steps_per_s", taken["many"], "1/s", None, many)
    yield taken.compared("vs_gym_pybullet_drones", ("many", "peer"), 50.0, same)
    yield taken.measured("gym_pybullet_drones_steps_per_s", "peer", "1/s", peer)
    yield Measurement("usual_steps_per_s", taken["usual"], "1/s", None, usual)
    yield Measurement("single_steps_per_s", taken["single"], "1/s", None, f"{alone}; {ours}")
    both = f"{alone}, on both sides; {rates}"
    yield taken.compared("single_vs_gym_pybullet_drones", ("single", "peer_single"), 5.0, both)
    single = f"HoverAviary, {alone}"
    yield taken.measured("gym_pybullet_drones_single_steps_per_s", "peer_single", "1/s", single)
    image = "one environment, gate, an image of 64x64 px each step"
    yield Measurement("image_steps_per_s", taken["image"], "1/s", None, image)


class ManyEnvironments:
    """The vector environment, with random actions around hover."""

    def __init__(self, count: int, **options: Any) -> None:
        from skyloop.gym import SkyloopVectorEnv

        self.env = SkyloopVectorEnv(count, "hover", **options)
        self.actions = actions_around_hover(self.env, (50, count))
        self.env.reset(seed=1)
        self._steps = 0

    def step(self) -> None:
        self.env.step(self.actions[self._steps % len(self.actions)])
        self._steps += 1


class SingleEnvironment:
    """One environment, reset whenever an episode ends."""

    def __init__(self, **options: Any) -> None:
        from skyloop.gym import SkyloopEnv

        self.env = SkyloopEnv("gate" if "observation" in options else "hover", **options)
        self._actions = actions_around_hover(self.env, (1000,))
        self.env.reset(seed=1)
        self._steps = 0

    def step(self) -> None:
        if self.env.step(self._actions[self._steps % len(self._actions)])[2]:
            self.env.reset()
        self._steps += 1


def actions_around_hover(env: Any, shape: tuple[int, ...]) -> Array:
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
    with ExitStack() as started:
        running = [
            started.enter_context(child(gym_pybullet_drones, PHYSICS_HZ, CONTROL_HZ, seconds)) for _ in range(processes)
        ]
        return sum(float(result_of(each, "bench gym: gym-pybullet-drones", HOW_TO_GET_IT)) for each in running)


def batch(
    rounds: int = 5,
    seconds: float = 1.0,
    vehicles: Sequence[int] = (),
    kernel_vehicles: int = 10_000,
    learning_steps: int = 2_000_000,
) -> Measurements:
    """The flight in JAX on the device found, beside the flight kernel in the same run; learning to hover.

    `vehicles`: sizes of the batch in JAX, of which the fastest counts; left out: by the kind of device."""
    try:
        import jax

        from skyloop_jax import DeviceEnv
    except (ImportError, MissingExtra):
        raise SetupError("bench batch needs JAX, which is not installed: pip install 'jax>=0.6,<0.13'") from None
    env = DeviceEnv("hover")
    counts = tuple(vehicles) or ((8192,) if jax.default_backend() == "cpu" else (1 << 16, 1 << 18, 1 << 20))
    log.info("compiling for %s, which may take a minute", device_name())
    taken = Rounds(batch_timings(env, Kernel(kernel_vehicles), counts, seconds), rounds)
    yield from batch_measurements(taken, counts, kernel_vehicles)
    if learning_steps:
        yield from learning(env, learning_steps)


def batch_timings(
    env: DeviceEnv, kernel: Kernel, counts: tuple[int, ...], seconds: float
) -> dict[str, Callable[[], float]]:
    """Vehicle-steps per second, by measurement. Compiling is over after the first call of each."""
    taken: dict[str, Callable[[], float]] = {"kernel": partial(kernel.steps_per_second, seconds)}
    for count in counts:
        taken[f"flight {count}"] = partial(_device_rate, _flights(env, count), count * STEPS_PER_CALL, seconds)
        steps = count * env.course.steps_per_action
        taken[f"tasks {count}"] = partial(_device_rate, _tasks(env, count), steps, seconds)
    return taken


def batch_measurements(taken: Rounds, counts: tuple[int, ...], kernel_vehicles: int) -> Measurements:
    """Of the fastest batch."""
    best, best_tasks = (max(counts, key=lambda n: taken[f"{name} {n}"]) for name in ("flight", "tasks"))
    device, cores = device_name(), usable_cores()
    what = "iris with rotor drag, RK4 and controller 500 Hz, thrust and rates commanded"
    tried = " and ".join(map(str, counts))
    flight = f"aim is for a GPU; float32 on {device}; {best} at once, of {tried} tried; {what}"
    kernel = f"the flight kernel, float64 on {cores} cores; {kernel_vehicles} at once; {what}"
    tasks = f"hover with observations, rewards and resets, 10 steps per action; {best_tasks} at once on {device}"
    yield Measurement("vehicle_steps_per_s", taken[f"flight {best}"], "1/s", 1e8, flight)
    yield Measurement("numba_vehicle_steps_per_s", taken["kernel"], "1/s", None, kernel)
    yield taken.compared("vs_numba", (f"flight {best}", "kernel"), None, f"{device} over {cores} cores")
    yield Measurement("environment_vehicle_steps_per_s", taken[f"tasks {best_tasks}"], "1/s", None, tasks)


def learning(env: DeviceEnv, steps: int) -> Measurements:
    """From nothing to a policy that hovers, compiling of the learning included."""
    from skyloop_jax.learning import Learner

    began = time.perf_counter()
    learner, told = Learner(env, seed=1), began
    for progress in learner.learn(steps):
        if time.perf_counter() - told > TELL_EVERY_S:
            told = time.perf_counter()
            log.info("learning: %d of %d steps, mean return %.0f", progress.steps, steps, progress.mean_return)
        if progress.episodes >= LEAST_EPISODES and progress.mean_return >= LEARNED:
            elapsed = time.perf_counter() - began
            note = f"PPO, {learner.settings.num_envs} vehicles, seed 1, until the return is {LEARNED:g} of 500"
            yield lower("hover_learned_s", elapsed, "s", 300.0, f"{note}; {device_name()}")
            yield Measurement("hover_learned_steps", progress.steps, "1", None, f"environment steps; {note}")
            return
    raise SetupError(f"PPO did not reach a return of {LEARNED:g} in {steps} steps on {device_name()}")


def device_name() -> str:
    import jax

    device = jax.devices()[0]
    return f"{device.device_kind} ({device.platform}, JAX {jax.__version__})"


def _device_rate(call: Callable[[], object], steps: int, seconds: float) -> float:
    """`steps` over the time of a call, which is waited for."""
    import jax

    jax.block_until_ready(call())
    return steps * calls_per_second(lambda: jax.block_until_ready(call()), seconds)


def _flights(env: DeviceEnv, count: int) -> Callable[[], object]:
    """The flight alone, from the start of hover episodes, with small body rates asked for."""
    import jax

    from skyloop.vehicle.kernel_records import SET_RATES
    from skyloop_jax.advance import flown
    from skyloop_jax.control import Setpoint

    craft = env.craft
    state, _ = env.reset(1, count)
    level = jax.numpy.zeros(count, env.dtype)
    wanted = Setpoint(thrust=level + craft.p.mass * craft.p.gravity, rates=(level, level, level))
    fly = jax.jit(lambda flight, wanted: flown(craft, SET_RATES, flight, wanted, STEPS_PER_CALL))
    return lambda: fly(state.flight, wanted)


def _tasks(env: DeviceEnv, count: int) -> Callable[[], object]:
    """The hover environment with random actions around hover."""
    import jax

    state, _ = env.reset(1, count)
    noise = np.random.default_rng(1).uniform(-0.05, 0.05, (count, env.meaning.size))
    actions = jax.numpy.asarray(noise, jax.numpy.float32)

    def step() -> object:
        nonlocal state
        state, outcome = env.step(state, actions)
        return outcome.rewards

    return step


class Kernel:
    """The flight kernel on all cores, from the same starts with the same setpoints as `_flights`."""

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
        calls, elapsed = 0, 0.0
        with ThreadPoolExecutor(usable_cores()) as pool:
            while calls == 0 or elapsed < seconds:
                self._states[:] = self._begin
                began = time.perf_counter()
                on_all_cores(pool, self._advance, len(self._states))
                elapsed += time.perf_counter() - began
                calls += 1
        return calls * len(self._states) * STEPS_PER_CALL / elapsed

    def _advance(self, part: slice) -> None:
        advance(self._states[part], self._inputs[part], self._params[part], *self._rest)
