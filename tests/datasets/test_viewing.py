"""What the Rerun viewer gets, read back from the file."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from skyloop.datasets.viewing import TIMELINE, view
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError, SetupError


def test_without_the_sdk_it_says_how_to_get_it(made: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(SetupError, match=r"pip install 'skyloop\[view\]'"):
        view(made.folder, made.folder / "out.rrd")
    assert not (made.folder / "out.rrd").exists()


def test_every_message_is_in_the_file_on_one_timeline(made: Recording, tmp_path: Path) -> None:
    from rerun import chunk

    path = tmp_path / "new" / "out.rrd"
    assert view(made.folder, path) == 10 + 10 + 200 + 50
    rows: Counter[str] = Counter()
    timelines: set[str] = set()
    stamps: list[int] = []
    boxes: list[list[float]] = []
    for each in chunk.RrdReader(path).stream().to_chunks():
        timelines |= set(each.timeline_names)
        rows[each.entity_path] += 0 if each.is_static else each.num_rows
        if each.entity_path.endswith("/boxes"):
            columns = each.to_record_batch().to_pydict()
            stamps += [round(t.total_seconds() * 1e9) for t in columns[TIMELINE]]
            centres = next(values for name, values in columns.items() if name.endswith(":centers"))
            halves = next(values for name, values in columns.items() if name.endswith(":half_sizes"))
            boxes += [[*c[0], *h[0]] for c, h in zip(centres, halves, strict=True)]
    assert timelines == {TIMELINE}
    assert rows["/world/drone/rgb0/image"] == 10 and rows["/world/drone/rgb0/image/boxes"] == 10
    assert rows["/plots/imu0/specific_force"] == 200 and rows["/world/drone"] == 50
    assert sorted(stamps) == [2_000_000_000 + 100_000_000 * k for k in range(10)]
    # columns 3 to 8 and rows 4 to 11, edges of pixels
    assert boxes == [[6.0, 8.0, 3.0, 4.0]] * 10


def test_nothing_recorded_is_told(made: Recording) -> None:
    made.group_path(0).unlink()
    with pytest.raises(DatasetError, match="no complete group"):
        view(made.folder, made.folder / "out.rrd")
