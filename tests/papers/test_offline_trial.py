"""`skyloop reproduce offline`: its cells, table and files; recordings are stood in for, the test of the bench flies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skyloop.datasets.rig import STAGES
from skyloop_papers.offline import experiment as offline
from skyloop_papers.runner import reproduce


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def recorded(**options: Any) -> dict[str, Any]:
        calls.append(options)
        spent = dict.fromkeys(STAGES, 5.0)
        return {"frames": options["frames"], "fps": 10.0 * len(calls), "start_s": 3.0, "core_ms_per_frame": spent}

    monkeypatch.setattr(offline, "trial_recording", recorded)
    return calls


def test_all_cells_of_table_5_beside_the_papers(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    results = reproduce(offline.EXPERIMENT, folder=tmp_path)
    cells = {result.name: result for result in results if result.published is not None}
    assert len(cells) == len(asked) == 20
    assert all(call["frames"] == 500 for call in asked)
    assert cells["low, without radar, without storage"].published == 25.5
    assert cells["low, with radar, with storage"].published == 7.17
    assert cells["cinematic, without radar, with storage"].published == 15.17
    assert cells["cinematic, without radar, with storage"].ours == 200.0
    assert len(results) == 20 * (1 + len(STAGES))
    blocks = offline.EXPERIMENT.page(results)
    assert "All 20 recordings are of one command, in one go: 500 frames each" in " ".join(blocks["sitting"].split())
    assert "| radar, without storage | 10.0 (7.51) |" in blocks["measured"]
    again = offline.EXPERIMENT.page(reproduce(offline.EXPERIMENT, folder=tmp_path))
    assert again == blocks and len(asked) == 20, "what is recorded is not recorded again"
