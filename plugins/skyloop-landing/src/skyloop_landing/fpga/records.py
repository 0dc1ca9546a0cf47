"""What the parts of the labelling hand to each other."""

from __future__ import annotations

from skyloop_landing.fpga.config import FabricConfig
from skyloop_landing.fpga.hdl import bits_for, data

ROW_BANKS = 4
"""Rows of runs kept: one arrives, one waits or is joined, one lies above it, one is added up."""


def run_layout(config: FabricConfig) -> data.StructLayout:
    """Dark pixels side by side in one row: first and last column."""
    bits = bits_for(config.width - 1)
    return data.StructLayout({"first": bits, "last": bits})


def link_layout(config: FabricConfig) -> data.StructLayout:
    """Where an object of the row above goes on: the label of a run in this row."""
    return data.StructLayout({"label": bits_for(config.most_runs - 1), "valid": 1})


def object_layout(config: FabricConfig) -> data.StructLayout:
    """Figures of an object; at 1280 x 720 px 20, 30, 29, 11, 11, 10 and 10 bits."""
    w, h = config.width, config.height
    x, y = bits_for(w - 1), bits_for(h - 1)
    return data.StructLayout({
        "area": bits_for(w * h),
        "sum_x": bits_for(h * w * (w - 1) // 2),
        "sum_y": bits_for(w * h * (h - 1) // 2),
        "x_min": x,
        "x_max": x,
        "y_min": y,
        "y_max": y,
        "valid": 1,
    })  # fmt: skip
