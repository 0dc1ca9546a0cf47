"""A bundle away from the bus: names, what is not there yet, and what does not exist."""

from __future__ import annotations

import pytest

from skyloop_client.bundle import Bundle
from skyloop_client.errors import UnknownNameError
from skyloop_client.messages import Estimate, RangeSample, VehicleStatus
from skyloop_client.streams import StreamInfo

STATUS = VehicleStatus(5, "hover", armed=True, landed=False, failsafe="")
BELIEF = Estimate.unknown(5)
RANGE = RangeSample(4, 1.5, 0.1, 9.0)


def bundle() -> Bundle:
    known = {name: StreamInfo(name, "RangeSample") for name in ("drone/range", "drone/imu", "truth/drone")}
    return Bundle(5, "drone", {"drone/range": RANGE, "truth/drone": "exact"}, BELIEF, STATUS, known=known)


def test_streams_by_short_and_by_full_name() -> None:
    assert bundle().get("range") is RANGE
    assert bundle().get("drone/range") is RANGE
    assert bundle().get("truth/drone") == "exact"


def test_state_and_status_are_always_there() -> None:
    assert bundle().get("state") is BELIEF
    assert bundle().get("status") is STATUS


def test_what_has_not_come_yet_is_none_and_what_does_not_exist_is_told() -> None:
    assert bundle().get("imu") is None
    with pytest.raises(UnknownNameError, match="did you mean 'imu'"):
        bundle().get("imo")


def test_what_is_known_of_a_stream_by_short_and_by_full_name() -> None:
    assert bundle().info("imu").name == bundle().info("drone/imu").name == "drone/imu"
    assert bundle().info("truth/drone").message == "RangeSample"
    with pytest.raises(UnknownNameError, match="did you mean 'imu'"):
        bundle().info("imo")
