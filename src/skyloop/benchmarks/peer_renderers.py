"""Times PyBullet and MuJoCo drawing given meshes; run as `python -m skyloop.benchmarks.peer_renderers`.

Arguments: pybullet or mujoco, a folder with 0.obj ... , their number, the camera's x,y,z and w,x,y,z (right, down,
forward axes), and the number of images. Prints images per second, each of colour, depth and segmentation at 320x240,
90°."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from skyloop.core.frames import matrix_from_quat

WIDTH, HEIGHT = 320, 240
VERTICAL_FOV_DEG = float(np.degrees(2.0 * np.arctan(HEIGHT / WIDTH)))
NEAR, FAR = 0.05, 1000.0


def pybullet_rate(folder: Path, n: int, eye: np.ndarray, rotation: np.ndarray, images: int) -> float:
    import pybullet as p

    p.connect(p.DIRECT)
    for number in range(n):
        shape = p.createVisualShape(p.GEOM_MESH, fileName=str(folder / f"{number}.obj"))
        p.createMultiBody(0, -1, shape)
    view = p.computeViewMatrix(eye, eye + rotation[:, 2], -rotation[:, 1])
    projection = p.computeProjectionMatrixFOV(VERTICAL_FOV_DEG, WIDTH / HEIGHT, NEAR, FAR)

    def take() -> None:
        p.getCameraImage(WIDTH, HEIGHT, view, projection, shadow=0, renderer=p.ER_TINY_RENDERER)

    return _rate(take, images)


def mujoco_rate(folder: Path, n: int, eye: np.ndarray, rotation: np.ndarray, images: int) -> float:
    os.environ["MUJOCO_GL"] = "egl"
    import mujoco

    x, y = rotation[:, 0], -rotation[:, 1]
    axes = " ".join(f"{value:.9f}" for value in (*x, *y))
    meshes = "".join(f'<mesh name="m{k}" file="{folder / f"{k}.obj"}" inertia="shell"/>' for k in range(n))
    geoms = "".join(f'<geom type="mesh" mesh="m{k}" contype="0" conaffinity="0"/>' for k in range(n))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><visual><map znear="0.0005" zfar="10"/><quality shadowsize="0"/></visual><asset>{meshes}</asset>'
        f'<worldbody><light pos="0 0 50" castshadow="false"/>{geoms}'
        f'<camera name="c" pos="{eye[0]} {eye[1]} {eye[2]}" xyaxes="{axes}" fovy="{VERTICAL_FOV_DEG}"/>'
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = mujoco.Renderer(model, HEIGHT, WIDTH, max_geom=n + 100)

    def take() -> None:
        renderer.update_scene(data, "c")
        renderer.render()
        renderer.enable_depth_rendering()
        renderer.render()
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        renderer.render()
        renderer.disable_segmentation_rendering()

    return _rate(take, images)


def _rate(take, images: int) -> float:  # type: ignore[no-untyped-def]
    take()
    began = time.perf_counter()
    for _ in range(images):
        take()
    return images / (time.perf_counter() - began)


def main() -> None:
    peer, folder, n, position, quat, images = sys.argv[1:7]
    eye = np.array([float(value) for value in position.split(",")])
    rotation = matrix_from_quat([float(value) for value in quat.split(",")])
    measured = {"pybullet": pybullet_rate, "mujoco": mujoco_rate}[peer](
        Path(folder), int(n), eye, rotation, int(images)
    )
    print(measured)


if __name__ == "__main__":
    main()
