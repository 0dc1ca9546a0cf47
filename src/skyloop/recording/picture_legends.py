"""Legends for the overview of a run's pictures: what the colours of each row mean, in a strip below it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.radar_pictures import SHOWN_DB, Picture
from skyloop_client.messages import Array
from skyloop_client.streams import StreamInfo

DEPTH_RANGE = (0.3, 60.0)
"""m, the nearest and the farthest depth that is distinguished."""
LIDAR_HEIGHT = (-8.0, 8.0)
"""m below and above the sensor."""


def depth_picture(depth: NDArray[np.floating]) -> Picture:
    """Near is red, far is blue, on a logarithmic scale. Black means no value."""
    import matplotlib

    nearest, farthest = DEPTH_RANGE
    known = np.isfinite(depth) & (depth > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(farthest / depth) / np.log(farthest / nearest)
    colours = matplotlib.colormaps["turbo"](np.clip(np.where(known, share, 0.0), 0.0, 1.0), bytes=True)[..., :3]
    return np.where(known[..., None], colours, 0).astype(np.uint8)


def id_picture(numbers: NDArray[np.integer]) -> Picture:
    """A colour for each number, black for 0."""
    n = numbers.astype(np.uint64)
    mixed = (n * 2654435761) & 0xFFFFFF
    colours = np.stack([64 + (mixed >> shift & 0xFF) * 3 // 4 for shift in (0, 8, 16)], axis=-1)
    return np.where((numbers > 0)[..., None], colours, 0).astype(np.uint8)


def height_colours(heights: NDArray[np.floating]) -> Picture:
    """(n, 3), from dark for low to light for high."""
    import matplotlib

    low, high = LIDAR_HEIGHT
    share = np.clip((heights - low) / (high - low), 0.0, 1.0)
    return np.asarray(matplotlib.colormaps["viridis"](share, bytes=True)[:, :3], np.uint8)


def value_range(values: NDArray[np.floating]) -> tuple[float, float]:
    """Round numbers (1, 2 or 5 with zeros) that enclose the values; 0 is one of them or lies between."""
    known = values[np.isfinite(values)]
    least, most = (min(float(known.min()), 0.0), max(float(known.max()), 0.0)) if len(known) else (0.0, 0.0)
    low, high = 0.0 - _rounded_up(-least), _rounded_up(most)
    return (low, high) if low < high else (0.0, 1.0)


def _rounded_up(value: float) -> float:
    if value <= 0.0:
        return 0.0
    ten = 10.0 ** np.floor(np.log10(value))
    return float(next(times * ten for times in (1.0, 2.0, 5.0, 10.0) if value <= times * ten * (1.0 + 1e-6)))


def value_colours(values: NDArray[np.floating], bounds: tuple[float, float]) -> Picture:
    """(n, 3), from red for the lower bound to blue for the upper one; grey is no number."""
    import matplotlib

    low, high = bounds
    known = np.isfinite(values)
    share = np.clip((np.where(known, values, low) - low) / (high - low), 0.0, 1.0)
    colours = matplotlib.colormaps["turbo_r"](0.08 + 0.84 * share, bytes=True)[..., :3]
    return np.where(known[..., None], colours, 128).astype(np.uint8)


HEIGHT = 18
"""px of the strip."""
BAR = 200
"""px of a colour scale."""
WORDS = {
    "normals": "red, green, blue: x, y and z of the surface's normal; grey is 0",
    "instances": "a colour for each object; black: none",
    "materials": "a colour for each material; black: none",
    "RadarScan": "volts, a block per antenna; right: samples, down: chirps; red positive, blue negative",
    "RangeDopplerImage": f"range over speed, receding to the right; brightest to black: {SHOWN_DB:g} dB",
    "RadarDetections": "from above, forward is up, m; red recedes, blue approaches; boxes are tracks",
    "GridMap": "from above, north is up; white free, black occupied, grey unknown",
    "VoxelMap": "from above, north is up; the fullest voxel of each column; white free, black occupied, grey unknown",
}
"""By the name of the record, or of the image for the truth of a camera."""
VALUES = (
    "from above, rings are 10 m apart; colour: the value of each point, such as m to the nearest obstacle; "
    "each picture has its scale"
)


def legend(
    info: StreamInfo, suffix: str, shown: Sequence[Picture], width: int, *, by_value: bool = False
) -> Picture | None:
    """The strip for the pictures of a stream, or None where nothing needs to be explained, as for photographs.

    by_value: its points are coloured by their values."""
    kind = suffix.strip("/") or info.message
    if kind in ("depth", "DepthImage"):
        return _scale(depth_picture(_logarithmic(BAR)[None]), _depth_ticks(), "m, logarithmic; black: no value", width)
    if kind == "PointCloud" and by_value:
        return _strip([], VALUES, width)
    if kind in ("LidarScan", "PointCloud"):
        low, high = LIDAR_HEIGHT
        bar = height_colours(np.linspace(low, high, BAR))[None]
        about = "sensor" if kind == "LidarScan" else "middle of the points"
        ticks = [(0.0, f"{low:g}"), (-low / (high - low), "0"), (1.0, f"+{high:g}")]
        return _scale(bar, ticks, f"m above the {about}; from above, forward is up, rings are 10 m apart", width)
    if kind == "classes":
        return _swatches(info.details.get("classes") or (), shown, width)
    return _strip([], WORDS[kind], width) if kind in WORDS else None


def _logarithmic(n: int) -> Array:
    nearest, farthest = DEPTH_RANGE
    return nearest * (farthest / nearest) ** np.linspace(0.0, 1.0, n)


def _depth_ticks() -> list[tuple[float, str]]:
    nearest, farthest = DEPTH_RANGE
    return [
        (float(np.log(m / nearest) / np.log(farthest / nearest)), f"{m:g}") for m in (nearest, 1, 3, 10, 30, farthest)
    ]


def _scale(bar: Picture, ticks: list[tuple[float, str]], words: str, width: int) -> Picture:
    """A colour scale with its numbers on it, then words."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (BAR, HEIGHT))
    picture.paste(Image.fromarray(np.repeat(bar, HEIGHT - 4, axis=0)), (0, 2))
    draw = ImageDraw.Draw(picture)
    for share, text in ticks:
        anchor = "lm" if share == 0.0 else "rm" if share == 1.0 else "mm"
        at = (2 + share * (BAR - 4), HEIGHT / 2)
        draw.text(at, text, fill="white", stroke_width=1, stroke_fill="black", anchor=anchor)
    return _strip([(np.asarray(picture), "")], words, width)


