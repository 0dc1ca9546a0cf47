"""Binary pixels to complete objects: runs, joining and adding, each a row behind the other.

There is at most one run for two pixels, so that what follows the runs has two clocks for each.
"""

from __future__ import annotations

from skyloop_landing.fpga.adding import RowAdder
from skyloop_landing.fpga.config import FabricConfig, memory_depth
from skyloop_landing.fpga.hdl import Array, Cat, Elaboratable, Memory, Module, Mux, Signal, bits_for
from skyloop_landing.fpga.joining import RowJoiner
from skyloop_landing.fpga.records import ROW_BANKS, link_layout, object_layout, run_layout


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

    def elaborate(self, platform: object) -> Module:
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


class Labelling(Elaboratable):
    """8-connected components. While a row arrives, the row before is joined and the one before that is added up."""

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.rows = RunRows(config)
        self.joiner = RowJoiner(config)
        self.adder = RowAdder(config)
        self.complete = Signal(object_layout(config))
        self.image_done = Signal()
        """One clock, after the last object of an image."""
        self.overrun = Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows, joiner, adder = self.rows, self.joiner, self.adder
        m.submodules.rows, m.submodules.joiner, m.submodules.adder = rows, joiner, adder
        m.d.comb += [
            rows.addresses[0].eq(joiner.above_address), joiner.above.eq(rows.runs[0]),
            rows.addresses[1].eq(joiner.here_address), joiner.here.eq(rows.runs[1]),
            rows.addresses[2].eq(adder.run_address), adder.run.eq(rows.runs[2]),
            joiner.label_address.eq(adder.label_address), adder.label.eq(joiner.label),
            joiner.root_address.eq(adder.root_address), adder.root.eq(joiner.root),
            self.complete.eq(adder.complete),
            self.overrun.eq(rows.overrun | joiner.stack_overrun),
        ]  # fmt: skip
        self._take_turns(m)
        self._links(m)
        return m

    def _take_turns(self, m: Module) -> None:
        """The joiner may be one row ahead of the adder, because tables exist twice."""
        rows, joiner, adder = self.rows, self.joiner, self.adder
        joined, ahead = Signal(3), Signal(3)
        m.d.comb += [
            ahead.eq(joined - rows.added),
            joiner.row.eq(joined),
            joiner.count_here.eq(rows.counts[joined[:2]]),
            joiner.begin.eq(~joiner.busy & (rows.filled != joined) & (ahead <= 1)),
            adder.row.eq(rows.added),
            adder.count.eq(rows.counts[rows.added[:2]]),
            adder.final.eq(rows.finals[rows.added[:2]]),
            adder.begin.eq(~adder.busy & (ahead != 0)),
            self.image_done.eq(adder.done & adder.final),
        ]
        with m.If(joiner.done):
            m.d.sync += [joined.eq(joined + 1), joiner.count_above.eq(joiner.count_here)]
        with m.If(adder.done):
            m.d.sync += rows.added.eq(rows.added + 1)

    def _links(self, m: Module) -> None:
        """Two tables: one is written by the joiner while the other is read and cleared by the adder."""
        joiner, adder = self.joiner, self.adder
        for bank in range(2):
            m.submodules[f"links{bank}"] = memory = Memory(
                shape=link_layout(self._config), depth=memory_depth(self._config.most_runs), init=[]
            )
            write = memory.write_port()
            # an object may be met again in the next clock
            read = memory.read_port(transparent_for=(write,))
            joining = joiner.busy & (joiner.row[0] == bank)
            m.d.comb += [
                read.addr.eq(Mux(joining, joiner.link_address, adder.link_address)),
                write.addr.eq(Mux(joining, joiner.link_write_address, adder.link_clear_address)),
                write.en.eq(Mux(joining, joiner.link_enable, adder.link_clear & (adder.row[0] == bank))),
            ]
            with m.If(joining):
                m.d.comb += write.data.eq(joiner.link_write)
            with m.If(joiner.row[0] == bank):
                m.d.comb += joiner.link.eq(read.data)
            with m.If(adder.row[0] == bank):
                m.d.comb += adder.link.eq(read.data)
