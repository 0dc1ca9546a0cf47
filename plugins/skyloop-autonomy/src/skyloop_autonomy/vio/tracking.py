"""The front end: corners on a grid, followed from image to image and from left to right by their patches."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Flag, auto

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.calibration import StereoCalibration
from skyloop_autonomy.vio.lens import PixelLens, cv2
from skyloop_autonomy.vio.measurement_kernels import LEFT_ONLY, STEREO
from skyloop_autonomy.vio.patches import ReferencePatches
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_client.messages import Array

Grey = NDArray[np.uint8]
VIRTUAL_BASELINE = 0.05
"""m, with a depth image: the disparity that a right camera so far away would see stands for the depth."""
_PER_PX = 1.0 / 8.0
"""The slopes of Sobel 3 are eight times those per px."""
_EDGE = 8
"""px at the rim of the image where no corner is sought or kept."""


@dataclass
class CornerTracks:
    """The corners that are followed now, one row each."""

    ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    pixels: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))
    """px in the left image."""
    rows: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """Tangents in the left image, disparity of tangents."""
    known: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """LEFT_ONLY or STEREO."""
    inverse_depths: Array = field(default_factory=lambda: np.zeros(0))
    """1/m, smoothed, for the search only."""
    ages: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Pairs of images since it was found."""

    def kept(self, mask: NDArray[np.bool_]) -> CornerTracks:
        return CornerTracks(
            self.ids[mask], self.pixels[mask], self.rows[mask], self.known[mask], self.inverse_depths[mask],
            self.ages[mask],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.ids)


class Work(Flag):
    """What is done with a pair besides following its corners, so that the time of pairs is even."""

    FOLLOW = 0
    MEASURE = auto()
    """The filter will use it: corners are put back on their patches."""
    SEEK = auto()
    """New corners are sought."""


