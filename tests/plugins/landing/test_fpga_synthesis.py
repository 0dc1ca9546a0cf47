"""Counting cells and adding up delays, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from skyloop_landing.fpga.synthesis import Resources, counted
from skyloop_landing.fpga.timing import WIRE_NS, longest_path


def test_cells_are_counted_as_the_chip_has_them() -> None:
    cells = {"LUT2": 3, "LUT6": 4, "RAM64M": 2, "SRL16E": 1, "INV": 1, "FDRE": 5, "FDSE": 1, "RAMB18E1": 3,
             "RAMB36E1": 2, "DSP48E1": 4, "CARRY4": 9, "MUXF7": 1}  # fmt: skip
    assert counted(cells) == Resources(lut=17, ff=6, bram36=3.5, dsp=4)
    assert counted(cells).percent_of(Resources(34, 60, 35, 8)) == Resources(50.0, 10.0, 10.0, 50.0)


def cell(kind: str, inputs: dict[str, Any], output: tuple[str, int], **parameters: str) -> dict[str, Any]:
    connections = {**{port: [bit] for port, bit in inputs.items()}, output[0]: [output[1]]}
    directions = {port: "output" if port == output[0] else "input" for port in connections}
    return {"type": kind, "parameters": parameters, "connections": connections, "port_directions": directions}


def test_the_longest_path_is_the_sum_of_its_cells_and_wires() -> None:
    """Memory, look-up table, two of a carry chain, register; a shorter one beside it; a loop over the register."""
    cells = {
        "memory": cell("RAMB36E1", {"ADDRARDADDR": 9}, ("DOADO", 2)),
        "table": cell("LUT2", {"I0": 2, "I1": "1"}, ("O", 3)),
        "low": cell("CARRY4", {"S": 3, "DI": "0"}, ("CO", 4)),
        "high": cell("CARRY4", {"CI": 4, "S": 9}, ("O", 5)),
        "register": cell("FDRE", {"D": 5, "C": 1}, ("Q", 9)),
    }
    path = longest_path({"modules": {"top": {"cells": cells}}}, "top")
    assert path.cells == ("RAMB36E1", "LUT2", "CARRY4", "CARRY4", "FDRE")
    assert path.ns == pytest.approx(2.46 + (WIRE_NS + 0.24) + (WIRE_NS + 0.65) + 0.34 + (WIRE_NS + 0.46))


@pytest.mark.parametrize(("mreg", "preg", "ns"), [(0, 0, 3.81 + 0.46), (1, 0, 2.40), (0, 1, 3.73)])
def test_a_multipliers_registers_cut_the_path(mreg: int, preg: int, ns: float) -> None:
    registers = {"AREG": "0", "BREG": "0", "CREG": "0", "DREG": "0", "MREG": str(mreg), "PREG": str(preg)}
    cells = {
        "from": cell("FDRE", {"D": 9}, ("Q", 2)),
        "dsp": cell("DSP48E1", {"A": 2}, ("P", 3), **registers),
        "to": cell("FDRE", {"D": 3}, ("Q", 4)),
    }
    wires = 1 if mreg or preg else 2
    path = longest_path({"modules": {"top": {"cells": cells}}}, "top")
    assert path.ns == pytest.approx(0.31 + wires * WIRE_NS + ns)
