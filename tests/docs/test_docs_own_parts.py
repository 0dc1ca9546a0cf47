"""docs/how-to/own-parts.md: its snippets run, and every record is in its table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import skyloop
from published_things import records
from skyloop.recording.ros2.views import PRODUCTS
from skyloop.sim import published_records
from skyloop_client.messages import Detections
from skyloop_client.streams import StreamInfo

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "own-parts.md").read_text(encoding="utf-8")
THINGS = Path(__file__).parents[1] / "published_things.py"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.renders
def test_the_estimator_of_the_page_is_a_scenario() -> None:
    (told,) = blocks("yaml")
    scenario = yaml.safe_load(told)
    vio = scenario["vehicles"][0]["estimators"]["vio"]
    vio |= {"kind": f"{THINGS}:Listener", "options": {}}
    with skyloop.build(skyloop.make_scenario(scenario)) as simulation:
        simulation.run_until(0.3)
        assert simulation.bus.counts["drone/vio"] == sum(
            simulation.bus.counts[f"drone/{name}"] for name in vio["inputs"]
        )


def test_the_pilot_of_the_page_publishes() -> None:
    (told,) = blocks("python")
    names: dict[str, Any] = {"np": np, "Detections": Detections}
    exec(told, names)

    class Bundle:
        t_ns = 5
        published: dict[str, Any] = {}  # noqa: RUF012

        def publish(self, name: str, record: Any) -> None:
            self.published[name] = published_records.taken(record, self.t_ns)

    names["pilot"](Bundle())
    assert Bundle.published["detections"].source == "front"


def test_every_record_is_in_the_table_with_what_becomes_of_it() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| .*? \| (`.*?) \|", PAGE, flags=re.MULTILINE))
    assert set(rows) == {kind.__name__ for kind in published_records.PUBLISHED}
    for record in records().values():
        name = type(record).__name__
        (view,) = PRODUCTS[name]
        made = view.make(StreamInfo("drone/x", name, None, "drone"), record)
        assert made.__msgtype__ == view.kind
        assert f"`{view.kind.replace('/msg/', '/')}`" in rows[name]
