"""ROS 2's profiles of quality of service, in DDS's terms."""

from __future__ import annotations

from typing import Literal

# first our own module, which says in one line what is missing without Cyclone
from skyloop.links.ros2.idl_types import SIMPLE as _SIMPLE  # noqa: F401
from skyloop_client.streams import NS_PER_S

from cyclonedds.core import Policy, Qos  # isort: skip

Quality = Literal["sensor", "state", "newest", "latched", "order", "stream", "estimate", "whole"]
NO_WAIT = Policy.Reliability.Reliable(0)
"""A reader that does not keep up loses messages; the simulation never waits for it."""
PLAIN_CDR = Policy.DataRepresentation(use_cdrv0_representation=True)
BY_QUALITY: dict[Quality, tuple[object, ...]] = {
    # rmw's sensor data
    "sensor": (Policy.Reliability.BestEffort, Policy.History.KeepLast(5), Policy.Durability.Volatile),
    # rmw's default
    "state": (NO_WAIT, Policy.History.KeepLast(10), Policy.Durability.Volatile),
    # such as the clock
    "newest": (NO_WAIT, Policy.History.KeepLast(1), Policy.Durability.Volatile),
    # late readers still get the last message
    "latched": (
        NO_WAIT, Policy.History.KeepLast(1), Policy.Durability.TransientLocal,
        Policy.DurabilityService(0, Policy.History.KeepLast(1), -1, -1, -1),
    ),
    # nothing is dropped, and the writer waits: for measuring
    "whole": (Policy.Reliability.Reliable(10 * NS_PER_S), Policy.History.KeepAll, Policy.Durability.Volatile),
    # what we read: single orders, estimates of any publisher, and streams of which only the newest count
    "order": (NO_WAIT, Policy.History.KeepLast(16), Policy.Durability.Volatile),
    "estimate": (Policy.Reliability.BestEffort, Policy.History.KeepLast(16), Policy.Durability.Volatile),
    "stream": (Policy.Reliability.BestEffort, Policy.History.KeepLast(1), Policy.Durability.Volatile),
}  # fmt: skip


def qos(quality: Quality, user_data: str = "") -> Qos:
    return Qos(*BY_QUALITY[quality], PLAIN_CDR, Policy.Userdata(user_data.encode()))
