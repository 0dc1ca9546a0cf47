"""Every record that travels on a stream, and every setpoint and request that flows back.

World axes are ENU (east, north, up), body axes FLU (forward, left, up); SI units and radians; stamps are integer
nanoseconds of simulated time. Quaternions are Hamilton, unit, ``(w, x, y, z)``, and turn body vectors into world ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""A float64 array; the field's docstring gives its shape."""


def _zeros3() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """What the bus carries: a record with its stream, number and times."""

    stream: str
    index: int
    """Number of this sample on its stream, from 0; dropped samples leave a gap."""
    t_ns: int
    """The instant the data describes."""
    arrival_ns: int
    """The instant a consumer may see it: `t_ns` plus the stream's latency."""
    data: Any


# ---- truth


@dataclass(frozen=True, slots=True, eq=False)
class VehicleState:
    """The exact state of a vehicle at one instant."""

    t_ns: int
    position: Array
    """(3,) m, world, of the body origin."""
    velocity_world: Array
    """(3,) m/s, of the body origin."""
    quat_wxyz: Array
    """(4,) world_from_body."""
    angular_velocity_body: Array
    """(3,) rad/s."""
    acceleration_world: Array
    """(3,) m/s², of the body origin; zero at rest, -g in free fall."""
    angular_acceleration_body: Array
    """(3,) rad/s²."""
    rotor_speeds: Array
    """(n_rotors,) rad/s."""
    rotor_thrusts: Array
    """(n_rotors,) N."""
    wind_world: Array
    """(3,) m/s, air relative to ground at the vehicle."""


@dataclass(frozen=True, slots=True, eq=False)
class Kinematics:
    """The exact motion of one frame (a sensor's) at one instant; what `Sensor.measure` sees."""

    t_ns: int
    position: Array
    """(3,) m, world."""
    velocity_world: Array
    """(3,) m/s."""
    quat_wxyz: Array
    """(4,) world_from_sensor."""
    angular_velocity: Array
    """(3,) rad/s, sensor axes."""
    acceleration_world: Array
    """(3,) m/s², lever arm included."""
    wind_world: Array
    """(3,) m/s."""


# ---- samples


@dataclass(frozen=True, slots=True, eq=False)
class ImuSample:
    t_ns: int
    angular_velocity: Array
    """(3,) rad/s, sensor axes."""
    specific_force: Array
    """(3,) m/s², sensor axes; +g along up at rest."""


@dataclass(frozen=True, slots=True, eq=False)
class ImuBias:
    """The hidden truth of an IMU, published beside it under `truth/`."""

    t_ns: int
    gyro_bias: Array
    """(3,) rad/s, sensor axes."""
    accel_bias: Array
    """(3,) m/s², sensor axes."""


@dataclass(frozen=True, slots=True, eq=False)
class GnssFix:
    t_ns: int
    latitude_deg: float
    """Degrees north, WGS84."""
    longitude_deg: float
    """Degrees east, WGS84."""
    altitude: float
    """m above the WGS84 ellipsoid."""
    velocity_enu: Array
    """(3,) m/s, in the local ENU axes at home."""
    fix_type: int
    """0 none, 2 two-dimensional, 3 three-dimensional."""
    hdop: float
    """Horizontal dilution of precision, dimensionless."""
    vdop: float
    """Vertical dilution of precision, dimensionless."""
    satellites: int
    """Number used in the fix."""
    horizontal_sd: float
    """m, one sigma as the receiver reports it."""
    vertical_sd: float
    """m, one sigma."""
    speed_sd: float
    """m/s, one sigma."""


@dataclass(frozen=True, slots=True, eq=False)
class BarometerSample:
    t_ns: int
    pressure: float
    """Pa."""
    altitude: float
    """m, from pressure and the standard atmosphere."""
    temperature: float
    """K."""


@dataclass(frozen=True, slots=True, eq=False)
class MagnetometerSample:
    t_ns: int
    field_tesla: Array
    """(3,) T, sensor axes."""


