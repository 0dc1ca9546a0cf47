"""Loop closing: the drift of the odometry is found by places seen again, and a map frame takes it out smoothly."""

from __future__ import annotations

import numpy as np

from skyloop_autonomy.vio.lens import PixelLens
from skyloop_autonomy.vio.places import KeyPicture, Recognition, all_corners, key_picture, recognised
from skyloop_autonomy.vio.pose_graph import Edge, fitted, step_between
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.tracking import Grey, Tracks
from skyloop_client.messages import Array

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

    def see(self, t_ns: int, image: Grey, tracks: Tracks, pose: tuple[Array, Array], lens: PixelLens) -> bool:
        """Takes the picture as a key picture if the camera has moved on; pose: odometry frame from left camera."""
        s = self._settings
        if self.pictures:
            last = self.pictures[-1]
            moved = float(np.linalg.norm(pose[1] - last.place))
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
        rotation, place = old.rotation @ found.rotation, old.place + old.rotation @ found.place
        difference = _heading(rotation @ new.rotation.T)
        a, b = _node(old), _node(new)
        seen = np.array([*place, a[3] + (b[3] - a[3]) + difference])
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
    return np.array([*picture.place, np.arctan2(ahead[1], ahead[0])])


def _moved(frame: Array, node: Array) -> Array:
    return np.array([*(_turn(frame[3]) @ node[:3] + frame[:3]), node[3] + frame[3]])


def _map_from_odometry(in_map: Array, in_odometry: Array) -> Array:
    heading = (in_map[3] - in_odometry[3] + np.pi) % (2.0 * np.pi) - np.pi
    return np.array([*(in_map[:3] - _turn(heading) @ in_odometry[:3]), heading])
