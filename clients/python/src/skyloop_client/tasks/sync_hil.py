"""The tasks of Augello et al., "Simulation and Test of UAV Tasks With Resource-Constrained Hardware in the Loop".

Definitions, the same in every language (those of seeing are in anchor.py, of dead reckoning in dead_reckoning.py):
- Acquiring a sample: one question that waits for a sample not given before and repeats the setpoint in force, if any.
- stop() is Velocity 0; move_direction(a) is Velocity (v·cos a, v·sin a, 0) in body axes; rotating is Velocity 0 with
  a yaw rate. The yaw is that of the autopilot's state. Angles are positive to the left (anticlockwise).
- Algorithm 2 ends with the first image on which CamShift converges.
- Algorithm 3 compares |angle| with the precision. Every change of direction is one oscillation and multiplies the
  rate by `slowing`, down to `slowest_rate`; a change of sign within the precision is the end and changes no
  direction. While the anchor is out of sight, it goes on turning.
- Algorithm 4 compares |angle|, too. Its loop ends as soon as the yaw has turned by 90°, seen after facing the anchor.
- Algorithm 5's angles are read as 0, π/2, π, 3π/2, 2π: a square. 2π is no fifth side, which would leave it open, but
  the end of the last. The length of a leg is the estimated way along its direction since its corner. The last look
  is taken `settling` after the stop. The answer is the distance between the places where the anchor was seen, in
  axes that keep the start's heading.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skyloop_client.bundle import Bundle
from skyloop_client.errors import TaskError, unknown_name
from skyloop_client.messages import Arm, Array, Hover, TakeOff, Velocity
from skyloop_client.streams import NS_PER_S, StreamInfo
from skyloop_client.tasks.anchor import BLUE_BOARD, Anchor, AnchorTracker, Intrinsics, Roi
from skyloop_client.tasks.dead_reckoning import DeadReckoning
from skyloop_client.tasks.task import PlainData, SessionLike, Task, TaskRecord

STOP = Velocity(np.zeros(3), "body")
CLIMBED = 0.05
"""m below its altitude that a hover may be."""


def move_direction(angle: float, speed: float) -> Velocity:
    """A velocity at `angle` from straight ahead, without turning."""
    return Velocity(np.array([speed * math.cos(angle), speed * math.sin(angle), 0.0]), "body")


def yaw_of(bundle: Bundle) -> float:
    """rad, anticlockwise from east."""
    w, x, y, z = bundle.state.quat_wxyz
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@dataclass
class Ascend(Task):
    """Arm, take off and wait until the vehicle hovers."""

    name: ClassVar[str] = "ascend"
    flies: ClassVar[bool] = False
    altitude: float = 1.5
    """m above the ground."""
    stillness: float = 0.05
    """m/s: slower for a second is a hover. Gusts and errors of the estimated speed are 0.03."""
    patience: float = 20.0
    """s before it fails."""

    def initialise(self) -> None:
        self._still = 0
        self._ground: float | None = None
        self._bundle = self.ask(Arm(), TakeOff(self.altitude))
        self._late_ns = self._bundle.t_ns + round(self.patience * NS_PER_S)

    def is_done(self) -> bool:
        return self._still >= 10

    def step(self) -> None:
        if self._bundle.t_ns > self._late_ns:
            raise TaskError(f"not in the air after {self.patience:g} s; the vehicle is {self._bundle.status.mode}")
        if self._ground is None and self._bundle.status.armed:
            self._ground = float(self._bundle.state.position[2])
        # an estimator may need a while before arming is allowed
        again = () if self._bundle.status.armed else (Arm(), TakeOff(self.altitude))
        self._bundle = self.session.ask(*again, until_ns=self._bundle.t_ns + NS_PER_S // 10)
        state, status = self._bundle.state, self._bundle.status
        # the climb is so slow at its end that it looks like a hover
        high = self._ground is not None and state.position[2] - self._ground > self.altitude - CLIMBED
        slow = float(np.linalg.norm(state.velocity_world)) < self.stillness
        self._still = self._still + 1 if status.mode == "hover" and high and slow else 0


@dataclass
class SensorCharacterisation(Task):
    """Algorithm 1: the time for a number of samples of a sensor."""

    name: ClassVar[str] = "sensor-characterisation"
    flies: ClassVar[bool] = False
    stream: str = "front"
    samples: int = 100
    fresh: bool = True
    """Wait for a new sample. False: take the latest one."""

    def initialise(self) -> None:
        self._start_ns = self.session.now()
        self._got = 0
        self._newest_ns = -1

    def is_done(self) -> bool:
        return self.record.loops >= self.samples

    def step(self) -> None:
        bundle = self.session.ask(want=[self.stream], fresh=[self.stream] if self.fresh else [])
        sample = bundle.get(self.stream)
        # a bundle also keeps earlier samples
        if sample is not None and sample.t_ns > self._newest_ns:
            self._got += 1
            self._newest_ns = sample.t_ns

    def finalise(self) -> PlainData:
        took = (self.session.now() - self._start_ns) / NS_PER_S
        return {"seconds": took, "got": self._got, "seconds_per_sample": took / max(self.samples, 1)}


@dataclass
class RelativePosition(Task):
    """Algorithm 2: angle and distance of an anchor, by CamShift."""

    name: ClassVar[str] = "relative-position"
    anchor: Anchor = BLUE_BOARD
    camera: str = "front"
    most_images: int = 2000
    """It fails after so many images without the anchor."""
    keep: Velocity | None = dataclasses.field(default=None, repr=False)
    """The current setpoint, repeated with every question."""

    def initialise(self) -> None:
        self._lens = Intrinsics.from_details(stream_info(self.session, self.camera).details)
        self._tracker = AnchorTracker(self.anchor)
        self._roi: Roi | None = None

    def is_done(self) -> bool:
        return self._roi is not None

    def step(self) -> None:
        if self.record.loops > self.most_images:
            raise TaskError(f"no anchor in {self.most_images} images of '{self.camera}'")
        keep = () if self.keep is None else (self.keep,)
        image = self.ask(*keep, fresh=self.camera).get(self.camera)
        self._image_ns = image.t_ns
        self._roi = self._tracker.find(image.colour)

    def finalise(self) -> PlainData:
        assert self._roi is not None
        angle, distance = self._roi.angle(self._lens), self._roi.distance(self._lens, self.anchor.height)
        return {"angle": angle, "distance": distance, "pixels": self._roi.pixels, "image_ns": self._image_ns}


@dataclass
class FaceAnchor(Task):
    """Algorithm 3: turn until the anchor is in the middle of the image."""

    name: ClassVar[str] = "face-anchor"
    anchor: Anchor = BLUE_BOARD
    camera: str = "front"
    precision: float = 0.02
    """rad."""
    rate: float = 0.3
    """rad/s, initial."""
    slowing: float = 0.5
    """Factor on the rate at every change of direction."""
    slowest_rate: float = 0.02
    """rad/s."""

    def initialise(self) -> None:
        self.oscillations = 0
        self.ask(STOP)
        self._turn(0.0)
        self._angle = self._look()
        self._turn(math.copysign(self.rate, self._angle))

    def is_done(self) -> bool:
        return abs(self._angle) <= self.precision

    def step(self) -> None:
        angle = self._look()
        if (angle > 0.0) != (self._angle > 0.0) and abs(angle) > self.precision:
            self.oscillations += 1
            slower = max(self.slowing * abs(self._motion.yaw_rate), self.slowest_rate)
            self._turn(math.copysign(slower, angle))
        self._angle = angle

    def finalise(self) -> PlainData:
        self.ask(STOP)
        return {"angle": self._angle, "oscillations": self.oscillations}

    def _turn(self, yaw_rate: float) -> None:
        self._motion = Velocity(np.zeros(3), "body", yaw_rate=yaw_rate)

    def _look(self) -> float:
        return float(self.run(RelativePosition(self.anchor, self.camera, keep=self._motion))["angle"])


@dataclass
class MoveForwardFacing(Task):
    """Algorithm 4: fly straight, always facing the anchor, until the anchor is abeam."""

    name: ClassVar[str] = "move-forward"
    anchor: Anchor = BLUE_BOARD
    camera: str = "front"
    precision: float = 0.02
    """rad."""
    speed: float = 0.135
    """m/s: the paper's 8 m in 59 s."""
    rate: float = 0.3
    """rad/s when facing the anchor."""

    def initialise(self) -> None:
        self.oscillations = self.faced = 0
        self._start_yaw = self._yaw = yaw_of(self.ask())
        self._move()

    def is_done(self) -> bool:
        return abs(wrapped(self._yaw - self._start_yaw)) >= 0.5 * math.pi

    def step(self) -> None:
        seen = self.run(RelativePosition(self.anchor, self.camera, keep=self._motion))
        if abs(seen["angle"]) > self.precision:
            faced = self.run(FaceAnchor(self.anchor, self.camera, self.precision, self.rate))
            self.faced += 1
            self.oscillations += faced["oscillations"]
        self._yaw = yaw_of(self.ask())
        self._move()

    def finalise(self) -> PlainData:
        self.ask(STOP)
        turned = wrapped(self._yaw - self._start_yaw)
        return {"turned": turned, "faced": self.faced, "oscillations": self.oscillations}

    def _move(self) -> None:
        self._motion = move_direction(self._start_yaw - self._yaw, self.speed)
        self.ask(self._motion)


