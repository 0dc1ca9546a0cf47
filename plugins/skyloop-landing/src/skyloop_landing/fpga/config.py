"""The sizes of the landing detector's logic; widths of signals follow from them."""

from __future__ import annotations

from dataclasses import dataclass

from skyloop_client.errors import ScenarioError

PIXEL_CLOCK_HZ = 74_250_000
"""Of 720p60: 1650 x 750 clocks, 60 times a second."""
FIELD_WORDS = 8
"""32-bit words per object in the list."""
HEADER_WORDS = 4
ADDRESS_BITS = 14
"""Of the port, in bytes: 4 + 8 x 256 words of the list, and registers at the end."""
MIN_AREA_ADDRESS, MIN_CONTRAST_ADDRESS, STATE_ADDRESS = 0x3FF0, 0x3FF4, 0x3FFC
"""Bytes: two registers that the processor may write, and the state of the logic."""
AREA_BITS, CONTRAST_BITS = 20, 9
"""Of the two registers."""
SPARE_CLOCKS = 48
"""Clocks of a line that the labelling needs besides its steps: the latencies of its memories, with a margin."""


def memory_depth(entries: int) -> int:
    """A power of two: a chip's memories are no smaller, and no address lies outside."""
    return 1 << max(entries - 1, 1).bit_length()


@dataclass(frozen=True)
class FabricConfig:
    """What the logic is made for. The defaults are those of docs/explanations/landing-detector.md at 720p60."""

    width: int = 1280
    """px, of the image."""
    height: int = 720
    """px, of the image."""
    tile: int = 128
    """px, the side of a tile of the threshold; a power of two."""
    min_area: int = 32
    """px, of the smallest object listed; the register's value after the configuration of the chip."""
    min_contrast: int = 24
    """Steps of grey; flatter tiles have the threshold of the whole image. The register's value likewise."""
    capacity: int = 256
    """Objects in a list; a power of two."""
    line_blanking: int = 370
    """Clocks between two lines."""
    frame_blanking: int = 30
    """Lines between two images."""

    def __post_init__(self) -> None:
        if not 8 <= self.width <= 2048 or not 4 <= self.height <= 1024:
            raise ScenarioError(f"fabric: an image of {self.width} x {self.height} px; give 8 x 4 to 2048 x 1024")
        if self.tile < 8 or self.tile & (self.tile - 1):
            raise ScenarioError(f"fabric: tile is {self.tile} px; give a power of two from 8")
        if not 1 <= self.capacity <= 256 or self.capacity & (self.capacity - 1):
            raise ScenarioError(f"fabric: capacity is {self.capacity} objects; give a power of two up to 256")
        if not 0 <= self.min_area < 1 << AREA_BITS or not 0 <= self.min_contrast < 1 << CONTRAST_BITS:
            raise ScenarioError(
                f"fabric: min_area is {self.min_area} px and min_contrast {self.min_contrast}; "
                f"give less than {1 << AREA_BITS} and {1 << CONTRAST_BITS}"
            )
        if self.line_blanking < self.least_line_blanking:
            raise ScenarioError(
                f"fabric: line_blanking is {self.line_blanking} clocks, too few to join the objects of a row of "
                f"{self.width} px; give at least {self.least_line_blanking}"
            )
        if self.frame_blanking < 12:
            raise ScenarioError(f"fabric: frame_blanking is {self.frame_blanking} lines; give at least 12")

    @property
    def least_line_blanking(self) -> int:
        """So that a line takes as many clocks as labelling the worst row; also enough for the threshold's next line."""
        return max(self.width // 4 + SPARE_CLOCKS, 5 * self.tile_columns + SPARE_CLOCKS)

    @property
    def most_runs(self) -> int:
        """Runs of dark pixels in a row."""
        return (self.width + 1) // 2

    @property
    def most_joins(self) -> int:
        """Times that two labels of a row turn out to be one object: each uses up two runs of the row above."""
        return self.width // 4 + 1

    @property
    def tile_columns(self) -> int:
        return -(-self.width // self.tile)

    @property
    def tile_rows(self) -> int:
        return -(-self.height // self.tile)

    @property
    def clocks_per_line(self) -> int:
        return self.width + self.line_blanking

    @property
    def clocks_per_image(self) -> int:
        return self.clocks_per_line * (self.height + self.frame_blanking)


def small_config(width: int, height: int, *, tile: int = 128, capacity: int = 256) -> FabricConfig:
    """For images smaller than 720p, with the least blanking that is safe."""
    blanking = max(width // 4, 5 * -(-width // tile)) + SPARE_CLOCKS
    return FabricConfig(width, height, tile, capacity=capacity, line_blanking=blanking, frame_blanking=12)
