"""Logs and files over MAVLink: a ULog of each flight, downloaded whole, and nothing outside the run folder reached."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mavlink_setup import PLAIN
from pymavlink.dialects.v20 import common as mavlink
from test_mavlink_flight import Flight, Listener
from test_mavlink_port import take_off

import skyloop
from skyloop.links.mavlink.vehicle import MavlinkVehicle

HEAD = struct.Struct("<HBBBBBxI")
END, RESET, LIST, OPEN, READ, CREATE, CRC, BURST = 1, 2, 3, 4, 5, 6, 14, 15
ACK, NAK, EOF, PROTECTED, NOT_FOUND = 128, 129, 6, 9, 10


def _is_past(simulation: skyloop.Simulation, instant: float) -> bool:
    return simulation.now > instant


class Reader(Listener):
    def __init__(self) -> None:
        super().__init__()
        self.arrived: list[Any] = []
        self.number = 0

    def send(self, message: Any, component: int = 1) -> None:
        super().send(message, component)
        self.arrived.append(message)

    def ftp(self, vehicle: MavlinkVehicle, operation: int, data: bytes = b"", **more: int) -> tuple[int, ...]:
        """Operation, session, data of the answer."""
        self.number += 1
        size = more.get("size", len(data))
        head = HEAD.pack(self.number, more.get("session", 0), operation, size, 0, 0, more.get("offset", 0))
        self.say(vehicle, mavlink.MAVLink_file_transfer_protocol_message(0, 1, 1, (head + data).ljust(251, b"\0")))
        return answer(self.arrived[-1])


def answer(message: Any) -> Any:
    payload = bytes(message.payload)
    number, session, operation, size, _, over, offset = HEAD.unpack_from(payload)
    return operation, session, payload[12 : 12 + size], over, offset, number


def parsed(data: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Samples by topic, as the format's page says; texts under "L"."""
    assert data[:7] == b"ULog\x01\x12\x35"
    forms: dict[str, struct.Struct] = {}
    names: dict[int, str] = {}
    found: dict[str, list[tuple[Any, ...]]] = {"L": []}
    codes = {"uint64_t": "Q", "uint8_t": "B", "float": "f", "double": "d"}
    at = 16
    while at < len(data):
        size, kind = struct.unpack_from("<HB", data, at)
        body = data[at + 3 : at + 3 + size]
        at += 3 + size
        if kind == ord("F"):
            name, _, fields = body.decode().partition(":")
            code = "<"
            for field in fields.strip(";").split(";"):
                form, _, count = field.split(" ")[0].partition("[")
                code += (count.rstrip("]") or "1") + codes[form]
            forms[name] = struct.Struct(code)
        elif kind == ord("A"):
            names[struct.unpack_from("<BH", body)[1]] = body[3:].decode()
        elif kind == ord("D"):
            name = names[struct.unpack_from("<H", body)[0]]
            found.setdefault(name, []).append(forms[name].unpack(body[2:]))
        elif kind == ord("L"):
            found["L"].append((body[0], body[9:].decode()))
    assert at == len(data)
    return found


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two short flights."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "scenario.yaml").write_text("name: test\n")
    with skyloop.build(skyloop.make_scenario(PLAIN)) as simulation:
        built = Flight(simulation, folder, Reader())
        for height in (4.0, 3.0):
            take_off(built, height)
            built.vehicle.modes.choose("land")
            built.until(lambda: not built.system.port.status.armed)
            now = simulation.now
            built.until(partial(_is_past, simulation, now + 0.2))
        yield built, folder


def test_each_flight_is_a_log_of_its_own(flown: Any) -> None:
    _, folder = flown
    logs = sorted((folder / "log").iterdir())
    assert [path.name for path in logs] == ["drone-001.ulg", "drone-002.ulg"]
    first = parsed(logs[0].read_bytes())
    places = first["vehicle_local_position"]
    assert min(row[3] for row in places) == pytest.approx(-4.0, abs=0.4)
    assert places[1][0] - places[0][0] == 50_000
    assert {row[1] for row in first["vehicle_status"]} >= {17, 18}
    assert any("took off" in text for _, text in first["L"])
    assert first["vehicle_attitude"][0][1] ** 2 + first["vehicle_attitude"][0][4] ** 2 == pytest.approx(1.0, abs=1e-3)
    assert min(row[3] for row in parsed(logs[1].read_bytes())["vehicle_local_position"]) > -3.5


