"""A parcel: one group of frames as it is handed from the process that flies to one that senses and writes.

It lists what the group's file holds, in order: records that are ready, and places of samples that are still to be
made. For those it has the instants at which they are made. The bytes are plain data of `skyloop_client.codec`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from skyloop.sim.sensing import Instant, Looks
from skyloop_client.codec import decode, encode
from skyloop_client.errors import DatasetError

LENGTH = struct.Struct("<Q")
RECORD, INSTANT, SAMPLE, HIDDEN = range(4)
"""Kinds of entries: a record of the journal; an instant, at which some samples are made; the place of a sample, and of
what is hidden of it."""


@dataclass(slots=True, eq=False)
class Sensing:
    """What is made at an instant."""

    instant: Instant
    wanted: list[tuple[int, int, int]] = field(default_factory=list)
    """Number of the part, number of its sample, and when the last message of it arrives."""


@dataclass(frozen=True, slots=True)
class Entry:
    kind: int
    arrival_ns: int
    part: int = 0
    index: int = 0
    record: bytes = b""
    """Of a RECORD, with its head."""
    sensing: Sensing | None = None
    """Of an INSTANT."""


@dataclass(slots=True, eq=False)
class Parcel:
    group: int
    start_ns: int
    """When the recording's first frame is."""
    entries: list[Entry] = field(default_factory=list)
    looks: Looks = field(default_factory=lambda: Looks(0, np.zeros((0, 2, 0))))

    def encoded(self) -> list[bytes | memoryview]:
        """Its length, then the parts to be sent one after the other."""
        rows, bodies, instants = [], [], []
        for entry in self.entries:
            size = len(entry.record)
            rows.append((entry.kind, entry.arrival_ns, entry.part, entry.index, size))
            bodies.append(entry.record)
            if entry.sensing is not None:
                instant = entry.sensing.instant
                wanted = np.array(entry.sensing.wanted, np.int64).reshape(-1, 3)
                instants.append([instant.t_ns, list(instant.states), instant.n_looks, wanted])
        parts = encode(
            {
                "group": self.group,
                "start_ns": self.start_ns,
                "first_look": self.looks.first,
                "looks": self.looks.paces,
                "entries": np.array(rows, np.int64).reshape(-1, 5),
                "instants": instants,
                "records": np.frombuffer(b"".join(bodies), np.uint8),
            }
        )
        return [LENGTH.pack(sum(map(len, parts))), *parts]


NO_MORE = LENGTH.pack(0)
"""Follows the last parcel."""


def read_parcel(read: Callable[[int], bytes | bytearray]) -> Parcel | None:
    """The next parcel; None after the last. `read(n)` returns exactly n bytes."""
    (length,) = LENGTH.unpack(read(LENGTH.size))
    if not length:
        return None
    data = decode(bytes(read(length)))
    parcel = Parcel(data["group"], data["start_ns"], looks=Looks(data["first_look"], data["looks"]))
    instants, records, at = iter(data["instants"]), data["records"].data, 0
    for kind, arrival_ns, part, index, size in data["entries"].tolist():
        sensing = None
        if kind == INSTANT:
            t_ns, states, n_looks, wanted = next(instants)
            sensing = Sensing(Instant(t_ns, tuple(states), n_looks), [tuple(row) for row in wanted.tolist()])
        parcel.entries.append(Entry(kind, arrival_ns, part, index, bytes(records[at : at + size]), sensing))
        at += size
    if at != len(records):
        raise DatasetError(f"group {parcel.group} came cut off from the process that flies")
    return parcel
