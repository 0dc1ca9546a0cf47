"""The level SLAM as an estimator: LiDAR, IMU and barometer in, with or without GNSS; estimates and a map out.

In a scenario: `estimators: {slam: {kind: grid-slam}}` and `state: slam`.
An inertial filter carries the state from sweep to sweep and tells the particle filter how the vehicle moved. The pose
of the particle filter corrects the inertial filter.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from skyloop.core import quantities
from skyloop.core.frames import GeoPoint, LocalFrame, matrix_from_quat, rotate, yaw_from_quat
from skyloop.core.jit import prepare
from skyloop.core.validation import validated
from skyloop.vehicle.estimation.ekf import EkfConfig
from skyloop.vehicle.estimation.localisation import EkfLocaliser
from skyloop_autonomy.grid_slam.level_sweep import SweepMotion, SweepSlab, levelled
from skyloop_autonomy.grid_slam.lines import LineSettings, without_false_cells
from skyloop_autonomy.grid_slam.particle_filter import GridParticleFilter, PoseBelief, PoseFix
from skyloop_autonomy.grid_slam.tiled_maps import FilterSettings
from skyloop_client import part
from skyloop_client.errors import ScenarioError
from skyloop_client.estimator import Answer, EstimatorSetup
from skyloop_client.messages import Array, Estimate, GnssFix, GridMap, LidarScan, Message, Number, RangeSample
from skyloop_client.streams import NS_PER_S, StreamInfo

KEPT_NS = 500_000_000
"""Estimates of this long are kept, so that a sweep that arrives late finds the one of its own stamp."""
GAP = 1.5
"""Periods of the LiDAR; after a longer pause the way since the last sweep is summed up from all estimates between."""
DISAGREE_NS = 1_000_000_000
"""When the inertial filter refuses the poses of sweeps for so long, one of both is wrong: estimates are not valid."""
DISAGREE = "the sweeps say another place than the inertial filter"
HEADING_SD = 0.01
"""rad, of the heading of the particle filter, as the inertial filter takes it."""


class LocaliserSettings(BaseModel):
    """What of a sweep is used, and how often the map is published."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    filter: FilterSettings = FilterSettings()
    lines: LineSettings = LineSettings()
    slab: quantities.Length = 0.75
    """m above and below the vehicle in which returns count as obstacles in its plane."""
    range_sd: quantities.Length = 0.2
    """m, of heights from a rangefinder that looks down, with the unevenness of the ground."""
    ground_height: float = 0.0
    """m, world, of the ground that such a rangefinder sees."""
    ground: quantities.Length = 1.0
    """m over the start, below which returns are ground. Near the ground the slab begins there."""
    furthest: quantities.Length = 60.0
    """m; returns further away are left out: the slab is met by few beams there."""
    nearest: quantities.Length = 0.5
    """m; returns nearer than this come from the vehicle itself."""
    map_period: quantities.Seconds = 0.5
    """s between two published maps."""
    lost_below: float = Field(default=0.15, ge=0.0, le=1.0)
    """Mean likelihood of a sweep on the map below which it corrects nothing and is not drawn."""


