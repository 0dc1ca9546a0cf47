"""Visual-inertial odometry on whole flights, and its filter beside a fixed-lag smoother on the same tracks.

On recorded flights: `python -m skyloop_papers.benchmarks.vio FOLDER ...` measures the same as `bench vio-backends` and
prints it as JSON."""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_autonomy.evaluation.estimate_log import Estimates, Truths, errors_from_start
from skyloop_autonomy.evaluation.localisation_scores import scores
from skyloop_autonomy.evaluation.localising import MessageSource, localise, open_source
from skyloop_autonomy.evaluation.trajectory_error import absolute_errors, together
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, SETTLE_S, checked_flight, flown
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.imu_kernels import ordinary_covariance
from skyloop_autonomy.vio.odometry import VisualInertialOdometry
from skyloop_autonomy.vio.starting import Start
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.errors import DatasetError, SkyloopError
from skyloop_client.messages import Array, Message
from skyloop_papers.benchmarks.fixed_lag_smoother import BodyState, FixedLagBackend, body_attitude, body_levers
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, log, lower, mean
from skyloop_papers.benchmarks.smoother_points import NODES, Step, check_gtsam

COVARIANCE_EVERY_NS = 500_000_000
"""The smoother is asked for its covariance this often, outside of its time."""
TELL_EVERY_S = 10.0
"""Simulated s."""


def vio(
    room_seeds: Sequence[int] = (1, 2), corridor_seeds: Sequence[int] = (1,), length: float | None = None
) -> Measurements:
    """Localisation with two cameras and an IMU: errors, consistency, time per pair.

    `length`: m of way in place of 82 m and 100 m. `skyloop reproduce e2es` flies ten seeds of five worlds."""
    room = [_scored("room", seed, length) for seed in room_seeds]
    corridor = [_scored("corridor", seed, length) for seed in corridor_seeds]
    both = [*room, *corridor]
    spent = {name: statistics.fmean(run["stages_ms"].get(name, 0.0) for run in both) for name in both[0]["stages_ms"]}
    stages = ", ".join(f"{name} {ms:.1f}" for name, ms in spent.items())
    time_note = f"processor time of all threads, IMU samples included; stages in ms: {stages}"
    if room:
        yield lower("room_ape_m", mean(room, "ape_m"), "m", 0.10, f"{_flights(room, room_seeds)}; SE(3) alignment")
        # a short way says little about the angle by which it is aligned
        angle_aim = 0.5 if length is None else None
        yield lower("room_ape_deg", mean(room, "ape_deg"), "deg", angle_aim, "the same")
        if all("closed_ape_m" in run for run in room):
            yield lower("room_closed_ape_m", mean(room, "closed_ape_m"), "m", 0.05, "with loop closure")
    if corridor:
        yield lower("corridor_ape_m", mean(corridor, "ape_m"), "m", 0.15, _flights(corridor, corridor_seeds))
    yield lower("pair_ms", mean(both, "pair_ms"), "ms", 10.0, time_note)
    yield lower("pair_p95_ms", mean(both, "pair_p95_ms"), "ms", 20.0, "95 % of the pairs")
    nees = "of position, velocity and attitude; 9 would be right"
    yield Measurement("nees", mean(both, "nees"), "1", None, nees)


def _flights(runs: list[dict[str, Any]], seeds: Sequence[int]) -> str:
    return f"{len(runs)} flights of {mean(runs, 'way_m'):.0f} m, seeds {', '.join(map(str, seeds))}"


@contextmanager
def _flown(world: str, seed: int, length: float | None) -> Iterator[MessageSource]:
    """A flight whose progress is logged as its messages are read."""
    flight = FLIGHTS[world] if length is None else FLIGHTS[world].changed(length=length)
    log.info("%s, seed %d: flown once without cameras", world, seed)
    scenario, dry = checked_flight(flight, seed)
    with flown(scenario) as source:
        lasts = dry.landed_s + SETTLE_S

        def messages() -> Iterator[Message]:
            told_s = 0.0
            for message in source.messages():
                if message.arrival_ns >= 1e9 * told_s:
                    log.info("%s, seed %d: %.0f of %.0f s simulated", world, seed, told_s, lasts)
                    told_s += TELL_EVERY_S
                yield message

        yield replace(source, messages=messages)


