"""The whole logic, with its ports."""

from __future__ import annotations

from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.hdl import Cat, ClockDomain, Elaboratable, Module, Signal, Value
from skyloop_landing.fpga.labelling import Labelling
from skyloop_landing.fpga.object_list import AxiPort, ObjectListWriter, Registers
from skyloop_landing.fpga.smoothing import Gauss, Grey, RowScan
from skyloop_landing.fpga.threshold import Threshold


class LandingFabric(Elaboratable):
    """Pixels in, one per clock; object lists out over the read channels of AXI4-Lite.

    There is no reset line: all begins with the chip's configuration, which also sets the memories.
    """

    def __init__(self, config: FabricConfig) -> None:
        self.config = config
        self.domain = ClockDomain("sync", reset_less=True)
        self.red, self.green, self.blue = (Signal(8, name=name) for name in ("red", "green", "blue"))
        self.data_enable = Signal()
        self.vsync = Signal()
        self.axi = AxiPort()
        self.published = Signal()
        self.overrun = Signal()
        self.lost_sync = Signal()
        self.labelling = Labelling(config)
        self.threshold = Threshold(config)

    @property
    def ports(self) -> list[Value]:
        return [
            self.domain.clk, self.red, self.green, self.blue, self.data_enable, self.vsync,
            *self.axi.signals, self.published, self.overrun, self.lost_sync,
        ]  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.sync = self.domain
        m.submodules.grey, m.submodules.scan = grey, scan = Grey(), RowScan(self.config)
        m.submodules.gauss, m.submodules.threshold = gauss, threshold = Gauss(self.config), self.threshold
        m.submodules.labelling, m.submodules.registers = labelling, registers = (
            self.labelling, Registers(self.config, self.axi)
        )  # fmt: skip
        m.submodules.list = objects = ObjectListWriter(self.config, self.axi, registers)
        rows = labelling.rows
        m.d.comb += [
            grey.red.eq(self.red), grey.green.eq(self.green), grey.blue.eq(self.blue),
            grey.valid_in.eq(self.data_enable), grey.start_in.eq(self.vsync),
            scan.valid.eq(grey.valid), scan.start.eq(grey.start),
            gauss.grey.eq(grey.grey), gauss.step.eq(scan.step), gauss.below.eq(scan.below),
            gauss.x_in.eq(scan.x), gauss.y_in.eq(scan.y),
            threshold.smooth.eq(gauss.smooth), threshold.valid_in.eq(gauss.valid),
            threshold.x_in.eq(gauss.x), threshold.y_in.eq(gauss.y),
            rows.dark.eq(threshold.dark), rows.valid.eq(threshold.valid),
            rows.x.eq(threshold.x), rows.y.eq(threshold.y),
            objects.object.eq(labelling.complete), objects.image_done.eq(labelling.image_done),
            objects.state.eq(Cat(self.overrun, self.lost_sync)),
            registers.image_begins.eq(grey.start), threshold.tiles.min_contrast.eq(registers.min_contrast),
            self.published.eq(objects.published),
            self.overrun.eq(labelling.overrun), self.lost_sync.eq(scan.lost_sync),
        ]  # fmt: skip
        return m
