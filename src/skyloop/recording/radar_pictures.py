"""Radar streams as pictures: raw volts, range over speed, points from above, and speeds over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.flight_log import ThinnedList
from skyloop_client.messages import Array, RadarDetections, RangeDopplerImage
from skyloop_client.streams import NS_PER_S

Picture = NDArray[np.uint8]
Ends = tuple[float, float]
Labels = tuple[list[int], str, list[int], str]
PX = 384
"""Width of a picture."""
BORDER = 28
"""px on the left and below for the numbers."""
MOST_COLUMNS = 1600
"""Scans in a spectrogram. For longer flights only every second, fourth... is shown."""
SHOWN_DB = 45.0
"""dB from the brightest to black."""


def volts_picture(volts: NDArray[np.float32] | NDArray[np.complex64]) -> Picture:
    """Antennas one below the other. Samples go to the right, chirps down; red is positive, blue negative."""
    import matplotlib

    real = np.real(volts)
    largest = max(float(np.abs(real).max()), 1e-30)
    sheet = np.concatenate([np.pad(part, ((0, 2), (0, 0))) for part in real])[:-2]
    colours = matplotlib.colormaps["RdBu_r"](0.5 + 0.5 * sheet / largest, bytes=True)[..., :3]
    return _resized(colours, PX, round(PX * sheet.shape[0] / sheet.shape[1] / 3) if len(volts) > 1 else PX)


def range_doppler_picture(image: RangeDopplerImage) -> Picture:
    """Nearest at the bottom, receding to the right, in dB below the brightest."""
    labels = ([-2, 0, 2], "m/s", np.arange(0.0, image.ranges[-1], 2.0).astype(int).tolist(), "m")
    return _chart(image.power[::-1], (image.speeds[0], image.speeds[-1]), (image.ranges[0], image.ranges[-1]), labels)


def detections_picture(found: RadarDetections, reach: float = 12.0) -> Picture:
    """Top view, forward is up, rings 2 m apart: points (red recedes, blue approaches) and tracks with their numbers."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (PX, PX), (18, 18, 18))
    draw, scale = ImageDraw.Draw(picture), (PX - 2 * BORDER) / reach
    middle = (PX / 2, PX - BORDER)
    for ring in np.arange(2.0, reach + 0.1, 2.0):
        r = ring * scale
        draw.arc((middle[0] - r, middle[1] - r, middle[0] + r, middle[1] + r), 180, 360, fill=(80, 80, 80))
        draw.text((middle[0] + 2, middle[1] - r - 11), f"{ring:g} m", fill=(140, 140, 140))
    for (x, y, _), speed in zip(found.points, found.speeds, strict=True):
        at = (middle[0] - y * scale, middle[1] - x * scale)
        colour = (255, 90, 70) if speed > 0.0 else (90, 150, 255)
        draw.ellipse((at[0] - 3, at[1] - 3, at[0] + 3, at[1] + 3), fill=colour)
    for number, (x, y, _) in zip(found.track_ids, found.track_positions, strict=True):
        at = (middle[0] - y * scale, middle[1] - x * scale)
        draw.rectangle((at[0] - 8, at[1] - 8, at[0] + 8, at[1] + 8), outline=(255, 220, 80))
        draw.text((at[0] + 11, at[1] - 5), str(number), fill=(255, 220, 80))
    return np.asarray(picture)


class Spectrogram:
    """Speeds over time, one column per scan: the power of each speed summed over all ranges (micro-Doppler)."""

    def __init__(self) -> None:
        self._columns: ThinnedList[NDArray[np.float32]] = ThinnedList(MOST_COLUMNS)
        self._times: tuple[float, ...] = ()
        """s, of the first and the last scan."""
        self._speeds: Array = np.zeros(2)

    def add(self, image: RangeDopplerImage) -> None:
        self._columns.add(image.power.sum(axis=0))
        self._times = (self._times or (image.t_ns / NS_PER_S,))[0], image.t_ns / NS_PER_S
        self._speeds = image.speeds

    def picture(self) -> Picture:
        """Time to the right, receding upwards, in dB below the brightest."""
        power = np.stack(self._columns.items, axis=1)[::-1]
        start, end = self._times
        seconds = np.unique(np.linspace(start, end, 6).round()).astype(int).tolist()
        return _chart(
            power,
            (start, max(end, start + 1e-3)),
            (self._speeds[0], self._speeds[-1]),
            (seconds, "s", [-2, 0, 2], "m/s"),
        )


def _chart(power: NDArray[np.float32], across: Ends, upwards: Ends, labels: Labels) -> Picture:
    """A picture in dB with axis numbers on two sides. Row 0 of `power` is the top."""
    import matplotlib
    from PIL import Image, ImageDraw

    decibel = 10.0 * np.log10(np.maximum(power / max(float(power.max()), 1e-300), 1e-30))
    colours = matplotlib.colormaps["inferno"](np.clip(1.0 + decibel / SHOWN_DB, 0.0, 1.0), bytes=True)[..., :3]
    size = PX - BORDER
    picture = Image.new("RGB", (PX, PX), (18, 18, 18))
    picture.paste(Image.fromarray(_resized(colours, size, size)), (BORDER, 0))
    draw = ImageDraw.Draw(picture)
    right, right_unit, up, up_unit = labels
    for number in right:
        x = BORDER + size * (number - across[0]) / (across[1] - across[0])
        if BORDER <= x < PX - 12:
            draw.text((x, size + 2), f"{number}", fill=(200, 200, 200), anchor="ma")
            draw.line((x, size - 4, x, size), fill=(200, 200, 200))
    for number in up:
        y = size * (1.0 - (number - upwards[0]) / (upwards[1] - upwards[0]))
        if 8 < y <= size:
            draw.text((BORDER - 4, y), f"{number}", fill=(200, 200, 200), anchor="rm")
            draw.line((BORDER, y, BORDER + 4, y), fill=(200, 200, 200))
    draw.text((PX - 4, PX - 2), right_unit, fill=(200, 200, 200), anchor="rd")
    draw.text((2, 2), up_unit, fill=(200, 200, 200))
    return np.asarray(picture)


def _resized(colours: Picture, width: int, height: int) -> Picture:
    from PIL import Image

    return np.asarray(Image.fromarray(np.ascontiguousarray(colours)).resize((width, height), Image.Resampling.NEAREST))
