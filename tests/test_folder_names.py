"""Several commands at once, without --out: each has a folder of its own, and those that come to nothing leave none."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skyloop import cli
from skyloop.cli.console import next_folder

SKYLOOP = Path(sys.executable).parent / "skyloop"


def test_everybody_gets_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(next_folder, ["hover"] * 64))
    assert sorted(folders) == [Path("runs") / f"hover-{k:03d}" for k in range(1, 65)]
    assert all(folder.is_dir() for folder in folders)


def test_two_runs_at_once(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text("name: tiny\nduration: 0.1\n")
    command = [str(SKYLOOP), "run", "tiny.yaml"]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["tiny-001", "tiny-002"]
    assert all((path / "summary.json").exists() for path in (tmp_path / "runs").iterdir())


def test_a_run_that_comes_to_nothing_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("world: {name: hills, options: {extent: 1e9}}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "mine.yaml"])
    with pytest.raises(SystemExit, match="1"):
        cli.main()
    assert not (tmp_path / "runs").exists()
