"""What scripts written for Unreal's Blocks count on: names, shapes, heights, marks and the projection matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from airsim_bench import Bench
from airsim_rpc import pose, vector, xyz
from scipy.spatial.transform import Rotation

WIDTH, HEIGHT = 320, 200
SETTINGS: dict[str, Any] = {
    "CameraDefaults": {
        "CaptureSettings": [{"ImageType": k, "Width": WIDTH, "Height": HEIGHT, "FOV_Degrees": 70} for k in range(8)]
    },
    "ExternalCameras": {"watch": {"X": -3, "Y": 0, "Z": -2}},
}
ONE = vector(1.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    built = Bench(SETTINGS)
    built.sim.run_for(0.5)
    yield built
    built.close()


# ---- names and shapes


def test_names_of_blocks(bench: Bench) -> None:
    names = bench("simListSceneObjects", ".*")
    for wanted in ("OrangeBall", "PulsingCone", "Ground", "Cylinder3"):
        assert wanted in names
        assert not math.isnan(bench("simGetObjectPose", wanted)["position"]["x_val"])
    assert len(bench("simListSceneObjects", "Cylinder.*")) >= 3
    assert len(bench("simListSceneObjects", "TemplateCube.*")) == 40
    assert bench("simSetSegmentationObjectID", "ground[\\w]*", 21, True) is True
    assert bench("simSetSegmentationObjectID", "Ground", 20, False) is True
    # the world's own names go on to be understood
    assert bench("simGetObjectPose", "block 3") == bench("simGetObjectPose", "TemplateCube_Rounded_3")
    assert bench("simGetObjectPose", "block_3") == bench("simGetObjectPose", "TemplateCube_Rounded_3")
    assert bench("simListSceneObjects", "terrain") == ["Ground"]


@pytest.mark.renders
def test_the_ball_moves_and_cylinders_are_detected(bench: Bench) -> None:
    before = bench("simGetObjectPose", "OrangeBall")
    assert bench("simSetObjectPose", "OrangeBall", pose(6.0, 0.0, -1.0), True) is True
    try:
        assert xyz(bench("simGetObjectPose", "OrangeBall")["position"]) == pytest.approx([6.0, 0.0, -1.0])
    finally:
        bench("simSetObjectPose", "OrangeBall", before, True)
    bench("simSetDetectionFilterRadius", "0", 0, 200 * 100, "", False)
    bench("simAddDetectionFilterMeshName", "0", 0, "Cylinder*", "", False)
    found = bench("simGetDetections", "0", 0, "", False)
    assert found, "some of them stand where the vehicle looks at the start"
    assert all(info["name"].startswith("Cylinder") for info in found)


@pytest.mark.renders
def test_the_cube_of_the_templates_can_be_spawned(bench: Bench) -> None:
    assert "1M_Cube_Chamfer" in bench("simListAssets")
    name = bench("simSpawnObject", "1M_Cube_Chamfer_spawn_7", "1M_Cube_Chamfer", pose(5.0, 0.0, -1.0), ONE, True, False)
    try:
        assert name == "1M_Cube_Chamfer_spawn_7" and name in bench("simListSceneObjects")
        view = instances(bench)
        assert (view == number_of(bench, name)).sum() > 500
        corners = bench.sim.editor.box_of(number_of(bench, name))
        assert np.ptp(corners, axis=0) == pytest.approx([1.0, 1.0, 1.0])
    finally:
        assert bench("simDestroyObject", name) is True


def number_of(bench: Bench, name: str) -> int:
    return bench.sim.editor.things()[name]


def owner_of(bench: Bench, method: str) -> Any:
    """The object a method of the server belongs to."""
    function: Any = bench.server.methods.find(method).function
    return function.__self__


def instances(bench: Bench, camera: str = "0") -> np.ndarray[Any, Any]:
    """By pixel, of a camera."""
    cameras = owner_of(bench, "simGetCameraInfo")._cameras
    seen: list[Any] = []
    cameras.take([(cameras.find(camera, "", camera == "watch"), 5)], seen.extend, pytest.fail)
    (view,) = seen
    return np.asarray(view.instances)


# ---- the projection matrix


def projected(info: dict[str, Any], point: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Column and row of a point in NED, as scripts work them out with the matrix of simGetCameraInfo."""
    turn = Rotation.from_quat(list(info["pose"]["orientation"].values()), scalar_first=True).as_matrix()
    local = turn.T @ (point - xyz(info["pose"]["position"]))
    clip = np.array(info["proj_mat"]["matrix"]) @ [*local, 1.0]
    ndc = clip[:2] / clip[3]
    # Unreal's w is negative ahead, so both signs are turned
    return np.array([0.5 * WIDTH * (1.0 - ndc[0]), 0.5 * HEIGHT * (1.0 + ndc[1])])


