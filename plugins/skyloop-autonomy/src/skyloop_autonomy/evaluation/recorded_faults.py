"""Faults of cameras and IMUs put on the messages of a flight, as the simulation would have put them there."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.stream_key import stream_key
from skyloop.sensors.camera import Camera
from skyloop.sensors.faults import Fault, add_error, apply_faults
from skyloop.sensors.imu import Imu
from skyloop_client.messages import Array, CameraImage, Message
from skyloop_client.messages.samples import LUMA
from skyloop_client.streams import NS_PER_S

Faults = Mapping[str, Sequence[Fault]]
"""By stream."""


class _RecordedCamera:
    """How a bias or a spike changes the pixels of an image, without the camera that took it."""

    fault_fields = Camera.fault_fields

    @staticmethod
    def disturbed(sample: CameraImage, field: str, error: Array) -> CameraImage:
        change = error @ LUMA if sample.colour.ndim == 2 else error
        return CameraImage(sample.t_ns, np.clip(np.rint(sample.colour + change), 0.0, 255.0).astype(np.uint8))


class _RecordedImu:
    """The same for the numbers of an IMU."""

    fault_fields = Imu.fault_fields
    disturbed = staticmethod(add_error)


def _sensor_of(message: Message) -> type[_RecordedCamera | _RecordedImu]:
    return _RecordedCamera if isinstance(message.data, CameraImage) else _RecordedImu


def with_faults(messages: Iterable[Message], faults: Faults, seed: int = 1) -> Iterator[Message]:
    """The messages in order of arrival, with the faults of their streams."""
    held: dict[str, Any] = {}
    late: list[tuple[int, int, Message]] = []
    for number, message in enumerate(messages):
        while late and late[0][0] <= message.arrival_ns:
            yield heapq.heappop(late)[2]
        mine = faults.get(message.stream)
        if not mine:
            yield message
            continue
        random = KeyedRandom(np.uint64(stream_key(seed, message.stream)), message.index)
        sample, extra, held[message.stream] = apply_faults(
            mine, _sensor_of(message), message.data, held.get(message.stream), random
        )
        if sample is None:
            continue
        changed = replace(message, data=sample, arrival_ns=message.arrival_ns + round(extra * NS_PER_S))
        if extra > 0.0:
            heapq.heappush(late, (changed.arrival_ns, number, changed))
        else:
            yield changed
    while late:
        yield heapq.heappop(late)[2]
