"""What software in the loop publishes under its vehicle: detections, maps, key poses, paths, clouds, images, markers...

With `Estimate` these are the records `bundle.publish` and `session.publish` take. `t_ns` is the instant the data
describes, such as the stamp of the image that was looked at. "The world" is east, north, up, as everywhere.

A `frame` is "world", "body", or the name of a sensor of the same vehicle, such as "lidar": its axes (forward, left, up)
at its mount. A `source` is the name of the camera whose pixels are meant, such as "front", or empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages.states import Array


def _zeros3() -> Array:
    return np.zeros(3)


def _level() -> Array:
    return np.array([1.0, 0.0, 0.0, 0.0])


def _yellow() -> Array:
    return np.array([1.0, 0.8, 0.1, 1.0])


def _no_points() -> Array:
    return np.zeros((0, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Objects that a detector found in one image. A row of each array is one object."""

    t_ns: int
    """Stamp of the image."""
    boxes_px: Array
    """(n, 4) px: left, top, right and bottom edge; x to the right, y down, 0 is the outer edge of the first pixel."""
    classes: tuple[str, ...]
    """n names of classes."""
    scores: Array
    """(n,) 0 to 1, the confidence of the detector."""
    tracks: NDArray[np.int64] | None = None
    """(n,) numbers that an object keeps from image to image; -1 for an object without one. None: nothing is tracked."""
    source: str = ""
    """The camera."""


@dataclass(frozen=True, slots=True, eq=False)
class GridMap:
    """A map of the ground plane in square cells."""

    t_ns: int
    cells: NDArray[np.int8]
    """(rows, columns) 0 free to 100 occupied, -1 unknown; columns along x (east), rows along y (north)."""
    resolution: float
    """m, side of a cell."""
    origin: Array
    """(3,) m, world, of the outer corner of cell [0, 0]; its height is that of the map."""


@dataclass(frozen=True, slots=True, eq=False)
class VoxelMap:
    """A map of a box of space in cubes."""

    t_ns: int
    voxels: NDArray[np.int8]
    """(nx, ny, nz) 0 free to 100 occupied, -1 unknown; along x (east), y (north), z (up)."""
    resolution: float
    """m, edge of a cube."""
    origin: Array
    """(3,) m, world, of the outer, lower corner of voxel [0, 0, 0]."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A planned or flown path."""

    t_ns: int
    positions: Array
    """(n, 3) m, world."""
    yaws: Array | None = None
    """(n,) rad, counter-clockwise from east."""
    times_ns: NDArray[np.int64] | None = None
    """(n,) ns of simulated time at which each position is or was to be reached."""


@dataclass(frozen=True, slots=True, eq=False)
class GoalStatus:
    """The state of a pilot's current goal."""

    t_ns: int
    number: int
    """Of the goal, counted from 0 since the start."""
    state: str
    """waiting (there is no goal), flying, reached, refused or given up."""
    goal: Array
    """(3,) m, world. Without a goal, where the vehicle waits."""
    sub_goal: Array
    """(3,) m, world: the point on the way at which it aims."""
    mode: str = ""
    """What it does at this instant: fly, turn, hover, brake, back off, arrived or idle."""
    reason: str = ""
    """Why it does not fly to the goal, in one line; empty if it does."""


@dataclass(frozen=True, slots=True, eq=False)
class LandingStatus:
    """What a pilot that lands on a marker detects and does. Without a marker, offset and heading are the last ones."""

    t_ns: int
    """Stamp of the image."""
    stage: str
    """seek (no marker in sight), over (moving over it), down (descending), land or given up."""
    found: bool
    """Whether the marker is in the image."""
    altitude: float
    """m, of the camera above the marker, as the pilot believes it; 0 before the first reading."""
    offset: Array
    """(2,) m from the vehicle's middle to the marker's: forward and to the right."""
    heading: float
    """rad that the vehicle must turn to the right to have the marker's heading."""
    velocity: Array
    """(3,) m/s, the command: forward, right, down."""
    yaw_rate: float
    """rad/s, the command, positive to the right."""
    reason: str = ""
    """Why no marker was found, in one line; empty if there is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Movers:
    """Moving objects, such as people, as upright cylinders. A row of each array is one thing."""

    t_ns: int
    """The instant at which they were there."""
    positions: Array
    """(n, 3) m, world, of their middles."""
    velocities: Array
    """(n, 3) m/s, world."""
    sizes: Array
    """(n, 2) m: radius and height."""
    ids: NDArray[np.int64]
    """(n,) numbers that a thing keeps from record to record."""
    covariances: Array | None = None
    """(n, 6, 6) of position and velocity; units and axes as above, squared. None: unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class PointCloud:
    """Points in space, with a number or a colour each."""

    t_ns: int
    points: NDArray[np.float32]
    """(n, 3) m, axes of `frame`."""
    values: NDArray[np.float32] | None = None
    """(n,) values by which the points are coloured."""
    colours: NDArray[np.uint8] | None = None
    """(n, 3) red, green, blue."""
    frame: str = "world"
    """The axes of the points: "world", "body", or the name of a sensor."""
    ids: NDArray[np.int64] | None = None
    """(n,) numbers that a point keeps from record to record, such as those of landmarks."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyPose:
    """A key frame of visual odometry: the pose of an image that is kept, and the corners that were seen in it."""

    t_ns: int
    """Stamp of the image."""
    position: Array
    """(3,) m, world according to the odometry, of the body origin."""
    quat_wxyz: Array
    """(4,) world_from_body."""
    corners_px: NDArray[np.float32]
    """(n, 2) px: x to the right, y down, 0 is the centre of the first pixel."""
    ids: NDArray[np.int64]
    """(n,) numbers of the corners. A landmark has the number of its corner."""
    source: str = ""
    """The camera."""


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """An image for debugging: drawn features, a mask, a heat map."""

    t_ns: int
    pixels: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.float32]
    """(height, width, 3) uint8 red, green, blue; or (height, width) uint8, uint16 or float32. Row 0 is the top."""
    source: str = ""
    """The camera it was made from."""


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """One shape to draw in space."""

    name: str
    """Unique among the markers of its stream."""
    kind: str
    """sphere, box, arrow, line, points or text."""
    position: Array = field(default_factory=_zeros3)
    """(3,) m, of its centre. For an arrow, of its tail."""
    quat_wxyz: Array = field(default_factory=_level)
    """(4,) rotation from the marker's axes to those of `Markers.frame`. An arrow points along its x axis."""
    size: Array = field(default_factory=lambda: np.full(3, 0.2))
    """(3,) m along its axes. For an arrow: length, width, height. For a line: width first. For a text: height last."""
    colour: Array = field(default_factory=_yellow)
    """(4,) red, green, blue, opacity, each 0 to 1."""
    points: Array = field(default_factory=_no_points)
    """(n, 3) m, of a line or of points, in the marker's axes."""
    text: str = ""
    """The words of a text marker."""


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Shapes to draw in space. Each record replaces the previous one of its stream."""

    t_ns: int
    markers: tuple[Marker, ...]
    """The shapes to draw. They replace those of the previous message."""
    frame: str = "world"
    """The axes of all positions: "world", "body", or the name of a sensor."""


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """One number to plot: a cost, a count, a time."""

    t_ns: int
    value: float
    """The number."""
    unit: str = ""
    """The unit that people see, such as "m" or "ms"."""
