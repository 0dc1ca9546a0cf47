"""The C++ client against a server written from the protocol page alone, and against bytes nobody should send."""

import json
import os
import socket
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from small_server import SmallServer, message, read

pytestmark = [pytest.mark.processes, pytest.mark.needs("g++")]

T0 = 5_000_000_000
IMAGE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
STATE = {
    "@": "VehicleState",
    "t_ns": T0,
    "position": np.array([1.0, 2.0, 3.0]),
    "velocity_world": np.zeros(3),
    "quat_wxyz": np.array([np.cos(0.35), 0.0, 0.0, np.sin(0.35)]),
    "angular_velocity_body": np.zeros(3),
    "from_the_future": 1,
}
FRONT = {
    "name": "drone/front",
    "message": "CameraImage",
    "rate": [30000, 1001],
    "vehicle": "drone",
    "latency_ns": 0,
    "mount": {"position": [0.1, 0.0, 0.0], "quat_wxyz": [1.0, 0.0, 0.0, 0.0]},
    "details": {"width": 6, "height": 4, "fx": 123.5, "seed": 2**64 - 1, "gimbal": None},
}
HELLO = {
    "type": "hello",
    "protocol": 1,
    "server": "test",
    "session": "s1",
    "vehicle": "drone",
    "vehicles": ["drone"],
    "mode": "sync",
    "t_ns": T0,
    "streams": {"drone/front": FRONT},
    "classes": ["sky"],
    "ports": [0],
    "from_the_future": {1: 2},
}
IMU = {"@": "ImuSample", "t_ns": 1, "angular_velocity": np.zeros(3), "specific_force": np.array([0.0, 0.0, 9.81])}
RANGE = {"@": "RangeSample", "t_ns": 1, "distance": float("nan"), "min_range": 0.1, "max_range": 4}
CAMERA = {"@": "CameraImage", "t_ns": 11, "colour": IMAGE}


def reply(number: int, t_ns: int, **more: Any) -> dict[str, Any]:
    return {"type": "reply", "number": number, "t_ns": t_ns, "state": STATE, "messages": {}, "refused": [], **more}


@pytest.fixture(scope="session")
def probe(build: Callable[..., Path]) -> Path:
    return build("tests/clients/link_probe.cpp", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def run(probe: Path, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "SKYLOOP_ADDRESS"}
    return subprocess.run([probe, *words], input=data, capture_output=True, timeout=60, env=environment)


def lines(done: subprocess.CompletedProcess[bytes]) -> list[Any]:
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_dtype_arrives(probe: Path) -> None:
    names = "?bBhHiIqQefdFD"
    arrays = {f"a{ord(name)}": np.array([[0, 1, 3], [100, 2, 7]]).astype(name) for name in names}
    arrays |= {
        "empty": np.zeros((900, 0, 3)),
        "scalar": np.array(2.5),
        "half": np.array([-6e-8, np.inf, -65504.0], "f2"),
    }
    (got,) = lines(run(probe, "decode", data=message({"type": "x", **arrays})[4:]))
    for name, array in arrays.items():
        assert got[name]["dtype"] == array.dtype.str
        assert got[name]["shape"] == list(array.shape)
        data = np.array(got[name]["data"])
        if array.dtype.kind == "c":
            data = data[:, 0] + 1j * data[:, 1]
        np.testing.assert_array_equal(data, array.ravel().astype(complex if array.dtype.kind == "c" else float))


def test_every_plain_value_arrives(probe: Path) -> None:
    total = [
        0,
        127,
        128,
        255,
        256,
        65535,
        65536,
        2**32,
        2**63 - 1,
        -1,
        -32,
        -33,
        -128,
        -129,
        -32769,
        -(2**31) - 1,
        -(2**63),
    ]
    values = {
        "total": total,
        "text": ["", "a" * 31, "b" * 32, "c" * 256, "d" * 65536],
        "real": [0.1, -1e300, float("inf")],
        "rest": [None, True, False, {"a": {}}, []],
        "long": list(range(70000)),
        "wide": {str(i): i for i in range(300)},
    }
    (got,) = lines(run(probe, "decode", data=message({"type": "x", **values})[4:]))
    assert {name: got[name] for name in values} == values


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (b"", "too short"),
        (struct.pack("<I", 5) + b"\x80", "longer than its message"),
        (struct.pack("<I", 1) + b"\x90", "should be a map"),
        (struct.pack("<I", 1) + b"\x80", "should be a string"),
        (struct.pack("<I", 100) + b"\x91" * 99 + b"\xc0", "nested too deeply"),
        (struct.pack("<I", 900) + b"\xc8\x03\x80\x01" * 225, "beyond the end|nested"),
        (struct.pack("<I", 5) + b"\xdd\xff\xff\xff\xff", "beyond the end"),
        (struct.pack("<I", 2) + b"\x80\x80", "after its end"),
    ],
)
def test_what_is_no_message_is_refused(probe: Path, head: bytes, why: str) -> None:
    done = run(probe, "decode", data=head)
    assert done.returncode == 1
    assert any(word in done.stderr.decode() for word in why.split("|")), done.stderr


