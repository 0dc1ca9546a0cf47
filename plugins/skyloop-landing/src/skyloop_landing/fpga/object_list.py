"""The list of objects in memory, twice: one is read over AXI4-Lite while the other is written."""

from __future__ import annotations

from skyloop_landing.fpga.config import (
    ADDRESS_BITS,
    AREA_BITS,
    CONTRAST_BITS,
    HEADER_WORDS,
    MIN_AREA_ADDRESS,
    MIN_CONTRAST_ADDRESS,
    STATE_ADDRESS,
    FabricConfig,
)
from skyloop_landing.fpga.hdl import (
    Array,
    Cat,
    Const,
    Elaboratable,
    Memory,
    Module,
    Mux,
    ReadPort,
    Signal,
    Value,
    WritePort,
)
from skyloop_landing.fpga.records import object_layout


class AxiPort:
    """The signals of AXI4-Lite, 32 bits wide, seen from the side that answers. All answers are OKAY (0)."""

    def __init__(self) -> None:
        self.araddr, self.awaddr = Signal(ADDRESS_BITS, name="araddr"), Signal(ADDRESS_BITS, name="awaddr")
        self.rdata, self.wdata = Signal(32, name="rdata"), Signal(32, name="wdata")
        self.rresp, self.bresp = Signal(2, name="rresp"), Signal(2, name="bresp")
        self.arvalid, self.arready = Signal(name="arvalid"), Signal(name="arready")
        self.rvalid, self.rready = Signal(name="rvalid"), Signal(name="rready")
        self.awvalid, self.awready = Signal(name="awvalid"), Signal(name="awready")
        self.wvalid, self.wready = Signal(name="wvalid"), Signal(name="wready")
        self.bvalid, self.bready = Signal(name="bvalid"), Signal(name="bready")

    @property
    def signals(self) -> list[Value]:
        return list(vars(self).values())


class Registers(Elaboratable):
    """min_area and min_contrast, written over AXI. The logic takes them over when an image begins."""

    def __init__(self, config: FabricConfig, axi: AxiPort) -> None:
        self._axi = axi
        self.image_begins = Signal()
        self.written_area = Signal(AREA_BITS, init=config.min_area)
        self.written_contrast = Signal(CONTRAST_BITS, init=config.min_contrast)
        self.min_area = Signal(AREA_BITS, init=config.min_area)
        self.min_contrast = Signal(CONTRAST_BITS, init=config.min_contrast)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi = self._axi
        with m.If(self.image_begins):
            m.d.sync += [self.min_area.eq(self.written_area), self.min_contrast.eq(self.written_contrast)]
        with m.FSM():
            with m.State("WRITE"):  # address and word are taken together
                both = axi.awvalid & axi.wvalid
                m.d.comb += [axi.awready.eq(both), axi.wready.eq(both)]
                with m.If(both):
                    with m.If(axi.awaddr == MIN_AREA_ADDRESS):
                        m.d.sync += self.written_area.eq(axi.wdata)
                    with m.If(axi.awaddr == MIN_CONTRAST_ADDRESS):
                        m.d.sync += self.written_contrast.eq(axi.wdata)
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += axi.bvalid.eq(1)
                with m.If(axi.bready):
                    m.next = "WRITE"
        return m


class ObjectListWriter(Elaboratable):
    """Words as in docs/explanations/landing-detector.md, at byte address 4 times the word's number.

    A reader that is slower than an image compares the frame number before and after. Places beyond the list read 0.
    """

    def __init__(self, config: FabricConfig, axi: AxiPort, registers: Registers) -> None:
        self._config, self._axi, self._registers = config, axi, registers
        self.object = Signal(object_layout(config))
        self.image_done = Signal()
        self.state = Signal(2)
        """Bit 0 overrun, bit 1 lost_sync."""
        self.published = Signal()
        """One clock when a new list can be read; an interrupt for the processor."""
        self._bank = Signal()
        self._frame = Signal(32)
        self._listed, self._dropped = Signal(range(config.capacity + 1)), Signal(16)
        """Of the list that can be read."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self._config
        m.submodules.objects = memory = Memory(shape=object_layout(c), depth=2 * c.capacity, init=[])
        self._fill(m, memory.write_port())
        self._answer(m, memory.read_port())
        return m

    def _fill(self, m: Module, write: WritePort) -> None:
        c = self._config
        number, dropped = Signal.like(self._listed), Signal(16)
        large = self.object.valid & (self.object.area >= self._registers.min_area)
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

    def _answer(self, m: Module, read: ReadPort) -> None:
        """One word in four clocks or more: address, memory, choice of the word, hand-over."""
        axi = self._axi
        word, place = Signal(ADDRESS_BITS - 2), Signal(ADDRESS_BITS - 2)
        bits = (self._config.capacity - 1).bit_length()
        m.d.comb += [place.eq(word - HEADER_WORDS), read.addr.eq(Cat(place[3 : 3 + bits], ~self._bank))]
        with m.FSM():
            with m.State("ADDRESS"):
                m.d.comb += axi.arready.eq(1)
                with m.If(axi.arvalid):
                    m.d.sync += word.eq(axi.araddr[2:])
                    m.next = "READ"
            with m.State("READ"):
                m.next = "CHOOSE"
            with m.State("CHOOSE"):
                self._choose(m, word, place, read.data)
                m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += axi.rvalid.eq(1)
                with m.If(axi.rready):
                    m.next = "ADDRESS"

    def _choose(self, m: Module, word: Value, place: Value, o: Value) -> None:
        header = Array((self._frame, self._listed, Cat(self._dropped != 0, Const(0, 15), self._dropped), Const(0, 32)))
        fields = Array((
            o.area, o.sum_x, o.sum_y, self._pair(o.x_min, o.x_max), self._pair(o.y_min, o.y_max), 0, 0, 0
        ))  # fmt: skip
        chosen = self._axi.rdata
        m.d.sync += chosen.eq(Mux(place[3:] < self._listed, fields[place[:3]], 0))
        with m.If(word < HEADER_WORDS):
            m.d.sync += chosen.eq(header[word[:2]])
        for address, value in (
            (MIN_AREA_ADDRESS, self._registers.written_area),
            (MIN_CONTRAST_ADDRESS, self._registers.written_contrast),
            (STATE_ADDRESS, self.state),
        ):
            with m.If(word == address >> 2):
                m.d.sync += chosen.eq(value)

    @staticmethod
    def _pair(low: Value, high: Value) -> Value:
        return Cat(Value.cast(low), Const(0, 16 - len(low)), Value.cast(high))
