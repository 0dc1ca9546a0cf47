"""What the radar uses of CuPy, with arrays of NumPy and kernels that g++ compiles, for tests where there is no GPU."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

# CUDA's words, so that a kernel is a function that is called for one thread after the other
BEFORE = r"""
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
using std::sqrt; using std::floor; using std::fabs; using std::fmax; using std::rint;
#define __device__
#define __global__
#define __shared__ static
struct float2 { float x, y; };
struct Index { int x, y, z; };
static Index threadIdx, blockIdx, blockDim, gridDim;
static inline float2 make_float2(float x, float y) { float2 both = {x, y}; return both; }
static inline int atomicAdd(int* at, int n) { const int old = *at; *at += n; return old; }
static inline void sincospif(float x, float* s, float* c)
{
    *s = (float)std::sin(3.141592653589793 * x);
    *c = (float)std::cos(3.141592653589793 * x);
}
static inline float __uint_as_float(unsigned int word)
{
    float value;
    std::memcpy(&value, &word, 4);
    return value;
}
"""
AFTER = r"""
template <typename... A, std::size_t... I>
static void every(void (*kernel)(A...), const int* grid, void** given, std::index_sequence<I...>)
{
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {grid[3], 1, 1};
    const int n_blocks = grid[0] * grid[1] * grid[2];
    // a GPU's threads come in any order; here the last comes first
    for (int block = n_blocks - 1; block >= 0; --block) {
        blockIdx = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]};
        for (int thread = grid[3] - 1; thread >= 0; --thread) {
            threadIdx = {thread, 0, 0};
            kernel(*(A*)given[I]...);
        }
    }
}
template <typename... A> static void launch(void (*kernel)(A...), const int* grid, int n_given, void** given)
{
    if (n_given != (int)sizeof...(A)) __builtin_abort();
    every(kernel, grid, given, std::index_sequence_for<A...>());
}
"""
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
FLAGS = ("-O2", "-std=c++17", "-ffp-contract=off", *WARNINGS, "-shared", "-fPIC")


@cache
def _library(folder: Path, text: str) -> ctypes.CDLL:
    """Compiled once for each text, which takes most of a second."""
    source = folder / f"{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}.cpp"
    source.write_text(text)
    library = source.with_suffix(".so")
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


class Module:
    """As cupy.RawModule."""

    def __init__(self, folder: Path, code: str, options: tuple[str, ...] = ()) -> None:
        names = [line.split("(")[0].split()[1] for line in code.splitlines() if line.startswith("KERNEL ")]
        starts = "".join(
            f'extern "C" void launch_{name}(const int* grid, int n, void** all) {{ launch({name}, grid, n, all); }}\n'
            for name in names
        )
        self._library = _library(folder, BEFORE + code + AFTER + starts)

    def get_function(self, name: str) -> Any:
        function = getattr(self._library, f"launch_{name}")

        def launch(blocks: tuple[int, ...], threads: tuple[int], given: tuple[Any, ...]) -> None:
            assert all(array.flags.c_contiguous for array in given if isinstance(array, np.ndarray))
            grid = (ctypes.c_int * 4)(*blocks, *(1,) * (3 - len(blocks)), *threads)
            values = [_argument(value) for value in given]
            pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
            function(grid, len(values), pointers)

        return launch


def _argument(value: Any) -> Any:
    """As CuPy gives it to a kernel: arrays by address, NumPy's numbers as they are, Python's as double."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, np.int32):
        return ctypes.c_int(int(value))
    assert type(value) is float, f"{value!r} has a size that a kernel may not expect"
    return ctypes.c_double(value)


class DeviceArray(np.ndarray):
    """Takes what cupy.ndarray takes, and nothing else."""

    def set(self, array: np.ndarray) -> None:
        assert array.dtype == self.dtype and array.shape == self.shape
        self[...] = array


def processor_as_device(folder: Path) -> Any:
    def made(array: Any) -> DeviceArray:
        return np.asarray(array).view(DeviceArray)

    def empty(shape: Any, dtype: Any = float) -> DeviceArray:
        # nothing may be read before it is written
        return made(np.frombuffer(b"\xff" * int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype).copy()).reshape(
            shape
        )

    return SimpleNamespace(
        RawModule=lambda code, options=(): Module(folder, code, options),
        empty=empty,
        asarray=made,
        ascontiguousarray=np.ascontiguousarray,
        asnumpy=lambda array: np.array(array, subok=False),
        concatenate=np.concatenate,
        cuda=SimpleNamespace(
            alloc_pinned_memory=bytearray, get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None)
        ),
    )