BEYOND: list[tuple[str, list[int], int]] = [
    *(("<f8", [3], 0), ("|u1", [9], 0), ("|u1", [1], 9), ("|u1", [-1], 0), ("|u1", [1], -1)),
    *(("|u1", [2**32, 2**32], 0), ("|u1", [3, 2**62, 4], 0)),
    *((dtype, [1], 0) for dtype in ("|O8", ">f8", "<f", "<f0", "<f-8", "", "<", "\0f8", "<\x008", "<f123")),
]


def test_an_array_beyond_its_message_is_refused(probe: Path) -> None:
    for dtype, shape, start in BEYOND:
        array = msgpack.ExtType(1, msgpack.packb([dtype, shape, start]))
        data = message({"type": "x", "a": array})[4:] + bytes(8)
        assert run(probe, "decode", data=data).returncode == 1, (dtype, shape, start)


def test_broken_messages_never_crash(probe: Path) -> None:
    total = message(reply(1, T0, messages={"drone/front": [0, 1, 2, CAMERA], "drone/imu": [0, 1, 2, IMU]}))[4:]
    (got,) = lines(run(probe, "mutate", data=total))
    assert got["cut_refused"] == len(total)
    assert 5_000 + len(total) < got["refused"] < got["tried"]


def test_a_session(probe: Path) -> None:
    heard: list[Any] = []

    def serve(connection: socket.socket, _: int) -> None:
        heard.append(read(connection))
        connection.sendall(message(HELLO))
        heard.append(read(connection))
        connection.sendall(
            message({"type": "news", "of": "the future"}) + message(reply(1, T0 + 7, refused=["Land: no"]))
        )
        heard.append(read(connection))
        sent = {"drone/front": [4, 11, 12, CAMERA], "drone/imu": [9, 13, 14, IMU]}
        connection.sendall(message(reply(2, T0 + 2_000_000_000, messages=sent)))
        heard.append(read(connection))
        answer = message(reply(3, T0 + 3_000_000_000, messages={"drone/range": [1, 15, 16, RANGE]}))
        for i in range(len(answer)):  # in the smallest pieces a network can make
            connection.sendall(answer[i : i + 1])
        heard.append(read(connection))

    with SmallServer(serve) as server:
        hello, first, second, third, last = lines(run(probe, "fly", server.address))
    assert hello == {"vehicle": "drone", "fx": 123.5, "rate_hz": pytest.approx(30000 / 1001)}
    said, one, two, three, bye = heard
    assert said["type"] == "hello" and said["protocol"] == 1 and said["clock"] == "wall" and said["watch"] is False
    assert said["session"] == said["vehicle"] == "" and said["period_ns"] is None and said["speed"] == 1.0
    assert one["type"] == "ask" and one["number"] == 1 and one["want"] == one["fresh"] == [] and one["until_ns"] is None
    assert one["send"] == [
        {"@": "Arm"},
        {"@": "TakeOff", "altitude": 1.5},
        {"@": "Velocity", "velocity": [1, 2, 3], "frame": "body", "yaw": None, "yaw_rate": 0.25},
        {"@": "Position", "position": [4, 5, 6], "yaw": 0.5, "yaw_rate": 0, "velocity": [0, 0, 0]},
        {"@": "Goal", "position": [7, 8, 9], "yaw": None, "speed": None},
        *({"@": name} for name in ("Hover", "Land", "Disarm")),
    ]
    assert two["want"] == ["front", "imu"] and two["fresh"] == ["front"] and two["until_ns"] > T0 + 1_000_000_000
    assert three["want"] is None and three["send"] == []
    assert bye == {"type": "bye"}

    # ET goes on from each answer, and only by what was computed
    assert one["et_ns"] > T0 and T0 + 7 <= first["now"] <= two["et_ns"]
    assert three["et_ns"] >= T0 + 2_030_000_000
    assert 20_000_000 < three["slept_ns"] <= three["et_ns"] - (T0 + 2_000_000_000) + 1_000_000 or three["slept_ns"] == 0

    assert first["refused"] == 1 and second["refused"] == 0 and first["samples"] == {}
    assert first["yaw"] == pytest.approx(0.7)
    assert second["samples"]["drone/front"][:3] == [4, 11, 12]
    assert second["samples"]["drone/front"][3]["colour"]["data"] == IMAGE.ravel().tolist()
    assert set(third["samples"]) == {"drone/front", "drone/imu", "drone/range"}, "samples persist"
    assert (last["width"], last["height"], last["last"], last["force"]) == (6, 4, 71, 9.81)
    assert np.isnan(last["distance"])


