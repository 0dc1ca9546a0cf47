"""Run folders without pictures: drawing `flight.png` and `timeline.png` takes longer than most flights of the tests."""

from __future__ import annotations

import pytest

DRAWING = (
    "skyloop.run.plot_flight",
    "skyloop.links.loop.loop_link.plot_timeline",
)


def leave_out_pictures(patch: pytest.MonkeyPatch) -> None:
    for name in DRAWING:
        patch.setattr(name, lambda *_, **__: None)
