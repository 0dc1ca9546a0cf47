"""Binary pixels to runs: at most one run for two pixels, so that what follows has two clocks for each."""

from __future__ import annotations

from typing import Any

from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.hdl import Array, Cat, Elaboratable, Memory, Module, Mux, Signal, bits_for
from skyloop_landing.fpga.records import ROW_BANKS, run_layout


class RunRows(Elaboratable):
    """Writes the runs of each row into the next of four banks. An empty row with the mark `final` ends an image.

    Rows are counted modulo eight: `filled` here, `added` by the last reader. Three read ports are for the row above,
    the row itself and the row whose figures are added up.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.dark, self.valid = Signal(), Signal()
        self.x, self.y = Signal(range(config.width)), Signal(range(config.height))
        self.filled = Signal(3)
        self.added = Signal(3)
        self.overrun = Signal()
        """Stays up once a row came before there was room for it."""
        self.counts = Array(Signal(range(config.most_runs + 1), name=f"count{k}") for k in range(ROW_BANKS))
        self.finals = Array(Signal(name=f"final{k}") for k in range(ROW_BANKS))
        run_bits = bits_for(config.most_runs - 1)
        self.addresses = [Signal(run_bits + 2, name=f"{who}_run_address") for who in ("above", "here", "added")]
        self.runs = [Signal(run_layout(config), name=f"{who}_run") for who in ("above", "here", "added")]

    def elaborate(self, platform: Any) -> Any:
        m = Module()
        c = self._config
        layout = run_layout(c)
        m.submodules.runs = memory = Memory(shape=layout, depth=ROW_BANKS << bits_for(c.most_runs - 1), init=[])
        write = memory.write_port()
        for address, run in zip(self.addresses, self.runs, strict=True):
            read = memory.read_port()
            m.d.comb += [read.addr.eq(address), run.eq(read.data)]
        dark_before, first, number = Signal(), Signal.like(self.x), Signal(range(c.most_runs + 1))
        before = dark_before & (self.x != 0)
        at_end = self.x == c.width - 1
        bank = self.filled[:2]
        m.d.comb += [
            write.addr.eq(Cat(number[: bits_for(c.most_runs - 1)], bank)),
            write.data.first.eq(Mux(before, first, self.x)),
            write.data.last.eq(Mux(self.dark, self.x, self.x - 1)),
            write.en.eq(self.valid & Mux(self.dark, at_end, before)),
        ]
        ended, image_ended = Signal(), Signal()
        m.d.sync += [ended.eq(self.valid & at_end), image_ended.eq(ended & (self.y == c.height - 1))]
        with m.If(self.valid):
            m.d.sync += dark_before.eq(self.dark)
            with m.If(self.dark & ~before):
                m.d.sync += first.eq(self.x)
        m.d.sync += number.eq(number + write.en)
        with m.If(ended | image_ended):
            m.d.sync += [
                self.counts[bank].eq(Mux(image_ended, 0, number)),
                self.finals[bank].eq(image_ended),
                number.eq(0),
                self.filled.eq(self.filled + 1),
            ]
        with m.If(write.en & ((self.filled - self.added)[:3] >= ROW_BANKS)):
            m.d.sync += self.overrun.eq(1)
        return m
