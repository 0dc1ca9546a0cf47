"""What crashes, hangs or finds no disk costs one run, is counted, and does not end the campaign."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from campaign_rig import HERE, campaign, completed

from left_out import leave_out
from skyloop.campaigns.campaign import results
from skyloop.core.files import RowFile
from skyloop_client.errors import DatasetError

pytestmark = pytest.mark.processes
SMALL_DISK = ["unshare", "--user", "--map-root-user", "--mount"]
ON_A_SMALL_DISK = """
import sys
from pathlib import Path
disk, here = sys.argv[1:]
sys.path.insert(0, here)
from campaign_rig import campaign, completed
from skyloop.campaigns.campaign import results
made = campaign(task="tasks.py:bulky", space={"x": list(range(8))})
told = completed(made, Path(disk) / "made")
print(told["failed"], told["lost"], len(results(Path(disk) / "made")))
"""
MOUNTED = 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"'


@pytest.mark.slow("a campaign whose workers are killed")
def test_accidents_cost_one_run_each(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    plan: dict[str, Any] = {
        "task": "tasks.py:accident_prone",
        "space": {"x": list(range(9))},
        "settings": {"log": str(log)},
    }
    summary = completed(campaign(**plan, time_limit=2.0), tmp_path / "made", 3, report=True)
    assert (summary["runs"], summary["success"], summary["lost"]) == (9, 6, 3)
    # once for a run that was killed, one that crashed, one that hung, and one that always ends by itself
    assert summary["made_again"] == 4
    rows = results(tmp_path / "made").set_index("run")
    assert rows["fine"][[0, 1, 5, 6, 7, 8]].tolist() == [0, 1, 5, 6, 7, 8]
    assert rows["cause"][2] == "the process ended: exit code 3" and rows["cause"][3] == "no end after 2 s"
    assert "No space left on device" in rows["cause"][4]
    assert rows["attempts"].tolist() == [1, 2, 2, 2, 1, 2, 1, 1, 1]
    # the next start tries them again
    (log / "again").touch()
    assert completed(campaign(**plan, time_limit=1.0, retries=0), tmp_path / "made", 3)["made_now"] == 3
    # of the first start
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert "no end after 2 s" in page and "Lost runs" in page


def test_a_row_that_cannot_be_written_is_written_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"n": 0}
    real = RowFile.append

    def full_for_a_while(self: RowFile, lines: list[str]) -> None:
        calls["n"] += 1
        if 3 <= calls["n"] <= 5:
            raise DatasetError("cannot write 'runs.jsonl': No space left on device")
        real(self, lines)

    monkeypatch.setattr(RowFile, "append", full_for_a_while)
    plan: dict[str, Any] = {"task": "tasks.py:squared", "space": {"x": list(range(6))}}
    assert completed(campaign(**plan), tmp_path / "made", 1)["runs"] == 6
    assert len((tmp_path / "made" / "runs.jsonl").read_text().splitlines()) == 7


def test_a_disk_that_is_full_of_failed_runs(tmp_path: Path) -> None:
    """A real one, of 1 MB: three failed runs fill it, and the verdicts of the others are kept all the same."""
    if shutil.which("unshare") is None or subprocess.run([*SMALL_DISK, "true"], capture_output=True).returncode:
        leave_out("mounts of one's own")
    disk = tmp_path / "disk"
    disk.mkdir()
    python = [sys.executable, "-c", ON_A_SMALL_DISK, str(disk), str(HERE)]
    made = subprocess.run(
        [*SMALL_DISK, "sh", "-c", MOUNTED, "sh", str(disk), *python], capture_output=True, text=True, timeout=120
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert made.stdout.split() == ["8", "0", "8"]
    told = [line for line in made.stderr.splitlines() if " folder" in line]
    assert len(told) == 2, made.stderr
    assert "cannot be kept: " in told[0] and "folders of failed runs could not be kept" in told[1]
