"""Which runs of a row belong together: each row is swept once beside the row above it."""

from __future__ import annotations

from skyloop_landing.fpga.config import FabricConfig, memory_depth
from skyloop_landing.fpga.hdl import (
    Cat,
    Elaboratable,
    Memory,
    Module,
    Mux,
    ReadPort,
    Signal,
    Value,
    WritePort,
    bits_for,
)
from skyloop_landing.fpga.records import link_layout, run_layout

_LATENCY = 4
"""Clocks from two runs that touch to the label of the object above: label, root, a register, link."""


class RowJoiner(Elaboratable):
    """Gives each run of a row a label, which is the number of a run further left in the same row or its own.

    One step per clock goes on to the next run above or here, whichever ends first, so a row takes as many steps as
    both rows have runs. When labels turn out to be one object, the pair goes on a stack; after the sweep the stack is
    emptied from the top, so that the root of each label is the leftmost run of its object. Along a row objects are
    nested and never cross, hence a label that was given up is not met again further right and one look-up is enough.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        runs, link = config.most_runs, link_layout(config)
        bits = bits_for(runs - 1)
        self.begin = Signal()
        self.done = Signal()
        """One clock, when the row's tables are complete."""
        self.busy = Signal()
        self.row = Signal(2)
        """The row's bank of runs; its lowest bit chooses the tables."""
        self.count_above, self.count_here = Signal(range(runs + 1)), Signal(range(runs + 1))
        self.above, self.here = Signal(run_layout(config)), Signal(run_layout(config))
        self.above_address, self.here_address = Signal(bits + 2), Signal(bits + 2)
        self.link_address, self.link = Signal(bits), Signal(link)
        self.link_write_address, self.link_write, self.link_enable = Signal(bits), Signal(link), Signal()
        # for the reader that comes after: the tables of the row before
        self.label_address, self.label = Signal(bits + 1), Signal(bits)
        self.root_address, self.root = Signal(bits + 1), Signal(bits)
        self.stack_overrun = Signal()
        """Stays up once labels were joined more often than the proof allows."""
        self._bits = bits
        self._sweeping, self._resolving = Signal(), Signal()
        self._touching, self._here_ends = Signal(), Signal()
        self._number_above, self._number_here = Signal(range(runs + 1)), Signal(range(runs + 1))
        self._height, self._pairs = Signal(range(config.most_joins + 1)), Signal(range(config.most_joins + 1))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = 2 << self._bits
        m.submodules.labels = labels = Memory(shape=self._bits, depth=depth, init=[])
        m.submodules.roots = roots = Memory(shape=self._bits, depth=depth, init=[])
        m.submodules.stack = stack = Memory(shape=2 * self._bits, depth=memory_depth(self._config.most_joins), init=[])
        for memory, address, value in (
            (labels, self.label_address, self.label),
            (roots, self.root_address, self.root),
        ):
            read = memory.read_port()
            m.d.comb += [read.addr.eq(address), value.eq(read.data)]
        label_write, root_write = labels.write_port(), roots.write_port()
        label_read, root_read = labels.read_port(), roots.read_port(transparent_for=(root_write,))
        m.d.comb += label_read.addr.eq(Cat(self._number_above[: self._bits], ~self.row[0]))
        self._follow(m)
        self._sweep(m)
        self._label(m, label_write, root_write, stack.write_port())
        self._resolve(m, label_read, root_read, root_write, stack.read_port())
        return m

    def _follow(self, m: Module) -> None:
        """The order of steps within a row."""
        wait = Signal(range(_LATENCY + 1))
        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.begin):
                    m.next = "SWEEP"
            with m.State("SWEEP"):
                m.d.comb += self._sweeping.eq(self._number_here != self.count_here)
                with m.If(~self._sweeping):
                    m.d.sync += wait.eq(_LATENCY)
                    m.next = "SETTLE"
            with m.State("SETTLE"):  # what is under way reaches the tables
                m.d.sync += [wait.eq(wait - 1), self._pairs.eq(self._height)]
                with m.If(wait == 0):
                    m.next = "RESOLVE"
            with m.State("RESOLVE"):
                m.d.comb += self._resolving.eq(self._pairs != 0)
                with m.If(self._resolving):
                    m.d.sync += self._pairs.eq(self._pairs - 1)
                with m.Else():
                    m.d.sync += wait.eq(2)
                    m.next = "FINISH"
            with m.State("FINISH"):
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"

    def _sweep(self, m: Module) -> None:
        above, here = self.above, self.here
        k, j = self._number_above, self._number_here
        next_k, next_j = Signal.like(k), Signal.like(j)
        any_above, above_ends = k != self.count_above, Signal()
        m.d.comb += [
            self._touching.eq(any_above & (above.first <= here.last + 1) & (here.first <= above.last + 1)),
            above_ends.eq(any_above & (above.last < here.last)),
            self._here_ends.eq(~above_ends),
            # read ahead, so that the next two runs are there in the next clock
            self.above_address.eq(Cat(next_k[: self._bits], (self.row - 1)[:2])),
            self.here_address.eq(Cat(next_j[: self._bits], self.row)),
        ]
        with m.If(self._sweeping):
            m.d.comb += [next_k.eq(k + above_ends), next_j.eq(j + self._here_ends)]
        m.d.sync += [k.eq(next_k), j.eq(next_j)]

    def _label(self, m: Module, label_write: WritePort, root_write: WritePort, push: WritePort) -> None:
        """Four clocks after two runs were compared, what the object above is called in this row is known."""
        sweeping = self._sweeping
        touching, ends, number = self._delayed(
            m, (sweeping & self._touching, sweeping & self._here_ends, self._number_here[: self._bits])
        )
        label, labelled = Signal(self._bits), Signal()
        now, fresh, joined = Signal(self._bits), Signal(), Signal()
        joined_before, pair = Signal(), Signal(2 * self._bits)
        linked = touching & self.link.valid
        m.d.comb += [
            now.eq(Mux(linked, self.link.label, Mux(labelled, label, number))),
            fresh.eq((touching | ends) & ~labelled & ~linked),
            joined.eq(linked & labelled & (label != self.link.label)),
            self.link_write.label.eq(now),
            self.link_write.valid.eq(1),
            self.link_enable.eq(touching & ~self.link.valid),
            label_write.addr.eq(Cat(number, self.row[0])),
            label_write.data.eq(now),
            label_write.en.eq(ends),
            push.addr.eq(self._height),
            push.data.eq(pair),
            push.en.eq(joined_before),
        ]
        m.d.sync += [label.eq(now), labelled.eq((labelled | touching) & ~ends)]
        m.d.sync += [joined_before.eq(joined), pair.eq(Cat(label, self.link.label))]
        m.d.sync += self._height.eq(Mux(self.begin, 0, self._height + joined_before))
        with m.If(joined_before & (self._height == self._config.most_joins)):
            m.d.sync += self.stack_overrun.eq(1)
        with m.If(fresh):  # a label of its own, and a root until it is joined
            m.d.comb += [root_write.addr.eq(Cat(number, self.row[0])), root_write.data.eq(number), root_write.en.eq(1)]

    def _delayed(self, m: Module, event: tuple[Value, ...]) -> tuple[Value, ...]:
        m.d.sync += (pipe := Signal(_LATENCY * (self._bits + 2))).eq(Cat(*event, pipe))
        last = pipe[-(self._bits + 2) :]
        return last[0], last[1], last[2:]

    def _resolve(
        self, m: Module, label_read: ReadPort, root_read: ReadPort, root_write: WritePort, pop: ReadPort
    ) -> None:
        """From the last join to the first: the other label's root is final by then. One join per clock."""
        popped, found, label = Signal(), Signal(), Signal(self._bits)
        other = pop.data[self._bits :]
        m.d.sync += [popped.eq(self._resolving), found.eq(popped), label.eq(pop.data[: self._bits])]
        m.d.comb += [
            pop.addr.eq(self._pairs - 1),
            # while the row is swept: the root of the run above, in the tables of its row
            root_read.addr.eq(Mux(popped, Cat(other, self.row[0]), Cat(label_read.data, ~self.row[0]))),
        ]
        m.d.sync += [self.link_address.eq(root_read.data), self.link_write_address.eq(self.link_address)]
        with m.If(found):
            m.d.comb += [
                root_write.addr.eq(Cat(label, self.row[0])),
                root_write.data.eq(root_read.data),
                root_write.en.eq(1),
            ]
