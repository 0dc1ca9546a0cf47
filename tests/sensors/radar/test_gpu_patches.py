"""The GPU's source, compiled for the processor by a C++ compiler, against the kernel: park, all paths, movers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.gpu_patches import GpuPatches
from skyloop.sensors.radar.paths import Paths
from skyloop.sensors.radar.pattern import pattern_table
from skyloop.sensors.radar.radar import Radar
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.messages import Kinematics

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler (Debian: g++)")


def processor_as_device(folder: Path) -> Any:
    """What `GpuPatches` uses of CuPy, with arrays of NumPy and kernels that g++ compiles."""

    def compiled(source: str, name: str, options: tuple[str, ...]) -> Any:
        (folder / "kernel.cpp").write_text(source)
        library = folder / "kernel.so"
        flags = ["-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, str(folder / "kernel.cpp"), "-o", str(library)], check=True)
        function = getattr(ctypes.CDLL(str(library)), name)

        def launch(blocks: tuple[int], threads: tuple[int], arrays: tuple[np.ndarray, ...]) -> None:
            assert blocks[0] * threads[0] >= len(arrays[-1]), "too few threads for the pixels"
            assert all(array.flags.c_contiguous for array in arrays)
            function(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays))

        return launch

    return SimpleNamespace(
        RawKernel=compiled, empty=np.empty, asarray=np.asarray, asnumpy=np.asarray, complex64=np.complex64,
        concatenate=np.concatenate,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> GpuPatches:
    return GpuPatches(processor_as_device(tmp_path_factory.mktemp("gpu")))


@pytest.fixture(scope="module")
def seen() -> Any:
    """A view of park from a vehicle that flies and looks down a little, and its scene."""
    vehicle = {"airframe": "iris", "position": [0.0, 0.0], "state": "truth"}
    with build(make_scenario({"seed": 2, "world": {"name": "park"}, "vehicles": [vehicle]})) as simulation:
        part: Any = simulation.parts[0]
        scene = part.scene.at(2_000_000_000, 0)
        nodding = np.array([0.994, 0.02, 0.1, 0.03])
        nodding /= np.linalg.norm(nodding)
        place, speed = np.array([-8.0, 3.0, 2.0]), np.array([3.0, 0.2, -0.1])
        kinematics = Kinematics(scene.t_ns, place, speed, nodding, *np.zeros((3, 3)))
        sensor = Radar(RadarConfig(width=160, height=120), 0.1)
        yield scene.views(sensor.requests(kinematics, ()))[0], kinematics, scene


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ground_bounce": True, "specular": True},
        {"see_through": True},
        {"classes": ["person", "tree"]},
        {"targets": [{"position": [4.0, 3.0, 2.0], "size": 1.0}], "n_rx": 1},
    ],
    ids=["plain", "bounces", "behind", "classes", "target"],
)
def test_the_same_echoes(seen: Any, finder: GpuPatches, options: dict[str, Any]) -> None:
    view, kinematics, scene = seen
    config = RadarConfig(width=160, height=120, **options)
    pattern = pattern_table(config.pattern, None)
    wanted, wanted_folded = Paths(config, pattern).echoes(view, kinematics, scene)
    got, folded = Paths(config, pattern, finder).echoes(view, kinematics, scene)
    moving = wanted.rates[:, 0] - wanted.rates[:, 0].mean()
    assert len(wanted.strengths) > 1000 and np.abs(moving).max() > 0.5
    # a place without an echo has no strength, nor have echoes where an antenna does not look
    there, real = got.strengths != 0.0, wanted.strengths != 0.0
    assert there.sum() == real.sum() > 1000
    np.testing.assert_allclose(got.half_paths[there], wanted.half_paths[real], rtol=1e-13)
    np.testing.assert_allclose(got.rates[there], wanted.rates[real], rtol=1e-11, atol=1e-12)
    # a phase that fell into another grain would be off by as much as the strength itself
    np.testing.assert_allclose(got.strengths[there], wanted.strengths[real], rtol=1e-5, atol=0.0)
    assert folded == pytest.approx(wanted_folded, rel=1e-9)
