"""What a stranger says of an array is checked before anything is read: numpy itself would read anywhere."""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import pytest

from skyloop_client.codec import ARRAY, decode, encode
from skyloop_client.errors import CodecError

BODY = b"12345678"


FALSE: list[Any] = [
    ["<f8", [2], 0],
    ["<f8", [1], 1],
    ["<f8", [1], 2**63 - 1],
    ["<f8", [0], 2**63 - 1],
    ["<f8", [2**61], 0],
    ["<f8", [2**62, 4], 0],
    ["<f8", [2**61 + 1, 8, 0], 0],
    ["<f8", [-1], 0],
    ["<f8", [1] * 70, 0],
    ["<f8", [1] * 2000, 0],
    ["O", [1], 0],
    ["i,f", [1], 0],
    [["<f8"], [1], 0],
    ["<f8", 5, 0],
    "abc",
]


def test_a_false_layout_is_refused() -> None:
    for layout in FALSE:
        head = msgpack.packb(msgpack.ExtType(ARRAY, msgpack.packb(layout)))
        with pytest.raises(CodecError):
            decode(len(head).to_bytes(4, "little") + head + BODY)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3), np.float32),
        np.array(5.0),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([[True, False]]),
        np.array([1 + 2j], np.complex64),
    ],
)
def test_odd_shapes_come_back_read_only(array: Any) -> None:
    first, again = decode(b"".join(encode([np.arange(3), array])))
    assert first.tolist() == [0, 1, 2]
    assert again.shape == array.shape and again.dtype == array.dtype and np.array_equal(again, array)
    assert not again.flags.writeable