class StereoTracker:
    """Follows corners through pairs of images. Its attributes are its whole state."""

    def __init__(self, calibration: StereoCalibration, settings: VioSettings) -> None:
        self.settings = settings
        self.left_lens = PixelLens(calibration.left)
        self.right_lens = PixelLens(calibration.right or calibration.left)
        right = calibration.body_from_right.inverse() @ calibration.body_from_left
        self.right_from_left = np.asarray(right.matrix()[:3, :3])
        self.left_in_right = (
            right.position if calibration.right is not None else np.array([-VIRTUAL_BASELINE, 0.0, 0.0])
        )
        towards = self.left_in_right[:2]
        # in the right image a near point is shifted along the baseline, seen from infinity
        self.along = towards / np.linalg.norm(towards)
        self.reach = float(np.linalg.norm(self.left_in_right))
        self.tracks = CornerTracks()
        self._patches = ReferencePatches(settings.window_px)
        self.image: Grey | None = None
        self.next_id = 0
        self.size = (calibration.left.width, calibration.left.height)

    def follow(
        self, left: Grey, right: Grey | None, depth: NDArray[np.generic] | None, turn: Array, shift: Array, work: Work
    ) -> NDArray[np.int64]:
        """Finds the tracks in the next pair; returns the ids of those that were lost.

        turn, shift: now_from_before of the left camera, as the IMU predicts it."""
        before = self.tracks
        if self.image is not None and len(before):
            found, pixels = self._search(before, left, turn, shift)
            after = before.kept(found)
            after.pixels = pixels[found]
            after.ages = after.ages + 1
            self.tracks = after
        self.image = left
        if Work.SEEK in work:
            self._seek(left)
        if Work.MEASURE in work:
            pixels, there = self._patches.put_back(left, self.tracks.ids, self.tracks.pixels)
            self.tracks.pixels = pixels
            self.tracks = self.tracks.kept(there)
        self._match(right, depth, work != Work.FOLLOW)
        return before.ids[~np.isin(before.ids, self.tracks.ids)]

    def _search(
        self, before: CornerTracks, left: Grey, turn: Array, shift: Array
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        s = self.settings
        predicted = self._predicted(before, turn, shift)
        options = {
            "winSize": (s.window_px, s.window_px), "maxLevel": s.levels, "flags": cv2.OPTFLOW_USE_INITIAL_FLOW,
            "criteria": (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 20, 0.01), "minEigThreshold": 1e-4,
        }  # fmt: skip
        pixels, ok, _ = cv2.calcOpticalFlowPyrLK(self.image, left, before.pixels, predicted.copy(), **options)
        back, ok_back, _ = cv2.calcOpticalFlowPyrLK(
            left, self.image, pixels, before.pixels.copy(), **{**options, "maxLevel": 0}
        )
        round_trip = np.linalg.norm(back - before.pixels, axis=1)
        found = (ok[:, 0] == 1) & (ok_back[:, 0] == 1) & (round_trip < s.round_trip_px) & self._inside(pixels)
        return found, pixels

    def _predicted(self, tracks: CornerTracks, turn: Array, shift: Array) -> NDArray[np.float32]:
        rays = np.concatenate([tracks.rows[:, :2], np.ones((len(tracks), 1))], axis=1)
        moved = rays @ turn.T + tracks.inverse_depths[:, None] * shift
        ahead = moved[:, 2] > 0.1
        tangents = moved[:, :2] / np.where(ahead, moved[:, 2], 1.0)[:, None]
        pixels = self.left_lens.pixels(tangents).astype(np.float32)
        wild = ~ahead | ~self._inside(pixels, -30)
        return np.where(wild[:, None], tracks.pixels, pixels)

    def _inside(self, pixels: NDArray[np.float32], edge: float = _EDGE) -> NDArray[np.bool_]:
        x, y = pixels[:, 0], pixels[:, 1]
        return (x >= edge) & (y >= edge) & (x < self.size[0] - edge) & (y < self.size[1] - edge)

    def _seek(self, left: Grey) -> None:
        """New corners in the cells of the grid that have few."""
        s, tracks = self.settings, self.tracks
        columns, lines = s.grid
        per_cell = max(1, round(s.features / (columns * lines)))
        width, height = self.size[0] / columns, self.size[1] / lines
        cells = np.minimum(tracks.pixels // (width, height), (columns - 1, lines - 1)).astype(int)
        counts = np.zeros((lines, columns), int)
        np.add.at(counts, (cells[:, 1], cells[:, 0]), 1)
        missing = np.clip(per_cell - counts, 0, None)
        if missing.sum() < max(4, s.features // 15):
            return
        strength = corner_strength(left)
        best = strength == cv2.dilate(strength, np.ones((5, 5), np.uint8))
        best &= strength > s.corner_quality**2
        best[:_EDGE], best[-_EDGE:], best[:, :_EDGE], best[:, -_EDGE:] = False, False, False, False
        spacing = max(6, round(0.35 * min(width, height)))
        taken = np.zeros(left.shape, np.uint8)
        for x, y in tracks.pixels.round().astype(int).tolist():
            cv2.circle(taken, (x, y), spacing, 1, -1)
        ys, xs = np.nonzero(best & (taken == 0))
        cells_of = np.minimum(ys // height, lines - 1).astype(int), np.minimum(xs // width, columns - 1).astype(int)
        wanting = missing[cells_of] > 0
        ys, xs = ys[wanting], xs[wanting]
        order = np.argsort(-strength[ys, xs], kind="stable")
        new = []
        for k in order.tolist():
            x, y = int(xs[k]), int(ys[k])
            cell = min(int(y // height), lines - 1), min(int(x // width), columns - 1)
            if missing[cell] <= 0 or taken[y, x]:
                continue
            missing[cell] -= 1
            new.append((x, y))
            cv2.circle(taken, (x, y), spacing, 1, -1)
        if not new:
            return
        pixels = np.array(new, np.float32)
        n = len(new)
        ids = np.arange(self.next_id, self.next_id + n)
        self.next_id += n
        old = self.tracks
        self.tracks = CornerTracks(
            np.concatenate([old.ids, ids]), np.concatenate([old.pixels, pixels]),
            np.concatenate([old.rows, np.zeros((n, 3))]), np.concatenate([old.known, np.zeros(n, np.uint8)]),
            np.concatenate([old.inverse_depths, np.full(n, -1.0)]), np.concatenate([old.ages, np.zeros(n, np.int64)]),
        )  # fmt: skip

    def _match(self, right: Grey | None, depth: NDArray[np.generic] | None, is_wanted: bool) -> None:
        """The tangents of all tracks, and, if it is wanted, their disparity where the second image shows them."""
        tracks = self.tracks
        tangents = self.left_lens.tangents(tracks.pixels.astype(np.float64))
        tracks.rows = np.concatenate([tangents, np.zeros((len(tracks), 1))], axis=1)
        tracks.known = np.full(len(tracks), LEFT_ONLY, np.uint8)
        if not len(tracks) or not is_wanted:
            return
        if right is not None:
            disparity, measured = self._disparity(right, tangents)
        elif depth is not None:
            disparity, measured = self._disparity_of_depth(depth)
        else:
            return
        tracks.rows[:, 2] = disparity
        tracks.known[measured] = STEREO
        seen = np.clip(disparity / self.reach, 0.005, 10.0)
        held = np.where(tracks.inverse_depths < 0.0, seen, 0.7 * tracks.inverse_depths + 0.3 * seen)
        unknown = np.where(tracks.inverse_depths < 0.0, 0.2, tracks.inverse_depths)
        tracks.inverse_depths = np.where(measured, held, unknown)

    def _disparity(self, right: Grey, tangents: Array) -> tuple[Array, NDArray[np.bool_]]:
        s, tracks = self.settings, self.tracks
        window = (s.window_px, s.window_px)
        depths = np.where(tracks.inverse_depths < 0.0, 0.2, tracks.inverse_depths)
        far = np.concatenate([tangents, np.ones((len(tracks), 1))], axis=1) @ self.right_from_left.T
        near = far + depths[:, None] * self.left_in_right
        predicted = self.right_lens.pixels(near[:, :2] / near[:, 2:]).astype(np.float32)
        pixels, ok, _ = cv2.calcOpticalFlowPyrLK(
            self.image, right, tracks.pixels, predicted.copy(), winSize=window, maxLevel=s.levels,
            flags=cv2.OPTFLOW_USE_INITIAL_FLOW, minEigThreshold=1e-4,
            criteria=(cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 20, 0.01),
        )  # fmt: skip
        seen = self.right_lens.tangents(pixels.astype(np.float64))
        # against the same direction at infinity: the shift along the baseline, and what lies across it
        shift = seen - far[:, :2] / far[:, 2:]
        raw = seen - tangents
        along = shift @ self.along
        off = np.abs(shift @ np.array([-self.along[1], self.along[0]])) * self.left_lens.model.fx
        measured = (ok[:, 0] == 1) & (off < s.epipolar_px) & self._inside(pixels, 1)
        measured &= (along > -1.0 / self.left_lens.model.fx) & (along < 0.5)
        return np.where(measured, raw @ self.along, 0.0), measured

    def _disparity_of_depth(self, depth: NDArray[np.generic]) -> tuple[Array, NDArray[np.bool_]]:
        x, y = self.tracks.pixels.round().astype(int).T
        values = depth[np.clip(y, 0, self.size[1] - 1), np.clip(x, 0, self.size[0] - 1)].astype(np.float64)
        measured = np.isfinite(values) & (values > 0.05)
        return np.where(measured, VIRTUAL_BASELINE / np.where(measured, values, 1.0), 0.0), measured


def corner_strength(image: Grey) -> NDArray[np.float32]:
    """The smaller eigenvalue of the mean products of slopes over 5 by 5 px (Shi and Tomasi), grey values per px
    squared.

    OpenCV's `cornerMinEigenVal` gives the same in four times the time."""
    dx = cv2.Sobel(image, cv2.CV_32F, 1, 0, ksize=3, scale=_PER_PX)
    dy = cv2.Sobel(image, cv2.CV_32F, 0, 1, ksize=3, scale=_PER_PX)
    xx, xy, yy = (cv2.boxFilter(cv2.multiply(a, b), -1, (5, 5)) for a, b in ((dx, dx), (dx, dy), (dy, dy)))
    spread = cv2.magnitude(cv2.addWeighted(xx, 0.5, yy, -0.5, 0.0), xy)
    return np.asarray(cv2.addWeighted(xx, 0.5, yy, 0.5, 0.0) - spread)
