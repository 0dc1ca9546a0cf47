"""The echoes of matt surfaces and of mirror points, found in one thread of the processor."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.sensors.radar.echoes import (
    Antennas,
    Echoes,
    Energies,
    Labels,
    Picture,
    Receiver,
    Things,
    Way,
)
from skyloop.sensors.radar.patches import patch_echoes
from skyloop.sensors.radar.points import point_echoes
from skyloop.sensors.radar.specular import COLUMNS, MOST_MIRRORS, Mirrors, mirror_fields, mirror_points
from skyloop_client.messages import Array


class CpuEchoes:
    """Finds echoes in the pictures of one burst."""

    def found(
        self,
        pictures: list[Picture],
        things: Things,
        labels: Labels,
        ways: list[Way],
        mirrors: Mirrors | None,
        energies: Energies,
    ) -> list[Echoes]:
        """Of the patches of each picture by each way, and of mirror points by the first way."""
        sums = energies.sums
        parts = [_patches(picture, things, labels, *way, sums) for picture in pictures for way in ways]
        if mirrors is not None:
            parts += [_mirrors_in(picture, things, labels, mirrors, ways[0], sums) for picture in pictures]
        return parts

    def joined(self, parts: list[Echoes]) -> Echoes:
        if len(parts) == 1:
            return parts[0]
        return Echoes(
            np.concatenate([part.half_paths for part in parts]),
            np.concatenate([part.rates for part in parts]),
            np.concatenate([part.strengths for part in parts]),
        )


def _patches(
    picture: Picture, things: Things, labels: Labels, antennas: Antennas, receiver: Receiver, energies: Array
) -> Echoes:
    """Adds their energy, and the part of it that folds, to `energies`."""
    size, n_rx = picture.surface.shape[0] * picture.surface.shape[1], len(antennas.rx)
    half_paths, rates = np.empty((size, n_rx)), np.empty((size, n_rx))
    strengths = np.empty(size, np.complex64)
    count = patch_echoes(
        tuple(picture), tuple(things), tuple(labels), tuple(antennas), tuple(receiver),
        (half_paths, rates, strengths, energies),
    )  # fmt: skip
    return Echoes(half_paths[:count], rates[:count], strengths[:count])


def _mirrors_in(
    picture: Picture, things: Things, labels: Labels, mirrors: Mirrors, way: Way, energies: Array
) -> Echoes:
    """Echoes of the points at which a surface faces the radar."""
    found = np.empty((MOST_MIRRORS, COLUMNS))
    camera = picture.world_from_camera
    count = mirror_points(picture.surface, picture.lens, camera, mirrors.amplitudes, tuple(labels), found)
    points, fields = mirror_fields(found[:count], picture, mirrors)
    velocities = _surface_velocities(picture, things, found[:count, 2].astype(int), points)
    return point_echoes(points, velocities, fields, *way, energies)


def _surface_velocities(picture: Picture, things: Things, rows: Any, points: Array) -> Array:
    """m/s of points of the model's rows; points in world axes from the sensor."""
    out = np.zeros((len(points), 3))
    k = rows - things.n_standing
    moves = k >= 0
    k = k[moves]
    arm = points[moves] + picture.position - things.poses[k, :, 3]
    out[moves] = things.velocities[k] + np.cross(things.turns[k], arm)
    return out
