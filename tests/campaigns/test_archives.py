"""Run folders that travel: whole if they are small, without their subfolders if not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skyloop.campaigns import folder


@pytest.mark.parametrize("most", [50, 1000])
def test_a_folder_that_is_too_large_comes_without_subfolders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    (tmp_path / "run" / "anything").mkdir(parents=True)
    (tmp_path / "run" / "summary.json").write_text("{}")
    (tmp_path / "run" / "anything" / "samples.bin").write_bytes(os.urandom(3000))
    folder.unpack(folder.packed(tmp_path / "run"), tmp_path / "whole", everything=True)
    assert (tmp_path / "whole" / "anything" / "samples.bin").stat().st_size == 3000
    monkeypatch.setattr(folder, "MOST_ARCHIVE_BYTES", most)
    folder.unpack(folder.packed(tmp_path / "run"), tmp_path / "part", everything=True)
    assert [path.name for path in (tmp_path / "part").rglob("*")] == ["summary.json"]
