"""Streams as pictures: images, depth and LiDAR as PNG, one per second, and an overview of them all."""

from __future__ import annotations

from collections import deque
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.bus import Bus
from skyloop.recording.flight_log import ThinnedList
from skyloop.recording.picture_legends import (
    LIDAR_HEIGHT,
    depth_picture,
    height_colours,
    id_picture,
    legend,
    value_colours,
    value_range,
    with_scale,
)
from skyloop.recording.radar_pictures import (
    Picture,
    Spectrogram,
    detections_picture,
    range_doppler_picture,
    volts_picture,
)
from skyloop.recording.run_folder import check_still_there, writing_into
from skyloop_client.errors import RunFolderError
from skyloop_client.messages import CameraImage, Detections, ImageTruth, Message, PointCloud, RangeDopplerImage
from skyloop_client.regular_files import checked
from skyloop_client.streams import NS_PER_S, StreamInfo

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

KEPT = 30
"""Images of a camera: a detector on a slow computer answers seconds later."""
SCALE = 2
"""Pixels of a picture per pixel of a small image, so that words fit beside boxes."""
SMALL_PX = 640
"""Columns: smaller images are enlarged."""
COLOURS = ("#ffd43b", "#4dabf7", "#ff8787", "#69db7c", "#da77f2", "#ffa94d", "#38d9a9", "#f783ac")
"""By number of the track; the first is also that of boxes without one."""
PREDICTED = "#ced4da"
"""Of a box without a score: a tracker expects somebody there, and no detector has found them."""
NEW = "#ffffff"
"""Of a box that a tracker does not believe in yet."""
LETTERS_PX = 13


class ImagesSeen:
    """The newest images of each camera, and boxes whose image is still to come."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[CameraImage]] = {}
        self._waiting: dict[str, dict[str, Message]] = {}
        """By camera, and by stream of boxes."""

    def add(self, stream: str, image: CameraImage) -> None:
        self._kept.setdefault(stream, deque(maxlen=KEPT)).append(image)

    def waiting(self, camera: str) -> list[Message]:
        """Boxes that came before their image; they are given once."""
        return list(self._waiting.pop(camera, {}).values())

    def picture(self, message: Message) -> NDArray[np.uint8] | None:
        """The image of the boxes' camera with the boxes; None if it is not known yet, or not any more."""
        found: Detections = message.data
        camera = f"{message.stream.partition('/')[0]}/{found.source}"
        for image in reversed(self._kept.get(camera, ())):
            if image.t_ns == found.t_ns:
                return boxes_picture(image.colour, found)
        self._waiting.setdefault(camera, {})[message.stream] = message
        return None


def boxes_picture(colour: NDArray[np.uint8], found: Detections) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    picture = Image.fromarray(colour).convert("RGB")
    scale = SCALE if picture.width < SMALL_PX else 1
    picture = picture.resize((scale * picture.width, scale * picture.height))
    pen = ImageDraw.Draw(picture)
    for k, (left, top, right, bottom) in enumerate((scale * found.boxes_px).tolist()):
        number = None if found.tracks is None else int(found.tracks[k])
        score = float(found.scores[k])
        line = _colour(score, number)
        pen.rectangle((left, top, max(right, left + 1.0), max(bottom, top + 1.0)), outline=line, width=scale)
        _write(pen, (left, top), _words(found.classes[k], score, number), line)
    return np.asarray(picture)


def _colour(score: float, number: int | None) -> str:
    if score <= 0.0:
        return PREDICTED
    return NEW if number is not None and number < 0 else COLOURS[(number or 0) % len(COLOURS)]


def _words(name: str, score: float, number: int | None) -> str:
    if number is None:
        return f"{name} {score:.2f}"
    return name if number < 0 else f"{number}"


def _write(pen: ImageDraw, corner: tuple[float, float], text: str, colour: str) -> None:
    """Above the box, on black; below its upper edge where there is no room."""
    x, y = corner
    at = (x, y - LETTERS_PX - 2 if y >= LETTERS_PX + 2 else y + 2)
    pen.rectangle(pen.textbbox(at, text, font_size=LETTERS_PX), fill="black")
    pen.text(at, text, fill=colour, font_size=LETTERS_PX)


EVERY_NS = NS_PER_S
"""Simulated time between two pictures of a stream."""
COLUMNS = 5
"""Columns of the overview."""
MOST_SHOWN = 80
"""Pictures of a stream from which those of the overview are chosen."""
SHEET_WIDTH = 320
LIDAR_PX, LIDAR_REACH = 480, 40.0
REACHES = (10.0, 20.0)
"""m; pictures of points with values show no more than is needed."""
FEW_POINTS = 500
MAP_PX = 480
"""Least length of a map's longer side, about."""


