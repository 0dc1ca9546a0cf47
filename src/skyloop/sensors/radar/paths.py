"""All paths of a wave from transmitter to receivers: by matt patches, mirror points and calibration targets, over the
ground, and through materials that let it pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import LIGHT_SPEED
from skyloop.core.frames import matrix_from_quat
from skyloop.sensors.radar.backends import PatchFinder
from skyloop.sensors.radar.config import PRESETS, RadarConfig
from skyloop.sensors.radar.echoes import (
    ALL,
    FOLDED,
    Antennas,
    CpuPatches,
    Echoes,
    Ends,
    Labels,
    Picture,
    Receiver,
    Things,
)
from skyloop.sensors.radar.specular import COLUMNS, edge_factor, mirror_points
from skyloop.sensors.sensor import Scene, numbers_of
from skyloop.world.radar_surfaces import (
    TRANSPARENCY,
    grazing_reflection,
    mirror_amplitudes,
    scattered_shares,
)
from skyloop.world.semantics import CLASS_ID, CLASSES
from skyloop.world.views import MATERIAL_CLASS, View
from skyloop_client.messages import Array, Kinematics
from skyloop_client.streams import NS_PER_S

MOST_MIRRORS = 512
MIRROR_TABLE = 257
CLEAR_OF_GROUND = 0.05
"""m above the ground; anything lower belongs to the ground that reflects."""
SHARPEST = 0.02
"""The least |det J|: a hollow that focuses on the radar is at most fifty times as bright as a plane."""
FARTHEST = 2000.0
"""m over which a wave is followed behind a material that lets it pass."""

MOST_FACES = 4
"""Faces of one thing that a wave passes."""
CLEAR_OF_SURFACE = 2e-3
"""m behind a surface, where a wave continues."""

Surface = NDArray[np.uint32]


class Paths:
    """Finds the echoes of one radar."""

    def __init__(self, config: RadarConfig, pattern: NDArray[np.float32], patches: PatchFinder | None = None) -> None:
        self._config = config
        self._finder = patches or CpuPatches()
        self.joined = self._finder.joined
        n = numbers_of(config, PRESETS)
        w = config.waveform()
        self._pattern = pattern
        self._tx = np.array(n.tx_position)
        self._rx = np.array(n.rx_positions[: n.n_rx])
        self.wavelength = LIGHT_SPEED / w.centre_frequency
        power = 1e-3 * 10.0 ** (0.1 * (n.tx_power_dbm + n.tx_gain_dbi + n.rx_gain_dbi))
        # peak volts of an echo of 1 m² are this divided by both distances: the radar equation with (4π)³
        received = power * self.wavelength**2 / (4.0 * np.pi) ** 3
        self.scale = float(10.0 ** (n.conversion_gain_db / 20.0) * np.sqrt(2.0 * n.impedance * received))
        self._beats = (2.0 * w.slope / LIGHT_SPEED, 2.0 * w.centre_frequency / LIGHT_SPEED)
        self._lowpass = (n.lowpass_corner_hz, n.lowpass_order)
        self._limits = (w.max_range, w.max_speed)
        self._shares = scattered_shares(self.wavelength)
        self._mirrors = mirror_amplitudes(self.wavelength)
        shown = CLASSES if config.classes is None else config.classes
        self._shown = np.zeros(256, np.bool_)
        self._shown[[CLASS_ID[name] for name in shown]] = True

    def echoes(self, view: View, kinematics: Kinematics, scene: Scene) -> tuple[Echoes, float]:
        """All echoes, and the share of their energy that folds."""
        energies = np.zeros(2)
        world_from_sensor = np.ascontiguousarray(matrix_from_quat(kinematics.quat_wxyz))
        speed = np.asarray(kinematics.velocity_world, np.float64)
        turned = np.ascontiguousarray(world_from_sensor.T)
        straight = Ends(turned, turned.T @ self._tx, self._rx @ turned, speed, speed)
        ways = [straight, *(self._over_ground(straight, view, scene) if self._config.ground_bounce else ())]
        layers = [(view.surface, np.ones((1, 1), np.float32))]
        if self._config.see_through:
            layers.append(_behind(view, scene))
        parts = [self._patches(view, *layer, ends, energies) for layer in layers for ends in ways]
        if self._config.specular:
            parts += [self._mirrors_in(view, *layer, straight, energies) for layer in layers]
        if self._config.targets:
            parts += [self._targets(kinematics, ends, energies) for ends in ways]
        return self.joined(parts), float(energies[FOLDED] / energies[ALL]) if energies[ALL] > 0.0 else 0.0

    def _labels(self, view: View) -> Labels:
        return Labels(view.model.row_thing, view.model.thing_class, MATERIAL_CLASS, self._shown)

    def _patches(self, view: View, surface: Surface, through: Any, ends: Ends, energies: Array) -> Echoes:
        model, motion = view.model, view.motion
        picture = Picture(surface, _lens(view), _world_from_camera(view), np.array(view.pose.position), through)
        things = Things(
            model.n_standing, model.standing_poses, motion.poses, motion.velocities, motion.angular_velocities
        )
        antennas = Antennas(
            self._pattern, ends.sensor_from_world, ends.tx, ends.rx, ends.tx_velocity, ends.rx_velocity, ends.mirror,
            ends.tx_mirrored, ends.rx_mirrored,
        )  # fmt: skip
        receiver = Receiver(self._shares, self.scale, *self._beats, *self._lowpass, *self._limits, ends.lowest)
        return self._finder.found(picture, things, self._labels(view), antennas, receiver, energies)

    def _mirrors_in(self, view: View, surface: Surface, through: Any, ends: Ends, energies: Array) -> Echoes:
        """Echoes of the points at which a surface faces the radar; see `specular`."""
        lens, labels = _lens(view), tuple(self._labels(view))
        found = np.empty((MOST_MIRRORS, COLUMNS))
        count = mirror_points(surface, lens, _world_from_camera(view), self._mirrors, labels, found)
        found = found[:count]
        row, column, rows, materials, distance, jxx, jxy, jyx, jyy = found[:, :9].T
        sight = np.stack([(column - lens[2]) / lens[0], (row - lens[3]) / lens[1], np.ones_like(row)], 1)
        slant = np.linalg.norm(sight, axis=1)
        points = (sight / slant[:, None] * distance[:, None]) @ _world_from_camera(view).T
        det = jxx * jyy - jxy * jyx
        sizes = self._mirrors[materials.astype(int)] * np.sqrt(np.pi / np.maximum(np.abs(det), SHARPEST)) * distance
        edges: Any = 1.0
        for low, high, focal, j, tilt in ((9, 10, lens[0], jxx, 0), (11, 12, lens[1], jyy, 1)):
            # of a pixel, across the line of sight
            metres = distance * np.sqrt(1.0 + sight[:, 1 - tilt] ** 2) / (focal * slant**2)
            zone = 0.5 * np.sqrt(self.wavelength * distance / np.maximum(np.abs(j), SHARPEST))
            edges = edges * edge_factor(found[:, low] * metres, found[:, high] * metres, zone)
        # every reflection turns the phase by half a turn, and every direction in which it focuses by a quarter back
        hollows = (det < 0.0).astype(int) + 2 * ((det > 0.0) & (jxx + jyy < 0.0))
        by_pixel = int(through.shape == surface.shape[:2])
        at = (np.rint(row).astype(int) * by_pixel, np.rint(column).astype(int) * by_pixel)
        fields = -sizes * edges * (-1j) ** hollows * through[at]
        return self.from_points(points, _surface_velocities(view, rows.astype(int), points), fields, ends, energies)

    def _over_ground(self, ends: Ends, view: View, scene: Scene) -> list[Ends]:
        """The paths over the ground below, taken as flat and endless: on the way there, on the way back, and both."""
        down = scene.cast(view.pose.position[None], np.array([[0.0, 0.0, -1.0]]), FARTHEST)
        height = float(down.distance[0])
        if not np.isfinite(height):
            return []
        sines = np.linspace(0.0, 1.0, MIRROR_TABLE)
        mirror = grazing_reflection(int(down.material[0]), sines, self.wavelength).astype(np.complex64)
        flip, below = np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.0, -2.0 * height])
        clear = replace(ends, mirror=mirror, lowest=CLEAR_OF_GROUND - height)
        sender = {"tx": ends.tx * flip + below, "tx_velocity": ends.tx_velocity * flip, "tx_mirrored": True}
        receiver = {"rx": ends.rx * flip + below, "rx_velocity": ends.rx_velocity * flip, "rx_mirrored": True}
        return [replace(clear, **way) for way in (sender, receiver, {**sender, **receiver})]

    def _targets(self, kinematics: Kinematics, ends: Ends, energies: Array) -> Echoes:
        targets = self._config.targets
        velocities = np.array([target.velocity for target in targets])
        starts = np.array([target.position for target in targets])
        points = starts + velocities * kinematics.t_ns / NS_PER_S - kinematics.position
        fields = np.sqrt([target.cross_section(self.wavelength) for target in targets])
        ahead = (points @ ends.sensor_from_world[0] > 0.0) & (points[:, 2] >= ends.lowest)
        return self.from_points(points[ahead], velocities[ahead], fields[ahead], ends, energies)

    def from_points(self, points: Array, velocities: Array, fields: Any, ends: Ends, energies: Array) -> Echoes:
        """Echoes of (n, 3) points in world axes from the sensor, with complex roots of cross sections, m."""
        out, out_rate, sent = _legs(points, velocities, ends.tx, ends.tx_velocity)
        legs = [_legs(points, velocities, rx, ends.rx_velocity) for rx in ends.rx]
        half_paths = np.stack([0.5 * (out + back) for back, _, _ in legs], 1)
        rates = np.stack([0.5 * (out_rate + rate) for _, rate, _ in legs], 1)
        for direction, mirrored in ((sent, ends.tx_mirrored), (legs[-1][2], ends.rx_mirrored)):
            if mirrored:
                fields = fields * ends.mirror[np.rint(direction[:, 2] * (len(ends.mirror) - 1)).astype(int)]
                direction[:, 2] *= -1.0
            fields = fields * self._gain(direction @ ends.sensor_from_world.T)
        beat = self._beats[0] * half_paths[:, 0] + self._beats[1] * rates[:, 0]
        kept = 1.0 / np.sqrt(1.0 + (beat / self._lowpass[0]) ** (2 * self._lowpass[1]))
        strengths = self.scale * fields * kept / (out * legs[-1][0])
        energy = np.abs(strengths) ** 2
        folds = (half_paths[:, 0] > self._limits[0]) | (np.abs(rates[:, 0]) > self._limits[1])
        energies[ALL] += energy.sum()
        energies[FOLDED] += energy[folds].sum()
        return Echoes(half_paths, rates, strengths.astype(np.complex64))

    def _gain(self, directions: Array) -> Array:
        """The gain of one antenna towards unit vectors, sensor axes."""
        last = self._pattern.shape[0] - 1
        a, b = 0.5 * (directions[:, 1:3].T + 1.0) * last
        i, j = (np.clip(x.astype(int), 0, last - 1) for x in (a, b))
        p, q, t = a - i, b - j, self._pattern
        near = (1.0 - p) * t[i, j] + p * t[i + 1, j]
        return np.asarray((1.0 - q) * near + q * ((1.0 - p) * t[i, j + 1] + p * t[i + 1, j + 1]))


def _legs(points: Array, velocities: Array, end: Array, velocity: Array) -> tuple[Array, Array, Array]:
    """Lengths, their rates, and unit directions from the antenna."""
    apart = points - end
    length = np.linalg.norm(apart, axis=1)
    direction = apart / length[:, None]
    return length, np.einsum("ij,ij->i", direction, velocities - velocity), direction


def _lens(view: View) -> Array:
    lens = view.lens
    return np.array([lens.fx, lens.fy, lens.cx, lens.cy])


def _world_from_camera(view: View) -> Array:
    return np.ascontiguousarray(matrix_from_quat(view.pose.quat_wxyz))


def _surface_velocities(view: View, rows: Any, points: Array) -> Array:
    """m/s of points of the model's rows; points in world axes from the sensor."""
    out = np.zeros((len(points), 3))
    k = rows - view.model.n_standing
    moves = k >= 0
    k, m = k[moves], view.motion
    arm = points[moves] + view.pose.position - m.poses[k, :, 3]
    out[moves] = m.velocities[k] + np.cross(m.angular_velocities[k], arm)
    return out


