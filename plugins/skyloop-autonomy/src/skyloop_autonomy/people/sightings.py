"""What a sensor should measure of a person, as functions of the person's state with their slopes.

The state of a person (7 numbers) is kept in the vehicle's moving frame, in axes of the world:

    0..2  m, from the vehicle's body origin to the person's middle
    3..5  m/s, the person's velocity over ground
    6     m, the person's height

A position relative to the vehicle does not move with the slow error of the vehicle's own position; only its attitude
and velocity matter. What they add to a measurement's noise is in `Sighting.covariance`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skyloop.core.frames import matrix_from_quat
from skyloop_autonomy.people.carrier import Carrier
from skyloop_autonomy.people.config import BoxModel, PersonModel, RadarModel
from skyloop_client.errors import PartError
from skyloop_client.messages import Array
from skyloop_client.streams import StreamInfo

N = 7
POSITION, VELOCITY, HEIGHT = slice(0, 3), slice(3, 6), 6
CAMERA_FROM_SENSOR = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
"""Right, down, forward from forward, left, up."""
SMALLEST = 1e-3
"""m: nearer than that there is no direction."""
NEAREST = 0.3
"""m in front of a camera."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """One measurement of one person, at the instant of its carrier."""

    measured: Array
    """(m,)."""
    expect: Callable[[Array], tuple[Array, Array, Array]]
    """From a state: what should be measured (m,), its slopes (m, 7), and its slopes with attitude and velocity of the
    vehicle (m, 6)."""
    noise: Array
    """(m,) one sigma of the sensor's own noise."""
    spans: Array
    """(m,) after how much a number comes again, such as an angle after a turn; inf if it does not."""
    carrier: Carrier
    possible: Callable[[Array], bool]
    """Whether somebody with this state can have been measured at all: nobody is seen behind a sensor."""

    def innovation(self, state: Array) -> tuple[Array, Array, Array]:
        """Measured less expected (m,), the slopes (m, 7), and the covariance (m, m) of the noise."""
        expected, slopes, by_vehicle = self.expect(state)
        off = self.measured - expected
        ring = np.isfinite(self.spans)
        off[ring] -= self.spans[ring] * np.round(off[ring] / self.spans[ring])
        sigmas = np.concatenate([self.carrier.attitude_sd, self.carrier.velocity_sd])
        spread = by_vehicle * sigmas
        return off, slopes, np.diag(self.noise**2) + spread @ spread.T


