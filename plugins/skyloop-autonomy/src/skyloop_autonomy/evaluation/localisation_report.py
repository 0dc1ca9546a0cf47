"""`skyloop localise`: runs localisation on a dataset, scores it, and writes its track and pictures.

The pictures show the track beside the truth, errors with their 3σ, biases and tracked features."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.files import write_whole
from skyloop.recording.flight_plot import COLOURS, INK, REFERENCE, saved_figure
from skyloop.recording.run_folder import make_empty_folder, plain, writing_into
from skyloop_autonomy.evaluation.estimate_log import StateErrors, errors_from_start
from skyloop_autonomy.evaluation.localisation_scores import scores, write_tracks
from skyloop_autonomy.evaluation.localising import Localised, localise, open_source
from skyloop_autonomy.evaluation.trajectory_error import Alignment, align, together
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Array, Message
from skyloop_client.streams import NS_PER_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = ("east", "north", "up")
MOST_POINTS = 4000
"""Of a curve; more cannot be seen."""


def draw_track(path: Path, localised: Localised, title: str, how: Alignment) -> None:
    truth, estimate = together(localised.truths.track, localised.estimates.track)
    moved = align(truth, estimate, how).moved(estimate)
    rows = _thinned(len(truth))
    with saved_figure(path, title, (11.0, 5.2)) as figure:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.2, 1.0))
        above, height, apart = (figure.add_subplot(grid[part]) for part in (np.s_[:, 0], np.s_[0, 1], np.s_[1, 1]))
        seconds = (truth.t_ns - truth.t_ns[0])[rows] / NS_PER_S
        above.plot(*truth.position[rows, :2].T, color=REFERENCE, lw=2.6, label="truth")
        above.plot(*moved.position[rows, :2].T, color=COLOURS[0], lw=1.1, label="estimate")
        above.plot(*truth.position[0, :2], "o", color=INK, ms=5)
        above.set(xlabel="east [m]", ylabel="north [m]", title=f"track from above, aligned: {how}")
        above.set_aspect("equal", adjustable="datalim")
        above.legend(loc="best", fontsize=8)
        height.plot(seconds, truth.position[rows, 2], color=REFERENCE, lw=2.2)
        height.plot(seconds, moved.position[rows, 2], color=COLOURS[0], lw=1.0)
        height.set(ylabel="up [m]")
        error = np.linalg.norm(moved.position - truth.position, axis=1)
        apart.plot(seconds, error[rows], color=COLOURS[1], lw=1.1)
        apart.set(xlabel="time [s]", ylabel="error of position [m]")
        apart.set_ylim(0.0, None)


def draw_errors(path: Path, localised: Localised, title: str) -> None:
    """Errors from the start on, in the estimator's own world, with three sigmas of what it claims."""
    found = errors_from_start(localised.truths, localised.estimates)
    rows, zero = _thinned(len(found.seconds)), _first_second(localised)
    units = (("position [m]", 1.0), ("velocity [m/s]", 1.0), ("attitude [deg]", float(np.degrees(1.0))))
    with saved_figure(path, f"{title}: errors from the start on, with 3σ", (12.0, 7.0)) as figure:
        axes = figure.subplots(3, 3, sharex=True, squeeze=False)
        for line, (unit, scale) in enumerate(units):
            for column in range(3):
                _error_curve(axes[line, column], found, rows, 3 * line + column, scale, zero)
                axes[line, column].set_ylabel(unit if column == 0 else "")
                if line == 0:
                    axes[line, column].set_title(AXES[column])
                if line == 2:
                    axes[line, column].set_xlabel("time [s]")


def _error_curve(axis: Axes, found: StateErrors, rows: slice, state: int, scale: float, zero: float) -> None:
    seconds, error = found.seconds[rows] - zero, scale * found.errors[rows, state]
    sigma = 3.0 * scale * found.sigmas[rows, state]
    axis.fill_between(seconds, -sigma, sigma, color=COLOURS[0], alpha=0.18, lw=0.0)
    axis.plot(seconds, error, color=COLOURS[1], lw=0.9)
    # an estimator that knows nothing yet would make all else too small to see
    usual = float(np.percentile(sigma, 90)) if len(sigma) else 1.0
    most = max(1.2 * float(np.abs(error).max(initial=0.0)), 1.1 * usual)
    axis.set_ylim(-most, most)


