"""Kernels compile once, when first needed; and the parts of Numba that core/jit.py replaces still work as it expects.

When a new Numba fails here, read the top of core/jit.py before widening the range in pyproject.toml.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.compiler_lock import global_compiler_lock

from skyloop.core import jit

KERNELS = """
import json, threading
import numpy as np
from numba import float64, void
from skyloop.core import jit

@jit.inlined
def power(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result

@jit.kernel(void(float64[:]))
def polynomial(out):
    for i in range(out.size):
        out[i] = power(out[i], 1) + power(out[i], 2) + power(out[i], out.size)

@jit.kernel(void(float64[:, :]))
def by_rows(out):
    for i in range(out.shape[0]):
        polynomial(out[i])

@jit.kernel(void(float64[:]))
def add_one(out):
    for i in range(out.size):
        out[i] += 1.0

def is_refused(kernel, argument):
    try:
        kernel(argument)
    except TypeError:
        return True
    return False

kernels = [polynomial, by_rows, add_one]
facts = {"at first": sum(len(kernel.signatures) for kernel in kernels)}
facts["in cache before"] = [entry.is_cached() for entry in jit._kernels]
rows = np.full((2, 3), 2.0)
by_rows(rows)
facts["rows"] = rows.tolist()
facts["after one call"] = [len(kernel.signatures) for kernel in kernels]
polynomial(rows[0])
facts["forms of the piece"] = len(power.signatures)

gate, arrays = threading.Barrier(8), [np.zeros(4) for _ in range(8)]

def call(array):
    gate.wait()
    add_one(array)

threads = [threading.Thread(target=call, args=(array,)) for array in arrays]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
facts["each thread added one"] = all((array == 1.0).all() for array in arrays)
facts["another type is refused"] = is_refused(add_one, np.zeros(3, np.float32))
facts["forms of a kernel"] = len(add_one.signatures)
facts["still replaced"] = any("_compile_for_args" in vars(kernel) for kernel in kernels)
facts["in cache after"] = [entry.is_cached() for entry in jit._kernels]
facts["loaded"] = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels)
facts["compiled"] = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)
print(json.dumps(facts))
"""


ONE_KERNEL = """
from numba import float64
from skyloop.core import jit

@jit.kernel(float64(float64))
def double(x):
    return 2.0 * x
