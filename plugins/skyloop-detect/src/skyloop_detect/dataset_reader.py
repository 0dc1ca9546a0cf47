"""Reads a dataset in COCO or Pascal VOC, whichever a folder holds."""

from __future__ import annotations

from pathlib import Path

from skyloop_client.errors import DatasetError
from skyloop_detect.coco_reader import read_coco
from skyloop_detect.samples import Sample
from skyloop_detect.voc_reader import read_voc


def read_samples(folder: Path, split: str) -> list[Sample]:
    """One split of a dataset in COCO or VOC; the folder is the dataset's, or one that holds `coco` or `voc`."""
    if not folder.is_dir():
        raise DatasetError(f"'{folder}' is no folder; give a dataset in COCO or VOC")
    for place in (folder / "coco", folder):
        if (place / "annotations").is_dir():
            return _not_empty(read_coco(place, split), place, split)
    for place in (folder / "voc", folder):
        if (place / "ImageSets" / "Main").is_dir():
            return _not_empty(read_voc(place, split), place, split)
    raise DatasetError(
        f"'{folder}' is no dataset in COCO (annotations/instances_{split}.json) or VOC (ImageSets/Main/{split}.txt)"
    )


def _not_empty(samples: list[Sample], place: Path, split: str) -> list[Sample]:
    if not samples:
        raise DatasetError(f"the {split} split of '{place}' has no images")
    return samples
