"""A campaign on three machines, of which one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from campaign_rig import HERE

from left_out import leave_out
from skyloop.datasets.worker_processes import descendants
from skyloop_papers.two_machines import why_not_apart
from three_machines import NODES, Machines

PATIENCE_S = 240.0


ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1"}
START = "import sys; from ray.scripts.scripts import main; sys.argv[0] = 'ray'; main()"
DRIVER = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from campaign_rig import campaign
made = campaign(task="tasks.py:announced", space={{"x": list(range(120))}}, settings={{"log": {log!r}}})
frame = made.run(Path({folder!r}), address="{head}:6379")
print("done", len(frame), (frame["outcome"] == "success").all(), frame["attempts"].sum(), flush=True)
"""


class RayMachines(Machines):
    def __init__(self, folder: Path) -> None:
        super().__init__(ENVIRONMENT)
        self.folder = folder

    def ray(self, number: int) -> subprocess.Popen[str]:
        """A node of Ray that stays in the foreground, so that killing its process group kills the machine."""
        where = (
            ["--head", "--port=6379", "--include-dashboard=false"] if number == 0 else [f"--address={NODES[0]}:6379"]
        )
        words = ["start", *where, f"--node-ip-address={NODES[number]}", "--num-cpus=1", "--block",
                 "--object-store-memory=100000000", f"--temp-dir={self.folder / str(number)}"]  # fmt: skip
        return self.keep([sys.executable, "-c", START, *words], inside=self.namespaces[number])

    def wait_for_head(self) -> None:
        tried = f"import socket; socket.create_connection(({NODES[0]!r}, 6379), 1)"
        end = time.monotonic() + PATIENCE_S
        while subprocess.run([*self.inside(self.head), sys.executable, "-c", tried], capture_output=True).returncode:
            assert time.monotonic() < end, "the head did not start"
            time.sleep(0.5)


@pytest.fixture
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayMachines]:
    if why_not_apart():
        leave_out("network namespaces")
    # sockets have short names
    made = RayMachines(Path(tmp_path_factory.mktemp("r")))
    try:
        yield made
    finally:
        made.close()


@pytest.mark.slow("starts Ray on three machines")
def test_three_machines_of_which_one_dies(machines: RayMachines, tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "made"
    log.mkdir()
    nodes = [machines.ray(0)]
    machines.wait_for_head()
    nodes += [machines.ray(number) for number in (1, 2)]
    script = DRIVER.format(here=str(HERE), log=str(log), folder=str(folder), head=NODES[0])
    driver = machines.keep([sys.executable, "-c", script], inside=machines.head)
    end = time.monotonic() + PATIENCE_S
    while len({note.name.split("-")[2] for note in log.iterdir()}) < 3:
        assert time.monotonic() < end and driver.poll() is None, "not every machine has a worker"
        time.sleep(0.1)
    for pid in [nodes[2].pid, *(pid for pid, _ in descendants(nodes[2].pid))]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert driver.stdout is not None
    # Ray says there, too, that a machine is gone
    told = next(line.split() for line in driver.stdout if line.startswith("done"))
    assert told[:3] == ["done", "120", "True"] and int(told[3]) > 120, "what the dead machine was doing was made again"
