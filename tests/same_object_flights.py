"""Flights at random surfaces of a world, each compared in camera, LiDAR and collision event.

A weightless iris without drag is set going 4 to 10 m before a random surface point, nose first, at 3 to 8 m/s, so that
the tip of its nose reaches that point at a known instant unless another part of the hull meets something earlier.
Whatever it meets first is what is compared. One camera image and one LiDAR sweep are taken on the way, 1 to 2.5 m
before the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_euler
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.world.semantics import CLASS_ID
from skyloop.world.views import Pinhole
from skyloop_client.messages import Event, ImageTruth, LidarScan
from skyloop_client.streams import NS_PER_S

PERIOD = 2.0
"""s between images and sweeps."""
STEP = 1e-3
"""s of physics."""
CLOSE = 5e-3
"""m that places and ranges may differ."""
WIDTH, HEIGHT, FOV_DEG = 160, 120, 75.0
LENS = Pinhole.from_fov(WIDTH, HEIGHT, np.radians(FOV_DEG))
NOSE = np.array([0.25, 0.0, 0.05])
"""Contact point of the iris, body axes."""
PARKED = np.array([0.0, 0.0, 500.0])
REACH = 120.0
"""m from the origin within which targets lie."""
FARTHEST = 100.0
"""m that rays go."""
LIDAR_STEP = np.radians(0.5)
NIGHT = {"time_of_day": 0.0}
"""Surfaces are compared, not light: without a sun no shadow maps are drawn."""
SENSORS: dict[str, Any] = {
    "camera": {
        "kind": "camera", "rate_hz": 1.0 / PERIOD, "width": WIDTH, "height": HEIGHT, "horizontal_fov_deg": FOV_DEG,
        "quality": "cinematic", "truth": ["depth", "instances"],
    },
    "lidar": {
        "kind": "lidar", "preset": "perfect", "rate_hz": 1.0 / PERIOD, "channels": 127, "max_range": 100.0,
        "vertical_fov_deg": [-31.5, 31.5], "horizontal_fov_deg": [-39.0, 39.0],
        "points_per_second": 127 * 720 / PERIOD,
    },
}  # fmt: skip


@dataclass(slots=True)
class Flight:
    """What one flight found, and by how much its three witnesses differ."""

    target: str
    hit: str
    instance: int
    is_actor: bool
    speed: float
    """m/s of the vehicle."""
    off_surface: float
    """m from the event's place to the nearest triangle of the event's thing, at the event's instant."""
    off_hull: float
    """m from the event's place to the nearest point or edge of the hull, at the event's instant."""
    late: float
    """s from when rays along the paths of all points of the hull foretell the first meeting to the event."""
    ranged: float
    """m between a ray from the sensors to that place, cast at the stamp, and where it hits the thing."""
    camera: tuple[int, float]
    """Instance that the pixel of that place shows, and m between its depth and the ray through that pixel."""
    scan: tuple[int, float]
    """Instance of the LiDAR return nearest to that place, and m of its range against a ray along its beam."""
    agreeing: tuple[int, int]
    """Pixels of the whole picture that show what a ray through them meets, within CLOSE, and all pixels."""

    def faults(self) -> list[str]:
        """Everything that is not as it should be."""
        tests = {
            f"event {1e3 * self.off_surface:.1f} mm off the surface": self.off_surface > CLOSE,
            # its instant is known to a step of physics
            f"event {1e3 * self.off_hull:.1f} mm off the hull": self.off_hull > CLOSE + STEP * self.speed,
            f"event {1e3 * self.late:.2f} ms late": self.late > 2.0 * STEP,
            f"ray {1e3 * self.ranged:.1f} mm off": not self.ranged <= CLOSE,
            f"camera shows {self.camera[0]}": self.camera[0] != self.instance,
            f"depth {1e3 * self.camera[1]:.1f} mm off": not self.camera[1] <= CLOSE,
            f"LiDAR returns {self.scan[0]}": self.scan[0] != self.instance,
            f"LiDAR return {1e3 * self.scan[1]:.1f} mm off": not self.scan[1] <= CLOSE,
            f"{self.agreeing[0]} of {self.agreeing[1]} pixels agree": self.agreeing[0] < 0.998 * self.agreeing[1],
        }
        return [text for text, wrong in tests.items() if wrong]


