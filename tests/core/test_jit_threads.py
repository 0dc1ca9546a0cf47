"""Kernels may be called for the first time by several threads at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import threading
import numpy as np
from numba import float64, void
from skyloop.core.jit import kernel

@kernel(void(float64[:]))
def add_one(out):
    for i in range(out.size):
        out[i] += 1.0

gate, arrays = threading.Barrier(8), [np.zeros(4) for _ in range(8)]

def call(array):
    gate.wait()
    add_one(array)

threads = [threading.Thread(target=call, args=(array,)) for array in arrays]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all((array == 1.0).all() for array in arrays)
"""


def test_whoever_comes_second_waits_for_the_machine_code(tmp_path: Path) -> None:
    """It used to ask for it until the stack was full, which killed the process."""
    script = tmp_path / "first_calls.py"
    script.write_text(CODE)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
