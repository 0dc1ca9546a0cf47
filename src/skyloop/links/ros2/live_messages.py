"""Messages that exist on the wire only, because a bag has no use for them: clock, state for MAVROS."""

from __future__ import annotations

import numpy as np

from skyloop.recording.ros2.frames import WORLD, header, pose_of, stamp, twist_of
from skyloop.recording.ros2.types import (
    RosMessage,
    diagnostic_msgs,
    geometry_msgs,
    mavros_msgs,
    nav_msgs,
    rosgraph_msgs,
)
from skyloop.sim.vehicle_port import VehicleGeometry, VehiclePort
from skyloop_client.messages import Array, Estimate, VehicleState

OK, WARN, ERROR = 0, 1, 2
ACTIVE, STANDBY = 4, 3
"""MAVLink's numbers of a system's state."""
MAVROS_MODES = {
    "takeoff": "AUTO.TAKEOFF", "hover": "AUTO.LOITER", "setpoint": "OFFBOARD", "goal": "AUTO.MISSION",
    "home": "AUTO.RTL", "land": "AUTO.LAND",
}  # fmt: skip
"""PX4's names, which MAVROS shows, for our autopilot's modes."""
State = VehicleState | Estimate
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


def clock(t_ns: int) -> RosMessage:
    return rosgraph_msgs.Clock(stamp(t_ns))


def pose_stamped(state: State) -> RosMessage:
    return geometry_msgs.PoseStamped(header(state.t_ns, WORLD), pose_of(state.position, state.quat_wxyz))


def velocity_in_world(state: State) -> RosMessage:
    """As MAVROS's local_position/velocity_local: linear in world axes, angular in body axes."""
    twist = twist_of(state.velocity_world, state.angular_velocity_body)
    return geometry_msgs.TwistStamped(header(state.t_ns, WORLD), twist)


def rotor_wrench(state: VehicleState, geometry: VehicleGeometry, frame_id: str) -> RosMessage:
    """Force and torque of the rotors on the body, about the body origin, body axes."""
    thrusts = state.rotor_thrusts[: geometry.n_rotors]
    x, y = geometry.rotor_positions[:, 0], geometry.rotor_positions[:, 1]
    # a rotor that turns counter-clockwise drags the body clockwise
    drag = -geometry.torque_ratio * float(np.dot(geometry.rotor_spins, thrusts))
    force = geometry_msgs.Vector3(0.0, 0.0, float(thrusts.sum()))
    torque = geometry_msgs.Vector3(float(np.dot(y, thrusts)), -float(np.dot(x, thrusts)), drag)
    return geometry_msgs.WrenchStamped(header(state.t_ns, frame_id), geometry_msgs.Wrench(force, torque))


def path(t_ns: int, positions: list[Array]) -> RosMessage:
    head = header(t_ns, WORLD)
    return nav_msgs.Path(head, [geometry_msgs.PoseStamped(head, pose_of(position, LEVEL)) for position in positions])


def mavros_state(vehicle: VehiclePort, t_ns: int) -> RosMessage:
    status = vehicle.status
    return mavros_msgs.State(
        header(t_ns, ""), connected=True, armed=status.armed, guided=status.mode == "setpoint", manual_input=False,
        mode=MAVROS_MODES.get(status.mode, "MANUAL"), system_status=ACTIVE if vehicle.is_flying else STANDBY,
    )  # fmt: skip


def diagnosis(vehicle: VehiclePort) -> RosMessage:
    status, battery = vehicle.status, vehicle.battery
    level = ERROR if status.failsafe else OK if vehicle.knows_where else WARN
    said = status.failsafe or ("" if vehicle.knows_where else "its estimate is not valid") or status.mode
    values = {
        "mode": status.mode, "armed": str(status.armed).lower(), "landed": str(status.landed).lower(),
        "charge": f"{battery.state_of_charge:.3f}", "commander": vehicle.commander,
    }  # fmt: skip
    return _status(level, f"skyloop: {vehicle.name}", said, vehicle.name, values)


def diagnostics(t_ns: int, vehicles: list[VehiclePort], sent: int, lost: int) -> RosMessage:
    link = _status(OK, "skyloop: link", f"{sent} messages sent", "", {"sent": str(sent), "lost": str(lost)})
    return diagnostic_msgs.DiagnosticArray(header(t_ns, ""), [link, *(diagnosis(vehicle) for vehicle in vehicles)])


def _status(level: int, name: str, message: str, hardware: str, values: dict[str, str]) -> RosMessage:
    pairs = [diagnostic_msgs.KeyValue(*pair) for pair in values.items()]
    return diagnostic_msgs.DiagnosticStatus(level, name, message, hardware, pairs)
