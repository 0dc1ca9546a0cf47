"""An estimate of the longest way between two registers. Cells as yosys' model of 7-series has them; wires are assumed.

Nothing is placed, so no wire has a length yet: each counts as WIRE_NS, except within carry chains and DSP cascades.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

WIRE_NS = 1.0
"""More than the mean in a chip with room to spare; a wire to many places may take longer."""
_RAM = ("RAM32M", "RAM64M", "RAM32X1D", "RAM64X1D")
_BLOCK = ("RAMB18E1", "RAMB36E1")
_LUTS = {f"LUT{n}" for n in range(1, 7)}
_LUT_NS = (0.13, 0.24, 0.41, 0.48, 0.64, 0.65)
_FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE")
_ADDRESS = ("ADDR", "A", "DPRA")
_CASCADES = {"CI", "PCIN"}
_NO_SIGNAL = ("BUFG", "$scopeinfo")


@dataclass(frozen=True)
class LongestPath:
    ns: float
    cells: tuple[str, ...]
    """Kinds of cells along it, the first and the last with a clock."""


@dataclass(frozen=True)
class _Cell:
    kind: str
    registers: Mapping[str, int]
    """Of a DSP: which of its stages are clocked."""

    def from_clock_ns(self) -> float | None:
        """Until its outputs are valid; None where they do not follow a clock."""
        if self.kind in _FLIP_FLOPS:
            return 0.31
        if self.kind in _BLOCK:
            return 2.46
        if self.kind in _RAM or self.kind == "SRL16E":
            return 1.48
        if self.kind == "DSP48E1":
            r = self.registers
            late = 1.69 if r["MREG"] or r["CREG"] else 3.94 if r["AREG"] or r["BREG"] or r["DREG"] else None
            return 0.33 if r["PREG"] else late
        return None

    def through_ns(self, port: str) -> float | None:
        """From an input to the outputs; None where a register is between them."""
        if self.kind in _LUTS:  # the last input is the fastest
            return _LUT_NS[int(self.kind[3]) - 1 - int(port[1])]
        if self.kind in ("INV", "MUXF7", "MUXF8"):
            return 0.30
        if self.kind == "CARRY4":
            return 0.34 if port == "CI" else 0.65
        if self.kind in _RAM and port.startswith(_ADDRESS):
            return 0.65
        if self.kind == "DSP48E1" and port in ("A", "B", "C", "D", "PCIN") and not self._clocked(port):
            return 1.33 if port in ("C", "PCIN") else 3.81
        return None

    def before_clock_ns(self, port: str) -> float:
        """How long before the clock an input must be valid."""
        if self.kind in _BLOCK:
            return 0.74
        if self.kind == "DSP48E1":
            r = self.registers
            if r.get(f"{port}REG"):
                return 0.33
            if port in ("A", "B", "D"):
                return 2.40 if r["MREG"] else 3.73
            return 1.25
        return 0.46

    def _clocked(self, port: str) -> bool:
        r = self.registers
        behind = r["PREG"] or (r["MREG"] and port in ("A", "B", "D"))
        return bool(behind or r.get(f"{port}REG"))


def longest_path(netlist: Mapping[str, Any], top: str) -> LongestPath:
    """netlist: As `write_json` of yosys gives it after synthesis."""
    cells = {name: _read(cell) for name, cell in netlist["modules"][top]["cells"].items()}
    cells = {name: cell for name, cell in cells.items() if cell[0].kind not in _NO_SIGNAL}
    driver = {bit: name for name, (_, _, outputs) in cells.items() for bit in outputs}
    order: TopologicalSorter[str] = TopologicalSorter({name: set() for name in cells})
    for name, (cell, inputs, _) in cells.items():
        for port, bit in inputs:
            if bit in driver and cell.through_ns(port) is not None:
                order.add(name, driver[bit])
    arrival: dict[str, LongestPath] = {}
    longest = LongestPath(0.0, ())
    # a cell's outputs are as late as its latest input
    for name in order.static_order():
        cell, inputs, _ = cells[name]
        start = cell.from_clock_ns()
        arrival[name] = LongestPath(0.0 if start is None else start, (cell.kind,))
        for port, bit in inputs:
            through = cell.through_ns(port)
            if through is not None and bit in driver:
                before = arrival[driver[bit]]
                ns = before.ns + (0.0 if port in _CASCADES else WIRE_NS) + through
                arrival[name] = max(arrival[name], LongestPath(ns, (*before.cells, cell.kind)), key=_ns)
    for cell, inputs, _ in cells.values():
        for port, bit in inputs:
            if bit in driver and cell.through_ns(port) is None:
                before = arrival[driver[bit]]
                ns = before.ns + WIRE_NS + cell.before_clock_ns(port)
                longest = max(longest, LongestPath(ns, (*before.cells, cell.kind)), key=_ns)
    return longest


def _ns(path: LongestPath) -> float:
    return path.ns


def _read(cell: Mapping[str, Any]) -> tuple[_Cell, list[tuple[str, int]], list[int]]:
    """Its kind, input bits with their ports, output bits. Constants are left out."""
    registers = {key: int(value, 2) for key, value in cell["parameters"].items() if key.endswith("REG")}
    ports = list(_bits(cell))
    inputs = [(port, bit) for port, bit, direction in ports if direction == "input"]
    return _Cell(cell["type"], registers), inputs, [bit for _, bit, direction in ports if direction == "output"]


def _bits(cell: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    for port, bits in cell["connections"].items():
        for bit in bits:
            if isinstance(bit, int):
                yield port, bit, cell["port_directions"][port]
