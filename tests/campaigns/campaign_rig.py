"""What the tests of campaigns share: plans as data, and pools that need no Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyloop.campaigns.campaign import Campaign
from skyloop.campaigns.plan import make_plan
from skyloop.campaigns.pools import ONE_THREAD, local_pool

HERE = Path(__file__).parent
WINDY: dict[str, Any] = {
    "scenario": "circle-wind",
    "settings": {
        "duration": 5,
        "pilot": {"kind": "hover", "altitude": 1.0, "duration": 1.5},
        "wind": {"kind": "dryden", "mean": [0, 0, 0], "w20_kt": 20},
    },
    "space": {"wind.mean.0": [0, 9, 18]},
    "metrics": ["flown_m", "highest_m"],
    "success": "flown_m < 3.5 and not crashed",
}
COSTS = ["processor_s", "wall_s", "attempts"]
"""Columns that depend on the machine."""


def campaign(*, searching: bool = False, **plan: Any) -> Campaign:
    return Campaign(make_plan(plan, "plan.yaml", HERE), search=searching)


def completed(made: Campaign, folder: Path, workers: int = 2, *, report: bool = False, **more: Any) -> dict[str, Any]:
    return made.complete(folder, lambda: local_pool(workers, ONE_THREAD), report=report, **more)
