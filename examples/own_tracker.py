"""A tracker of people to start from: boxes give directions, radar points ranges, a Kalman filter each the rest."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, Detections, Message, Movers, RadarDetections
from skyloop_client.streams import StreamInfo

HEIGHT, GROUND = 1.72, 0.0
"""m: how tall people are, and how high the ground lies that they walk on."""
NEAR, FORGET_NS, HITS = 1.5, 800_000_000, 5
"""m within which a measurement may be somebody's; how long nobody is remembered; hits that make a person."""
CAMERA_SD, RADAR_SD, PUSH = 0.8, 0.4, 0.5
"""m, m, m/s²: one sigma of a place by the camera, by the radar, and of what people do of themselves."""
STILL = 0.5
"""m/s: slower things are not told from the ground by the radar."""
CAMERA_FROM_SENSOR = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


@dataclass
class Person:
    """East, north and the velocity, with the covariance."""

    state: Array
    spread: Array
    t_ns: int
    seen_ns: int
    number: int
    hits: int = 1

    def predict(self, t_ns: int) -> None:
        dt = max(t_ns - self.t_ns, 0) * 1e-9
        step = np.eye(4)
        step[:2, 2:] = dt * np.eye(2)
        push = np.vstack([0.5 * dt * dt * np.eye(2), dt * np.eye(2)])
        self.state = step @ self.state
        self.spread = step @ self.spread @ step.T + PUSH**2 * push @ push.T
        self.t_ns = max(t_ns, self.t_ns)

    def update(self, place: Array, sd: float) -> None:
        slopes = np.eye(2, 4)
        gain = self.spread @ slopes.T @ np.linalg.inv(slopes @ self.spread @ slopes.T + sd * sd * np.eye(2))
        self.state = self.state + gain @ (place - self.state[:2])
        self.spread = (np.eye(4) - gain @ slopes) @ self.spread
        self.seen_ns, self.hits = self.t_ns, self.hits + 1


class Tracker:
    """Made once; `on_message` gets every message of its inputs, and answers with records to publish."""

    def __init__(self, setup: EstimatorSetup) -> None:
        self.products = {"mine/people": "Movers"}
        self._camera, self._radar = setup.infos["front"], setup.infos["radar/detections"]
        self._people: list[Person] = []
        self._vehicle: Any = None
        self._numbers = 0

    def on_message(self, message: Message) -> tuple[str, Movers] | None:
        if message.stream.startswith("truth/drone") and hasattr(message.data, "velocity_world"):
            self._vehicle = message.data
        elif isinstance(message.data, Detections) and self._vehicle is not None:
            return self._take(message.t_ns, self._from_boxes(message.data), CAMERA_SD, begins=True)
        elif isinstance(message.data, RadarDetections) and self._vehicle is not None:
            # what moves need not be a person: a radar point alone begins nobody
            return self._take(message.t_ns, self._from_points(message.data), RADAR_SD, begins=False)
        return None

    def _eye(self, info: StreamInfo) -> tuple[Array, Array]:
        """Where a sensor is in the world, and world_from_sensor."""
        turn = matrix_of(self._vehicle.quat_wxyz)
        return self._vehicle.position + turn @ info.mount.position, turn @ matrix_of(info.mount.quat_wxyz)

    def _from_boxes(self, found: Detections) -> list[Array]:
        """East and north of each box: along the ray through its middle, as far as a person of usual height is."""
        place, turn = self._eye(self._camera)
        lens, places = self._camera.details, []
        for left, top, right, bottom in found.boxes_px:
            if top < 1.0 or bottom > lens["height"] - 1.0:
                continue
            x, y = 0.5 * (left + right) - 0.5 - lens["cx"], 0.5 * (top + bottom) - 0.5 - lens["cy"]
            ray = turn @ CAMERA_FROM_SENSOR.T @ np.array([x / lens["fx"], y / lens["fy"], 1.0])
            leaning = math.hypot(ray[0], ray[1]) / float(np.linalg.norm(ray))
            places.append((place + ray * lens["fy"] * HEIGHT * leaning / (bottom - top))[:2])
        return places

    def _from_points(self, found: RadarDetections) -> list[Array]:
        """East and north of what moves over ground and is no higher than a person."""
        place, turn = self._eye(self._radar)
        span, places = 2.0 * self._radar.details["v_max"], []
        for point, speed in zip(found.points, found.speeds, strict=True):
            there = place + turn @ point
            along = turn @ point / float(np.linalg.norm(point))
            own = float(along @ self._vehicle.velocity_world)
            # the second is the ground beyond the radar's range, which sampling folds back with its speed reversed
            moves = all(abs(math.remainder(speed + sign * own, span)) > STILL for sign in (1.0, -1.0))
            if moves and there[2] - GROUND < HEIGHT + 0.5:
                places.append(there[:2])
        return places

    def _take(self, t_ns: int, places: list[Array], sd: float, *, begins: bool) -> tuple[str, Movers]:
        for person in self._people:
            person.predict(t_ns)
        free = list(range(len(places)))
        if places and self._people:
            apart = np.array([[math.dist(person.state[:2], place) for place in places] for person in self._people])
            for i, k in zip(*linear_sum_assignment(np.minimum(apart, NEAR)), strict=True):
                if apart[i, k] < NEAR:
                    self._people[i].update(places[k], sd)
                    free.remove(k)
        for k in free if begins else ():
            self._numbers += 1
            state, spread = np.array([*places[k], 0.0, 0.0]), np.diag([sd * sd, sd * sd, 1.0, 1.0])
            self._people.append(Person(state, spread, t_ns, t_ns, self._numbers))
        self._people = [person for person in self._people if t_ns - person.seen_ns <= FORGET_NS]
        return "mine/people", self._movers(t_ns)

    def _movers(self, t_ns: int) -> Movers:
        sure = [person for person in self._people if person.hits >= HITS]
        states = np.array([person.state for person in sure]).reshape(-1, 4)
        height, still = np.full((len(sure), 1), GROUND + 0.5 * HEIGHT), np.zeros((len(sure), 1))
        spreads = np.tile(np.diag([0.0, 0.0, 0.1, 0.0, 0.0, 0.1]) ** 2, (len(sure), 1, 1))
        axes = np.ix_([0, 1, 3, 4], [0, 1, 3, 4])
        for spread, person in zip(spreads, sure, strict=True):
            spread[axes] = person.spread
        return Movers(
            max(t_ns, 0),
            np.hstack([states[:, :2], height]),
            np.hstack([states[:, 2:], still]),
            np.tile([0.25, HEIGHT], (len(sure), 1)),
            np.array([person.number for person in sure], np.int64),
            spreads,
        )


def matrix_of(quat_wxyz: Array) -> Array:
    w, x, y, z = quat_wxyz
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
