"""Makes docs/images/one-instant.jpg, the picture on README: one instant of a flight, six ways (`make gallery`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import skyloop
from skyloop.recording.picture_legends import depth_picture
from skyloop.recording.radar_pictures import range_doppler_picture

OUT = Path(__file__).parent.parent / "docs" / "images" / "one-instant.jpg"
LARGE = (960, 600)
SMALL = (480, 300)
CAMERA = {"position": [0.12, 0, 0], "rotation_deg": [0, 8, 0]}
SCENARIO: dict[str, Any] = {
    "world": {"name": "park", "options": {"people": 60}},
    "seed": 1,
    "vehicles": [
        {
            "airframe": "iris",
            "sensors": {
                "camera": {
                    "kind": "camera", "width": LARGE[0], "height": LARGE[1], "rate_hz": 2,
                    "quality": "epic", "mount": CAMERA,
                    "truth": ["labels", "classes", "normals"], "label_classes": ["person"],
                },
                "depth": {"kind": "depth_camera", "preset": "d435-kim", "rate_hz": 2, "mount": CAMERA},
                "lidar": {"kind": "lidar", "preset": "os1-64", "rate_hz": 10},
                "radar": {"kind": "radar", "preset": "bgt60tr13c-real", "rate_hz": 10, "mount": CAMERA},
            },
            "pilot": {
                "kind": "trajectory", "takeoff_altitude": 2.5,
                "trajectory": {"kind": "circle", "centre": [0, 0, 2.5], "radius": 15, "speed": 2, "laps": 1},
            },
        }
    ],
}  # fmt: skip
AT = 16.6
"""s: the instant that is shown."""


def lidar_picture(points: Any) -> Image.Image:
    """Points as seen from behind and above the vehicle, coloured by height."""
    import matplotlib

    from_behind = np.array([points[:, 0] + 4.0, points[:, 1], points[:, 2] - 5.0]).T
    pitch = np.deg2rad(20.0)
    forward = from_behind @ np.array([np.cos(pitch), 0.0, -np.sin(pitch)])
    up = from_behind @ np.array([np.sin(pitch), 0.0, np.cos(pitch)])
    seen = forward > 1.0
    order = np.argsort(-forward[seen])
    focal = 0.62 * SMALL[0]
    x = SMALL[0] / 2 - focal * from_behind[seen, 1] / forward[seen]
    y = SMALL[1] / 2 - focal * up[seen] / forward[seen]
    colours = matplotlib.colormaps["viridis"](np.clip((points[seen, 2] + 4.0) / 12.0, 0.0, 1.0), bytes=True)[:, :3]
    picture = np.full((SMALL[1], SMALL[0], 3), 16, np.uint8)
    inside = (x >= 0) & (x < SMALL[0] - 1) & (y >= 0) & (y < SMALL[1] - 1)
    for k in order[inside[order]]:
        picture[int(y[k]) : int(y[k]) + 2, int(x[k]) : int(x[k]) + 2] = colours[k]
    return Image.fromarray(picture)


def class_picture(classes: Any) -> Image.Image:
    """A colour for each class in the picture; black is the sky."""
    import matplotlib

    numbers, indices = np.unique(classes, return_inverse=True)
    colours = np.array([(0, 0, 0), *matplotlib.colormaps["tab20"](np.arange(20), bytes=True)[:, :3]], np.uint8)
    by_number = np.where(numbers == 0, 0, 1 + np.arange(len(numbers)) % 20)
    return Image.fromarray(colours[by_number[indices.reshape(classes.shape)]])


def with_boxes(colour: Any, labels: Any) -> Image.Image:
    picture = Image.fromarray(colour)
    pen = ImageDraw.Draw(picture)
    for label in labels:
        pen.rectangle(label.box_px, outline="#ffd43b", width=2)
    return picture


def titled(picture: Image.Image, title: str, size: tuple[int, int]) -> Image.Image:
    picture = picture.convert("RGB").resize(size)
    ImageDraw.Draw(picture).text((10, 8), title, fill="white", stroke_width=2, stroke_fill="black", font_size=18)
    return picture


def main() -> None:
    with skyloop.build(skyloop.make_scenario(SCENARIO)) as simulation:
        simulation.run_until(AT)
        image, depth, sweep = (simulation.latest(f"drone/{name}") for name in ("camera", "depth", "lidar"))
        doppler = simulation.latest("drone/radar/range_doppler")
        seen = simulation.latest("truth/drone/camera")
    panels = [
        (titled(with_boxes(image.colour, seen.labels), "colour, boxes of people", LARGE), (0, 0)),
        (titled(Image.fromarray(depth_picture(depth.depth)), "depth with a D435's noise", SMALL), (960, 0)),
        (titled(class_picture(seen.classes), "class of every pixel", SMALL), (960, 300)),
        (titled(lidar_picture(sweep.points), "LiDAR, 64 beams", SMALL), (0, 600)),
        (
            titled(Image.fromarray(((seen.normals + 1.0) * 127.5).astype(np.uint8)), "surface normals", SMALL),
            (480, 600),
        ),
        (titled(Image.fromarray(range_doppler_picture(doppler)), "60 GHz radar, range over speed", SMALL), (960, 600)),
    ]
    sheet = Image.new("RGB", (1440, 900))
    for picture, corner in panels:
        sheet.paste(picture, corner)
    sheet.save(OUT, quality=84)
    print(OUT.name)


if __name__ == "__main__":
    main()