def draw_biases(path: Path, localised: Localised, title: str) -> None:
    estimates, truths = localised.estimates, localised.truths
    rows, zero = _thinned(len(estimates)), _first_second(localised)
    with saved_figure(path, f"{title}: biases of the IMU", (11.0, 5.6)) as figure:
        axes = figure.subplots(2, 1, sharex=True)
        pairs = (
            ("gyroscope [rad/s]", estimates.gyro_bias, truths.gyro_bias),
            ("accelerometer [m/s²]", estimates.accel_bias, truths.accel_bias),
        )
        for axis, (label, estimated, true) in zip(axes, pairs, strict=True):
            for k, name in enumerate("xyz"):
                axis.plot(estimates.seconds[rows] - zero, estimated[rows, k], color=COLOURS[k], lw=1.1, label=name)
                if len(true):
                    thin = _thinned(len(true))
                    seconds = truths.bias_t_ns[thin] / NS_PER_S - zero
                    axis.plot(seconds, true[thin, k], color=COLOURS[k], lw=0.9, ls="--")
            axis.set_ylabel(label)
            axis.legend(loc="upper right", fontsize=8, ncols=3, title="estimate; dashed: truth", title_fontsize=8)
        axes[1].set_xlabel("time [s]")


def draw_features(path: Path, image: NDArray[np.uint8], features: Array, past: Array) -> None:
    """The left image with the tracked corners (n, 2) px, and lines from where they were before."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    height, width = image.shape[:2]
    figure = plt.figure(figsize=(width / 80, height / 80), dpi=120)
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axis.imshow(image, cmap="gray", vmin=0, vmax=255)
    for before, now in zip(past, features, strict=True):
        axis.plot([before[0], now[0]], [before[1], now[1]], color="#ffd23f", lw=0.8)
    axis.plot(features[:, 0], features[:, 1], "o", ms=3.2, mfc="none", mec="#38d96b", mew=0.9)
    axis.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axis.axis("off")
    with writing_into(path.parent):
        figure.savefig(path)
    plt.close(figure)


def _first_second(localised: Localised) -> float:
    """Recordings of real flights have stamps of the wall clock."""
    return float(localised.estimates.seconds[0])


def _thinned(count: int) -> slice:
    return slice(None, None, max(1, count // MOST_POINTS))


SHOWN_EVERY_S = 5.0
"""Of simulated time, between images kept for the picture of features."""
TRAIL = 8
"""Images over which the way of a corner is drawn."""


@dataclass(frozen=True)
class LocaliseOptions:
    """The options of `skyloop localise`."""

    align: Alignment = "se3"
    step: float = 1.0
    """m of a relative error."""
    vehicle: str | None = None
    left: str | None = None
    right: str | None = None
    depth: str | None = None
    imu: str | None = None
    settings: VioSettings | None = None

    def __post_init__(self) -> None:
        if not 0.01 <= self.step <= 1e4:
            raise DatasetError(f"--step {self.step:g}: give 0.01 to 10000 m")


class FeatureViews:
    """Keeps a left image with its tracked corners now and then."""

    def __init__(self, left: str) -> None:
        self._left = left
        self._due_ns = 0
        self._image: NDArray[np.uint8] | None = None
        self._past: deque[dict[int, Array]] = deque(maxlen=TRAIL)
        self.kept: list[tuple[NDArray[np.uint8], Array, Array]] = []

    def watch(self, message: Message, localiser: VisualLocaliser) -> None:
        """The odometry uses an image when the IMU has reached its stamp: when the next image comes, it has.

        While the right camera leads, the corners are not those of the left image."""
        if message.stream != self._left or localiser.odometry.frontend.swapped:
            return
        corners = localiser.corners
        if self._image is not None and corners and message.t_ns >= self._due_ns:
            self._due_ns = message.t_ns + round(SHOWN_EVERY_S * NS_PER_S)
            oldest = [
                next((seen[one] for seen in self._past if one in seen), position) for one, position in corners.items()
            ]
            self.kept.append((self._image.copy(), np.array(list(corners.values())), np.array(oldest)))
        self._past.append(corners)
        self._image = message.data.grey

    @property
    def middle(self) -> tuple[NDArray[np.uint8], Array, Array] | None:
        return self.kept[len(self.kept) // 2] if self.kept else None


def localise_folder(folder: Path, out: Path, options: LocaliseOptions) -> dict[str, Any]:
    """Everything of one dataset into `out`. Returns the summary that is also in summary.json."""
    source = open_source(
        folder, options.vehicle, left=options.left, right=options.right, depth=options.depth, imu=options.imu
    )
    make_empty_folder(out)
    views = FeatureViews(source.streams.left)
    localised = localise(source, source.messages(), settings=options.settings, watch=views.watch)
    summary = {
        "dataset": str(folder),
        **source.streams.names,
        **scores(localised, options.align, options.step),
        "folder": str(out),
    }
    write_all(out, localised, folder.resolve().name, options.align)
    if views.middle is not None:
        draw_features(out / "features.png", *views.middle)
    write_whole(out / "summary.json", json.dumps(plain(summary), indent=1) + "\n")
    return summary


def write_all(out: Path, localised: Localised, title: str, align: Alignment = "se3") -> None:
    """The tracks as TUM, and every picture that the data allows."""
    write_tracks(out, localised)
    draw_biases(out / "biases.png", localised, title)
    if len(localised.truths.track) and localised.estimates.valid.any():
        draw_track(out / "track.png", localised, title, align)
        draw_errors(out / "errors.png", localised, title)