def _scored(world: str, seed: int, length: float | None) -> dict[str, Any]:
    with _flown(world, seed, length) as source:
        scored = scores(localise(source, source.messages()))
    if "ape_m" not in scored:
        raise DatasetError(f"bench vio: no valid estimate in '{world}', seed {seed}: {scored.get('never_valid')}")
    return scored


def vio_backends(
    worlds: Sequence[str] = ("corridor", "house", "park"), seed: int = 101, length: float | None = None
) -> Measurements:
    """The odometry's filter beside a fixed-lag smoother (GTSAM) on the same tracks: errors, time, consistency.

    These are flights for development; `skyloop reproduce e2es` flies other seeds."""
    check_gtsam()
    for world in worlds:
        with _flown(world, seed, length) as source:
            yield from compare(source, source.messages(), world)


class SmootherBeside:
    """Listens to an odometry while it works, without a change in it, and gives a smoother the same steps."""

    def __init__(self, odometry: VisualInertialOdometry) -> None:
        f = odometry.backend.filter
        self.smoother = FixedLagBackend(
            odometry.calibration, 1.0 / f.rig.weights, np.sqrt(f.noise), odometry.settings.rest_speed_sd
        )
        self.filtered: list[BodyState] = []
        """The filter's belief after each step."""
        self.states: list[BodyState] = []
        """The smoother's."""
        self.filter_seconds: list[float] = []
        self.seconds: list[float] = []
        self.solver_seconds: list[float] = []
        """Of each step; the part of the smoother's time that is spent within GTSAM's solver."""
        self.covariance_seconds: list[float] = []
        """Of each covariance of the newest node."""
        self._odometry = odometry
        self._has_begun = False
        self._covariance_ns = 0
        self._own = odometry._begin, odometry._step, odometry._go_on_without_images
        for name in ("_begin", "_step", "_go_on_without_images"):
            setattr(odometry, name, getattr(self, name))

    def _begin(self, t_ns: int, start: Start) -> None:
        if self._has_begun:
            raise DatasetError("the filter had to start again on this flight, so the two cannot be compared")
        self._has_begun = True
        self._own[0](t_ns, start)
        f = self._odometry.backend.filter
        self.smoother.begin(t_ns, f.rotation.copy(), f.biases.copy(), f.covariance.copy())

    def _go_on_without_images(self, t_ns: int) -> None:
        vio = self._odometry
        self.smoother.move(vio._samples.between(vio.backend.filter.t_ns, t_ns))
        self._own[2](t_ns)

    def _step(self, t_ns: int, samples: Array, *more: Any) -> None:
        vio = self._odometry
        rests = vio._stillness.rests(t_ns, vio._samples)
        gyro = vio._samples.mean_gyro(t_ns) if rests else None
        began = time.process_time()
        self._own[1](t_ns, samples, *more)
        self.filter_seconds.append(time.process_time() - began)
        self.filtered.append(_state_of(vio, samples[-1, 1:4]))
        tracks = vio.tracker.tracks
        step = Step(t_ns, tracks.ids.copy(), tracks.rows.copy(), tracks.known.copy(), gyro)
        began = time.process_time()
        self.smoother.move(samples)
        self.smoother.step(step)
        self.seconds.append(time.process_time() - began)
        self.solver_seconds.append(self.smoother.solver_seconds)
        began = time.process_time()
        self.states.append(self.smoother.state(t_ns - self._covariance_ns >= COVARIANCE_EVERY_NS))
        if self.states[-1].covariance is not None:
            self.covariance_seconds.append(time.process_time() - began)
            self._covariance_ns = t_ns


def _state_of(vio: VisualInertialOdometry, gyro: Array) -> BodyState:
    f = vio.backend.filter
    levers = body_levers(vio.calibration, f.rotation, gyro - f.biases[0])
    out = np.empty((15, 15))
    ordinary_covariance(np.ascontiguousarray(f.covariance[:15, :15]), f.rotation, f.motion, levers, out)
    return BodyState(
        f.t_ns, f.motion[1] + levers[0], f.motion[0] + levers[1], body_attitude(vio.calibration, f.rotation),
        f.biases[0].copy(), f.biases[1].copy(), out[:9, :9].copy(),
    )  # fmt: skip


