"""A voxel map beside the world it is of, from above, as in Figs 11 to 14 of e2es."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skyloop.navigation.mapping.counting import FREE, OCCUPIED
from skyloop.recording.flight_plot import STYLE
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
    high = low + voxels.resolution * np.array([np.ptp(x) + 1, np.ptp(y) + 1])
    top = float(voxels.origin[2]) + voxels.resolution * truth.shape[2]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(13.0, 6.0), layout="constrained", sharey=True)
        for axis, cells, name in zip(axes, (truth, voxels.voxels == OCCUPIED), ("world", "map"), strict=True):
            heights = _heights(cells, voxels)[box]
            axis.set_facecolor("0.8")
            extent = (low[0], high[0], low[1], high[1])
            axis.imshow(np.where(known[box], 1.0, np.nan).T, origin="lower", extent=extent, cmap="gray", vmin=0, vmax=1)
            shown = axis.imshow(
                heights.T, origin="lower", extent=extent, cmap="viridis", vmin=voxels.origin[2], vmax=top,
                interpolation="nearest",
            )  # fmt: skip
            axis.grid(False)
            axis.set(title=name, xlabel="east [m]")
        axes[0].set_ylabel("north [m]")
        figure.colorbar(shown, ax=axes, label="highest occupied voxel [m]", shrink=0.8)
        figure.suptitle(f"{title}; grey: not seen", x=0.01, ha="left", fontweight="bold")
        figure.savefig(path, dpi=100)
        plt.close(figure)


def _heights(cells: NDArray[np.bool_], voxels: VoxelMap) -> NDArray[np.float64]:
    """(nx, ny) m of the upper face of the highest occupied voxel; NaN where there is none."""
    highest = cells.shape[2] - np.argmax(cells[:, :, ::-1], axis=2)
    return np.where(cells.any(axis=2), voxels.origin[2] + voxels.resolution * highest, np.nan)
