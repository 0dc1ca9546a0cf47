"""docs/how-to/mavlink.md lists every message, command, item and parameter there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pymavlink.dialects.v20 import development as mavlink

import skyloop
from skyloop.core.frames import GeoPoint
from skyloop.links.mavlink.missions import FENCES, FLOWN, PASSED_OVER
from skyloop.links.mavlink.parameters import table
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.telemetry import Telemetry
from skyloop.links.mavlink.telemetry_table import BUILDERS, TELEMETRY, message_id
from skyloop.links.mavlink.vehicle import COMMANDS, UNDERSTOOD, MavlinkVehicle
from skyloop.links.mavlink.wire import Geography
from skyloop.world.earth import HOMES

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "mavlink.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    section = PAGE[PAGE.index(f"## {heading}\n") :]
    section = section[: section.find("\n## ", 1)]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def name(number: int) -> str:
    return str(mavlink.enums["MAV_CMD"][number].name).removeprefix("MAV_CMD_")


@pytest.fixture
def system() -> System:
    with skyloop.build(skyloop.make_scenario({"world": "flat", "vehicles": [{"airframe": "x500"}]})) as simulation:
        geography = Geography(GeoPoint(47.0, -122.0, 0.0), [0.0, 0.0, 0.0])
        return System(simulation.port.vehicle(), simulation.bus, 1, geography)


def test_messages_understood() -> None:
    assert [row[0] for row in rows("Messages understood")] == list(UNDERSTOOD)
    for kind in UNDERSTOOD:
        assert hasattr(mavlink, f"MAVLINK_MSG_ID_{kind}")


def test_telemetry(system: System) -> None:
    wanted = [[b.__name__.upper(), f"{hz:g} Hz" if hz else "on request"] for b, hz in TELEMETRY.items()]
    assert rows("Telemetry") == wanted
    # each function makes the message it is named after
    telemetry = Telemetry(system, MavlinkVehicle(system).modes)
    built = {number: builder(telemetry) for number, builder in BUILDERS.items()}
    assert all(message is None or message.get_msgId() == number for number, message in built.items())
    silent = {b.__name__ for b in TELEMETRY if built[message_id(b)] is None}
    assert silent == {"highres_imu", "scaled_pressure", "position_target_local_ned", "orbit_execution_status"}


def test_commands() -> None:
    wanted = [[f"{name(n)} ({n})", (h.__doc__ or "").splitlines()[0]] for n, h in sorted(COMMANDS.items())]
    assert rows("Commands") == wanted


def test_items() -> None:
    assert {row[0] for row in rows("Items of missions and fences")} == {f"{name(n)} ({n})" for n in (*FLOWN, *FENCES)}
    for number in PASSED_OVER:
        assert re.search(rf"\b{name(number)}\b", PAGE)


def test_parameters(system: System) -> None:
    assert rows("Parameters") == [[p.name, p.text] for p in table(system).values()]
    for parameter in table(system).values():
        assert len(parameter.name) <= 16
        if parameter.put is not None:
            # each is a parameter of something: what is put in comes out
            value = parameter.among[-1] if parameter.among else 0.5 * (parameter.low + min(parameter.high, 60.0))
            parameter.put(value)
            assert parameter.get() == pytest.approx(value), parameter.name


def test_homes() -> None:
    for home, place in HOMES.items():
        reported = next(row for row in rows("Where on Earth") if row[0] == home)[1]
        assert reported.startswith(f"{place.latitude_deg:.6f}, {place.longitude_deg:.6f}, {place.altitude:g} m")