def compare(source: MessageSource, messages: Iterable[Message], name: str = "") -> Measurements:
    """Runs both back ends in one pass. The tracks are those of the filter's own front end."""
    beside: list[SmootherBeside] = []

    def watch(message: Message, localiser: VisualLocaliser) -> None:
        if not beside:
            beside.append(SmootherBeside(localiser.odometry))

    found = localise(source, messages, settings=VioSettings(), watch=watch)
    if not beside[0].states:
        raise DatasetError(f"'{source.folder}': the odometry never started, so there is nothing to compare")
    tracking_ms = 1e3 * found.stage_seconds["track"] / max(found.pairs, 1)
    yield from backend_measurements(beside[0], found.truths, found.pairs, tracking_ms, name or source.folder.name)


def backend_measurements(
    both: SmootherBeside, truths: Truths, pairs: int, tracking_ms: float, world: str
) -> Measurements:
    """tracking_ms: per pair, the same for both. A pair without a step of the filter counts as no time."""
    # the covariance of the filter is known always; it is judged where that of the smoother is known too
    judged = [k for k, state in enumerate(both.states) if state.covariance is not None]
    way = together(truths.track, _estimates(both.states).track)[0].length
    steps = f"{both.smoother.node_count} nodes in {len(both.states)} steps of the filter"
    time_note = f"processor time of the back end; tracking, the same for both, takes {tracking_ms:.1f} ms more"
    inside = sum(both.solver_seconds) / max(sum(both.seconds), 1e-9)
    spent = {}
    for name, states, seconds, note, more in (
        ("filter", both.filtered, both.filter_seconds, f"{way:.0f} m, {pairs} pairs, SE(3) alignment", ""),
        (
            "smoother", both.states, both.seconds, f"the same tracks; incremental, window of {NODES} nodes, {steps}",
            f"; {100 * inside:.0f} % of it in GTSAM's solver, without any covariance",
        ),
    ):  # fmt: skip
        errors = absolute_errors(*together(truths.track, _estimates(states).track))
        nees = errors_from_start(truths, _estimates([states[k] for k in judged])).nees()
        per_pair = np.zeros(max(pairs, len(seconds)))
        per_pair[: len(seconds)] = seconds
        key, spent[name] = f"{world}_{name}", 1e3 * float(per_pair.mean())
        yield lower(f"{key}_ape_m", errors.translation_rmse, "m", None, note)
        yield lower(f"{key}_ape_deg", math.degrees(errors.rotation_rmse), "deg", None, "the same")
        yield lower(f"{key}_pair_ms", spent[name], "ms", None, time_note + more)
        yield lower(f"{key}_pair_p95_ms", 1e3 * np.percentile(per_pair, 95), "ms", None, "95 % of the pairs")
        # the first instant is where the two worlds are brought together
        mean_nees = float(np.nanmean(nees[1:])) if len(nees) > 1 else math.nan
        yield Measurement(f"{key}_nees", mean_nees, "1", None, "its own covariance, not scaled; 9 would be right")
    asked = "one covariance of the smoother's newest pose and velocity, which is not in its time above"
    covariance_ms = 1e3 * float(np.mean(both.covariance_seconds))
    yield lower(f"{world}_smoother_covariance_ms", covariance_ms, "ms", None, asked)
    ratio = spent["smoother"] / max(spent["filter"], 1e-9)
    over = "the smoother's mean time of the back end per pair over the filter's"
    yield Measurement(f"{world}_vs_smoother", ratio, RATIO, None, over)


def _estimates(states: Sequence[BodyState]) -> Estimates:
    unknown = np.full((9, 9), np.nan)
    return Estimates(
        np.array([s.t_ns for s in states], np.int64),
        np.ones(len(states), np.bool_),
        np.array([s.position for s in states]),
        np.array([s.velocity for s in states]),
        np.array([s.quat_wxyz for s in states]),
        np.array([s.gyro_bias for s in states]),
        np.array([s.accel_bias for s in states]),
        np.array([unknown if s.covariance is None else s.covariance for s in states]),
    )


def main(folders: Sequence[str]) -> list[dict[str, Any]]:
    sources = [open_source(Path(folder)) for folder in folders]
    return [measurement.plain() for source in sources for measurement in compare(source, source.messages())]


if __name__ == "__main__":
    try:
        print(json.dumps(main(sys.argv[1:]), indent=2))
    except SkyloopError as error:
        sys.exit(str(error))
