"""Several vehicles, each flown by a program of its own: one `skyloop loop`, a session and deadlines for each."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from left_out import leave_out
from link_rig import TWO, Computer, eventually, flying
from skyloop.cli.loop import deadline_table
from skyloop.cli.loop_programs import programs_from
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.messages import Number
from skyloop_papers.two_machines import why_not_apart
from three_machines import NODES, Machines

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "formation.py"
SCENARIO = ROOT / "examples" / "formation.yaml"
PAGE = (ROOT / "docs" / "explanations" / "loop.md").read_text(encoding="utf-8")
MS = 1_000_000


def scenario() -> Scenario:
    return make_scenario(TWO)


def test_options_name_their_vehicle_and_the_others_are_for_all() -> None:
    made = programs_from(
        scenario(), pilot=["b=fly.py:fly"], sut=["a=./x --y=3"], task=None, target=["frozen"],
        speed=["0.5", "b=0.1"], deadline=None,
    )  # fmt: skip
    assert [(one.vehicle, one.sut, one.pilot, one.target, one.speed) for one in made] == [
        ("a", "./x --y=3", None, "frozen", 0.5), ("b", None, "fly.py:fly", "frozen", 0.1),
    ]  # fmt: skip
    assert LoopConfig(vehicles=("b",)).flown(scenario()) == {"b"} and LoopConfig().flown(scenario()) == {"a", "b"}


def test_one_program_is_as_before() -> None:
    only = programs_from(make_scenario({"vehicles": [{"name": "drone"}]}), sut=["env A=1 ./x"], speed=["0.1"])
    assert [(one.vehicle, one.sut, one.speed) for one in only] == [("", "env A=1 ./x", 0.1)]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"pilot": ["c=fly.py:fly"]}, r"no vehicle named 'c'"),
        ({"pilot": ["a=x.py:f", "a=y.py:f"]}, r"--pilot is given twice for 'a'; with several vehicles write VEHICLE="),
        ({"sut": ["./x", "./y"]}, r"--sut is given twice; with several vehicles write VEHICLE=\.\.\."),
        ({"pilot": ["a=x.py:f"], "sut": ["./y"]}, r"--sut \./y: for which vehicle\? Write --sut VEHICLE=\./y"),
        ({"speed": ["quick"]}, r"--speed quick: give a number"),
    ],
)
def test_what_fits_no_vehicle_is_one_line(options: dict[str, list[str]], why: str) -> None:
    with pytest.raises(SkyloopError, match=why):
        programs_from(scenario(), **options)


def test_a_target_alone_flies_nothing_but_another_machine_is_told_what_to_type(
    caplog: pytest.LogCaptureFixture,
) -> None:
    near, far = programs_from(scenario(), target=["a=local", "b=remote"])
    with pytest.raises(SkyloopError, match=r"nothing flies 'a': give --sut, --pilot or --task a=\.\.\."):
        near.made(scenario())
    target = far.made(scenario())
    assert target is not None
    with caplog.at_level("INFO"):
        target.start("127.0.0.1:4700", None)
    typed = "SKYLOOP_VEHICLE=b skyloop-client pilot YOUR_PILOT.py:NAME --connect 127.0.0.1:4700"
    assert f"on the target run: {typed}" in caplog.text


def test_time_begins_when_each_vehicle_has_its_program() -> None:
    with flying(TWO, vehicles=("a", "b")) as rig, rig.connect(vehicle="a", clock=Computer()):
        assert rig.link.client_sessions.waited_for == "pilot of 'b'" and rig.link.blocks_time(1)
        with rig.connect(vehicle="b", clock=Computer()):
            assert rig.link.client_sessions.waited_for == ""


def test_a_vehicle_whose_program_never_comes_is_named() -> None:
    with (
        pytest.raises(LinkError, match=r"no pilot of 'b' came to port \d+ within 0\.2 s; start one, or wait longer"),
        flying(TWO, vehicles=("a", "b"), wait_s=0.2) as rig,
        rig.connect(vehicle="a", clock=Computer()),
    ):
        rig.thread.join(10.0)


def test_what_one_publishes_reaches_the_other_at_the_same_instant_whoever_asks_first() -> None:
    computer, got = Computer(), list[Any]()
    with (
        flying(TWO, vehicles=("a", "b")) as rig,
        rig.connect(vehicle="b", clock=Computer()) as later,
        rig.connect(vehicle="a", clock=computer) as earlier,
    ):
        earlier.publish("n", Number(0, 1.0, "m"))
        earlier.ask()
        asking = Thread(target=lambda: got.append(later.ask(want=["a/n"])))
        asking.start()
        assert not eventually(lambda: got, 0.2), "a computes at this instant, and its name comes first"
        earlier.publish("n", Number(0, 2.0, "m"))
        earlier.ask()
        computer.compute(MS)
        earlier.progress()
        asking.join(10.0)
        assert got[0].t_ns == 0 and got[0].get("a/n").value == 2.0


def test_the_table_has_a_row_of_deadlines_per_vehicle() -> None:
    computer = Computer()
    with flying(TWO, vehicles=("a", "b")) as rig, rig.connect(vehicle="b", clock=Computer()) as idle:
        with rig.connect(vehicle="a", clock=computer, duration=0.005) as busy:
            waiting = Thread(target=lambda: idle.sleep_until(100 * MS))
            waiting.start()
            busy.begin_task("look", 0.01)
            for cost in (2, 4, 9):
                computer.compute(cost * MS)
                busy.ask()
            busy.end_task("look")
            busy.ask()
        waiting.join(10.0)
        table = rig.link.summary()["vehicles"]
    # 9 ms are 4 more than declared, and the task took 15 of its 10
    counted = {"programs": 1, "deadlines_met": 3, "deadlines_missed": 2, "late_s": 0.005, "computed_s": 0.015}
    assert {key: table["a"][key] for key in counted} == counted
    assert table["a"]["cycle_s"]["count"] == 4 and table["a"]["cycle_s"]["max"] == 0.009
    assert (table["b"]["deadlines_met"], table["b"]["deadlines_missed"], table["b"]["late_s"]) == (0, 0, 0.0)
    head, row, _ = deadline_table(table)
    assert head.split("  ")[0] == "vehicle" and row.split()[:5] == ["a", "3", "2", "0.005", "4"]


# ---- whole processes


def formation(folder: Path, **programs: str) -> dict[str, Any]:
    """`skyloop loop` with these programs; its summary."""
    words = [sys.executable, "-m", "skyloop", "loop", str(SCENARIO), "--out", str(folder), "--json"]
    for vehicle, program in programs.items():
        words += ["--sut", f"{vehicle}={program}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads((folder / "summary.json").read_text()))


def says(cost: str = "") -> str:
    return shlex.join([sys.executable, str(PROGRAM), *([cost] if cost else [])])


def streams(folder: Path) -> str:
    """A mark of every byte of the recorded streams, without those of the link, which have ports in them."""
    marks = hashlib.sha256()
    for path in sorted((folder / "streams").rglob("*")):
        if path.is_file() and not path.relative_to(folder / "streams").parts[0].startswith("link"):
            marks.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return marks.hexdigest()


@pytest.mark.processes
@pytest.mark.slow("a whole flight with two programs, one of them slow")
def test_the_command_of_the_page_flies_two_programs_behind_agents_of_one_target(tmp_path: Path) -> None:
    """Measured on the processor's clock: a slow computer for the follower, and only it is late."""
    (command,) = re.findall(r"```bash\n(skyloop loop examples/formation.*?)```", PAGE, flags=re.DOTALL)
    words = shlex.split(command.replace("\\\n", "").replace("python3 ", f"{sys.executable} "))[1:]
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-m", "skyloop", *words, "--out", str(folder)], capture_output=True, text=True, timeout=300,
        check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    flown = json.loads((folder / "summary.json").read_text())
    assert flown["success"], flown["cause"]
    table = flown["links"]["loop"]["vehicles"]
    assert flown["links"]["loop"]["violations"] == 0 and list(table) == ["follow", "lead"]
    assert table["follow"]["cycle_s"]["p50"] > 20 * table["lead"]["cycle_s"]["p50"]
    assert table["follow"]["deadlines_missed"] > 100 > table["lead"]["deadlines_missed"]
    assert table["follow"]["late_s"] > 0.005
    for line in deadline_table(table):
        assert f"    {line}\n" in done.stdout
    (head,) = re.findall(r"^vehicle  .*", PAGE, flags=re.MULTILINE)
    assert head in done.stdout
    assert (folder / "sut-lead.txt").exists() and (folder / "sut-follow.txt").exists()


