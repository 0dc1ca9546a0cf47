"""docs/how-to/datasets.md: its commands run (with fewer frames), and its tables and snippets are true."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from page_runs import make_commands_once, record_here
from skyloop.cli import main
from skyloop.datasets.recording_run import GROUP_FRAMES
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.recording import open_recording
from skyloop.sensors.camera import Camera, CameraConfig

pytestmark = pytest.mark.renders
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "datasets.md").read_text(encoding="utf-8")
FRAMES = GROUP_FRAMES + 2
QUICK = ["--world", "radar-lab", "--speed", "1", "--workers", "1", "--size", "64x48"]
SHORTENED = {
    "data/park": [*QUICK, "--frames", str(FRAMES)],
    "data/parks": [*QUICK, "--frames", "2", "--seeds", "1..1"],
    "data/survey": ["--frames", "2", "--workers", "1"],
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    found = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def commands() -> list[str]:
    return [line for block in blocks("bash") for line in block.splitlines()]


@dataclass
class Ran:
    folder: Path
    printed: dict[str, str]
    resumed_as_before: bool = False


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for part in ("journal", "mav0")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


def cut_off(folder: Path) -> None:
    """As a kill within the last group leaves it: the end of a record, and many after it, are gone."""
    last = folder / "journal" / "group-000001.bin"
    last.write_bytes(last.read_bytes()[:-5001])


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """Every command of the page in order, in an empty folder; before `--resume` the recording is cut off."""
    out = Ran(tmp_path_factory.mktemp("datasets"), {})
    park = Path("data/park")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(out.folder)
        record_here(patch)
        make_commands_once(patch)
        Path("survey.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
        for command in commands():
            before = contents(park) if "--resume" in command else {}
            if before:
                cut_off(park)
            out.printed[command] = said_by(command.split(), patch)
            if before:
                out.resumed_as_before = contents(park) == before
        yield out


def said_by(words: list[str], patch: pytest.MonkeyPatch) -> str:
    short = SHORTENED[words[words.index("--out") + 1]] if words[1] == "record" else []
    # in this process: starting Python anew for each would take longer than what they do
    patch.setattr(sys, "argv", [*words, *short])
    with redirect_stdout(io.StringIO()) as said, pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code, words
    return said.getvalue()


def test_the_first_command_records_what_the_page_says(ran: Ran) -> None:
    folder = ran.folder / "data" / "park"
    assert ran.printed[commands()[0]].startswith(f"{FRAMES} frames, ")
    told = re.findall(r"`([\w.]+)/?`", " ".join(row[0] for row in rows(section("What is in the folder"))))
    assert {"plan.json", "recording.json", "journal", "mav0", "manifest.json", "report.html"} <= set(told)
    assert all((folder / name).exists() for name in told)
    named = set(re.findall(r"`([a-z_]+\d)`", section("ASL (EuRoC)"))) - {"mav1"}
    assert named == {path.name for path in (folder / "mav0").iterdir() if path.is_dir()}
    assert sum(1 for _ in (folder / "mav0" / "rgb0" / "data").iterdir()) == FRAMES


def test_later_commands_do_what_the_page_says(ran: Ran) -> None:
    assert ran.resumed_as_before
    replayed = ran.printed["skyloop replay data/park --speed 0"]
    assert re.search(rf"^ +{FRAMES}  drone/rgb0$", replayed, flags=re.MULTILINE)
    survey = ran.folder / "data" / "survey"
    assert {path.name for path in survey.iterdir()} >= {"mav0", "coco"}
    recorded = open_recording(survey)
    assert recorded.facts["seed"] == 1
    parks = ran.folder / "data" / "parks"
    told = re.findall(r"`([\w.-]+)`", " ".join(row[0] for row in rows(section("Several seeds"))))
    assert {path.name for path in parks.iterdir()} - {"summary.json"} == set(told) - {"voc", "seed-2"}
    infos = open_recording(ran.folder / "data" / "park").infos
    assert [name for name in infos if "radar0" in name] == ["drone/radar0/raw"], "processing is off in the rig"


def test_formats_and_where_they_lie(ran: Ran) -> None:
    told = {row[0].strip("`"): row[1].strip("`") for row in rows(section("The formats"))}
    assert told == {name: kind.output for name, kind in FORMATS.items()}
    for output in told.values():
        assert any((ran.folder / "data" / "park" / output).iterdir())
    assert [name for name, kind in FORMATS.items() if kind.grows] == ["asl"]


def test_topics_are_those_of_the_bag(ran: Ran) -> None:
    told = {topic: row[1].strip("`") for row in rows(section("MCAP")) for topic in re.findall(r"`(/[\w/]+)`", row[0])}
    bag = yaml.safe_load((ran.folder / "data" / "park" / "ros2" / "metadata.yaml").read_text(encoding="utf-8"))
    topics = bag["rosbag2_bagfile_information"]["topics_with_message_count"]
    assert told == {topic["topic_metadata"]["name"]: topic["topic_metadata"]["type"] for topic in topics}


def test_the_journal_is_read_by_the_page_s_own_reader(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(blocks("python")[1], names)
    assert capsys.readouterr().out.count("CameraImage (48, 64, 3)") == GROUP_FRAMES
    recording = open_recording(ran.folder / "data" / "park")
    ours = recording.group(0)
    theirs = list(names["messages"](recording.group_path(0)))
    assert [tuple(read[:4]) for read in theirs] == [(m.stream, m.index, m.t_ns, m.arrival_ns) for m in ours]
    for read, message in zip(theirs, ours, strict=True):
        fields = dict(read[4])
        assert fields.pop("@") == type(message.data).__name__
        for name, value in fields.items():
            if name == "normals" and value is not None:
                value = value / np.float32(127.0)  # as the page says
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(value, getattr(message.data, name))


def test_the_replay_of_the_page_runs(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks("python")[0], {})
    count = int(capsys.readouterr().out.split()[0])
    assert count == pytest.approx(200 * FRAMES / 20, abs=1)


def test_automatic_exposure_is_not_shared_out() -> None:
    """As the page says of what workers cannot save."""
    config = {"kind": "camera", "width": 32, "height": 24}
    assert Camera(CameraConfig.model_validate(config), 0.1).independent
    assert not Camera(CameraConfig.model_validate({**config, "auto_exposure": True}), 0.1).independent
