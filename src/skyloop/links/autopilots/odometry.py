"""ODOMETRY: the estimates that PX4 and ArduPilot fly on where they have no GNSS."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from skyloop.core.frames import matrix_from_quat, quat_from_matrix, yaw_from_quat
from skyloop.sim.scenario import Vehicle
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError, nearest_name
from skyloop_client.messages import Array, Estimate, Message
from skyloop_client.streams import NS_PER_S, Rate

LOCAL_NED, BODY_FRD, LOCAL_FRD = 1, 12, 20
"""MAV_FRAME_..."""
FLU_FRD = np.diag([1.0, -1.0, -1.0])
"""frd_from_flu and flu_from_frd."""
_STEEPEST = 0.05
"""Least cosine of the pitch. Roll and yaw cannot be distinguished when the nose points up or down."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalAxes:
    """The axes and the origin of the poses of ODOMETRY: forward, right and down. Its velocity is in the body's axes."""

    frame_id: int
    origin: Array
    """(3,) m, world."""
    from_world: Array
    """(3, 3) local_from_world."""

    @staticmethod
    def at(frame: str, position: Array, quat_wxyz: Array) -> LocalAxes:
        """ned: north, east and down from the world's origin. frd: from where the vehicle starts, with its heading.

        ardupilot: as ned, under the name of frd. It takes no other name, and takes the heading for one from north."""
        if frame != "frd":
            return LocalAxes(LOCAL_NED if frame == "ned" else LOCAL_FRD, np.zeros(3), _local_from_world(0.5 * math.pi))
        return LocalAxes(LOCAL_FRD, position.copy(), _local_from_world(float(yaw_from_quat(quat_wxyz))))


def _local_from_world(yaw: float) -> Array:
    """Forward, right and down for a heading counter-clockwise from east."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])


def odometry_fields(estimate: Estimate, axes: LocalAxes) -> tuple[object, ...]:
    """From `frame_id` to `velocity_covariance`, in MAVLink's order."""
    world_from_body = matrix_from_quat(estimate.quat_wxyz)
    local_from_frd = axes.from_world @ world_from_body @ FLU_FRD
    quat = quat_from_matrix(local_from_frd)
    frd_from_world = FLU_FRD @ world_from_body.T
    velocity = estimate.velocity_world
    return (
        axes.frame_id,
        BODY_FRD,
        *(axes.from_world @ (estimate.position - axes.origin)).tolist(),
        (quat if quat[0] >= 0.0 else -quat).tolist(),
        *(frd_from_world @ velocity).tolist(),
        *(FLU_FRD @ estimate.angular_velocity_body).tolist(),
        *_covariances(estimate, axes, local_from_frd, frd_from_world),
    )


def _covariances(
    estimate: Estimate, axes: LocalAxes, local_from_frd: Array, frd_from_world: Array
) -> tuple[list[float], list[float]]:
    """Of position, roll, pitch and yaw, and of the velocity; the rates have none, so theirs is NaN.

    Attitude errors are rotation vectors in world axes. A turned body sees another velocity: δv_body = Rᵀ (δv + v × δθ).
    """
    known = estimate.covariance
    if known is None:
        known = np.diag(np.square(np.concatenate([estimate.position_sd, estimate.velocity_sd, estimate.attitude_sd])))
    known = known[:9, :9]
    by_pose, by_velocity = np.zeros((6, 9)), np.zeros((3, 9))
    by_pose[:3, 0:3] = axes.from_world
    by_pose[3:, 6:9] = _angles_from_turn(local_from_frd) @ axes.from_world
    x, y, z = estimate.velocity_world.tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    by_velocity[:, 3:6], by_velocity[:, 6:9] = frd_from_world, frd_from_world @ cross
    velocity = np.full((6, 6), np.nan)
    velocity[:3, :3] = by_velocity @ known @ by_velocity.T
    return _triangle(by_pose @ known @ by_pose.T), _triangle(velocity)


def _angles_from_turn(local_from_frd: Array) -> Array:
    """(3, 3) by how much roll, pitch and yaw change with a small turn about the local axes."""
    yaw = math.atan2(local_from_frd[1, 0], local_from_frd[0, 0])
    sin_pitch = -float(local_from_frd[2, 0])
    cos_pitch = max(math.sqrt(max(0.0, 1.0 - sin_pitch**2)), _STEEPEST)
    c, s, tilt = math.cos(yaw), math.sin(yaw), sin_pitch / cos_pitch
    return np.array([[c / cos_pitch, s / cos_pitch, 0.0], [-s, c, 0.0], [tilt * c, tilt * s, 1.0]])


