"""Pixels in, grey, Gauss 5 x 5 with four rows kept."""

from __future__ import annotations

from skyloop_landing.fpga.config import FabricConfig, memory_depth
from skyloop_landing.fpga.hdl import Cat, Elaboratable, Memory, Module, Mux, Signal, Value

WEIGHTS = (1, 48, 158)
"""Of the taps 2, 1 and 0 px from the middle; both sides together 256."""


class Grey(Elaboratable):
    """y = (77 R + 150 G + 29 B + 128) >> 8, two clocks later."""

    def __init__(self) -> None:
        self.red, self.green, self.blue = Signal(8), Signal(8), Signal(8)
        self.valid_in = Signal()
        self.start_in = Signal()
        """Vertical synchronisation; an image follows."""
        self.grey = Signal(8)
        self.valid = Signal()
        self.start = Signal()
        """One clock at the beginning of the synchronisation."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        red, green, blue = Signal(16), Signal(16), Signal(16)
        valid, synchronising, before = Signal(), Signal(), Signal()
        total = Signal(16)
        m.d.comb += total.eq(red + green + blue + 128)
        m.d.sync += [
            red.eq(self.red * 77), green.eq(self.green * 150), blue.eq(self.blue * 29),
            valid.eq(self.valid_in), synchronising.eq(self.start_in), before.eq(synchronising),
            self.grey.eq(total[8:]), self.valid.eq(valid), self.start.eq(synchronising & ~before),
        ]  # fmt: skip
        return m


class RowScan(Elaboratable):
    """Counts the pixels of an image, and scans two more rows below it, for which the smoothing repeats the last one."""

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.valid, self.start = Signal(), Signal()
        self.step = Signal()
        """A pixel, or a place below the image, in this clock."""
        self.x = Signal(range(config.width))
        self.y = Signal(range(config.height + 2))
        self.below = Signal()
        self.lost_sync = Signal()
        """Stays up once an image had too few or too many pixels."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self._config
        gap = Signal(range(c.line_blanking + 1))
        seen_start = Signal()
        last = self.x == c.width - 1
        with m.If(self.step):
            m.d.sync += [self.x.eq(Mux(last, 0, self.x + 1)), self.y.eq(self.y + last)]
        with m.FSM():
            with m.State("IMAGE"):
                m.d.comb += self.step.eq(self.valid & seen_start)
                with m.If(self.step & last & (self.y == c.height - 1)):
                    m.next = "GAP"
                with m.If(self.start):
                    m.d.sync += [seen_start.eq(1), self.x.eq(0), self.y.eq(0)]
                    with m.If((self.x != 0) | (self.y != 0)):
                        m.d.sync += self.lost_sync.eq(1)
            with m.State("GAP"):
                m.d.sync += gap.eq(gap + 1)
                with m.If(gap == c.line_blanking - 1):
                    m.d.sync += gap.eq(0)
                    m.next = "BELOW"
            with m.State("BELOW"):
                m.d.comb += [self.step.eq(1), self.below.eq(1)]
                with m.If(last):
                    m.next = "GAP"
                    with m.If(self.y == c.height + 1):
                        m.d.sync += self.y.eq(0)
                        m.next = "IMAGE"
        with m.If(self.valid & seen_start & (self.below | ~self.step)):
            m.d.sync += self.lost_sync.eq(1)
        return m


class Gauss(Elaboratable):
    """Weights 1 48 158 48 1 along columns, then along rows; outside the image the nearest pixel of the edge counts.

    Whole sums are kept to the end, so the order of columns and rows does not matter.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.grey = Signal(8)
        self.step, self.below = Signal(), Signal()
        self.x_in = Signal(range(config.width))
        self.y_in = Signal(range(config.height + 2))
        self.smooth = Signal(8)
        self.valid = Signal()
        self.x = Signal(range(config.width))
        self.y = Signal(range(config.height))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        column_sum, x, y, valid = self._columns(m)
        self._rows(m, column_sum, x, y, valid)
        return m

    def _columns(self, m: Module) -> tuple[Value, Value, Value, Value]:
        """The sum down each column, four clocks after its newest pixel."""
        c = self._config
        m.submodules.rows = memory = Memory(shape=32, depth=memory_depth(c.width), init=[])
        read, write = memory.read_port(), memory.write_port()
        pixel, step, below = Signal(8), Signal(), Signal()
        x, y = Signal.like(self.x_in), Signal.like(self.y_in)
        newest = Signal(8)
        kept = [read.data.word_select(k, 8) for k in range(4)]  # the oldest row first
        m.d.comb += [
            read.addr.eq(self.x_in),
            newest.eq(Mux(below, kept[3], pixel)),
            write.addr.eq(x),
            write.en.eq(step),
            # above the first row it is repeated
            write.data.eq(Mux(y == 0, Cat(newest, newest, newest, newest), Cat(*kept[1:], newest))),
        ]
        m.d.sync += [pixel.eq(self.grey), step.eq(self.step), below.eq(self.below), x.eq(self.x_in), y.eq(self.y_in)]
        return self._weighted(m, [*kept, newest], 8, (x, y, step))

    def _weighted(self, m: Module, taps: list[Value], bits: int, tags: tuple[Value, ...]) -> tuple[Value, ...]:
        """The weighted sum of five taps, three clocks later, and the tags that belong to them."""
        outer, inner, middle = Signal(bits + 1), Signal(bits + 1), Signal(bits)
        of_sides, of_middle, total = Signal(bits + 8), Signal(bits + 8), Signal(bits + 8)
        m.d.sync += [
            outer.eq(taps[0] + taps[4]), inner.eq(taps[1] + taps[3]), middle.eq(taps[2]),
            of_sides.eq(WEIGHTS[0] * outer + WEIGHTS[1] * inner), of_middle.eq(WEIGHTS[2] * middle),
            total.eq(of_sides + of_middle),
        ]  # fmt: skip
        for _ in range(3):
            later = tuple(Signal.like(tag) for tag in tags)
            m.d.sync += [after.eq(before) for after, before in zip(later, tags, strict=True)]
            tags = later
        return total, *tags

    def _rows(self, m: Module, column_sum: Module, x: Value, y: Value, valid: Value) -> None:
        c = self._config
        taps = [Signal(16, name=f"tap{k}") for k in range(5)]  # the leftmost first
        beyond = Signal(2)  # steps right of the image still to go
        place, row, inside = Signal(range(-2, c.width)), Signal.like(y), Signal()
        with m.If(valid | (beyond != 0)):
            newest = Mux(valid, column_sum, taps[4])
            fill = valid & (x == 0)
            m.d.sync += [
                tap.eq(Mux(fill, column_sum, after)) for tap, after in zip(taps, [*taps[1:], newest], strict=True)
            ]
            m.d.sync += place.eq(Mux(fill, -2, place + 1))
        with m.If(valid):
            m.d.sync += [row.eq(y), beyond.eq(Mux(x == c.width - 1, 2, 0))]
        with m.Elif(beyond != 0):
            m.d.sync += beyond.eq(beyond - 1)
        fresh = Signal()
        m.d.sync += fresh.eq(valid | (beyond != 0))
        m.d.comb += inside.eq(fresh & (place >= 0) & (row >= 2))
        total, place_out, row_out, inside_out = self._weighted(m, taps, 16, (place, row, inside))
        rounded = Signal(24)
        m.d.comb += [
            rounded.eq(total + (1 << 15)),
            self.smooth.eq(rounded[16:]),
            self.valid.eq(inside_out),
            self.x.eq(place_out),
            self.y.eq(row_out - 2),
        ]
