"""The plot of a run: track, height, speed, errors, tilt and rotors, with the events on the time axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.recording.flight_log import WRONG, FlightLog, VehicleLog
from skyloop.recording.run_folder import writing_into
from skyloop_client.messages import Array, Event, EventKind
from skyloop_client.streams import NS_PER_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#23303b"
"""The colour of text and axes."""
REFERENCE = "#9aa5ad"
"""The colour of the reference curve."""
DASHES = ("--", ":", "-.")
"""Line styles for the estimates of one vehicle."""
COLOURS = ("#1f77b4", "#d1495b", "#2a9d5c", "#8a63b8", "#e08e1b", "#4b7f8c")
"""Of the vehicles in a plot."""
MOST_SINGLE = len(COLOURS)
"""Most vehicles that are drawn one by one. With more, their median and range are drawn."""
WIDTH, HEIGHT = 12.0, 7.6
"""inches."""
OFF = "error [m]"
STYLE: dict[Any, Any] = {"axes.edgecolor": INK, "axes.grid": True, "grid.color": "#dfe4e8", "font.size": 9}
"""Settings of Matplotlib for all plots."""


@contextmanager
def saved_figure(path: Path, title: str, size: tuple[float, float], dpi: int = 110) -> Iterator[Figure]:
    """A figure in the style of all plots, which is written at the end of the block. size: inches."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=size, layout="constrained")
        try:
            yield figure
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", color=INK)
            with writing_into(path.parent):
                figure.savefig(path, dpi=dpi)
        finally:
            plt.close(figure)


@dataclass(frozen=True, slots=True)
class FlightAxes:
    track: Axes
    rows: dict[str, Axes]
    """By label, from the top."""


def plot_flight(log: FlightLog, title: str, path: Path) -> None:
    flown = {name: vehicle for name, vehicle in log.vehicles.items() if len(vehicle.motion.rows)}
    with saved_figure(path, title, (WIDTH, HEIGHT)) as figure:
        axes = _axes(figure, has_errors=any(map(_has_errors, flown.values())))
        if len(flown) <= MOST_SINGLE:
            for (name, vehicle), colour in zip(flown.items(), COLOURS, strict=False):
                _plot_vehicle(vehicle, name, colour, axes)
        else:
            _plot_many(flown, axes)
        _draw_events([vehicle.told for vehicle in flown.values()], list(axes.rows.values()))
        for vehicle in flown.values() if len(flown) <= MOST_SINGLE else ():
            _mark_track(vehicle, axes.track)
        _finish(axes, max(map(_farthest, flown.values()), default=0.0))


def _has_errors(vehicle: VehicleLog) -> bool:
    errors = [vehicle.off_reference, *(distances for _, distances in vehicle.estimates.values())]
    return any(_has_values(error.curve.rows) for error in errors)


def _has_values(curve: Array) -> bool:
    """False for a curve that is only gaps."""
    return bool(np.isfinite(curve[:, 1]).any())


def _farthest(vehicle: VehicleLog) -> float:
    """m, the largest error that counts."""
    return max(vehicle.off_reference.farthest, *(far.farthest for _, far in vehicle.estimates.values()), 0.0)


def _axes(figure: Figure, *, has_errors: bool) -> FlightAxes:
    labels = ["height [m]", "speed [m/s]", *([OFF] if has_errors else []), "tilt [deg]", "rotors [rad/s]"]
    grid = figure.add_gridspec(len(labels), 2, width_ratios=(1.15, 1))
    rows: dict[str, Axes] = {}
    for k, label in enumerate(labels):
        rows[label] = figure.add_subplot(grid[k, 1], sharex=next(iter(rows.values()), None))
        rows[label].set_ylabel(label)
        rows[label].tick_params(labelbottom=k == len(labels) - 1)
    rows[labels[-1]].set_xlabel("simulated time [s]")
    return FlightAxes(figure.add_subplot(grid[:, 0]), rows)


def _finish(axes: FlightAxes, farthest: float) -> None:
    track = axes.track
    track.set(xlabel="east [m]", ylabel="north [m]", title="track from above")
    _widen(track, 4.0)
    track.set_aspect("equal", adjustable="datalim")
    for axis in (track, *axes.rows.values()):
        if axis.get_legend_handles_labels()[0]:
            axis.legend(loc="best", frameon=True, framealpha=0.8, edgecolor="none", fontsize=8)
    if OFF in axes.rows:
        # the steps of take-off and landing would make everything else too small to see
        axes.rows[OFF].set_ylim(0.0, 1.15 * farthest if farthest > 0.0 else None)