@dataclass
class ClosedPath(Task):
    """Algorithm 5: a square by dead reckoning, and the distance of its end from its start."""

    name: ClassVar[str] = "closed-path"
    anchor: Anchor = BLUE_BOARD
    camera: str = "front"
    imu: str = "imu"
    distance: float = 3.0
    """m, of each leg."""
    speed: float = 0.5
    """m/s."""
    directions: tuple[float, ...] = (0.0, 0.5 * math.pi, math.pi, 1.5 * math.pi)
    """rad from straight ahead, one for each leg."""
    rest_samples: int = 20
    """IMU samples at rest, before it moves."""
    settling: float = 1.0
    """s from the stop to the last image, because a braking vehicle is tilted, and so is its camera."""

    def initialise(self) -> None:
        self._reckoning = DeadReckoning()
        self._start_yaw = yaw_of(self.ask())
        self._start = self._seen()
        for _ in range(self.rest_samples):
            self._reckoning.add_at_rest(self.ask(STOP, fresh=self.imu).get(self.imu))
        self._legs = list(self.directions)
        self._corner = self._reckoning.position

    def is_done(self) -> bool:
        return not self._legs

    def step(self) -> None:
        """One leg. Its loop is the inner loop of the algorithm."""
        angle = self._legs.pop(0)
        heading = self._start_yaw + angle
        along = np.array([math.cos(heading), math.sin(heading), 0.0])
        motion = move_direction(angle, self.speed)
        length = 0.0
        while length < self.distance:
            bundle = self.ask(motion, fresh=self.imu)
            self._reckoning.add(bundle.get(self.imu), bundle.state)
            length = float((self._reckoning.position - self._corner) @ along)
        self._corner = self._reckoning.position

    def finalise(self) -> PlainData:
        self.session.ask(STOP, until_ns=self.session.now() + round(self.settling * NS_PER_S))
        moved = self._start - self._seen()
        return {"displacement": float(np.linalg.norm(moved)), "moved": moved.tolist()}

    def _seen(self) -> Array:
        """(2,) m forward and left of the vehicle at the initial heading: the position of the anchor."""
        seen = self.run(RelativePosition(self.anchor, self.camera, keep=STOP))
        bearing = wrapped(yaw_of(self.ask(STOP)) - self._start_yaw) + seen["angle"]
        return float(seen["distance"]) * np.array([math.cos(bearing), math.sin(bearing)])


TASKS: dict[str, type[Task]] = {
    task.name: task
    for task in (Ascend, SensorCharacterisation, RelativePosition, FaceAnchor, MoveForwardFacing, ClosedPath)
}


def run_task(name: str, session: SessionLike, *, altitude: float = 1.5, **options: Any) -> TaskRecord:
    """Run a task by its name. A task that flies begins in the air, `altitude` m up, and ends with a hover."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    known = [field.name for field in dataclasses.fields(TASKS[name])]
    for option in options:
        if option not in known:
            raise unknown_name(f"option of task '{name}'", option, known)
    if isinstance(options.get("anchor"), dict):
        options["anchor"] = Anchor(**options["anchor"])
    task = TASKS[name](**options)
    if task.flies and session.ask().status.landed:
        Ascend(altitude).perform(session)
    record = task.perform(session)
    if task.flies:
        session.ask(Hover())
    return record


def stream_info(session: SessionLike, stream: str) -> StreamInfo:
    for name in (f"{session.vehicle}/{stream}", stream):
        if name in session.infos:
            return session.infos[name]
    raise unknown_name("stream", stream, session.infos)


def wrapped(angle: float) -> float:
    """Into -π to π."""
    return math.remainder(angle, 2.0 * math.pi)
