"""Messages that exist on the wire only, because a bag has no use for them: clock, previews, state for MAVROS."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.core.frames import rotate_inverse
from skyloop.recording.formats.label_images import jpeg
from skyloop.recording.formats.ros2_names import NO_COVARIANCE, WORLD, header, pose_of
from skyloop.recording.formats.ros2_products import pose_covariance, velocity_covariance
from skyloop.sim.vehicle_port import VehicleGeometry, VehiclePort
from skyloop_client.messages import Array, CameraImage, Estimate, VehicleState
from skyloop_client.streams import NS_PER_S

OK, WARN, ERROR = 0, 1, 2
ACTIVE, STANDBY = 4, 3
"""MAVLink's numbers of a system's state."""
MAVROS_MODES = {
    "takeoff": "AUTO.TAKEOFF", "hover": "AUTO.LOITER", "setpoint": "OFFBOARD", "goal": "AUTO.MISSION",
    "home": "AUTO.RTL", "land": "AUTO.LAND",
}  # fmt: skip
"""PX4's names, which MAVROS shows, for our autopilot's modes."""
State = VehicleState | Estimate
Fields = tuple[Any, ...]


def clock(t_ns: int) -> Fields:
    return (divmod(t_ns, NS_PER_S),)


def compressed(image: CameraImage, frame_id: str) -> Fields:
    kind = "mono8; jpeg compressed mono8" if image.colour.ndim == 2 else "rgb8; jpeg compressed bgr8"
    return header(image.t_ns, frame_id), kind, np.frombuffer(jpeg(image.colour), np.uint8)


def odometry(state: State, child: str) -> Fields:
    """Where it believes to be; the twist is in body axes, as nav_msgs says."""
    place, motion = NO_COVARIANCE, NO_COVARIANCE
    if isinstance(state, Estimate):
        whole = np.zeros((6, 6))
        whole[:3, :3] = velocity_covariance(state)
        place, motion = pose_covariance(state).ravel().tolist(), whole.ravel().tolist()
    velocity = rotate_inverse(state.quat_wxyz, state.velocity_world).tolist()
    pose = [*pose_of(state.position, state.quat_wxyz), *place]
    twist = [*velocity, *state.angular_velocity_body.tolist(), *motion]
    return header(state.t_ns, WORLD), child, pose, twist


def pose_stamped(state: State) -> Fields:
    return header(state.t_ns, WORLD), pose_of(state.position, state.quat_wxyz)


def velocity_in_world(state: State) -> Fields:
    """As MAVROS's local_position/velocity_local: linear in world axes, angular in body axes."""
    return header(state.t_ns, WORLD), [*state.velocity_world.tolist(), *state.angular_velocity_body.tolist()]


def rotor_wrench(state: VehicleState, geometry: VehicleGeometry, frame_id: str) -> Fields:
    """Force and torque of the rotors on the body, about the body origin, body axes."""
    thrusts = state.rotor_thrusts[: geometry.n_rotors]
    x, y = geometry.rotor_positions[:, 0], geometry.rotor_positions[:, 1]
    # a rotor that turns counter-clockwise drags the body clockwise
    drag = -geometry.torque_ratio * float(np.dot(geometry.rotor_spins, thrusts))
    torque = [float(np.dot(y, thrusts)), -float(np.dot(x, thrusts)), drag]
    return header(state.t_ns, frame_id), [0.0, 0.0, float(thrusts.sum()), *torque]


def path(t_ns: int, positions: list[Array]) -> Fields:
    level = np.array([1.0, 0.0, 0.0, 0.0])
    head = header(t_ns, WORLD)
    return head, [(head, pose_of(position, level)) for position in positions]


def mavros_state(vehicle: VehiclePort, t_ns: int) -> Fields:
    status = vehicle.status
    mode = MAVROS_MODES.get(status.mode, "MANUAL")
    following = status.mode == "setpoint"
    system = ACTIVE if vehicle.is_flying else STANDBY
    return header(t_ns, ""), True, status.armed, following, False, mode, system


def diagnosis(vehicle: VehiclePort) -> Fields:
    status, battery = vehicle.status, vehicle.battery
    level = ERROR if status.failsafe else OK if vehicle.knows_where else WARN
    said = status.failsafe or ("" if vehicle.knows_where else "its estimate is not valid") or status.mode
    values = [
        ("mode", status.mode), ("armed", str(status.armed).lower()), ("landed", str(status.landed).lower()),
        ("charge", f"{battery.state_of_charge:.3f}"), ("commander", vehicle.commander),
    ]  # fmt: skip
    return level, f"skyloop: {vehicle.name}", said, vehicle.name, values


def diagnostics(t_ns: int, vehicles: list[VehiclePort], sent: int, lost: int) -> Fields:
    link = (OK, "skyloop: link", f"{sent} messages sent", "", [("sent", str(sent)), ("lost", str(lost))])
    return header(t_ns, ""), [link, *(diagnosis(vehicle) for vehicle in vehicles)]
