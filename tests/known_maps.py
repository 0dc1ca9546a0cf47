"""Maps of a hall with boxes, made from its plan and not from images: for flights to goals without a renderer."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Estimate, GridMap, Message, Movers, PointCloud, VehicleState
from skyloop_papers.benchmarks.plan import CELL, BoxWorld

PERIOD_NS = 100_000_000


class KnownMaps:
    """Publishes `<name>/ground` and `<name>/near` ten times a second, as a mapper does."""

    def __init__(
        self,
        setup: EstimatorSetup,
        side: float = 16.0,
        boxes: Any = ((14.0, 14.0, 14.4, 14.4),),
        more_boxes: Any = (),
        more_at: float = 1e9,
        dead_at: float = 1e9,
        dead_until: float = 1e9,
        cage: float = 0.0,
        walkers: Any = (),
        hidden: Any = (),
    ) -> None:
        """The hall begins at (0, 0). more_boxes: that are there from `more_at` s on. From dead_at to dead_until
        nothing is published. cage: m, the radius of a ball of points around the place of take-off, which the map from
        above does not show. hidden: boxes that it does not show either. walkers: rows of t, x, y and velocity: people
        who are at (x, y) at t seconds and walk straight on."""
        self.name, self.dead, self.more_at = setup.name, (dead_at, dead_until), more_at
        worlds = BoxWorld(side, np.array(boxes)), BoxWorld(side, np.array([*boxes, *more_boxes]))
        self.plans = [(world.occupied(), world.cloud().astype(np.float32)) for world in worlds]
        self.cage = cage
        if len(hidden):
            unseen = BoxWorld(side, np.array(hidden)).cloud().astype(np.float32)
            self.plans = [(occupied, np.vstack([cloud, unseen])) for occupied, cloud in self.plans]
        self.walkers = np.array(walkers, float).reshape(-1, 5)
        self.announced_ns = -PERIOD_NS

    def on_message(self, message: Message) -> Any:
        state = message.data
        t = message.t_ns * 1e-9
        if message.t_ns - self.announced_ns < PERIOD_NS or self.dead[0] <= t < self.dead[1]:
            return None
        self.announced_ns = message.t_ns
        occupied, cloud = self.plans[t >= self.more_at]
        near = cloud[np.linalg.norm(cloud[:, :2] - state.position[:2], axis=1) < 5.0]
        if self.cage:
            turns, rises = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 40), np.linspace(-1.5, 1.5, 20))
            level = np.cos(rises)
            ball = np.column_stack([a.ravel() for a in (level * np.cos(turns), level * np.sin(turns), np.sin(rises))])
            near = np.vstack([near, (np.array([2.0, 2.0, 1.62]) + self.cage * ball).astype(np.float32)])
        cells = np.where(occupied.T, 100, 0).astype(np.int8)
        ground = GridMap(message.t_ns, cells, CELL, np.array([0.0, 0.0, 1.5]))
        products = [(f"{self.name}/ground", ground), (f"{self.name}/near", PointCloud(message.t_ns, near))]
        return [*products, (f"{self.name}/movers", self.movers(message.t_ns))]

    def movers(self, t_ns: int) -> Movers:
        """Bodies of 0.25 m radius and 1.8 m height, where they are now."""
        count = len(self.walkers)
        velocities = np.column_stack([self.walkers[:, 3:5], np.zeros(count)])
        places = np.column_stack([self.walkers[:, 1:3], np.full(count, 0.9)])
        places += (t_ns * 1e-9 - self.walkers[:, :1]) * velocities
        return Movers(t_ns, places, velocities, np.tile([0.25, 1.8], (count, 1)), np.arange(count))


class TruthWithAGap:
    """An estimate that is the truth, and not valid from lost_at for lost_for seconds."""

    def __init__(self, setup: EstimatorSetup, lost_at: float = 1e9, lost_for: float = 3.0) -> None:
        self.lost = lost_at, lost_at + lost_for

    def on_message(self, message: Message) -> Estimate | None:
        state = message.data
        if not isinstance(state, VehicleState):
            return None
        sd, valid = np.full(3, 0.01), not self.lost[0] <= state.t_ns * 1e-9 < self.lost[1]
        motion = state.position, state.velocity_world, state.quat_wxyz, state.angular_velocity_body
        return Estimate(state.t_ns, *motion, sd, sd, sd, valid, reason="" if valid else "the lens is covered")
