"""Tile statistics of this image; dark or not by those of the image before."""

from __future__ import annotations

from skyloop_landing.fpga.config import CONTRAST_BITS, FabricConfig, memory_depth
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
    signed,
)

_T_BITS = 9
"""Of min + max."""


class TileStatistics(Elaboratable):
    """min + max of each tile, kept in two tables: one is written while the other, of the image before, is read.

    A tile with less contrast than a register says is marked, and read as min + max of the whole image.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.smooth, self.valid = Signal(8), Signal()
        self.x, self.y = Signal(range(config.width)), Signal(range(config.height))
        self.min_contrast = Signal(CONTRAST_BITS)
        self.line_done = Signal()
        """One clock, after a line's statistics are in their table."""
        self.next_y = Signal(range(config.height))
        """The line that follows; valid with line_done and until the next."""
        self.read_row = Signal(range(max(config.tile_rows, 2)))
        self.read_column = Signal(range(max(config.tile_columns, 2)))
        self.read_value = Signal(_T_BITS)
        """One clock after row and column."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self._config
        bits = bits_for(c.tile - 1)
        column, row = Signal.like(self.read_column), Signal.like(self.read_row)
        least, greatest = Signal(8), Signal(8)
        ended, first, last, line_end = Signal(), Signal(), Signal(), Signal()
        in_x, in_y = self.x[:bits], self.y[:bits]
        with m.If(self.valid):
            m.d.sync += [
                least.eq(Mux((in_x == 0) | (self.smooth < least), self.smooth, least)),
                greatest.eq(Mux((in_x == 0) | (self.smooth > greatest), self.smooth, greatest)),
                column.eq(self.x >> bits),
                row.eq(self.y >> bits),
                first.eq(in_y == 0),
                last.eq((in_y == c.tile - 1) | (self.y == c.height - 1)),
            ]
        at_end = self.x == c.width - 1
        m.d.sync += [
            ended.eq(self.valid & ((in_x == c.tile - 1) | at_end)),
            line_end.eq(self.valid & at_end),
            self.line_done.eq(line_end),
        ]
        with m.If(line_end):
            m.d.sync += self.next_y.eq(Mux(self.y == c.height - 1, 0, self.y + 1))
        lowest, highest = self._over_rows(m, column, ended, first, (least, greatest))
        self._tables(m, ended & last, (row, column), (lowest, highest))
        return m

    def _over_rows(
        self, m: Module, column: Value, ended: Value, first: Value, of_row: tuple[Value, Value]
    ) -> tuple[Value, Value]:
        """Of the tile so far, with the row that has just ended."""
        c = self._config
        m.submodules.columns = memory = Memory(shape=16, depth=memory_depth(c.tile_columns), init=[])
        read, write = memory.read_port(), memory.write_port()
        lowest, highest = Signal(8), Signal(8)
        low, high = read.data[:8], read.data[8:]
        m.d.comb += [
            # a tile is at least 8 px wide, so the column's entry has been read when the tile's row ends
            read.addr.eq(self.x >> bits_for(c.tile - 1)),
            lowest.eq(Mux(~first & (low < of_row[0]), low, of_row[0])),
            highest.eq(Mux(~first & (high > of_row[1]), high, of_row[1])),
            write.addr.eq(column),
            write.data.eq(Cat(lowest, highest)),
            write.en.eq(ended),
        ]
        return lowest, highest

    def _tables(self, m: Module, enable: Value, tile: tuple[Value, Value], extremes: tuple[Value, Value]) -> None:
        row, column = tile
        low, high = extremes
        darkest, brightest, of_image = Signal(8), Signal(8), Signal(_T_BITS)
        begin = (row == 0) & (column == 0)
        with m.If(enable):
            m.d.sync += [
                darkest.eq(Mux(begin | (low < darkest), low, darkest)),
                brightest.eq(Mux(begin | (high > brightest), high, brightest)),
            ]
        m.submodules.tiles = memory = Memory(shape=_T_BITS + 1, depth=2 << (len(row) + len(column)), init=[])
        read, write = memory.read_port(), memory.write_port()
        bank = Signal()
        m.d.comb += [
            write.addr.eq(Cat(column, row, bank)),
            write.data.eq(Cat((low + high)[:_T_BITS], (high - low)[:8] < self.min_contrast)),
            write.en.eq(enable),
            read.addr.eq(Cat(self.read_column, self.read_row, ~bank)),
            self.read_value.eq(Mux(read.data[_T_BITS], of_image, read.data[:_T_BITS])),
        ]
        with m.If(self.line_done & (self.next_y == 0)):
            m.d.sync += [bank.eq(~bank), of_image.eq(darkest + brightest)]


class Threshold(Elaboratable):
    """Between four tiles, by adding one step per pixel: along a line the threshold is straight between two centres.

    Between two lines the steps of the next one are computed, one tile column after the other.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.tiles = TileStatistics(config)
        self.smooth, self.valid_in = Signal(8), Signal()
        self.x_in, self.y_in = Signal(range(config.width)), Signal(range(config.height))
        self.dark, self.valid = Signal(), Signal()
        self.x, self.y = Signal(range(config.width)), Signal(range(config.height))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self._config
        m.submodules.tiles = tiles = self.tiles
        m.d.comb += [
            tiles.smooth.eq(self.smooth), tiles.valid.eq(self.valid_in), tiles.x.eq(self.x_in), tiles.y.eq(self.y_in)
        ]  # fmt: skip
        shift = bits_for(c.tile - 1)
        m.submodules.steps = steps = Memory(
            shape=signed(_T_BITS + shift + 1), depth=memory_depth(c.tile_columns), init=[]
        )
        at_left = Signal(_T_BITS + shift)
        """The threshold of the next line at the first tile's centre, times the tile's side."""
        self._next_line(m, steps.write_port(), at_left, shift)
        self._along_line(m, steps.read_port(), at_left, shift)
        return m

    def _along_line(self, m: Module, read: ReadPort, at_left: Value, shift: int) -> None:
        c = self._config
        step, column = Signal.like(read.data), Signal.like(read.addr)
        level, kept = Signal(_T_BITS + 2 * shift), Signal(_T_BITS + 2 * shift)
        step_now = Signal.like(step)
        at_centre = self.x_in[:shift] == c.tile // 2
        m.d.comb += [
            read.addr.eq(column),
            level.eq(Mux(self.x_in == 0, at_left << shift, kept)),
            step_now.eq(Mux(at_centre, read.data, Mux(self.x_in == 0, 0, step))),
        ]
        with m.If(self.valid_in):
            m.d.sync += [
                kept.eq(level + step_now),
                step.eq(step_now),
                self.dark.eq((self.smooth << (2 * shift + 1)) < level),
                self.x.eq(self.x_in),
                self.y.eq(self.y_in),
            ]
            with m.If(self.x_in == c.width - 1):
                m.d.sync += column.eq(0)
            with m.Elif(at_centre & (column != c.tile_columns - 1)):
                m.d.sync += column.eq(column + 1)
        m.d.sync += self.valid.eq(self.valid_in)

    def _next_line(self, m: Module, write: WritePort, at_left: Value, shift: int) -> None:
        """For each tile column: read the tile above and the one below, weigh them, subtract the column before."""
        c, tiles = self._config, self.tiles
        moved = Signal(range(c.height + c.tile))
        row_above, row_below = Signal.like(tiles.read_row), Signal.like(tiles.read_row)
        number = moved[shift:]
        m.d.comb += [
            moved.eq(tiles.next_y + c.tile // 2),
            row_above.eq(Mux(number == 0, 0, number - 1)),
            row_below.eq(Mux(number >= c.tile_rows, c.tile_rows - 1, number)),
        ]
        column = Signal(range(c.tile_columns + 1))
        above, here, before = Signal(_T_BITS), Signal(_T_BITS + shift), Signal(_T_BITS + shift)
        rise = Signal(signed(_T_BITS + 1))
        m.d.comb += [
            tiles.read_column.eq(column),
            write.addr.eq(column - 1),
            write.data.eq(here - before),
        ]
        with m.FSM():
            with m.State("WAIT"):
                m.d.sync += column.eq(0)
                with m.If(tiles.line_done):
                    m.next = "ABOVE"
            with m.State("ABOVE"):
                m.d.comb += tiles.read_row.eq(row_above)
                m.next = "BELOW"
            with m.State("BELOW"):
                m.d.comb += tiles.read_row.eq(row_below)
                m.d.sync += above.eq(tiles.read_value)
                m.next = "RISE"
            with m.State("RISE"):
                m.d.sync += rise.eq(tiles.read_value - above)
                m.next = "WEIGH"
            with m.State("WEIGH"):
                m.d.sync += [here.eq((above << shift) + moved[:shift] * rise), before.eq(here)]
                m.next = "KEEP"
            with m.State("KEEP"):
                with m.If(column == 0):
                    m.d.sync += at_left.eq(here)
                with m.Else():
                    m.d.comb += write.en.eq(1)
                m.d.sync += column.eq(column + 1)
                m.next = "ABOVE"
                with m.If(column == c.tile_columns - 1):
                    m.next = "WAIT"
