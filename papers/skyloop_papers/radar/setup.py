"""The world of `skyloop reproduce radar`: level asphalt with people in separate lanes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat, quat_multiply
from skyloop.rendering.client import Renderer
from skyloop.sensors.radar.radar import Radar
from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.model import Model
from skyloop.world.scenery.actors.gait import PARTS, Gait
from skyloop.world.scenery.actors.paths import MoverPath as Way
from skyloop.world.scenery.actors.people import Walker, draw_person, part_shapes
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.messages import Array, Kinematics
from skyloop_client.streams import NS_PER_S
from skyloop_papers.one_view import OneView

LANE = 100.0
"""m between lanes, so that no radar sees into another lane."""
PERSON_AND_GROUND = ("person", "road")
"""The classes that section V-D keeps in the segmentation images. Asphalt has class road."""
TORSO = (PARTS.index("pelvis"), PARTS.index("chest"))
SEED = 1
"""Selects the walking person."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk straight ahead of the radar at constant speed. Before and after, the person stands in mid-stride."""

    name: str
    start: float
    """m ahead of the radar."""
    end: float
    speed: float
    """m/s."""
    begins: float = 0.0
    """s."""

    @property
    def ends(self) -> float:
        """s."""
        return self.begins + abs(self.end - self.start) / self.speed

    def moves_at(self, t: float) -> bool:
        return self.begins < t < self.ends


class _Stroller:
    """A walker who starts and stops at given times."""

    n_rows = len(PARTS)

    def __init__(self, walker: Walker, walk: Walk) -> None:
        self._walker, self._walk = walker, walk

    def poses(self, t: float) -> Array:
        return self._walker.poses(min(max(t, self._walk.begins), self._walk.ends) - self._walk.begins)


@dataclass(frozen=True, slots=True)
class Torso:
    """Truth at one instant, over the pixels of chest and pelvis in the radar's own view. nan if none is visible."""

    range: float
    """m to its surface, median."""
    point: Array
    """(3,) m from the radar, world axes, mean."""
    speed: float
    """m/s away from the radar, median."""
    fastest_part: float
    """m/s away from the radar, of all the person's pixels."""


class RadarSetup:
    """One lane per walk, all drawn by one renderer."""

    def __init__(self, walks: Sequence[Walk]) -> None:
        self.walks = {walk.name: walk for walk in walks}
        self.model = Model()
        ground = Ground(np.zeros((3, 3)), (-2000.0, -2000.0), 2000.0)
        place_terrain(self.model, ground, "asphalt")
        person = draw_person(generator(SEED, "reproduce-radar"), frozenset())
        shapes = part_shapes(person.build, person.outfit)
        for lane, walk in enumerate(walks):
            gait = Gait.of(person.build, person.scale, walk.speed, 0.0)
            mover = _Stroller(Walker(gait, _way(walk, lane * LANE), ground), walk)
            self.model.add_mover(mover, shapes, is_a="person", palette=person.palette, variant=person.weave)
        self.model.freeze()
        self.weather = weather_at(WeatherConfig(time_of_day=11.0, clouds=0.4), 48.0)
        self._renderer = Renderer(self.model)

    def __enter__(self) -> RadarSetup:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._renderer.close()

    def _lane(self, walk: Walk) -> int:
        return list(self.walks).index(walk.name)

    def radar_at(self, walk: Walk, t: float, *, height: float = 1.8, yaw: float = 0.0) -> Kinematics:
        """At rest at the head of the walk's lane, level. Yaw is in rad, to the left."""
        position, still = np.array([0.0, self._lane(walk) * LANE, height]), np.zeros(3)
        quat = np.array([math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)])
        return Kinematics(round(t * NS_PER_S), position, still, quat, still, still, still)

    def shot(self, radar: Radar, at: Kinematics) -> OneView:
        return OneView(self._renderer.render(radar.requests(at, ()), self.weather)[0], self.weather)

    def photograph(self, at: Kinematics, lens: Pinhole) -> View:
        """The view of a camera at the radar's pose."""
        pose = ViewPose(at.t_ns, at.position, quat_multiply(at.quat_wxyz, SENSOR_FROM_CAMERA))
        return self._renderer.render([ViewRequest(lens, pose, "high")], self.weather)[0]

    def torso(self, walk: Walk, shot: OneView) -> Torso:
        view = shot.view
        parts = view.surface[..., 1].astype(np.int64) - 1 - self.model.n_standing - self._lane(walk) * len(PARTS)
        person = (parts >= 0) & (parts < len(PARTS))
        torso = np.isin(parts[person], TORSO)
        if not torso.any():
            return Torso(math.nan, np.full(3, np.nan), math.nan, math.nan)
        sight = view.lens.rays()[person] @ matrix_from_quat(view.pose.quat_wxyz).T
        along = sight / np.linalg.norm(sight, axis=1, keepdims=True)
        speeds = np.einsum("ij,ij->i", along, view.velocities[person].astype(np.float64))
        distance = view.distance[person].astype(np.float64)
        point = np.mean((along * distance[:, None])[torso], axis=0)
        return Torso(float(np.median(distance[torso])), point, float(np.median(speeds[torso])), float(speeds.max()))


def _way(walk: Walk, y: float) -> Way:
    """A loop so long that only its first leg is walked. The leg begins 1 m, the corner's radius, after the corner."""
    sign = 1.0 if walk.end > walk.start else -1.0
    near, far = walk.start - sign, walk.start + sign * 60.0
    return Way([(near, y), (far, y), (far, y + 30.0), (near, y + 30.0)], corner_radius=1.0)