@pytest.mark.parametrize("place", [(6.0, 0.0, -1.0), (8.0, 3.0, -2.5), (7.0, -2.0, -0.4)])
@pytest.mark.parametrize("camera", ["0", "watch"])
@pytest.mark.renders
def test_objects_are_where_the_matrix_says(bench: Bench, place: tuple[float, float, float], camera: str) -> None:
    name = bench("simSpawnObject", "Target", "Sphere", pose(*place), vector(0.5, 0.5, 0.5), False, False)
    try:
        info = bench("simGetCameraInfo", camera, "", camera == "watch")
        rows, columns = np.nonzero(instances(bench, camera) == number_of(bench, name))
        assert len(rows) > 50
        seen = np.array([columns.mean() + 0.5, rows.mean() + 0.5])
        assert projected(info, np.array(place)) == pytest.approx(seen, abs=1.5)
    finally:
        bench("simDestroyObject", name)


# ---- one height


@pytest.mark.parametrize(
    ("settings", "height"),
    [
        ({"SimMode": "Multirotor"}, 0.0),
        ({"SimMode": "ComputerVision"}, 0.0),
        ({"SimMode": "ComputerVision", "Vehicles": {"Eye": {"X": 1, "Y": 2, "Z": -3}}}, -3.0),
        ({"Vehicles": {"Drone1": {"VehicleType": "SimpleFlight", "X": 1, "Y": 2, "Z": -4}}}, -4.0),
    ],
)
def test_a_vehicle_is_at_one_height_as_a_vehicle_and_as_an_object(settings: dict[str, Any], height: float) -> None:
    bench = Bench(settings, world="flat")
    try:
        name = bench("listVehicles")[0]
        start = xyz(bench("simGetObjectPose", name)["position"])
        assert start[2] == pytest.approx(height, abs=1e-3)
        assert xyz(bench("simGetVehiclePose", "")["position"]) == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
        # put somewhere as an object, it is there as a vehicle
        bench("simSetObjectPose", name, pose(start[0] + 2.0, start[1], height - 5.0), True)
        assert xyz(bench("simGetVehiclePose", "")["position"]) == pytest.approx([2.0, 0.0, -5.0], abs=1e-6)
        # and an object put where a vehicle is told to be, is there
        there = bench("simGetObjectPose", name)
        thing = bench("simSpawnObject", "Thing", "Cube", there, ONE, False, False)
        assert bench.sim.editor.place_of(number_of(bench, thing))[0] == pytest.approx(
            bench.server.state.vehicle("").truth.position
        )
    finally:
        bench.close()


# ---- marks


@pytest.mark.parametrize(("size", "reach"), [(2.0, 0.01414), (100.0, 0.1), (0.0, 0.0316)])
def test_arrow_heads_are_as_large_as_unreal_s(bench: Bench, size: float, reach: float) -> None:
    bench("simFlushPersistentMarkers")
    bench("simPlotArrows", [vector(0, 0, -1)], [vector(4, 3, -1)], [1, 0, 0, 1], 5.0, size, -1.0, True)
    marks = owner_of(bench, "simPlotArrows")._own.marks
    shaft, *heads = marks
    assert len(heads) == 2 and np.linalg.norm(shaft.end - shaft.start) == pytest.approx(5.0)
    ahead = (shaft.end - shaft.start) / 5.0
    for head in heads:
        line = head.end - shaft.end
        assert -line @ ahead == pytest.approx(reach, rel=1e-2)
        assert np.linalg.norm(line + reach * ahead) == pytest.approx(reach, rel=1e-2)
    bench("simFlushPersistentMarkers")