def test_processor_time_over_speed(probe: Path) -> None:
    asked: list[Any] = []

    def serve(connection: socket.socket, _: int) -> None:
        asked.append(read(connection))
        connection.sendall(message(HELLO))
        asked.append(read(connection))
        connection.sendall(message(reply(1, T0)))

    with SmallServer(serve) as server:
        (got,) = lines(run(probe, "clock", server.address))
    assert asked[0]["clock"] == "cpu" and asked[0]["speed"] == 0.1
    assert got["cpu_ns"] >= 50_000_000
    assert 0.9 * got["cpu_ns"] < got["et_ns"] / 10 <= got["cpu_ns"]
    # the sleep of 50 ms takes next to no processor time, and so no ET
    assert asked[1]["et_ns"] - T0 >= got["et_ns"]


def test_a_refusal_is_told_in_the_servers_words(probe: Path) -> None:
    def serve(connection: socket.socket, _: int) -> None:
        read(connection)
        connection.sendall(message({"type": "refused", "why": "drone already has a pilot"}))

    with SmallServer(serve) as server:
        done = run(probe, "fly", server.address)
    assert done.returncode == 1
    assert done.stderr == b"drone already has a pilot\n"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nonsense", "host:port"),
        ("127.0.0.1:99999", "host:port"),
        ("[::1]:", "host:port"),
        ("nobody.invalid:1", "no IP address"),
        ("localhost:1", "no simulator at localhost:1"),
        ("[::1]:1", "no simulator at [::1]:1"),
    ],
)
def test_an_address_that_leads_nowhere(probe: Path, address: str, why: str) -> None:
    done = run(probe, "fly", address)
    assert done.returncode == 1
    assert why in done.stderr.decode()


