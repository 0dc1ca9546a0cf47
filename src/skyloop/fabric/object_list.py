"""The list of objects in memory, twice: one is read over AXI4-Lite while the other is written."""

from __future__ import annotations

from typing import Any

from skyloop.fabric.config import ADDRESS_BITS, HEADER_WORDS, STATE_ADDRESS, FabricConfig
from skyloop.fabric.hdl import Array, Cat, Const, Elaboratable, Memory, Module, Mux, Signal, Value
from skyloop.fabric.records import object_layout


class ObjectList(Elaboratable):
    """Words as in docs/explanations/landing-detector.md, at byte address 4 times the word's number.

    A reader that is slower than an image compares the frame number before and after. Places beyond the list read 0.
    The last word of the address range holds the state: bit 0 overrun, bit 1 lost_sync.
    """

    def __init__(self, config: FabricConfig) -> None:
        self._config = config
        self.object = Signal(object_layout(config))
        self.image_done = Signal()
        self.state = Signal(2)
        self.address, self.address_valid, self.address_ready = Signal(ADDRESS_BITS), Signal(), Signal()
        self.data, self.data_valid, self.data_ready = Signal(32), Signal(), Signal()
        self.published = Signal()
        """One clock when a new list can be read; an interrupt for the processor."""
        self._bank = Signal()
        self._frame = Signal(32)
        self._listed, self._dropped = Signal(range(config.capacity + 1)), Signal(16)
        """Of the list that can be read."""

    def elaborate(self, platform: Any) -> Any:
        m = Module()
        c = self._config
        m.submodules.objects = memory = Memory(shape=object_layout(c), depth=2 * c.capacity, init=[])
        self._fill(m, memory.write_port())
        self._answer(m, memory.read_port())
        return m

    def _fill(self, m: Any, write: Any) -> None:
        c = self._config
        number, dropped = Signal.like(self._listed), Signal(16)
        large = self.object.valid & (self.object.area >= c.min_area)
        full = number == c.capacity
        bits = (c.capacity - 1).bit_length()
        m.d.comb += [
            write.addr.eq(Cat(number[:bits], self._bank)),
            write.data.eq(self.object),
            write.en.eq(large & ~full),
        ]
        m.d.sync += [number.eq(number + write.en), self.published.eq(self.image_done)]
        with m.If(large & full & (dropped != 0xFFFF)):
            m.d.sync += dropped.eq(dropped + 1)
        with m.If(self.image_done):
            m.d.sync += [
                self._frame.eq(self._frame + 1), self._listed.eq(number), self._dropped.eq(dropped),
                number.eq(0), dropped.eq(0), self._bank.eq(~self._bank),
            ]  # fmt: skip

    def _answer(self, m: Any, read: Any) -> None:
        """One word in four clocks or more: address, memory, choice of the word, hand-over."""
        c = self._config
        word = Signal(ADDRESS_BITS - 2)
        place = Signal(ADDRESS_BITS - 2)
        header = Array((self._frame, self._listed, Cat(self._dropped != 0, Const(0, 15), self._dropped), Const(0, 32)))
        bits = (c.capacity - 1).bit_length()
        m.d.comb += [place.eq(word - HEADER_WORDS), read.addr.eq(Cat(place[3 : 3 + bits], ~self._bank))]
        o = read.data
        fields = Array((
            o.area, o.sum_x, o.sum_y, self._pair(o.x_min, o.x_max), self._pair(o.y_min, o.y_max), 0, 0, 0
        ))  # fmt: skip
        with m.FSM():
            with m.State("ADDRESS"):
                m.d.comb += self.address_ready.eq(1)
                with m.If(self.address_valid):
                    m.d.sync += word.eq(self.address[2:])
                    m.next = "READ"
            with m.State("READ"):
                m.next = "CHOOSE"
            with m.State("CHOOSE"):
                m.d.sync += self.data.eq(Mux(place[3:] < self._listed, fields[place[:3]], 0))
                with m.If(word < HEADER_WORDS):
                    m.d.sync += self.data.eq(header[word[:2]])
                with m.Elif(word == STATE_ADDRESS >> 2):
                    m.d.sync += self.data.eq(self.state)
                m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += self.data_valid.eq(1)
                with m.If(self.data_ready):
                    m.next = "ADDRESS"

    @staticmethod
    def _pair(low: Any, high: Any) -> Any:
        return Cat(Value.cast(low), Const(0, 16 - len(low)), Value.cast(high))
