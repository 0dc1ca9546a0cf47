"""docs/explanations/loop.md: its pilot flies in all three ways, its client code runs, its options exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from page_runs import plot_nothing
from skyloop.cli import app, main
from skyloop.core.frames import matrix_from_quat
from skyloop.links.loop.targets import make_target
from skyloop_client.__main__ import main as client_main
from skyloop_client.errors import LinkError

PAGE = (Path(__file__).parents[2] / "docs" / "explanations" / "loop.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
RUN = "from skyloop.cli import main; main()"


def skyloop(*words: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plot_nothing(patch)
        patch.setattr(sys, "argv", ["skyloop", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0


def flown(folder: Path) -> float:
    """m to the east."""
    vehicle = json.loads((folder / "summary.json").read_text())["vehicles"]["drone"]
    assert any("landed" in event for event in vehicle["events"])
    return float(vehicle["flown_m"])


@pytest.mark.processes
def test_the_pilot_flies_in_process_in_another_process_and_from_another_machine(tmp_path: Path) -> None:
    pilot = tmp_path / "my_pilot.py"
    pilot.write_text(PYTHON[0])
    skyloop("run", "hover", "--pilot", f"{pilot}:Pilot", "--out", str(tmp_path / "a"))
    skyloop("loop", "hover", "--pilot", f"{pilot}:Pilot", "--out", str(tmp_path / "b"))
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "loop", "hover", "--listen", "127.0.0.1:0", "--out", str(tmp_path / "c")],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    ) as simulator:  # fmt: skip
        address = _address(simulator)
        assert client_main(["pilot", f"{pilot}:Pilot", "--connect", address]) in (0, None)
        assert simulator.wait(60) == 0
    ways = [flown(tmp_path / name) for name in "abc"]
    assert ways[0] > 5.0
    assert ways == pytest.approx([ways[0]] * 3, abs=0.05)


@pytest.mark.renders
def test_the_client_code_runs(tmp_path: Path) -> None:
    script = tmp_path / "sut.py"
    script.write_text(PYTHON[1].replace('"127.0.0.1:4700"', "") + "print(image.shape, bundle.t_ns)\n")
    words = ["loop", "face-anchor", "--sut", shlex.join([sys.executable, str(script)]), "--out", str(tmp_path / "run")]
    skyloop(*words)
    assert (tmp_path / "run" / "sut.txt").read_text().startswith("(240, 320, 3)")
    assert (tmp_path / "run" / "timeline.png").exists()


def _address(simulator: subprocess.Popen[str]) -> str:
    assert simulator.stderr is not None
    for line in simulator.stderr:
        if found := re.search(r"waiting for a pilot at (\S+)", line):
            return found[1]
    raise AssertionError("the simulator said nothing of an address")


def test_targets_and_modes_of_the_page_exist() -> None:
    rows = re.compile(r"^\| `([a-z]+(?::[\w@.]+)?)` \| (?:a process|the same|the C|another)", flags=re.MULTILINE)
    targets = rows.findall(PAGE)
    assert targets == ["local", "frozen", "throttled:0.2", "board", "remote", "remote:user@host"]
    for name in targets:
        if name != "board":  # which needs an emulator
            assert make_target(name, ["true"], tell=lambda line: None) is not None
    with pytest.raises(LinkError, match="no target named"):
        make_target("moon", ["true"])


def test_every_command_of_the_page_is_one() -> None:
    group = typer.main.get_command(app)
    commands = re.findall(r"skyloop (loop|run|size) ([^`\n]*)", PAGE)
    assert len(commands) >= 5
    for verb, words in commands:
        known = {option for parameter in group.commands[verb].params for option in parameter.opts}  # type: ignore[attr-defined]
        assert set(re.findall(r"--[a-z]+", words)) <= known, (verb, words)
    assert os.environ.get("SKYLOOP_ADDRESS") is None


def test_pilots_on_pages_import_nothing_that_a_target_lacks() -> None:
    """A target has numpy and skyloop_client. Titles such as my_pilot.py and policy_pilot.py mark the pilots."""
    pages = (Path(__file__).parents[2] / "docs").rglob("*.md")
    found = [re.findall(r'```python title="(\w*pilot\.py)"\n(.*?)```', page.read_text(), re.DOTALL) for page in pages]
    pilots = dict(chain.from_iterable(found))
    assert {"my_pilot.py", "policy_pilot.py"} <= set(pilots)
    for name, text in pilots.items():
        assert not re.search(r"^\s*(from|import) skyloop\b", text, flags=re.MULTILINE), name


def test_a_learned_pilot_turns_as_skyloop_does() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "reinforcement-learning.md").read_text()
    (code,) = re.findall(r"^def world_from_body.*?(?=^class)", page, flags=re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"np": np}
    exec(code, names)
    quat = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    assert names["world_from_body"](quat) == pytest.approx(matrix_from_quat(quat))