class Pictures:
    """Writes `pictures/<stream>/<seconds>.png` while the simulation runs, and `pictures.png` at its end."""

    def __init__(self, bus: Bus, folder: Path) -> None:
        self._folder = folder
        self._next_ns: dict[str, int] = {}
        self._shown: dict[tuple[str, str], ThinnedList[Path]] = {}
        """By stream, and by suffix for a stream with several pictures."""
        self._with_values: set[str] = set()
        """Streams of points that are coloured by their values."""
        self._speeds: dict[str, Spectrogram] = {}
        self._images = ImagesSeen()
        self._bus = bus
        bus.on_new(self._watch)

    def _watch(self, info: StreamInfo) -> None:
        if info.message in PAINTERS or info.message == "Detections":
            self._bus.on(info.name, self._on_message)

    def _on_message(self, message: Message) -> None:
        if isinstance(message.data, RangeDopplerImage):
            self._speeds.setdefault(message.stream, Spectrogram()).add(message.data)
        elif isinstance(message.data, CameraImage):
            self._images.add(message.stream, message.data)
            # a detector in this process may have answered before the image was given to this reader
            for boxes in self._images.waiting(message.stream):
                self._paint(boxes)
        self._paint(message)

    def _paint(self, message: Message) -> None:
        if message.t_ns < self._next_ns.get(message.stream, 0):
            return
        painted = self._painted(message)
        if not painted:
            return
        check_still_there(self._folder)
        self._next_ns[message.stream] = (message.t_ns // EVERY_NS + 1) * EVERY_NS
        if isinstance(message.data, PointCloud) and message.data.values is not None:
            self._with_values.add(message.stream)
        for suffix, picture in painted.items():
            path = self._folder / "pictures" / (message.stream + suffix) / f"{message.t_ns / NS_PER_S:08.3f}.png"
            shown = (message.stream, suffix)
            with writing_into(self._folder):
                if shown not in self._shown:
                    path.parent.mkdir(parents=True, exist_ok=True)
                write_picture(picture, path)
            self._shown.setdefault(shown, ThinnedList(MOST_SHOWN)).add(path)

    def _painted(self, message: Message) -> dict[str, Picture]:
        """Pictures by the suffix for the stream's name."""
        if isinstance(message.data, Detections):
            picture = self._images.picture(message)
            return {} if picture is None else {"": picture}
        pictures: dict[str, Picture] = PAINTERS[type(message.data).__name__](message.data)
        return pictures

    def finish(self) -> None:
        """Write the overview (a row per stream, with pictures spread over the flight) and the radar spectrograms."""
        check_still_there(self._folder)
        with writing_into(self._folder):
            self._write_sheet()

    def _write_sheet(self) -> None:
        rows = []
        for (stream, suffix), thinned in self._shown.items():
            paths = thinned.items
            chosen = [paths[round(k)] for k in np.linspace(0, len(paths) - 1, min(COLUMNS, len(paths)))]
            pictures = [read_picture(path) for path in chosen]
            titles = [f"{stream}{suffix}  {float(path.stem):.1f} s" for path in chosen]
            rows.append(_sheet_row(pictures, titles))
            by_value = stream in self._with_values
            strip = legend(self._bus.infos[stream], suffix, pictures, COLUMNS * SHEET_WIDTH, by_value=by_value)
            if strip is not None:
                rows.append(strip)
        for stream, history in self._speeds.items():
            write_picture(history.picture(), self._folder / "pictures" / stream / "spectrogram.png")
        if rows:
            write_picture(np.concatenate(rows), self._folder / "pictures.png")


def _sheet_row(pictures: list[Picture], titles: list[str]) -> Picture:
    """Pictures of one stream side by side, each with its title."""
    from PIL import Image, ImageDraw

    tiles = []
    for picture, title in zip(pictures, titles, strict=True):
        height = max(1, round(picture.shape[0] * SHEET_WIDTH / picture.shape[1]))
        tile = Image.fromarray(picture).resize((SHEET_WIDTH, height))
        ImageDraw.Draw(tile).text((6, 4), title, fill="white", stroke_width=2, stroke_fill="black")
        tiles.append(np.asarray(tile))
    # a map may have grown meanwhile
    row = np.full((max(map(len, tiles)), COLUMNS * SHEET_WIDTH, 3), 255, np.uint8)
    for k, picture in enumerate(tiles):
        row[: len(picture), k * SHEET_WIDTH : (k + 1) * SHEET_WIDTH] = picture
    return row


def read_picture(path: Path) -> Picture:
    from PIL import Image

    with Image.open(checked(path)) as image:
        return np.asarray(image.convert("RGB"))


def save(picture: Picture, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_picture(picture, path)
    except OSError as error:
        raise RunFolderError(f"cannot write '{path}': {error}") from error


def write_picture(picture: Picture, path: Path) -> None:
    """The folder must exist: if it was removed, it is not created again."""
    from PIL import Image

    # the default takes three times as long and saves an eighth
    Image.fromarray(picture).save(path, compress_level=1)


@cache
def _rings(reach: float) -> Picture:
    """Rings 10 m apart on a dark ground, `reach` m from the middle to the edges."""
    picture = np.full((LIDAR_PX, LIDAR_PX, 3), 18, np.uint8)
    scale = 0.5 * LIDAR_PX / reach
    y, x = np.mgrid[:LIDAR_PX, :LIDAR_PX] - 0.5 * LIDAR_PX
    away = np.hypot(x, y) / scale
    picture[(np.abs(away % 10.0 - 5.0) > 5.0 - 0.6 / scale) & (away > 5.0)] = 70
    return picture


def scan_picture(
    points: NDArray[np.floating], dot_px: int = 1, colours: Picture | None = None, reach: float = LIDAR_REACH
) -> Picture:
    """Top view, forward is up, rings are 10 m apart. Colour is height, and the highest point of a pixel is seen.

    colours: (n, 3) in place of those of the heights; of a pixel, the last point is seen. reach: m from the middle of
    the picture to its edges."""
    picture, scale = _rings(reach).copy(), 0.5 * LIDAR_PX / reach
    if colours is None:
        order = np.argsort(np.clip(points[:, 2], *LIDAR_HEIGHT), kind="stable")
        points, colours = points[order], height_colours(points[order, 2])
    column = np.floor(0.5 * LIDAR_PX - scale * points[:, 1]).astype(int)
    row = np.floor(0.5 * LIDAR_PX - scale * points[:, 0]).astype(int)
    edge = dot_px // 2
    inside = (np.minimum(row, column) >= edge) & (np.maximum(row, column) < LIDAR_PX - edge)
    around = np.mgrid[-edge : edge + 1, -edge : edge + 1].reshape(2, 1, -1)
    rows, columns = np.stack([row, column])[:, inside, None] + around
    picture[rows, columns] = colours[inside][:, None]
    return picture


def map_picture(occupancy: NDArray[np.int8]) -> Picture:
    """North is up; rows go from south to north. Free is white, occupied black, unknown grey."""
    grey = np.where(occupancy < 0, 150, 255 - occupancy.astype(int) * 255 // 100).astype(np.uint8)[::-1]
    times = max(1, MAP_PX // max(grey.shape))
    return np.repeat(grey.repeat(times, axis=0).repeat(times, axis=1)[..., None], 3, axis=2)


def debug_picture(pixels: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.float32]) -> Picture:
    """Unchanged if it has 8 bits. Otherwise scaled from its least to its greatest value."""
    if pixels.dtype == np.uint8:
        shown = np.asarray(pixels, np.uint8)
    else:
        known = np.isfinite(pixels)
        least, most = (float(f(pixels[known])) if known.any() else 0.0 for f in (np.min, np.max))
        share = (np.where(known, pixels, least) - least) / max(most - least, 1e-30)
        shown = (255.0 * share).astype(np.uint8)
    return shown if shown.ndim == 3 else np.repeat(shown[..., None], 3, axis=2)


def cloud_picture(points: NDArray[np.float32], values: NDArray[np.float32] | None = None) -> Picture:
    """Top view around the centre of the points. A few points, such as landmarks, are drawn large.

    With values, such as distances to obstacles, these are the colour, and the picture has a scale for them."""
    dot_px = 5 if len(points) < FEW_POINTS else 1
    centred = points - np.median(points, axis=0) if len(points) else points
    if values is None or not len(points):
        return scan_picture(centred, dot_px)
    bounds = value_range(values)
    # the least value is seen, as the one nearest to an obstacle
    order = np.argsort(-np.where(np.isfinite(values), values, np.inf), kind="stable")
    reach = next((reach for reach in REACHES if np.abs(centred[:, :2]).max() < reach), LIDAR_REACH)
    # cells of 0.2 m, so that nothing shines through between them
    dot_px = max(dot_px, 1 + 2 * round(0.1 * LIDAR_PX / (2.0 * reach)))
    picture = scan_picture(centred[order], dot_px, value_colours(values[order], bounds), reach)
    return with_scale(picture, bounds)


def _truth_pictures(truth: ImageTruth) -> dict[str, Picture]:
    out = {}
    if truth.depth is not None:
        out["/depth"] = depth_picture(truth.depth)
    if truth.normals is not None:
        out["/normals"] = np.asarray(127.5 * truth.normals + 127.5, np.uint8)
    for name, ids in (("instances", truth.instances), ("classes", truth.classes), ("materials", truth.materials)):
        if ids is not None:
            out[f"/{name}"] = id_picture(ids)
    return out


PAINTERS: dict[str, Any] = {
    "CameraImage": lambda image: {"": image.colour},
    "ImageTruth": _truth_pictures,
    "DepthImage": lambda image: {"": depth_picture(image.depth)},
    "LidarScan": lambda scan: {"": scan_picture(scan.points)},
    "RadarScan": lambda scan: {"": volts_picture(scan.volts)},
    "RangeDopplerImage": lambda image: {"": range_doppler_picture(image)},
    "RadarDetections": lambda found: {"": detections_picture(found)},
    "Image": lambda image: {"": debug_picture(image.pixels)},
    "GridMap": lambda grid: {"": map_picture(grid.cells)},
    "VoxelMap": lambda voxels: {"": map_picture(voxels.voxels.max(axis=2).T)},
    "PointCloud": lambda cloud: {"": cloud_picture(cloud.points, cloud.values)},
}
"""By the name of the record: the picture, and the suffix for its stream's name."""
