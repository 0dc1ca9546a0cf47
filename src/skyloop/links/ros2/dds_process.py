"""The process that speaks DDS: Cyclone's part of a ROS 2 node. What ends its library ends this process, not the flight.

    python -m skyloop.links.ros2.dds_process ORDERS EVENTS MEMORY DOMAIN CONFIG

with the numbers of three open files, see `dds_pipe.py`. It ends when nobody can write orders any more."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import sys
import threading
import time

import numpy as np

from skyloop.links.ros2 import dds_pipe as pipe
from skyloop.links.ros2.dds_types import idl_class, qos
from skyloop.recording.ros2.types import type_hash

# after our own modules: if Cyclone is missing, their import says in one line how to install it
from cyclonedds._clayer import ddspy_take  # isort: skip
from cyclonedds.core import (  # isort: skip
    DDSException, GuardCondition, InstanceState, Policy, Qos, ReadCondition, SampleState, ViewState, WaitSet,
)  # fmt: skip
from cyclonedds.domain import Domain, DomainParticipant  # isort: skip
from cyclonedds.idl import IdlStruct  # isort: skip
from cyclonedds.internal import dds_c_t  # isort: skip
from cyclonedds.pub import DataWriter  # isort: skip
from cyclonedds.sub import DataReader  # isort: skip
from cyclonedds.topic import Sample, Topic  # isort: skip

LIBRARY = DomainParticipant._dll_handle
WRITE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)(("dds_write", LIBRARY))
"""Takes bytes as they are. The package's own `write` encodes, and holds the interpreter."""
FATAL, ERROR = 1, 2
"""Of Cyclone's log. Its warnings tell of every malformed packet: a stranger could fill the disk with them."""
ANYTHING = int(SampleState.Any | ViewState.Any | InstanceState.Any)
AT_ONCE = 64
"""Most messages taken from one reader before the others have their turn."""
BREATH_S = 0.001
"""Wall s between two turns, so that a flood leaves the interpreter to what is sent."""
LOOK_NS = 20_000_000
"""Wall ns between two looks at who listens."""
Endpoint = DataWriter[IdlStruct] | DataReader[IdlStruct]


class Cyclone:
    def __init__(self, domain: int, config: str | None, memory: mmap.mmap, events: int) -> None:
        self._counts = np.frombuffer(memory, np.uint64, pipe.COUNTS)
        self._matched = np.frombuffer(memory, np.uint8, pipe.MOST_ENDPOINTS, pipe.MATCHED)
        self._memory, self._base = memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self._events = events
        self._telling, self._opening = threading.Lock(), threading.Lock()
        self._domain = Domain(domain, config)
        self._participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self._topics: dict[tuple[str, str], Topic[IdlStruct]] = {}
        self._writers: dict[int, DataWriter[IdlStruct]] = {}
        self._readers: dict[int, DataReader[IdlStruct]] = {}
        self._waitset = WaitSet(self._participant)
        self._stop = GuardCondition(self._participant)
        self._waitset.attach(self._stop)
        self._closed = False
        self._tell(pipe.READY, 0, self._participant.guid.bytes)
        self._thread = threading.Thread(target=self._read, name="skyloop ROS 2", daemon=True)
        self._thread.start()

    def serve(self, orders: int) -> None:
        left = b""
        while more := os.read(orders, 64 * pipe.ORDER.size):
            left += more
            whole = len(left) - len(left) % pipe.ORDER.size
            for what, number, start, size in pipe.ORDER.iter_unpack(left[:whole]):
                if what == pipe.SEND:
                    self._send(number, start, size)
                else:
                    self._open(what, number, bytes(self._memory[start : start + size]))
                self._counts[pipe.DONE] += 1
            left = left[whole:]

    def _send(self, number: int, start: int, size: int) -> None:
        """The interpreter is free meanwhile. A message that finds no room is lost, as by a slow reader."""
        container = Sample(ctypes.c_void_p(self._base + start), size)
        if WRITE(self._writers[number]._ref, ctypes.byref(container)) < 0:
            self._counts[pipe.LOST] += 1

    def _open(self, what: int, number: int, order: bytes) -> None:
        if number in self._writers or number in self._readers:
            return
        asked = json.loads(order)
        topic, kind = asked["topic"], asked["kind"]
        quality = qos(asked["quality"], f"typehash={type_hash(kind)};")
        if (topic, kind) not in self._topics:
            self._topics[topic, kind] = Topic(self._participant, f"rt{topic}", idl_class(kind))
        built: Endpoint
        with self._opening:
            if what == pipe.OPEN_WRITER:
                built = self._writers[number] = DataWriter(self._participant, self._topics[topic, kind], quality)
            else:
                built = self._readers[number] = DataReader(self._participant, self._topics[topic, kind], quality)
                self._waitset.attach(ReadCondition(built, ANYTHING))
        self._tell(pipe.OPENED, number, built.guid.bytes)

    def _tell(self, what: int, number: int, data: bytes) -> None:
        with self._telling:
            left = memoryview(pipe.EVENT.pack(what, number, len(data)) + data)
            while left:
                left = left[os.write(self._events, left) :]

    # ---- reading

    def _read(self) -> None:
        looked = 0
        while not self._closed:
            try:
                self._waitset.wait(LOOK_NS)
            except DDSException:
                return
            if self._closed:
                return
            with self._opening:
                readers, writers = dict(self._readers), dict(self._writers)
            for number, reader in readers.items():
                found = ddspy_take(reader._ref, ANYTHING, AT_ONCE)
                for data, info in found if isinstance(found, list) else ():
                    if info.valid_data:
                        self._tell(pipe.TAKEN, number, data)
            if time.monotonic_ns() - looked >= LOOK_NS:
                looked = time.monotonic_ns()
                self._look(readers, writers)
            time.sleep(BREATH_S)

    def _look(self, readers: dict[int, DataReader[IdlStruct]], writers: dict[int, DataWriter[IdlStruct]]) -> None:
        """Who listens and who speaks. The package's own functions return new objects, which takes longer."""
        heard, wanted = dds_c_t.subscription_matched_status(), dds_c_t.publication_matched_status()
        for number, reader in readers.items():
            reader._get_subscription_matched_status(reader._ref, ctypes.byref(heard))
            self._matched[number] = min(heard.current_count, 255)
        for number, writer in writers.items():
            writer._get_publication_matched_status(writer._ref, ctypes.byref(wanted))
            self._matched[number] = min(wanted.current_count, 255)

    def close(self) -> None:
        self._closed = True
        self._stop.set(True)
        self._thread.join(timeout=2.0)
        # the domain takes all that is in it along
        for entity in (self._participant, self._domain):
            entity._entities.pop(entity._ref, None)
            entity._delete(entity._ref)


def main() -> None:
    orders, events, file, domain = map(int, sys.argv[1:5])
    LIBRARY.dds_set_log_mask(FATAL | ERROR)
    try:
        cyclone = Cyclone(domain, sys.argv[5] or None, mmap.mmap(file, pipe.SIZE), events)
    except DDSException as error:
        why = " ".join(str(error).split()).encode()
        os.write(events, pipe.EVENT.pack(pipe.FAILED, 0, len(why)) + why)
        sys.exit(1)
    cyclone.serve(orders)
    cyclone.close()


if __name__ == "__main__":
    main()
