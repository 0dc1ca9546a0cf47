"""The machine is described by plain data, and no probe of it can hang."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from skyloop.core import machine_info


def test_versions_are_those_imported() -> None:
    versions = machine_info.versions()
    assert (versions["numpy"], versions["numba"]) == (np.__version__, numba.__version__)


def test_machine_description_is_plain_data() -> None:
    described = machine_info.machine_description()
    assert set(described) == {"cpu", "cores", "memory_gib", "python", "numpy", "numba", "os", "gpu"}
    assert json.loads(json.dumps(described)) == described
    assert described["cores"] >= 1
    assert described["memory_gib"] > 0.0


@pytest.mark.processes
def test_cpu_model_from_cpuinfo(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: A Fast One @ 3 GHz\n")
    assert machine_info.cpu_model(cpuinfo) == "A Fast One @ 3 GHz"
    assert machine_info.cpu_model(tmp_path / "none")


def test_cores_are_those_this_process_may_use() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert machine_info.usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.processes
def test_a_hanging_or_failing_probe_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_info, "PROBE_TIMEOUT_S", 0.3)
    assert machine_info.output_of([sys.executable, "-c", "import time; time.sleep(60)"]) is None
    assert machine_info.output_of([sys.executable, "-c", "raise SystemExit(3)"]) is None
    assert machine_info.output_of(["a-command-nobody-has"]) is None
