"""The C++ example flies its tasks: what it answers, and that a slow camera makes it turn too far."""

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_flight import FX, HEIGHT, WIDTH, SmallFlight
from small_server import SmallServer

from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario
from skyloop_client.tasks import anchor

pytestmark = [pytest.mark.processes, pytest.mark.needs("g++")]


@pytest.fixture(scope="session")
def sut(build: Callable[..., Path]) -> Path:
    return build("examples/cpp-sut/sut.cpp", "-O1")


def fly(flight: SmallFlight, *command: str | Path) -> dict[str, Any]:
    with SmallServer(flight.serve) as server:
        done = subprocess.run([*command, "--address", server.address], capture_output=True, timeout=100, text=True)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    result: dict[str, Any] = json.loads(line)
    return result


def test_sensor_characterisation(sut: Path) -> None:
    result = fly(SmallFlight((4, 0), math.pi / 2), sut, "sensor-characterisation", "--stream", "range")
    assert result["loops"] == result["got"] == 100
    assert result["seconds_per_sample"] == pytest.approx(0.1, rel=0.02)
    hurried = fly(SmallFlight((4, 0), math.pi / 2), sut, "sensor-characterisation", "--fresh", "0", "--clock", "cpu")
    assert hurried["got"] < 30, "an answer without a sample is not a sample"


@pytest.mark.parametrize("place", [(4.0, 0.0), (4.0, 1.5), (6.0, -2.0)])
def test_relative_position(sut: Path, place: tuple[float, float]) -> None:
    result = fly(SmallFlight(place, math.pi / 2), sut, "relative-position")
    # as exact as half a pixel of the board's height
    assert result["angle"] == pytest.approx(math.atan2(place[1], place[0]), abs=0.006)
    assert result["distance"] == pytest.approx(math.hypot(*place), rel=0.06)


@pytest.mark.parametrize(
    ("place", "tilt_deg"),
    [((4.0, 0.0), 0.0), ((4.0, 2.9), 2.0), ((7.5, -3.0), -5.0), ((12.0, 1.0), 10.0), ((1.2, 0.2), -5.0),
     ((30.0, 0.0), 0.0)],
)  # fmt: skip
def test_it_sees_what_the_python_task_sees(sut: Path, place: tuple[float, float], tilt_deg: float) -> None:
    """A vehicle that brakes, or stands against the wind, is tilted, and so is the board in its image."""
    flight = SmallFlight(place, math.pi / 2)
    flight.tilt = math.radians(tilt_deg)
    picture = flight.picture(np.zeros(2), 0.0)
    lens = anchor.Intrinsics(FX, FX, (WIDTH - 1) / 2, (HEIGHT - 1) / 2)
    roi = anchor.AnchorTracker(anchor.Anchor()).find(picture)
    words = ["relative-position", "--most-images", "3"]
    if roi is None:  # too small to be believed
        with pytest.raises(AssertionError, match="no anchor in"):
            fly(flight, sut, *words)
        return
    result = fly(flight, sut, *words)
    assert result["pixels"] == roi.pixels
    assert result["angle"] == pytest.approx(roi.angle(lens), abs=1e-6)
    assert result["distance"] == pytest.approx(roi.distance(lens, 0.5), rel=1e-6)


def test_facing_an_anchor(sut: Path) -> None:
    flight = SmallFlight((4, 2.5), math.pi / 2)
    result = fly(flight, sut, "face-anchor")
    assert result["oscillations"] == 0
    assert abs(math.atan2(2.5, 4) - flight.yaw) < 0.03
    assert [item["@"] for item in flight.sent[:2]] == ["Arm", "TakeOff"]
    assert flight.sent[-1] == {"@": "Hover"}
    assert result["timings"]["relative-position"]["runs"] == result["loops"] + 1


def test_too_few_images_make_it_turn_too_far(sut: Path) -> None:
    result = fly(SmallFlight((4, 2.5), math.pi / 2, image_period_s=0.4), sut, "face-anchor")
    assert result["oscillations"] >= 1
    assert abs(result["angle"]) <= 0.02
    assert result["time_s"] > 2.0