def _widen(axis: Axes, least: float) -> None:
    """Rounding errors of a hover must not be magnified until they look like a flight."""
    box = axis.dataLim
    x, y = 0.5 * (box.x0 + box.x1), 0.5 * (box.y0 + box.y1)
    axis.update_datalim([(x - 0.5 * least, y - 0.5 * least), (x + 0.5 * least, y + 0.5 * least)])
    axis.autoscale_view()


def _plot_vehicle(vehicle: VehicleLog, name: str, colour: str, axes: FlightAxes) -> None:
    t, x, y, z, speed, tilt, slowest, fastest = vehicle.motion.rows.T
    track, rows = axes.track, axes.rows
    _plot_reference(vehicle, name, colour, axes)
    track.plot(x, y, color=colour, lw=1.6, label=name)
    track.plot(x[0], y[0], "o", color=colour, ms=6)
    rows["height [m]"].plot(t, z, color=colour, lw=1.4)
    rows["speed [m/s]"].plot(t, speed, color=colour, lw=1.2)
    rows["tilt [deg]"].plot(t, tilt, color=colour, lw=1.0)
    rows["rotors [rad/s]"].fill_between(t, slowest, fastest, color=colour, alpha=0.35, lw=0.4)
    for number, (stream, (curve, distances)) in enumerate(vehicle.estimates.items()):
        if not len(curve.rows):
            continue
        te, xe, ye, ze = curve.rows.T
        dashes = DASHES[number % len(DASHES)]
        track.plot(xe, ye, color=INK, lw=0.8, ls=dashes, label=stream)
        rows["height [m]"].plot(te, ze, color=INK, lw=0.8, ls=dashes)
        _plot_error(rows, distances.curve.rows, INK, dashes, f"{stream} from truth")


def _plot_reference(vehicle: VehicleLog, name: str, colour: str, axes: FlightAxes) -> None:
    """What the controller tracked, below all else, and the vehicle's distance from it."""
    reference = vehicle.reference.rows
    if not len(reference) or np.isnan(reference[:, 1]).all():
        return
    t, x, y, z = reference.T
    axes.track.plot(x, y, color=REFERENCE, lw=2.6, alpha=0.6, zorder=1.5, label=f"{name}, setpoint")
    axes.rows["height [m]"].plot(t, z, color=REFERENCE, lw=2.2, alpha=0.6, zorder=1.5)
    _plot_error(axes.rows, vehicle.off_reference.curve.rows, colour, "-", f"{name} from setpoint")


def _plot_error(rows: dict[str, Axes], error: Array, colour: str, dashes: str, label: str) -> None:
    if _has_values(error):
        rows[OFF].plot(error[:, 0], error[:, 1], color=colour, lw=1.1, ls=dashes, label=label)


def _plot_many(vehicles: dict[str, VehicleLog], axes: FlightAxes) -> None:
    """Every track. For the rest, the median vehicle and the range of all of them."""
    curves = [vehicle.motion.rows for vehicle in vehicles.values()]
    from matplotlib import colormaps

    for k, curve in enumerate(curves):
        colour = colormaps["viridis"](k / (len(curves) - 1))
        axes.track.plot(curve[:, 1], curve[:, 2], color=colour, lw=0.8, alpha=0.8)
        axes.track.plot(curve[0, 1], curve[0, 2], "o", color=colour, ms=2.5)
    names = list(vehicles)
    axes.track.plot([], [], color=INK, lw=0.8, label=f"{len(names)} vehicles, {names[0]} dark to {names[-1]} light")
    _plot_band(axes.rows["height [m]"], [curve[:, [0, 3]] for curve in curves])
    _plot_band(axes.rows["speed [m/s]"], [curve[:, [0, 4]] for curve in curves])
    _plot_band(axes.rows["tilt [deg]"], [curve[:, [0, 5]] for curve in curves])
    _plot_band(axes.rows["rotors [rad/s]"], [curve[:, [0, 7]] for curve in curves])
    errors = [vehicle.off_reference.curve.rows for vehicle in vehicles.values()]
    if any(map(_has_values, errors)):
        _plot_band(axes.rows[OFF], [error for error in errors if _has_values(error)], "from setpoint: ")


