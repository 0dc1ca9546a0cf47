"""The pictures of `skyloop reproduce radar`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.perception.radar_processing import paper_image
from skyloop.trials.radar_antennas import AntennaCheck
from skyloop.trials.radar_noise import NoiseCurve
from skyloop.trials.radar_recording import Pairs
from skyloop.trials.radar_walks import GaitRecord, WalkRecord, radars
from skyloop.waveform import Waveform

INK = "#23303b"
IDEAL, REAL, TRACK = "#1f77b4", "#d1495b", "#2a9d5c"
ANTENNA_COLOURS = ("#d1495b", "#e08e1b", "#1f77b4")
SHOWN = 8
"""Frames of a strip."""
GAMMA = 0.4
"""So that what is faint beside the leakage can be seen."""
SHOWN_DB = 50.0
"""Of the spectrogram, below its brightest."""


@contextmanager
def _figure(path: Path, size: tuple[float, float], title: str) -> Iterator[Any]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style: dict[Any, Any] = {
        "axes.edgecolor": INK, "axes.grid": True, "grid.color": "#dfe4e8", "font.size": 9, "axes.axisbelow": True,
        "axes.titlesize": 9.5,
    }  # fmt: skip
    with plt.rc_context(style):
        figure = plt.figure(figsize=size, layout="constrained")
        figure.suptitle(title, fontweight="bold", color=INK)
        yield figure
        figure.savefig(path, dpi=80)
        plt.close(figure)


def plot_antennas(checks: list[AntennaCheck], path: Path) -> None:
    with _figure(path, (11.0, 6.6), "Figs 12 and 13: a person to one side, and the IF signals of one chirp") as figure:
        axes = figure.subplots(len(checks), 2, width_ratios=(1, 1.7))
        for (left, right), check in zip(axes, checks, strict=True):
            left.imshow(check.picture)
            left.set_axis_off()
            degrees = np.degrees([check.true_azimuth, check.true_elevation])
            left.set_title(f"{check.figure}: torso at azimuth {degrees[0]:+.0f}°, elevation {degrees[1]:+.0f}°")
            time = 1e6 * np.arange(check.volts.shape[1]) / check.sample_rate
            for antenna, colour in enumerate(ANTENNA_COLOURS):
                right.plot(
                    time, 1e3 * check.volts[antenna], "o-", ms=2.5, lw=1.1, color=colour, label=f"RX{antenna + 1}"
                )
            across, up = np.degrees([check.phase_across, check.phase_up])
            right.set_title(f"phase of RX1 over RX3 {across:+.0f}°, of RX3 over RX2 {up:+.0f}°")
            right.set(xlabel="time in the chirp [µs]", ylabel="IF signal [mV]", xlim=(0.0, time[-1]))
            right.margins(y=0.16)
            right.legend(frameon=False, ncols=3, loc="upper right", borderaxespad=0.1)


def plot_strips(walks: list[WalkRecord], path: Path) -> None:
    """36 x 64 pictures of some frames: the ideal radar, the real one, and the real one without what stands still."""
    w = radars()["ideal"].waveform
    kinds = (("ideal", "ideal", False), ("real", "real", False), ("real", "real,\nmoving only", True))
    title = "Figs 15 and 16: range [m] over speed [m/s], 36 x 64; brightness is amplitude^0.4; ring: the true torso"
    with _figure(path, (13.0, 5.2 * len(walks)), title) as figure:
        parts: Any = figure.subfigures(len(walks), 1, squeeze=False)[:, 0]
        for part, walk in zip(parts, walks, strict=True):
            chosen = np.flatnonzero(walk.moving)
            chosen = chosen[np.linspace(0, len(chosen) - 1, min(SHOWN, len(chosen))).round().astype(int)]
            part.suptitle(f"{walk.walk.name}, {walk.walk.speed:g} m/s", fontsize=10, color=INK)
            axes = part.subplots(len(kinds), len(chosen), sharex=True, sharey=True, squeeze=False)
            for row, (preset, label, mti) in zip(axes, kinds, strict=True):
                for axis, k in zip(row, chosen, strict=True):
                    _image(axis, paper_image(walk.scans[preset][k], w, mti=mti), w)
                    beat = walk.true_range[k] + w.range_shift(walk.true_speed[k])
                    axis.plot(walk.true_speed[k], beat, "o", ms=11, mfc="none", mec="white", mew=0.9)
                row[0].set_ylabel(label)
            for axis, k in zip(axes[0], chosen, strict=True):
                axis.set_title(f"{walk.times[k]:.1f} s, {walk.true_range[k]:.1f} m")


def _image(axis: Any, picture: Any, w: Waveform) -> None:
    half = w.range_resolution / 4.0
    reach = w.max_speed
    top = len(picture) * 2.0 * half - half
    axis.imshow(
        picture**GAMMA, origin="lower", aspect="auto", cmap="inferno", vmin=0.0, vmax=1.0, interpolation="nearest",
        extent=(-reach, reach, -half, top),
    )  # fmt: skip
    axis.grid(visible=False)
    axis.set(xticks=(-2, 0, 2), yticks=(0, 2, 4, 6), xlim=(-reach, reach), ylim=(-half, top))
    axis.tick_params(labelsize=7)


def plot_truth(walks: list[WalkRecord], path: Path) -> None:
    title = "The strongest detection and its track (real preset) against the torso's surface"
    with _figure(path, (3.4 * max(len(walks), 2), 7.0), title) as figure:
        axes = figure.subplots(3, len(walks), sharex="col", sharey="row", squeeze=False)
        for column, walk in zip(axes.T, walks, strict=True):
            found, moving = walk.found["real"], walk.moving
            t = walk.times[moving]
            for axis, true, seen, track in (
                (column[0], walk.true_range, found.range, found.track_range),
                (column[1], walk.true_speed, found.speed, found.track_speed),
            ):
                axis.plot(t, true[moving], color=INK, lw=1.2, label="truth")
                axis.plot(t, seen[moving], "o", color=REAL, ms=3, label="strongest detection")
                axis.plot(t, track[moving], color=TRACK, lw=1.0, label="track")
            column[2].plot(t, walk.ncc[moving], color=IDEAL, label="NCC ideal / real")
            column[2].plot(t, walk.ncc_mti[moving], "--", color=IDEAL, label="the same, moving only")
            column[2].set(xlabel="time [s]", ylim=(-0.05, 1.05))
            column[0].set_title(f"{walk.walk.name.split(' at')[0]}, {walk.walk.speed:g} m/s")
        for axis, label in zip(axes[:, 0], ("range [m]", "speed [m/s]", "NCC, eq. 8"), strict=True):
            axis.set_ylabel(label)
        handles = [h for axis in (axes[0, 0], axes[2, 0]) for h in axis.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)


def plot_gait(gait: GaitRecord, path: Path) -> None:
    with _figure(
        path,
        (11.0, 5.0),
        "Micro-Doppler of a person walking away at 1 m/s, back-to-back bursts; feet beyond 3.15 m/s fold",
    ) as figure:
        axis = figure.subplots()
        brightest = float(gait.decibel.max())
        # columns are not evenly spaced: there are none across the gap between two bursts
        image = axis.pcolormesh(
            gait.times, gait.speeds, gait.decibel - brightest, cmap="inferno", vmin=-SHOWN_DB, vmax=0.0,
            shading="nearest", rasterized=True,
        )  # fmt: skip
        axis.plot(gait.times, gait.true_speed, color="#7fe3ff", lw=1.2, label="torso, true")
        axis.plot(gait.times, gait.true_fastest, ":", color="white", lw=1.1, label="fastest part of the body, true")
        reach = gait.max_speed
        axis.set(xlabel="time [s]", ylabel="speed away from the radar [m/s]", ylim=(-reach, reach))
        axis.grid(visible=False)
        axis.legend(loc=(0.68, 0.22), fontsize=8, labelcolor="white", facecolor="#333333", framealpha=0.7)
        figure.colorbar(image, label="dB below the brightest")


def plot_noise(noise: NoiseCurve, path: Path) -> None:
    panels = (
        ("range", 1.0, "m", (0,)),
        ("speed", 1.0, "m/s", (1,)),
        ("azimuth and elevation", 180.0 / np.pi, "°", (2, 3)),
    )
    title = "One point target in white noise: RMS errors and the Cramér-Rao bound; grey: not always found"
    with _figure(path, (11.5, 4.0), title) as figure:
        for axis, (name, scale, unit, columns) in zip(figure.subplots(1, 3), panels, strict=True):
            for column, colour in zip(columns, (REAL, IDEAL), strict=False):
                label = "measured" if len(columns) == 1 else ("azimuth", "elevation")[column - 2]
                axis.plot(noise.snr_db, scale * noise.bound[:, column], "--", color=INK, lw=1.0)
                axis.plot(noise.snr_db, scale * noise.rmse[:, column], "o-", color=colour, ms=4, lw=1.0, label=label)
            axis.plot([], [], "--", color=INK, label="bound")
            axis.set(yscale="log", xlabel="SNR of one sample [dB]", ylabel=f"RMS error [{unit}]", title=name)
            for snr, share in zip(noise.snr_db, noise.found, strict=True):
                if share < 1.0:
                    axis.axvspan(snr - 2.5, snr + 2.5, color="#e9ecef")
            axis.legend(frameon=False)


def plot_pairs(pairs: list[Pairs], path: Path) -> None:
    """The recorded bursts above their simulated partners."""
    w = radars()["ideal"].waveform
    title = "Recorded (above) and simulated, ideal (below); range [m] over speed [m/s]; brightness is amplitude^0.4"
    with _figure(path, (13.0, 0.8 + 3.4 * len(pairs)), title) as figure:
        parts: Any = figure.subfigures(len(pairs), 1, squeeze=False)[:, 0]
        for part, pair in zip(parts, pairs, strict=True):
            order = np.argsort(pair.range)
            chosen = order[np.linspace(0, len(order) - 1, min(SHOWN, len(order))).round().astype(int)]
            part.suptitle(f"{pair.name}: mean NCC {pair.ncc['ideal'].mean():.2f}", fontsize=10, color=INK)
            axes = part.subplots(2, len(chosen), sharex=True, sharey=True, squeeze=False)
            for column, k in zip(axes.T, chosen, strict=True):
                _image(column[0], paper_image(pair.recorded[k], w), w)
                _image(column[1], paper_image(pair.simulated.scans["ideal"][pair.partner[k]], w), w)
                column[0].set_title(f"{pair.range[k]:.1f} m, NCC {pair.ncc['ideal'][k]:.2f}")
