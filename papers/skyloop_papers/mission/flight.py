"""V-E1 of airloop: a rectangle of four GPS waypoints, uploaded as a MAVLink mission and flown on the EKF."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import LocalFrame
from skyloop.links.link_gate import home_of
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.link import TICK_NS
from skyloop.links.mavlink.listener import ClientChannel
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.telemetry_table import BUILDERS
from skyloop.links.mavlink.vehicle import MavlinkVehicle
from skyloop.links.mavlink.wire import Geography, Inlet
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array, Message
from skyloop_client.streams import NS_PER_S

CORNERS = np.array([[30.0, -20.0], [30.0, 20.0], [-30.0, 20.0], [-30.0, -20.0]])
"""(4, 2) m east and north of take-off. The paper gives no size."""
HEIGHT = 15.0
"""m above take-off."""
SPEED = 4.0
"""m/s."""
ACCEPTANCE = 1.0
"""m from a corner within which it counts as reached."""
LONGEST_S = 240.0
SCENARIO: dict[str, Any] = {
    "name": "mission",
    "world": "flat",
    "duration": LONGEST_S,
    # Neubiberg, the place of the paper's flight
    "earth": {"latitude_deg": 48.08, "longitude_deg": 11.64, "altitude": 550.0},
    "wind": {"kind": "dryden", "mean": [1.0, 0.5, 0.0], "w20_kt": 6},
    "vehicles": [
        {
            "name": "drone",
            "airframe": "x500",
            "state": "ekf",
            "sensors": {
                "imu": {"kind": "imu", "preset": "mpu6000", "rate_hz": 250},
                "gnss": {"kind": "gnss", "preset": "m8n", "rate_hz": 10, "latency": 0.12},
                "barometer": {"kind": "barometer", "preset": "ms5611", "rate_hz": 50},
                "magnetometer": {"kind": "magnetometer", "preset": "hmc5883", "rate_hz": 50},
            },
        }
    ],
}


@dataclass(frozen=True, slots=True, eq=False)
class FlownRectangle:
    """One flight, from the first corner to the last."""

    seed: int
    t: Array
    """(n,) s."""
    truth: Array
    """(n, 3) m, world."""
    estimate: Array
    """(n, 3) m, world."""
    fixes: Array
    """(m, 2) m east and north, of the GNSS receiver."""
    corners: Array
    """(4, 3) m, world."""
    duration: float
    """s from arming to disarming."""
    track: Array
    """(k, 2) m east and north, true, from arming to disarming."""
    passed: tuple[float, ...]
    """s when corners 2, 3, 4 counted as reached."""

    @property
    def cross_track(self) -> Array:
        """(n,) m, horizontal distance from the nearest side of the rectangle."""
        return distance_to_rectangle(self.truth[:, :2], self.corners[:, :2])

    @property
    def misses(self) -> Array:
        """(4,) m: the smallest horizontal distance from each corner."""
        away = np.linalg.norm(self.truth[:, None, :2] - self.corners[None, :, :2], axis=2)
        return np.asarray(away.min(axis=0))

    @property
    def estimate_error(self) -> float:
        """m rms, horizontal."""
        return float(np.sqrt(np.mean(np.sum((self.truth - self.estimate)[:, :2] ** 2, axis=1))))

    @property
    def height_error(self) -> float:
        """m rms, relative to the mission's height."""
        return float(np.sqrt(np.mean((self.truth[:, 2] - self.corners[0, 2]) ** 2)))


def distance_to_rectangle(points: Array, corners: Array) -> Array:
    """(n,) m from (n, 2) points to the nearest side of a closed polygon."""
    nearest = np.full(len(points), np.inf)
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        side = end - start
        along = np.clip((points - start) @ side / (side @ side), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - start - along[:, None] * side, axis=1))
    return nearest


class GroundStation(ClientChannel):
    """A ground station in the same process. Messages are encoded as bytes, but there is no socket."""

    def __init__(self) -> None:
        self.inlet = Inlet()
        self.is_tcp = True
        # it gets the messages it needs without asking
        self.intervals: dict[int, int] = dict.fromkeys(BUILDERS, -1)
        self.due: dict[int, int] = {}
        self.latest: dict[str, Any] = {}
        self.reached: list[int] = []
        self._packer = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self._own = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
        self._receiver = Inlet()

    def send(self, message: Any, component: int = 1) -> None:
        """Called by the vehicle."""
        self._receive(bytes(message.pack(self._packer)))

    def pass_on(self, message: Any) -> None:
        """Called by the vehicle with a message of another client."""
        self._receive(bytes(message.get_msgbuf()))

    def _receive(self, data: bytes) -> None:
        for received in self._receiver.feed(data):
            self.latest[received.get_type()] = received
            if received.get_type() == "MISSION_ITEM_REACHED":
                self.reached.append(received.seq)

    def say(self, vehicle: MavlinkVehicle, message: Any) -> None:
        for said in self.inlet.feed(bytes(message.pack(self._own))):
            vehicle.take(said, self)

    def command(self, vehicle: MavlinkVehicle, number: int, *params: float) -> None:
        filled = [*params, *[0.0] * (7 - len(params))]
        self.say(vehicle, mavlink.MAVLink_command_long_message(1, 1, number, 0, *filled))
        if self.latest["COMMAND_ACK"].result != mavlink.MAV_RESULT_ACCEPTED:
            raise LinkError(f"command {number} was refused: {self.latest['STATUSTEXT'].text}")

    def upload(self, vehicle: MavlinkVehicle, items: list[Any]) -> None:
        self.say(vehicle, mavlink.MAVLink_mission_count_message(1, 1, len(items)))
        for item in items:
            self.say(vehicle, item)
        if self.latest["MISSION_ACK"].type != mavlink.MAV_MISSION_ACCEPTED:
            raise LinkError(f"the mission was refused: {self.latest['MISSION_ACK'].type}")


