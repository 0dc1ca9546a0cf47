"""All paths of a wave from transmitter to receivers: by matt patches, mirror points and calibration targets, over the
ground, and through materials that let it pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import LIGHT_SPEED
from skyloop.core.frames import matrix_from_quat
from skyloop.sensors.radar.backends import EchoFinder
from skyloop.sensors.radar.config import PRESETS, RadarConfig
from skyloop.sensors.radar.cpu_echoes import CpuEchoes
from skyloop.sensors.radar.echoes import Antennas, Echoes, Ends, Energies, Labels, Picture, Receiver, Things, Way
from skyloop.sensors.radar.points import point_echoes
from skyloop.sensors.radar.specular import Mirrors
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

MIRROR_TABLE = 257
CLEAR_OF_GROUND = 0.05
"""m above the ground; anything lower belongs to the ground that reflects."""
FARTHEST = 2000.0
"""m over which a wave is followed behind a material that lets it pass."""

MOST_FACES = 4
"""Faces of one thing that a wave passes."""
CLEAR_OF_SURFACE = 2e-3
"""m behind a surface, where a wave continues."""

EVERYTHING = np.ones((1, 1), np.float32)
"""The amplitude that passes where nothing is in front."""

Surface = NDArray[np.uint32]


class Paths:
    """Finds the echoes of one radar."""

    def __init__(self, config: RadarConfig, pattern: NDArray[np.float32], finder: EchoFinder | None = None) -> None:
        self._config = config
        self._finder = finder or CpuEchoes()
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
        self._mirrors = Mirrors(mirror_amplitudes(self.wavelength), self.wavelength) if config.specular else None
        shown = CLASSES if config.classes is None else config.classes
        self._shown = np.zeros(256, np.bool_)
        self._shown[[CLASS_ID[name] for name in shown]] = True

    def echoes(self, view: View, kinematics: Kinematics, scene: Scene) -> tuple[Echoes, float]:
        """All echoes, and the share of their energy that folds."""
        echoes, energies = self.found(view, kinematics, scene)
        return echoes, energies.folded_share()

    def found(self, view: View, kinematics: Kinematics, scene: Scene) -> tuple[Echoes, Energies]:
        """All echoes and their energies, which a GPU may still work on."""
        energies = Energies()
        world_from_sensor = np.ascontiguousarray(matrix_from_quat(kinematics.quat_wxyz))
        speed = np.asarray(kinematics.velocity_world, np.float64)
        turned = np.ascontiguousarray(world_from_sensor.T)
        straight = Ends(turned, turned.T @ self._tx, self._rx @ turned, speed, speed)
        ends = [straight, *(self._over_ground(straight, view, scene) if self._config.ground_bounce else ())]
        ways = [self._way(end) for end in ends]
        layers = [(view.surface, EVERYTHING)]
        if self._config.see_through:
            layers.append(_behind(view, scene))
        lens, camera, place = _lens(view), _world_from_camera(view), np.array(view.pose.position)
        pictures = [Picture(surface, lens, camera, place, through) for surface, through in layers]
        model, motion = view.model, view.motion
        things = Things(
            model.n_standing, model.standing_poses, motion.poses, motion.velocities, motion.angular_velocities
        )
        labels = Labels(model.row_thing, model.thing_class, MATERIAL_CLASS, self._shown)
        parts = self._finder.found(pictures, things, labels, ways, self._mirrors, energies)
        if self._config.targets:
            parts += [self._targets(kinematics, way, energies.sums) for way in ways]
        return self.joined(parts), energies

    def _way(self, ends: Ends) -> Way:
        antennas = Antennas(
            self._pattern, ends.sensor_from_world, ends.tx, ends.rx, ends.tx_velocity, ends.rx_velocity, ends.mirror,
            ends.tx_mirrored, ends.rx_mirrored,
        )  # fmt: skip
        return antennas, Receiver(self._shares, self.scale, *self._beats, *self._lowpass, *self._limits, ends.lowest)

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

    def _targets(self, kinematics: Kinematics, way: Way, energies: Array) -> Echoes:
        targets, (antennas, receiver) = self._config.targets, way
        velocities = np.array([target.velocity for target in targets])
        starts = np.array([target.position for target in targets])
        points = starts + velocities * kinematics.t_ns / NS_PER_S - kinematics.position
        fields = np.sqrt([target.cross_section(self.wavelength) for target in targets])
        ahead = (points @ antennas.sensor_from_world[0] > 0.0) & (points[:, 2] >= receiver.lowest)
        return point_echoes(points[ahead], velocities[ahead], fields[ahead], antennas, receiver, energies)


def _lens(view: View) -> Array:
    lens = view.lens
    return np.array([lens.fx, lens.fy, lens.cx, lens.cy])


def _world_from_camera(view: View) -> Array:
    return np.ascontiguousarray(matrix_from_quat(view.pose.quat_wxyz))


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
