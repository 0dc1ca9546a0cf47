"""What a SUT can run on: started, watched, ended; with real processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from link_rig import eventually
from skyloop import cli
from skyloop.links.loop import targets
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import EmulatedBoard, LocalProcess, Remote, ThrottledProcess, compiled, make_target
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario
from skyloop_client.errors import LinkError, SetupError

ROOT = Path(__file__).parents[2]

BOARD = """
#include "skyloop_client.hpp"

int main(int, char** words) {
    skyloop::Client client;
    client.send(skyloop::Arm{}, skyloop::TakeOff{1.0});
    const auto& bundle = client.sleep_until(client.now() + 300'000'000);
    std::printf("%s armed %d on a processor of %d bits\\n", words[1], bundle.status["armed"].boolean(),
#ifdef __aarch64__
                64
#else
                0
#endif
    );
}
"""

has_board = pytest.mark.needs("aarch64-linux-gnu-g++", "qemu-aarch64")


def prints(*words: str) -> list[str]:
    """A command that prints expressions, then waits for its end."""
    return [sys.executable, "-S", "-c", f"import os, signal, time\n{'; '.join(words)}\ntime.sleep(60)"]


def printed(folder: Path) -> str:
    file = folder / "sut.txt"
    assert eventually(lambda: file.exists() and file.read_text().endswith("\n"))
    return file.read_text()


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def is_gone(pid: int) -> bool:
    return bool(eventually(lambda: state_of(pid) in "gone Z"))


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.processes
def test_a_local_process_hears_where_and_how_fast_and_is_ended_with_its_children(tmp_path: Path, freeze: bool) -> None:
    names = [f"os.environ['SKYLOOP_{name}']" for name in ("ADDRESS", "CLOCK", "SPEED")]
    child = "child = os.fork() or (signal.signal(signal.SIGTERM, signal.SIG_IGN), time.sleep(60))"
    target = LocalProcess(
        prints(child, f"print({', '.join(names)}, os.getpid(), child, flush=True)"), speed=0.5, freeze=freeze
    )
    target.start("127.0.0.1:4701", tmp_path)
    try:
        address, clock, speed, *pids = printed(tmp_path).split()
        assert (address == "127.0.0.1:4701") is not freeze, "an agent has a port of its own"
        assert address.startswith("127.0.0.1:")
        assert (clock, float(speed)) == ("cpu", 0.5)
        assert target.ended() is None
    finally:
        target.stop()
    assert target.ended() is not None
    assert all(is_gone(int(pid)) for pid in pids)


@pytest.mark.processes
def test_a_stopped_process_is_ended_too(tmp_path: Path) -> None:
    target = LocalProcess(prints("print(os.getpid(), flush=True)"))
    target.start("127.0.0.1:4701", tmp_path)
    pid = int(printed(tmp_path))
    os.kill(pid, signal.SIGSTOP)
    target.stop()
    assert is_gone(pid)
    assert target.ended() == f"signal SIGTERM: {pid}"


@pytest.mark.processes
def test_a_sut_may_finish_when_the_flight_is_over(tmp_path: Path) -> None:
    """It has heard of the end from the link; what it writes then must not be cut short."""
    program = "import time; print('heard', flush=True); time.sleep(0.1); print('finished')"
    target = LocalProcess([sys.executable, "-S", "-c", program])
    target.start("127.0.0.1:4701", tmp_path)
    printed(tmp_path)
    target.stop()
    assert target.ended() == "exit code 0: finished"


@pytest.mark.processes
def test_how_a_sut_ended_is_told_with_its_last_words(tmp_path: Path) -> None:
    target = LocalProcess(
        [sys.executable, "-S", "-c", "import sys; print('first'); sys.exit('no camera')"], freeze=True
    )
    target.start("127.0.0.1:4701", tmp_path)
    assert eventually(target.ended) == "exit code 1: no camera"
    with pytest.raises(LinkError, match="cannot start the SUT '/no/such'"):
        LocalProcess(["/no/such"]).start("127.0.0.1:4701", None)


@pytest.mark.processes
def test_a_throttled_process_is_stopped_again_and_again(tmp_path: Path) -> None:
    target = ThrottledProcess(prints("print(os.getpid(), flush=True)", "exec('while 1: pass')"), 0.3)
    target.start("127.0.0.1:4701", tmp_path)
    try:
        pid = int(printed(tmp_path))
        assert eventually(lambda: state_of(pid) == "T")
        seen = []
        for _ in range(100):
            time.sleep(0.003)
            seen.append(state_of(pid))
    finally:
        target.stop()
    # 70 by design; on a busy machine it is stopped and continued late
    assert 20 <= seen.count("T") <= 98
    assert is_gone(pid)


@has_board
@pytest.mark.processes
def test_an_emulated_board_flies(tmp_path: Path) -> None:
    source = tmp_path / "small_board.cpp"
    source.write_text(BOARD)
    board = EmulatedBoard([str(source), "here:"], includes=[ROOT / "clients" / "cpp"])
    summary = run_scenario(
        load_scenario("hover", {"duration": 2.0}), tmp_path / "run", links=[LoopConfig(wait_s=20.0, target=board)]
    )
    assert (tmp_path / "run" / "sut.txt").read_text() == "here: armed 1 on a processor of 64 bits\n"
    link = summary["links"]["loop"]
    assert (link["interactions"], link["violations"]) == (2, 0)


@has_board
@pytest.mark.processes
def test_a_board_is_built_again_when_a_header_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "CACHE_FOLDER", tmp_path / "cache")
    source, header = tmp_path / "tiny.cpp", tmp_path / "tiny.hpp"
    source.write_text('#include "tiny.hpp"\nint main() { return answer; }\n')
    header.write_text("constexpr int answer = 1;\n")
    first = compiled(source, board=True)
    built = first.stat().st_mtime_ns
    assert compiled(source, board=True) == first and first.stat().st_mtime_ns == built
    header.write_text("constexpr int answer = 2;\n")
    second = compiled(source, board=True)
    assert second != first
    assert {path.name for path in (tmp_path / "cache" / "boards").iterdir()} == {first.name, second.name}
    header.write_text("constexpr int answer = nonsense;\n")
    with pytest.raises(LinkError, match=r"cannot be compiled.*nonsense"):
        compiled(source, board=True)


def test_without_the_tools_the_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"g\+\+-aarch64-linux-gnu"):
        EmulatedBoard([str(tmp_path / "sut.cpp")])
    with pytest.raises(SetupError, match="qemu-user"):
        EmulatedBoard([str(tmp_path / "sut")])
    with pytest.raises(SetupError, match="openssh-client"):
        Remote(["sut"], "pi@board", tell=print).start("127.0.0.1:4701", None)


def test_a_person_is_told_what_to_start_on_the_remote_machine() -> None:
    reported: list[str] = []
    target = make_target("remote", ["./sut", "two words"], tell=reported.append)
    assert target is not None
    target.start("10.0.0.2:4700", None)
    assert reported == ["on the target run: SKYLOOP_ADDRESS=10.0.0.2:4700 ./sut 'two words'"]
    assert target.ended() is None
    target.stop()


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ([], "skyloop-client pilot YOUR_PILOT.py:NAME --connect"),
        (["--pilot", "mine.py:Pilot"], "skyloop-client pilot mine.py:Pilot --connect"),
        (
            ["--pilot", "scenario", "--set", "vehicles.drone.pilot.altitude=3"],
            "skyloop-client pilot skyloop.vehicle.pilots.pilots:pilot_from --rate 10.0 --vehicle drone --options "
            '\'{"kind": "hover", "altitude": 3.0, "duration": 10.0}\' --connect',
        ),
        (["--task", "face-anchor"], "python3 -m skyloop_client.tasks face-anchor --connect"),
        (["--estimator", "vio.py:Vio"], "skyloop-client estimator vio.py:Vio --vehicle drone --name vio --connect"),
    ],
)
def test_a_remote_target_waits_with_the_line_to_type(
    words: list[str], typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also without a pilot, whose file is on the other machine. On time-out the error names the option."""
    monkeypatch.chdir(tmp_path)
    arguments = ["--target", "remote", "--listen", "127.0.0.1:0", "--wait", "0.01"]
    monkeypatch.setattr(sys, "argv", ["skyloop", "loop", "hover", *words, *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr().err
    assert ended.value.code == 1
    assert re.search(rf"on the target run: {re.escape(typed)} 127\.0\.0\.1:\d+\n", printed), printed
    assert "within 0.01 s; start one, or wait longer with --wait SECONDS" in printed.replace("\n", " ")
    assert "YOUR_PILOT" not in printed or not words


def test_an_ssh_target_needs_a_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["skyloop", "loop", "hover", "--target", "remote:pi@board"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "--target remote:pi@board starts a program there: give --pilot, --sut or --task" in capsys.readouterr().err


@pytest.mark.processes
def test_ssh_starts_the_sut_and_carries_the_link_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With something in ssh's place that runs the command here, where the tunnel's two ends are the same port."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nprintf "%s\\n" "$@" > "$0.said"\nexec /bin/sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    target = make_target("remote:pi@board", prints("print(os.environ['SKYLOOP_ADDRESS'], \"it's\", flush=True)"))
    assert target is not None
    target.start("127.0.0.1:4701", tmp_path)
    try:
        assert printed(tmp_path) == "127.0.0.1:4701 it's\n"
    finally:
        target.stop()
    said = (tmp_path / "ssh.said").read_text().splitlines()
    assert said[said.index("-R") + 1] == "127.0.0.1:4701:127.0.0.1:4701"
    assert "pi@board" in said


def test_targets_by_name() -> None:
    built = {name: make_target(name, ["sut"]) for name in ("local", "frozen", "throttled:0.2", "remote:pi@board")}
    assert {name: type(target) for name, target in built.items()} == {
        "local": LocalProcess, "frozen": LocalProcess, "throttled:0.2": ThrottledProcess, "remote:pi@board": Remote,
    }  # fmt: skip
    assert make_target("local", []) is None
    for name, speed in (
        ("elsewhere", 1.0),
        ("throttled:", 1.0),
        ("throttled:2", 1.0),
        ("local:x", 1.0),
        ("local", 0.0),
    ):
        with pytest.raises(LinkError):
            make_target(name, ["sut"], speed=speed)
    with pytest.raises(LinkError, match="leave out the speed"):
        make_target("throttled:0.2", ["sut"], speed=0.5)


@pytest.mark.processes
def test_the_command_line_flies_a_frozen_sut_at_a_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sut.py").write_text(
        "import time\nfrom skyloop_client import connect\nwith connect() as session:\n    session.ask()\n"
        "    time.sleep(0.1)\n    session.ask()\n"
    )
    words = ["loop", "hover", "--sut", shlex.join([sys.executable, str(tmp_path / "sut.py")]), "--target", "frozen"]
    summary = json.loads(_loop(words, tmp_path, monkeypatch, capsys, 0)["out"])
    link = summary["links"]["loop"]
    assert link["violations"] == 0
    assert any("slept" in line and "use sleep_until" in line for line in link["news"]), "a bare sleep is an event"
    assert "no target named 'moon'" in _loop([*words[:-1], "moon"], tmp_path, monkeypatch, capsys, 1)["err"]
    pilot = ["loop", "hover", "--pilot", "my.py:pilot", "--target", "board"]
    assert "give it with --sut" in _loop(pilot, tmp_path, monkeypatch, capsys, 1)["err"]


def _loop(words: list[str], folder: Path, monkeypatch: Any, capsys: Any, code: int) -> dict[str, str]:
    monkeypatch.setattr(sys, "argv", ["skyloop", *words, "--json", "--out", str(folder / "run")])
    main: Callable[[], Any] = cli.main
    with pytest.raises(SystemExit) as stop:
        sys.exit(main())
    assert (stop.value.code or 0) == code
    said = capsys.readouterr()
    return {"out": said.out, "err": said.err}


def test_a_person_is_told_an_address_that_another_machine_can_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    remote = Remote(["./sut"], tell=reported.append)
    monkeypatch.setattr(socket.socket, "getsockname", lambda _: ("198.51.100.7", 40_000))
    remote.start("0.0.0.0:4700", None)
    assert reported == ["on the target run: SKYLOOP_ADDRESS=198.51.100.7:4700 ./sut"]
    reported.clear()
    remote.start("127.0.0.1:4700", None)
    assert reported[0] == "on the target run: SKYLOOP_ADDRESS=127.0.0.1:4700 ./sut"
    assert reported[1] == "only this machine can reach 127.0.0.1:4700; for another one add --listen 0.0.0.0:4700"

    def cut_off(*_: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", cut_off)
    assert targets.reachable("0.0.0.0:4700") == f"{socket.gethostname()}:4700"


@pytest.mark.parametrize(
    ("arguments", "host"),
    [
        (["--target", "remote"], "0.0.0.0"),
        (["--target", "remote", "--listen", "127.0.0.1:0"], "127.0.0.1"),
        (["--target", "remote:me@board"], "127.0.0.1"),
        ([], "127.0.0.1"),
    ],
)
def test_only_a_bare_remote_target_opens_the_link_to_others(
    arguments: list[str], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def run(scenario: object, folder: Path, progress: object, links: list[LoopConfig], **told: object) -> None:
        opened.append(links[0].address[0])
        raise LinkError("seen enough")

    monkeypatch.setattr("skyloop.run.run_scenario", run)
    monkeypatch.setattr(sys, "argv", ["skyloop", "loop", "hover", "--sut", "./sut", *arguments])
    with pytest.raises(SystemExit):
        cli.main()
    assert opened == [host]
