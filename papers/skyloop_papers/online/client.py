"""The CUT of `skyloop reproduce online`: turns once around while it takes bundles, and stamps each step.

On board it has the SUT beside it (airloop, IV-B2 a): as in the paper, a thread for each sensor pulls its samples from
the engine into a shared list. One more thread, the CUT, takes the list, decides and sends the setpoint."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import fields
from typing import Any

import numpy as np

from skyloop_client import Bundle, Session, connect
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Velocity
from skyloop_client.streams import NS_PER_S
from skyloop_papers.online.turns import Turns
from skyloop_papers.processes import given_task

PATIENCE_S = 600.0
"""Wall s, other set-ups' turns included."""
FASTEST = 1.5
"""rad/s, the fastest turn of the vehicle. With few frames there is no time for a whole turn."""


class Turning:
    """pilot(bundle) -> setpoint that turns on the spot and integrates the turned angle."""

    def __init__(self, streams: list[str], rate: float) -> None:
        self.turned = 0.0
        """rad."""
        self.unaligned = 0
        """Bundles whose samples were not all from one instant."""
        self._streams = streams
        self._setpoint = Velocity(np.zeros(3), yaw_rate=rate)
        self._yaw: float | None = None

    def __call__(self, bundle: Bundle) -> Velocity:
        self.unaligned += len({bundle.get(name).t_ns for name in self._streams}) != 1
        w, x, y, z = bundle.state.quat_wxyz
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        if self._yaw is not None:
            self.turned += math.remainder(yaw - self._yaw, math.tau)
        self._yaw = yaw
        return self._setpoint


def with_engine(address: str, task: dict[str, Any]) -> dict[str, Any]:
    """Seconds of this machine's clock at which each question was sent, each bundle decoded, each setpoint decided."""
    streams, frames, warm = task["streams"], task["frames"], task["warm"]
    spread = streams if task["ports"] > 1 else ()
    asked, decoded, decided = [], [], []
    turns = turns_of(task)
    with connect(address, clock=turns.now_ns, spread=spread, timeout=PATIENCE_S) as session:
        pilot = Turning(streams, min(FASTEST, math.tau * task["rate_hz"] / frames))
        setpoint = Velocity(np.zeros(3))
        for number in range(warm + frames):
            turns.wait(number)
            asked.append(time.perf_counter())
            bundle = session.ask(setpoint, want=streams, fresh=streams)
            decoded.append(time.perf_counter())
            if bundle.refused:
                raise SystemExit(f"refused: {bundle.refused[0]}")
            if number >= warm:
                setpoint = pilot(bundle)
            decided.append(time.perf_counter())
        turns.close()
    return {
        "asked": asked, "decoded": decoded, "decided": decided, "turned": pilot.turned, "unaligned": pilot.unaligned
    }  # fmt: skip


def turns_of(task: dict[str, Any]) -> Turns:
    return Turns(task["turns"], task["warm"], task["turn"])


# ---- the SUT on board


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
        for number in range(len(streams)):
            threading.Thread(target=self._pull, args=(number,), daemon=True).start()

    def _pull(self, number: int) -> None:
        stream, session = self._streams[number], self._sessions[number]
        try:
            while True:
                self._begin.wait()
                # a thread that asked too early has the sample before; it would stay one behind for ever
                sample = session.ask(want=[stream], fresh=[stream]).get(stream)
                while sample.t_ns < self._wanted_ns:
                    sample = session.ask(want=[stream], fresh=[stream]).get(stream)
                self.samples[number] = sample
                self.came[number] = time.perf_counter()
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


def on_board(address: str, task: dict[str, Any]) -> dict[str, Any]:
    """Seconds of this machine's clock: questions sent, bundles pulled and handed to the CUT, setpoints decided."""
    streams, frames, warm = task["streams"], task["frames"], task["warm"]
    period_ns = round(NS_PER_S / task["rate_hz"])
    asked, decoded, handed, decided, size = [], [], [], [], 0
    turns = turns_of(task)
    with connect(address, clock=turns.now_ns, timeout=PATIENCE_S) as session:
        gathering = Gathering(address, streams)
        pilot = Turning(streams, min(FASTEST, math.tau * task["rate_hz"] / frames))
        setpoint = Velocity(np.zeros(3))
        t_ns = session.now()
        # a radar's burst arrives after its stamp; the pulling threads wait for it, so time must reach it
        late_ns = max(session.infos[session.full_name(stream)].latency_ns for stream in streams)
        try:
            for number in range(warm + frames):
                turns.wait(number)
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
                decided.append(time.perf_counter())
                if number >= warm:
                    size += sum(map(bytes_of, gathering.samples))
            turns.close()
        except threading.BrokenBarrierError:
            why = gathering.trouble[0] if gathering.trouble else f"no sample within {PATIENCE_S:.0f} s"
            raise SystemExit(f"a sensor's thread failed: {why}") from None
        finally:
            gathering.close()
    return {
        "asked": asked, "decoded": decoded, "handed": handed, "decided": decided, "turned": pilot.turned,
        "unaligned": pilot.unaligned, "bytes": size / frames,
    }  # fmt: skip


def with_samples(bundle: Bundle, session: Session, streams: list[str], samples: list[Any]) -> Bundle:
    """The list as a bundle, so that the CUT is the same in all configurations."""
    latest = {session.full_name(stream): sample for stream, sample in zip(streams, samples, strict=True)}
    return Bundle(bundle.t_ns, bundle.vehicle, latest, bundle.state, bundle.status)


def bytes_of(record: Any) -> int:
    """Bytes of its arrays."""
    return sum(getattr(getattr(record, field.name), "nbytes", 0) for field in fields(record))


def client() -> dict[str, Any]:
    task = given_task()
    return on_board(task["address"], task) if task["board"] else with_engine(task["address"], task)
