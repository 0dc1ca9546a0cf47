"""Pictures of many landings: starts and tracks as in Fig. 4, and where they ended."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from skyloop.world.scenery.landing_marker import LandingMarker

matplotlib.use("Agg")
Run = dict[str, Any]
GOOD, BAD, DARK = "#1f77b4", "#d1495b", "#30343a"


def draw_starts(runs: list[Run], path: Path) -> None:
    """Starts and tracks in space and from above, in the axes of the marker."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    above = figure.add_subplot(1, 2, 2)
    for run in runs:
        track = np.array(run["track"])
        colour = BAD if "failed" in run else GOOD
        space.plot(*track[:, 1:4].T, color=colour, linewidth=0.5, alpha=0.5)
        above.plot(track[:, 1], track[:, 2], color=colour, linewidth=0.5, alpha=0.5)
    starts = np.array([run["start"][:3] for run in runs])
    space.scatter(*starts.T, s=8, color=DARK)
    above.scatter(starts[:, 0], starts[:, 1], s=8, color=DARK, label="starts", zorder=3)
    above.scatter([0.0], [0.0], s=60, marker="x", color=BAD, label="marker", zorder=4)
    space.set(xlabel="x [m]", ylabel="y [m]", zlabel="height [m]", title="starts and tracks")
    above.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal")
    above.grid(alpha=0.3)
    above.legend(loc="upper right")
    figure.savefig(path, dpi=110)


def draw_failures(pictures: list[Path], path: Path) -> None:
    """What the detector saw last in some of the landings that failed, one below the other; nothing if none did."""
    from PIL import Image

    shown = [Image.open(picture).convert("RGB") for picture in pictures] or [Image.new("RGB", (640, 20), "white")]
    sheet = Image.new("RGB", (max(image.width for image in shown), sum(image.height for image in shown)), "white")
    top = 0
    for image in shown:
        sheet.paste(image, (0, top))
        top += image.height
    sheet.save(path, quality=85)


def draw_errors(by_board: dict[str, list[Run]], path: Path) -> None:
    """Where the vehicles stood at the end, over the marker, and their headings; one column for each board."""
    figure = Figure(figsize=(3.2 * len(by_board), 6), layout="constrained")
    axes = figure.subplots(2, len(by_board), squeeze=False)
    marker, turn = LandingMarker(), np.linspace(0.0, 2.0 * math.pi, 100)
    for column, (board, runs) in enumerate(by_board.items()):
        good = [run for run in runs if "failed" not in run]
        where, heading = axes[0, column], axes[1, column]
        for radius in (marker.ring_inner_radius, marker.ring_outer_radius):
            where.plot(radius * np.cos(turn), radius * np.sin(turn), color=DARK, linewidth=0.8)
        where.scatter([run["x"] for run in good], [run["y"] for run in good], s=10, color=GOOD)
        where.set(title=f"{board}: {len(good)} of {len(runs)}", aspect="equal", xlabel="x [m]")
        where.grid(alpha=0.3)
        heading.hist([math.degrees(run["heading"]) for run in good], bins=20, color=GOOD)
        heading.set(xlabel="heading error [°]")
        heading.grid(alpha=0.3)
    axes[0, 0].set_ylabel("y [m]")
    axes[1, 0].set_ylabel("landings")
    figure.savefig(path, dpi=110)