@pytest.mark.processes
@pytest.mark.slow("two whole flights, each with two programs")
def test_programs_that_say_how_long_they_compute_fly_the_same_bytes_twice(tmp_path: Path) -> None:
    first, second = (
        formation(tmp_path / name, lead=says("0.004"), follow=says("0.03")) for name in ("first", "second")
    )
    assert first["success"] and streams(tmp_path / "first") == streams(tmp_path / "second")
    assert first["links"]["loop"]["vehicles"] == second["links"]["loop"]["vehicles"]
    late = first["links"]["loop"]["vehicles"]["follow"]
    assert late["deadlines_missed"] > 300 and late["late_s"] == pytest.approx(0.01, abs=1e-6)
    assert first["links"]["loop"]["vehicles"]["lead"]["deadlines_missed"] == 0


@pytest.mark.processes
@pytest.mark.slow("a whole flight with two programs")
def test_a_program_that_dies_ends_the_control_of_its_vehicle_only(tmp_path: Path) -> None:
    dies = "import os; from skyloop_client import connect; from skyloop_client.messages import Arm, TakeOff; s = "
    dies += "connect(clock=lambda: 0); s.send(Arm(), TakeOff(3.0)); s.sleep_until(5_000_000_000); os._exit(7)"
    flown = formation(tmp_path / "run", lead=says("0.004"), follow=shlex.join([sys.executable, "-c", dies]))
    news = flown["links"]["loop"]["news"]
    assert any(re.match(r"5\.000 s follow left: 127\.0\.0\.1:\d+: ", line) for line in news), news
    assert any(" lead left: " in line and line.endswith("said goodbye") for line in news), news
    assert flown["simulated_s"] > 20.0 and flown["vehicles"]["follow"]["mode"] == "disarmed"
    assert flown["vehicles"]["lead"]["flown_m"] > 20.0 and not flown["vehicles"]["follow"]["crashed"]