"""
ONE_CALL = """
from skyloop.kernels import double
print(double(4.0), *(sum(counts.values()) for counts in double.stats[1:3]))
"""


def in_another_process(script: Path, cache: Path) -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("kernels") / "kernels.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture(scope="module")
def runs(script: Path) -> list[dict[str, Any]]:
    """With an empty cache, then with what the first run left there."""
    return [in_another_process(script, script.parent / "cache") for _ in range(2)]


@pytest.mark.processes
def test_a_kernel_compiles_once_when_it_or_its_caller_is_first_called(runs: list[dict[str, Any]]) -> None:
    assert [facts["at first"] for facts in runs] == [0, 0]
    # what is loaded from the cache has its parts in it
    assert [facts["after one call"] for facts in runs] == [[1, 1, 0], [0, 1, 0]]
    # several constants are one form of a piece
    assert runs[0]["forms of the piece"] == 1
    for facts in runs:
        assert facts["rows"] == [[2.0 + 4.0 + 8.0] * 3] * 2
        # threads that come second wait; they used to ask for the machine code until the stack was full
        assert facts["each thread added one"]
        # a kernel is compiled for its signatures only; from then on Numba calls the machine code without asking
        assert facts["another type is refused"] and facts["forms of a kernel"] == 1 and not facts["still replaced"]


@pytest.mark.processes
def test_the_second_start_loads_what_the_first_compiled(runs: list[dict[str, Any]]) -> None:
    cold, warm = runs
    assert (cold["in cache before"], cold["in cache after"]) == ([False] * 3, [True] * 3)
    assert (cold["loaded"], cold["compiled"]) == (0, 3)
    assert (warm["in cache before"], warm["loaded"], warm["compiled"]) == ([True] * 3, 3, 0)


@pytest.mark.processes
def test_a_changed_source_is_compiled_anew(script: Path, runs: list[dict[str, Any]]) -> None:
    script.write_text(script.read_text().replace("+= 1.0", "+= 0.5 + 0.5"))
    facts = in_another_process(script, script.parent / "cache")
    assert (facts["in cache before"], facts["loaded"], facts["compiled"]) == ([False] * 3, 0, 3)


@pytest.mark.processes
def test_a_second_checkout_loads_what_the_first_compiled(tmp_path: Path) -> None:
    package = Path(jit.__file__).parents[1]
    for name in ("first", "second"):
        (tmp_path / name / "skyloop" / "core").mkdir(parents=True)
        for file in ("__init__.py", "core/__init__.py", "core/files.py", "core/interrupts.py", "core/jit.py"):
            shutil.copy(package / file, tmp_path / name / "skyloop" / file)
        (tmp_path / name / "skyloop" / "__init__.py").write_text("")
        (tmp_path / name / "skyloop" / "kernels.py").write_text(ONE_KERNEL)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    for name, loaded, compiled in (("first", 0, 1), ("second", 1, 0)):
        facts = subprocess.check_output(
            [sys.executable, "-c", ONE_CALL],
            env={**environment, "PYTHONPATH": str(tmp_path / name)},
            text=True,
            timeout=60,
        )
        assert facts.split() == ["8.0", str(loaded), str(compiled)]


# ---- what core/jit.py replaces in Numba, without core/jit.py

CHANGED = f"numba {numba.__version__} has changed what core/jit.py relies on: "


def double(x: float) -> float:
    return 2.0 * x


def test_numba_asks_the_attribute_for_machine_code_and_calls_what_it_gets() -> None:
    dispatcher, asked = numba.njit(double), []

    def first_call(*arguments: Any) -> Any:
        asked.append(arguments)
        del dispatcher._compile_for_args
        dispatcher.compile("float64(float64)")
        return dispatcher

    dispatcher._compile_for_args = first_call
    assert (dispatcher(3.0), dispatcher(4.0)) == (6.0, 8.0), CHANGED + "Dispatcher._compile_for_args"
    assert asked == [(3.0,)], CHANGED + "Dispatcher._compile_for_args"


def test_numba_asks_the_attribute_when_compiled_code_calls() -> None:
    inner = numba.njit(double)
    asked, usual = [], inner.get_call_template

    def template(args: Any, kws: Any) -> Any:
        asked.append(args)
        return usual(tuple(map(numba.types.unliteral, args)), kws)

    inner.get_call_template = template
    outer = numba.njit(lambda: inner(1) + inner(2))
    assert outer() == 6.0
    assert asked, CHANGED + "Dispatcher.get_call_template"
    assert inner.signatures == [(numba.int64,)], CHANGED + "Dispatcher.get_call_template is given literal types"


def test_numba_compiles_under_its_lock() -> None:
    """And whoever holds it already may compile."""
    dispatcher = numba.njit(double)
    thread = threading.Thread(target=dispatcher.compile, args=("float64(float64)",))
    with global_compiler_lock:
        thread.start()
        thread.join(0.3)
        assert thread.is_alive(), CHANGED + "compiler_lock.global_compiler_lock is not held while compiling"
        numba.njit(double).compile("float64(float64)")
    thread.join()
    assert len(dispatcher.signatures) == 1


INTERRUPTED = """
from llvmlite.binding.ffi import ObjectRef
from skyloop.core import jit

class Ours:
    def __del__(self):
        raise ValueError("ours is told")

try:
    with jit._interruptible():
        half_made = ObjectRef.__new__(ObjectRef)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    del half_made
ours = Ours()
del ours
"""


@pytest.mark.processes
def test_ctrl_c_inside_the_compiler_leaves_no_complaints_of_its_half_made_objects() -> None:
    """Those of anybody else are still told."""
    told = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True).stderr
    assert "ObjectRef" not in told
    assert "ours is told" in told


def test_ctrl_c_that_the_compiler_swallows_ends_it_all_the_same() -> None:
    went_on, before = False, signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), jit._interruptible():
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        went_on = True
    assert went_on
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
