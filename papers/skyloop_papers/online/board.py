"""SUT and CUT of `skyloop reproduce online` on one on-board computer, with the engine elsewhere (airloop, IV-B2 a).

As in the paper, a thread for each sensor pulls its samples from the engine into a shared list. One more thread, the
CUT, takes the list, decides and sends the setpoint."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import fields
from typing import Any

import numpy as np

from skyloop_client import Session, connect
from skyloop_client.bundle import Bundle
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Velocity
from skyloop_client.streams import NS_PER_S
from skyloop_papers.online.client import FASTEST, Turning, answer_parent

PATIENCE_S = 60.0


class Gathering:
    """The pulling threads, one for each sensor, each with its own session on the one port."""

    def __init__(self, address: str, streams: list[str]) -> None:
        self._streams = streams
        self._sessions = [connect(address, watch=True, timeout=PATIENCE_S) for _ in streams]
        self._begin, self._end = (threading.Barrier(len(streams) + 1, timeout=PATIENCE_S) for _ in range(2))
        self.samples: list[Any] = [None] * len(streams)
        """The newest sample of each sensor: the shared list."""
        self.came = [0.0] * len(streams)
        """s of this machine's clock at which each sample was decoded."""
        self.trouble: list[BaseException] = []
        self._wanted_ns = 0
        for place in range(len(streams)):
            threading.Thread(target=self._pull, args=(place,), daemon=True).start()

    def _pull(self, place: int) -> None:
        stream, session = self._streams[place], self._sessions[place]
        try:
            while True:
                self._begin.wait()
                # a thread that asked too early has the sample before; it would stay one behind for ever
                sample = session.ask(want=[stream], fresh=[stream]).get(stream)
                while sample.t_ns < self._wanted_ns:
                    sample = session.ask(want=[stream], fresh=[stream]).get(stream)
                self.samples[place] = sample
                self.came[place] = time.perf_counter()
                self._end.wait()
        except (SkyloopError, threading.BrokenBarrierError) as error:
            self.trouble.append(error)
            self._begin.abort()
            self._end.abort()

    def begin(self, wanted_ns: int) -> None:
        """Have all threads pull the sample of an instant."""
        self._wanted_ns = wanted_ns
        self._begin.wait()

    def wait(self) -> None:
        """Wait until all threads have pulled."""
        self._end.wait()

    def close(self) -> None:
        self._begin.abort()
        for session in self._sessions:
            session.close()


def taken(address: str, task: dict[str, Any]) -> dict[str, Any]:
    """Seconds of this machine's clock: questions sent, bundles pulled, bundles handed to the CUT."""
    streams, frames, warm = task["streams"], task["frames"], task["warm"]
    period_ns = round(NS_PER_S / task["rate_hz"])
    asked, decoded, handed, size = [], [], [], 0
    with connect(address, timeout=PATIENCE_S) as session:
        gathering = Gathering(address, streams)
        pilot = Turning(streams, min(FASTEST, math.tau * task["rate_hz"] / frames))
        setpoint = Velocity(np.zeros(3))
        t_ns = session.now()
        # a radar's burst arrives after its stamp; the pulling threads wait for it, so time must reach it
        late_ns = max(session.infos[session.full_name(stream)].latency_ns for stream in streams)
        try:
            for number in range(warm + frames):
                asked.append(time.perf_counter())
                wanted_ns = (t_ns // period_ns + 1) * period_ns
                gathering.begin(wanted_ns)
                bundle = session.ask(setpoint, until_ns=wanted_ns + late_ns)
                answered = time.perf_counter()
                gathering.wait()
                decoded.append(max(answered, *gathering.came))
                handed.append(time.perf_counter())
                t_ns = bundle.t_ns
                if bundle.refused:
                    raise SystemExit(f"refused: {bundle.refused[0]}")
                if number >= warm:
                    setpoint = pilot(with_samples(bundle, session, streams, gathering.samples))
                    size += sum(map(bytes_of, gathering.samples))
            asked.append(time.perf_counter())
        except threading.BrokenBarrierError:
            why = gathering.trouble[0] if gathering.trouble else f"no sample within {PATIENCE_S:.0f} s"
            raise SystemExit(f"a sensor's thread failed: {why}") from None
        finally:
            gathering.close()
    return {
        "asked": asked, "decoded": decoded, "handed": handed, "turned": pilot.turned, "unaligned": pilot.unaligned,
        "bytes": size / frames,
    }  # fmt: skip


def with_samples(bundle: Bundle, session: Session, streams: list[str], samples: list[Any]) -> Bundle:
    """The list as a bundle, so that the CUT is the same in all configurations."""
    latest = {session.full_name(stream): sample for stream, sample in zip(streams, samples, strict=True)}
    return Bundle(bundle.t_ns, bundle.vehicle, latest, bundle.state, bundle.status)


def bytes_of(record: Any) -> int:
    """Bytes of its arrays."""
    return sum(getattr(getattr(record, field.name), "nbytes", 0) for field in fields(record))


if __name__ == "__main__":
    answer_parent(taken)
