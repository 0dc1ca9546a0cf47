"""A pilot that publishes its own streams: a map of LiDAR points, its path, the nearest object, a number."""

import numpy as np

from skyloop_client import Bundle
from skyloop_client.messages import (
    Arm,
    Array,
    Goal,
    GridMap,
    Land,
    LidarScan,
    Marker,
    Markers,
    Number,
    Path,
    Request,
    Setpoint,
    TakeOff,
)

HEIGHT, CELL, SIDE = 3.0, 0.5, 120
"""Flight height in m, side of a cell in m, cells along a side of the map."""
WAY = np.array([[0.0, 0.0, HEIGHT], [10.0, 0.0, HEIGHT], [10.0, 8.0, HEIGHT], [0.0, 0.0, HEIGHT]])
"""m, world."""


class MapMaker:
    """Flies from goal to goal and maps its surroundings. The class also runs over a link and on a target."""

    def __init__(self) -> None:
        self.cells = np.full((SIDE, SIDE), -1, np.int8)
        self.corner = np.array([-0.5 * SIDE * CELL, -0.5 * SIDE * CELL, HEIGHT])
        self.next_goal, self.scan_ns, self.done = 0, -1, False

    def __call__(self, bundle: Bundle) -> Setpoint | list[Setpoint | Request] | Request | None:
        status, scan = bundle.get("status"), bundle.get("lidar")
        if not status.armed:
            self.done = self.next_goal > len(WAY)
            return None if self.done else [Arm(), TakeOff(HEIGHT)]
        # a sweep takes 0.2 s, so it is used only if the vehicle is at rest meanwhile
        still = status.mode == "hover" and np.linalg.norm(bundle.state.velocity_world) < 0.1
        if not still or scan is None or scan.t_ns == self.scan_ns:
            return None
        self.scan_ns = scan.t_ns
        self.look(bundle, scan)
        self.next_goal += 1
        if self.next_goal > len(WAY):
            return Land()
        bundle.publish("way", Path(bundle.t_ns, WAY[self.next_goal - 1 :]))
        return Goal(WAY[self.next_goal - 1])

    def look(self, bundle: Bundle, scan: LidarScan) -> None:
        """Transform the points to the world, add them to the map, and publish the results."""
        points = bundle.state.position + scan.points @ matrix(bundle.state.quat_wxyz).T
        points = points[np.abs(points[:, 2] - HEIGHT) < 1.5]
        if not len(points):
            return
        away = np.linalg.norm(points - bundle.state.position, axis=1)
        column, row = np.floor((points[:, :2] - self.corner[:2]) / CELL).astype(int).T
        inside = (column >= 0) & (column < SIDE) & (row >= 0) & (row < SIDE)
        self.cells[row[inside], column[inside]] = 100
        bundle.publish("map", GridMap(scan.t_ns, self.cells, CELL, self.corner))
        bundle.publish("clearance", Number(scan.t_ns, float(away.min()), "m"))
        nearest = Marker("nearest", "sphere", points[away.argmin()], size=np.full(3, 0.4))
        bundle.publish("nearest", Markers(scan.t_ns, (nearest,)))


def matrix(quat: Array) -> Array:
    """The rotation matrix of a quaternion."""
    w, x, y, z = quat
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
