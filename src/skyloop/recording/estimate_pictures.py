"""Pictures of a run's estimates: errors with three sigmas, and biases beside the true ones; one file per stream.

Only for estimators that state a covariance. Memory does not grow with the flight."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skyloop.core.bus import Bus
from skyloop.core.frames import quat_conjugate, quat_multiply, rotvec_from_quat
from skyloop.recording.flight_log import MOST_WAITING, Curve
from skyloop.recording.flight_plot import COLOURS, INK, saved_figure
from skyloop_client.messages import Array, Estimate, Message, VehicleState
from skyloop_client.streams import NS_PER_S, StreamInfo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = ("east", "north", "up")
ROWS = (("position [m]", 1.0), ("velocity [m/s]", 1.0), ("attitude [deg]", math.degrees(1.0)))


class EstimateErrors:
    """Errors and biases of one stream of estimates."""

    def __init__(self) -> None:
        self.errors = Curve(19)
        """s; nine errors; nine sigmas."""
        self.biases = Curve(7)
        """s; gyroscope rad/s; accelerometer m/s²."""
        self._waiting: dict[int, Estimate] = {}

    def add(self, estimate: Estimate) -> None:
        if estimate.valid and estimate.covariance is not None:
            self._waiting[estimate.t_ns] = estimate
            if len(self._waiting) > MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        if estimate.gyro_bias is not None and estimate.accel_bias is not None:
            self.biases.add(estimate.t_ns / NS_PER_S, *estimate.gyro_bias.tolist(), *estimate.accel_bias.tolist())

    def meet(self, state: VehicleState) -> None:
        """With the true state of the same instant."""
        estimate = self._waiting.pop(state.t_ns, None)
        if estimate is None:
            return
        turn = rotvec_from_quat(quat_multiply(estimate.quat_wxyz, quat_conjugate(state.quat_wxyz)))
        off = (estimate.position - state.position, estimate.velocity_world - state.velocity_world, turn)
        sigmas = (estimate.position_sd, estimate.velocity_sd, estimate.attitude_sd)
        self.errors.add(state.t_ns / NS_PER_S, *np.concatenate([*off, *sigmas]).tolist())


class EstimatePictures:
    """Follows every stream of estimates on a bus."""

    def __init__(self, bus: Bus, folder: Path) -> None:
        self._bus, self._folder = bus, folder
        self._logs: dict[str, EstimateErrors] = {}
        self._true_biases: dict[str, Curve] = {}
        self._states: dict[str, list[VehicleState]] = {}
        bus.on_new(self._watch)

    def _watch(self, info: StreamInfo) -> None:
        if info.message == "Estimate":
            self._logs[info.name] = EstimateErrors()
            self._bus.on(info.name, self._on_estimate)
        elif info.message == "ImuBias":
            self._true_biases[info.vehicle] = Curve(7)
            self._bus.on(info.name, self._on_bias)
        elif info.name == f"truth/{info.vehicle}":
            self._bus.on(info.name, self._on_truth)

    def _on_estimate(self, message: Message) -> None:
        log = self._logs[message.stream]
        log.add(message.data)
        for state in self._states.get(message.stream.split("/")[0], ()):
            log.meet(state)

    def _on_truth(self, message: Message) -> None:
        vehicle = message.stream.removeprefix("truth/")
        # the truth of an instant may come before the estimate of it or after
        self._states[vehicle] = [*self._states.get(vehicle, [])[-3:], message.data]
        for stream, log in self._logs.items():
            if stream.startswith(f"{vehicle}/"):
                log.meet(message.data)

    def _on_bias(self, message: Message) -> None:
        bias, vehicle = message.data, message.stream.removeprefix("truth/").split("/")[0]
        self._true_biases[vehicle].add(bias.t_ns / NS_PER_S, *bias.gyro_bias.tolist(), *bias.accel_bias.tolist())

    def finish(self) -> list[Path]:
        """Draw what was seen. Returns the files."""
        made = []
        for stream, log in self._logs.items():
            vehicle, name = stream.split("/", 1)
            if len(log.errors.rows) < 2:
                continue
            true = self._true_biases.get(vehicle)
            path = self._folder / f"estimate-{vehicle}-{name.replace('/', '-')}.png"
            draw(path, stream, log, np.zeros((0, 7)) if true is None else true.rows)
            made.append(path)
        return made


def draw(path: Path, title: str, log: EstimateErrors, true_biases: Array) -> None:
    errors, biases = log.errors.rows, log.biases.rows
    with saved_figure(path, f"{title}: errors with 3σ, biases", (12.0, 9.5), dpi=100) as figure:
        axes = figure.subplots(5, 3, sharex=True, squeeze=False)
        for line, (label, scale) in enumerate(ROWS):
            for column in range(3):
                _draw_error(axes[line, column], errors, 3 * line + column, scale)
            axes[line, 0].set_ylabel(label)
        for line, (label, first) in enumerate((("gyro bias [rad/s]", 1), ("accel. bias [m/s²]", 4)), start=3):
            for column in range(3):
                _draw_bias(axes[line, column], biases, true_biases, first + column)
            axes[line, 0].set_ylabel(label)
        for column, axis in enumerate(AXES):
            axes[0, column].set_title(axis)
            axes[3, column].set_title("xyz"[column] + " of the IMU")
            axes[4, column].set_xlabel("simulated time [s]")


def _draw_error(axis: Axes, rows: Array, state: int, scale: float) -> None:
    seconds, error, sigma = rows[:, 0], scale * rows[:, 1 + state], 3.0 * scale * rows[:, 10 + state]
    axis.fill_between(seconds, -sigma, sigma, color=COLOURS[0], alpha=0.18, lw=0.0)
    axis.plot(seconds, error, color=COLOURS[1], lw=0.9)
    # an estimator that knows nothing yet would make all else too small to see
    most = max(1.2 * float(np.abs(error).max()), 1.1 * float(np.percentile(sigma, 90)))
    axis.set_ylim(-most, most)


def _draw_bias(axis: Axes, rows: Array, true: Array, column: int) -> None:
    axis.plot(rows[:, 0], rows[:, column], color=COLOURS[0], lw=1.1, label="estimate")
    if len(true):
        axis.plot(true[:, 0], true[:, column], color=INK, lw=0.9, ls="--", label="truth")
    axis.legend(loc="best", fontsize=7)
