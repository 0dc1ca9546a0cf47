"""What the logic takes of a Zynq-7020, by yosys' synthesis for Xilinx 7-series. Nothing is placed or routed."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.timing import LongestPath, longest_path
from skyloop_landing.fpga.yosys import TOP, run_yosys, write_rtlil

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


def synthesise(config: FabricConfig | None = None) -> Synthesis:
    """Takes about a minute."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rtlil(config or FabricConfig(), folder)
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
