"""The target's agent with real processes: really frozen, really slow, really killed."""

from __future__ import annotations

import csv
import mmap
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_simulator import ScriptedSimulator

from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario

pytestmark = pytest.mark.processes

SECOND = 1_000_000_000

COUNTER = """
import mmap, threading, time
file = open({path!r}, "r+b")
memory = mmap.mmap(file.fileno(), 8)
def count():
    number = 0
    while True:
        number += 1
        memory[:] = number.to_bytes(8, "little")
threading.Thread(target=count, daemon=True).start()
"""
"""A second thread that counts where others can see it."""

CONNECT = """
import os, subprocess, sys, time
from skyloop_client import connect
session = connect()
"""


class Counter:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "counter"
        self.path.write_bytes(bytes(8))
        self._file = self.path.open("rb")
        self._memory = mmap.mmap(self._file.fileno(), 8, prot=mmap.PROT_READ)

    def __call__(self) -> int:
        return int.from_bytes(self._memory[:], "little")

    @property
    def program(self) -> str:
        return COUNTER.format(path=str(self.path))

    def close(self) -> None:
        self._memory.close()
        self._file.close()


@pytest.fixture
def counter(tmp_path: Path) -> Iterator[Counter]:
    built = Counter(tmp_path)
    yield built
    built.close()


@pytest.fixture
def simulator() -> Iterator[Callable[..., ScriptedSimulator]]:
    built: list[ScriptedSimulator] = []

    def make(answer: Callable[[dict[str, Any]], int | None], mode: str = "sync") -> ScriptedSimulator:
        built.append(ScriptedSimulator(answer, mode))
        return built[-1]

    yield make
    for each in built:
        each.close()


@pytest.fixture
def agent() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """agent(address, options, program) runs a Python program under an agent."""
    started: list[subprocess.Popen[str]] = []

    def start(address: str, options: list[str], program: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "skyloop_client", "agent", "--connect", address, *options]
        command += ["--", sys.executable, "-c", program]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=10)


def at_once(question: dict[str, Any]) -> int:
    return int(question["et_ns"])


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def stands_still(counter: Counter) -> bool:
    before = counter()
    time.sleep(0.01)
    return counter() == before > 0


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def test_a_second_thread_stands_still_while_a_question_is_held(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]], counter: Counter
) -> None:
    seen: list[tuple[int, int]] = []

    def hold(question: dict[str, Any]) -> int:
        assert wait_for(lambda: stands_still(counter))
        before = counter()
        time.sleep(0.2)  # what is frozen does not move, however long one looks
        seen.append((before, counter()))
        return at_once(question)

    held = simulator(hold)
    program = (
        CONNECT + counter.program + "time.sleep(0.1); session.ask(); time.sleep(0.1); session.ask(); session.close()"
    )
    process = agent(held.address, [], program)
    assert process.wait(timeout=20) == 0, process.communicate()
    (first, still_first), (second, still_second) = seen
    assert 0 < first == still_first
    assert still_first < second == still_second
    # that much wall time passed and none of it is execution time
    asked = [held.question()["et_ns"] for _ in range(2)]
    assert asked[1] - asked[0] >= 0.1 * SECOND
    assert held.hellos[0]["clock"] == "agent wall"


def test_other_threads_run_while_one_sleeps(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]], counter: Counter
) -> None:
    """An answer of a later instant comes when that much execution time was there for those who did not ask."""
    at_answer: list[tuple[int, float]] = []

    def later(question: dict[str, Any]) -> int:
        at_answer.append((counter(), time.perf_counter()))
        return int(question["et_ns"]) + SECOND // 5

    sleeping = simulator(later)
    agent(sleeping.address, [], CONNECT + counter.program + "session.ask(); session.ask(); time.sleep(60)")
    first, second = sleeping.question(), sleeping.question()
    assert wait_for(lambda: len(at_answer) == 2)
    assert at_answer[1][0] > at_answer[0][0] + 100
    assert second["came"] - at_answer[0][1] >= 0.2
    assert second["et_ns"] >= first["et_ns"] + SECOND // 5


