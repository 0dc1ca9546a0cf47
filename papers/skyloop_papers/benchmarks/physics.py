"""Flight kernels, a whole scenario and the start of the program, beside RotorPy in the same run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from skyloop.core.machine_info import usable_cores
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import make_scenario
from skyloop.vehicle.fleet_kernels import advance
from skyloop.vehicle.kernel_records import SET_MOTORS, SET_POSITION
from skyloop_client.errors import SetupError
from skyloop_client.messages import Array
from skyloop_papers.benchmarks.measurement import Measurement, Measurements, Rounds, lower, on_all_cores, peer_or_why
from skyloop_papers.processes import output_of

STEPS_PER_CALL = 20
"""Physics steps of a batch per call, as for a learner that acts at 50 Hz."""
RADIUS = 2.0
"""m, radius of the circle in both loops."""
LAPS_PER_S = 0.2
"""In both loops: 2.5 m/s on that circle."""
LOOP_HZ = 100
"""RotorPy's default rate. skyloop's setpoints, truth stream and IMU run at it too."""
FAST_IMU_HZ = 250

START = """
import skyloop.cli, skyloop.run
with skyloop.build(skyloop.load_scenario("first-flight")) as simulation:
    simulation.run_until(0.1)
"""


def physics(
    rounds: int = 7,
    vehicles: int = 10_000,
    batch_calls: int = 10,
    kernel_steps: int = 50_000,
    peer_steps: int = 400,
    loop_s: float = 20.0,
    peer_loop_s: float = 2.0,
    later_starts: int = 3,
) -> Measurements:
    """Flight kernels and a whole scenario, beside RotorPy in the same run.

    `loop_s`: simulated seconds of our loop per round."""
    peer, why_missing = peer_or_why(RotorPy)
    with ThreadPoolExecutor(usable_cores()) as pool:
        batch, controlled = VehicleBatch(vehicles, commanded=True), VehicleBatch(vehicles, commanded=False)
        single = VehicleBatch(1, commanded=True)
        loop, fast_loop = (Loop(imu_hz, (rounds + 2) * loop_s) for imu_hz in (LOOP_HZ, FAST_IMU_HZ))
        timings: dict[str, Callable[[], float]] = {
            "kernel_step": lambda: single.seconds_per_step(kernel_steps),
            "batch": lambda: batch.steps_per_second(batch_calls, pool),
            "controlled": lambda: controlled.steps_per_second(batch_calls, pool),
            "loop": lambda: loop.real_time_factor(loop_s),
            "fast_loop": lambda: fast_loop.real_time_factor(loop_s),
        }
        if peer is not None:
            timings["peer_step"] = partial(peer.seconds_per_step, peer_steps)
            timings["peer_loop"] = partial(peer.real_time_factor, peer_loop_s)
        taken = Rounds(timings, rounds, why_missing)
    step = "RK4 of 1 ms, iris with rotor drag and battery"
    each = f"{usable_cores()} cores, {STEPS_PER_CALL} steps per call, {step}"
    motors = f"aim is for 2 cores; motors commanded; {each}"
    own_loop = "iris on a circle, RK4 1 kHz, controller 500 Hz, setpoints and truth 100 Hz, all streams read, IMU"
    peer_loop = "rotorpy.simulate in steps of 10 ms, SE3 controller, IMU and motion capture, same circle"
    both, unlike = "whole scenarios, IMU 100 Hz on both sides", "our IMU 250 Hz, RotorPy's 100 Hz"
    its_step = "Multirotor.step of 1 ms, hummingbird, its default RK45"
    yield Measurement("batch_steps_per_s", taken["batch"], "1/s", 4e6, motors)
    yield Measurement("batch_with_controller_steps_per_s", taken["controlled"], "1/s", None, f"500 Hz; {each}")
    one_step = "one step of 1 ms, motors commanded"
    yield taken.compared("kernel_vs_rotorpy", ("peer_step", "kernel_step"), 500.0, one_step)
    kernel_ns = 1e9 * taken["kernel_step"]
    yield Measurement("kernel_step_ns", kernel_ns, "ns", None, f"one vehicle in the kernel; {step}")
    yield taken.measured("rotorpy_step_us", "peer_step", "µs", its_step, scale=1e6)
    yield taken.compared("loop_vs_rotorpy", ("loop", "peer_loop"), 10.0, both)
    yield taken.compared("loop_imu_250hz_vs_rotorpy", ("fast_loop", "peer_loop"), None, unlike)
    yield Measurement("loop_realtime_factor", taken["loop"], "s/s", None, f"{own_loop} 100 Hz")
    yield Measurement("loop_imu_250hz_realtime_factor", taken["fast_loop"], "s/s", None, f"{own_loop} 250 Hz")
    yield taken.measured("rotorpy_realtime_factor", "peer_loop", "s/s", peer_loop)
    if later_starts:
        yield from starts(later_starts)


class VehicleBatch:
    """Flying Irises, each with its own speed: rotors held at hover, or flying back to the start."""

    def __init__(self, count: int, *, commanded: bool) -> None:
        vehicle = {"airframe": "iris", "position": [0, 0, 100]}
        fleet = build(make_scenario({"vehicles": [vehicle]})).fleet
        self._period = fleet.rate.period_s
        self._ground = fleet.ground.kernel_arguments
        self._params = np.repeat(fleet.params, count)
        self._inputs = np.repeat(fleet.inputs, count)
        self._begin = np.repeat(fleet.states, count)
        p = fleet.params[0]
        n = int(p["n_rotors"])
        hover_speed = np.sqrt(p["mass"] * p["gravity"] / n / p["thrust_coefficient"])
        self._begin["rotor_speed"][:, :n] = hover_speed
        self._begin["motion"][:, 3:6] = np.random.default_rng(1).normal(0.0, 1.0, (count, 3))
        self._inputs["armed"] = 1
        self._inputs["kind"] = SET_MOTORS if commanded else SET_POSITION
        self._inputs["throttle"][:, :n] = hover_speed / p["max_speed"]
        self._inputs["position"] = (0.0, 0.0, 100.0)
        self._states = self._begin.copy()

    def seconds_per_step(self, steps: int) -> float:
        """Of the first vehicle, in flights of one second so that the open loop stays near hover."""
        flight = min(steps, round(1.0 / self._period))
        elapsed = 0.0
        for _ in range(steps // flight):
            self._states[:] = self._begin
            began = time.perf_counter()
            self._advance(slice(0, 1), flight)
            elapsed += time.perf_counter() - began
        return elapsed / (steps // flight * flight)

    def steps_per_second(self, calls: int, pool: ThreadPoolExecutor) -> float:
        """Vehicle-steps of all vehicles, one slice per usable core."""
        count = len(self._states)
        self._states[:] = self._begin
        began = time.perf_counter()
        for call in range(1, calls + 1):
            on_all_cores(pool, partial(self._advance, until_step=call * STEPS_PER_CALL), count)
        return count * calls * STEPS_PER_CALL / (time.perf_counter() - began)

    def _advance(self, part: slice, until_step: int) -> None:
        arrays = (self._states[part], self._inputs[part], self._params[part])
        advance(*arrays, self._period, until_step, self._ground)


class Loop:
    """A whole scenario in flight: kernel, controller, IMU, bus, autopilot, pilot, readers of every stream."""

    def __init__(self, imu_hz: float, flown_s: float) -> None:
        speed = 2.0 * np.pi * LAPS_PER_S * RADIUS
        trajectory = {"kind": "circle", "centre": [0, 0, 5], "radius": RADIUS, "speed": speed}
        trajectory["laps"] = LAPS_PER_S * flown_s + 5.0
        pilot = {"kind": "trajectory", "rate_hz": LOOP_HZ, "takeoff_altitude": 5.0, "trajectory": trajectory}
        sensors = {"imu": {"kind": "imu", "preset": "mpu6000", "rate_hz": imu_hz}}
        vehicle = {"airframe": "iris", "state": "truth", "sensors": sensors, "pilot": pilot}
        self._simulation = build(make_scenario({"truth_rate_hz": LOOP_HZ, "vehicles": [vehicle]}))
        self._readers = [self._simulation.subscribe(name) for name in self._simulation.bus.infos]
        [flown] = [part.pilot for part in self._simulation.parts if isinstance(part, PilotPart)]
        while flown.started_ns is None:  # type: ignore[attr-defined]
            self._simulation.step()

    def real_time_factor(self, duration: float) -> float:
        """Simulated seconds per second."""
        for reader in self._readers:
            list(reader)
        began = time.perf_counter()
        self._simulation.run_for(duration)
        return duration / (time.perf_counter() - began)


class RotorPy:
    """RotorPy with its defaults: hummingbird with drag, solver, SE3 controller, loop."""

    def __init__(self) -> None:
        try:
            from rotorpy.vehicles.hummingbird_params import quad_params
            from rotorpy.vehicles.multirotor import Multirotor
        except ImportError as error:
            raise SetupError("RotorPy is not installed: `make bench` installs it") from error
        self._params = quad_params
        self._make = Multirotor
        self._hover_speed = np.sqrt(quad_params["mass"] * 9.81 / 4 / quad_params["k_eta"])

    def seconds_per_step(self, steps: int) -> float:
        vehicle = self._make(self._params)
        state = self._state(np.zeros(3))
        command = {"cmd_motor_speeds": np.full(4, self._hover_speed)}
        began = time.perf_counter()
        for _ in range(steps):
            state = vehicle.step(state, command, 0.001)
        return (time.perf_counter() - began) / steps

    def real_time_factor(self, duration: float) -> float:
        """Simulated seconds per second, on the state without noise, as in our loop."""
        from rotorpy.controllers.quadrotor_control import SE3Control
        from rotorpy.estimators.nullestimator import NullEstimator
        from rotorpy.sensors.external_mocap import MotionCapture
        from rotorpy.sensors.imu import Imu
        from rotorpy.simulate import simulate
        from rotorpy.trajectories.circular_traj import ThreeDCircularTraj
        from rotorpy.wind.default_winds import NoWind
        from rotorpy.world import World

        level = np.array([1.0, 1.0, 0.0])
        circle = ThreeDCircularTraj(center=np.zeros(3), radius=RADIUS * level, freq=LAPS_PER_S * level)
        state = self._state(circle.update(0)["x"])
        vehicle = self._make(self._params, initial_state=state)
        noise = {f"{what}_noise_density": np.full(3, 0.001) for what in ("pos", "vel", "att", "rate")}
        artifacts = {"vel_artifact_max": 5, "vel_artifact_prob": 0.0, "rate_artifact_max": 1}
        mocap = MotionCapture(LOOP_HZ, {**noise, **artifacts, "rate_artifact_prob": 0.0}, with_artifacts=False)
        arguments = (
            World.empty((-50, 50) * 3), state, vehicle, SE3Control(self._params), circle, NoWind(),
            Imu(sampling_rate=LOOP_HZ), mocap, NullEstimator(), duration, 1.0 / LOOP_HZ, 0.25, False,
        )  # fmt: skip
        began = time.perf_counter()
        flown = simulate(*arguments, terminate=False)
        return float(flown[0][-1]) / (time.perf_counter() - began)

    def _state(self, position: Array) -> dict[str, Any]:
        return {
            "x": position,
            "v": np.array([1.0, 0.0, 0.0]),
            "q": np.array([0.0, 0.0, 0.0, 1.0]),
            "w": np.zeros(3),
            "wind": np.zeros(3),
            "rotor_speeds": np.full(4, self._hover_speed),
        }


def starts(later_starts: int) -> Measurements:
    """All that `skyloop run first-flight` loads, then 0.1 s of flight, in a new process."""
    with tempfile.TemporaryDirectory() as cache:
        first = _seconds_to_start(cache)
        later = median(_seconds_to_start(cache) for _ in range(later_starts))
    what = "process, imports and 0.1 s of scenario first-flight"
    yield lower("first_start_s", first, "s", 20.0, f"empty cache; {what}")
    yield lower("later_start_s", later, "s", 3.0, f"kernels in the cache; {what}")


def _seconds_to_start(cache: str) -> float:
    began = time.perf_counter()
    what = "scenario first-flight does not start on this machine"
    output_of(START, what, XDG_CACHE_HOME=cache, NUMBA_CACHE_DIR=None)
    return time.perf_counter() - began
