"""Messages between the renderer process and its client."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest

from skyloop.rendering.wire import decode, encode


def reader(data: bytes) -> Any:
    stream = BytesIO(data)

    def read(n: int) -> bytes:
        piece = stream.read(n)
        if len(piece) < n:
            raise EOFError
        return piece

    return read


def sent(header: dict[str, Any], arrays: Any = None) -> bytes:
    return b"".join(bytes(piece) for piece in encode(header, arrays))


def test_round_trip() -> None:
    arrays = {
        "doubles": np.arange(24.0).reshape(2, 3, 4),
        "none": np.empty((0, 3, 4)),
        "bytes": np.frombuffer(b"abc", np.uint8),
        "turned": np.arange(6, dtype=np.int32).reshape(2, 3).T,
        "last": np.array([7], np.uint32),
    }
    header, back = decode(reader(sent({"shots": [1, {"t": 0.1}], "name": "é"}, arrays)))
    assert header == {"shots": [1, {"t": 0.1}], "name": "é"}
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


def test_messages_follow_each_other() -> None:
    read = reader(sent({"a": 1}) + sent({"b": 2}, {"x": np.ones(3)}) + sent({"c": 3}))
    assert decode(read) == ({"a": 1}, {})
    assert decode(read)[1]["x"].sum() == 3.0
    assert decode(read)[0] == {"c": 3}


@pytest.mark.parametrize("kept", [0, 3, 8, 20, -8, -1])
def test_a_message_cut_short_is_the_end(kept: int) -> None:
    data = sent({"a": 1}, {"x": np.ones(3)})
    with pytest.raises(EOFError):
        decode(reader(data[:kept]))
