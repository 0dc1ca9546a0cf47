"""Several commands at once, without --out: each has a folder of its own, and those that come to nothing leave none."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skyloop import cli
from skyloop.cli.console import next_folder


def test_everybody_gets_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(next_folder, ["hover"] * 64))
    assert sorted(folders) == [Path("runs") / f"hover-{k:03d}" for k in range(1, 65)]
    assert all(folder.is_dir() for folder in folders)


@pytest.mark.processes
def test_two_processes_at_once(tmp_path: Path) -> None:
    take = "from skyloop.cli.console import next_folder\nfor _ in range(9): next_folder('tiny')"
    both = [subprocess.Popen([sys.executable, "-c", take], cwd=tmp_path) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [f"tiny-{k:03d}" for k in range(1, 19)]


def test_a_run_that_comes_to_nothing_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("world: {name: hills, options: {extent: 1e9}}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "mine.yaml"])
    with pytest.raises(SystemExit, match="1"):
        cli.main()
    assert not (tmp_path / "runs").exists()
