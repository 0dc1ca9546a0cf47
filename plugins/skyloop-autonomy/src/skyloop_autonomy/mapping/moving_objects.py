"""Objects that move, such as people, found in depth images: points where the map knows free space, followed over time.

A static object that the map does not hold yet makes such points too. So an object counts as moving only once it has
come far enough from where it was first seen, at a speed that the noise of poses and depths does not explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import Transform
from skyloop.core.tracking import assigned
from skyloop_autonomy.mapping.counting import CounterRule
from skyloop_autonomy.mapping.moving_kernels import (
    AREA,
    AT_EDGE,
    CLUSTER_COLUMNS,
    HALF_WIDTH,
    HIGHEST,
    LOWEST,
    MIDDLE_X,
    MIDDLE_Y,
    POINT_COLUMNS,
    OddLimits,
    clusters,
    erase_objects,
    odd_points,
)
from skyloop_autonomy.mapping.point_clouds import DepthLens, Sight, checked_depth, rows
from skyloop_client.messages import Array, Movers

_NS = 1e-9
MOST_POINTS, MOST_CLUSTERS = 8000, 32
WINDOW_CELL = 0.2
"""m, side of the cells in which points are joined to clusters, seen from above."""
MOST_TRAIL = 60
OUT_OF_SIGHT = 0.3
"""s without a sight of an object after which it may as well have stopped."""
BODY = 0.4
"""m around the positions of an object that are emptied in the maps when it turns out to move."""


@dataclass(frozen=True, slots=True)
class MoverConfig:
    """When a cluster of points is an object that moves. The defaults are for people and slow vehicles."""

    samples: int = 6000
    """Pixels of an image that are looked at, about."""
    below: float = 1.3
    above: float = 0.8
    """m below and above the body between which points count."""
    least_area: float = 0.05
    """m² that a new object must show, and three tenths of it once it is known."""
    least_height: float = 0.35
    """m that its points must reach from the lowest to the highest."""
    widest: float = 0.9
    """m, half of the width; what is wider is no person but a part of a wall."""
    images: int = 5
    """in which an object must have been seen before it counts as moving."""
    moved: float = 0.4
    """m that it must have come from where it was first seen."""
    slowest: float = 0.3
    """m/s, the least speed of an object that begins to count as moving."""
    fastest: float = 3.0
    """m/s; what seems to be faster is a mistake."""
    still_speed: float = 0.15
    still_after: float = 1.5
    """m/s and s: an object that has been slower for so long stands, and the maps take it up."""
    restless: float = 0.2
    """m²/s³, the density of the noise that changes velocities."""
    spread: float = 0.07
    """m, one sigma of the middle of a cluster."""
    kept_in_view: float = 0.7
    """s without a sight of an object after which it is forgotten, although the camera looks there."""
    expected: float = 3.0
    """s for which an object that the camera does not look at is expected to go on as it did."""
    kept: float = 8.0
    """s for which it may as well have stopped where it was seen last."""


@dataclass(slots=True)
class MovingTrack:
    """One object. East and north have the same uncertainty."""

    number: int
    """Even; the next one is for where it may have stopped."""
    position: Array
    velocity: Array
    first: Array
    """(2,) m, where it was when it was first seen, or when it was last found to stand."""
    radius: float
    low: float
    high: float
    """m, world."""
    seen_ns: int
    still_ns: int
    """When it was seen last, and when it moved last."""
    last: Array
    """(2,) m, where it was when it was seen last."""
    images: int = 1
    moves: bool = False
    trail: list[Array] = field(default_factory=list)
    """(2,) m each: where it was seen before it counted as moving. The maps took it for an object that stands there."""
    pp: float = 0.01
    pv: float = 0.0
    vv: float = 1.0
    """Covariance of position and velocity along each axis: m², m²/s, m²/s²."""

    def predict(self, dt: float, q: float) -> None:
        self.position = self.position + dt * self.velocity
        self.pp += dt * (2.0 * self.pv + dt * self.vv) + q * dt**3 / 3.0
        self.pv += dt * self.vv + 0.5 * q * dt * dt
        self.vv += q * dt

    def correct(self, position: Array, r: float) -> None:
        gain_p, gain_v = self.pp / (self.pp + r), self.pv / (self.pp + r)
        off = position - self.position
        self.position, self.velocity = self.position + gain_p * off, self.velocity + gain_v * off
        self.vv -= gain_v * self.pv
        self.pv *= 1.0 - gain_p
        self.pp *= 1.0 - gain_p

    @property
    def speed(self) -> float:
        return math.hypot(*self.velocity.tolist())


class MovingObjects:
    """Follows what moves from image to image. Plain data, so `copy.deepcopy` takes a snapshot."""

    def __init__(self, rule: CounterRule, sight: Sight, config: MoverConfig | None = None) -> None:
        """rule: that of the voxels with whose counters images are compared."""
        self.config = config or MoverConfig()
        self._rule, self._sight = rule, sight
        self.tracks: list[MovingTrack] = []
        self._next = 0
        self._newest_ns = -1
        self.left_behind: list[tuple[Array, tuple[float, float]]] = []
        """Of the newest image: positions (n, 2) m, and heights, at which an object stood that turned out to move."""
        side = 2 * math.ceil(sight.far / WINDOW_CELL) + 2
        self._labels, self._stack = np.zeros((side, side), np.int32), np.zeros(side * side, np.int32)
        self._points = np.empty((MOST_POINTS, POINT_COLUMNS))
        self._found = np.empty((MOST_CLUSTERS, CLUSTER_COLUMNS))

    def see(
        self,
        t_ns: int,
        depth: NDArray[np.float32],
        lens: DepthLens,
        poses: tuple[Transform, Array],
        known: tuple[NDArray[np.int8], Array, float],
    ) -> NDArray[np.float32]:
        """Takes an image before the maps do, and returns it without the objects that move.

        poses: world_from_camera, and the position of the body. known: counters of voxels, the lower corner of the first
        one, and their edge."""
        image, (world_from_camera, body) = checked_depth(depth), poses
        m = np.ascontiguousarray(rows(world_from_camera))
        found = self._clusters(image, lens, m, body, known)
        dt = 0.0 if self._newest_ns < 0 else (t_ns - self._newest_ns) * _NS
        self._newest_ns = t_ns
        for track in self.tracks:
            track.predict(dt, self.config.restless)
        self._follow(found, m[:, 3], t_ns)
        self._judge(t_ns)
        self._forget(t_ns, m, lens, image)
        return self._without(image, lens, m, t_ns)

    @property
    def reach(self) -> float:
        """m around the body in which objects are looked for."""
        return self._sight.far

    def message(self) -> Movers:
        """What moves, at the stamp of the newest image.

        An object that is out of sight is listed twice: where it went on to, and where it may have stopped."""
        rows = []
        for track in self.tracks:
            if not track.moves:
                continue
            middle, size = 0.5 * (track.low + track.high), (track.radius, track.high - track.low)
            unseen = (self._newest_ns - track.seen_ns) * _NS
            if unseen <= self.config.expected:
                rows.append((*track.position, middle, *track.velocity, 0.0, *size, track.number))
            if unseen > OUT_OF_SIGHT:
                rows.append((*track.last, middle, 0.0, 0.0, 0.0, *size, track.number + 1))
        movers = np.array(rows, float).reshape(-1, 9)
        ids = movers[:, 8].astype(np.int64)
        return Movers(max(self._newest_ns, 0), movers[:, :3], movers[:, 3:6], movers[:, 6:8], ids)

    def _clusters(
        self,
        image: NDArray[np.float32],
        lens: DepthLens,
        m: Array,
        body: Array,
        known: tuple[NDArray[np.int8], Array, float],
    ) -> Array:
        config, sight, (counters, origin, cell) = self.config, self._sight, known
        stride = max(round(math.sqrt(image.size / config.samples)), 1)
        limits = OddLimits(
            sight.near, sight.far, sight.edge, body[2] - config.below, body[2] + config.above, stride,
            self._rule.free_below, self._rule.occupied_above,
        )  # fmt: skip
        grid = (float(origin[0]), float(origin[1]), float(origin[2]), float(cell))
        n = odd_points(image, tuple(lens), m, counters, grid, tuple(limits), self._points)
        half = 0.5 * WINDOW_CELL * len(self._labels)
        window = (float(m[0, 3]) - half, float(m[1, 3]) - half, WINDOW_CELL)
        count = clusters(self._points[:n], window, self._labels, self._stack, self._found)
        return self._found[:count]

    def _follow(self, found: Array, camera: Array, t_ns: int) -> None:
        """Gives each cluster to the nearest track, nearest pairs first; what is left begins a track."""
        config, pairs = self.config, []
        middles = [_middle(row, camera) for row in found]
        for k, (row, middle) in enumerate(zip(found, middles, strict=True)):
            for number, track in enumerate(self.tracks):
                away = math.dist(middle, track.position)
                if away < min(0.5 + 2.0 * math.sqrt(track.pp), 1.2) and self._may_be(row, track):
                    pairs.append((away, k, number))
        owners = assigned((k, number) for _, k, number in sorted(pairs))
        for k, number in owners.items():
            self._update(self.tracks[number], found[k], middles[k], t_ns)
        for k, row in enumerate(found):
            tall = row[HIGHEST] - row[LOWEST] >= config.least_height
            whole = not row[AT_EDGE] and row[HALF_WIDTH] <= config.widest
            if k not in owners and tall and whole and row[AREA] >= config.least_area:
                position, radius = middles[k], _radius(row)
                self.tracks.append(
                    MovingTrack(
                        self._next,
                        position,
                        np.zeros(2),
                        position,
                        radius,
                        row[LOWEST],
                        row[HIGHEST],
                        t_ns,
                        t_ns,
                        position,
                    )
                )
                self._next += 2

    def _may_be(self, row: Array, track: MovingTrack) -> bool:
        """An object that is cut off by the edge of the image seems to move when the camera turns."""
        if row[HALF_WIDTH] > self.config.widest or row[AREA] < 0.3 * self.config.least_area:
            return False
        return track.moves or not row[AT_EDGE]

    def _update(self, track: MovingTrack, row: Array, middle: Array, t_ns: int) -> None:
        spread = self.config.spread * (3.0 if row[AT_EDGE] else 1.0)
        track.correct(middle, spread * spread)
        track.last = track.position
        track.radius += 0.2 * (_radius(row) - track.radius)
        track.low, track.high = min(track.low, row[LOWEST]), max(track.high, row[HIGHEST])
        track.seen_ns = t_ns
        track.images += 1

    def _judge(self, t_ns: int) -> None:
        config = self.config
        self.left_behind = []
        for track in self.tracks:
            if track.seen_ns != t_ns:
                continue
            speed = track.speed
            if not track.moves:
                come = math.dist(track.position, track.first)
                sure = speed > max(config.slowest, 2.0 * math.sqrt(track.vv)) and speed < config.fastest
                track.moves = track.images >= config.images and come >= config.moved and sure
                track.still_ns = t_ns
                track.trail = [*track.trail[-MOST_TRAIL:], track.position]
                if track.moves:
                    heights = (track.low - 1.0, track.high + 0.3)
                    self.left_behind.append((np.array(track.trail), heights))
                    track.trail = []
            elif speed > config.still_speed:
                track.still_ns = t_ns
            elif (t_ns - track.still_ns) * _NS > config.still_after:
                track.moves, track.first, track.images = False, track.position, 1

    def _forget(self, t_ns: int, m: Array, lens: DepthLens, image: NDArray[np.float32]) -> None:
        config, kept = self.config, []
        for track in self.tracks:
            unseen = (t_ns - track.seen_ns) * _NS
            most = config.kept if track.moves and not self._sees_through(track, m, lens, image) else config.kept_in_view
            if unseen <= most and track.speed < config.fastest:
                kept.append(track)
        self.tracks = kept

    def _sees_through(self, track: MovingTrack, m: Array, lens: DepthLens, image: NDArray[np.float32]) -> bool:
        """Whether the image would show all of an object where it was seen last, with nothing in front."""
        off = np.array([*track.last, 0.5 * (track.low + track.high)]) - m[:, 3]
        right, down, ahead = (off @ m[:, :3]).tolist()
        if not 0.3 < ahead < self._sight.far:
            return False
        half = lens.fx * track.radius / ahead
        u, v = lens.cx + lens.fx * right / ahead, lens.cy + lens.fy * down / ahead
        if not (half <= u < image.shape[1] - half and 0.0 <= v < image.shape[0]):
            return False
        return bool(image[int(v), int(u)] > ahead - 2.0 * track.radius)

    def _without(self, image: NDArray[np.float32], lens: DepthLens, m: Array, t_ns: int) -> NDArray[np.float32]:
        objects = [
            (*track.position, track.low - 1.0, track.high + 0.3, track.radius + 0.2)
            for track in self.tracks
            if track.moves and track.seen_ns == t_ns
        ]
        if not objects:
            return image
        out = image.copy()
        erase_objects(out, tuple(lens), m, np.array(objects))
        return out


def _middle(row: Array, camera: Array) -> Array:
    """(2,) m: behind the side that the camera sees."""
    seen = row[[MIDDLE_X, MIDDLE_Y]]
    along = seen - camera[:2]
    return np.asarray(seen + 0.12 * along / max(float(np.hypot(along[0], along[1])), 1e-6))


def _radius(row: Array) -> float:
    return min(max(float(row[HALF_WIDTH]) + 0.05, 0.25), 0.6)
