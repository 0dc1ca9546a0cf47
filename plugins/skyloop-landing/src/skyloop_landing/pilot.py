"""Lands on the marker by camera and rangefinder: detector and control in the simulator's own process."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from skyloop.core import quantities
from skyloop.core.frames import yaw_from_quat
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.random_key import stream_key
from skyloop.vehicle.pilots.sortie import PilotConfig, Reply, Sortie
from skyloop.vehicle.trajectories.drawn import Survey
from skyloop_client import Bundle
from skyloop_client.messages import (
    Array,
    CameraImage,
    Detections,
    Estimate,
    Goal,
    GoHome,
    Hover,
    Image,
    LandingStatus,
    RangeSample,
    VehicleState,
    Velocity,
)
from skyloop_landing.monitor import monitor_picture
from skyloop_landing.vision.control import (
    GIVEN_UP,
    LAND,
    STAGES,
    LandingCommand,
    LandingControlConfig,
    LandingMemory,
    advance,
    measured,
    offset_of,
)
from skyloop_landing.vision.detector import LandingDetector
from skyloop_landing.vision.figures import KINDS, MarkerDetection

NEAR_M, SLOW_M_S, ALIGNED_RAD = 0.4, 0.3, 0.1
"""At the start: within this distance, below this speed and within this angle."""
_NO_IMAGE_NS = 200_000_000
"""Without an image for so long, the marker counts as not seen."""


def hovers_at(state: Estimate | VehicleState, position: Array, yaw: float) -> bool:
    """Whether a landing may begin: the vehicle is at the start, hardly moves, and has the start's heading."""
    askew = math.remainder(float(yaw_from_quat(state.quat_wxyz)) - yaw, 2.0 * math.pi)
    away = float(np.linalg.norm(state.position - position))
    moves = float(np.linalg.norm(state.velocity_world))
    return away <= NEAR_M and moves <= SLOW_M_S and abs(askew) <= ALIGNED_RAD


class LandingStart(BaseModel):
    """Where the landing begins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    position: tuple[quantities.Place, quantities.Place, quantities.Height]
    """m, in world axes; the third is the height above the point of take-off."""
    yaw_deg: quantities.Degrees = 0.0
    """Heading, counter-clockwise from east."""


class LandingPilotConfig(PilotConfig):
    """Takes off, flies to a start near the landing marker, and lands on it by camera and rangefinder."""

    kind: Literal["landing"] = "landing"
    """The kind of pilot."""
    rate_hz: quantities.Hertz = 60.0
    """Calls per second of simulated time. It acts on each image, so this should be no less than the camera's rate."""
    camera: str = "down"
    """The camera that looks down: 1280 × 720 px, 90°, in colour or grey."""
    rangefinder: str = "range"
    """The rangefinder that looks down beside the camera."""
    takeoff_altitude: quantities.Height = 2.0
    """m, the height above the point of take-off."""
    marker_near: tuple[quantities.Place, quantities.Place] = (6.0, 0.0)
    """m, the approximate position of the marker, world axes. Only the random start uses it; the landing does not."""
    start: LandingStart | None = None
    """Where the landing begins. Left out, it is random as in the paper: 5 to 10 m high, beside the marker by up to a
    third of the height in x and half of it in y, with any heading."""
    start_seed: int | None = Field(None, ge=0, lt=1 << 63)
    """The seed of the random start. Left out, it is the scenario's."""
    settle: quantities.Instant = 1.0
    """s, the time of hover at the start before the landing begins."""
    rules: Literal["touchdown", "published"] = "touchdown"
    """How ring, square and rectangle are distinguished. `published` is the paper's, which ends at 4 m."""
    control: LandingControlConfig = LandingControlConfig()
    """Gains and limits, and which parts of the landing are as published."""
    monitor_hz: quantities.NonNegative = 0.0
    """Images per second on the stream `landing/monitor`: the camera's image at half its size, with the figures, the
    marker and the command drawn on it. 0: none. A run folder keeps every image, 0.7 MB each."""
    on_give_up: Literal["home", "hover"] = "home"
    """What it does when it does not find the marker: fly back to the point of take-off and land there, or stay."""

    def drawn(self, survey: Survey) -> Self:
        return self.model_copy(update={"start_seed": survey.seed}) if self.start_seed is None else self


