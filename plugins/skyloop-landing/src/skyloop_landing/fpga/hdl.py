"""Amaranth, from the extra `skyloop-landing[fpga]`: what the logic is written in."""

from __future__ import annotations

from skyloop_client.errors import MissingExtra

try:
    from amaranth.back import rtlil
    from amaranth.hdl import Array, Cat, ClockDomain, Const, Elaboratable, Module, Mux, Signal, Value, signed
    from amaranth.lib import data
    from amaranth.lib.memory import Memory, ReadPort, WritePort
    from amaranth.utils import bits_for
except ImportError:
    raise MissingExtra(
        "the landing fabric needs Amaranth, which is not installed: pip install 'skyloop-landing[fpga]'"
    ) from None

__all__ = [
    "Array", "Cat", "ClockDomain", "Const", "Elaboratable", "Memory", "Module", "Mux", "ReadPort", "Signal", "Value",
    "WritePort", "bits_for", "data", "rtlil", "signed",
]  # fmt: skip
