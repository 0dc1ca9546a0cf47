"""Localisation on a dataset: gives the images and IMU samples to visual-inertial odometry as they arrived."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.navigation.estimate_log import EstimateLog, Estimates, Truths
from skyloop.navigation.vio import StereoCalibration, VioSettings, VisualInertialOdometry
from skyloop.navigation.vio.calibration import ChosenStreams, chosen_streams
from skyloop.recording.replay import open_replay
from skyloop_client.errors import DatasetError, ScenarioError
from skyloop_client.messages import Array, CameraImage, DepthImage, ImuBias, ImuSample, Message, VehicleState
from skyloop_client.streams import StreamInfo

Grey = NDArray[np.uint8]
MOST_WAITING = 8
"""Images of one camera that wait for their partner."""


class Odometry:
    """Our odometry, with the processor time of its stages."""

    def __init__(self, calibration: StereoCalibration, settings: VioSettings | None = None) -> None:
        self._inner = VisualInertialOdometry(calibration, settings, stage_clock=time.process_time)
        self.imu, self.images = self._inner.imu, self._inner.images

    @property
    def corners(self) -> dict[int, Array]:
        """px in the left image by number, of the corners that are followed."""
        tracks = self._inner.tracker.tracks
        return dict(zip(tracks.ids.tolist(), tracks.pixels, strict=True))

    @property
    def stage_seconds(self) -> dict[str, float]:
        return {name: sum(seconds) for name, seconds in self._inner.stage_seconds.items()}


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset's streams of one vehicle, and its messages."""

    folder: Path
    infos: dict[str, StreamInfo]
    messages: Callable[[], Iterator[Message]]
    streams: ChosenStreams

    @property
    def calibration(self) -> StereoCalibration:
        s = self.streams
        return StereoCalibration.from_streams(self.infos, left=s.left, right=s.right, depth=s.depth, imu=s.imu)


@dataclass(slots=True)
class Localised:
    """What came out of one pass over a dataset."""

    estimates: Estimates
    truths: Truths
    changes: list[tuple[float, bool, str]]
    """When the estimate became valid or not, and why."""
    pair_seconds: Array
    """Processor time of each pair with the IMU samples since the one before, all threads."""
    pairs: int = 0
    imu_samples: int = 0
    stage_seconds: dict[str, float] = field(default_factory=dict)
    """Processor time by stage of the odometry, of all pairs together."""


def open_source(folder: Path, vehicle: str | None = None, **named: str | None) -> Source:
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
    return Source(folder, {**opened.infos}, opened.messages, streams)


def _full_name(name: str, vehicle: str, known: dict[str, StreamInfo]) -> str:
    return f"{vehicle}/{name}" if f"{vehicle}/{name}" in known else name


class Feeder:
    """Turns messages into calls of an odometry: IMU samples as they come, images when both of a pair are there."""

    def __init__(self, odometry: Odometry, streams: ChosenStreams, *, with_depth: bool) -> None:
        self._odometry, self._streams, self._with_depth = odometry, streams, with_depth
        self._waiting: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        self._since_pair = 0.0
        self.log = EstimateLog()
        self.pair_seconds: list[float] = []
        self.imu_samples = 0

    def take(self, message: Message) -> None:
        streams = self._streams
        if message.stream == streams.imu:
            sample: ImuSample = message.data
            began = time.process_time()
            estimate = self._odometry.imu(sample.t_ns, sample.angular_velocity, sample.specific_force)
            self._since_pair += time.process_time() - began
            self.imu_samples += 1
            self.log.add(estimate)
        elif message.stream == streams.left:
            self._pair(0, message)
        elif message.stream in (streams.right, streams.depth):
            self._pair(1, message)

    def _pair(self, side: int, message: Message) -> None:
        mine, others = self._waiting[side], self._waiting[1 - side]
        image = _picture(message.data)
        partner = others.pop(message.t_ns, None)
        if partner is None:
            mine[message.t_ns] = image
            if len(mine) > MOST_WAITING:
                self._alone(side)
            return
        left, second = (image, partner) if side == 0 else (partner, image)
        self._see(message.t_ns, left, second)

    def _alone(self, side: int) -> None:
        """The partner of the oldest image does not come any more. A left image alone still shows motion."""
        oldest = next(iter(self._waiting[side]))
        image = self._waiting[side].pop(oldest)
        if side == 0:
            self._see(oldest, image, None)

    def _see(self, t_ns: int, left: Grey, second: Any) -> None:
        began = time.process_time()
        if self._with_depth:
            self._odometry.images(t_ns, left, depth=second)
        else:
            self._odometry.images(t_ns, left, second)
        self.pair_seconds.append(time.process_time() - began + self._since_pair)
        self._since_pair = 0.0


def _picture(record: CameraImage | DepthImage) -> Any:
    """Grey, or depth in m."""
    if isinstance(record, DepthImage):
        return record.depth
    return record.grey


def localise(
    source: Source,
    messages: Iterable[Message],
    *,
    settings: VioSettings | None = None,
    calibration: StereoCalibration | None = None,
    watch: Callable[[Message, Odometry], None] = lambda message, odometry: None,
) -> Localised:
    """One pass of the odometry over the messages. The truth among them is only kept for the scores.

    watch: called after each message."""
    odometry = Odometry(calibration or source.calibration, settings)
    feeder = Feeder(odometry, source.streams, with_depth=source.streams.depth is not None)
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
            feeder.take(message)
            watch(message, odometry)
    if feeder.imu_samples == 0 or not feeder.pair_seconds:
        raise DatasetError(
            f"'{source.folder}' has {feeder.imu_samples} IMU samples and {len(feeder.pair_seconds)} pairs of images; "
            "localisation needs both, the two images of a pair with one stamp"
        )
    return Localised(
        feeder.log.arrays(),
        Truths.of(states, biases),
        feeder.log.changes,
        np.array(feeder.pair_seconds),
        len(feeder.pair_seconds),
        feeder.imu_samples,
        odometry.stage_seconds,
    )