class LandingPilot(Sortie):
    """Flies to the start on its state; from there on it knows only images and distances."""

    Config = LandingPilotConfig

    def __init__(self, **options: Any) -> None:
        """options: the fields of LandingPilotConfig."""
        self._config = config = LandingPilotConfig(**options)
        super().__init__(config.takeoff_altitude)
        self._ground = 0.0
        """m, world, the height of the point of take-off."""
        self._goal: Goal | None = None
        self._ready_ns = -1
        """Since when it hovers at the start."""
        self.began_ns = -1
        """When the landing began; -1 before that."""
        self._detector = LandingDetector(config.rules)
        self._memory = LandingMemory()
        self._image: CameraImage | None = None
        self._range: RangeSample | None = None
        """The newest records that have been used."""
        self._image_ns = -1
        self._shown_ns = -1
        """Stamp of the last image on the monitor."""
        self._offset: Array = np.zeros(2)
        self._heading = 0.0
        self.streams = (config.camera, config.rangefinder)
        """All that it looks at besides its state; over a link nothing else is sent to it."""

    @property
    def at_start(self) -> bool:
        """Whether it hovers where the landing begins, or lands already."""
        return self._ready_ns >= 0

    @property
    def stage(self) -> str:
        """seek, over, down, land or given up."""
        return STAGES[self._memory.stage]

    def __call__(self, bundle: Bundle) -> Reply:
        if self._phase == "ground" and bundle.state is not None:
            self._ground = float(bundle.state.position[2])
        return super().__call__(bundle)

    def _fly(self, bundle: Bundle) -> Reply:
        if self.began_ns < 0:
            if self._goal is None:
                self._goal = self.drawn_start()
                return self._goal
            if not self._is_ready(bundle):
                return None
            self.began_ns = self._image_ns = bundle.t_ns
        return self._land_by_sight(bundle)

    def drawn_start(self) -> Goal:
        """Where the landing begins: as given, or drawn by the seed."""
        config = self._config
        if config.start is not None:
            x, y, z = config.start.position
            return Goal(np.array([x, y, self._ground + z]), math.radians(config.start.yaw_deg))
        a, b, c, d = KeyedRandom(stream_key(config.start_seed or 0, "landing start"), 0).uniform(4).tolist()
        z = 5.0 + 5.0 * a
        x, y = config.marker_near[0] + (2.0 * b - 1.0) * z / 3.0, config.marker_near[1] + (2.0 * c - 1.0) * z / 2.0
        return Goal(np.array([x, y, self._ground + z]), (2.0 * d - 1.0) * math.pi)

    def _is_ready(self, bundle: Bundle) -> bool:
        """Whether it has hovered at the start for long enough."""
        goal = self._goal
        assert goal is not None and goal.yaw is not None
        if not hovers_at(bundle.state, goal.position, goal.yaw):
            self._ready_ns = -1
            return False
        if self._ready_ns < 0:
            self._ready_ns = bundle.t_ns
        return (bundle.t_ns - self._ready_ns) * 1e-9 >= self._config.settle

    def _land_by_sight(self, bundle: Bundle) -> Reply:
        config, t = self._config, bundle.t_ns * 1e-9
        image, distance = bundle.get(config.camera), bundle.get(config.rangefinder)
        if distance is not None and distance is not self._range:
            self._range = distance
            self._memory = measured(self._memory, distance.distance, t, config.control)
        if image is not None and image is not self._image and not math.isnan(self._memory.altitude):
            self._image, self._image_ns = image, bundle.t_ns
            detection = self._look(image)
        elif bundle.t_ns - self._image_ns >= _NO_IMAGE_NS:
            detection = MarkerDetection(None, "there is no image", ())
        else:
            return None
        self._memory, command = advance(self._memory, detection.marker, t, config.control)
        self._tell(bundle, detection, command)
        return self._obey(command)

    def _look(self, image: CameraImage) -> MarkerDetection:
        return self._detector.look(image.colour, self._memory.altitude)

    def _obey(self, command: LandingCommand) -> Reply:
        if command.stage == LAND:
            return self._finish()
        if command.stage == GIVEN_UP:
            self._phase = "down"
            if self._config.on_give_up == "home":
                return GoHome()
            self.done = True
            return Hover()
        velocity = np.array([command.vx, -command.vy, -command.vz])
        return Velocity(velocity, frame="body", yaw_rate=-math.radians(command.yaw_rate_deg))

    def _tell(self, bundle: Bundle, detection: MarkerDetection, command: LandingCommand) -> None:
        """Publishes what was seen and what is done, stamped as the image is."""
        t_ns = bundle.t_ns if self._image is None else self._image.t_ns
        altitude, marker = self._memory.altitude, detection.marker
        if marker is not None:
            there = offset_of(marker, altitude, self._config.control.camera_ahead)
            self._offset, self._heading = np.array([there.ahead, there.right]), math.radians(there.heading_deg)
        status = LandingStatus(
            t_ns, STAGES[command.stage], marker is not None, 0.0 if math.isnan(altitude) else altitude,
            self._offset, self._heading, np.array([command.vx, command.vy, command.vz]),
            math.radians(command.yaw_rate_deg), detection.refusal,
        )  # fmt: skip
        figures = self._figures(t_ns, detection)
        bundle.publish("landing/status", status)
        bundle.publish("landing/figures", figures)
        if self._image is not None and self._shows(t_ns):
            self._shown_ns = t_ns
            pixels = monitor_picture(self._image.colour, status, figures)
            bundle.publish("landing/monitor", Image(t_ns, pixels, self._config.camera))

    def _shows(self, t_ns: int) -> bool:
        """Whether an image is due on the monitor."""
        rate = self._config.monitor_hz
        return rate > 0.0 and t_ns > self._shown_ns and (self._shown_ns < 0 or (t_ns - self._shown_ns) * rate >= 0.99e9)

    def _figures(self, t_ns: int, detection: MarkerDetection) -> Detections:
        """Boxes of all that looks like a figure; the score is 1 for those of the marker."""
        marker, listed = detection.marker, self._detector.listed
        chosen = () if marker is None else (marker.square.index, marker.rectangle, marker.ring)
        found = [k for k, kind in enumerate(detection.kinds) if kind]
        if listed is None or not found:
            return Detections(t_ns, np.zeros((0, 4)), (), np.zeros(0), source=self._config.camera)
        boxes = listed.objects[found][:, [3, 5, 4, 6]] + np.array([0, 0, 1, 1])
        rectangle = -1 if marker is None else marker.rectangle
        classes = tuple("rectangle" if k == rectangle else KINDS[detection.kinds[k]] for k in found)
        scores = np.array([1.0 if k in chosen else 0.0 for k in found])
        return Detections(t_ns, boxes.astype(float), classes, scores, source=self._config.camera)