def mission_items(frame: LocalFrame, corners: Array) -> list[Any]:
    """Take-off, speed, the four corners and the first again, return."""
    first = np.array([0.0, 0.0, corners[0, 2]])
    speed = (mavlink.MAV_CMD_DO_CHANGE_SPEED, None, (1.0, SPEED, -1.0, 0.0))
    plan: list[tuple[int, Array | None, tuple[float, ...]]] = [
        (mavlink.MAV_CMD_NAV_TAKEOFF, first, (0.0, 0.0, 0.0, math.nan)),
        speed,
        *[
            (mavlink.MAV_CMD_NAV_WAYPOINT, corner, (0.0, ACCEPTANCE, 0.0, math.nan))
            for corner in [*corners, corners[0]]
        ],
        (mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH, None, (0.0, 0.0, 0.0, 0.0)),
    ]
    items = []
    for number, (command, position, params) in enumerate(plan):
        x = y = 0
        if position is not None:
            latitude_deg, longitude_deg, _ = frame.geodetic_array_from_enu(position)
            x, y = round(latitude_deg * 1e7), round(longitude_deg * 1e7)
        items.append(
            mavlink.MAVLink_mission_item_int_message(
                1, 1, number, mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, command, 0, 1, *params, x, y, HEIGHT
            )
        )
    return items


def fly_rectangle(seed: int) -> FlownRectangle:
    """Upload, arm and start, then record until it has landed at home."""
    scenario: Scenario = make_scenario({**SCENARIO, "seed": seed})
    home = home_of(scenario)
    with build(scenario) as simulation:
        start = simulation.truth().position
        vehicle = MavlinkVehicle(System(simulation.port.vehicle(), simulation.bus, 1, Geography(home, start)))
        station = GroundStation()
        vehicle.channels.append(station)
        corners = np.column_stack([CORNERS + start[:2], np.full(4, HEIGHT + start[2])])
        t_ns, truth, estimate, fixes = _record(simulation, LocalFrame(home))
        _until(simulation, vehicle, lambda: vehicle.system.port.knows_where, "a valid estimate")
        # ten more seconds, so that the receiver settles
        settled = simulation.now + 10.0
        _until(simulation, vehicle, lambda: simulation.now >= settled, "ten seconds")
        station.upload(vehicle, mission_items(LocalFrame(home), corners))
        station.command(vehicle, mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1)
        armed = simulation.now
        station.command(vehicle, mavlink.MAV_CMD_MISSION_START)
        _until(simulation, vehicle, lambda: 2 in station.reached, "the first corner")
        began = simulation.clock.now_ns
        passed = []
        for number in (3, 4, 5, 6):
            _until(simulation, vehicle, lambda number=number: number in station.reached, f"mission item {number}")
            passed.append(simulation.now)
        ended = simulation.clock.now_ns
        _until(simulation, vehicle, lambda: not vehicle.system.port.status.armed, "the landing")
        lasted = simulation.now - armed
    chosen = (np.array(t_ns) >= began) & (np.array(t_ns) <= ended)
    return FlownRectangle(
        seed, np.array(t_ns)[chosen] / 1e9, np.array(truth)[chosen], np.array(estimate)[chosen], np.array(fixes),
        corners, lasted, np.array(truth)[np.array(t_ns) >= armed * NS_PER_S, :2], tuple(passed[:-1]),
    )  # fmt: skip


def _record(simulation: Simulation, frame: LocalFrame) -> tuple[list[int], list[Array], list[Array], list[Array]]:
    t_ns: list[int] = []
    truth: list[Array] = []
    estimate: list[Array] = []
    fixes: list[Array] = []

    def on_truth(message: Message) -> None:
        t_ns.append(message.t_ns)
        truth.append(message.data.position)
        estimate.append(np.array(simulation.autopilots["drone"].state(message.t_ns).position))

    def on_fix(message: Message) -> None:
        fix = message.data
        if fix.fix_type == 3:
            position = frame.enu_from_geodetic_array([fix.latitude_deg, fix.longitude_deg, fix.altitude])
            fixes.append(position[:2])

    simulation.bus.on("truth/drone", on_truth)
    simulation.bus.on("drone/gnss", on_fix)
    return t_ns, truth, estimate, fixes


def _until(simulation: Simulation, vehicle: MavlinkVehicle, done: Callable[..., bool], what: str) -> None:
    while not done():
        if simulation.now > LONGEST_S:
            raise LinkError(f"the mission did not come to {what} within {LONGEST_S:g} s")
        simulation.advance_to(simulation.clock.now_ns + TICK_NS)
        vehicle.tick()
