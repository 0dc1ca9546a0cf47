"""msgpack-RPC without sockets, AirSim's structures, and the way between its axes and ours."""

from __future__ import annotations

import contextlib

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyloop.core.frames import euler_from_quat, quat_from_euler, rotate
from skyloop.links.airsim.structures import (
    Axes,
    body_pose,
    mount_of,
    quat_of_ned_euler,
    quaternion,
    vector_of,
)
from skyloop.links.airsim.wire import Call, CallInlet, Floats, response
from skyloop_client.errors import LinkError
from skyloop_client.messages import VehicleState


def calls(data: bytes) -> list[Call]:
    return list(CallInlet().feed(data))


@pytest.mark.parametrize("new", [True, False], ids=["new", "old"])
def test_calls_of_both_generations_of_msgpack(new: bool) -> None:
    params = [1.5, "Drone1", {"x_val": 2.0}]
    data = msgpack.packb([0, 7, "moveToZ", params], use_bin_type=new)
    assert calls(data) == [Call(7, "moveToZ", params)]


def test_a_call_in_pieces_and_two_at_once() -> None:
    one = msgpack.packb([0, 1, "ping", []])
    inlet = CallInlet()
    assert list(inlet.feed(one[:3])) == [] and inlet.is_within
    found = list(inlet.feed(one[3:] + msgpack.packb([2, "reset", []])))
    assert found == [Call(1, "ping", []), Call(None, "reset", [])] and not inlet.is_within


@pytest.mark.parametrize("message", [7, [0, 1, "ping"], [1, 1, None, True], [0, "1", "ping", []], {"a": 1}])
def test_what_is_no_call_is_refused(message: object) -> None:
    with pytest.raises(LinkError, match="not a call"):
        calls(msgpack.packb(message))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_calls_or_one_kind_of_error(data: bytes) -> None:
    with contextlib.suppress(LinkError):
        assert all(isinstance(call, Call) for call in calls(data))


def test_a_bomb_of_nested_arrays_is_refused() -> None:
    with pytest.raises(LinkError):
        calls(b"\x94\x00\x01\xa1x" + b"\xdd\xff\xff\xff\xff" * 1000)


def test_answers_are_read_by_any_msgpack() -> None:
    numbers = np.array([[1.5, -2.25], [np.inf, 1e-3]], np.float32)
    answer = {"pixels": b"\x00\xff", "numbers": Floats(numbers), "list": [{"a": [1, 2]}], "text": "höhe"}
    data = b"".join(response(9, None, answer))
    kind, number, error, result = msgpack.unpackb(data, raw=False)
    assert (kind, number, error) == (1, 9, None)
    assert result["pixels"] == b"\x00\xff" and result["text"] == "höhe" and result["list"] == [{"a": [1, 2]}]
    assert result["numbers"] == numbers.ravel().tolist()
    assert msgpack.unpackb(b"".join(response(1, "takeoff: no", None)), raw=False) == [1, 1, "takeoff: no", None]


# ---- axes, with numbers of which no two are alike


def test_positions_between_ned_and_the_world() -> None:
    axes = Axes((10.0, 20.0, 3.0))  # east, north, up
    assert axes.ned((11.0, 25.0, 10.0)).tolist() == [5.0, 1.0, -7.0]
    assert axes.world((5.0, 1.0, -7.0)).tolist() == [11.0, 25.0, 10.0]


def test_attitudes_between_frd_and_flu() -> None:
    """Heading 30° east of north, nose 20° up, right side 10° down."""
    roll, pitch, yaw = np.radians([10.0, 20.0, 30.0])
    ours = quat_of_ned_euler(roll, pitch, yaw)
    forward = rotate(ours, [1.0, 0.0, 0.0])
    assert np.degrees(np.arctan2(forward[0], forward[1])) == pytest.approx(30.0)
    assert np.degrees(np.arcsin(forward[2])) == pytest.approx(20.0)
    assert rotate(ours, [0.0, -1.0, 0.0])[2] < 0.0
    reported = Axes().pose(np.zeros(3), ours)["orientation"]
    # AirSim's own formula for roll, pitch, yaw to a quaternion
    (cr, cp, cy), (sr, sp, sy) = np.cos(0.5 * np.array([roll, pitch, yaw])), np.sin(0.5 * np.array([roll, pitch, yaw]))
    expected = [
        cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy,
    ]  # fmt: skip
    assert list(reported.values()) == pytest.approx(expected)
    position, back = Axes().world_pose(Axes().pose([1.0, 2.0, 3.0], ours))
    assert position.tolist() == [1.0, 2.0, 3.0]
    assert euler_from_quat(back) == pytest.approx(euler_from_quat(ours))


def test_kinematics_turn_every_vector() -> None:
    quat = quat_from_euler(0.1, -0.2, 0.3)
    state = VehicleState(
        5, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), quat, np.array([7.0, 8.0, 9.0]),
        np.array([10.0, 11.0, 12.0]), np.array([13.0, 14.0, 15.0]), np.zeros(4), np.zeros(4), np.zeros(3),
    )  # fmt: skip
    reported = Axes().kinematics(state)
    assert list(reported["position"].values()) == [2.0, 1.0, -3.0]
    assert list(reported["linear_velocity"].values()) == [5.0, 4.0, -6.0]
    assert list(reported["angular_velocity"].values()) == [7.0, -8.0, -9.0]
    assert list(reported["linear_acceleration"].values()) == [11.0, 10.0, -12.0]
    assert list(reported["angular_acceleration"].values()) == [13.0, -14.0, -15.0]
    position, attitude, velocity, rates = Axes().world_motion(reported, np.zeros(3), quat)
    assert position == pytest.approx(state.position) and velocity == pytest.approx(state.velocity_world)
    assert rates == pytest.approx(state.angular_velocity_body)
    assert euler_from_quat(attitude) == pytest.approx(euler_from_quat(quat))


def test_mounts_turn_both_frames() -> None:
    position, quat = mount_of({"position": {"x_val": 1.0, "y_val": 2.0, "z_val": 3.0}, "orientation": quaternion(
        # 0.2 rad to the right about down
        [np.cos(0.1), 0.0, 0.0, np.sin(0.1)])})  # fmt: skip
    assert position.tolist() == [1.0, -2.0, -3.0]
    assert rotate(quat, [1.0, 0.0, 0.0]) == pytest.approx([np.cos(0.2), -np.sin(0.2), 0.0])
    reported = body_pose(position, quat)
    assert list(reported["position"].values()) == [1.0, 2.0, 3.0]
    assert reported["orientation"]["z_val"] == pytest.approx(np.sin(0.1))


@pytest.mark.parametrize("value", [None, {"x_val": 1}, {"x_val": 1, "y_val": float("nan"), "z_val": 0}, [1, 2, 3]])
def test_a_vector_that_is_none_is_named(value: object) -> None:
    with pytest.raises(LinkError, match="wind"):
        vector_of(value, "wind")
