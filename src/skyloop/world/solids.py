"""Everything in a model that stops a vehicle: standing objects, moving objects, and the vehicles' own hulls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.model import Model, Mover, Shape
from skyloop.world.rays import inverses
from skyloop.world.solid_grids import MOVING, Grids, SolidArrays, cast_segment
from skyloop_client.messages import Array

OUTLOOK_S = 0.5
"""s for which the position of a mover is bounded at once."""
SLACK = 1.0
"""m by which a mover may leave the sphere around its positions at three instants of the outlook."""


class Solids:
    """Everything in a frozen model that stops a vehicle."""

    def __init__(self, model: Model, vehicles: Sequence[int] = ()) -> None:
        """`vehicles` are instance numbers of the fleet's vehicles, in its order; their poses come from the fleet."""
        self.model = model
        grids = Grids()
        corners, rows = _standing(model)
        grids.add(corners)
        self._grid_of_shape: dict[int, int] = {}
        vehicle_parts = [model.objects[instance].rows[0] for instance in vehicles]
        own = {row for instance in vehicles for row in model.objects[instance].rows}
        self.movers: list[tuple[Mover, NDArray[np.void]]] = []
        row = model.n_standing
        for mover in model.movers:
            table = np.zeros(mover.n_rows, MOVING)
            table["row"] = np.arange(row, row + mover.n_rows)
            if row not in own:
                for part in table:
                    shape = int(model.part_shape[part["row"]])
                    part["grid"] = self._grid(grids, shape)
                    part["radius"] = model.shapes[shape].solid.radius
                self.movers.append((mover, table))
            row += mover.n_rows
        vehicle_grids = [self._grid(grids, int(model.part_shape[row])) for row in vehicle_parts]
        self.hull_radii = [model.shapes[model.part_shape[row]].lods[0].radius for row in vehicle_parts]
        of_vehicles = np.array(vehicle_grids, np.int64), np.array(vehicle_parts, np.int64)
        self.arrays = SolidArrays._make((*grids.joined(), rows, model.n_standing, *of_vehicles))
        self._outlook: tuple[int, Array] = (-1, np.zeros((0, 4)))
        self._places: dict[tuple[int, int], tuple[Array, Array]] = {}

    def _grid(self, grids: Grids, shape: int) -> int:
        if shape not in self._grid_of_shape:
            self._grid_of_shape[shape] = grids.add(_corners(self.model.shapes[shape]))
        return self._grid_of_shape[shape]

    def moving(self, interval: int, period: float, places: Array, reach: Array) -> NDArray[np.void]:
        """Parts of the movers that (n, 3) `places` with `reach` (n,) m around them may meet during an interval."""
        near = [self._parts(k, interval, period) for k in self._within_reach(interval, period, places, reach)]
        return np.concatenate(near) if near else np.zeros(0, MOVING)

    def _within_reach(self, interval: int, period: float, places: Array, reach: Array) -> NDArray[np.intp]:
        per_outlook = max(1, round(OUTLOOK_S / period))
        number = interval // per_outlook
        if self._outlook[0] != number:
            start, length = number * per_outlook * period, per_outlook * period
            self._outlook = (number, np.array([self._sphere(k, start, length) for k in range(len(self.movers))]))
            self._places.clear()
        spheres = self._outlook[1]
        away = places[:, None] - spheres[:, :3]
        touch = reach[:, None] + spheres[:, 3]
        return np.flatnonzero((np.einsum("vmi,vmi->vm", away, away) < touch * touch).any(axis=0))

    def _sphere(self, k: int, start: float, length: float) -> Array:
        """Centre and radius of a sphere that holds mover k for `length` s from `start` on."""
        mover, table = self.movers[k]
        poses = np.concatenate([mover.poses(start + share * length) for share in (0.0, 0.5, 1.0)])
        centre = 0.5 * (poses[:, :, 3].min(axis=0) + poses[:, :, 3].max(axis=0))
        size = np.tile(table["radius"], 3) * np.linalg.norm(poses[:, :, :3], axis=1).max(axis=1)
        return np.append(centre, (np.linalg.norm(poses[:, :, 3] - centre, axis=1) + size).max() + SLACK)

    def _parts(self, k: int, interval: int, period: float) -> NDArray[np.void]:
        mover, table = self.movers[k]
        for edge in (interval, interval + 1):
            if (k, edge) not in self._places:
                poses = mover.poses(edge * period)
                self._places[k, edge] = poses, inverses(poses)
        parts = table.copy()
        parts["before"], parts["inverse_before"] = self._places[k, interval]
        parts["after"], parts["inverse_after"] = self._places[k, interval + 1]
        parts["radius"] *= np.linalg.norm(parts["before"][:, :, :3], axis=1).max(axis=1)
        return parts

    def forget(self) -> None:
        """Drops the cached positions of movers, because something was moved by hand."""
        self._outlook = (-1, np.zeros((0, 4)))
        self._places.clear()

    def above(self, position: ArrayLike, reach: float) -> tuple[float, str] | None:
        """How far above a position a standing object is, m, and its name; None if there is none within `reach`."""
        x, y, z = np.asarray(position, float).tolist()
        share, triangle = cast_segment(self.arrays, 0, (x, y, z), (x, y, z + reach))
        if share > 1.0:
            return None
        return share * reach, self.instance(int(self.arrays.rows[int(triangle)]), position)[1]

    def instance(self, row: int, position: ArrayLike) -> tuple[int, str]:
        """Instance number and name of the object touched at a position; row -1 is the ground."""
        number = self._ground_at(*np.asarray(position, float).tolist()) if row < 0 else int(self.model.part_object[row])
        return number, self.model.objects[number].name if number else "ground"

    def _ground_at(self, x: float, y: float, z: float) -> int:
        """The instance that shows the ground there, 0 if none does: the level surface nearest to a point."""
        best, found = np.inf, 0
        for row in np.flatnonzero(self.model.part_solid[: self.model.n_standing] == 0).tolist():
            low, high = self._box(row)
            if low[0] <= x <= high[0] and low[1] <= y <= high[1]:
                gap = _gap_below(_world_corners(self.model, row), x, y, z)
                if gap < best:
                    best, found = gap, int(self.model.part_object[row])
        return found

    def _box(self, row: int) -> tuple[Array, Array]:
        """Horizontal bounds of a standing row, from its bounding sphere."""
        mesh, pose = self.model.shapes[self.model.part_shape[row]].lods[0], self.model.standing_poses[row]
        reach = mesh.radius * np.linalg.norm(pose[:, :3], axis=0).max() + 1e-3
        return pose[:2, 3] - reach, pose[:2, 3] + reach


