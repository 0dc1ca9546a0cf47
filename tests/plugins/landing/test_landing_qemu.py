"""The firmware under QEMU against the Python reference: the same bytes, the same execution times in two runs."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from landing_firmware import SOURCES, firmware, needs_board
from landing_lists import clutter, listed, marker_objects
from skyloop_client.errors import LinkEnded, LinkError, SetupError
from skyloop_landing.board.choice import firmware_numbers
from skyloop_landing.board.pc_procedure import figure_sizes
from skyloop_landing.board.python_program import PythonProgram, ReferenceMind
from skyloop_landing.board.qemu_board import QemuProgram
from skyloop_landing.board.serial_frames import altitude_frames, size_frames
from skyloop_landing.vision.control import LandingControlConfig
from skyloop_landing.vision.figures import find_marker

pytestmark = pytest.mark.processes

PERIOD_NS = 16_666_667


@pytest.fixture(scope="module")
def elf(tmp_path_factory) -> Path:
    return firmware(tmp_path_factory.mktemp("firmware"))


def a_flight(seed: int, turns: int):
    """(t_ns, received, words) of a descent with noise, garbage, false sightings and missing images."""
    chance = random.Random(seed)
    altitude = 7.0
    for k in range(turns):
        received = b"T111" if k == 3 or chance.random() < 0.003 else b""
        if chance.random() < 0.001:
            received += b"T000"
        if chance.random() < 0.8:
            received += altitude_frames(altitude + chance.gauss(0.0, 0.02))
        if turns // 3 < k and chance.random() < 0.5:
            received += size_frames(*figure_sizes(altitude + chance.gauss(0.0, 0.2)))
        if chance.random() < 0.1:
            received += chance.randbytes(chance.randrange(9))
        altitude = max(0.3, altitude - 7.0 / turns)
        x, y, angle = 640.0 + chance.gauss(0, 3), 360.0 + 320.0 / altitude + chance.gauss(0, 3), chance.gauss(0, 0.02)
        if chance.random() < 0.1:
            x, y, angle = chance.uniform(0, 1280), chance.uniform(0, 720), chance.uniform(-4.0, 4.0)
        objects = marker_objects(x, y, angle, altitude, chance if chance.random() < 0.3 else None)
        if chance.random() < 0.1:
            objects += clutter(chance, chance.randrange(40))
        yield (k + 1) * PERIOD_NS, received, listed(objects, k + 1).words() if chance.random() < 0.95 else None


def flown(program, seed: int, turns: int):
    return [(program.turn(*given), program.least_area) for given in a_flight(seed, turns)]


@needs_board
@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        (
            "touchdown",
            {"altitude_filter": False, "second_stage": "published", "descent_gain": 0.3, "camera_ahead": 0.0},
        ),
        ("touchdown", {"median_of": 7, "landing_height": 2.0, "hold": 0.1, "land_within": 0.5}),
        ("published", {"second_stage": "aligned", "when_lost": "go on", "aligned_within_deg": 20.0}),
    ],
)
def test_firmware_says_what_the_reference_says(elf, rules, changes):
    config = LandingControlConfig(**changes)
    reference = flown(PythonProgram(ReferenceMind(config, rules)), 7, 120)
    with closing(QemuProgram(elf, rules=rules, config=firmware_numbers(config))) as emulated:
        same = flown(emulated, 7, 120)
    assert [(turn.sent, area) for turn, area in same] == [(turn.sent, area) for turn, area in reference]
    # not silence: commands, questions and a trigger's echo
    said = b"".join(turn.sent for turn, _ in same)
    assert said.count(b"v:") > 40 and said.count(b"t:1") >= 1


@needs_board
def test_two_runs_give_the_same_bytes_and_execution_times(elf):
    """And those of the reference with its own gains."""
    runs = []
    for _ in range(2):
        with closing(QemuProgram(elf)) as emulated:
            runs.append(flown(emulated, 9, 80))
    assert runs[0] == runs[1]
    assert [turn.sent for turn, _ in runs[0]] == [turn.sent for turn, _ in flown(PythonProgram(ReferenceMind()), 9, 80)]
    # thousands of instructions at 650 MHz
    times = [turn.execution_ns for turn, _ in runs[0] if b"v:" in turn.sent]
    assert min(times) > 1_000 and max(times) < 1_000_000 and len(set(times)) > 10


@needs_board
def test_figures_are_the_reference_s_bit_by_bit(elf):
    """Lists with many figures that nearly fit, at the same altitude for both."""
    chance = random.Random(3)
    config = [*firmware_numbers(LandingControlConfig(altitude_filter=False))]
    kinds: set[int] = set()
    with closing(QemuProgram(elf, config=config)) as emulated:
        emulated.turn(0, b"T111", None)
        for k in range(60):
            altitude_cm = chance.randrange(40, 1200)
            objects = clutter(chance, 20)
            for _ in range(chance.randrange(3)):
                x, y, angle = chance.uniform(0, 1280), chance.uniform(0, 720), chance.uniform(-4, 4)
                objects += marker_objects(x, y, angle, altitude_cm / 100.0, chance)
            given = listed(objects, k + 1)
            emulated.turn((k + 1) * PERIOD_NS, altitude_frames(altitude_cm / 100.0), given.words())
            found = find_marker(given, altitude_cm)
            # earlier markers matter only where none stands by itself
            assert emulated.kinds(len(objects)) == bytes(found.kinds)
            kinds |= set(found.kinds)
            if found.marker is not None:
                assert emulated.report.refusal == 0
                assert emulated.report.marker == (found.marker.x, found.marker.y, found.marker.heading)
    assert kinds >= {0, 1, 2, 4}


@needs_board
def test_a_slower_clock_takes_longer_in_proportion(elf):
    def time_of(**how):
        with closing(QemuProgram(elf, **how)) as emulated:
            return sum(turn.execution_ns for turn, _ in flown(emulated, 5, 8))

    fast, slow, dear = time_of(), time_of(clock_hz=65e6), time_of(cycles_per_instruction=2.0)
    assert slow == pytest.approx(10 * fast, rel=1e-3)
    assert dear == pytest.approx(2 * fast, rel=1e-3)


@needs_board
def test_an_emulator_killed_in_flight_is_one_clear_line(elf):
    with closing(QemuProgram(elf)) as emulated:
        emulated.turn(0, b"T111", None)
        os.kill(emulated._process._process.pid, signal.SIGKILL)
        with pytest.raises(LinkEnded, match=r"ended in mid-flight: qemu-system-arm signal SIGKILL"):
            for k in range(50):
                emulated.turn(k, b"", None)


@pytest.mark.needs("make")
def test_make_firmware_names_the_compiler_s_package(tmp_path):
    command = ["make", "-s", "-C", str(SOURCES), f"BUILD={tmp_path}", "CROSS=no-such-"]
    # under `make test` it would be told of the outer make's jobs
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(command, capture_output=True, text=True, env=plain)
    assert done.returncode != 0
    assert done.stderr.startswith("there is no no-such-gcc here; install the Debian package gcc-arm-none-eabi")


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    with pytest.raises(SetupError, match=r"run `make firmware`.*gcc-arm-none-eabi"):
        QemuProgram(tmp_path / "nothing.elf")
    program = tmp_path / "some.elf"
    program.write_bytes(b"\x7fELF")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"no qemu-system-arm here .*qemu-system-arm"):
        QemuProgram(program)
    with pytest.raises(LinkError, match="a board of 0 Hz"):
        QemuProgram(program, clock_hz=0.0)
    with pytest.raises(LinkError, match="no rules named 'mine'"):
        QemuProgram(program, rules="mine")