def _plot_band(axis: Axes, curves: list[Array], what: str = "") -> None:
    """From (n, 2) curves: the median at each instant, and the range from lowest to highest."""
    start, end = min(curve[0, 0] for curve in curves), max(curve[-1, 0] for curve in curves)
    t = np.linspace(start, end, 600)
    values = np.array([np.interp(t, curve[:, 0], curve[:, 1], left=np.nan, right=np.nan) for curve in curves])
    lowest, highest = (np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0))
    axis.fill_between(t, lowest, highest, color=COLOURS[0], alpha=0.25, lw=0.0, label=f"{what}all")
    axis.plot(t, _middle(values), color=COLOURS[0], lw=1.3, label=f"{what}middle one")


def _middle(values: Array) -> Array:
    """The median of the available values at each instant."""
    rising = np.sort(values, axis=0)
    there = np.isfinite(values).sum(axis=0)
    return np.asarray(rising[np.maximum(there - 1, 0) // 2, np.arange(values.shape[1])])


# ---- labels of events above a time axis: in a few lanes, without overlap; equal ones are grouped, the rest is left out


LANES = 3
LANE = 0.14
"""Height of a lane relative to the height of the axis."""
LETTER = 0.0125
"""Width of a letter relative to the width of the axis, at the font size below."""
POINTS = 7
TOGETHER_S = 1.0
"""Events with the same label within this time share it."""
ALARM = "#c0282d"
"""The colour of what went wrong."""


@dataclass(slots=True)
class _Label:
    t: float
    """s, of the first event."""
    word: str
    wrong: bool
    count: int = 1

    @property
    def text(self) -> str:
        return self.word if self.count == 1 else f"{self.word} ×{self.count}"


def _draw_events(events: Sequence[Sequence[Event]], axes: Sequence[Axes]) -> None:
    """Draw the events of several vehicles: a thin line through all axes for each, and labels above the first axis.

    What went wrong gets its place first."""
    labels = _labels(sorted((event for own in events for event in own), key=lambda event: event.t_ns))
    if not labels:
        return
    start, end = axes[0].get_xlim()
    taken: list[tuple[int, float, float]] = []
    for label in sorted(labels, key=lambda each: (each.word != EventKind.CRASH, not each.wrong)):
        colour = ALARM if label.wrong else INK
        for axis in axes:
            axis.axvline(label.t, color=colour, lw=0.9 if label.wrong else 0.5, alpha=0.35, zorder=1.0)
        # the last ones must not run out of the picture
        left = min((label.t - start) / (end - start), 1.06 - LETTER * (len(label.text) + 1))
        right = left + LETTER * (len(label.text) + 1)
        free = [k for k in range(LANES) if all(k != lane or right < a or b < left for lane, a, b in taken)]
        if free and left >= 0.0:
            taken.append((free[0], left, right))
            axes[0].annotate(label.text, (left, 1.03 + LANE * free[0]), xycoords="axes fraction", fontsize=POINTS,
                             color=colour, annotation_clip=False)  # fmt: skip
    axes[0].set_xlim(start, end)


def _labels(events: Sequence[Event]) -> list[_Label]:
    labels: list[_Label] = []
    newest: dict[str, _Label] = {}
    for event in events:
        if event.kind == EventKind.REFUSED:
            continue
        t, word = event.t_ns / NS_PER_S, _word(event)
        known = newest.get(word)
        if known is not None and t - known.t <= TOGETHER_S:
            known.count += 1
        else:
            newest[word] = _Label(t, word, event.kind in WRONG)
            labels.append(newest[word])
    return labels


def _word(event: Event) -> str:
    if event.kind == EventKind.FAULT:
        return event.text.partition(",")[0]
    if event.kind == EventKind.CONTACT and event.contact is not None:
        return f"{event.contact.part} on {event.contact.name}"
    return event.failsafe if event.kind == EventKind.FAILSAFE and event.failsafe else str(event.kind)


def _mark_track(vehicle: VehicleLog, track: Axes) -> None:
    """Crosses with labels where something went wrong, the first of each kind of it."""
    t, x, y = vehicle.motion.rows.T[:3]
    wrong: dict[str, Event] = {}
    for event in vehicle.told:
        if event.kind in WRONG:
            wrong.setdefault(_word(event), event)
    for number, (word, event) in enumerate(sorted(wrong.items(), key=lambda item: item[0] != EventKind.CRASH)):
        at = event.t_ns / NS_PER_S
        place = float(np.interp(at, t, x)), float(np.interp(at, t, y))
        track.plot(*place, "x", color=ALARM, ms=7, mew=1.6, zorder=4.0)
        if number < LANES:
            label = track.annotate(f"{word}, {at:.1f} s", place, (7, 5 + 10 * number), textcoords="offset points",
                                   fontsize=POINTS, color=ALARM)  # fmt: skip
            label.set_in_layout(False)