def skew(v: Array) -> Array:
    """The matrix of v x ..."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class CameraMeasurements:
    """A pinhole camera: people from boxes, with or without depth."""

    def __init__(self, info: StreamInfo, model: BoxModel, person: PersonModel) -> None:
        details = info.details
        if details.get("model", "pinhole") != "pinhole" or details.get("gimbal", "none") != "none":
            raise PartError(f"'{info.name}': people are tracked with a pinhole camera that is fixed to the vehicle")
        try:
            self.width, self.height = int(details["width"]), int(details["height"])
            self._fx, self._fy, self._cx, self._cy = (float(details[name]) for name in ("fx", "fy", "cx", "cy"))
        except KeyError as missing:
            raise PartError(f"'{info.name}' has no {missing} in its details; is it a camera?") from None
        self._position = np.asarray(info.mount.position)
        self._camera_from_body = CAMERA_FROM_SENSOR @ matrix_from_quat(info.mount.quat_wxyz).T
        self._model, self._person = model, person

    def _axes(self, carrier: Carrier) -> tuple[Array, Array]:
        """camera_from_world, and the camera's position relative to the body origin, in world axes."""
        return self._camera_from_body @ carrier.world_from_body.T, carrier.world_from_body @ self._position

    def edge_sd(self, box: Array) -> float:
        """px."""
        return self._model.edge_px + self._model.edge_share * float(box[3] - box[1])

    def cut_off(self, box: Array) -> tuple[bool, bool, bool]:
        """Whether the box ends at the image's side, at its top and at its bottom: there the person goes on."""
        left, top, right, bottom = (float(edge) for edge in box)
        return left < 1.0 or right > self.width - 1.0, top < 1.0, bottom > self.height - 1.0

    def sighting(self, box: Array, carrier: Carrier, depth: float | None = None) -> Sighting:
        """Of a box: the middle column, the head's row and the feet's row, and the depth if there is one. Edges at the
        image's own edge say little: they are given a sigma of the whole box."""
        turn, position = self._axes(carrier)
        sd, (side, top, bottom) = self.edge_sd(box), self.cut_off(box)
        tall, wide = float(box[3] - box[1]), float(box[2] - box[0])
        # a pixel's centre is half a pixel from its edge; intrinsics count from centres
        measured = [0.5 * (box[0] + box[2]) - 0.5, box[1] - 0.5, box[3] - 0.5]
        noise = [sd + (wide if side else 0.0), sd + (tall if top else 0.0), sd + (tall if bottom else 0.0)]
        if depth is not None:
            measured.append(depth + self._person.surface)
            noise.append(self._model.depth_sd + self._model.depth_quadratic * depth * depth)

        def expect(state: Array) -> tuple[Array, Array, Array]:
            half = 0.5 * state[HEIGHT]
            rows, slopes, shaken = [], [], []
            for lift, wanted in ((0.0, (0,)), (half, (1,)), (-half, (1,))):
                point = state[POSITION] + np.array([0.0, 0.0, lift])
                pixel, by_point, by_turn = self._project(point, turn, position)
                for axis in wanted:
                    rows.append(pixel[axis])
                    slope = np.zeros(N)
                    slope[POSITION] = by_point[axis]
                    slope[HEIGHT] = 0.5 * np.sign(lift) * by_point[axis, 2]
                    slopes.append(slope)
                    shaken.append(np.concatenate([by_turn[axis], np.zeros(3)]))
            if depth is not None:
                rows.append(float(turn[2] @ (state[POSITION] - position)))
                slopes.append(np.concatenate([turn[2], np.zeros(4)]))
                shaken.append(np.concatenate([turn[2] @ skew(state[POSITION]), np.zeros(3)]))
            return np.array(rows), np.array(slopes), np.array(shaken)

        def in_front(state: Array) -> bool:
            return bool(turn[2] @ (state[POSITION] - position) > NEAREST)

        spans = np.full(len(measured), np.inf)
        return Sighting(np.array(measured), expect, np.array(noise), spans, carrier, in_front)

    def _project(self, point: Array, turn: Array, position: Array) -> tuple[Array, Array, Array]:
        """px (2,) of a point relative to the body, and the slopes with it and with the vehicle's attitude, (2, 3)."""
        x, y, z = turn @ (point - position)
        z = max(z, NEAREST)
        pixel = np.array([self._fx * x / z + self._cx, self._fy * y / z + self._cy])
        flat = np.array([[self._fx / z, 0.0, -self._fx * x / z**2], [0.0, self._fy / z, -self._fy * y / z**2]])
        by_point = flat @ turn
        return pixel, by_point, by_point @ skew(point)

    def newcomer(self, box: Array, carrier: Carrier, depth: float | None = None) -> tuple[Array, Array] | None:
        """State and covariance of a person of whom only a box is known: the distance follows from the usual height, or
        from the depth. None if the box is cut off and there is no depth."""
        _, top, bottom = self.cut_off(box)
        if (top or bottom) and depth is None:
            return None
        turn, position = self._axes(carrier)
        person, tall, sd = self._person, float(box[3] - box[1]), self.edge_sd(box)
        column, row = 0.5 * (box[0] + box[2]) - 0.5, 0.5 * (box[1] + box[3]) - 0.5
        ray = np.array([(column - self._cx) / self._fx, (row - self._cy) / self._fy, 1.0])
        ahead = turn.T @ ray
        # an upright person seen from above looks shorter
        foreshortened = float(np.hypot(*ahead[:2]) / np.linalg.norm(ahead))
        if depth is None:
            z = self._fy * person.height * max(foreshortened, 0.2) / max(tall, 1.0)
            by_height, z_sd = z / person.height, z * np.sqrt(2.0) * sd / max(tall, 1.0)
        else:
            z, by_height = depth + person.surface, 0.0
            z_sd = self._model.depth_sd + self._model.depth_quadratic * z * z
        state = np.concatenate([position + z * ahead, np.zeros(3), [person.height]])
        spread = np.zeros((N, 5))
        spread[POSITION, 0], spread[HEIGHT, 0] = by_height * ahead * person.height_sd, person.height_sd
        spread[POSITION, 1] = ahead * z_sd
        spread[POSITION, 2:4] = turn.T[:, :2] * (z * sd / np.array([self._fx, self._fy]))
        covariance = spread @ spread.T
        sway = skew(state[POSITION]) * carrier.attitude_sd
        covariance[POSITION, POSITION] += sway @ sway.T
        covariance[VELOCITY, VELOCITY] = np.diag([person.speed_sd**2, person.speed_sd**2, person.climb_sd**2])
        return state, covariance

    def sees(self, state: Array, carrier: Carrier) -> bool:
        """Whether the person's middle lies in the image."""
        turn, position = self._axes(carrier)
        if turn[2] @ (state[POSITION] - position) < NEAREST:
            return False
        (column, row), _, _ = self._project(state[POSITION], turn, position)
        return bool(-0.5 <= column <= self.width - 0.5 and -0.5 <= row <= self.height - 0.5)

    def box_of(self, state: Array, carrier: Carrier) -> Array:
        """(4,) px: where the person should be seen, for those that only the radar sees."""
        turn, position = self._axes(carrier)
        up = np.array([0.0, 0.0, 0.5 * state[HEIGHT]])
        head, _, _ = self._project(state[POSITION] + up, turn, position)
        feet, _, _ = self._project(state[POSITION] - up, turn, position)
        half = 0.2 * abs(feet[1] - head[1])
        middle = 0.5 * (head[0] + feet[0]) + 0.5
        box = np.array([middle - half, head[1] + 0.5, middle + half, feet[1] + 0.5])
        clipped: Array = np.clip(box, 0.0, [self.width, self.height, self.width, self.height])
        return clipped


