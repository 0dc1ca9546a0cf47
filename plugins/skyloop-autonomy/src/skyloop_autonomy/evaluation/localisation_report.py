"""`skyloop localise`: runs localisation on a dataset, scores it, and writes its track and pictures."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.files import write_whole
from skyloop.recording.run_folder import make_empty_folder, plain
from skyloop_autonomy.evaluation.localisation_pictures import draw_all, draw_features
from skyloop_autonomy.evaluation.localisation_scores import scores, write_tracks
from skyloop_autonomy.evaluation.localising import Localised, localise, open_source
from skyloop_autonomy.evaluation.trajectory_error import Alignment
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Array, Message
from skyloop_client.streams import NS_PER_S

SHOWN_EVERY_S = 5.0
"""Of simulated time, between images kept for the picture of features."""
TRAIL = 8
"""Images over which the way of a corner is drawn."""


@dataclass(frozen=True)
class LocaliseOptions:
    """The options of `skyloop localise`."""

    align: Alignment = "se3"
    step: float = 1.0
    """m of a relative error."""
    vehicle: str | None = None
    left: str | None = None
    right: str | None = None
    depth: str | None = None
    imu: str | None = None
    settings: VioSettings | None = None

    def __post_init__(self) -> None:
        if not 0.01 <= self.step <= 1e4:
            raise DatasetError(f"--step {self.step:g}: give 0.01 to 10000 m")


class FeatureViews:
    """Keeps a left image with its tracked corners now and then."""

    def __init__(self, left: str) -> None:
        self._left = left
        self._due_ns = 0
        self._image: Any = None
        self._past: deque[dict[int, Array]] = deque(maxlen=TRAIL)
        self.kept: list[tuple[Any, Array, Array]] = []

    def watch(self, message: Message, localiser: VisualLocaliser) -> None:
        """The odometry uses an image when the IMU has reached its stamp: when the next image comes, it has.

        While the right camera leads, the corners are not those of the left image."""
        if message.stream != self._left or localiser.odometry.eyes.swapped:
            return
        corners = localiser.corners
        if self._image is not None and corners and message.t_ns >= self._due_ns:
            self._due_ns = message.t_ns + round(SHOWN_EVERY_S * NS_PER_S)
            oldest = [next((seen[one] for seen in self._past if one in seen), place) for one, place in corners.items()]
            self.kept.append((self._image.copy(), np.array(list(corners.values())), np.array(oldest)))
        self._past.append(corners)
        self._image = message.data.grey

    @property
    def middle(self) -> tuple[Any, Array, Array] | None:
        return self.kept[len(self.kept) // 2] if self.kept else None


def localise_folder(folder: Path, out: Path, options: LocaliseOptions) -> dict[str, Any]:
    """Everything of one dataset into `out`. Returns the summary that is also in summary.json."""
    source = open_source(
        folder, options.vehicle, left=options.left, right=options.right, depth=options.depth, imu=options.imu
    )
    make_empty_folder(out)
    views = FeatureViews(source.streams.left)
    localised = localise(source, source.messages(), settings=options.settings, watch=views.watch)
    summary = {
        "dataset": str(folder),
        **{name: getattr(source.streams, name) for name in ("left", "right", "depth", "imu")},
        **scores(localised, options.align, options.step),
        "folder": str(out),
    }
    write_all(out, localised, folder.resolve().name, options.align)
    if views.middle is not None:
        draw_features(out / "features.png", *views.middle)
    write_whole(out / "summary.json", json.dumps(plain(summary), indent=1) + "\n")
    return summary


def write_all(out: Path, localised: Localised, title: str, align: Alignment = "se3") -> None:
    """The tracks as TUM, and the pictures."""
    write_tracks(out, localised)
    draw_all(out, localised, title, align)
