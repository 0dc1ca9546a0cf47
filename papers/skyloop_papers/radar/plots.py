"""The pictures of `skyloop reproduce radar`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sensors.radar.processing import paper_image
from skyloop.sensors.radar.processing.spectra import speed_cell
from skyloop_papers.plots import INK, figure
from skyloop_papers.radar.antennas import AntennaCheck
from skyloop_papers.radar.noise import NoiseCurve
from skyloop_papers.radar.recording import Pairs
from skyloop_papers.radar.walks import GaitRecord, WalkRecord, radars

IDEAL, REAL, TRACK = "#1f77b4", "#d1495b", "#2a9d5c"
ANTENNA_COLOURS = ("#d1495b", "#e08e1b", "#1f77b4")
SHOWN = 8
"""Number of frames in a strip."""
GAP = 3
"""Cells between two images of a sheet."""
AXES = "range up, 0 to 6.75 m; speed across, ±3.15 m/s; brightness is amplitude$^{0.4}$"
GAMMA = 0.4
"""Makes echoes visible that are faint beside the leakage."""
SHOWN_DB = 50.0
"""Range of the spectrogram in dB below its maximum."""


def plot_antennas(checks: list[AntennaCheck], path: Path) -> None:
    with figure(
        path, (11.0, 6.6), "Figs 12 and 13: a person to one side, and the IF signals of one chirp", dpi=80
    ) as drawn:
        axes = drawn.subplots(len(checks), 2, width_ratios=(1, 1.7))
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
            right.legend(ncols=3, loc="upper right", borderaxespad=0.1)


def plot_strips(walks: list[WalkRecord], path: Path) -> None:
    """36 x 64 images of some frames: the ideal radar, the real one, and the real one without static echoes."""
    w = radars()["ideal"].waveform
    kinds = {"ideal": ("ideal", False), "real": ("real", False), "real,\nmoving\nonly": ("real", True)}
    title = f"Figs 15 and 16: {AXES}; ring: the true torso"
    with figure(path, (12.0, 5.3 * len(walks)), title, dpi=80) as drawn:
        for axis, walk in zip(drawn.subplots(len(walks), squeeze=False)[:, 0], walks, strict=True):
            chosen = _some(np.flatnonzero(walk.moving))
            rows = [[paper_image(walk.scans[name][k], w, mti=mti) for k in chosen] for name, mti in kinds.values()]
            # speed and range from the beat frequencies, in cells
            beats = walk.true_range + w.range_shift(1.0) * walk.true_speed
            rings = [(walk.true_speed[k] / speed_cell(w), 2.0 * beats[k] / w.range_resolution) for k in chosen]
            titles = [f"{walk.times[k]:.1f} s\n{walk.true_range[k]:.1f} m" for k in chosen]
            _mosaic(axis, rows, titles, list(kinds), rings)
            axis.set_title(f"{walk.walk.name}, {walk.walk.speed:g} m/s", pad=32.0)


def _some(order: Any) -> Any:
    return order[np.linspace(0, len(order) - 1, min(SHOWN, len(order))).round().astype(int)]


def _mosaic(axis: Any, rows: list[list[Any]], titles: list[str], labels: list[str], rings: Any = ()) -> None:
    """Images side by side in one, which is drawn many times faster than one axis for each."""
    height, width = rows[0][0].shape
    step, rise = width + GAP, height + GAP
    sheet = np.full((len(rows) * rise - GAP, len(rows[0]) * step - GAP), np.nan)
    for i, row in enumerate(reversed(rows)):
        for j, picture in enumerate(row):
            sheet[i * rise : i * rise + height, j * step : j * step + width] = picture**GAMMA
        for j, (across, up) in enumerate(rings):
            if up <= height:
                axis.plot(j * step + width // 2 + across, i * rise + up, "o", ms=11, mfc="none", mec="white", mew=0.9)
    axis.imshow(sheet, origin="lower", aspect="auto", cmap="inferno", vmin=0.0, vmax=1.0, interpolation="nearest")
    axis.grid(visible=False)
    axis.set_xticks(np.arange(len(titles)) * step + width // 2, titles)
    axis.set_yticks((len(labels) - 1 - np.arange(len(labels))) * rise + height // 2, labels)
    axis.tick_params(length=0, labeltop=True, labelbottom=False)
    axis.spines[:].set_visible(False)


def plot_truth(walks: list[WalkRecord], path: Path) -> None:
    title = "The strongest detection and its track (real preset) against the torso's surface"
    with figure(path, (3.4 * max(len(walks), 2), 7.0), title, dpi=80) as drawn:
        axes = drawn.subplots(3, len(walks), sharex="col", sharey="row", squeeze=False)
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
            column[2].plot(t, walk.ncc[moving], color=IDEAL, label="NCC ideal / disturbed (leakage -90 dB)")
            column[2].plot(t, walk.ncc_mti[moving], "--", color=IDEAL, label="the same, moving only")
            column[2].set(xlabel="time [s]", ylim=(-0.05, 1.05))
            column[0].set_title(f"{walk.walk.name.split(' at')[0]}, {walk.walk.speed:g} m/s")
        for axis, label in zip(axes[:, 0], ("range [m]", "speed [m/s]", "NCC, eq. 8"), strict=True):
            axis.set_ylabel(label)
        handles = [h for axis in (axes[0, 0], axes[2, 0]) for h in axis.get_legend_handles_labels()[0]]
        drawn.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def plot_gait(gait: GaitRecord, path: Path) -> None:
    title = "Micro-Doppler of a person walking away at 1 m/s, back-to-back bursts; what is faster than 3.15 m/s folds"
    with figure(path, (11.0, 5.0), title, dpi=80) as drawn:
        axis = drawn.subplots()
        brightest = float(gait.decibel.max())
        # columns are not evenly spaced: there are none in the gap between two bursts
        image = axis.pcolormesh(
            gait.times, gait.speeds, gait.decibel - brightest, cmap="inferno", vmin=-SHOWN_DB, vmax=0.0,
            shading="nearest", rasterized=True,
        )  # fmt: skip
        axis.plot(gait.times, gait.true_speed, color="#7fe3ff", lw=1.2, label="torso, true")
        axis.plot(gait.times, gait.true_fastest, ":", color="white", lw=1.1, label="fastest part of the body, true")
        axis.set(xlabel="time [s]", ylabel="speed away from the radar [m/s]", ylim=gait.speeds[[0, -1]])
        axis.grid(visible=False)
        axis.legend(loc=(0.68, 0.22), fontsize=8, labelcolor="white", frameon=True, facecolor="#333333", framealpha=0.7)
        drawn.colorbar(image, label="dB below the brightest")


def plot_noise(noise: NoiseCurve, path: Path) -> None:
    panels = (
        ("range", 1.0, "m", (0,)),
        ("speed", 1.0, "m/s", (1,)),
        ("azimuth and elevation", 180.0 / np.pi, "°", (2, 3)),
    )
    title = "One point target in white noise: RMS errors and the Cramér-Rao bound; grey: not always found"
    with figure(path, (11.5, 4.0), title, dpi=80) as drawn:
        for axis, (name, scale, unit, columns) in zip(drawn.subplots(1, 3), panels, strict=True):
            for column, colour in zip(columns, (REAL, IDEAL), strict=False):
                label = "measured" if len(columns) == 1 else ("azimuth", "elevation")[column - 2]
                axis.plot(noise.snr_db, scale * noise.bound[:, column], "--", color=INK, lw=1.0)
                axis.plot(noise.snr_db, scale * noise.rmse[:, column], "o-", color=colour, ms=4, lw=1.0, label=label)
            axis.plot([], [], "--", color=INK, label="bound")
            axis.set(yscale="log", xlabel="SNR of one sample [dB]", ylabel=f"RMS error [{unit}]", title=name)
            for snr, share in zip(noise.snr_db, noise.found, strict=True):
                if share < 1.0:
                    axis.axvspan(snr - 2.5, snr + 2.5, color="#e9ecef")
            axis.legend()


def plot_pairs(pairs: list[Pairs], path: Path) -> None:
    """The recorded bursts above their simulated counterparts."""
    w = radars()["ideal"].waveform
    with figure(path, (12.0, 0.8 + 3.6 * len(pairs)), f"Recorded and simulated: {AXES}", dpi=80) as drawn:
        for axis, pair in zip(drawn.subplots(len(pairs), squeeze=False)[:, 0], pairs, strict=True):
            chosen = _some(np.argsort(pair.range))
            recorded = [paper_image(pair.recorded[k], w) for k in chosen]
            simulated = [
                [paper_image(pair.simulated.scans[name][pair.partner[k]], w) for k in chosen]
                for name in ("ideal", "real")
            ]
            titles = [f"{pair.range[k]:.1f} m\nNCC {pair.ncc['ideal'][k]:.2f}" for k in chosen]
            _mosaic(axis, [recorded, *simulated], titles, ["recorded", "ideal", "real\npreset"])
            axis.set_title(f"{pair.name}: mean NCC with the ideal preset {pair.ncc['ideal'].mean():.2f}", pad=32.0)