class RadarMeasurements:
    """A radar: people from range, speed and two angles."""

    def __init__(self, info: StreamInfo, model: RadarModel, person: PersonModel) -> None:
        self._position = np.asarray(info.mount.position)
        self._sensor_from_body = matrix_from_quat(info.mount.quat_wxyz).T
        self.span = 2.0 * float(info.details.get("v_max", np.inf))
        """m/s after which a speed comes again."""
        self.half_view = np.radians(0.5 * float(info.details.get("horizontal_fov_deg", 90.0)))
        self._model, self._person = model, person

    def _axes(self, carrier: Carrier) -> tuple[Array, Array, Array]:
        """sensor_from_world; the radar's position relative to the body origin, and its velocity, in world axes."""
        position = carrier.world_from_body @ self._position
        swing = carrier.world_from_body @ np.cross(carrier.angular_velocity_body, self._position)
        return self._sensor_from_body @ carrier.world_from_body.T, position, carrier.velocity + swing

    def ground_speeds(self, directions: Array, carrier: Carrier) -> Array:
        """(n,) m/s, away positive: the speed that what stands has in unit directions of the sensor's axes."""
        turn, _, velocity = self._axes(carrier)
        speeds: Array = -(directions @ (turn @ velocity))
        return speeds

    def sighting(self, point: Array, carrier: Carrier) -> Sighting:
        """point: range, speed, azimuth, elevation."""
        turn, position, velocity = self._axes(carrier)
        m = self._model

        def expect(state: Array) -> tuple[Array, Array, Array]:
            away = turn @ (state[POSITION] - position)
            moving = turn @ (state[VELOCITY] - velocity)
            return self._expected(away, moving, turn, state[POSITION])

        def in_front(state: Array) -> bool:
            return bool(turn[0] @ (state[POSITION] - position) > 0.0)

        noise = np.array([m.range_sd, m.speed_sd, m.azimuth_sd, m.elevation_sd])
        spans = np.array([np.inf, self.span, 2.0 * np.pi, np.inf])
        return Sighting(point.copy(), expect, noise, spans, carrier, in_front)

    def _expected(self, away: Array, moving: Array, turn: Array, position: Array) -> tuple[Array, Array, Array]:
        distance = max(float(np.linalg.norm(away)), SMALLEST)
        level = max(float(np.hypot(away[0], away[1])), SMALLEST)
        along = away / distance
        speed = float(along @ moving)
        by_away = np.stack([
            along,
            (moving - speed * along) / distance,
            np.array([-away[1], away[0], 0.0]) / level**2,
            np.array([-away[0] * away[2] / level, -away[1] * away[2] / level, level]) / distance**2,
        ])  # fmt: skip
        slopes = np.zeros((4, N))
        slopes[:, POSITION] = by_away @ turn
        slopes[1, VELOCITY] = along @ turn
        shaken = np.zeros((4, 6))
        shaken[:, :3] = by_away @ turn @ skew(position)
        shaken[1, 3:] = -along @ turn
        angles = np.arctan2(away[1], away[0]), np.arctan2(away[2], level)
        return np.array([distance - self._person.surface, speed, *angles]), slopes, shaken

    def newcomer(self, point: Array, carrier: Carrier) -> tuple[Array, Array]:
        """State and covariance of a person of whom only a radar point is known."""
        turn, position, velocity = self._axes(carrier)
        person, m = self._person, self._model
        range_, speed, azimuth, elevation = point
        distance = range_ + person.surface
        c, s = np.cos(elevation), np.sin(elevation)
        along = turn.T @ np.array([c * np.cos(azimuth), c * np.sin(azimuth), s])
        over_ground = speed + along @ velocity
        if np.isfinite(self.span):
            over_ground -= self.span * np.round(over_ground / self.span)
        level = np.array([along[0], along[1], 0.0])
        level /= max(float(np.linalg.norm(level)), SMALLEST)
        # people go along the ground: that part of their speed which points away is known
        state = np.concatenate([position + distance * along, over_ground * level, [person.height]])
        sides = np.stack([along, np.cross([0.0, 0.0, 1.0], level), np.cross(along, np.cross([0.0, 0.0, 1.0], level))])
        sigmas = np.array([m.range_sd, distance * m.azimuth_sd, distance * m.elevation_sd])
        covariance = np.zeros((N, N))
        covariance[POSITION, POSITION] = (sides.T * sigmas**2) @ sides
        across = np.cross([0.0, 0.0, 1.0], level)
        covariance[VELOCITY, VELOCITY] = (
            (m.speed_sd**2 + float(np.max(carrier.velocity_sd)) ** 2) * np.outer(level, level)
            + person.speed_sd**2 * np.outer(across, across)
            + person.climb_sd**2 * np.diag([0.0, 0.0, 1.0])
        )
        covariance[HEIGHT, HEIGHT] = person.height_sd**2
        return state, covariance

    def sees(self, state: Array, carrier: Carrier) -> bool:
        """Whether a radar point is to be expected: in view, in range, and not as slow as the ground."""
        turn, position, _ = self._axes(carrier)
        away = turn @ (state[POSITION] - position)
        distance = float(np.linalg.norm(away))
        if distance > self._model.max_range or abs(np.arctan2(away[1], away[0])) > self.half_view or away[0] <= 0.0:
            return False
        moving = turn @ state[VELOCITY]
        return abs(float(away @ moving)) / max(distance, SMALLEST) > 1.5 * self._model.still
