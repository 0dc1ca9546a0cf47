"""The echoes of matt surfaces and of mirror points, found in one thread of the processor."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.sensors.radar.echoes import (
    Echoes,
    Energies,
    Labels,
    Picture,
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
        sums, n_rx = energies.sums, len(ways[0][0].rx)
        pixels = sum(picture.surface.shape[0] * picture.surface.shape[1] for picture in pictures)
        most = pixels * len(ways) + MOST_MIRRORS * len(pictures)
        # all in the same arrays, one part after the other, so that nothing is copied when they are joined
        half_paths, rates, strengths = np.empty((most, n_rx)), np.empty((most, n_rx)), np.empty(most, np.complex64)
        count = 0
        for picture in pictures:
            for antennas, receiver in ways:
                count += patch_echoes(
                    tuple(picture), tuple(things), tuple(labels), tuple(antennas), tuple(receiver),
                    (half_paths[count:], rates[count:], strengths[count:], sums),
                )  # fmt: skip
        for picture in pictures:
            if mirrors is None:
                break
            part = _mirrors_in(picture, things, labels, mirrors, ways[0], sums)
            here = slice(count, count + len(part.strengths))
            half_paths[here], rates[here], strengths[here] = part.half_paths, part.rates, part.strengths
            count = here.stop
        return [Echoes(half_paths[:count], rates[:count], strengths[:count])]

    def joined(self, parts: list[Echoes]) -> Echoes:
        if len(parts) == 1:
            return parts[0]
        return Echoes(
            np.concatenate([part.half_paths for part in parts]),
            np.concatenate([part.rates for part in parts]),
            np.concatenate([part.strengths for part in parts]),
        )


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