@pytest.mark.processes
@pytest.mark.slow("a whole flight with two programs")
def test_a_program_that_ends_before_the_flight_is_named(tmp_path: Path) -> None:
    ends = shlex.join([sys.executable, "-c", "raise SystemExit(3)"])
    words = [sys.executable, "-m", "skyloop", "loop", str(SCENARIO), "--out", str(tmp_path / "run")]
    words += ["--sut", f"lead={says()}", "--sut", f"follow={ends}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    said = " ".join(done.stderr.split())
    assert done.returncode == 1
    assert "the SUT ended before it connected, exit code 3 (the program of 'follow')" in said, said


@pytest.mark.processes
@pytest.mark.slow("a whole flight on three machines")
def test_two_targets_each_with_an_agent_of_its_own(tmp_path: Path) -> None:
    """The simulator on one machine, and an agent with a program on each of two others."""
    if why_not_apart():
        leave_out("network namespaces")
    machines = Machines()
    try:
        words = ["-m", "skyloop", "loop", str(SCENARIO), "--out", str(tmp_path / "run"), "--listen",
                 f"{NODES[0]}:4700", "--target", "lead=remote", "--target", "follow=remote"]  # fmt: skip
        inside = machines.inside
        simulator = machines.keep([sys.executable, *words], inside=machines.namespaces[0])
        tried = f"import socket; socket.create_connection(({NODES[0]!r}, 4700), 1)"
        call = [*inside(machines.namespaces[1]), sys.executable, "-c", tried]
        assert eventually(lambda: subprocess.run(call, capture_output=True, check=False).returncode == 0, 120.0)
        for number, vehicle in enumerate(("lead", "follow"), 1):
            agent = [
                "-m",
                "skyloop_client",
                "agent",
                "--connect",
                f"{NODES[0]}:4700",
                "--",
                sys.executable,
                str(PROGRAM),
            ]
            program = ["env", f"SKYLOOP_VEHICLE={vehicle}", sys.executable, *agent]
            machines.keep(program, inside=machines.namespaces[number])
        assert simulator.wait(timeout=300) == 0
    finally:
        machines.close()
    flown = json.loads((tmp_path / "run" / "summary.json").read_text())
    news = flown["links"]["loop"]["news"]
    for address, vehicle in ((NODES[1], "lead"), (NODES[2], "follow")):
        assert any(f" {vehicle} connected: {address}:" in line for line in news), news
    assert flown["success"], flown["cause"]
    assert all(row["deadlines_met"] > 300 for row in flown["links"]["loop"]["vehicles"].values())
