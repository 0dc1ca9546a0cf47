"""The inbox all links share: order, time limits, and signals that come while somebody waits."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from queue import Empty

import pytest

from skyloop.links.inbox import Inbox


def test_what_is_put_comes_out_in_order() -> None:
    inbox = Inbox()
    for k in range(5):
        inbox.put((k,))
    assert inbox.qsize() == 5
    assert [inbox.get_nowait(), inbox.get(1.0)] == [(0,), (1,)]
    assert [inbox.get(0.0), inbox.get_nowait(), inbox.get(1.0)] == [(2,), (3,), (4,)]
    with pytest.raises(Empty):
        inbox.get_nowait()


def test_waiting_ends_with_the_time_or_with_what_comes() -> None:
    inbox = Inbox()
    inbox.put(("early",))
    assert inbox.get_nowait() == ("early",)
    began = time.monotonic()
    with pytest.raises(Empty):
        inbox.get(0.1)
    assert time.monotonic() - began >= 0.1
    threading.Timer(0.05, inbox.put, (("late",),)).start()
    assert inbox.get(30.0) == ("late",)


def test_many_who_put_at_once_lose_nothing() -> None:
    inbox, got = Inbox(), []

    def put_all(n: int) -> None:
        for k in range(500):
            inbox.put((n, k))

    threads = [threading.Thread(target=put_all, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(2000):
        got.append(inbox.get(30.0))
    assert sorted(got) == [(n, k) for n in range(4) for k in range(500)]
    for n in range(4):
        assert [k for m, k in got if m == n] == list(range(500)), "each one's own order is kept"


SIGNALLED = """
import signal, sys
from queue import Empty
from skyloop.links.link_gate import LinkGate
count = [0]
def tick(*_):
    count[0] += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.00101, 0.00101)
inbox = LinkGate().inbox
for _ in range(3000):
    try:
        inbox.get(timeout=0.001)
    except Empty:
        pass
print(count[0] > 1000)
"""


@pytest.mark.processes
def test_a_signal_at_the_end_of_the_time_does_not_make_it_endless() -> None:
    """With queue.SimpleQueue of CPython 3.11 this process stands still within a second."""
    done = subprocess.run([sys.executable, "-c", SIGNALLED], capture_output=True, text=True, timeout=60.0, check=False)
    assert done.stdout.strip() == "True", done.stderr
