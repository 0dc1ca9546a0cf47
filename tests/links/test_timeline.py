"""The picture of simulated and execution time: both lines can be seen, where they are the same as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from skyloop.links.loop.timeline import Interaction, busiest, plot_timeline

MS = 1_000_000
ET, ST = (0xF0, 0xA5, 0x9C), (0x1F, 0x4E, 0x8C)


def rows(computed_ms: float, count: int = 60) -> list[Interaction]:
    """Questions every 100 ms, in real time."""
    built = []
    for k in range(count):
        asked = 100 * k * MS
        et = asked + round(computed_ms * MS)
        built.append(Interaction("drone", k, et, asked, et, asked + 100 * MS, asked, asked + 90 * MS, 0, 100))
    return built


def painted(path: Path, colour: tuple[int, int, int]) -> int:
    """Pixels of about this colour, outside of the legends."""
    picture = np.asarray(Image.open(path).convert("RGB")).astype(int)
    for left in (0, picture.shape[1] // 2):
        picture[:140, left : left + 320] = 255
    return int((np.abs(picture - colour).max(axis=2) < 30).sum())


def test_neither_line_hides_the_other(tmp_path: Path) -> None:
    plot_timeline(rows(0.0), tmp_path / "equal.png")
    assert painted(tmp_path / "equal.png", ET) > 2000
    assert painted(tmp_path / "equal.png", ST) > 800
    plot_timeline([], tmp_path / "empty.png")
    assert painted(tmp_path / "empty.png", ET) == 0


def test_the_ten_interactions_shown_are_those_with_the_most_computing() -> None:
    flown = rows(1.0)
    slow = rows(40.0)
    mixed = [*flown[:30], *slow[30:40], *flown[40:]]
    assert [row.number for row in busiest(mixed)] == list(range(30, 40))
    assert busiest(flown[:3]) == flown[:3] and busiest([]) == []