def test_a_slower_machine_takes_longer_over_each_image(sut: Path) -> None:
    per_image = []
    for speed in ("1", "0.02"):
        flight = SmallFlight((4, 2.5), math.pi / 2)
        result = fly(flight, sut, "face-anchor", "--clock", "cpu", "--speed", speed)
        per_image.append(flight.computed_ns / result["timings"]["relative-position"]["loops"])
    # fifty times, but for what a busy machine does to its caches
    assert 20 < per_image[1] / per_image[0] < 120


def test_moving_forward_ends_abeam(sut: Path) -> None:
    flight = SmallFlight((2.5, 2.0), 0.0)
    result = fly(flight, sut, "move-forward")
    assert abs(flight.position[0] - 2.5) < 0.1
    assert abs(flight.position[1]) < 0.1
    assert result["turned"] == pytest.approx(math.pi / 2, abs=0.05)
    assert result["faced"] > 5


def test_a_closed_path_closes(sut: Path) -> None:
    flight = SmallFlight((5, 0.3), math.pi / 2)
    result = fly(flight, sut, "closed-path", "--distance", "1.5")
    # what is flown on after each leg is alike on opposite sides
    assert np.hypot(*flight.position) < 0.15
    assert result["displacement"] == pytest.approx(np.hypot(*flight.position), abs=0.1)
    assert 8 < result["time_s"] < 20


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["juggle"], "no task 'juggle'"),
        (["face-anchor", "--rate", "fast"], "--rate needs a number"),
        (["face-anchor", "--colour", "blue"], "no option '--colour'"),
        (["face-anchor", "--rate"], "--rate needs a value"),
        (["face-anchor", "--speed", "2"], "needs the clock 'cpu'"),
        (["face-anchor", "--clock", "cpu", "--speed", "0"], "0.0001 to 1000"),
        (["face-anchor", "--clock", "sun"], "no clock named 'sun'"),
        (["face-anchor", "--address", "127.0.0.1:1"], "no simulator at 127.0.0.1:1"),
    ],
)
def test_what_it_cannot_do_it_says_in_one_line(sut: Path, words: list[str], why: str) -> None:
    done = subprocess.run([sut, *words], capture_output=True, timeout=60, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert why in line


@pytest.mark.needs("aarch64-linux-gnu-g++", "qemu-aarch64")
def test_it_flies_on_an_emulated_board(build: Callable[..., Path]) -> None:
    board = build("examples/cpp-sut/sut.cpp", "-O0", "-static", compiler="aarch64-linux-gnu-g++")
    result = fly(SmallFlight((4, 1.0), math.pi / 2), "qemu-aarch64", board, "relative-position")
    assert result["angle"] == pytest.approx(math.atan2(1, 4), abs=0.006)


def test_it_flies_with_the_simulator(sut: Path, tmp_path: Path) -> None:
    scenario = load_scenario("hover", {"duration": 12})
    summary = run_scenario(
        scenario, tmp_path / "run", links=[LoopConfig(target=LocalProcess([str(sut), "ascend", "--altitude", "1"]))]
    )
    result = json.loads((tmp_path / "run" / "sut.txt").read_text())
    assert 2 < result["time_s"] < 10
    link = summary["links"]["loop"]
    assert link["violations"] == 0
    # one question to begin with, then one for each pass
    assert link["interactions"] == result["loops"] + 1


def test_the_simulators_samples_come_at_their_rate(sut: Path, tmp_path: Path) -> None:
    scenario = load_scenario("hover", {"duration": 2})
    words = ["sensor-characterisation", "--stream", "imu", "--samples", "150"]
    run_scenario(scenario, tmp_path / "run", links=[LoopConfig(target=LocalProcess([str(sut), *words]))])
    result = json.loads((tmp_path / "run" / "sut.txt").read_text())
    assert result["seconds_per_sample"] == pytest.approx(1 / 200, rel=0.02)