def with_scale(picture: Picture, bounds: tuple[float, float]) -> Picture:
    """A picture with a colour scale from one value to another in its lower left corner."""
    from PIL import Image, ImageDraw

    # large, because the overview shows pictures smaller than they are
    bar_px, tall_px, edge_px = 150, 14, 10
    image = Image.fromarray(picture)
    bar = value_colours(np.linspace(*bounds, bar_px), bounds)[None].repeat(tall_px, axis=0)
    top = image.height - edge_px - tall_px
    image.paste(Image.fromarray(bar), (edge_px, top))
    draw = ImageDraw.Draw(image)
    for share, anchor, value in ((0.0, "ls", bounds[0]), (1.0, "rs", bounds[1])):
        draw.text((edge_px + share * bar_px, top - 4), f"{value:g}", "white", anchor=anchor, font_size=18)
    return np.asarray(image)


def _swatches(names: Sequence[str], shown: Sequence[Picture], width: int) -> Picture:
    """The classes that occur in the pictures, by how much of them they cover."""
    colours = id_picture(np.arange(len(names)))
    flat = np.concatenate([picture.reshape(-1, 3) for picture in shown]).astype(np.int64) @ (1 << 16, 1 << 8, 1)
    found, counts = np.unique(flat, return_counts=True)
    covered = dict(zip(found.tolist(), counts.tolist(), strict=True))
    seen = [
        (covered.get(int(colour.astype(np.int64) @ (1 << 16, 1 << 8, 1)), 0), k) for k, colour in enumerate(colours)
    ]
    most_first = sorted((pair for pair in seen if pair[0]), key=lambda pair: (-pair[0], pair[1]))
    swatches = [(np.tile(colours[k], (10, 10, 1)), names[k]) for _, k in most_first]
    return _strip(swatches, "", width)


def _strip(parts: Sequence[tuple[Picture, str]], words: str, width: int) -> Picture:
    """Little pictures with their words, from left to right as far as the width goes."""
    from PIL import Image, ImageDraw

    strip = Image.new("RGB", (width, HEIGHT), (40, 40, 40))
    draw, x = ImageDraw.Draw(strip), 6
    for picture, text in [*parts, (np.zeros((0, 0, 3), np.uint8), words)]:
        end = x + picture.shape[1] + 5 + round(draw.textlength(text)) + 12
        if end > width:
            draw.text((x, HEIGHT / 2), "...", fill="white", anchor="lm")
            break
        if picture.size:
            strip.paste(Image.fromarray(picture), (x, (HEIGHT - len(picture)) // 2))
        draw.text((x + picture.shape[1] + (5 if picture.size else 0), HEIGHT / 2), text, fill="white", anchor="lm")
        x = end
    return np.asarray(strip)