@dataclass(frozen=True, slots=True, eq=False)
class CameraImage:
    t_ns: int
    """Middle of the exposure, of the middle row where the shutter rolls."""
    colour: NDArray[np.uint8]
    """(height, width, 3) red, green, blue; row 0 is the top."""


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """One thing in an image."""

    instance: int
    """Its number in the world, as in `ImageTruth.instances`."""
    name: str
    class_name: str
    box_px: tuple[int, int, int, int]
    """Of its visible pixels: first column, first row, last column, last row, all inclusive."""
    visible_px: int
    occlusion: float
    """Share of its pixels in the image that something nearer covers, 0 to 1."""
    truncation: float
    """Share of its projection that lies outside the image, 0 to 1."""
    centre: Array
    """(3,) m, world, of its box in space."""
    size: Array
    """(3,) m: length along `yaw`, width, height."""
    yaw: float
    """rad, of the box about up, anticlockwise from east."""
    distance: float
    """m from the camera to the centre of the box."""


@dataclass(frozen=True, slots=True, eq=False)
class ImageTruth:
    """What each pixel of an image shows, at exactly its stamp; None where it was not asked for."""

    t_ns: int
    position: Array
    """(3,) m, world, of the camera."""
    quat_wxyz: Array
    """(4,) world_from_camera, camera axes right, down, forward; a gimbal's turn is in it."""
    depth: NDArray[np.float32] | None = None
    """(height, width) m along the optical axis; inf is the sky."""
    distance: NDArray[np.float32] | None = None
    """(height, width) m from the camera; inf is the sky."""
    normals: NDArray[np.float32] | None = None
    """(height, width, 3) unit, world, towards the camera; zero is the sky."""
    instances: NDArray[np.int32] | None = None
    """(height, width) number of the thing; 0 is the sky."""
    classes: NDArray[np.uint8] | None = None
    """(height, width) number of the semantic class; 0 is the sky."""
    materials: NDArray[np.uint8] | None = None
    """(height, width) number of the material."""
    velocities: NDArray[np.float32] | None = None
    """(height, width, 3) m/s of the surface point, world."""
    flow: NDArray[np.float32] | None = None
    """(height, width, 2) px/s, right and down, at which the surface point moves over the image; NaN off the lens."""
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OpticalFlowSample:
    """As MAVLink's HIL_OPTICAL_FLOW: axes x forward, y right, z along the line of sight (down).

    A right-handed turn about x or y gives positive flow about that axis. Moving along +x gives positive flow about y,
    moving along +y negative flow about x: v_x = (y - gyro_y)·distance/time, v_y = -(x - gyro_x)·distance/time.
    """

    t_ns: int
    """End of the integration."""
    integration_time_us: int
    """µs since the sample before; 0 on the first."""
    integrated_x: float
    """rad about x."""
    integrated_y: float
    """rad about y."""
    integrated_gyro: Array
    """(3,) rad about x, y, z, right-handed."""
    quality: int
    """0 (nothing to see; the flow is then 0) to 255."""
    distance: float
    """m to the centre of the view; negative: unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeSample:
    t_ns: int
    distance: float
    """m along the sensor's +x axis; NaN when nothing is in range."""
    min_range: float
    """m."""
    max_range: float
    """m."""


@dataclass(frozen=True, slots=True, eq=False)
class LidarScan:
    """The returns of one sweep, in firing order; beams that came back with nothing have no row."""

    t_ns: int
    """The end of the sweep."""
    points: NDArray[np.float32]
    """(n, 3) m, each in the sensor's axes at the instant of its firing."""
    ranges: NDArray[np.float32]
    """(n,) m, the length of each point."""
    intensities: NDArray[np.float32]
    """(n,) 0..1, share of the light sent back: reflectance times cosine of incidence, dimmed by the weather only."""
    rings: NDArray[np.uint16]
    """(n,) channel, 0 the lowest."""
    offsets_ns: NDArray[np.int64]
    """(n,) firing minus `t_ns`, zero or negative; all zero where the sweep is taken at one instant."""
    classes: NDArray[np.uint8]
    """(n,) semantic class of what was hit; 0 for drops, flakes, fog and dust."""
    instances: NDArray[np.int32]
    """(n,) number of the thing that was hit; 0 for drops, flakes, fog and dust."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthImage:
    t_ns: int
    depth: NDArray[np.float32]
    """(height, width) m along the optical axis; 0 where there is no value."""


@dataclass(frozen=True, slots=True, eq=False)
class BatteryState:
    t_ns: int
    voltage: float
    """V at the terminals, sag included; 0 on an airframe without a battery."""
    current: float
    """A, positive while draining."""
    state_of_charge: float
    """1 full, 0 empty."""
    energy_used: float
    """J since the start."""


@dataclass(frozen=True, slots=True, eq=False)
class ActuatorState:
    t_ns: int
    commands: Array
    """(n_rotors,) rad/s asked by the controller."""
    speeds: Array
    """(n_rotors,) rad/s."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A vehicle's state as an estimator believes it; the controller may fly on it."""

    t_ns: int
    position: Array
    """(3,) m, world, of the body origin."""
    velocity_world: Array
    """(3,) m/s, of the body origin."""
    quat_wxyz: Array
    """(4,) world_from_body."""
    angular_velocity_body: Array
    """(3,) rad/s."""
    position_sd: Array
    """(3,) m, one sigma, world axes."""
    velocity_sd: Array
    """(3,) m/s, one sigma, world axes."""
    attitude_sd: Array
    """(3,) rad, one sigma, of a rotation vector in world axes."""
    valid: bool
    """False while the estimator has not converged or has lost its footing."""

    @staticmethod
    def unknown(t_ns: int) -> Estimate:
        """What is believed before an estimator has said anything: nothing."""
        far, level = np.full(3, 1e3), np.array([1.0, 0.0, 0.0, 0.0])
        return Estimate(t_ns, np.zeros(3), np.zeros(3), level, np.zeros(3), far, far, far, valid=False)


