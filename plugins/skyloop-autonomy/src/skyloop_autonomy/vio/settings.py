"""How visual-inertial odometry weighs its images and its IMU."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0.0)]
NonNegative = Annotated[float, Field(ge=0.0)]
Count = Annotated[int, Field(ge=1)]


class VioSettings(BaseModel):
    """The settings of visual-inertial odometry. The IMU's noise comes with its stream; the floors here raise it."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    # ---- tracking
    features: Annotated[int, Field(ge=20, le=600)] = 150
    """The number of corners that are tracked."""
    grid: tuple[Annotated[int, Field(ge=1, le=64)], Annotated[int, Field(ge=1, le=64)]] = (10, 6)
    """Columns and rows of the grid over which corners are spread."""
    window_px: Annotated[int, Field(ge=5, le=63)] = 15
    """px, the side of the patch that is searched for in the next image."""
    levels: Annotated[int, Field(ge=0, le=6)] = 2
    """The number of halvings of the image that the search begins with."""
    corner_quality: Positive = 2.0
    """Grey values per px, the least contrast of a corner in its weaker direction."""
    round_trip_px: Positive = 0.5
    """px, by how much a corner may miss its origin when it is tracked back."""
    epipolar_px: Positive = 1.0
    """px, by how much a match in the right image may lie off its line."""
    # ---- noise of the images
    pixel_sd: Positive = 0.2
    """px, one sigma of a corner's position in the left image."""
    disparity_sd: Positive = 0.25
    """px, one sigma of its shift to the right image."""
    pixel_walk: NonNegative = 0.03
    """px per step of the filter, by which a corner may slide over its surface: most stay, but where one surface hides
    another it is their crossing that is followed."""
    gate: Positive = 2.5
    """The sigmas beyond which a corner's measurement is refused."""
    sigma_scale: Positive = 1.2
    """A factor on all sigmas that are published. Errors of corners are related a little from pair to pair and from
    corner to corner, which the filter takes for independent; fitted to recorded flights in five worlds."""
    # ---- the window
    poses: Annotated[int, Field(ge=3, le=30)] = 10
    """The number of past poses in the filter's state."""
    points: Annotated[int, Field(ge=0, le=200)] = 40
    """The number of points in the filter's state."""
    key_parallax_px: Positive = 12.0
    """px, the mean motion of the corners, turns taken out, after which a pose is kept as a key pose."""
    filter_every: Count = 3
    """Pairs of images per update of the filter; the corners are tracked in every pair."""
    step_px: NonNegative = 4.0
    """px, the median motion of the corners below which a pair is left out."""
    step_time: Positive = 0.2
    """s, after which a pair is used even if nothing has moved."""
    # ---- IMU
    noise_multiplier: Positive = 1.5
    """A factor on the IMU's noise densities, for what the data sheet leaves out."""
    gyro_noise_floor: NonNegative = 1e-4
    """rad/s/√Hz, the least noise density of the gyroscope."""
    accel_noise_floor: NonNegative = 2e-3
    """m/s²/√Hz, the least noise density of the accelerometer."""
    gyro_walk_floor: NonNegative = 3e-5
    """rad/s²/√Hz, the least random walk of the gyroscope's bias."""
    accel_walk_floor: NonNegative = 1e-4
    """m/s³/√Hz, the least random walk of the accelerometer's bias."""
    imu_gap: Positive = 0.05
    """s, the longest gap between two IMU samples that is bridged without more uncertainty."""
    imu_gap_rate_sd: NonNegative = 0.3
    """rad/s, the angular velocity that may have gone unseen in a longer gap."""
    imu_gap_accel_sd: NonNegative = 2.0
    """m/s², the acceleration that may have gone unseen in a longer gap."""
    imu_jump_rate: Positive = 1.0
    """rad/s, the change from one sample to the next above which the turn between them is uncertain."""
    imu_jump_accel: Positive = 5.0
    """m/s², the change from one sample to the next above which the velocity gained between them is uncertain."""
    # ---- start and rest
    rest_time: Positive = 0.4
    """s, the time at rest over which the start averages."""
    rest_gyro_sd: Positive = 0.002
    """rad/s, the scatter of the gyroscope above which the vehicle moves; three times its own noise if that is more."""
    rest_accel_sd: Positive = 0.02
    """m/s², the same of the accelerometer."""
    rest_px: Positive = 0.25
    """px, the motion of the livelier corners over `rest_time` above which the vehicle moves."""
    rest_speed_sd: Positive = 0.01
    """m/s, one sigma of the velocity at rest."""
    patience: Positive = 2.0
    """s, the time after which a vehicle that never stands still is started in motion."""
    moving_tilt_sd: Positive = 0.15
    """rad, one sigma of the tilt of a start in motion."""
    moving_speed_sd: Positive = 2.0
    """m/s, one sigma of the velocity of a start in motion."""
    # ---- lost or not
    blind_time: Positive = 3.0
    """s without a corner that fits, after which the estimate is not valid; and s for which images and IMU must agree
    again after they contradicted each other, before it is."""
    valid_speed_sd: Positive = 0.5
    """m/s, the sigma of the velocity above which the estimate is not valid."""
    valid_tilt_sd: Positive = 0.15
    """rad, the sigma of roll and pitch above which the estimate is not valid."""
    fewest: Count = 6
    """The number of fitting corners below which a pair counts as blind."""
    # ---- loop closing
    loops: bool = False
    """true: places that are seen again correct the map frame."""
    key_distance: Positive = 0.4
    """m, the distance after which a key picture is taken."""
    key_turn: Positive = 0.35
    """rad, the turn after which a key picture is taken."""
    search_radius: Positive = 2.0
    """m, how near an old key picture must be, by the map, to be compared."""
    least_matches: Annotated[int, Field(ge=6)] = 18
    """The number of corners that must agree when a place is seen again."""
    drift_share: Positive = 0.004
    """One sigma of the odometry's drift as a share of the way, for the graph."""
    correction_speed: Positive = 0.05
    """m/s, the fastest shift of the map frame against the odometry's."""
    correction_turn: Positive = 0.01
    """rad/s, the fastest turn of the map frame."""
