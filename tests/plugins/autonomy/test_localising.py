"""`skyloop localise` on a short flight: our journal, EuRoC's layout, the scores, the files, and bad input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from in_process import record_here
from skyloop.cli import app
from skyloop.cli.verbs import execute
from skyloop.datasets.recording_run import plan_recording
from skyloop.recording.replay import open_replay
from skyloop.sim.scenario import load_scenario
from skyloop_autonomy.evaluation.vio_flights import ON_THE_TRUTH

pytestmark = pytest.mark.renders

RATE_HZ, FRAMES = 10.0, 56


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Up, 1.4 m of way with a turn: 5.6 s with small images of a distorting lens, as journal and as mav0/."""
    lens = {"model": "brown-conrady", "distortion": [-0.2, 0.05, 2e-4, 2e-5]}
    camera = {"width": 320, "height": 180, "rate_hz": RATE_HZ, **lens}
    changes: dict[str, Any] = ON_THE_TRUTH | {
        f"vehicles.drone.sensors.{eye}.{name}": value for eye in ("cam0", "cam1") for name, value in camera.items()
    }
    changes["vehicles.drone.pilot.stand"] = 0.7
    changes["vehicles.drone.pilot.takeoff_altitude"] = 0.7
    points = [[0, 0, 0.7], [0.9, 0, 0.7], [0.9, 0.5, 0.7]]
    legs = {"kind": "legs", "speed": 1.0, "acceleration": 1.5, "turn_rate": 1.0, "points": points}
    changes["vehicles.drone.pilot.trajectory"] = legs
    folder = tmp_path_factory.mktemp("localise") / "flight"
    scenario = load_scenario("room-vio", changes)
    plan_recording(scenario, folder, frames=FRAMES, rate_hz=RATE_HZ, formats=("asl",), whole_flight=True)
    record_here(folder)
    return folder


@pytest.fixture(scope="module")
def localised(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    out = tmp_path_factory.mktemp("localised") / "out"
    done = CliRunner().invoke(app, ["localise", str(recorded), "--out", str(out), "--json"], catch_exceptions=False)
    return json.loads(done.stdout), out


@pytest.mark.slow("records and localises a whole flight")
def test_a_whole_flight_begins_on_the_ground(recorded: Path) -> None:
    truth = [message.data for message in open_replay(recorded).messages() if message.stream == "truth/drone"]
    assert truth[0].t_ns == 0
    heights = np.array([state.position[2] for state in truth])
    assert heights[0] < 0.2 and heights.max() > 0.6


def test_the_way_is_found(localised: tuple[dict[str, Any], Path]) -> None:
    summary, _ = localised
    assert summary["pairs"] == FRAMES
    assert summary["finite"] and summary["valid_share"] > 0.8
    assert summary["way_m"] > 1.0
    assert summary["ape_m"] < 0.05
    # the accelerometer's bias of 0.2 m/s² tilts the start by a degree, which the first motion corrects
    assert summary["ape_deg"] < 2.0
    assert 0.0 < summary["pair_ms"] <= summary["pair_p95_ms"] * 1.5
    assert set(summary["stages_ms"]) >= {"track", "filter"}
    assert summary["nees"] > 0.0


def test_evo_finds_the_same_error_in_the_files(localised: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    summary, out = localised
    evo = [Path(sys.executable).with_name("evo_ape"), "tum", out / "truth.tum", out / "estimate.tum", "--align"]
    done = subprocess.run(
        list(map(str, evo)), capture_output=True, text=True, timeout=60, env={**os.environ, "HOME": str(tmp_path)}
    )
    values = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines() if "\t" in line}
    assert values["rmse"] == pytest.approx(summary["ape_m"], abs=2e-6)


def test_the_pictures_are_there_and_show_something(localised: tuple[dict[str, Any], Path]) -> None:
    from PIL import Image

    _, out = localised
    for name in ("track.png", "errors.png", "biases.png", "features.png"):
        pixels = np.asarray(Image.open(out / name).convert("RGB"))
        assert pixels.std() > 8.0, name
    # the corners are drawn in green on a grey image
    drawn = np.asarray(Image.open(out / "features.png").convert("RGB")).astype(int)
    green = (drawn[..., 1] - drawn[..., 0] > 60) & (drawn[..., 1] - drawn[..., 2] > 60)
    assert green.sum() > 200


@pytest.mark.slow("localises a second time")
def test_a_euroc_folder_gives_the_same_way(
    recorded: Path, localised: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    shutil.copytree(recorded / "mav0", tmp_path / "sequence" / "mav0")
    done = CliRunner().invoke(
        app, ["localise", str(tmp_path / "sequence"), "--out", str(tmp_path / "out"), "--json"], catch_exceptions=False
    )
    summary = json.loads(done.stdout)
    assert (summary["left"], summary["right"], summary["imu"]) == ("drone/cam0", "drone/cam1", "drone/imu0")
    assert summary["ape_m"] == pytest.approx(localised[0]["ape_m"], abs=0.02)


def refused(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert execute(["localise", *words]) == 1
    said = capfd.readouterr().err.strip()
    assert said.count("\n") == 0
    return said


def test_bad_input_is_one_line(recorded: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert "is not a dataset" in refused(capfd, str(tmp_path), *out)
    assert "--align upside-down" in refused(capfd, str(recorded), "--align", "upside-down", *out)
    assert "--step 0" in refused(capfd, str(recorded), "--step", "0", *out)
    assert "no vehicle 'plane'" in refused(capfd, str(recorded), "--vehicle", "plane", *out)
    assert "it holds drone/imu0 (ImuSample)" in refused(capfd, str(recorded), "--left", "nose", *out)
    assert not (tmp_path / "out").exists()
