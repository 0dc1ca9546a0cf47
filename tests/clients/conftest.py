"""Builds C++ programs for the tests, each once however many workers there are, and keeps them in the user's cache."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from made_once import made_once
from unplotted import leave_out_pictures

ROOT = Path(__file__).parents[2]
WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
HEADERS = [ROOT / "clients" / "cpp", ROOT / "examples" / "cpp-sut"]


@pytest.fixture(scope="module", autouse=True)
def without_pictures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_pictures(patch)
        yield


@pytest.fixture(scope="session")
def build() -> Callable[..., Path]:
    """build(source, *flags) compiles one file of the repository, if it has changed, and returns the program."""

    def built(source: str, *flags: str, compiler: str = "g++") -> Path:
        options = [*WARNINGS, *flags]
        # the name of the compiler itself, behind its links, holds its version
        digest = hashlib.sha256(" ".join([str(Path(shutil.which(compiler) or "").resolve()), *options]).encode())
        for path in [ROOT / source, *(path for folder in HEADERS for path in sorted(folder.glob("*.hpp")))]:
            digest.update(path.read_bytes())

        def compile_into(folder: Path) -> None:
            folder.mkdir(exist_ok=True)
            includes = [f"-I{each}" for each in HEADERS]
            subprocess.run([compiler, *options, *includes, ROOT / source, "-o", folder / "program"], check=True)

        name = f"{compiler}-{Path(source).stem}-{digest.hexdigest()[:16]}"
        return made_once(name, compile_into) / "program"

    return built