def _triangle(matrix: Array) -> list[float]:
    """(21,) upper right triangle, row by row."""
    return [float(value) for value in matrix[np.triu_indices(6)]]


class OdometryFeed:
    """The newest estimate of a stream, at most at a rate, and how often its frame may have jumped.

    PX4 would use an estimate of quality -1, because its EKF2_EV_QMIN is 0 by default. So nothing is sent while there is
    no valid estimate; PX4 notices that after 0.4 s, and its own failsafe acts."""

    def __init__(self, axes: LocalAxes, rate: Rate) -> None:
        self.axes = axes
        self.resets = 0
        """Counts up when an estimate is valid again after it was lost, and when time was set back."""
        self.sent = 0
        self._late_ns = 0
        self._rate = rate
        self._estimate: Estimate | None = None
        self._last_slot = -1
        self._was_valid = self._was_lost = False

    def put(self, message: Message) -> None:
        estimate: Estimate = message.data
        self._was_lost |= self._was_valid and not estimate.valid
        self._was_valid = estimate.valid
        self._estimate = estimate if estimate.valid else None

    def take(self, now_ns: int, *, set_back: bool = False) -> Estimate | None:
        """The estimate that is due."""
        if set_back:
            self._last_slot, self._was_lost = -1, True
        estimate, self._estimate = self._estimate, None
        if estimate is None:
            return None
        slot = estimate.t_ns * self._rate.num // (NS_PER_S * self._rate.den)
        if slot <= self._last_slot:
            return None
        self._last_slot = slot
        if self._was_lost:
            self._was_lost, self.resets = False, (self.resets + 1) % 256
        self.sent += 1
        self._late_ns += now_ns - estimate.t_ns
        return estimate

    def summary(self) -> dict[str, object]:
        mean_s = self._late_ns / self.sent / NS_PER_S if self.sent else None
        return {"messages": self.sent, "mean_delay_s": mean_s, "resets": self.resets}


# ---- which estimates, and how late they are


class OdometryOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    odometry: str | None = None
    """An estimator or a stream of estimates that the autopilot flies on, as ODOMETRY. Default: what the vehicle's
    controller flies on, if that is neither the truth nor the EKF. none: it gets no ODOMETRY."""
    odometry_delay: Annotated[float, Field(ge=0, le=0.25)] | None = None
    """s by which the estimates are late, for the autopilot's parameter. Default: the latencies of the estimator and of
    its fastest sensor."""

    def source(self, vehicle: Vehicle) -> str | None:
        """The estimates of this vehicle that are sent.

        By default not those of the built-in EKF, because an autopilot has one of its own for the same sensors."""
        if self.odometry is not None:
            return None if self.odometry == "none" else self.odometry
        estimator = vehicle.estimators.get(vehicle.state)
        is_ekf = vehicle.state in ("truth", "ekf") or (estimator is not None and estimator.kind == "ekf")
        return None if is_ekf else vehicle.state

    def delay(self, vehicle: Vehicle, source: str) -> float:
        """s from the stamp of an estimate to its arrival."""
        estimator = vehicle.estimators.get(source.removeprefix(f"{vehicle.name}/"))
        if self.odometry_delay is not None or estimator is None:
            return self.odometry_delay or 0.0
        named = [vehicle.sensors[name] for name in estimator.inputs if name in vehicle.sensors]
        return estimator.latency + min((sensor.latency for sensor in named or vehicle.sensors.values()), default=0.0)


def odometry_feed(port: SimulationPort, vehicle: str, source: str, rate_hz: float, frame: str) -> OdometryFeed:
    """Of the estimator or the stream of estimates named `source`."""
    infos = port.bus.infos
    # the EKF that `state: ekf` alone asks for has a stream of another name
    names = [f"{vehicle}/{source}", *([f"{vehicle}/estimate"] if source == "ekf" else []), source]
    stream = next((name for name in names if name in infos and infos[name].message == "Estimate"), None)
    if stream is None:
        known = [name for name, info in infos.items() if info.message == "Estimate"]
        hint = nearest_name(source, known) if known else "add one under estimators"
        raise LinkError(f"ODOMETRY is made from a stream of Estimate; '{source}' is none; {hint}")
    start = port.vehicle(vehicle).truth
    feed = OdometryFeed(LocalAxes.at(frame, start.position, start.quat_wxyz), Rate.from_hz(rate_hz))
    port.bus.on(stream, feed.put)
    return feed
