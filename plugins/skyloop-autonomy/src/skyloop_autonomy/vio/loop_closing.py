"""Loop closing: the drift of the odometry is found by places seen again, and a map frame takes it out smoothly.

A graph of key pictures is fitted by least squares to the odometry's steps between them and to the recognitions. The IMU
observes roll and pitch, so a node has four numbers: x, y, z and heading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from skyloop_autonomy.vio.lens import PixelLens
from skyloop_autonomy.vio.places import KeyPicture, Recognition, all_corners, key_picture, recognised
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.tracking import CornerTracks, Grey
from skyloop_client.messages import Array

_ITERATIONS = 4
_HUBER = 3.0
"""The sigmas beyond which a recognition counts less and less."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where node `last` is, seen from `first`: x, y, z in the heading of `first`, and the difference of heading."""

    first: int
    last: int
    step: tuple[float, float, float, float]
    position_sd: float
    heading_sd: float
    recognised: bool = False


def step_between(a: Array, b: Array) -> tuple[float, float, float, float]:
    """From two nodes (x, y, z, heading)."""
    c, s = np.cos(a[3]), np.sin(a[3])
    dx, dy = b[0] - a[0], b[1] - a[1]
    return (
        float(c * dx + s * dy), float(-s * dx + c * dy), float(b[2] - a[2]), float(_wrapped(b[3] - a[3])),
    )  # fmt: skip


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def fitted(nodes: Array, edges: list[Edge]) -> Array:
    """(n, 4) nodes that fit the edges best; the first stays where it is."""
    x = nodes.copy()
    first, last = np.array([edge.first for edge in edges]), np.array([edge.last for edge in edges])
    steps = np.array([edge.step for edge in edges])
    weights = np.array([[1.0 / edge.position_sd] * 3 + [1.0 / edge.heading_sd] for edge in edges])
    recognised = np.array([edge.recognised for edge in edges])
    # the four rows of each edge have entries in the four columns of either of its nodes
    rows, entries = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    row = 4 * np.arange(len(edges))[:, None, None] + rows
    positions = [(row, 4 * node[:, None, None] + entries) for node in (first, last)]
    shape = (4 * len(edges), 4 * len(x))
    for _ in range(_ITERATIONS):
        error, blocks = _linearised(x[first], x[last], steps)
        size = np.linalg.norm(weights * error, axis=1)
        doubt = np.where(recognised, np.sqrt(np.minimum(1.0, _HUBER / np.maximum(size, 1e-9))), 1.0)
        weight = weights * doubt[:, None]
        parts = [
            coo_matrix(((weight[:, :, None] * block).ravel(), (r.ravel(), c.ravel())), shape=shape)
            for block, (r, c) in zip(blocks, positions, strict=True)
        ]
        jacobian = (parts[0] + parts[1]).tocsc()[:, 4:]
        change = spsolve((jacobian.T @ jacobian).tocsc(), jacobian.T @ (weight * error).ravel())
        x[1:] += change.reshape(-1, 4)
        if np.abs(change).max() < 1e-6:
            break
    return x


def _linearised(a: Array, b: Array, steps: Array) -> tuple[Array, tuple[Array, Array]]:
    """Errors (n, 4) of steps from nodes a to nodes b, and the derivatives (n, 4, 4) of the steps by both."""
    c, s = np.cos(a[:, 3]), np.sin(a[:, 3])
    d = b - a
    ahead, aside = c * d[:, 0] + s * d[:, 1], -s * d[:, 0] + c * d[:, 1]
    error = steps - np.stack([ahead, aside, d[:, 2], d[:, 3]], axis=1)
    error[:, 3] = (error[:, 3] + np.pi) % (2.0 * np.pi) - np.pi
    by_last = np.zeros((len(a), 4, 4))
    by_last[:, 0, 0], by_last[:, 0, 1], by_last[:, 1, 0], by_last[:, 1, 1] = c, s, -s, c
    by_last[:, 2, 2] = by_last[:, 3, 3] = 1.0
    by_first = -by_last
    by_first[:, 0, 3], by_first[:, 1, 3] = aside, -ahead
    return error, (by_first, by_last)


_RECENT = 12
"""Key pictures just before a new one that are not sought again: the filter's window knows them already."""
_SAME_WAY = 0.6
"""rad between the headings of two pictures that are compared."""
_SEEN_PLACE_SD, _SEEN_HEADING_SD = 0.015, 0.002
"""m and rad, one sigma of what a recognition tells: on two recorded flights 0.006 and 0.019 m, 0.001 and 0.002 rad."""
_TRIES = 3
"""Old pictures that a new one is compared with."""