@dataclass(frozen=True, slots=True, eq=False)
class VehicleStatus:
    t_ns: int
    mode: str
    """disarmed, idle (armed, rotors idling), takeoff, hover, setpoint (following what is sent), goal, home, land."""
    armed: bool
    landed: bool
    """True while standing on the ground: before take-off and from touch-down on."""
    failsafe: str
    """Empty, or the one in force: "battery low", "setpoint lost", "estimate lost"."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something that happened: a contact, a failsafe, a refusal, an arrival."""

    t_ns: int
    kind: str
    """One or two words to sort by, such as contact, refused, arrived."""
    text: str
    """A line for people."""
    values: dict[str, float] = field(default_factory=dict)
    """SI numbers by name."""


# ---- setpoints: what to reach


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """Hold a point. With derivatives it is a point of a trajectory and is followed with feed-forward."""

    position: Array
    """(3,) m, world, of the body origin."""
    yaw: float | None = None
    """rad, counter-clockwise from east; None keeps the heading."""
    yaw_rate: float = 0.0
    """rad/s about world up."""
    velocity: Array = field(default_factory=_zeros3)
    """(3,) m/s, world."""
    acceleration: Array = field(default_factory=_zeros3)
    """(3,) m/s², world."""
    jerk: Array = field(default_factory=_zeros3)
    """(3,) m/s³, world."""
    snap: Array = field(default_factory=_zeros3)
    """(3,) m/s⁴, world."""


@dataclass(frozen=True, slots=True, eq=False)
class Velocity:
    """Fly at a velocity; `frame` is "world" or "body" (heading-fixed: forward, left, up)."""

    velocity: Array
    """(3,) m/s, axes of `frame`."""
    frame: str = "world"
    yaw: float | None = None
    """rad, counter-clockwise from east; None turns by `yaw_rate`."""
    yaw_rate: float = 0.0
    """rad/s about world up."""


@dataclass(frozen=True, slots=True, eq=False)
class Attitude:
    quat_wxyz: Array
    """(4,) world_from_body."""
    thrust: float
    """N, collective, along body up."""
    yaw_rate: float = 0.0
    """rad/s about world up."""


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    angular_velocity_body: Array
    """(3,) rad/s."""
    thrust: float
    """N, collective, along body up."""


@dataclass(frozen=True, slots=True, eq=False)
class Motors:
    throttle: Array
    """(n_rotors,) 0..1."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """Go there at cruise speed and stay; needs no refreshing, reports `arrived`."""

    position: Array
    """(3,) m, world, of the body origin."""
    yaw: float | None = None
    """rad, counter-clockwise from east; None keeps the heading."""


Setpoint: TypeAlias = Position | Velocity | Attitude | Rates | Motors | Goal


# ---- requests: what to do


@dataclass(frozen=True, slots=True)
class Arm:
    pass


@dataclass(frozen=True, slots=True)
class Disarm:
    pass


@dataclass(frozen=True, slots=True)
class TakeOff:
    altitude: float = 2.0
    """m above the present position."""


@dataclass(frozen=True, slots=True)
class Land:
    pass


@dataclass(frozen=True, slots=True)
class Hover:
    pass


@dataclass(frozen=True, slots=True)
class GoHome:
    pass


Request: TypeAlias = Arm | Disarm | TakeOff | Land | Hover | GoHome
