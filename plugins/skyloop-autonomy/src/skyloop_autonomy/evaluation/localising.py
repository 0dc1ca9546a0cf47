"""Localisation on a dataset: gives the images and IMU samples to visual-inertial odometry as they arrived."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from skyloop.recording.replay import open_replay
from skyloop_autonomy.evaluation.estimate_log import EstimateLog, Estimates, Truths
from skyloop_autonomy.vio import StereoCalibration, VioSettings
from skyloop_autonomy.vio.calibration import DEFAULT_GRAVITY, ChosenStreams, chosen_streams
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.errors import DatasetError, ScenarioError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, Estimate, ImuBias, Message, StartConditions, VehicleState
from skyloop_client.streams import StreamInfo


@dataclass(frozen=True, slots=True)
class MessageSource:
    """A dataset's streams of one vehicle, and its messages."""

    folder: Path
    infos: dict[str, StreamInfo]
    messages: Callable[[], Iterator[Message]]
    streams: ChosenStreams

    @property
    def calibration(self) -> StereoCalibration:
        return StereoCalibration.from_streams(self.infos, **self.streams.names, gravity=DEFAULT_GRAVITY)

    @property
    def setup(self) -> EstimatorSetup:
        """The estimator's own world begins where it starts: it gets nothing of the truth."""
        inputs = {name: self.infos[name] for name in self.streams.names.values() if name is not None}
        vehicle = self.infos[self.streams.imu].vehicle
        nowhere = StartConditions(0.0, 0.0, 0.0, DEFAULT_GRAVITY, np.zeros(3), np.zeros(3), 0.0)
        return EstimatorSetup(vehicle, "vio", inputs, nowhere)


@dataclass(slots=True)
class Localised:
    """What came out of one pass over a dataset."""

    estimates: Estimates
    truths: Truths
    changes: list[tuple[float, bool, str]]
    """When the estimate became valid or not, and why."""
    pair_seconds: Array
    """Processor time of each pair with the IMU samples since the one before, all threads, without loop closing."""
    pairs: int = 0
    imu_samples: int = 0
    stage_seconds: dict[str, float] = field(default_factory=dict)
    """Processor time by stage of the odometry, of all pairs together."""
    closed: Estimates | None = None
    """In the map frame, as they would have been published; None without loop closing."""


def open_source(folder: Path, vehicle: str | None = None, **named: str | None) -> MessageSource:
    """The dataset in a folder; `named` are left, right, depth and imu, where the usual names are not used."""
    opened = open_replay(folder)
    vehicles = list(dict.fromkeys(info.vehicle for info in opened.infos.values() if info.vehicle))
    chosen = vehicle or (vehicles[0] if vehicles else "")
    if chosen not in vehicles:
        raise DatasetError(f"'{folder}' holds no vehicle '{chosen}', only {', '.join(vehicles) or 'none'}")
    sensed = {
        name: info for name, info in opened.infos.items() if info.vehicle == chosen and not name.startswith("truth/")
    }
    full = {key: None if name is None else _full_name(name, chosen, sensed) for key, name in named.items()}
    try:
        streams = chosen_streams(sensed, **full)
    except ScenarioError:
        held = ", ".join(f"{name} ({info.message})" for name, info in sensed.items()) or "nothing"
        raise DatasetError(
            f"'{folder}' cannot be localised: it needs an IMU and two cameras, or a camera and its depth; "
            f"it holds {held}"
        ) from None
    return MessageSource(folder, {**opened.infos}, opened.messages, streams)


def _full_name(name: str, vehicle: str, known: dict[str, StreamInfo]) -> str:
    return f"{vehicle}/{name}" if f"{vehicle}/{name}" in known else name


class Timer:
    """Processor time of all threads of each pair of images, with the IMU samples since the pair before."""

    def __init__(self, localiser: VisualLocaliser) -> None:
        self._localiser = localiser
        self._spent = 0.0
        self._pairs = 0
        self.pair_seconds: list[float] = []
        """Without loop closing."""
        self.closing_seconds = 0.0
        closer = localiser.odometry.closer
        if closer is not None:
            setattr(closer, "see", self._timed(closer.see))  # noqa: B010 - a method is not assigned to

    def _timed(self, see: Callable[..., bool]) -> Callable[..., bool]:
        def timed(*arguments: object) -> bool:
            began = time.process_time()
            taken = see(*arguments)
            spent = time.process_time() - began
            self.closing_seconds += spent
            self._spent -= spent
            return taken

        return timed

    def on_message(self, message: Message) -> Estimate | None:
        began = time.process_time()
        estimate = self._localiser.estimate_of(message)
        self._spent += time.process_time() - began
        if self._localiser.pairs > self._pairs:
            self._pairs = self._localiser.pairs
            self.pair_seconds.append(self._spent)
            self._spent = 0.0
        return estimate


def localise(
    source: MessageSource,
    messages: Iterable[Message],
    *,
    settings: VioSettings | None = None,
    calibration: StereoCalibration | None = None,
    watch: Callable[[Message, VisualLocaliser], None] = lambda message, localiser: None,
) -> Localised:
    """One pass of the odometry over the messages. The truth among them is only kept for the scores.

    watch: called after each message."""
    localiser = VisualLocaliser(
        source.setup,
        settings=settings or VioSettings(loops=True),
        calibration=calibration,
        stage_clock=time.process_time,
        **source.streams.names,
    )
    timer, log, closed = Timer(localiser), EstimateLog(), EstimateLog()
    vehicle = source.infos[source.streams.imu].vehicle
    truth, bias = f"truth/{vehicle}", f"truth/{source.streams.imu}"
    states: list[VehicleState] = []
    biases: list[tuple[int, Array, Array]] = []
    for message in messages:
        if message.stream == truth:
            states.append(message.data)
        elif message.stream == bias and isinstance(message.data, ImuBias):
            biases.append((message.data.t_ns, message.data.gyro_bias, message.data.accel_bias))
        else:
            estimate = timer.on_message(message)
            if estimate is not None:
                log.add(estimate)
                if localiser.odometry.closer is not None:
                    closed.add(localiser.odometry.map_estimate)
            watch(message, localiser)
    if localiser.imu_samples == 0 or localiser.pairs == 0:
        raise DatasetError(
            f"'{source.folder}' has {localiser.imu_samples} IMU samples and {localiser.pairs} pairs of images; "
            "localisation needs both, the two images of a pair with one stamp"
        )
    return Localised(
        log.arrays(),
        Truths.of(states, biases),
        log.changes,
        np.array(timer.pair_seconds),
        localiser.pairs,
        localiser.imu_samples,
        _stages(localiser, timer),
        closed.arrays() if localiser.odometry.closer is not None else None,
    )


def _stages(localiser: VisualLocaliser, timer: Timer) -> dict[str, float]:
    """Loop closing is done within the filter's stage and is counted apart. The rest of the time goes to the IMU."""
    stages = {stage: sum(seconds) for stage, seconds in localiser.odometry.stage_seconds.items()}
    if localiser.odometry.closer is not None:
        stages["filter"] = stages.get("filter", 0.0) - timer.closing_seconds
    stages["IMU samples"] = sum(timer.pair_seconds) - sum(stages.values())
    if localiser.odometry.closer is not None:
        stages["loop closing"] = timer.closing_seconds
    return stages
