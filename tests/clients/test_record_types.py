"""What other languages are told of the records is what the records say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skyloop_client import messages
from skyloop_client.schema import record_fields

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import record_types  # noqa: E402


@pytest.mark.parametrize("path", record_types.written(), ids=lambda path: path.name)
def test_what_is_written_is_current(path: Path) -> None:
    reported = "run .venv/bin/python tools/record_types.py and commit what it writes"
    assert path.read_text(encoding="utf-8") == record_types.written()[path], reported


def test_a_field_in_all_its_parts() -> None:
    fields = record_fields(messages.PointCloud)
    points, colours = fields["points"], fields["colours"]
    assert (points.dtype, points.optional, points.note.shape, points.note.unit) == ("<f4", False, ("n", 3), "m")
    assert points.note.meaning == "Axes of `frame`."
    assert (colours.dtype, colours.optional) == ("|u1", True)
    assert record_types.cpp_member(record_fields(messages.RangeSample)["min_range"]) == (
        "double min_range = 0;  // m, the shortest distance the sensor measures"
    )


def test_every_array_has_a_shape() -> None:
    for name in messages.__all__:
        record = getattr(messages, name)
        if hasattr(record, "__dataclass_fields__"):
            for field in record_fields(record).values():
                assert not field.dtype or field.note.shape is not None, f"{name}.{field.name}"
