"""Visual-inertial odometry as an estimator: in the loop, in another process, on a target, and on recordings.

In a scenario: `estimators: {vio: {kind: vio, inputs: [imu, left,
right]}}` and `state: vio`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

from skyloop.core.jit import prepare
from skyloop.core.validation import validated
from skyloop_autonomy.vio import StereoCalibration, VioSettings, VisualInertialOdometry
from skyloop_autonomy.vio.calibration import chosen_streams
from skyloop_autonomy.vio.stereo_frontend import Image
from skyloop_client.estimator import Answer, EstimatorSetup
from skyloop_client.messages import Array, DepthImage, Estimate, ImuSample, Message

Snapshot: TypeAlias = tuple[dict[str, object], tuple[int, int, int, tuple[dict[int, Image], dict[int, Image]]]]
MOST_WAITING = 2
"""Images of one camera that wait for their partner. A partner that is later than that counts as missing."""


class VisualLocaliser:
    """Gives IMU samples to the odometry as they come, and images when both of a pair are there."""

    def __init__(
        self,
        setup: EstimatorSetup,
        *,
        left: str | None = None,
        right: str | None = None,
        depth: str | None = None,
        imu: str | None = None,
        settings: dict[str, Any] | VioSettings | None = None,
        calibration: StereoCalibration | None = None,
        stage_clock: Callable[[], float] | None = None,
    ) -> None:
        """left, right, depth, imu: inputs by their names, where these are not the usual ones. calibration: in place of
        what the streams say. stage_clock: see `VisualInertialOdometry`."""
        names = chosen_streams(setup.infos, left=left, right=right, depth=depth, imu=imu).names
        start = setup.start
        self.odometry = VisualInertialOdometry(
            calibration or StereoCalibration.from_streams(setup.infos, **names, gravity=start.gravity),
            validated(VioSettings, settings or {}, f"settings of '{setup.name}'"),
            start_position=start.position,
            start_yaw=start.yaw,
            stage_clock=stage_clock,
        )
        self.streams = {key: None if name is None else setup.infos[name].name for key, name in names.items()}
        self.pairs = self.imu_samples = self._sent_pairs = 0
        self._name = setup.name
        # outside, the time to load compiled code would count as execution time of the first images
        prepare("skyloop_autonomy.vio", when_called=True)
        self._camera = str(self.streams["left"]).removeprefix(f"{setup.vehicle}/")
        self._waiting: tuple[dict[int, Image], dict[int, Image]] = {}, {}

    def on_message(self, message: Message) -> Answer:
        """An estimate for every IMU sample, and what else there is to publish beside it.

        The controller flies on the estimate, which never jumps. With loop closing there is another one in the map
        frame, on `<name>_map`, at the rate of the images. When a key pose is kept it comes on `<name>_key_poses`, and
        the points of the filter come on `<name>_landmarks`, both in the frame of the odometry."""
        answers: list[Estimate | tuple[str, object] | None] = [self.estimate_of(message)]
        if answers[0] is not None and self.odometry.closer is not None and self.pairs != self._sent_pairs:
            self._sent_pairs = self.pairs
            answers.append((f"{self._name}_map", self.odometry.map_estimate))
        kept = self.odometry.new_landmarks(self._camera)
        if kept is not None:
            poses, points = kept
            answers += [*((f"{self._name}_key_poses", pose) for pose in poses), (f"{self._name}_landmarks", points)]
        return answers

    def estimate_of(self, message: Message) -> Estimate | None:
        """In the frame of the odometry; None for images."""
        streams = self.streams
        if message.stream == streams["imu"]:
            sample: ImuSample = message.data
            self.imu_samples += 1
            return self.odometry.imu(sample.t_ns, sample.angular_velocity, sample.specific_force)
        if message.stream == streams["left"]:
            self._pair(0, message)
        elif message.stream in (streams["right"], streams["depth"]):
            self._pair(1, message)
        return None

    def _pair(self, side: int, message: Message) -> None:
        mine, others = self._waiting[side], self._waiting[1 - side]
        image = message.data.depth if isinstance(message.data, DepthImage) else message.data.grey
        partner = others.pop(message.t_ns, None)
        if partner is None:
            mine[message.t_ns] = image
            if len(mine) > MOST_WAITING:
                self._give_up(side)
            return
        # images that are older than a whole pair have lost their partner
        for waiting in self._waiting:
            for t_ns in [t_ns for t_ns in waiting if t_ns < message.t_ns]:
                del waiting[t_ns]
        left, second = (image, partner) if side == 0 else (partner, image)
        self._see(message.t_ns, left, second)

    def _give_up(self, side: int) -> None:
        """The partner of the oldest image does not come any more. One image alone still shows motion."""
        oldest = next(iter(self._waiting[side]))
        image = self._waiting[side].pop(oldest)
        if side == 0:
            self._see(oldest, image, None)
        elif self.streams["depth"] is None:
            self._see(oldest, None, image)

    def _see(self, t_ns: int, left: Image | None, second: Image | None) -> None:
        self.pairs += 1
        if self.streams["depth"] is None:
            self.odometry.images(t_ns, left, second)
        else:
            self.odometry.images(t_ns, left, depth=second)

    @property
    def corners(self) -> dict[int, Array]:
        """px by number, of the followed corners, in the image of the camera that leads (`stereo_frontend.py`)."""
        tracks = self.odometry.tracker.tracks
        return dict(zip(tracks.ids.tolist(), tracks.pixels, strict=True))

    def snapshot(self) -> Snapshot:
        return self.odometry.snapshot(), copy.deepcopy((self.pairs, self.imu_samples, self._sent_pairs, self._waiting))

    def restore(self, saved: Snapshot) -> None:
        self.odometry.restore(saved[0])
        self.pairs, self.imu_samples, self._sent_pairs, self._waiting = copy.deepcopy(saved[1])
