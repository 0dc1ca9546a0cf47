"""What a run shows of landings on a marker: errors, time, a sheet of pictures, and a video."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skyloop import Scenario
from skyloop.core.bus import Bus
from skyloop.core.frames import yaw_from_quat
from skyloop.recording.flight_plot import COLOURS, INK, REFERENCE, saved_figure
from skyloop.sim.world_view import WorldView
from skyloop_client.messages import Array
from skyloop_landing.landing_log import LandingLog, Moment, VehicleLanding
from skyloop_landing.landing_video import LandingVideos
from skyloop_landing.vision.object_list import Pixels, dark, grey, smoothed, tiles_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ORDER = ("first sight", "descent begins", "below 3 m", "last image with the marker", "last image without the marker")
MOST_SHOWN = 4
FIGURE_COLOURS = {"ring": COLOURS[4], "square": COLOURS[1], "rectangle": COLOURS[2]}
SHORT = 0.3
"""s: a stage of less has no name in the plots."""
LABELLED_PX = 50
"""Smaller boxes have no name beside them."""
RING_RADIUS, BOARD_RADIUS = 0.857, 1.25
"""m, of the marker, drawn under the track."""


def draw_landing(
    path: Path,
    title: str,
    log: VehicleLanding,
    binaries: Mapping[str, NDArray[np.uint8]],
    pad: tuple[Array, float] | None,
) -> None:
    """binaries: by name of the moment, 1 where the image is dark. pad: the marker's position and yaw, if known."""
    shown = [log.moments[name] for name in ORDER if name in log.moments]
    if len(shown) > MOST_SHOWN:
        # a landing that ended well has nothing to show of images without the marker
        shown = shown[:MOST_SHOWN] if log.ended_ns >= 0 else [*shown[: MOST_SHOWN - 1], shown[-1]]
    with saved_figure(path, title, (15.0, 9.6)) as figure:
        grid = figure.add_gridspec(3, 12, height_ratios=(1, 1, 1.7))
        for k, moment in enumerate(shown):
            columns = slice(3 * k, 3 * k + 3)
            _draw_image(figure.add_subplot(grid[0, columns]), moment, log.began_ns)
            _draw_binary(figure.add_subplot(grid[1, columns]), moment, binaries[moment.name])
        _draw_track(figure.add_subplot(grid[2, :4]), log, pad)
        _draw_altitude(figure.add_subplot(grid[2, 4:8]), log)
        _draw_offsets(figure.add_subplot(grid[2, 8:]), log)


def _draw_image(axis: Axes, moment: Moment, began_ns: int) -> None:
    status = moment.status
    axis.imshow(moment.image, cmap="gray", vmin=0, vmax=255)
    after = (status.t_ns - began_ns) * 1e-9
    axis.set_title(f"{moment.name}: {after:.1f} s, {status.altitude:.2f} m", fontsize=9)
    if status.reason:
        axis.set_xlabel(status.reason, fontsize=8, color=COLOURS[1])
    axis.set(xticks=[], yticks=[])


def _draw_binary(axis: Axes, moment: Moment, binary: NDArray[np.uint8]) -> None:
    axis.imshow(1 - binary, cmap="gray", vmin=0, vmax=1, interpolation="antialiased")
    figures = moment.figures
    for (left, top, right, bottom), name, score in zip(
        figures.boxes_px.tolist(), figures.classes, figures.scores.tolist(), strict=True
    ):
        colour, chosen = FIGURE_COLOURS.get(name, INK), score > 0.5
        x, y = [left, right, right, left, left], [top, top, bottom, bottom, top]
        axis.plot(x, y, color=colour, lw=2.0 if chosen else 0.8)
        if chosen and bottom - top > LABELLED_PX:
            axis.annotate(name, (right, top), color=colour, fontsize=8, fontweight="bold", ha="right", va="bottom")
    height, width = binary.shape
    axis.set(xticks=[], yticks=[], xlim=(0, width), ylim=(height, 0))
    axis.grid(False)


def _draw_track(axis: Axes, log: VehicleLanding, pad: tuple[Array, float] | None) -> None:
    rows = log.rows()
    if pad is not None:
        (x, y), yaw = pad[0][:2].tolist(), pad[1]
        angle = np.linspace(0.0, 2.0 * np.pi, 90)
        for radius, shade in ((BOARD_RADIUS, REFERENCE), (RING_RADIUS, INK)):
            axis.plot(x + radius * np.cos(angle), y + radius * np.sin(angle), color=shade, lw=1.0)
        tip = x + RING_RADIUS * np.cos(yaw), y + RING_RADIUS * np.sin(yaw)
        axis.annotate("", tip, (x, y), arrowprops={"arrowstyle": "->", "color": INK})
    axis.plot(rows[:, 1], rows[:, 2], color=COLOURS[0], lw=1.6, label="track")
    for k, label in ((0, "start"), (-1, "end")):
        colour = COLOURS[3] if k == 0 else COLOURS[1]
        x, y, yaw = rows[k, 1], rows[k, 2], rows[k, 4]
        axis.plot(x, y, "o", color=colour, ms=5, label=label)
        axis.annotate(
            "", (x + 0.7 * np.cos(yaw), y + 0.7 * np.sin(yaw)), (x, y), arrowprops={"arrowstyle": "->", "color": colour}
        )
    axis.set(xlabel="east [m]", ylabel="north [m]", title="track from above; arrows are headings")
    axis.set_aspect("equal", adjustable="datalim")
    axis.legend(fontsize=8, edgecolor="none")


