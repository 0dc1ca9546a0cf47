"""Makes docs/gallery: small JPEGs of every world, of the five quality levels and of the weather. Run: make gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from skyloop.sim.look import views_of
from skyloop.sim.scenario import make_scenario

FOLDER = Path(__file__).parent.parent / "docs" / "gallery"
SIZE = (640, 400)

PLACES: dict[str, list[tuple[Any, Any]]] = {
    "flat": [((-6, -6, 4), (4, 4, 0))],
    "hills": [((-40, -60, 14), (20, 40, 0))],
    "blocks": [((-17, -14, 6), (2, 2, 1)), ((-6, -3, 1.5), (10, 4, 1.5))],
    "room": [((-8.5, -8.5, 2.3), (2, 2, 0.6)), ((0, 0, 1.5), (8, 3, 1.2))],
    "corridor": [((-2, 0, 1.7), (20, 0.5, 1.3)), ((-6, -7, 9), (18, 0, 0))],
    "house": [((-24, -24, 24), (0, 0, 0)), ((0, 0, 1.6), (6, 3, 1.2))],
    "landing": [((2.0, -4.5, 3.2), (6, 0, 0)), ((6, 0, 6), (6.001, 0, 0))],
    "radar-lab": [((0, 0, 1.5), (6, 0, 0.9)), ((-6, -6, 5), (4, 0, 0.5))],
    "park": [((-10, -10, 5), (14, 10, 2)), ((-55, -55, 38), (0, 0, 0))],
    "forest": [((0, 0, 1.7), (10, 6, 2)), ((-60, -60, 40), (0, 0, 4))],
    "urban": [((25, -12, 2), (25, 20, 2)), ((-65, -65, 48), (0, 0, 0))],
    "urban-walls": [((0, 0, 10), (30, 10, 8)), ((-40, -40, 60), (35, 30, 0))],
    "warehouse": [((0, 0, 1.8), (20, 2, 2)), ((-20, 0.5, 5.5), (10, -3, 1))],
}
QUALITIES = ("low", "medium", "high", "epic", "cinematic")
WEATHERS: dict[str, dict[str, float]] = {
    "morning": {"time_of_day": 6.2},
    "overcast": {"clouds": 1.0},
    "fog": {"visibility": 120.0},
    "rain": {"rain": 25.0, "clouds": 0.9, "visibility": 3000.0},
    "snow": {"snow": 3.0, "clouds": 0.9, "visibility": 2000.0},
    "dust": {"dust": 60.0, "visibility": 1500.0},
    "dusk": {"time_of_day": 20.2, "day_of_year": 172},
    "night": {"time_of_day": 23.5},
}


def save(picture: Any, name: str, label: str = "") -> None:
    image = Image.fromarray(picture)
    if label:
        ImageDraw.Draw(image).text((8, 6), label, fill="white", stroke_width=2, stroke_fill="black")
    image.save(FOLDER / f"{name}.jpg", quality=82)
    print(f"{name}.jpg")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for world, places in PLACES.items():
        views = views_of(make_scenario({"world": world}), places, quality="epic", size=SIZE, t=3.0)
        for number, view in enumerate(views, 1):
            save(view.colour, f"{world}-{number}")
    park = [((-7, -9, 2.2), (12, 6, 2.2))]
    for quality in QUALITIES:
        view = views_of(make_scenario({"world": "park"}), park, quality=quality, size=SIZE, t=3.0)[0]
        save(view.colour, f"quality-{quality}", quality)
    for name, weather in WEATHERS.items():
        scenario = make_scenario({"world": "urban", "weather": weather})
        view = views_of(scenario, [((-3, -6, 2.5), (20, 16, 3))], quality="high", size=SIZE, t=3.0)[0]
        save(view.colour, f"weather-{name}", name)


if __name__ == "__main__":
    main()
