"""Systems of their own: two vehicles, and one that flies on an EKF and loses GPS."""

from __future__ import annotations

import math
import socket

import pytest
from mavlink_setup import PLAIN, SENSORS, Client, staged
from pymavlink.dialects.v20 import common as mavlink

ACCEPTED, DENIED = 0, 2


@pytest.mark.slow("the filter must notice that its receiver is gone")
def test_losing_gps_lands_it_and_says_so() -> None:
    vehicle = {**PLAIN["vehicles"][0], "state": "ekf", "sensors": {**SENSORS}}  # type: ignore[index]
    # blind for good, and soon aware of it
    vehicle["ekf"] = {"valid_position_sd": 0.6, "lost_position_sd": 0.8}
    vehicle["sensors"]["gnss"] = {**SENSORS["gnss"], "outages": [{"start": 14, "end": 4000}]}
    with (
        staged({**PLAIN, "vehicles": [vehicle]}, pace=8.0) as stage,
        socket.create_connection(("127.0.0.1", stage.ports[0]["tcp"])) as connection,
    ):
        client = Client(connection)
        healthy = mavlink.MAV_SYS_STATUS_PREARM_CHECK
        client.until(lambda m: m.get_type() == "SYS_STATUS" and m.onboard_control_sensors_health & healthy)
        assert client.command(400, 1) == ACCEPTED
        assert client.command(22, 0, 0, 0, math.nan, math.nan, math.nan, math.nan) == ACCEPTED
        client.until_mode("takeoff")
        client.until_mode("hold")
        assert client.until("GPS_RAW_INT").fix_type == 3
        client.until_mode("land", timeout=40.0)
        assert any("estimate lost" in text for text in client.texts)
        assert client.until("GPS_RAW_INT").fix_type < 2
        assert client.mode(4, 5) == DENIED  # nobody can fly it home blind
        client.until_disarmed()
        assert client.command(400, 1) == DENIED
    assert stage.position[2] < 0.5


def test_two_vehicles_are_two_systems() -> None:
    vehicles = [{"name": "a", "airframe": "x500"}, {"name": "b", "airframe": "iris", "position": [5, 0]}]
    with staged({**PLAIN, "vehicles": vehicles}) as stage:
        connection = socket.create_connection(("127.0.0.1", stage.ports[1]["tcp"]))
        with connection:
            client = Client(connection)
            assert client.until("HEARTBEAT").get_srcSystem() == 2
            client.send(mavlink.MAVLink_command_long_message(2, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0))
            assert client.until("COMMAND_ACK").result == ACCEPTED
            # the other one has had time to hear of it, if it does
            client.until("HEARTBEAT")
            # its own origin is where it stood
            here = client.until("LOCAL_POSITION_NED")
            assert math.hypot(here.x, here.y) < 0.1
        assert not stage.simulation.port.vehicle("a").status.armed
