"""What a flight kernel works in is its own for as long as it works, whatever other threads allocate meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

# all threads share one heap, so that memory given back too early is soon somebody else's
PROGRAM = """
import threading
import numpy as np
from skyloop.gym import SkyloopVectorEnv
from skyloop.vehicle.kernel_records import SCRATCH

def flight(threads):
    env = SkyloopVectorEnv(40, "gate", threads=threads, control_rate_hz=5)
    env.reset(seed=3)
    for actions in np.random.default_rng(0).uniform(-0.5, 0.5, (3, 40, 4)).astype(np.float32):
        env.step(actions)
    env.close()
    return env.states["motion"].copy()

def allocate():
    while not over:
        [np.full(SCRATCH.itemsize // 8 + k, np.nan) for k in range(-2, 3) for _ in range(4)]

over, alone = False, flight(1)
others = [threading.Thread(target=allocate) for _ in range(2)]
for other in others:
    other.start()
try:
    print(np.array_equal(flight(1), alone), np.array_equal(flight(2), alone))
finally:
    over = True
"""


@pytest.mark.slow("ten thousand flights beside busy threads")
def test_other_threads_do_not_reach_it() -> None:
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert told.stdout.split() == ["True", "True"], told.stderr[-2000:]
