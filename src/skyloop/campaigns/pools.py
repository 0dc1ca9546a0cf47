"""Where runs are made: in processes of this machine, or on the workers of Ray, here or on a cluster."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar, cast

from skyloop.campaigns.run_process import RemoteCall, RunOutcome, RunProcesses
from skyloop_client.errors import LinkError, MissingExtra

log = logging.getLogger(__name__)
T = TypeVar("T")

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "LP_NUM_THREADS": "1"}
"""For runs beside each other: a run and its renderer share a core, and further threads would only compete."""
STORE_BYTES = 256 * 2**20
"""Of Ray's memory for what is sent to and fro. More is put on disk."""
HERE = "127.0.0.1"
EMBEDDED = {
    # a switch of Ray's for other systems: its servers listen on 127.0.0.1 only
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Tells nobody of its use, and leaves the choice of a GPU to the run."""


class Pool(Protocol):
    """Runs calls, each in a process of its own, `slots` of them at once."""

    @property
    def slots(self) -> int: ...

    @property
    def is_far(self) -> bool:
        """Its machines may have other disks than this one."""
        ...

    def submit(self, number: int, work: RemoteCall) -> None: ...

    def ended(self, patience_s: float) -> list[tuple[int, RunOutcome]]:
        """Those that have ended since the last call. Waits if there is none yet, but not for longer than that."""
        ...

    def drop(self) -> None:
        """Forget what has not ended."""
        ...


class LocalPool:
    """Threads that each wait for a process. Needs nothing but Python."""

    is_far = False

    def __init__(self, slots: int, environment: dict[str, str] | None = None) -> None:
        self.slots = slots
        self._processes = RunProcesses(environment or {})
        self._threads = ThreadPoolExecutor(slots, "skyloop-run")
        self._running: dict[Future[RunOutcome], int] = {}

    def submit(self, number: int, work: RemoteCall) -> None:
        self._running[self._threads.submit(self._processes.run, work)] = number

    def ended(self, patience_s: float) -> list[tuple[int, RunOutcome]]:
        done, _ = wait(self._running, patience_s, FIRST_COMPLETED)
        return [(self._running.pop(future), future.result()) for future in done]

    def drop(self) -> None:
        for future in self._running:
            future.cancel()
        self._running.clear()

    def close(self) -> None:
        self.drop()
        self._processes.kill()
        self._threads.shutdown()
        self._processes.close()


@contextmanager
def local_pool(slots: int, environment: dict[str, str] | None = None) -> Iterator[LocalPool]:
    pool = LocalPool(slots, environment)
    try:
        yield pool
    finally:
        pool.close()


# ---- Ray

_of_worker: list[RunProcesses] = []
"""In a worker of Ray: the process that its runs are made in."""


def run_on_worker(work: RemoteCall) -> RunOutcome:
    """A task of Ray. The run is not made in Ray's own process, so that its death and its end can be distinguished."""
    if not _of_worker:
        _of_worker.append(RunProcesses(ONE_THREAD))
    return _of_worker[0].run(work)


LOOK_S = 1.0
"""Wall s that Ray may take to answer before somebody looks whether its head is there."""
HEAD_S = 3.0
"""Wall s without a connection after which the head of Ray counts as gone."""


class HeadLost(LinkError):
    """Ray cannot go on without it. What is done is kept."""


class WatchedRay:
    """Asks Ray in a thread of its own: it waits a minute for a dead head, and then ends the process."""

    def __init__(self, ray: Any) -> None:
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        self._head = host.strip("[]"), int(port)
        self._asked: SimpleQueue[tuple[Callable[[], Any], SimpleQueue[Any]]] = SimpleQueue()
        threading.Thread(target=self._answer, name="skyloop ray", daemon=True).start()

    def ask(self, question: Callable[[], T]) -> T:
        answer: SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = SimpleQueue()
        self._asked.put((question, answer))
        seen_s = time.monotonic()
        while True:
            try:
                value, error = answer.get(timeout=LOOK_S)
            except Empty:
                with suppress(OSError), socket.create_connection(self._head, LOOK_S):
                    seen_s = time.monotonic()
                if time.monotonic() - seen_s > HEAD_S:
                    raise HeadLost(f"the head of Ray at {self._head[0]}:{self._head[1]} is gone") from None
                continue
            if error is not None:
                raise error
            return cast(T, value)

    def _answer(self) -> None:
        while True:
            question, answer = self._asked.get()
            try:
                answer.put((question(), None))
            except BaseException as error:
                answer.put((None, error))


class RayPool:
    is_far = True

    def __init__(self, ray: Any, cores_per_run: float) -> None:
        self._ray = ray
        self._cores = cores_per_run
        # runs are repeated by who asks for them, and counted
        self._task = ray.remote(num_cpus=cores_per_run, max_retries=0)(run_on_worker)
        self._running: dict[Any, int] = {}
        self._watched = WatchedRay(ray)

    @property
    def slots(self) -> int:
        """Machines may join and leave."""
        return max(1, int(self._watched.ask(self._ray.cluster_resources).get("CPU", 1.0) / self._cores))

    def submit(self, number: int, work: RemoteCall) -> None:
        self._running[self._watched.ask(lambda: self._task.remote(work))] = number

    def ended(self, patience_s: float) -> list[tuple[int, RunOutcome]]:
        return self._watched.ask(lambda: self._ended(patience_s))

    def _ended(self, patience_s: float) -> list[tuple[int, RunOutcome]]:
        running = list(self._running)
        done, _ = self._ray.wait(running, num_returns=1, timeout=patience_s)
        if done:
            # all others that are done too: one question for each would cost a millisecond
            done, _ = self._ray.wait(running, num_returns=len(running), timeout=0)
        return [(self._running.pop(task), self._outcome(task)) for task in done]

    def _outcome(self, task: Any) -> RunOutcome:
        try:
            outcome: RunOutcome = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            why = (str(error).strip().splitlines() or [""])[0]
            return RunOutcome(lost=f"the worker was lost: {type(error).__name__}: {why}", worker_lost=True)
        return outcome

    def drop(self) -> None:
        running, self._running = self._running, {}
        with suppress(HeadLost):
            self._watched.ask(lambda: [self._ray.cancel(task, force=True) for task in running])


@contextmanager
def ray_pool(workers: int | None = None, address: str | None = None, cores_per_run: float = 1.0) -> Iterator[RayPool]:
    """A Ray of our own on this machine, or the cluster at an address. One that the program has begun is used as it is.

    workers: cores of our own Ray; all if left out."""
    ray = _imported(embedded=address is None)
    began = not ray.is_initialized()
    if began:
        _begin(ray, workers, address)
    pool = RayPool(ray, cores_per_run)
    try:
        yield pool
    except HeadLost:
        began = False
        atexit.register(_leave)
        raise
    finally:
        if began:
            ray.shutdown()


def _leave() -> None:
    """Without Ray's farewell, which would wait for the dead head, and without its threads, which crash at the end."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


def _imported(*, embedded: bool) -> Any:
    """Ray reads its settings from the environment, once."""
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    if embedded:
        os.environ.update(EMBEDDED)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtra("campaigns need Ray, which is not installed: pip install 'skyloop[campaign]'") from None
    return ray


def _begin(ray: Any, workers: int | None, address: str | None) -> None:
    said: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address is not None:
            ray.init(address=address, **said)
            return
        ray.init(
            address="local", num_cpus=workers, include_dashboard=False, object_store_memory=STORE_BYTES,
            _node_ip_address=HERE, **said,
        )  # fmt: skip
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        where = "of our own" if address is None else f"at {address}"
        raise LinkError(f"cannot reach a Ray {where}: {why}") from None
    if any(node["NodeManagerAddress"] != HERE for node in ray.nodes()):
        log.warning("Ray was imported before the campaign, so it listens beyond this machine; keep strangers out")


def pickled_by_value(function: object) -> bytes:
    """A function of a notebook, a script or an expression, which no other process could import."""
    _imported(embedded=True)
    from ray import cloudpickle

    pickled: bytes = cloudpickle.dumps(function)
    return pickled


AHEAD = 2
"""Runs handed to the pool for each one that it can make at once, so that no worker waits for the next."""
WORKERS_LOST = 20
"""How many workers one run may cost. A run is not to blame for a worker or machine that is killed, but it may be."""
PATIENCE_S = 0.5
"""Between two looks at how many machines there are."""


def outcomes(
    works: Iterable[tuple[int, RemoteCall]], pool: Pool, retries: int
) -> Generator[tuple[int, RunOutcome], None, None]:
    """By number, in the order in which they end. One that is lost is made again so many times.

    Whoever stops reading drops the rest."""
    waiting = iter(works)
    again: list[tuple[int, RemoteCall]] = []
    asked: dict[int, RemoteCall] = {}
    attempts: dict[int, int] = {}
    blamed: dict[int, int] = {}
    try:
        while True:
            room = AHEAD * pool.slots
            while len(asked) < room and (following := again.pop() if again else next(waiting, None)) is not None:
                asked[following[0]] = following[1]
                pool.submit(*following)
            if not asked:
                return
            for number, outcome in pool.ended(PATIENCE_S):
                work = asked.pop(number)
                attempts[number] = attempts.get(number, 0) + 1
                if outcome.lost:
                    blamed[number] = blamed.get(number, 0) + (not outcome.worker_lost)
                    if blamed[number] <= retries and attempts[number] - blamed[number] <= WORKERS_LOST:
                        again.append((number, work))
                        continue
                yield number, replace(outcome, attempts=attempts[number])
    finally:
        pool.drop()
