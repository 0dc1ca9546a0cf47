"""Maps of a vehicle's surroundings, from depth images or LiDAR points and a pose."""

from skyloop_autonomy.mapping.counting import CounterRule
from skyloop_autonomy.mapping.cylinder_map import CylinderConfig, CylinderMap
from skyloop_autonomy.mapping.distance_fields import DistanceField, signed_distance
from skyloop_autonomy.mapping.growing_map import GrowingMap, GrowingMapConfig
from skyloop_autonomy.mapping.judging import MapScore, judge
from skyloop_autonomy.mapping.map_snapshot import GroundGrid, MapSnapshot, projected
from skyloop_autonomy.mapping.mapper import Mapper, MapperSettings, PoseHistory
from skyloop_autonomy.mapping.point_clouds import DepthLens, Sight, points_from_depth
from skyloop_autonomy.mapping.voxel_map import VoxelMapConfig, WorldVoxels

__all__ = [
    "CounterRule",
    "CylinderConfig",
    "CylinderMap",
    "DepthLens",
    "DistanceField",
    "GroundGrid",
    "GrowingMap",
    "GrowingMapConfig",
    "MapScore",
    "MapSnapshot",
    "Mapper",
    "MapperSettings",
    "PoseHistory",
    "Sight",
    "VoxelMapConfig",
    "WorldVoxels",
    "judge",
    "points_from_depth",
    "projected",
    "signed_distance",
]
