"""Published records as bytes and back, also those of other versions."""

from __future__ import annotations

import numpy as np
import pytest

from published_things import records
from skyloop.core.bus import record_bytes
from skyloop_client.codec import decode, decode_message, encode, encode_message, size_of
from skyloop_client.messages import Estimate, Message, Number, StartConditions


@pytest.mark.parametrize("name", records())
def test_every_kind_comes_back_bit_for_bit(name: str) -> None:
    record = records(7)[name]
    there = decode_message(b"".join(bytes(part) for part in encode_message(Message("drone/x", 3, 7, 9, record))))
    assert (there.stream, there.index, there.t_ns, there.arrival_ns) == ("drone/x", 3, 7, 9)
    assert type(there.data) is type(record)
    assert record_bytes(there.data) == record_bytes(record)
    data = b"".join(bytes(part) for part in encode(record))
    assert size_of(record) <= len(data) <= size_of(record) + 2500


def test_an_estimate_of_the_first_version_is_read() -> None:
    """It had neither biases nor a covariance nor a reason."""
    three, level = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    old = {
        "@": "Estimate", "t_ns": 5, "position": three, "velocity_world": three, "quat_wxyz": level,
        "angular_velocity_body": three, "position_sd": three, "velocity_sd": three, "attitude_sd": three, "valid": True,
    }  # fmt: skip
    read = decode(b"".join(bytes(part) for part in encode(old)))
    assert isinstance(read, Estimate)
    assert (read.valid, read.gyro_bias, read.covariance, read.reason) == (True, None, None, "")


def test_sigmas_are_those_of_the_covariance() -> None:
    covariance = np.diag(np.arange(1.0, 10.0) ** 2)
    built = Estimate.from_covariance(0, np.zeros(3), np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), covariance)
    assert built.valid
    assert np.concatenate([built.position_sd, built.velocity_sd, built.attitude_sd]).tolist() == list(range(1, 10))
    lost = Estimate.unknown(3, "dark")
    assert (lost.valid, lost.reason, lost.t_ns) == (False, "dark", 3)


def test_what_an_estimator_is_told_travels() -> None:
    start = StartConditions(47.0, 8.0, 400.0, 9.8, np.array([1e-5, 2e-5, -3e-5]), np.array([1.0, 2.0, 3.0]), 0.5)
    read = decode(b"".join(bytes(part) for part in encode({"start": start, "n": Number(0, 1.0)})))
    assert record_bytes(read["start"]) == record_bytes(start)
