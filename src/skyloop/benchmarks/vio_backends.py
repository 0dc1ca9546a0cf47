"""`skyloop bench vio-backends`: the filter of the odometry beside a fixed-lag smoother, on the same tracks of the same
flights.

On recorded flights: `python -m skyloop.benchmarks.vio_backends FOLDER ...` prints the same figures as JSON."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.benchmarks.fixed_lag_smoother import FixedLagBackend
from skyloop.benchmarks.gtsam_import import check_gtsam
from skyloop.benchmarks.smoother_config import SmootherConfig
from skyloop.benchmarks.vio_steps import BodyState, StepRecord, StepTap
from skyloop.core.results import Figure
from skyloop_autonomy.evaluation.estimate_log import Estimates, Truths, errors_from_start
from skyloop_autonomy.evaluation.flown_sources import flown
from skyloop_autonomy.evaluation.localising import Source, localise, open_source
from skyloop_autonomy.evaluation.trajectory_error import absolute_errors, together
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, checked_flight
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.errors import DatasetError, SkyloopError
from skyloop_client.messages import Array, Message

COVARIANCE_EVERY_NS = 500_000_000
"""The smoother is asked for its covariance this often, outside of its time."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. These are flights for development; `reproduce e2es` flies other seeds."""

    worlds: tuple[str, ...] = ("corridor", "house", "park")
    seed: int = 101


class SmootherBeside:
    """Gives a smoother the steps of a record as they come in."""

    def __init__(self, record: StepRecord, config: SmootherConfig | None = None) -> None:
        self.record = record
        self.backend = FixedLagBackend(
            record.calibration, record.image_sds, record.imu_densities, config, record.settings.rest_speed_sd
        )
        self.states: list[BodyState] = []
        self.seconds: list[float] = []
        """Of each step."""
        self.solver_seconds: list[float] = []
        """The part of it that is spent within GTSAM's solver."""
        self.covariance_seconds: list[float] = []
        """Of each covariance of the newest node."""
        self._last_ns = -1
        self._told_ns = 0
        self._first = 0

    def catch_up(self) -> None:
        """Takes the steps that are new."""
        record = self.record
        if len(record.beginnings) > 1:
            raise DatasetError("the filter had to start again on this flight, so the two cannot be compared")
        while len(self.states) < len(record.steps):
            if self._last_ns < 0:
                self.backend.begin(record.beginnings[0])
                self._last_ns = record.beginnings[0].t_ns
            step = record.steps[len(self.states)]
            samples = self._samples(step.t_ns)
            began = time.process_time()
            self.backend.step(step, samples)
            self.seconds.append(time.process_time() - began)
            self.solver_seconds.append(self.backend.solver_seconds)
            began = time.process_time()
            state = self.backend.state(step.t_ns - self._told_ns >= COVARIANCE_EVERY_NS)
            if state.covariance is not None:
                self.covariance_seconds.append(time.process_time() - began)
                self._told_ns = step.t_ns
            self.states.append(state)
            self._last_ns = step.t_ns

    def _samples(self, until_ns: int) -> Array:
        """(n, 7) s, gyroscope, accelerometer from the step before on; both ends are interpolated."""
        stamps, values = self.record.imu_t_ns, self.record.imu
        while stamps[self._first + 1] <= self._last_ns:
            self._first += 1
        last = self._first
        while stamps[last] < until_ns and last + 1 < len(stamps):
            last += 1
        times = np.array([t - self._last_ns for t in stamps[self._first : last + 1]]) * 1e-9
        rows = np.array(values[self._first : last + 1])
        end = (until_ns - self._last_ns) * 1e-9
        at = np.concatenate([[0.0], times[(times > 0.0) & (times < end)], [end]])
        return np.column_stack([at, *(np.interp(at, times, rows[:, axis]) for axis in range(6))])


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one back end on one flight."""

    ape_m: float
    ape_deg: float
    nees: float
    """Of position, velocity and attitude with the back end's own covariance; 9 is right."""
    pair_ms: float
    pair_p95_ms: float
    """Processor time of the back end alone; a pair without a step counts as zero."""


@dataclass(frozen=True, slots=True)
class Compared:
    name: str
    way_m: float
    filter: Outcome
    smoother: Outcome
    tracking_ms: float
    """Per pair; the same for both."""
    solver_share: float
    """Of the smoother's time, what GTSAM's solver takes; the rest is Python around it."""
    covariance_ms: float
    """Of one covariance of the smoother; the filter has its own always."""
    nodes: int
    steps: int
    pairs: int