def test_answers_cut_at_every_byte(probe: Path) -> None:
    hello, answer = message(HELLO), message(reply(1, T0, messages={"drone/imu": [0, 1, 2, IMU]}))
    cuts = [hello[:n] for n in range(len(hello))] + [hello + answer[:n] for n in range(len(answer))]

    def serve(connection: socket.socket, number: int) -> None:
        read(connection)
        connection.sendall(cuts[number])
        connection.shutdown(socket.SHUT_WR)

    with SmallServer(serve) as server:
        (counts,) = lines(run(probe, "hammer", server.address, str(len(cuts))))
    assert counts == {"lost": len(cuts)}


def test_answers_that_are_garbage(probe: Path) -> None:
    hello = message(HELLO)
    end = message({"type": "end", "why": "landed", "t_ns": T0})
    bad = [
        b"\xff" * 64,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        struct.pack("<I", 2**28 + 1),
        struct.pack("<I", 0),
        message({"type": "hello", "protocol": 2}),
        message({"type": "hello", "protocol": 1}),
        hello + message({"type": "reply", "number": 7, "t_ns": T0}),
        hello + message({"type": "reply", "number": 1, "t_ns": "soon"}),
        hello + message({"type": "reply", "number": 1, "t_ns": T0, "messages": {"drone/imu": [1]}}),
    ]

    def serve(connection: socket.socket, number: int) -> None:
        read(connection)
        connection.sendall((*bad, hello + end)[number])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1 << 16)

    with SmallServer(serve) as server:
        (counts,) = lines(run(probe, "hammer", server.address, str(len(bad) + 1)))
    assert counts == {"protocol": len(bad), "ended": 1}


def test_what_it_publishes_is_on_the_simulators_streams(probe: Path) -> None:
    """Against the simulator itself: a pilot stands by while the probe computes beside it."""
    from link_rig import flying

    sensors = {"imu": {"kind": "imu", "rate_hz": 200}}
    with flying({"vehicles": [{"name": "drone", "sensors": sensors}]}) as rig, rig.connect(clock=lambda: 0) as pilot:
        process = subprocess.Popen([probe, "publish", rig.address], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        rig.news_of("computes beside drone")
        while process.poll() is None:
            pilot.sleep_until(pilot.now() + 20_000_000)
        out, err = process.communicate()
        assert process.returncode == 0, err
        reported = json.loads(out)
        assert err.decode().splitlines() == [
            "'drone/imu' is the simulator's own stream of ImuSample; choose another name"
        ]
        latest = rig.simulation.latest
        assert (latest("drone/cost").value, latest("drone/cost").unit) == (2.5, "m")
        found = latest("drone/detections")
        assert (found.boxes_px.tolist(), found.classes, found.tracks.tolist()) == ([[1, 2, 3, 4]], ("car",), [9])
        vio = latest("drone/vio")
        assert (vio.t_ns, vio.velocity_world.tolist(), vio.valid) == (reported["t_ns"], [4.0, 5.0, 6.0], True)
        assert (vio.gyro_bias.tolist(), vio.covariance.shape, vio.accel_bias) == ([0.1, 0.2, 0.3], (9, 9), None)
        assert reported["arrived"] == reported["last"] - reported["first"] + 1 >= 20


def test_a_task_with_a_deadline_and_the_energy_it_costs(probe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the vehicle that its environment names, as one of several programs."""
    from link_rig import TWO, flying

    monkeypatch.setenv("SKYLOOP_VEHICLE", "b")
    with flying(TWO) as rig:
        (reported,) = lines(run(probe, "task", rig.address))
        (pilot,) = rig.link.summary()["pilots"]
    assert pilot["vehicle"] == "b"
    assert pilot["tasks"]["look"]["missed"] == pilot["deadlines_missed"] == 1
    assert pilot["tasks"]["look"]["longest_s"] >= 0.1
    assert "task look" in rig.news_of("deadline missed")
    # at least 0.1 s at 2.7 W
    assert reported["energy"] >= 0.27 and 0.99 < reported["charge"] < 1.0