@dataclass(slots=True)
class Aim:
    """Where a flight goes: the tip of the nose is at `place` at `t` unless something is met before."""

    name: str
    is_actor: bool
    place: Any
    along: Any
    distance: float
    speed: float
    t: float


class Flights:
    """One world, one vehicle; flights one after the other."""

    def __init__(self, world: str, seed: int) -> None:
        vehicle = {
            "airframe": "iris", "position": PARKED.tolist(), "state": "truth", "drag": {"model": "none"},
            "sensors": SENSORS,
        }  # fmt: skip
        scenario = {"seed": seed, "world": {"name": world}, "weather": NIGHT, "vehicles": [vehicle]}
        self.simulation = build(make_scenario(scenario))
        self.fleet = self.simulation.fleet
        self.fleet.params["gravity"] = 0.0
        self.solids = self.fleet.solids
        self.model = self.solids.model
        part: Any = self.simulation.parts[0]
        self.scene = part.scene
        self.chance = np.random.default_rng([seed, 77])
        self.streams = {
            name: self.simulation.subscribe(name) for name in ("drone/events", "truth/drone/camera", "drone/lidar")
        }
        n = self.model.n_standing
        self.own = self.scene.vehicle_parts[0]
        self.actors = [row for row in range(n, len(self.model.part_shape)) if not self.own[0] <= row < self.own[1]]
        areas = np.array([self._area(row) for row in range(n)])
        # otherwise nearly every flight would end on the ground
        self.weights = np.sqrt(areas) / np.sqrt(areas).sum()
        self.skipped = 0
        """Flights that met something the camera has no sight of at the stamp, or too thin for its pixels."""

    def close(self) -> None:
        self.simulation.close()

    def fly(self, actor: bool) -> Flight:
        """At a random surface, of an actor when asked for, until something in sight is hit."""
        while True:
            aim = self._aim(actor)
            event, truth, scan, foretold = self._flown(aim)
            assert event is not None, f"nothing was hit on the way to {aim.name} at {aim.place}, {aim.t} s"
            flight = self._compared(aim, event, truth, scan, foretold)
            if flight is not None:
                return flight
            self.skipped += 1

    # ---- choosing

    def _area(self, row: int) -> float:
        corners = self._corners(row, self.model.standing_poses[row])
        near = np.abs(corners[:, 0]).max(axis=1) < REACH
        cross = np.cross(corners[near, 1] - corners[near, 0], corners[near, 2] - corners[near, 0])
        return float(0.5 * np.linalg.norm(cross, axis=1).sum())

    def _corners(self, row: int, pose: Any) -> Any:
        mesh = self.model.shapes[self.model.part_shape[row]].lods[0]
        return (mesh.positions.astype(float) @ pose[:, :3].T + pose[:, 3])[mesh.faces]

    def _pose(self, row: int, t_ns: int) -> Any:
        n = self.model.n_standing
        return self.model.standing_poses[row] if row < n else self.model.motion(t_ns).poses[row - n]

    def _aim(self, actor: bool) -> Aim:
        """A surface point that a free line of 4 to 10 m leads to, and when to be there."""
        now = self.simulation.now
        chance, ground = self.chance, self.fleet.ground
        while True:
            speed, left = chance.uniform(3.0, 8.0), chance.uniform(1.0, 2.5)
            distance = chance.uniform(4.0, left + speed)
            # the last flight ended within 1 s of a stamp, and this one starts within 1 s of the next
            t = PERIOD * (np.floor(now / PERIOD) + 1.0) + left / speed
            row = int(chance.choice(self.actors) if actor else chance.choice(len(self.weights), p=self.weights))
            corners = self._corners(row, self._pose(row, round(t * NS_PER_S)))
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            sizes = np.linalg.norm(normals, axis=1)
            k = chance.choice(len(corners), p=sizes / sizes.sum())
            place = chance.dirichlet((1.0, 1.0, 1.0)) @ corners[k]
            back = normals[k] / max(sizes[k], 1e-12) + 0.8 * unit(chance.normal(size=3))
            along = -unit(back)
            start = place - distance * along
            if np.abs(place).max() > REACH or start[2] < ground.at(*start[:2])[0] + 0.6:
                continue
            thing = self.model.objects[self.model.part_object[row]]
            if self._is_free(start, along, distance, row, round(t * NS_PER_S)):
                return Aim(thing.name, actor, place, along, distance, speed, float(t))

    def _is_free(self, start: Any, along: Any, distance: float, row: int, t_ns: int) -> bool:
        """The line meets the row first, and it starts where there is room, and not inside a house."""
        self.scene.at(t_ns, 0)
        hit = self.scene.cast([start], [along], distance + 1.0, t_ns)
        if hit.row[0] != row or abs(hit.distance[0] - distance) > CLOSE:
            return False
        around = unit(np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z]))
        hits = self._cast(start, around, t_ns)
        if hits.distance.min() < 0.7:
            return False
        over = hits.row[np.argmax(around[:, 2])]
        return over < 0 or self.model.object_class[self.model.part_object[over]] != CLASS_ID["building"]

    # ---- flying

    def _flown(self, aim: Aim) -> tuple[Event | None, ImageTruth, LidarScan, float]:
        """First contact, the picture and the sweep before it, and when rays foretell the contact, s."""
        yaw, pitch = np.arctan2(aim.along[1], aim.along[0]), -np.arcsin(np.clip(aim.along[2], -1.0, 1.0))
        quat = quat_from_euler(0.0, pitch, yaw)
        begin = np.ceil((aim.t - aim.distance / aim.speed) / STEP) * STEP
        self.simulation.run_until(begin)
        distance = (aim.t - begin) * aim.speed
        centre = aim.place - distance * aim.along - matrix_from_quat(quat) @ NOSE
        self._set(centre, quat, aim.speed * aim.along)
        for stream in self.streams.values():
            list(stream)
        foretold = begin + self._free_way(centre, quat, aim) / aim.speed
        self.simulation.run_until(aim.t + 0.1)
        events = [message.data for message in self.streams["drone/events"] if message.data.kind == "contact"]
        truth, scan = ([message.data for message in self.streams[name]][-1] for name in
                       ("truth/drone/camera", "drone/lidar"))  # fmt: skip
        self._set(PARKED, np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
        return min(events, key=lambda event: event.t_ns, default=None), truth, scan, foretold

    def _set(self, centre: Any, quat: Any, velocity: Any) -> None:
        self.fleet.place(0, centre, 0.0)
        state = self.fleet.states[0]
        state["motion"][6:10], state["motion"][3:6] = quat, velocity
        state["motion_before"] = state["motion"]
        state["crashed"] = 0
        self.model.forget()

    def _free_way(self, centre: Any, quat: Any, aim: Aim) -> float:
        """m until a point of the hull meets something that stands, by rays; the target's distance if sooner.

        The ground is met by legs and body only: rotors, which everything else stops, may dip into it.
        """
        p, model = self.fleet.params[0], self.model
        points = centre + p["point_position"][: p["n_points"]] @ matrix_from_quat(quat).T
        hits = self.scene._tracer.cast(points, np.tile(aim.along, (len(points), 1)), 20.0, None)
        solid = np.where(hits.row >= 0, model.part_solid[hits.row], 0) > 0
        meets = solid | (np.arange(len(points)) < p["n_contacts"])
        return float(min(hits.distance[meets].min(), (aim.t - self.simulation.now) * aim.speed))

    # ---- comparing

    def _compared(self, aim: Aim, event: Event, truth: ImageTruth, scan: LidarScan, foretold: float) -> Flight | None:
        """None when the camera cannot have seen that place at the stamp."""
        instance = int(event.contact.instance)
        place = event.contact.position
        row, off_surface = self._nearest_row(instance, place, event.t_ns)
        if row < 0:
            return Flight(
                aim.name, event.text, instance, aim.is_actor, aim.speed, np.inf, 0, 0, 0, (0, 0), (0, 0), (0, 0)
            )
        then, now = self._pose(row, event.t_ns), self._pose(row, truth.t_ns)
        seen = now[:, :3] @ np.linalg.solve(then[:, :3], place - then[:, 3]) + now[:, 3]
        eye, turn = truth.position, matrix_from_quat(truth.quat_wxyz)
        ranged = self._ranged(eye, seen, instance, truth.t_ns)
        pixel = self._pixel((seen - eye) @ turn, eye, turn, instance, truth.t_ns)
        if ranged is None or pixel is None:
            return None
        (v, u), distance = pixel
        ray = LENS.rays()[v, u]
        depth, instances = np.asarray(truth.depth), np.asarray(truth.instances)
        depth_error = abs(float(depth[v, u]) - distance / float(np.linalg.norm(ray)))
        return Flight(
            aim.name, event.text, instance, row >= self.model.n_standing, aim.speed, off_surface,
            self._off_hull(place, event.t_ns, aim), event.t_ns / NS_PER_S - foretold, ranged,
            (int(instances[v, u]), depth_error), self._nearest_return(scan, seen, eye, turn, instance),
            self._agreement(truth),
        )  # fmt: skip

    def _nearest_row(self, instance: int, place: Any, t_ns: int) -> tuple[int, float]:
        """Of the thing's rows the one whose triangles are nearest to a place, and how near."""
        best = (-1, np.inf)
        for row in self.model.objects[instance].rows:
            corners = self._corners(row, self._pose(row, t_ns))
            gap = distance_to_triangles(place, corners)
            if gap < best[1]:
                best = (row, gap)
        return best

    def _cast(self, eye: Any, directions: Any, t_ns: int) -> Any:
        self.scene.at(t_ns, 0)
        return self.scene.cast(np.tile(eye, (len(directions), 1)), directions, FARTHEST, t_ns)

    def _ranged(self, eye: Any, seen: Any, instance: int, t_ns: int) -> float | None:
        """m by which rays to a place miss it; None when something hides it.

        Nine rays, 1 mm apart: one that runs along an edge may pass on either side.
        """
        across = np.cross(seen - eye, [0.3, 0.5, 0.8])
        side = 1e-3 * unit(across)
        up = 1e-3 * unit(np.cross(seen - eye, side))
        ends = np.array([seen + a * side + b * up for a in (0, -1, 1) for b in (0, -1, 1)])
        away = np.linalg.norm(ends - eye, axis=1)
        hits = self._cast(eye, (ends - eye) / away[:, None], t_ns)
        if hits.distance[0] < away[0] - CLOSE:
            return None
        things = np.where(hits.row >= 0, self.model.part_object[hits.row], 0)
        errors = np.where(things == instance, np.abs(hits.distance - away), np.inf)
        return float(errors.min())

    def _pixel(self, local: Any, eye: Any, turn: Any, instance: int, t_ns: int) -> Any:
        """(row, column) of the pixel nearest to a point given in camera axes whose ray hits the thing, of the nine
        around it, and how far the ray goes; None: out of the picture, or thinner than a pixel."""
        if local[2] < 0.1:
            return None
        u, v = LENS.fx * local[0] / local[2] + LENS.cx, LENS.fy * local[1] / local[2] + LENS.cy
        around = [(round(v) + b, round(u) + a) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        around = [(b, a) for b, a in around if 0 <= b < HEIGHT and 0 <= a < WIDTH]
        if not around:
            return None
        around.sort(key=lambda at: (at[0] - v) ** 2 + (at[1] - u) ** 2)
        rays = np.array([LENS.rays()[at] for at in around]) @ turn.T
        hits = self._cast(eye, rays / np.linalg.norm(rays, axis=1, keepdims=True), t_ns)
        for at, row, distance in zip(around, hits.row, hits.distance, strict=True):
            if row >= 0 and self.model.part_object[row] == instance:
                return at, float(distance)
        return None

    def _agreement(self, truth: ImageTruth) -> tuple[int, int]:
        """How many pixels show the thing and the depth that a ray through their centre meets, of how many."""
        rays = LENS.rays().reshape(-1, 3)
        hits = self._cast(truth.position, unit(rays) @ matrix_from_quat(truth.quat_wxyz).T, truth.t_ns)
        things = np.where(hits.row >= 0, self.model.part_object[hits.row], 0)
        depths = np.where(hits.row >= 0, hits.distance / np.linalg.norm(rays, axis=1), np.inf)
        seen = truth.depth.ravel()
        met = (hits.row >= 0) | (seen < 0.5 * FARTHEST)
        with np.errstate(invalid="ignore"):
            agree = (things == truth.instances.ravel()) & (np.abs(depths - seen) <= CLOSE)
        return int(agree[met].sum()), int(met.sum())

    def _nearest_return(self, scan: LidarScan, seen: Any, eye: Any, turn: Any, instance: int) -> tuple[int, float]:
        """Of the beams next to a place, the one that ends nearest to it: its thing, and its range against a ray."""
        body = np.stack([turn[:, 2], -turn[:, 0], -turn[:, 1]], axis=1)
        towards = unit(seen - eye)
        beams = unit(scan.points.astype(float)) @ body.T
        near = np.flatnonzero(beams @ towards > np.cos(1.5 * LIDAR_STEP))
        if not len(near):
            return -1, np.inf
        ends = eye + beams[near] * scan.ranges[near, None]
        k = near[np.argmin(np.linalg.norm(ends - seen, axis=1))]
        hits = self._cast(eye, beams[k][None], scan.t_ns)
        return int(scan.instances[k]), abs(float(hits.distance[0]) - float(scan.ranges[k]))

    def _off_hull(self, place: Any, t_ns: int, aim: Aim) -> float:
        """The flight up to the event is a straight line."""
        p = self.fleet.params[0]
        yaw, pitch = np.arctan2(aim.along[1], aim.along[0]), -np.arcsin(np.clip(aim.along[2], -1.0, 1.0))
        turn = matrix_from_quat(quat_from_euler(0.0, pitch, yaw))
        centre = aim.place - turn @ NOSE + (t_ns / NS_PER_S - aim.t) * aim.speed * aim.along
        points = p["point_position"][: p["n_points"]]
        edges = p["edge"][: p["n_edges"]]
        local = (place - centre) @ turn
        ends = np.concatenate([points[edges], np.stack([points, points], axis=1)])
        return float(distance_to_segments(local, ends[:, 0], ends[:, 1]).min())


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def distance_to_segments(p: Any, a: Any, b: Any) -> Any:
    """(n,) m."""
    along = b - a
    size = np.einsum("ij,ij->i", along, along)
    share = np.clip(np.einsum("ij,ij->i", p - a, along) / np.maximum(size, 1e-18), 0.0, 1.0)
    return np.linalg.norm(p - a - share[:, None] * along, axis=1)


def distance_to_triangles(p: Any, corners: Any) -> float:
    """m to the nearest of (n, 3, 3): its plane where the foot lies inside, else its edges."""
    low, high = corners.min(axis=1) - 0.3, corners.max(axis=1) + 0.3
    corners = corners[((low < p) & (p < high)).all(axis=1)]
    if not len(corners):
        return np.inf
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    edges = np.min([distance_to_segments(p, *pair) for pair in ((a, b), (b, c), (c, a))], axis=0)
    normal = np.cross(b - a, c - a)
    area = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-18)
    normal = normal / area
    height = np.einsum("ij,ij->i", p - a, normal)
    foot = p - height[:, None] * normal
    sides = [np.einsum("ij,ij->i", np.cross(y - x, foot - x), normal) for x, y in ((a, b), (b, c), (c, a))]
    inside = (np.array(sides) >= 0.0).all(axis=0)
    return float(np.where(inside, np.abs(height), edges).min())
