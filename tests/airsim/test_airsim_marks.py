"""simPlot methods and traces, each seen in the picture of an external camera that looks north from behind the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, pixels, pose, vector, xyz

pytestmark = pytest.mark.renders

SETTINGS: dict[str, Any] = {
    "DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}},
    "CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "Width": 160, "Height": 120}]},
    "Vehicles": {
        "Drone1": {
            "EnableTrace": True,
            "Sensors": {
                "Down": {"SensorType": 5, "Pitch": -90, "DrawDebugPoints": True, "UncorrelatedNoiseSigma": 0},
                "Round": {"SensorType": 6, "PointsPerSecond": 4000, "DrawDebugPoints": True, "Range": 30},
                "Unseen": {"SensorType": 6, "PointsPerSecond": 4000, "VerticalFOVUpper": -60, "VerticalFOVLower": -80},
            },
        }
    },
    "ExternalCameras": {"watch": {"X": -10, "Z": -4}},
}
PURPLE = [0.75, 0.0, 0.75, 1.0]
LINE = [vector(-6.0, y, -4.0) for y in (-2.0, 2.0)]
SIX = [vector(-6.0, y, -4.0) for y in (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)]
FOCAL = 80.0
DEPTH = 4.0
"""m from the camera to the marks."""
PLOTS = {
    "simPlotPoints": lambda wide, lasts, stays: (LINE, PURPLE, wide, lasts, stays),
    "simPlotLineStrip": lambda wide, lasts, stays: (LINE, PURPLE, wide, lasts, stays),
    "simPlotLineList": lambda wide, lasts, stays: (LINE, PURPLE, wide, lasts, stays),
    "simPlotArrows": lambda wide, lasts, stays: (LINE[:1], LINE[1:], PURPLE, wide, 2.0, lasts, stays),
    "simPlotStrings": lambda wide, lasts, stays: (["here"], LINE[:1], wide, PURPLE, lasts),
    "simPlotTransforms": lambda wide, lasts, stays: ([pose(-6.0, 0.0, -4.0)], 80.0, wide, lasts, stays),
    "simPlotTransformsWithNames": lambda wide, lasts, stays: (
        [pose(-6.0, 0.0, -4.0)], ["axes"], 80.0, 5.0, wide, PURPLE, lasts,
    ),
}  # fmt: skip


def picture(rpc: Rpc, camera: str = "watch") -> np.ndarray[Any, Any]:
    request = {"camera_name": camera, "image_type": 0, "pixels_as_float": False, "compress": False}
    (answer,) = rpc("simGetImages", [request], "Drone1", camera == "watch")
    return pixels(answer)[..., ::-1]


def marked(rpc: Rpc, before: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray((picture(rpc) != before).any(axis=2))


@pytest.fixture
def bare(rpc: Rpc) -> tuple[Rpc, np.ndarray[Any, Any]]:
    rpc("simFlushPersistentMarkers")
    return rpc, picture(rpc)


@pytest.mark.parametrize("method", PLOTS)
def test_each_plot_is_seen_gets_thicker_and_is_flushed(bare: tuple[Rpc, Any], method: str) -> None:
    rpc, before = bare
    rpc(method, *PLOTS[method](6.0, -1.0, True))
    thin = marked(rpc, before)
    assert thin.any() and np.nonzero(thin)[0].mean() == pytest.approx(60.0, abs=12.0), "at the camera's height"
    rpc("simFlushPersistentMarkers")
    assert not marked(rpc, before).any()
    rpc(method, *PLOTS[method](18.0, -1.0, True))
    assert marked(rpc, before).sum() > 1.4 * thin.sum()


@pytest.mark.parametrize("method", PLOTS)
def test_each_plot_ends_with_its_time(bare: tuple[Rpc, Any], method: str) -> None:
    rpc, before = bare
    rpc(method, *PLOTS[method](6.0, 0.02, False))
    assert marked(rpc, before).any()
    rpc("simContinueForTime", 0.03)
    now = picture(rpc)
    rpc("simFlushPersistentMarkers")
    assert np.array_equal(now, picture(rpc))


def test_places_and_colours(bare: tuple[Rpc, Any]) -> None:
    rpc, before = bare
    rpc("simPlotPoints", LINE, PURPLE, 8.0, -1.0, True)
    rows, columns = np.nonzero((picture(rpc) == [191, 0, 191]).all(axis=2))
    left, right = columns[columns < 80], columns[columns > 80]
    # 2 m to either side, 4 m ahead
    assert [left.mean(), right.mean()] == pytest.approx([79.5 - 40.0, 79.5 + 40.0], abs=1.0)
    rpc("simFlushPersistentMarkers")
    # pairs of points: a line list leaves every second gap open, a strip does not
    rpc("simPlotLineList", SIX, PURPLE, 5.0, -1.0, True)
    gaps = np.asarray(marked(rpc, before).any(axis=0))
    assert gaps[45] and not gaps[65] and gaps[85]
    rpc("simPlotLineStrip", SIX, PURPLE, 5.0, -1.0, True)
    assert marked(rpc, before)[:, 65].any()
    rpc("simFlushPersistentMarkers")
    rpc("simPlotTransforms", [pose(-6.0, 0.0, -4.0)], 100.0, 5.0, -1.0, True)
    image = picture(rpc)
    rows, columns = np.nonzero((image == [0, 255, 0]).all(axis=2))
    assert columns.max() == pytest.approx(79.5 + FOCAL / DEPTH, abs=1.5), "right is green"
    rows, columns = np.nonzero((image == [0, 0, 255]).all(axis=2))
    assert rows.max() == pytest.approx(59.5 + FOCAL / DEPTH, abs=1.5), "down is blue"
    rpc("simFlushPersistentMarkers")
    heads = []
    for size in (400.0, 10_000.0):  # 20 cm, 1 m
        rpc("simPlotArrows", LINE[:1], [vector(-6.0, 1.0, -3.0)], PURPLE, 3.0, size, -1.0, True)
        heads.append(marked(rpc, before).sum())
        rpc("simFlushPersistentMarkers")
    assert heads[1] > 1.2 * heads[0]


def test_what_is_hidden_and_who_sees_none(bare: tuple[Rpc, Any]) -> None:
    rpc, before = bare
    rpc("simPlotPoints", [vector(-6.0, 0.0, 3.0)], PURPLE, 20.0, -1.0, True)
    assert not marked(rpc, before).any(), "it is under the ground"
    rpc("simSetVehiclePose", pose(-10.0, 0.0, -4.0), True, "Drone1")
    own = picture(rpc, "front_center")
    rpc("simPlotPoints", [vector(-6.0, 0.0, -4.0)], PURPLE, 20.0, -1.0, True)
    assert np.array_equal(picture(rpc, "front_center"), own), "vehicles' own cameras see the world only"


def test_what_sensors_measure_is_drawn_where_they_ask_for_it(rpc: Rpc) -> None:
    rpc("simSetVehiclePose", pose(5.0, 0.0, -3.0), True, "Drone1")
    rpc("simContinueForTime", 0.12)
    # the trace, too
    rpc("simFlushPersistentMarkers")
    rows, columns = np.nonzero((picture(rpc) == [0, 255, 0]).all(axis=2))
    assert len(rows) > 100 and rows.min() > 62, "on the ground, which begins below the middle"
    up = 0.1 - xyz(rpc("simGetVehiclePose", "Drone1")["position"])[2]
    # straight below the vehicle, 15 m ahead of the camera and 4 m below it
    gaps = np.hypot(columns - 79.5, rows - (59.5 + FOCAL * 4.0 / 15.0))
    assert gaps.min() < 2.0
    # the next ones are of the LiDAR, from 15 to 45 degrees below level
    scan = np.array(rpc("getLidarData", "Round", "Drone1")["point_cloud"]).reshape(-1, 3)
    assert np.hypot(*(scan[:, :2] - [5.0, 0.0]).T).min() > 0.9 * up


def test_traces(rpc: Rpc) -> None:
    def flown(y: float) -> np.ndarray[Any, Any]:
        for side in (-y, y):
            rpc("simSetVehiclePose", pose(-5.0, side, -4.0), True, "Drone1")
            rpc("simContinueForTime", 0.05)
        rpc("simSetVehiclePose", pose(0.0, 50.0, -4.0), True, "Drone1")
        return picture(rpc)

    image = flown(1.0)
    assert (image == [255, 0, 0]).all(axis=2).any(), "EnableTrace"
    rpc("simSetTraceLine", [0.0, 1.0, 1.0, 1.0], 4.0, "Drone1")
    rpc("simFlushPersistentMarkers")
    image = flown(1.5)
    assert (image == [0, 255, 255]).all(axis=2).any() and not (image == [255, 0, 0]).all(axis=2).any()
    rpc("simSetTraceLine", [0.0, 1.0, 1.0, 1.0], 0.0, "Drone1")
    rpc("simFlushPersistentMarkers")
    assert not (flown(1.0) == [0, 255, 255]).all(axis=2).any()
