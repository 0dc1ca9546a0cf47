"""Pictures of many landings: starts and tracks as in Fig. 4, and where they ended."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_papers.plots import figure
from skyloop_papers.runs import Run

LANDED, FAILED, DARK = "#1f77b4", "#d1495b", "#30343a"


def draw_starts(runs: list[Run], path: Path) -> None:
    """Starts and tracks in space and from above, in the axes of the marker."""
    with figure(path, (11, 5), dpi=110) as drawn:
        space = drawn.add_subplot(1, 2, 1, projection="3d")
        above = drawn.add_subplot(1, 2, 2)
        for run in runs:
            track = np.array(run["track"])
            colour = FAILED if "failed" in run else LANDED
            space.plot(*track[:, 1:4].T, color=colour, linewidth=0.5, alpha=0.5)
            above.plot(track[:, 1], track[:, 2], color=colour, linewidth=0.5, alpha=0.5)
        starts = np.array([run["start"][:3] for run in runs])
        space.scatter(*starts.T, s=8, color=DARK)
        above.scatter(starts[:, 0], starts[:, 1], s=8, color=DARK, label="starts", zorder=3)
        above.scatter([0.0], [0.0], s=60, marker="x", color=FAILED, label="marker", zorder=4)
        space.set(xlabel="x [m]", ylabel="y [m]", zlabel="height [m]", title="starts and tracks")
        above.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal")
        above.legend(loc="upper right", frameon=True)


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
    marker, turn = LandingMarker(), np.linspace(0.0, 2.0 * math.pi, 100)
    with figure(path, (3.2 * len(by_board), 6), dpi=110) as drawn:
        axes = drawn.subplots(2, len(by_board), squeeze=False)
        for (where, heading), (board, runs) in zip(axes.T, by_board.items(), strict=True):
            landed = [run for run in runs if "failed" not in run]
            for radius in (marker.ring_inner_radius, marker.ring_outer_radius):
                where.plot(radius * np.cos(turn), radius * np.sin(turn), color=DARK, linewidth=0.8)
            where.scatter([run["x"] for run in landed], [run["y"] for run in landed], s=10, color=LANDED)
            where.set(title=f"{board}: {len(landed)} of {len(runs)}", aspect="equal", xlabel="x [m]")
            heading.hist([math.degrees(run["heading"]) for run in landed], bins=20, color=LANDED)
            heading.set(xlabel="heading error [°]")
        axes[0, 0].set_ylabel("y [m]")
        axes[1, 0].set_ylabel("landings")
