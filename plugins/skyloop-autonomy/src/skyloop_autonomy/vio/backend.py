"""The back end: what the tracks of the corners give the filter, and which poses and points it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.imu_kernels import N_IMU
from skyloop_autonomy.vio.measurement_kernels import LEFT_ONLY, Rig, split_rows, stack_rows, triangulate
from skyloop_autonomy.vio.point_kernels import REFUSED, TAKEN, point_rows
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.tracking import CornerTracks
from skyloop_autonomy.vio.update_kernels import compress, doubt_factor, gate_limit, squared_distance
from skyloop_autonomy.vio.window_filter import N_POSE, WindowFilter
from skyloop_client.messages import Array

NOT_A_POINT = -1
_LEAST_INVERSE_DEPTH = 0.023
"""1/m. Farther points say nothing of the position, and in the open they are clouds, which drift: a few mrad/s that
would be taken for a bias of the gyroscope."""
_LEAST_DISPARITY_PX = 0.4
"""Mean shift between the two images below which a corner is taken for a cloud: several times what noise can do."""
_SURE_OF_DEPTH = 4.0
"""The sigmas by which the inverse depth of a corner that one camera alone has seen must differ from zero."""
_GOOD_FIT = 9.0
"""Squared error per row, in sigmas, up to which a triangulated point is taken as the point to linearise at."""
_TURN_DOUBT = 0.03
"""rad that are added to the uncertainty when the window is thrown away."""
_MOST_ROWS = 240
"""Rows of short tracks per update; what is above waits or is left out."""


@dataclass
class History:
    """What each track looked like in the poses of the window; rows are tracks by rising id."""

    ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Array = field(default_factory=lambda: np.zeros((0, 0, 3)))
    known: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    point: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Slot in the filter's state, or NOT_A_POINT."""
    refused: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Times in a row that its measurement was refused."""

    def chosen(self, index: NDArray[np.int64]) -> History:
        return History(self.ids[index], self.rows[index], self.known[index], self.point[index], self.refused[index])


class Backend:
    """Its attributes are its whole state."""

    def __init__(self, settings: VioSettings, state: WindowFilter, reach: float, focal_px: float) -> None:
        self.settings = settings
        self.filter = state
        self.reach = reach
        """m, between the two cameras."""
        self._focal_px = focal_px
        self._least_disparity = max(_LEAST_INVERSE_DEPTH * reach, _LEAST_DISPARITY_PX / focal_px)
        self.history = History()
        self.taken = 0
        """Points that the latest pair confirmed."""
        self.refused = 0
        self.tracks_taken = self.tracks_refused = 0
        """The same of tracks that are no points of the state."""

    def take(self, tracks: CornerTracks) -> None:
        """The tracks of the pair at the filter's present pose, which is not yet one of the window's."""
        gone = self._adopt(tracks)
        self.tracks_taken = self.tracks_refused = 0
        self.filter.add_pose()
        self.filter.let_points_slide(self.settings.pixel_walk / self._focal_px)
        self._update_points()
        self._update_with(gone)
        self._promote()
        if self.filter.n_poses > self.settings.poses:
            self._make_room()

    def restart(self, seconds: float, bias_sds: tuple[float, float]) -> None:
        """Throws the window away, because what it says has contradicted what is seen for so long.

        Which of them is wrong is not known: the vehicle may have flown as far as after a start in motion, and the
        biases may be new ones."""
        speed = self.settings.moving_speed_sd
        flown = (float(np.linalg.norm(self.filter.motion[0])) + speed) * seconds
        self.filter.forget_window((_TURN_DOUBT, speed, flown, *bias_sds))
        self.history = History()

    def look_with(self, rig: Rig) -> None:
        """Another camera leads from now on. The window goes, because its points were seen by the one before."""
        self.filter.forget_window((0.0,) * 5)
        self.filter.rig = rig
        self.history = History()

    # ---- tracks

    def _adopt(self, tracks: CornerTracks) -> History:
        """Brings the history up to the tracks; returns the history of those that ended."""
        old = self.history
        still = np.isin(old.ids, tracks.ids, assume_unique=True)
        ended = old.chosen(np.flatnonzero(~still))
        self._drop_points(ended.point[ended.point != NOT_A_POINT].tolist())
        old = self.history.chosen(np.flatnonzero(still))
        n, poses = len(tracks), self.filter.n_poses
        new = History(
            tracks.ids.copy(), np.zeros((n, poses + 1, 3)), np.zeros((n, poses + 1), np.uint8),
            np.full(n, NOT_A_POINT), np.zeros(n, np.int64),
        )  # fmt: skip
        at = np.searchsorted(new.ids, old.ids)
        new.rows[at, :poses], new.known[at, :poses] = old.rows, old.known
        new.point[at], new.refused[at] = old.point, old.refused
        new.rows[:, poses], new.known[:, poses] = tracks.rows, tracks.known
        self.history = new
        return ended.chosen(np.flatnonzero(ended.point == NOT_A_POINT))

    def _drop_points(self, slots: list[int]) -> None:
        if not slots:
            return
        self.filter.drop_points(slots)
        self._forget_points(slots)

    def _forget_points(self, slots: list[int]) -> None:
        """Renumbers the points after some are gone from the filter."""
        point = self.history.point
        gone = np.isin(point, slots)
        below = np.searchsorted(np.sort(np.array(slots)), point)
        self.history.point = np.where(gone | (point == NOT_A_POINT), NOT_A_POINT, point - below)

    # ---- points in the state

    def _update_points(self) -> None:
        f, h = self.filter, self.history
        self.taken = self.refused = 0
        n = f.n_points
        if not n:
            return
        of_point = np.full(n, -1)
        mine = np.flatnonzero(h.point != NOT_A_POINT)
        of_point[h.point[mine]] = mine
        rows = np.ascontiguousarray(h.rows[of_point, -1])
        known = np.ascontiguousarray(np.where(of_point >= 0, h.known[of_point, -1], 0).astype(np.uint8))
        columns, values, residuals = np.empty((3 * n, 15), np.int64), np.empty((3 * n, 15)), np.empty(3 * n)
        fate = np.empty(n, np.uint8)
        m = point_rows(
            f.poses, (f.points, np.array(f.anchors)), (rows, known), tuple(f.rig), f.covariance,
            (self.settings.gate, 0.7 * _LEAST_INVERSE_DEPTH), (columns, values, residuals, fate),
        )  # fmt: skip
        self.taken, self.refused = int((fate == TAKEN).sum()), int((fate == REFUSED).sum())
        f.correct(columns[:m], values[:m], residuals[:m])
        refused = fate[h.point[mine]] == REFUSED
        h.refused[mine] = np.where(refused, h.refused[mine] + 1, 0)
        # what was used or refused here must not come back in through the history
        h.known[mine, -1] = 0
        self._drop_points(sorted(h.point[mine[h.refused[mine] >= 3]].tolist()))

    # ---- tracks that are not in the state

    def _update_with(self, tracks: History, promote: int = 0, least: int = 3) -> list[int]:
        """All that tracks say about the poses; the first `promote` usable ones become points. Returns their indices."""
        f = self.filter
        n_poses, width = f.n_poses, N_POSE * f.n_poses
        blocks: list[Array] = []
        right: list[Array] = []
        promoted: list[int] = []
        rows = 0
        order = np.argsort(-(tracks.known > 0).sum(axis=1), kind="stable")
        for k in order.tolist():
            known = np.zeros(n_poses, np.uint8)
            known[: tracks.known.shape[1]] = tracks.known[k]
            if (known > 0).sum() < least or rows > _MOST_ROWS:
                continue
            seen = np.zeros((n_poses, 3))
            seen[: tracks.rows.shape[1]] = tracks.rows[k]
            solved = self._solved(seen, known)
            if solved is None:
                continue
            point, anchor, by_poses, by_point, residuals = solved
            blocks.append(by_poses[3:])
            right.append(residuals[3:])
            rows += len(residuals) - 3
            if len(promoted) < promote:
                f.add_point(point, anchor, (by_poses[:3].copy(), by_point[:3].copy(), residuals[:3].copy()))
                promoted.append(k)
        if blocks:
            values, residuals = np.concatenate(blocks), np.concatenate(right)
            m = compress(values, residuals)
            columns = np.broadcast_to(np.arange(N_IMU, N_IMU + width), (m, width))
            f.correct(np.ascontiguousarray(columns), values[:m], residuals[:m])
        return promoted

    def _solved(self, seen: Array, known: NDArray[np.uint8]) -> tuple[Array, int, Array, Array, Array] | None:
        """The point of one track, its anchor and its rows with the point split off; None if it is no steady point."""
        f = self.filter
        stereo = np.flatnonzero(known > LEFT_ONLY)
        if len(stereo) and seen[stereo, 2].mean() < self._least_disparity:
            return None
        anchor = int(stereo[-1] if len(stereo) else np.flatnonzero(known)[-1])
        guess = seen[anchor, 2] / self.reach if len(stereo) else 0.2
        point = np.array([seen[anchor, 0], seen[anchor, 1], max(guess, _LEAST_INVERSE_DEPTH)])
        first = point.copy()
        cost = triangulate(f.poses, anchor, (seen, known), tuple(f.rig), point)
        if not 0.0 <= cost < _GOOD_FIT:
            # the poses may be far off, after a start in motion or a dark time; a pair needs none to see depth
            if not len(stereo):
                return None
            point = first
        if not 0.7 * _LEAST_INVERSE_DEPTH < point[2] < 10.0:
            return None
        most = 3 * len(known)
        by_poses, by_point, residuals = np.empty((most, N_POSE * len(known))), np.empty((most, 3)), np.empty(most)
        n, usable = stack_rows(f.poses, anchor, (seen, known), tuple(f.rig), point, (by_poses, by_point, residuals))
        if not usable or n <= 4:
            return None
        split_rows(by_poses, by_point, residuals, n)
        if min(abs(by_point[0, 0]), abs(by_point[1, 1])) < 1e-6:
            return None
        # the last diagonal element is one over the sigma of the inverse depth
        if not len(stereo) and point[2] * abs(by_point[2, 2]) < _SURE_OF_DEPTH:
            return None
        columns = np.broadcast_to(np.arange(N_IMU, N_IMU + by_poses.shape[1]), (n - 3, by_poses.shape[1]))
        distance = squared_distance(f.covariance, np.ascontiguousarray(columns), by_poses[3:n], residuals[3:n])
        if distance > gate_limit(n - 3, self.settings.gate):
            self.tracks_refused += 1
            return None
        self.tracks_taken += 1
        scale = doubt_factor(distance, n - 3)
        return point, anchor, scale * by_poses[:n], scale * by_point[:n], scale * residuals[:n]

    def _promote(self) -> None:
        """Tracks that have lasted become points of the state, as long as there is room; sooner if it holds few."""
        h, first, most = self.history, self.filter.n_points, self.settings.points
        room = most - first
        if room <= 0:
            return
        least = 4 if 2 * first > most else 2
        lasting = (h.point == NOT_A_POINT) & ((h.known > 0).sum(axis=1) >= least) & (h.known[:, -1] > 0)
        chosen = np.flatnonzero(lasting)[:room]
        promoted = self._update_with(h.chosen(chosen), room, least)
        for number, k in enumerate(promoted):
            h.point[chosen[k]] = first + number
        # used up, by those that became points and by those that failed the test
        h.known[chosen] = 0

    # ---- poses

    def _make_room(self) -> None:
        """Drops a pose that nothing refers to, else the one before the newest if it is no key pose, else the oldest."""
        f, h = self.filter, self.history
        unseen = np.flatnonzero(~(h.known[:, :-1] > 0).any(axis=0))
        idle = [slot for slot in unseen.tolist() if slot not in f.anchors]
        if idle:
            self._drop_pose(idle[0])
            return
        if self._parallax_px(-2, -3) < self.settings.key_parallax_px:
            self._drop_pose(f.n_poses - 2)
            return
        old = np.flatnonzero((h.known[:, 0] > 0) & (h.point == NOT_A_POINT) & ((h.known > 0).sum(axis=1) >= 3))
        if len(old):
            self._update_with(h.chosen(old))
            h.known[old] = 0
        self._drop_pose(0)

    def _drop_pose(self, slot: int) -> None:
        lost = self.filter.drop_pose(slot)
        if lost:
            self._forget_points(lost)
        self.history.rows = np.delete(self.history.rows, slot, axis=1)
        self.history.known = np.delete(self.history.known, slot, axis=1)

    def _parallax_px(self, a: int, b: int) -> float:
        """The mean motion of the corners between two poses, with the turn taken out; large if few are shared."""
        f, h = self.filter, self.history
        # points in the state have had their history used up, but their rows are still there
        seen = np.any(h.rows[:, a] != 0.0, axis=1) & np.any(h.rows[:, b] != 0.0, axis=1)
        if seen.sum() < 0.5 * max(len(h.ids), 1):
            return float("inf")
        into = f.rig.imu_from_left
        turn = into.T @ f.pose_rotations[a].T @ f.pose_rotations[b] @ into
        rays = np.concatenate([h.rows[seen, b, :2], np.ones((int(seen.sum()), 1))], axis=1) @ turn.T
        moved = rays[:, :2] / rays[:, 2:] - h.rows[seen, a, :2]
        focal = f.rig.weights[0] * self.settings.pixel_sd
        return float(np.linalg.norm(moved, axis=1).mean() * focal)