def _times(log: VehicleLanding) -> Array:
    return np.array([status.t_ns - log.began_ns for status in log.statuses]) * 1e-9


def _draw_stages(axis: Axes, log: VehicleLanding, t: Array) -> None:
    stages = [status.stage for status in log.statuses]
    begins = [k for k, stage in enumerate(stages) if k == 0 or stages[k - 1] != stage]
    for k, following in zip(begins, [*begins[1:], None], strict=True):
        axis.axvline(t[k], color=REFERENCE, lw=0.8)
        # the words of two that follow each other at once would lie on each other
        if following is None or t[following] - t[k] > SHORT:
            style: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "rotation": 90, "va": "top"}
            axis.annotate(stages[k], (t[k], 0.98), fontsize=8, color=INK, **style)
    blind = np.array([not status.found for status in log.statuses])
    axis.fill_between(t, 0, 1, where=blind, transform=axis.get_xaxis_transform(), color=COLOURS[1], alpha=0.15, lw=0)


def _draw_altitude(axis: Axes, log: VehicleLanding) -> None:
    rows, t = log.rows(), _times(log)
    axis.plot(rows[:, 0] - log.began_ns * 1e-9, rows[:, 3], color=COLOURS[0], lw=1.6, label="vehicle, true")
    axis.plot(t, [status.altitude for status in log.statuses], color=COLOURS[4], lw=1.2, label="camera, believed")
    _draw_stages(axis, log, t)
    axis.set(xlabel="s since the landing began", title="altitude [m]; red: marker not seen", ylim=(0.0, None))
    axis.legend(fontsize=8, edgecolor="none", loc="lower left")


def _draw_offsets(axis: Axes, log: VehicleLanding) -> None:
    t = _times(log)
    seen = np.array([status.found for status in log.statuses])
    offsets = np.array([[*status.offset, status.heading] for status in log.statuses])
    offsets[~seen] = np.nan
    for k, label in enumerate(("ahead [m]", "right [m]", "heading [rad]")):
        axis.plot(t, offsets[:, k], color=COLOURS[k], lw=1.3, label=label)
    _draw_stages(axis, log, t)
    axis.set(xlabel="s since the landing began", title="the marker, from the vehicle")
    axis.legend(fontsize=8, edgecolor="none", loc="lower right")


MARKER = "landing marker"
"""The object's name in the world."""


class LandingReport:
    """Listens during a run, and afterwards adds to its summary and draws."""

    def __init__(self, bus: Bus, world: WorldView, scenario: Scenario, folder: Path) -> None:
        self._world, self._scenario, self._folder = world, scenario, folder
        self._log = LandingLog(bus)
        self._videos = LandingVideos(bus, folder)

    def finish(self, summary: dict[str, Any]) -> None:
        self._videos.finish()
        for name, log in self._log.vehicles.items():
            pad = self._pad()
            found = outcome(log, pad)
            summary["vehicles"][name].update(found)
            title = f"{self._scenario.name} (seed {self._scenario.seed}): {name} {found['landing']}"
            binaries = {moment.name: binary_of(moment.image, moment.before) for moment in log.moments.values()}
            draw_landing(self._folder / f"landing-{name}.png", title, log, binaries, pad)

    def _pad(self) -> tuple[Array, float] | None:
        """The marker's middle and yaw; None in a world without one."""
        number = self._world.things().get(MARKER)
        if number is None:
            return None
        position, quat, _ = self._world.place_of(number)
        return position, float(yaw_from_quat(quat))


def outcome(log: VehicleLanding, pad: tuple[Array, float] | None) -> dict[str, Any]:
    """How it ended: time from the beginning to touch-down, and errors in the world's axes."""
    stage, seconds = log.ended_in, None
    if log.ended_ns >= 0:
        seconds = (log.ended_ns - log.began_ns) * 1e-9
    after = "" if seconds is None else f", after {seconds:.1f} s"
    if pad is None:
        return {"landing": stage + after, "landing_s": seconds}
    _, x, y, _, yaw = log.track[-1]
    off, askew = np.array([x, y]) - pad[0][:2], math.remainder(yaw - pad[1], 2.0 * math.pi)
    distance = float(np.hypot(*off))
    on_marker = seconds is not None and stage == "land" and distance < BOARD_RADIUS
    where = "landed on the marker" if on_marker else f"did not land on the marker ({stage})"
    return {
        "landing": f"{where}, {distance:.2f} m and {abs(askew):.2f} rad off{after}",
        "landed_on_marker": on_marker,
        "landing_s": seconds,
        "landing_error_x_m": float(off[0]),
        "landing_error_y_m": float(off[1]),
        "landing_error_m": distance,
        "landing_heading_error_rad": askew,
    }


def binary_of(image: Pixels, before: Pixels) -> Pixels:
    """1 where the detector takes an image for dark."""
    return dark(smoothed(grey(image)), tiles_of(smoothed(grey(before))))