def test_time_leaps_where_nobody_would_run(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    asleep = simulator(lambda question: int(question["et_ns"]) + 1000 * SECOND)
    program = CONNECT + "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    agent(asleep.address, [], program + "session.ask(); session.ask(); time.sleep(60)")
    asked = [asleep.question()["et_ns"] for _ in range(2)]
    assert 1000 * SECOND <= asked[1] - asked[0] < 1010 * SECOND


def test_an_answer_larger_than_the_systems_buffers(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    """The SUT must run to read it, and its time begins when it has."""
    large = simulator(at_once)
    large.ballast = np.arange(12 << 20, dtype=np.uint8)
    process = agent(large.address, [], CONNECT + "session.ask(); session.ask(); session.close()")
    assert process.wait(timeout=20) == 0, process.communicate()
    first, second = large.question(), large.question()
    assert first["et_ns"] < second["et_ns"]


def test_processor_time_of_all_processes_at_a_tenth_of_the_speed(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    asked = simulator(at_once)
    spin = "import time\nwhile time.process_time() < {}: pass"
    program = f"""{CONNECT}
session.ask()
mine = time.process_time()
{spin.format("mine + 0.1").partition(chr(10))[2]}
child = subprocess.Popen([sys.executable, "-S", "-c", {spin.format(0.15)!r}])
child.wait()
time.sleep(0.2)
session.ask()
session.close()
"""
    process = agent(asked.address, ["--speed", "0.1"], program)
    assert process.wait(timeout=20) == 0, process.communicate()
    first, second = asked.question(), asked.question()
    # 0.1 s of its own and 0.15 s of a child's, whatever the wall clock says and the sleep takes
    assert 2.3 * SECOND < second["et_ns"] - first["et_ns"] < 3.5 * SECOND
    # the sleep of 0.2 s, and whatever a busy machine makes of it
    assert 0.1 * SECOND < second["slept_ns"] < 10.0 * SECOND
    assert asked.hellos[0]["speed"] == 0.1
    reported = [et for et in asked.progress if first["et_ns"] < et < second["et_ns"]]
    assert len(reported) > 20, "the simulator may follow"


def test_a_throttled_process_gets_its_share_and_the_wall_clock_goes_on(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    free = simulator(at_once, mode="none")
    program = f"""{CONNECT}
session.ask()
wall, cpu = time.perf_counter(), time.process_time()
while time.perf_counter() < wall + 0.6: pass
print((time.process_time() - cpu) / (time.perf_counter() - wall))
session.ask()
"""
    process = agent(free.address, ["--throttle", "0.2"], program)
    share = float(process.communicate(timeout=20)[0])
    # other processes of this machine may take from it, the throttle alone gives
    assert 0.05 < share < 0.4
    first, second = free.question(), free.question()
    assert second["et_ns"] - first["et_ns"] >= 0.6 * SECOND
    assert second["slept_ns"] < 0.3 * SECOND, "to be stopped is not to sleep"


def test_a_slow_board_asks_late_where_nobody_keeps_its_time(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    """20 ms of processor time on a computer of a twentieth of the speed: 0.4 s, and getting ready is not counted."""
    came: list[float] = []

    def noting(question: dict[str, Any]) -> int:
        came.append(time.perf_counter())
        return at_once(question)

    free = simulator(noting, mode="none")
    program = f"""{CONNECT}
began = time.perf_counter()
session.ask()
cpu = time.process_time()
while time.process_time() < cpu + 0.02: pass
session.ask()
time.sleep(0.5)  # a slow computer sleeps no longer than a quick one
session.ask()
print(time.perf_counter() - began)
"""
    process = agent(free.address, ["--clock", "cpu", "--speed", "0.05"], program)
    assert float(process.communicate(timeout=30)[0]) < 3.0
    assert 0.4 <= came[1] - came[0] < 0.9
    assert 0.5 <= came[2] - came[1] < 0.9


SUT_WITH_CHILD = f"""{CONNECT}
child = subprocess.Popen(["sleep", "60"])
print(os.getpid(), child.pid, flush=True)
session.ask()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_frozen_sut_when_its_agent_is_killed(
    number: signal.Signals, simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    never = simulator(lambda question: None)
    process = agent(never.address, [], SUT_WITH_CHILD)
    never.question()
    assert process.stdout is not None
    pids = [int(pid) for pid in process.stdout.readline().split()]
    stat = Path(f"/proc/{pids[0]}/stat")
    assert wait_for(lambda: stat.read_text().rpartition(") ")[2][0] == "T"), "frozen"
    process.send_signal(number)
    assert process.wait(timeout=10) == (128 + number if number == signal.SIGTERM else -number)
    assert wait_for(lambda: not any(map(is_alive, pids)))


def test_the_suts_end_is_the_agents(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    asked = simulator(at_once)
    program = SUT_WITH_CHILD + "session.close(); sys.exit(7)"
    process = agent(asked.address, [], program)
    printed, _ = process.communicate(timeout=20)
    assert process.returncode == 7
    assert not any(map(is_alive, map(int, printed.split()))), "nor does what it has started outlive it"


def test_a_sut_that_does_not_notice_that_the_simulator_has_gone_is_ended(
    simulator: Callable[..., ScriptedSimulator], agent: Callable[..., subprocess.Popen[str]]
) -> None:
    asked = simulator(at_once)
    program = CONNECT + "print(os.getpid(), flush=True)\ntry: session.ask()\nfinally: time.sleep(60)"
    process = agent(asked.address, [], program)
    asked.question()
    asked.close()
    printed, complaint = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "the simulator has gone" in complaint
    assert not is_alive(int(printed))


def test_a_sut_that_cannot_be_started_is_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    from skyloop_client.__main__ import main

    assert main(["agent", "--connect", "127.0.0.1:1", "--", "/no/such/sut"]) == 1
    assert main(["agent", "--throttle", "0.5", "--speed", "0.1", "--", "true"]) == 1
    assert main(["agent", "--clock", "wall", "--speed", "0.1", "--", "true"]) == 1
    reported = capfd.readouterr().err
    assert "cannot start the SUT '/no/such/sut'" in reported
    assert "throttled" in reported and "needs the clock 'cpu'" in reported


TWO_VEHICLES = """
import threading, time
from skyloop_client import connect
def big():
    with connect(vehicle="big", spread=["imu"]) as session:
        while session.now() < 250_000_000:
            end = time.perf_counter() + 0.005
            while time.perf_counter() < end: pass
            until = session.now() + 20_000_000
            bundle = session.ask(until_ns=until, want=["imu"])
            assert bundle.t_ns >= until
            assert bundle.t_ns - bundle.get("imu").t_ns <= 5_000_000
def small():
    with connect(vehicle="small") as session:
        while session.ask(fresh=["imu"], want=["imu"]).t_ns < 300_000_000 or threads[0].is_alive():
            pass
        time.sleep(0.1)
        session.ask()
threads = [threading.Thread(target=big), threading.Thread(target=small)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_two_vehicles_of_one_sut_keep_the_order_of_time(tmp_path: Path) -> None:
    sut = tmp_path / "sut.py"
    sut.write_text(TWO_VEHICLES)
    target = LocalProcess([sys.executable, str(sut)], freeze=True)
    scenario = load_scenario("two-drones", {"duration": 3.0})
    summary = run_scenario(
        scenario, tmp_path / "run", links=[LoopConfig(ports=2, wait_s=20.0, hang_s=10.0, target=target)]
    )
    link = summary["links"]["loop"]
    assert (tmp_path / "run" / "sut.txt").read_text() == ""
    assert link["violations"] == 0
    assert sorted(pilot["vehicle"] for pilot in link["pilots"]) == ["big", "small"]
    with (tmp_path / "run" / "timeline.csv").open() as file:
        rows = list(csv.DictReader(file))
    asked = {name: [row for row in rows if row["vehicle"] == name] for name in ("big", "small")}
    assert len(asked["big"]) >= 5
    assert len(asked["small"]) >= 20
    # while one held a question the other one went on, and time with it
    big = [(int(row["et_ns"]), int(row["st_replied_ns"])) for row in asked["big"]]
    small = [int(row["et_ns"]) for row in asked["small"]]
    assert any(asked < et < replied for asked, replied in big for et in small)
    assert any("small slept" in line for line in link["news"]), link["news"]
