"""Images with labelled boxes, as training and scoring take them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from skyloop_client import regular_files
from skyloop_client.errors import DatasetError, unknown_name

CLASSES: Final = ("person", "car", "forklift", "bench", "marker")
"""Person first: the class of the paper, and the one that is aimed at."""
SPLITS = ("train", "val", "test")
SMALLEST_PX = 8
"""px; an object less high is neither to be found nor wrong to find."""
MOST_HIDDEN = 0.75
"""Likewise an object of which more is covered, or outside of the image."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One image and its objects."""

    path: Path
    size: tuple[int, int]
    """px: width, height."""
    boxes: NDArray[np.float32]
    """(n, 4) px: left, top, right, bottom edge; 0 is the outer edge of the first pixel."""
    names: tuple[str, ...]
    """n names of classes."""
    hidden: NDArray[np.float32]
    """(n,) the share of each object that is covered, 0 to 1; 0 where the dataset does not say."""
    skipped: NDArray[np.bool_]
    """(n,) whether the object is too small, too hidden or, in the dataset's own words, a crowd or difficult: it is
    neither an example nor a counterexample."""

    def numbers(self, classes: Sequence[str]) -> NDArray[np.int64]:
        """(n,) numbers of the objects' classes; -1: a class that is not looked for."""
        known = {name: number for number, name in enumerate(classes)}
        return np.array([known.get(name, -1) for name in self.names], np.int64)


def classes_of(samples: Sequence[Sample], wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """The classes to train: those that are wanted, or all of the dataset, the shipped ones first and in their order."""
    there = {name for sample in samples for name in sample.names}
    for name in wanted:
        if name not in there:
            raise unknown_name("class of this dataset", name, there)
    if wanted:
        return tuple(wanted)
    if not there:
        raise DatasetError("no image of the dataset has a labelled object")
    return (*(name for name in CLASSES if name in there), *sorted(there - set(CLASSES)))


def read_image(path: os.PathLike[str]) -> NDArray[np.uint8]:
    """(height, width, 3) red, green, blue."""
    try:
        with Image.open(regular_files.checked(path)) as image:
            return np.asarray(image.convert("RGB"))
    except FileNotFoundError:
        raise DatasetError(f"'{path}' does not exist") from None
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, ValueError, SyntaxError) as error:
        raise DatasetError(f"'{path}' is no image that can be read ({error})") from None