class LoopCloser:
    """Keeps key pictures, and the correction map_from_odometry: a turn about up and a shift."""

    def __init__(self, settings: VioSettings, reach: float) -> None:
        self._settings = settings
        self._reach = reach
        self.pictures: list[KeyPicture] = []
        self.nodes = np.zeros((0, 4))
        """(n, 4) the left camera in the map: x, y, z, heading."""
        self.edges: list[Edge] = []
        self.recognitions: list[Recognition] = []
        self.target = np.zeros(4)
        """x, y, z, heading of the odometry's frame in the map, as the graph has it."""
        self.applied = np.zeros(4)
        """The same as it is published: it follows the target slowly."""
        self._t_ns = 0

    def see(self, t_ns: int, image: Grey, tracks: CornerTracks, pose: tuple[Array, Array], lens: PixelLens) -> bool:
        """Takes the picture as a key picture if the camera has moved on; pose: odometry frame from left camera."""
        s = self._settings
        if self.pictures:
            last = self.pictures[-1]
            moved = float(np.linalg.norm(pose[1] - last.position))
            turned = float(np.arccos(np.clip(0.5 * (np.trace(last.rotation.T @ pose[0]) - 1.0), -1.0, 1.0)))
            if moved < s.key_distance and turned < s.key_turn:
                return False
        new = key_picture(t_ns, image, tracks, self._reach, pose, lens)
        self._add(new)
        found = self._search(new)
        if found is not None:
            self.recognitions.append(found)
            self.edges.append(self._edge_of(found))
            self.nodes = fitted(self.nodes, self.edges)
            self.target = _map_from_odometry(self.nodes[-1], _node(new))
        return True

    def _add(self, new: KeyPicture) -> None:
        node = _node(new)
        self.nodes = np.concatenate([self.nodes, _moved(self.target, node)[None]])
        self.pictures.append(new)
        if len(self.pictures) == 1:
            return
        s = self._settings
        before = _node(self.pictures[-2])
        length = float(np.linalg.norm(node[:3] - before[:3]))
        n = len(self.pictures)
        step = step_between(before, node)
        self.edges.append(
            Edge(n - 2, n - 1, step, 0.002 + s.drift_share * length, 0.0005 + 0.1 * s.drift_share * length)
        )

    def _search(self, new: KeyPicture) -> Recognition | None:
        """The nearest old pictures that look the same way, by where the map has them."""
        s, count = self._settings, len(self.pictures) - 1
        if count <= _RECENT:
            return None
        here, old = self.nodes[-1], self.nodes[: count - _RECENT]
        distance = np.linalg.norm(old[:, :3] - here[:3], axis=1)
        angle = np.abs((old[:, 3] - here[3] + np.pi) % (2.0 * np.pi) - np.pi)
        near = np.flatnonzero((distance < s.search_radius) & (angle < _SAME_WAY))
        if not len(near):
            return None
        corners = all_corners(new)
        for index in near[np.argsort(distance[near] + 2.0 * angle[near], kind="stable")][:_TRIES].tolist():
            found = recognised(self.pictures[index], new, corners, s.least_matches)
            if found is not None:
                return Recognition(index, count, *found)
        return None

    def _edge_of(self, found: Recognition) -> Edge:
        """Only the heading of the measured turn is used: roll and pitch are the IMU's."""
        old, new = self.pictures[found.old], self.pictures[found.new]
        rotation, position = old.rotation @ found.rotation, old.position + old.rotation @ found.position
        difference = _heading(rotation @ new.rotation.T)
        a, b = _node(old), _node(new)
        seen = np.array([*position, a[3] + (b[3] - a[3]) + difference])
        # the heading of the new camera as measured from the old one
        return Edge(found.old, found.new, step_between(a, seen), _SEEN_PLACE_SD, _SEEN_HEADING_SD, recognised=True)

    def correction(self, t_ns: int) -> Array:
        """x, y, z, heading of the odometry's frame in the map, moved towards the target as fast as may be."""
        s, dt = self._settings, max(0.0, (t_ns - self._t_ns) * 1e-9)
        self._t_ns = t_ns
        step = self.target - self.applied
        step[3] = (step[3] + np.pi) % (2.0 * np.pi) - np.pi
        shift, turn = float(np.linalg.norm(step[:3])), abs(float(step[3]))
        share = min(1.0, s.correction_speed * dt / max(shift, 1e-12), s.correction_turn * dt / max(turn, 1e-12))
        self.applied = self.applied + share * step
        return self.applied


def corrected(correction: Array, position: Array, velocity: Array, rotation: Array) -> tuple[Array, Array, Array]:
    """Position, velocity and rotation of the map frame, from those of the odometry's."""
    turn = _turn(correction[3])
    return turn @ position + correction[:3], turn @ velocity, turn @ rotation


def _turn(heading: float) -> Array:
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _heading(rotation: Array) -> float:
    """Of a turn that is nearly about up."""
    return float(np.arctan2(rotation[1, 0] - rotation[0, 1], rotation[0, 0] + rotation[1, 1]))


def _node(picture: KeyPicture) -> Array:
    """x, y, z and the heading of the optical axis."""
    ahead = picture.rotation[:, 2]
    return np.array([*picture.position, np.arctan2(ahead[1], ahead[0])])


def _moved(frame: Array, node: Array) -> Array:
    return np.array([*(_turn(frame[3]) @ node[:3] + frame[:3]), node[3] + frame[3]])


def _map_from_odometry(in_map: Array, in_odometry: Array) -> Array:
    heading = (in_map[3] - in_odometry[3] + np.pi) % (2.0 * np.pi) - np.pi
    return np.array([*(in_map[:3] - _turn(heading) @ in_odometry[:3]), heading])
