"""The records that sensors publish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages.states import Array


@dataclass(frozen=True, slots=True, eq=False)
class ImuSample:
    """One sample of an inertial measurement unit."""

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
    """One fix of a satellite navigation receiver."""

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
    """One sample of a barometer."""

    t_ns: int
    pressure: float
    """Pa, the measured pressure."""
    altitude: float
    """m, from pressure and the standard atmosphere."""
    temperature: float
    """K, the temperature of the standard atmosphere."""


@dataclass(frozen=True, slots=True, eq=False)
class MagnetometerSample:
    """One sample of a magnetometer."""

    t_ns: int
    field_tesla: Array
    """(3,) T, sensor axes."""


@dataclass(frozen=True, slots=True, eq=False)
class CameraImage:
    """One image of a camera, in colour or grey."""

    t_ns: int
    """Middle of the exposure. With a rolling shutter, of the middle row."""
    colour: NDArray[np.uint8]
    """(height, width, 3) red, green, blue; (height, width) of a camera with `mode: grey`. Row 0 is the top."""

    @property
    def grey(self) -> NDArray[np.uint8]:
        """(height, width) the brightness of each pixel; of a colour image its luma."""
        return self.colour if self.colour.ndim == 2 else luma(self.colour)


LUMA = np.array([0.299, 0.587, 0.114])
"""How BT.601 weighs red, green and blue."""


def luma(colour: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(h, w) of (h, w, 3). The weights are in 256ths, because integers give equal results on all machines."""
    red, green, blue = (colour[..., channel].astype(np.uint16) for channel in range(3))
    return ((77 * red + 150 * green + 29 * blue + 128) >> 8).astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """One labelled object in an image."""

    instance: int
    """Its number in the world, as in `ImageTruth.instances`."""
    name: str
    """The name of the object in the world."""
    class_name: str
    """The name of its semantic class."""
    box_px: tuple[int, int, int, int]
    """Box of its visible pixels: first column, first row, last column, last row, all inclusive."""
    visible_px: int
    """The number of its pixels that are visible."""
    occlusion: float
    """Share of its pixels in the image that something nearer covers, 0 to 1."""
    truncation: float
    """Share of its projection that lies outside the image, 0 to 1."""
    centre: Array
    """(3,) m, world, of its 3-D box."""
    size: Array
    """(3,) m: length along `yaw`, width, height."""
    yaw: float
    """rad, of the box about up, anticlockwise from east."""
    distance: float
    """m from the camera to the centre of the box."""


@dataclass(frozen=True, slots=True, eq=False)
class ImageTruth:
    """The content of each pixel of an image, at exactly its stamp. Parts that were not requested are None."""

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
    """(height, width) number of the object; 0 is the sky."""
    classes: NDArray[np.uint8] | None = None
    """(height, width) number of the semantic class; 0 is the sky."""
    materials: NDArray[np.uint8] | None = None
    """(height, width) number of the material."""
    velocities: NDArray[np.float32] | None = None
    """(height, width, 3) m/s of the surface point, world."""
    flow: NDArray[np.float32] | None = None
    """(height, width, 2) px/s, right and down, at which the surface point moves over the image; NaN off the lens."""
    labels: tuple[Label, ...] = ()
    """The visible labelled objects. Empty if labels were not requested."""


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
    """One sample of a rangefinder."""

    t_ns: int
    distance: float
    """m along the sensor's +x axis; NaN when nothing is in range, -inf when something is nearer than `min_range`."""
    min_range: float
    """m, the shortest distance the sensor measures."""
    max_range: float
    """m, the longest distance the sensor measures."""


@dataclass(frozen=True, slots=True, eq=False)
class LidarScan:
    """The returns of one sweep, in firing order. Beams without a return have no row."""

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
    """(n,) semantic class of the hit object; 0 for drops, flakes, fog and dust."""
    instances: NDArray[np.int32]
    """(n,) number of the hit object; 0 for drops, flakes, fog and dust."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthImage:
    """One image of a depth camera."""

    t_ns: int
    depth: NDArray[np.float32]
    """(height, width) m along the optical axis; 0 where there is no value."""


@dataclass(frozen=True, slots=True, eq=False)
class RadarScan:
    """One burst of chirps as the converter gives it."""

    t_ns: int
    """Middle of the burst."""
    volts: NDArray[np.float32] | NDArray[np.complex64]
    """(n_rx, n_chirps, n_samples) V; complex where the receiver has a quadrature channel."""
    folded_share: float
    """Share of the echo's energy from beyond the unambiguous range or speed, 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeDopplerImage:
    """The power of the echoes of one burst by range and speed."""

    t_ns: int
    power: NDArray[np.float32]
    """(n_ranges, n_speeds) V², mean over the antennas, row 0 nearest."""
    ranges: Array
    """(n_ranges,) m of each row, coupling with speed not removed."""
    speeds: Array
    """(n_speeds,) m/s of each column, rising; positive: away."""


@dataclass(frozen=True, slots=True, eq=False)
class RadarDetections:
    """Points found in one scan, and the tracks they feed."""

    t_ns: int
    points: NDArray[np.float32]
    """(n, 3) m, sensor axes (forward, left, up)."""
    ranges: Array
    """(n,) m at the middle of the burst."""
    speeds: Array
    """(n,) m/s, positive: away."""
    azimuths: Array
    """(n,) rad, positive to the left."""
    elevations: Array
    """(n,) rad, positive upwards."""
    snr_db: Array
    """(n,) dB over the noise around the peak."""
    track_ids: NDArray[np.int32]
    """(k,) numbers that targets keep."""
    track_positions: Array
    """(k, 3) m, sensor axes."""
    track_velocities: Array
    """(k, 3) m/s, sensor axes."""
