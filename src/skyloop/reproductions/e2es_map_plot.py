"""A voxel map beside the world it is of, from above, as in Figs 11 to 14 of e2es."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.flight_plot import STYLE
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_client.messages import VoxelMap


def draw_map(path: Path, title: str, voxels: VoxelMap, truth: NDArray[np.bool_]) -> None:
    """Left the true occupancy, right the map, both coloured by the height of the highest occupied voxel."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    seen = (voxels.voxels == OCCUPIED) | (voxels.voxels == FREE)
    known = seen.any(axis=2)
    x, y = np.nonzero(known) if known.any() else (np.array([0]), np.array([0]))
    box = slice(x.min(), x.max() + 1), slice(y.min(), y.max() + 1)
    low = np.asarray(voxels.origin)[:2] + voxels.resolution * np.array([x.min(), y.min()])
    width, depth = voxels.resolution * np.array([np.ptp(x) + 1, np.ptp(y) + 1])
    extent = (low[0], low[0] + width, low[1], low[1] + depth)
    shown = {
        "world": _heights(truth, voxels)[box],
        "map": np.where(known, _heights(voxels.voxels == OCCUPIED, voxels), np.nan)[box],
    }
    heights = np.concatenate([panel[np.isfinite(panel)] for panel in shown.values()])
    limits = (heights.min(), heights.max()) if heights.size else (0.0, 1.0)
    # a long world is drawn above its map, others beside it
    rows = 2 if width > 1.6 * depth else 1
    size = (11.0, 2.0 + 20.0 * depth / width) if rows == 2 else (12.0, 1.6 + 5.0 * depth / width)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(rows, 3 - rows, figsize=size, layout="constrained", sharex=True, sharey=True)
        for axis, (name, panel) in zip(axes, shown.items(), strict=True):
            axis.set_facecolor("0.8")
            seen_there = np.where(known[box], 1.0, np.nan) if name == "map" else np.ones(panel.shape)
            axis.imshow(seen_there.T, origin="lower", extent=extent, cmap="gray", vmin=0, vmax=1)
            image = axis.imshow(
                panel.T, origin="lower", extent=extent, cmap="viridis", vmin=limits[0], vmax=limits[1],
                interpolation="nearest",
            )  # fmt: skip
            axis.grid(False)
            axis.set(title=name, ylabel="north [m]")
        axes[-1].set_xlabel("east [m]")
        figure.colorbar(image, ax=axes, label="highest occupied voxel [m]", shrink=0.9)
        figure.suptitle(f"{title}; grey: not seen", x=0.01, ha="left", fontweight="bold")
        figure.savefig(path, dpi=100)
        plt.close(figure)


def _heights(cells: NDArray[np.bool_], voxels: VoxelMap) -> NDArray[np.float64]:
    """(nx, ny) m of the upper face of the highest occupied voxel; NaN where there is none."""
    highest = cells.shape[2] - np.argmax(cells[:, :, ::-1], axis=2)
    return np.where(cells.any(axis=2), voxels.origin[2] + voxels.resolution * highest, np.nan)
