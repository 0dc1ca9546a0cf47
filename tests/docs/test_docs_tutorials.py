"""docs/tutorials and docs/how-to/recipes.md: every command and program on them runs, in the order of the page.

In the fast suite flights and recordings are cut short; the slow one types what the pages say.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from PIL import Image

from page_runs import DOCS, PageRun, make_commands_once, plot_nothing, record_here

pytestmark = pytest.mark.renders
RECORD = ["--world", "radar-lab", "--frames", "3", "--speed", "1", "--sensors", "rgb,imu", "--workers", "1",
          "--size", "64x48"]  # fmt: skip
SHORT: dict[str, dict[str, Sequence[str]]] = {
    "tutorials/dataset": {"skyloop record": RECORD},
    "tutorials/controller": {
        # from where the circle begins, and low
        "skyloop run circle-wind": [
            "--set",
            "vehicles.drone.position=[10, 0]",
            "--set",
            "vehicles.drone.pilot.takeoff_altitude=2",
            "--set",
            "vehicles.drone.pilot.trajectory.centre=[0, 0, 2]",
            "--set",
            "duration=9",
        ],
        "skyloop run gps-outage": ["--set", "duration=4"],
        "skyloop run examples/own_estimator.yaml": ["--set", "duration=4"],
        "skyloop loop": ["--set", "duration=1"],
    },
    "tutorials/own-airframe": {"skyloop run": ["--set", "duration=0.5"]},
    "tutorials/reinforcement-learning": {"python learn.py": ["1"], "skyloop run": ["--set", "duration=0.5"]},
}
LEFT = {command for command in PageRun("tutorials/dataset", Path(), {}).commands() if "--seeds 2..3" in command}
"""Only in full: test_docs_datasets.py types nearly the same command."""
TYPED = [
    pytest.param(
        name,
        short,
        marks=[] if short else pytest.mark.slow("flights and recordings of full length"),
        id=f"{name}{'' if short else ' in full'}",
    )
    for name, short in [*SHORT.items(), *((name, {}) for name in (*SHORT, "how-to/recipes"))]
]


@pytest.mark.parametrize(("name", "short"), TYPED)
def test_the_page_runs(
    name: str,
    short: dict[str, Sequence[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(DOCS.parent / "examples", tmp_path / "examples")
    page = PageRun(name, tmp_path, short, LEFT if short else ())
    if short:
        plot_nothing(monkeypatch)
        record_here(monkeypatch)
        make_commands_once(monkeypatch)
    page.run(monkeypatch, capsys)
    assert page.printed and all(page.printed.values())
    JUDGED[name](page)
    if not short:
        for block in page.blocks:
            if block.language == "text":
                assert_told(block.text, "\n".join(page.printed.values()))


def assert_told(text: str, printed: str) -> None:
    """What a page shows is printed, whatever the numbers are on this machine."""
    masked = re.sub(r"[\d.]+", "#", printed)
    for line in text.splitlines():
        if line.strip() and line.strip() != "...":
            assert re.sub(r"[\d.]+", "#", line.strip()) in masked, line


def dataset(page: PageRun) -> None:
    assert "sky" in page.printed["python read_dataset.py"] and "no defects" in page.printed["skyloop check data/park"]
    assert (page.folder / "data/park/report.html").stat().st_size > 10_000
    labelled = "data/park/coco" if page.shortened else "data/parks/coco"
    assert json.loads(next((page.folder / labelled).rglob("*.json")).read_text())["images"]


FLOWN = ("cascade", "mine", "stiff")


def controller(page: PageRun) -> None:
    summaries = {name: json.loads((page.folder / f"runs/{name}/summary.json").read_text()) for name in FLOWN}
    off = {name: summary["vehicles"]["drone"]["tracking_error_rms_m"] for name, summary in summaries.items()}
    assert off["cascade"] < off["mine"] and off["stiff"] < off["mine"]
    assert "drone/ins: horizontal error" in page.printed["python estimates.py runs/own drone/ins drone/ekf"]
    assert (page.folder / "runs/outage/estimates.png").is_file()


def learning(page: PageRun) -> None:
    assert "round 0: mean" in page.printed["python learn.py"] and (page.folder / "learning.png").is_file()
    flown = json.loads((page.folder / "runs/policy/summary.json").read_text())["vehicles"]["drone"]
    assert any("armed" in event for event in flown["events"])
    if not page.shortened:
        assert all("crash" not in event for event in flown["events"]) and flown["flown_m"] < 8.0


def own_airframe(page: PageRun) -> None:
    """What the program fits is what the file says."""
    airframe = yaml.safe_load((page.folder / "hexa.yaml").read_text())
    fitted = yaml.safe_load(page.printed["python motor.py"])
    assert fitted == {name: float(airframe["motor" if name != "efficiency" else "battery"][name]) for name in fitted}
    assert "Hover throttle 68%, thrust to weight 2.13" in page.printed["skyloop show airframe hexa.yaml"]
    if not page.shortened:
        ends = {name: json.loads((page.folder / f"runs/{name}/summary.json").read_text())["vehicles"]["drone"]
                for name in ("mission", "one-lost", "two-lost")}  # fmt: skip
        assert [end["mission_completed"] for end in ends.values()] == [True, False, False]
        assert [end["crashed"] for end in ends.values()] == [False, False, True]


def recipes(page: PageRun) -> None:
    assert "gyro_noise_density" in page.printed["skyloop show sensor imu"]
    with Image.open(page.folder / "rain.jpg") as picture:
        assert picture.size == (960, 600)


JUDGED = {
    "tutorials/dataset": dataset,
    "tutorials/controller": controller,
    "tutorials/own-airframe": own_airframe,
    "tutorials/reinforcement-learning": learning,
    "how-to/recipes": recipes,
}


@pytest.mark.slow("test_docs_loop.py flies the same three ways in the fast suite")
@pytest.mark.parametrize("short", [True, False], ids=["short", "in full"])
def test_hardware_in_the_loop(
    short: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two commands that talk to each other are typed in two terminals."""
    quick: dict[str, Sequence[str]] = {
        "skyloop size": ["--steps", "1", "--runs", "1", "--set", "duration=3"],
        "skyloop loop face-anchor": ["--set", "duration=3"],
    }
    page = PageRun("tutorials/hardware-in-the-loop", tmp_path, quick if short else {})
    waiting = None
    for block in page.blocks:
        if block.title:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
        for command in block.text.splitlines() if block.language == "bash" else []:
            if "--listen" in command:
                words = [word.replace(":4700", ":0") for word in page.words(command)]
                waiting = subprocess.Popen(page.program(words), cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            elif command.startswith("skyloop-client"):
                assert waiting is not None and waiting.stderr is not None
                address = next(found[1] for line in waiting.stderr if (found := re.search(r"pilot at (\S+)", line)))
                words = [word.replace("127.0.0.1:4700", address) for word in page.words(command)]
                client = subprocess.run(page.program(words), cwd=tmp_path, capture_output=True, text=True, timeout=120)
                assert client.returncode == 0, client.stderr
                assert waiting.wait(60) == 0
                waiting.stderr.close()
            else:
                monkeypatch.chdir(tmp_path)
                page.type(command, monkeypatch, capsys)
    ways = [
        json.loads((tmp_path / "runs" / name / "summary.json").read_text()) for name in ("inside", "process", "remote")
    ]
    flown = [way["vehicles"]["drone"]["flown_m"] for way in ways]
    assert flown == pytest.approx([8.1] * 3, abs=0.1), "as the page says"
    assert (tmp_path / "runs" / "size" / "size.png").is_file()


def test_every_tutorial_is_run_by_a_test() -> None:
    pages = {path.stem for path in (DOCS / "tutorials").glob("*.md")} - {"index"}
    tested = {name.split("/")[1] for name in SHORT} | {"hardware-in-the-loop", "airsim-script"}
    assert pages <= tested
