"""The meshes that the renderer draws for a view, or has for a whole world, in world axes."""

from __future__ import annotations

import numpy as np

from skyloop.core.frames import matrix_from_quat
from skyloop.rendering.buffers import pack_model
from skyloop.rendering.painter import Shot, projection
from skyloop.rendering.quality import QUALITIES
from skyloop.rendering.shadows import Culler
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model
from skyloop.world.views import ViewRequest
from skyloop_client.messages import Array


def drawn_parts(model: Model, request: ViewRequest) -> list[Mesh]:
    """One mesh per visible row, at the level of detail of the view."""
    packed = pack_model(model)
    culler = Culler(packed)
    lens, pose = request.lens, request.pose
    moving = model.motion(pose.t_ns).poses
    shot = Shot(lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy, request.quality, pose.position,
                matrix_from_quat(pose.quat_wxyz), moving, request.hidden_rows, {}, 1.0, 0.0, True, True)  # fmt: skip
    _, planes = projection(shot)
    quality = QUALITIES[request.quality]
    instances, commands = culler.visible(pose.position, planes, lens.fx, quality, moving, request.hidden_rows)
    lods = [mesh for shape in model.shapes for mesh in shape.lods]
    first_index = {int(first): k for k, first in enumerate(packed["lods"][:, 0])}
    parts = []
    for command in commands:
        mesh = lods[first_index[int(command["first"])]]
        for k in range(command["base_instance"], command["base_instance"] + command["instances"]):
            parts.append(_placed(mesh, instances["pose"][k].astype(np.float64), pose.position))
    return parts


def whole_parts(model: Model) -> list[Mesh]:
    """One mesh per row of the whole model, at full detail, at time 0."""
    poses = np.concatenate([model.standing_poses, model.motion(0).poses])
    return [_placed(model.shapes[s].lods[0], pose, np.zeros(3)) for s, pose in zip(model.row_shape, poses, strict=True)]


def _placed(mesh: Mesh, pose: Array, origin: Array) -> Mesh:
    scales = np.linalg.norm(pose[:, :3], axis=0)
    return mesh.moved(pose[:, 3] + origin, rotation=pose[:, :3] / scales, scale=scales)
