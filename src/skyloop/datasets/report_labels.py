"""The report's section on labels: number, size, distance and occlusion for each class."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skyloop.datasets.report_html import class_colours, key_of, plot, section, table
from skyloop_client.messages import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Found = tuple[tuple[str, int], Label]
"""A label with the stream and the stamp of its image."""
LEAST_SHARE = 0.0005
"""Share of the pixels from which a class is named."""
HEAD = (
    "class", "labels", "things", "images", "median width, px", "median height, px", "median distance, m",
    "over half hidden", "cut by the edge",
)  # fmt: skip


def labels_section(found: list[Found], pixels: NDArray[np.int64], classes: list[str]) -> str:
    """`pixels` are those of each semantic class in all images. Empty if there was no truth."""
    parts = []
    if found:
        colours = class_colours(label.class_name for _, label in found)
        kinds = {name: [each for each in found if each[1].class_name == name] for name in colours}
        parts += [
            table(HEAD, [_class_row(name, each) for name, each in kinds.items()]),
            plot(lambda *axes: _draw(axes, kinds, colours), columns=3, size=(10.6, 2.8)),
            key_of(colours),
        ]
    elif pixels.any():
        parts.append("<p>No labelled things.</p>")
    else:
        return ""
    total = int(pixels.sum())
    if total:
        shares = [
            f"{classes[k] if k < len(classes) else k} {pixels[k] / total:.1%}"
            for k in np.argsort(-pixels, kind="stable").tolist()
            if pixels[k] > LEAST_SHARE * total
        ]
        parts.append(f"<p>Pixels by class: {html.escape(', '.join(shares))}.</p>")
    return section("Labels", "\n".join(parts))


def _class_row(name: str, found: list[Found]) -> tuple[object, ...]:
    boxes = np.array([label.box_px for _, label in found])
    return (
        name,
        len(found),
        len({label.instance for _, label in found}),
        len({image for image, _ in found}),
        float(np.median(boxes[:, 2] - boxes[:, 0] + 1)),
        float(np.median(boxes[:, 3] - boxes[:, 1] + 1)),
        round(float(np.median([label.distance for _, label in found])), 1),
        sum(label.occlusion > 0.5 for _, label in found),
        sum(label.truncation > 0.0 for _, label in found),
    )


def _draw(axes: tuple[Axes, ...], kinds: dict[str, list[Found]], colours: dict[str, str]) -> None:
    from matplotlib.ticker import MaxNLocator

    sizes, occlusions, distances = axes
    labels = [[label for _, label in found] for found in kinds.values()]
    for each, colour in zip(labels, colours.values(), strict=True):
        boxes = np.array([label.box_px for label in each])
        sizes.plot(boxes[:, 2] - boxes[:, 0] + 1, boxes[:, 3] - boxes[:, 1] + 1, ".", color=colour, ms=4, alpha=0.6)
    stack: dict[str, Any] = {"stacked": True, "color": list(colours.values()), "rwidth": 0.9}
    occlusions.hist(
        [[label.occlusion for label in each] for each in labels], bins=np.linspace(0, 1, 11).tolist(), **stack
    )
    farthest = max(label.distance for each in labels for label in each)
    distances.hist(
        [[label.distance for label in each] for each in labels], bins=np.linspace(0, farthest, 13).tolist(), **stack
    )
    sizes.set(title="box sizes", xlabel="width, px", ylabel="height, px")
    # a small margin, so that the largest box is not on the frame
    sizes.set(xlim=(0, 1.08 * sizes.get_xlim()[1]), ylim=(0, 1.08 * sizes.get_ylim()[1]))
    occlusions.set(title="occlusion", xlabel="share hidden", ylabel="labels", xlim=(0, 1))
    distances.set(title="distance", xlabel="m", ylabel="labels", xlim=(0, None))
    for axis in (sizes.xaxis, sizes.yaxis, occlusions.yaxis, distances.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
