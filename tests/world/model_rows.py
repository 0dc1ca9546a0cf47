"""What stands in a model, by its rows."""

from __future__ import annotations

import numpy as np

from skyloop.world.model import Model
from skyloop.world.semantics import CLASSES


def class_of(model: Model, row: int) -> str:
    number = model.object_class[model.part_object[row]]
    return CLASSES[number] if number < len(CLASSES) else "by material"


def name_of(model: Model, row: int) -> str:
    return model.objects[model.part_object[row]].name


def rows_of(model: Model, *classes: str) -> list[int]:
    """Those that stand."""
    return [row for row in range(model.n_standing) if class_of(model, row) in classes]


def positions_of(model: Model, *classes: str) -> np.ndarray:
    """(n, 3) m."""
    return model.standing_poses[rows_of(model, *classes)][:, :, 3]


def vertices(model: Model, row: int) -> np.ndarray:
    """(n, 3) m, world, at full detail."""
    pose = model.standing_poses[row]
    return np.asarray(model.shapes[model.part_shape[row]].lods[0].positions @ pose[:, :3].T + pose[:, 3])


def count(model: Model, is_a: str) -> int:
    """Objects, standing or moving."""
    return sum(instance.class_id == CLASSES.index(is_a) for instance in model.objects)


def all_triangles(model: Model) -> int:
    return sum(len(model.shapes[number].lods[0].faces) for number in model.part_shape)