def test_a_log_is_listed_and_downloaded(flown: Any) -> None:
    built, folder = flown
    built.desk.arrived.clear()
    built.desk.say(built.vehicle, mavlink.MAVLink_log_request_list_message(1, 1, 0, 0xFFFF))
    entries = [m for m in built.desk.arrived if m.get_type() == "LOG_ENTRY"]
    path = folder / "log" / "drone-002.ulg"
    assert [(e.id, e.num_logs, e.last_log_num) for e in entries] == [(0, 2, 1), (1, 2, 1)]
    assert entries[1].size == path.stat().st_size
    for first, count in ((0, 1000), (1000, 1 << 30)):
        built.desk.arrived.clear()
        built.desk.say(built.vehicle, mavlink.MAVLink_log_request_data_message(1, 1, 1, first, count))
        end = min(first + count, entries[1].size)
        got = bytearray()
        while len(got) < end - first:
            built.vehicle.tick()
            for message in built.desk.arrived:
                if message.get_type() == "LOG_DATA":
                    assert message.ofs == first + len(got)
                    got += bytes(message.data[: message.count])
            built.desk.arrived.clear()
        assert bytes(got) == path.read_bytes()[first:end]


def test_files_are_listed_and_read(flown: Any) -> None:
    built, folder = flown
    reader, vehicle = built.desk, built.vehicle
    listed = reader.ftp(vehicle, LIST, b"/")
    assert listed[0] == ACK and listed[2] == b"Dlog\0Fscenario.yaml\t11\0"
    assert reader.ftp(vehicle, LIST, b"/", offset=2)[:3] == (NAK, 0, bytes([EOF]))
    content = (folder / "log" / "drone-001.ulg").read_bytes()
    opened = reader.ftp(vehicle, OPEN, b"/log/drone-001.ulg")
    assert struct.unpack("<I", opened[2])[0] == len(content)
    assert reader.ftp(vehicle, READ, session=opened[1], offset=100, size=239)[2] == content[100:339]
    assert reader.ftp(vehicle, READ, session=opened[1], offset=len(content), size=9)[2] == bytes([EOF])
    expected = zlib.crc32(content, 0xFFFFFFFF) ^ 0xFFFFFFFF
    assert reader.ftp(vehicle, CRC, b"/log/drone-001.ulg")[2] == struct.pack("<I", expected)
    # all of it, unasked
    reader.arrived.clear()
    got, over = bytearray(), False
    request = HEAD.pack(900, opened[1], BURST, 239, 0, 0, 0)
    reader.say(vehicle, mavlink.MAVLink_file_transfer_protocol_message(0, 1, 1, request.ljust(251, b"\0")))
    while not over:
        vehicle.tick()
        for message in [m for m in reader.arrived if m.get_type() == "FILE_TRANSFER_PROTOCOL"]:
            operation, _, data, over, offset, number = answer(message)
            assert operation == ACK and offset == len(got) and number == 901 + offset // 239
            got += data
        reader.arrived.clear()
    assert bytes(got) == content
    assert reader.ftp(vehicle, END, session=opened[1])[0] == ACK
    assert reader.ftp(vehicle, READ, session=opened[1], size=9)[0] == NAK


def test_nothing_is_written_and_nothing_outside_is_read(flown: Any, tmp_path: Path) -> None:
    built, folder = flown
    reader, vehicle = built.desk, built.vehicle
    (tmp_path / "secret").write_text("no")
    (folder / "way-out").symlink_to(tmp_path)
    try:
        for path in (b"/../../../../etc/passwd", b"../", b"/etc/passwd", b"/way-out/secret", b"/none", b"\xff\xfe"):
            for operation in (OPEN, LIST, CRC):
                assert reader.ftp(vehicle, operation, path)[2] == bytes([NOT_FOUND]), path
    finally:
        (folder / "way-out").unlink()
    assert reader.ftp(vehicle, CREATE, b"/new")[2] == bytes([PROTECTED])
    assert not (folder / "new").exists()
    assert reader.ftp(vehicle, RESET)[0] == ACK
    sessions = [reader.ftp(vehicle, OPEN, b"/scenario.yaml")[0] for _ in range(6)]
    assert sessions == [ACK] * 4 + [NAK] * 2
    assert reader.ftp(vehicle, RESET)[0] == ACK
    bare = MavlinkVehicle(built.system)
    assert reader.ftp(bare, LIST, b"/")[2] == bytes([NOT_FOUND])
