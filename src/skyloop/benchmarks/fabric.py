"""`skyloop bench fabric`: what the landing detector's logic takes of its chip, and how fast it is simulated."""

from __future__ import annotations

import time

import numpy as np

from skyloop.core.results import Figure
from skyloop_landing.fpga.config import PIXEL_CLOCK_HZ, FabricConfig
from skyloop_landing.fpga.simulated import SimulatedFabric
from skyloop_landing.fpga.synthesis import XC7Z020, synthesise
from skyloop_landing.fpga.timing import WIRE_NS

MOST_PERCENT = 60.0
IMAGES = 6
NAMES = {"lut": "look-up tables", "ff": "flip-flops", "bram36": "memory blocks of 36 kbit", "dsp": "multipliers"}


def measure(images: int = IMAGES) -> list[Figure]:
    made = synthesise()
    used, shares = made.used, made.used.percent_of(XC7Z020)
    figures = [
        Figure(
            f"fabric_{key}_percent", getattr(shares, key), "%", aim=MOST_PERCENT, lower_is_better=True,
            note=f"{getattr(used, key):g} {name} of the XC7Z020's {getattr(XC7Z020, key):,.0f}, by yosys, not placed",
        )
        for key, name in NAMES.items()
    ]  # fmt: skip
    path = Figure(
        "fabric_path_ns", made.path.ns, "ns", aim=1e9 / PIXEL_CLOCK_HZ, lower_is_better=True,
        note=f"longest way between registers, an estimate with {WIRE_NS:g} ns per wire: {' '.join(made.path.cells)}",
    )  # fmt: skip
    return [*figures, path, *_simulation(images)]


def _simulation(images: int) -> list[Figure]:
    config = FabricConfig()
    random = np.random.default_rng(1)
    tiles = random.integers(0, 256, (images, config.height // 8, config.width // 8), dtype=np.uint8)
    with SimulatedFabric(config) as fabric:
        fabric.objects_of(np.kron(tiles[0], np.ones((8, 8), np.uint8)))
        latest, started = 0, time.process_time()
        for tile in tiles:
            fabric.objects_of(np.kron(tile, np.ones((8, 8), np.uint8)))
            latest = max(latest, fabric.latency_clocks)
        seconds = (time.process_time() - started) / images
    return [
        Figure(
            "fabric_simulated_images_per_s", 1.0 / seconds, "1/s",
            note=f"1280 x 720 px of noise in squares of 8 px; {config.clocks_per_image:,} clocks each, processor time",
        ),
        Figure(
            "fabric_list_after_us", 1e6 * latest / PIXEL_CLOCK_HZ, "µs", lower_is_better=True,
            note=f"from the last pixel of these images to their list, {latest} clocks of 74.25 MHz",
        ),
    ]  # fmt: skip
