"""Maps of a vehicle's surroundings, from depth images or LiDAR points and a pose."""

from skyloop.navigation.mapping.counting import CounterRule
from skyloop.navigation.mapping.cylinder_map import CylinderConfig, CylinderMap
from skyloop.navigation.mapping.distance_fields import DistanceField, signed_distance
from skyloop.navigation.mapping.growing_map import GrowingMap, GrowingMapConfig
from skyloop.navigation.mapping.judging import MapScore, judge
from skyloop.navigation.mapping.map_snapshot import MapSnapshot
from skyloop.navigation.mapping.mapper import Mapper, MapperSettings
from skyloop.navigation.mapping.point_clouds import DepthLens, points_from_depth
from skyloop.navigation.mapping.pose_history import PoseHistory
from skyloop.navigation.mapping.projection import GroundGrid, projected
from skyloop.navigation.mapping.sight import Sight
from skyloop.navigation.mapping.voxel_map import VoxelMapConfig, WorldVoxels

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
