"""Draws docs/images/room-map.png from a run of `skyloop run room-map`: python tools/map_picture.py RUN_FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from skyloop.recording.journal import read_group
from skyloop.world.world import WorldConfig, build_world
from skyloop_autonomy.evaluation.map_truth import true_voxels
from skyloop_autonomy.mapping import judge, projected
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_autonomy.mapping.distance_fields import signed_distance

OUT = Path(__file__).parents[1] / "docs" / "images" / "room-map.png"


def main(run: Path) -> None:
    messages = [message.data for message in read_group(run / "streams" / "drone" / "map" / "voxels.journal")]
    newest = messages[-1]
    rows = (run / "streams" / "truth" / "drone.csv").read_text(encoding="utf-8").splitlines()[1:]
    way = np.array([[float(x) for x in row.split(",")[3:5]] for row in rows])
    model = build_world(WorldConfig(name="room"), 1, None).model
    model.freeze()
    truth, unclear = true_voxels(model, None, newest.origin, newest.voxels.shape, newest.resolution)
    occupied, free = newest.voxels == OCCUPIED, newest.voxels == FREE
    score = judge(occupied, free, truth, newest.resolution, unclear)
    print(score)
    ground = projected(newest.voxels, newest.origin, newest.resolution)
    distance = np.where(ground.free, signed_distance(ground.occupied, ground.cell), np.nan)
    half = 0.5 * newest.resolution * newest.voxels.shape[0]
    extent = (-half, half, -half, half)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
    left.imshow(truth.any(axis=2).T, cmap="Greys", origin="lower", extent=extent)
    left.set_title("the room, true voxels from above")
    shades = np.full(ground.states.shape, 0.6)
    shades[ground.free], shades[ground.occupied] = 1.0, 0.0
    middle.imshow(shades.T, cmap="gray", vmin=0.0, vmax=1.0, origin="lower", extent=extent)
    middle.plot(way[:, 0], way[:, 1], color="tab:red", linewidth=1.0)
    middle.set_title(f"the map: white free, black occupied, grey unknown\nIoU over what was seen {score.iou:.3f}")
    shown = right.imshow(distance.T, cmap="viridis", origin="lower", extent=extent)
    right.set_title("distance to the nearest obstacle, m")
    figure.colorbar(shown, ax=right, shrink=0.8)
    for axes in (left, middle, right):
        axes.set_xlabel("east, m")
    left.set_ylabel("north, m")
    figure.savefig(OUT, dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
