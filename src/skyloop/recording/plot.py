"""The picture a run leaves behind: track, height, speed, error and rotors, with the events on the time axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.bus import Bus
from skyloop.recording.run_folder import writing_into
from skyloop_client.messages import Event, Message
from skyloop_client.streams import StreamInfo

INK = "#23303b"
DASHES = ("--", ":", "-.")
"""Of estimates of one vehicle."""
COLOURS = ("#1f77b4", "#d1495b", "#2a9d5c", "#8a63b8", "#e08e1b", "#4b7f8c")


class FlightLog:
    """Collects what the plot needs while the simulation runs."""

    def __init__(self, bus: Bus, vehicles: list[str]) -> None:
        self.vehicles = vehicles
        self.truth: dict[str, list[Any]] = {name: [] for name in vehicles}
        self.estimates: dict[str, dict[str, list[Any]]] = {name: {} for name in vehicles}
        """By vehicle and stream."""
        self.batteries: dict[str, list[Any]] = {name: [] for name in vehicles}
        self.events: dict[str, list[Event]] = {name: [] for name in vehicles}
        for name in vehicles:
            bus.on(f"truth/{name}", _collector(self.truth[name]))
            bus.on(f"{name}/battery", _collector(self.batteries[name]))
            bus.on(f"{name}/events", _collector(self.events[name]))
        self._bus = bus
        bus.on_new(self._watch)

    def _watch(self, info: StreamInfo) -> None:
        if info.message == "Estimate" and info.vehicle in self.estimates:
            collected = self.estimates[info.vehicle][info.name] = []
            self._bus.on(info.name, _collector(collected, every=5))


def _collector(into: list[Any], every: int = 1) -> Any:
    def collect(message: Message) -> None:
        if message.index % every == 0:
            into.append(message.data)

    return collect


def plot_flight(log: FlightLog, title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style: dict[Any, Any] = {"axes.edgecolor": INK, "axes.grid": True, "grid.color": "#dfe4e8", "font.size": 9}
    with plt.rc_context(style):
        figure = plt.figure(figsize=(12, 6.6), layout="constrained")
        grid = figure.add_gridspec(4, 2, width_ratios=(1.15, 1))
        track = figure.add_subplot(grid[:, 0])
        rows = [figure.add_subplot(grid[k, 1]) for k in range(4)]
        for name, colour in zip(log.vehicles, COLOURS * 11, strict=False):
            _plot_vehicle(log, name, colour, track, rows)
        track.set(xlabel="east [m]", ylabel="north [m]", title="track from above")
        _widen(track, 4.0)
        track.set_aspect("equal", adjustable="datalim")
        track.legend(loc="upper right", frameon=False)
        for axis, label in zip(rows, ("height [m]", "speed [m/s]", "tilt [deg]", "rotor speed [rad/s]"), strict=True):
            axis.set_ylabel(label)
        for axis in rows[:-1]:
            axis.tick_params(labelbottom=False)
        rows[-1].set_xlabel("simulated time [s]")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", color=INK)
        with writing_into(path.parent):
            figure.savefig(path, dpi=110)
        plt.close(figure)


def _widen(axis: Any, least: float) -> None:
    """A hover must not be magnified until rounding errors look like a flight."""
    box = axis.dataLim
    x, y = 0.5 * (box.x0 + box.x1), 0.5 * (box.y0 + box.y1)
    axis.update_datalim([(x - 0.5 * least, y - 0.5 * least), (x + 0.5 * least, y + 0.5 * least)])
    axis.autoscale_view()


def _plot_vehicle(log: FlightLog, name: str, colour: str, track: Any, rows: list[Any]) -> None:
    truth = log.truth[name]
    if not truth:
        return
    t = np.array([state.t_ns for state in truth]) / 1e9
    position = np.array([state.position for state in truth])
    speed = np.linalg.norm([state.velocity_world for state in truth], axis=1)
    quat = np.array([state.quat_wxyz for state in truth])
    tilt = np.degrees(np.arccos(np.clip(1.0 - 2.0 * (quat[:, 1] ** 2 + quat[:, 2] ** 2), -1.0, 1.0)))
    track.plot(position[:, 0], position[:, 1], color=colour, lw=1.6, label=f"{name}, truth")
    track.plot(*position[0, :2], "o", color=colour, ms=6)
    rows[0].plot(t, position[:, 2], color=colour, lw=1.4)
    for (stream, estimates), dashes in zip(
        log.estimates[name].items(), DASHES * len(log.estimates[name]), strict=False
    ):
        if not estimates:
            continue
        te = np.array([estimate.t_ns for estimate in estimates]) / 1e9
        believed = np.array([estimate.position for estimate in estimates])
        believed[[not estimate.valid for estimate in estimates]] = np.nan
        track.plot(believed[:, 0], believed[:, 1], color=INK, lw=0.8, ls=dashes, label=stream.replace("/", ", ", 1))
        rows[0].plot(te, believed[:, 2], color=INK, lw=0.8, ls=dashes)
    rows[1].plot(t, speed, color=colour, lw=1.2)
    rows[2].plot(t, tilt, color=colour, lw=1.0)
    rotors = np.array([state.rotor_speeds for state in truth])
    rows[3].plot(t, rotors, color=colour, lw=0.6, alpha=0.7)
    _mark_events(log.events[name], rows[0])


def _mark_events(events: list[Event], axis: Any) -> None:
    """Contacts and refusals are too many to write out; of events close together only the first gets its word."""
    last = -1e9
    for event in events:
        t = event.t_ns / 1e9
        if event.kind in ("contact", "refused"):
            continue
        axis.axvline(t, color=INK, lw=0.6, alpha=0.5)
        if t - last > 1.5:
            place = (t, 1.02)
            axis.annotate(event.kind, place, xycoords=("data", "axes fraction"), rotation=30, fontsize=7, color=INK)
            last = t
