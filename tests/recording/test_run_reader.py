"""What a run folder holds comes back record by record, whatever its kind; pictures and scans are not in it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from numpy.typing import NDArray

from published_things import records
from skyloop.core.bus import Bus
from skyloop.recording.run_folder import RunFolder, values_of
from skyloop.recording.run_reader import read_run
from skyloop_client import codec, messages
from skyloop_client.codec import RECORDS
from skyloop_client.errors import RunFolderError
from skyloop_client.messages import Contact, Event, EventKind, Message
from skyloop_client.streams import Rate, StreamInfo

THREE, FOUR = np.array([1.0, -2.5, 3e-7]), np.array([1.0, 0.0, 0.0, 0.0])
CLASSES = (
    "VehicleState", "VehicleStatus", "BatteryState", "ActuatorState", "SetpointState", "ImuSample", "ImuBias",
    "GnssFix", "BarometerSample", "MagnetometerSample", "RangeSample", "CameraImage", "DepthImage", "LidarScan",
)  # fmt: skip


def of_class(name: str) -> Any:
    """A record with plausible values in every field, by the type of the field."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(RECORDS[name]):
        hint = str(field.type)
        if "uint" in hint or "float32" in hint or ("int" in hint and "NDArray" in hint):
            values[field.name] = np.ones((2, 3), np.uint8)
        elif "Array" in hint:
            values[field.name] = FOUR if field.name.startswith("quat") else THREE
        elif hint == "bool":
            values[field.name] = True
        elif hint in ("int", "float"):
            values[field.name] = 1000
        elif hint == "str":
            values[field.name] = 'a "text", with a comma'
        elif field.default is dataclasses.MISSING:
            values[field.name] = None
    return RECORDS[name](**values)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-15, equal_nan=True)
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def test_every_record_comes_back(tmp_path: Path) -> None:
    fields = dataclasses.fields(Contact)
    contact = Contact(**{field.name: THREE if "Array" in str(field.type) else 1.5 for field in fields})  # type: ignore[arg-type]
    written = records(1000) | {name.lower(): of_class(name) for name in CLASSES}
    written["events"] = Event(1000, EventKind.CRASH, 'hit "it", hard', contact=contact)
    for name, n in (("radar", 2), ("quiet", 0)):
        row, places = np.arange(float(n)), np.ones((n, 3))
        few = places.astype(np.float32)
        written[name] = messages.RadarDetections(
            1000, few, row, row, row, row, row, np.arange(n, dtype=np.int32), places, places
        )
    bus = Bus()
    for name, record in written.items():
        bus.advertise(StreamInfo(f"drone/{name}", type(record).__name__, vehicle="drone"))
    folder = RunFolder(tmp_path / "run", {}, {})
    folder.record(bus)
    for number in range(2):
        for name, record in written.items():
            bus.publish(Message(f"drone/{name}", number, 1000, 2000 + number, record))
    folder.close()
    read = read_run(tmp_path / "run")
    assert (read.begin_ns, read.end_ns) == (2000, 2001)
    missing = {type(record).__name__ for name, record in written.items() if f"drone/{name}" not in read.streams}
    assert missing == {"CameraImage", "DepthImage", "LidarScan"}
    for name, record in written.items():
        stream = read.streams.get(f"drone/{name}")
        if stream is None:
            continue
        assert stream.index_at(1999) == -1 and stream.index_at(5000) == 1
        back = stream.at(1)
        assert (back.index, back.t_ns, back.arrival_ns) == (1, 1000, 2001)
        assert same(record, back.data), name
    assert [event.data.text for event in read.events()] == ['hit "it", hard'] * 2


@dataclass(frozen=True, eq=False)
class Guess:
    """A record of a plugin whose fields may all be None at first."""

    t_ns: int
    place: NDArray[np.float64] | None = None
    """(3,) m."""
    spread: NDArray[np.float64] | None = None
    """(2, 2) m²."""
    hits: int | None = None
    """Seen so often."""
    yaw: float | None = None
    """rad."""
    why: str | None = None
    """In words."""