def _corners(shape: Shape) -> Array:
    mesh = shape.solid
    return mesh.positions[mesh.faces].astype(np.float64)


def _world_corners(model: Model, row: int) -> Array:
    mesh, pose = model.shapes[model.part_shape[row]].solid, model.standing_poses[row]
    return np.asarray((mesh.positions @ pose[:, :3].T + pose[:, 3])[mesh.faces])


def _gap_below(corners: Array, x: float, y: float, z: float) -> float:
    """m from a point straight up or down to the nearest of (n, 3, 3) triangles; inf if none is above or below it."""
    a, b, c = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]
    px, py = x - a[:, 0], y - a[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (px * c[:, 1] - py * c[:, 0]) / area
        v = (py * b[:, 0] - px * b[:, 1]) / area
        within = (u >= -1e-6) & (v >= -1e-6) & (u + v <= 1.0 + 1e-6)
        gaps = np.abs(a[:, 2] + u * b[:, 2] + v * c[:, 2] - z)[within]
    return float(gaps.min(initial=np.inf))


def _standing(model: Model) -> tuple[Array, NDArray[np.int32]]:
    """World corners of all standing solid triangles and the row of each."""
    parts, rows = [np.empty((0, 3, 3))], [np.empty(0, np.int32)]
    for row in np.flatnonzero(model.part_solid[: model.n_standing]).tolist():
        parts.append(_world_corners(model, row))
        rows.append(np.full(len(parts[-1]), row, np.int32))
    return np.concatenate(parts), np.concatenate(rows)