def _behind(view: View, scene: Scene) -> tuple[Surface, NDArray[np.float32]]:
    """A second surface buffer, of things behind surfaces that let waves pass, and the amplitude that passes."""
    surface = np.zeros_like(view.surface)
    through = TRANSPARENCY.astype(np.float32)[view.materials]
    at = np.nonzero(through > 0.0)
    rays = view.lens.rays()[at]
    slant = np.linalg.norm(rays, axis=1)
    along = (rays / slant[:, None]) @ _world_from_camera(view).T
    rows = view.surface[..., 1][at].astype(np.int32) - 1
    words = np.zeros((len(rays), 4), np.uint32)
    # a pane has a back too: a wave must leave a thing before it meets another
    reached, going = view.depth[at] * slant, np.arange(len(rays))
    for _ in range(MOST_FACES):
        start = reached[going] + CLEAR_OF_SURFACE
        hits = scene.cast(view.pose.position + along[going] * start[:, None], along[going], FARTHEST)
        reached[going] = start + hits.distance
        met = (hits.row >= 0) & (hits.row != rows[going])
        out = going[met]
        words[out, 0] = (reached[out] / slant[out]).astype(np.float32).view(np.uint32)
        words[out, 1] = hits.row[met] + 1
        words[out, 2] = _packed_normals(hits.normal[met]) | hits.material[met]
        going = going[hits.row == rows[going]]
    surface[at] = words
    return surface, through


def _packed_normals(normals: Any) -> Surface:
    """Packed as world.views describes; the material's byte is free."""
    flat = normals[:, :2] / np.maximum(np.abs(normals).sum(axis=1, keepdims=True), 1e-12)
    folded = (1.0 - np.abs(flat[:, ::-1])) * np.where(flat >= 0.0, 1.0, -1.0)
    steps = np.rint((np.where(normals[:, 2:] < 0.0, folded, flat) + 1.0) * 2047.0).astype(np.uint32)
    return np.asarray(steps[:, 0] << 8 | steps[:, 1] << 20, np.uint32)