def test_rows_have_one_width_whether_or_not_the_first_one_is_whole(tmp_path: Path) -> None:
    codec.register(Guess)
    known, square = np.arange(225.0).reshape(15, 15), np.array([[1.0, 2.0], [2.0, 5.0]])
    whole: dict[str, Any] = {"gyro_bias": THREE, "covariance": known, "reason": "lost, for now"}
    steady = (THREE, THREE, FOUR, THREE, THREE, THREE, THREE, True)
    sent: dict[str, list[Any]] = {
        "vio": [messages.Estimate(1000, *steady, **more) for more in ({}, whole, {})],
        "guess": [Guess(1000), Guess(1000, THREE, square, 3, 0.5, "1 2"), Guess(1000)],
    }
    bus, folder = Bus(), RunFolder(tmp_path / "run", {}, {})
    for name, kept in sent.items():
        bus.advertise(StreamInfo(f"drone/{name}", type(kept[0]).__name__, vehicle="drone"))
    folder.record(bus)
    for name, kept in sent.items():
        for number, record in enumerate(kept):
            bus.publish(Message(f"drone/{name}", number, 1000, 2000 + number, record))
    folder.close()
    back = read_run(tmp_path / "run").streams
    for name, kept in sent.items():
        path = tmp_path / f"run/streams/drone/{name}.csv"
        table, other = pandas.read_csv(path), polars.read_csv(path)
        assert len(table) == len(other) == 3 and list(table.columns) == other.columns
        for number, record in enumerate(kept):
            found = back[f"drone/{name}"].at(number).data
            assert all(same(getattr(record, field), value) for field, value in values_of(found)), name
    table = pandas.read_csv(tmp_path / "run/streams/drone/vio.csv")
    assert table["covariance_shape"][1] == "15x15" and table["gyro_bias_1"].isna().tolist() == [True, False, True]
    table = pandas.read_csv(tmp_path / "run/streams/drone/guess.csv")
    assert table["spread_2"][1] == 2.0 and table["yaw"][1] == 0.5 and table["hits"][1] == 3.0


def test_a_row_that_a_kill_cut_off_is_not_read(tmp_path: Path) -> None:
    """Wherever it was cut: a last number without its last digits is a number, too."""
    bus = Bus()
    bus.advertise(StreamInfo("drone/battery", "BatteryState", vehicle="drone"))
    folder = RunFolder(tmp_path / "run", {}, {})
    folder.record(bus)
    for number in range(2):
        battery = messages.BatteryState(1000, 12.5, 3.25, 0.5, 123.456)
        bus.publish(Message("drone/battery", number, 1000, 2000 + number, battery))
    folder.close()
    path = tmp_path / "run/streams/drone/battery.csv"
    whole = path.read_bytes()
    last = len(whole.splitlines()[-1])
    for left in range(1, last + 1):
        path.write_bytes(whole[:-left])
        stream = read_run(tmp_path / "run").streams["drone/battery"]
        assert len(stream.arrivals) == 1 and stream.at(0).data.energy_used == 123.456


def test_a_folder_that_is_broken_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is this a run folder"):
        read_run(tmp_path)
    (tmp_path / "streams.json").write_text("{}")
    with pytest.raises(RunFolderError, match="no rows to play"):
        read_run(tmp_path)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A record of a plugin."""

    t_ns: int
    centre: NDArray[np.float64]
    """(3,) m."""
    ranges: NDArray[np.float64]
    """(n,) m."""
    pixels: NDArray[np.uint8]
    """(h, w)."""


def test_arrays_of_any_size_in_a_record_of_a_plugin_are_kept(tmp_path: Path) -> None:
    codec.register(Sweep)
    bus, rate = Bus(), Rate(10)
    folder = RunFolder(tmp_path / "run", {}, {})
    bus.advertise(StreamInfo("drone/sweep", "Sweep", rate, "drone"))
    folder.record(bus)
    sent = [Sweep(k, np.arange(3.0), np.arange(float(k)), np.full((2, k), k, np.uint8)) for k in range(1, 4)]
    for record in sent:
        bus.publish(Message("drone/sweep", record.t_ns, record.t_ns, record.t_ns, record))
    folder.finish({})
    lines = (tmp_path / "run/streams/drone/sweep.csv").read_text().splitlines()
    assert lines[0] == "index,arrival_ns,t_ns,centre_0,centre_1,centre_2,ranges_shape,pixels_shape"
    assert lines[2].endswith("0.0,1.0,2.0,2,2x2")
    stream = read_run(tmp_path / "run").streams["drone/sweep"]
    for k, record in enumerate(sent):
        found = stream.at(k).data
        np.testing.assert_array_equal(found.ranges, record.ranges)
        np.testing.assert_array_equal(found.pixels, record.pixels)