def compare(
    source: Source, messages: Iterable[Message], config: SmootherConfig | None = None, name: str = ""
) -> Compared:
    """Runs both back ends in one pass. The tracks are those of the filter's own front end."""
    beside: list[SmootherBeside] = []

    def watch(message: Message, localiser: VisualLocaliser) -> None:
        if not beside:
            beside.append(SmootherBeside(StepTap(localiser.odometry).record, config))
        beside[0].catch_up()

    found = localise(source, messages, settings=VioSettings(), watch=watch)
    both = beside[0]
    if not both.states:
        raise DatasetError(f"'{source.folder}': the odometry never started, so there is nothing to compare")
    tracking = found.stage_seconds["track"] / max(found.pairs, 1)
    return compared(both, found.truths, found.pairs, tracking, name or source.folder.name)


def compared(both: SmootherBeside, truths: Truths, pairs: int, tracking_s: float, name: str) -> Compared:
    record = both.record
    # the covariance of the filter is known always; it is judged where that of the smoother is known too
    told = [k for k, state in enumerate(both.states) if state.covariance is not None]
    truth, _ = together(truths.track, _estimates(both.states).track)
    return Compared(
        name,
        truth.length,
        _outcome(record.filtered, told, record.filter_seconds, truths, pairs),
        _outcome(both.states, told, both.seconds, truths, pairs),
        1e3 * tracking_s,
        sum(both.solver_seconds) / max(sum(both.seconds), 1e-9),
        1e3 * float(np.mean(both.covariance_seconds)),
        both.backend.node_count,
        len(record.steps),
        pairs,
    )


def _outcome(
    states: Sequence[BodyState], told: Sequence[int], seconds: Sequence[float], truths: Truths, pairs: int
) -> Outcome:
    truth, estimate = together(truths.track, _estimates(states).track)
    errors = absolute_errors(truth, estimate)
    nees = errors_from_start(truths, _estimates([states[k] for k in told])).nees()
    per_pair = np.zeros(max(pairs, len(seconds)))
    per_pair[: len(seconds)] = seconds
    return Outcome(
        errors.translation_rmse,
        math.degrees(errors.rotation_rmse),
        # the first instant is where the two worlds are brought together
        float(np.nanmean(nees[1:])) if len(nees) > 1 else math.nan,
        1e3 * float(per_pair.mean()),
        1e3 * float(np.percentile(per_pair, 95)),
    )


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


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench vio-backends`."""
    sizes = sizes or Sizes()
    check_gtsam()
    out = []
    for world in sizes.worlds:
        with flown(checked_flight(FLIGHTS[world], sizes.seed)[0]) as source:
            out.append(compare(source, source.messages(), name=world))
    return figures(out)


def figures(flights: Sequence[Compared]) -> list[Figure]:
    return [figure for flight in flights for figure in _figures(flight)]


def _figures(one: Compared) -> list[Figure]:
    c = SmootherConfig()
    way = f"{one.way_m:.0f} m, {one.pairs} pairs, SE(3) alignment"
    window = f"{c.solver}, window of {c.nodes} nodes, {one.nodes} nodes in {one.steps} steps of the filter"
    notes = {"filter": way, "smoother": f"the same tracks; {window}"}
    out = []
    for name, outcome in (("filter", one.filter), ("smoother", one.smoother)):
        key = f"{one.name}_{name}"
        time_note = f"processor time of the back end; tracking, the same for both, takes {one.tracking_ms:.1f} ms more"
        if name == "smoother":
            time_note += f"; {100 * one.solver_share:.0f} % of it in GTSAM's solver, without any covariance"
        out += [
            Figure(f"{key}_ape_m", outcome.ape_m, "m", None, notes[name], lower_is_better=True),
            Figure(f"{key}_ape_deg", outcome.ape_deg, "deg", None, "the same", lower_is_better=True),
            Figure(f"{key}_pair_ms", outcome.pair_ms, "ms", None, time_note, lower_is_better=True),
            Figure(f"{key}_pair_p95_ms", outcome.pair_p95_ms, "ms", None, "95 % of the pairs", lower_is_better=True),
            Figure(f"{key}_nees", outcome.nees, "1", None, "its own covariance, not scaled; 9 would be right"),
        ]
    ratio = one.smoother.pair_ms / max(one.filter.pair_ms, 1e-9)
    note = "smoother over filter, mean time of the back end per pair"
    asked = "one covariance of the smoother's newest pose and velocity, which is not in its time above"
    return [
        *out,
        Figure(f"{one.name}_smoother_covariance_ms", one.covariance_ms, "ms", None, asked, lower_is_better=True),
        Figure(f"{one.name}_time_ratio", ratio, "1", None, note, lower_is_better=True),
    ]


def main(folders: Sequence[str]) -> list[dict[str, Any]]:
    sources = [open_source(Path(folder)) for folder in folders]
    return [figure.plain() for figure in figures([compare(source, source.messages()) for source in sources])]


if __name__ == "__main__":
    try:
        print(json.dumps(main(sys.argv[1:]), indent=2))
    except SkyloopError as error:
        sys.exit(str(error))
