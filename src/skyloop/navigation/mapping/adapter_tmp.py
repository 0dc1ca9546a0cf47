from __future__ import annotations
from typing import Any
from skyloop.navigation.mapping.projection import projected
from skyloop_client.messages import PointCloud
from skyloop.navigation.mapping.mapper import Mapper, MapperSettings


class MapAdapter:
    def __init__(self, setup: Any, period: float = 0.1, **settings: Any) -> None:
        self.eyes = {info.name: info for info in setup.infos.values() if info.message in ("DepthImage", "LidarScan")}
        self.pose = next(i.name for i in setup.infos.values() if i.message in ("Estimate", "VehicleState"))
        self.mapper = Mapper(self.eyes, MapperSettings(**settings))
        self.name, self.period_ns, self.told = setup.name, round(1e9 * period), -(10**18)

    def on_message(self, message: Any) -> Any:
        if message.stream == self.pose:
            s = message.data
            if not getattr(s, "valid", True):
                return None
            new = self.mapper.add_pose(s.t_ns, s.position, s.quat_wxyz)
        else:
            new = self.mapper.add_image(message.stream, message.data)
        if not new or message.arrival_ns - self.told < self.period_ns:
            return None
        self.told = message.arrival_ns
        m = self.mapper
        t_ns = m._newest[0]
        v = m.voxels.message(t_ns)
        ground = projected(v.voxels, v.origin, v.resolution, m.settings.heights)
        return [(f"{self.name}/ground", ground.message(t_ns)), (f"{self.name}/near", PointCloud(t_ns, m.near.cloud()))]
