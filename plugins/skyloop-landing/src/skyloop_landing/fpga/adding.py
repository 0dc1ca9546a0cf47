"""The figures of the objects: a row's runs and the objects of the row above are added up by label."""

from __future__ import annotations

from skyloop_landing.fpga.config import FabricConfig, memory_depth
from skyloop_landing.fpga.hdl import Cat, Elaboratable, Memory, Module, Mux, Signal, Value, bits_for
from skyloop_landing.fpga.records import link_layout, object_layout, run_layout

_LATENCY = 4
"""Clocks from a run's or link's number to its place in the table, and on to the list."""


class RowAdder(Elaboratable):
    """First the row's runs, each to the root of its label; then the objects of the row above, each to where it goes on.

    An object of the row above that goes on nowhere is complete and goes out. They are visited from left to right by
    their leftmost run, which is the order of the list. What was read is cleared for the next use of the tables.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        bits = bits_for(config.most_runs - 1)
        self.begin, self.done, self.busy = Signal(), Signal(), Signal()
        self.row = Signal(2)
        self.final = Signal()
        """The row is the empty one below the image."""
        self.count = Signal(range(config.most_runs + 1))
        self.run_address, self.run = Signal(bits + 2), Signal(run_layout(config))
        self.label_address, self.label = Signal(bits + 1), Signal(bits)
        self.root_address, self.root = Signal(bits + 1), Signal(bits)
        self.link_address, self.link = Signal(bits), Signal(link_layout(config))
        self.link_clear_address, self.link_clear = Signal(bits), Signal()
        self.complete = Signal(object_layout(config))
        """An object, where its mark `valid` is up."""
        self._bits = bits
        self._number = Signal(bits)
        self._of_run, self._of_link = Signal(), Signal()
        self._y = Signal(range(config.height))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._follow(m)
        self._add(m)
        return m

    def _follow(self, m: Module) -> None:
        count_above, number = Signal.like(self.count), Signal.like(self.count)
        wait = Signal(range(_LATENCY + 1))
        m.d.comb += [self.busy.eq(1), self._number.eq(number)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.begin):
                    m.next = "RUNS"
            with m.State("RUNS"):
                m.d.comb += self._of_run.eq(number != self.count)
                m.d.sync += number.eq(Mux(self._of_run, number + 1, 0))
                with m.If(~self._of_run):
                    m.next = "OBJECTS"
            with m.State("OBJECTS"):
                m.d.comb += self._of_link.eq(number != count_above)
                m.d.sync += [number.eq(Mux(self._of_link, number + 1, 0)), wait.eq(_LATENCY)]
                with m.If(~self._of_link):
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.comb += self.done.eq(1)
                    m.d.sync += [count_above.eq(self.count), self._y.eq(Mux(self.final, 0, self._y + 1))]
                    m.next = "IDLE"

    def _add(self, m: Module) -> None:
        """Clock by clock: the label or link; its root; the object so far; the sum, which may be read at once."""
        bank = self.row[0]
        of_run, of_link, number = [self._of_run], [self._of_link], [self._number]
        for stage in (of_run, of_link, number):
            for _ in range(3):
                stage.append(Signal.like(stage[0]))
                m.d.sync += stage[-1].eq(stage[-2])
        goes_on, later_goes_on = Signal(), Signal()
        m.d.comb += [
            self.run_address.eq(Cat(self._number, self.row)),
            self.label_address.eq(Cat(self._number, bank)),
            self.link_address.eq(self._number),
            self.link_clear_address.eq(number[1]),
            self.link_clear.eq(of_link[1]),
            self.root_address.eq(Cat(Mux(of_link[1], self.link.label, self.label), bank)),
        ]
        m.d.sync += [goes_on.eq(self.link.valid), later_goes_on.eq(goes_on)]
        root = Signal(self._bits)
        m.d.sync += root.eq(self.root)
        so_far, above = self._tables(m, root, number, of_run[3] | (of_link[3] & later_goes_on), of_link[3])
        own = self._of_one_run(m)
        added = Signal(object_layout(self._config))
        self._sum(m, added, Mux(of_run[3], own, above), so_far, fresh=of_run[3] & (root == number[3]))
        m.d.comb += self._written.eq(added)
        m.d.sync += [self.complete.eq(above), self.complete.valid.eq(of_link[3] & ~later_goes_on & above.valid)]

    def _of_one_run(self, m: Module) -> Value:
        """The figures of a run, three clocks after its number."""
        layout = object_layout(self._config)
        length, ends = Signal(layout["area"].width), Signal(len(self.run.first) + 1)
        once, own = Signal(run_layout(self._config)), Signal(layout)
        product = Signal(len(length) + len(ends))
        m.d.comb += product.eq(length[: len(ends)] * ends)
        m.d.sync += [
            length.eq(self.run.last - self.run.first + 1), ends.eq(self.run.first + self.run.last), once.eq(self.run),
            # the product is even: either the length is, or both ends are of one parity
            own.area.eq(length), own.sum_x.eq(product[1:]), own.sum_y.eq(length[: len(ends)] * self._y),
            own.x_min.eq(once.first), own.x_max.eq(once.last), own.y_min.eq(self._y), own.y_max.eq(self._y),
            own.valid.eq(1),
        ]  # fmt: skip
        return own

    def _tables(self, m: Module, root: Value, number: list[Value], add: Value, clear: Value) -> tuple[Value, Value]:
        """Two tables of objects: of this row, added to, and of the row above, read and cleared."""
        layout = object_layout(self._config)
        so_far, above, self._written = Signal(layout), Signal(layout), Signal(layout)
        for bank in range(2):
            m.submodules[f"objects{bank}"] = memory = Memory(
                shape=layout, depth=memory_depth(self._config.most_runs), init=[]
            )
            write = memory.write_port()
            read = memory.read_port(transparent_for=(write,))
            with m.If(self.row[0] == bank):
                m.d.comb += [
                    read.addr.eq(self.root), so_far.eq(read.data),
                    write.addr.eq(root), write.en.eq(add),
                ]  # fmt: skip
            with m.Else():
                m.d.comb += [
                    read.addr.eq(number[2]), above.eq(read.data),
                    write.addr.eq(number[3]), write.en.eq(clear),
                ]  # fmt: skip
            # to clear an object its mark is enough
            m.d.comb += [write.data.eq(self._written), write.data.valid.eq(self.row[0] == bank)]
        return so_far, above

    def _sum(self, m: Module, total: Value, more: Value, so_far: Value, *, fresh: Value) -> None:
        layout = object_layout(self._config)
        one = Signal(layout)
        m.d.comb += [Value.cast(one).eq(Value.cast(more)), total.valid.eq(1)]
        for name in ("area", "sum_x", "sum_y"):
            m.d.comb += total[name].eq(Mux(fresh, 0, so_far[name]) + one[name])
        for name in ("x_min", "y_min"):
            m.d.comb += total[name].eq(Mux(fresh | (one[name] < so_far[name]), one[name], so_far[name]))
        for name in ("x_max", "y_max"):
            m.d.comb += total[name].eq(Mux(fresh | (one[name] > so_far[name]), one[name], so_far[name]))