@dataclass
class LocaliserMemory:
    estimates: deque[Estimate]
    swept: Estimate | None = None
    """At the last sweep that was used."""
    fix: tuple[int, Array, float] | None = None
    """Newest fix: stamp, position (2,), sd."""
    height: tuple[float, float] | None = None
    """m, of the body origin in the world, and its sd; since the last sweep."""
    travel: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) m, world, since that sweep: the sum of velocities, without corrections."""
    agreed_ns: int = 0
    """Of the last sweep whose pose the inertial filter took."""
    disagree: bool = False
    map_due_ns: int = 0
    belief: PoseBelief | None = None
    stands: bool = True


@part
class GridLocaliser:
    settings_class: ClassVar[type[LocaliserSettings]] = LocaliserSettings

    def __init__(self, setup: EstimatorSetup, *, settings: dict[str, Any] | LocaliserSettings | None = None) -> None:
        self.settings = validated(self.settings_class, settings or {}, f"settings of '{setup.name}'")
        self._name = setup.name
        by_record: dict[str, StreamInfo] = {}
        for info in setup.infos.values():
            by_record.setdefault(info.message, info)
        for record, sensor in (("LidarScan", "lidar"), ("ImuSample", "imu"), ("BarometerSample", "barometer")):
            if record not in by_record:
                raise ScenarioError(
                    f"estimator '{setup.name}' needs a {sensor}, but its inputs are {sorted(setup.infos)}; add one"
                )
        start = setup.start
        self._start = start
        self._lidar, self._gnss = by_record["LidarScan"], by_record.get("GnssFix")
        self._below = by_record.get("RangeSample")
        home = GeoPoint(start.latitude_deg, start.longitude_deg, start.altitude)
        self._frame = LocalFrame(home)
        inertial = {record: by_record[record] for record in ("ImuSample", "BarometerSample")}
        self._inertial = EkfLocaliser(
            EkfConfig(heading_sd=HEADING_SD), inertial, home, start.magnetic_field_world, gravity=start.gravity
        )
        self.slam = GridParticleFilter(self.settings.filter, np.array([*start.position[:2], start.yaw]))
        self._memory = LocaliserMemory(deque())
        # outside, the time to load compiled code would count as execution time of the first sweeps
        prepare("skyloop_autonomy.grid_slam", when_called=True)

    def on_message(self, message: Message) -> Answer:
        """An estimate for every IMU sample. With a sweep, `<name>_match`, and when it is due the map, `<name>_map`."""
        if message.stream == self._lidar.name:
            return self._on_sweep(message.data)
        if self._gnss is not None and message.stream == self._gnss.name:
            self._on_fix(message.data)
            return None
        if self._below is not None and message.stream == self._below.name:
            self._on_range(message.data)
            return None
        estimate = self._inertial.on_message(message)
        if estimate is None:
            return None
        memory = self._memory
        if memory.stands and self._inertial.state.aligned:
            self._position_at_start(estimate.t_ns)
            memory.stands = False
            return None
        if memory.estimates:
            dt = (estimate.t_ns - memory.estimates[-1].t_ns) / NS_PER_S
            memory.travel = memory.travel + dt * estimate.velocity_world
        memory.estimates.append(estimate)
        while memory.estimates[0].t_ns < estimate.t_ns - KEPT_NS:
            memory.estimates.popleft()
        return replace(estimate, valid=False, reason=DISAGREE) if memory.disagree and estimate.valid else estimate

    def _position_at_start(self, t_ns: int) -> None:
        """The vehicle still stands where it was put."""
        position = self._start.position
        self._inertial.correct_place(t_ns, position, np.full(3, 0.05), 3)
        self._inertial.correct_yaw(t_ns, self._start.yaw)

    def _on_fix(self, fix: GnssFix) -> None:
        memory, settings = self._memory, self.settings.filter
        if fix.fix_type < 2 or not memory.estimates or self._gnss is None:
            return
        antenna = self._frame.enu_from_geodetic(GeoPoint(fix.latitude_deg, fix.longitude_deg, fix.altitude))
        lever = rotate(memory.estimates[-1].quat_wxyz, self._gnss.mount.position)
        sd = max(fix.horizontal_sd, settings.gnss_sd_floor)
        position = np.asarray(antenna - lever)
        memory.fix = fix.t_ns, position[:2], sd
        if self._below is None and fix.fix_type > 2:
            memory.height = float(position[2]), max(fix.vertical_sd, settings.gnss_sd_floor)

    def _on_range(self, sample: RangeSample) -> None:
        """Height over the ground, which is taken to be level."""
        memory = self._memory
        if self._below is None or not memory.estimates or not sample.min_range < sample.distance < sample.max_range:
            return
        attitude, mount = memory.estimates[-1].quat_wxyz, self._below.mount
        beam = rotate(attitude, mount.position + rotate(mount.quat_wxyz, np.array([sample.distance, 0.0, 0.0])))
        memory.height = self.settings.ground_height - float(beam[2]), self.settings.range_sd

    def _on_sweep(self, scan: LidarScan) -> Answer:
        memory = self._memory
        now = self._estimate_at(scan.t_ns)
        if now is None or memory.stands:
            return None
        belief = memory.belief = self._believe(scan, now, self._points(scan, now))
        memory.swept, memory.travel = now, np.zeros(3)
        if not belief.lost:
            self._correct(scan.t_ns, belief)
        answers: list[Any] = [(f"{self._name}_match", Number(scan.t_ns, belief.likelihood))]
        if scan.t_ns >= memory.map_due_ns:
            memory.map_due_ns = scan.t_ns + round(self.settings.map_period * NS_PER_S)
            answers.append((f"{self._name}_map", self.map(scan.t_ns, float(now.position[2]))))
        return answers

    def _believe(self, scan: LidarScan, now: Estimate, ring: Array) -> PoseBelief:
        """Find the pose of a sweep and draw it. ring: the sweep as `_points` levels it."""
        before = self._memory.swept
        motion = np.zeros(3) if before is None else _motion(before, now, self._moved(before, now))
        return self.slam.sweep(ring, motion, self._fix_for(now), lost_below=self.settings.lost_below)

    def _moved(self, before: Estimate, now: Estimate) -> Array:
        """(3,) m, world, since the last sweep.

        From one sweep to the next by the mean of two velocities; after a pause it may have turned or stopped between.
        The difference of positions would also hold the corrections in between, which are no motion."""
        dt = (now.t_ns - before.t_ns) / NS_PER_S
        period = 0.1 if self._lidar.rate is None else 1.0 / self._lidar.rate.hz
        if dt > GAP * period:
            return self._memory.travel
        return 0.5 * dt * (before.velocity_world + now.velocity_world)

    def _estimate_at(self, t_ns: int) -> Estimate | None:
        """The last one that is not later."""
        return next((e for e in reversed(self._memory.estimates) if e.t_ns <= t_ns), None)

    def _points(self, scan: LidarScan, now: Estimate) -> Array:
        settings, mount = self.settings, self._lidar.mount
        over_start = float(now.position[2] - self._start.position[2])
        # over the ground the slab is around the vehicle; on the ground it begins where walls can be told from it
        lowest = max(-settings.slab, settings.ground - over_start)
        motion = SweepMotion(
            np.ascontiguousarray(matrix_from_quat(now.quat_wxyz)),
            np.array(now.angular_velocity_body),
            np.array(now.velocity_world),
            float(yaw_from_quat(now.quat_wxyz)),
            np.ascontiguousarray(matrix_from_quat(mount.quat_wxyz)),
            np.array(mount.position, dtype=np.float64),
        )
        slab = SweepSlab(lowest, lowest + 2.0 * settings.slab, settings.nearest, settings.furthest)
        return levelled(scan.points, scan.offsets_ns, motion, slab)

    def _fix_for(self, now: Estimate) -> PoseFix | None:
        """The newest fix, once, carried to the instant of a sweep."""
        memory, settings = self._memory, self.settings.filter
        if memory.fix is None:
            return None
        t_ns, position, sd = memory.fix
        memory.fix = None
        rate = self._gnss.rate.hz if self._gnss is not None and self._gnss.rate else 1.0
        together = max(1.0, settings.gnss_correlation_time * rate)
        age = (now.t_ns - t_ns) / NS_PER_S
        return PoseFix(position + age * now.velocity_world[:2], sd * math.sqrt(together))

    def _correct(self, t_ns: int, belief: PoseBelief) -> None:
        known = self._memory.height
        height, height_sd = (0.0, 1.0) if known is None else known
        self._memory.height = None
        position = np.array([belief.pose[0], belief.pose[1], height])
        sd = np.array([belief.sd[0], belief.sd[1], height_sd])
        taken = self._inertial.correct_place(t_ns, position, sd, 2 if known is None else 3)
        self._inertial.correct_yaw(t_ns, float(belief.pose[2]))
        memory = self._memory
        memory.agreed_ns = t_ns if taken or not memory.agreed_ns else memory.agreed_ns
        memory.disagree = t_ns - memory.agreed_ns >= DISAGREE_NS

    def map(self, t_ns: int, height: float) -> GridMap:
        """The map of the best particle, without the cells that no wall supports."""
        evidence, corner = self.slam.maps.known_part(self.slam.best)
        grid = self.settings.filter.grid
        obstacles, _ = without_false_cells(evidence, grid.occupied, grid.cell, self.settings.lines)
        cells = np.full(evidence.shape, -1, np.int8)
        cells[evidence < 0] = 0
        cells[obstacles] = 100
        return GridMap(t_ns, np.ascontiguousarray(cells.T), grid.cell, np.array([*corner, height]))

    @property
    def belief(self) -> PoseBelief | None:
        return self._memory.belief

    def snapshot(self) -> Any:
        return self.slam.snapshot(), self._inertial.snapshot(), copy.deepcopy(self._memory)

    def restore(self, saved: Any) -> None:
        self.slam.restore(saved[0])
        self._inertial.restore(saved[1])
        self._memory = copy.deepcopy(saved[2])


def _motion(before: Estimate, after: Estimate, moved: Array) -> Array:
    """(3,) m, m, rad: from one estimate to the next in level axes of the first. moved: (3,) m, world."""
    first, last = float(yaw_from_quat(before.quat_wxyz)), float(yaw_from_quat(after.quat_wxyz))
    east, north = moved[:2].tolist()
    c, s = math.cos(first), math.sin(first)
    return np.array([c * east + s * north, -s * east + c * north, math.remainder(last - first, 2.0 * math.pi)])
