"""Builds C++ programs for the tests, each once however many workers there are."""

import fcntl
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[..., Path]:
    """build(source, *flags) compiles one file of the repository and returns the program."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ here: the C++ client cannot be tested (Debian: apt-get install g++)")
    # workers have a folder each, below one that they share
    base = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent

    def built(source: str, *flags: str, compiler: str = "g++") -> Path:
        program = base / f"{compiler}-{Path(source).stem}"
        with (base / f"{program.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not program.exists():
                includes = [f"-I{ROOT}/clients/cpp", f"-I{ROOT}/examples/cpp-sut"]
                subprocess.run([compiler, *WARNINGS, *flags, *includes, ROOT / source, "-o", program], check=True)
        return program

    return built
