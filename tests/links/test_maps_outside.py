"""Maps built in another process, on a computer half as fast: the same streams, later."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop.cli import main
from skyloop.recording.journal import read_group


@pytest.mark.slow("maps from a depth camera")
@pytest.mark.renders
def test_room_map_is_built_outside_at_half_the_speed(tmp_path: Path, capsys: Any) -> None:
    told = ["loop", "room-map", "--estimator", "map", "--speed", "0.5", "--set", "duration=5"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["skyloop", *told, "--out", str(tmp_path / "run"), "--json"])
        with suppress(SystemExit):
            main()
    summary = json.loads(capsys.readouterr().out)
    (one,) = summary["links"]["loop"]["pilots"]
    assert (one["role"], summary["links"]["loop"]["violations"]) == ("estimator", 0)
    # 75 images: the time is counted, and it is that of the maps, not that of loading their code
    assert 0.1 < one["computed_s"] < 5.0
    streams = tmp_path / "run" / "streams" / "drone" / "map"
    voxels = [message.data.voxels for message in read_group(streams / "voxels.journal")]
    assert len(voxels) >= 4 and (voxels[-1] == 0).sum() > 2000 and (voxels[-1] == 100).sum() > 50
    lines = (streams / "ground.csv").read_text(encoding="utf-8").splitlines()[1:]
    late = np.array([int(line.split(",")[1]) - int(line.split(",")[2]) for line in lines])
    assert len(late) > 15 and (late > 0).all()
