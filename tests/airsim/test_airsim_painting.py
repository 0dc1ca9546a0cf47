"""Flight goes on while pictures are painted, unless somebody counts on time: the painter is held up by the test."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, Running, pose, running, vector, xyz

from skyloop.links.airsim.segmentation import AIRSIM_PALETTE
from skyloop.links.airsim.settings import read_settings
from skyloop.rendering.client import Renderer
from skyloop.world.views import ViewRequest
from skyloop.world.weather import Weather

pytestmark = pytest.mark.renders

SETTINGS = {
    "DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}},
    "CameraDefaults": {"CaptureSettings": [{"ImageType": k, "Width": 32, "Height": 24} for k in range(10)]},
}
ASKED = {"camera_name": "3", "image_type": 5, "pixels_as_float": False, "compress": False}
KEEP = {"is_rate": True, "yaw_or_rate": 0.0}
PATIENCE_S = 60.0


class HeldPainter:
    """Pictures are there, and nobody gets them before `go`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.go.set()
        self.asked = threading.Event()
        self.process_id = 0
        self.drawn: list[ViewRequest] = []
        """What the renderer was asked to draw."""
        answered, collect, submit = Renderer.has_answered, Renderer.collect, Renderer.submit

        def submitted(renderer: Renderer, requests: Sequence[ViewRequest], weather: Weather) -> None:
            submit(renderer, requests, weather)
            self.drawn += requests
            self.process_id = renderer.process_id
            self.asked.set()

        def collected(renderer: Renderer) -> Any:
            assert self.go.wait(PATIENCE_S)
            return collect(renderer)

        patch.setattr(Renderer, "has_answered", lambda renderer: self.go.is_set() and answered(renderer))
        patch.setattr(Renderer, "collect", collected)
        patch.setattr(Renderer, "submit", submitted)

    def hold(self) -> None:
        self.go.clear()
        self.asked.clear()


@pytest.fixture(scope="module")
def painter() -> Iterator[HeldPainter]:
    with pytest.MonkeyPatch.context() as patch:
        yield HeldPainter(patch)


def served(**options: Any) -> Any:
    read = read_settings(json.dumps(SETTINGS), world="flat")
    return running(read.scenario, replace(read.options, quality="low", **options), 4.0)


@pytest.fixture(scope="module")
def one_server(painter: HeldPainter) -> Iterator[Running]:
    with served() as built:
        yield built


@pytest.fixture
def server(one_server: Running, painter: HeldPainter) -> Iterator[Running]:
    """Its vehicle at the start, and time goes on."""
    rpc = Rpc(one_server.port)
    rpc("reset")
    rpc("simPause", False)
    rpc.close()
    yield one_server
    painter.go.set()


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def now_s(rpc: Rpc) -> float:
    return float(rpc("getMultirotorState", "")["timestamp"]) / 1e9


def airborne(rpc: Rpc) -> None:
    """Flies north, five metres up."""
    rpc("enableApiControl", True, "")
    rpc("armDisarm", True, "")
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "")
    rpc.send("moveByVelocity", 1.0, 0.0, 0.0, 1e6, 0, KEEP, "")


@pytest.mark.parametrize("paused", [False, True])
def test_types_of_one_camera_are_one_picture_with_no_more_than_they_need(
    server: Running, painter: HeldPainter, paused: bool
) -> None:
    rpc = Rpc(server.port)

    def drawn(*wanted: tuple[str, int]) -> list[tuple[bool, bool]]:
        """Colours and surfaces of what is drawn, at an instant of its own."""
        rpc("simPause", False)
        before = now_s(rpc)
        until(lambda: now_s(rpc) > before)
        rpc("simPause", paused)
        painter.drawn.clear()
        requests = [{**ASKED, "camera_name": name, "image_type": kind} for name, kind in wanted]
        assert len(rpc("simGetImages", requests, "", False)) == len(wanted)
        return [(each.colour, each.surface) for each in painter.drawn]

    assert drawn(("0", 0), ("0", 1), ("0", 5)) == [(True, True)]
    assert drawn(("0", 0)) == [(True, False)]
    assert drawn(("0", 5), ("0", 1), ("3", 2)) == [(False, True), (False, True)]
    rpc.close()


def test_flight_goes_on_and_the_picture_is_of_when_it_was_asked_for(server: Running, painter: HeldPainter) -> None:
    rpc, other = Rpc(server.port), Rpc(server.port)
    airborne(rpc)
    rpc("simGetImages", [ASKED], "", False)
    painter.hold()
    before = now_s(rpc)
    picture = rpc.send("simGetImages", [ASKED], "", False)
    assert painter.asked.wait(PATIENCE_S)
    # others are answered, and the vehicle flies on
    until(lambda: now_s(other) > before + 2.0)
    there = xyz(other("simGetVehiclePose", "")["position"])
    painter.go.set()
    (answer,) = rpc.wait(picture)
    assert before <= answer["time_stamp"] / 1e9 < before + 1.5
    assert there[0] - answer["camera_position"]["x_val"] > 0.3, "it shows where the camera was"
    rpc.close()
    other.close()


@pytest.mark.parametrize("method", ["simGetImage", "simGetDetections"])
def test_other_pictures_wait_beside_too(server: Running, painter: HeldPainter, method: str) -> None:
    rpc, other = Rpc(server.port), Rpc(server.port)
    rpc("simAddDetectionFilterMeshName", "3", 0, "Ground*", "", False)
    rpc(method, "3", 0, "", False)
    painter.hold()
    before = now_s(other)
    waits = rpc.send(method, "3", 0, "", False)
    assert painter.asked.wait(PATIENCE_S)
    until(lambda: now_s(other) > before + 1.0)
    painter.go.set()
    assert rpc.wait(waits)
    rpc.close()
    other.close()


def test_time_stands_still_where_it_is_asked_for(painter: HeldPainter) -> None:
    with served(deterministic=True) as server:
        rpc, other = Rpc(server.port), Rpc(server.port)
        rpc("simGetImages", [ASKED], "", False)
        painter.hold()
        # of another camera: a view of the same instant would not be drawn twice
        picture = rpc.send("simGetImages", [{**ASKED, "camera_name": "0"}], "", False)
        assert painter.asked.wait(PATIENCE_S)
        question = other.send("getMultirotorState", "")
        other.socket.settimeout(0.4)
        with pytest.raises(TimeoutError):
            other.wait(question)
        other.socket.settimeout(PATIENCE_S)
        painter.go.set()
        (answer,) = rpc.wait(picture)
        assert other.wait(question)["timestamp"] - answer["time_stamp"] < 0.1e9
        rpc.close()
        other.close()


def test_in_an_exact_step_pictures_are_of_the_end_of_the_step(server: Running, painter: HeldPainter) -> None:
    rpc = Rpc(server.port)
    airborne(rpc)
    rpc("simPause", True)
    for _ in range(3):
        rpc("simContinueForTime", 0.2)
        at, now = xyz(rpc("simGetVehiclePose", "")["position"]), now_s(rpc)
        (answer,) = rpc("simGetImages", [ASKED], "", False)
        assert answer["time_stamp"] / 1e9 == now
        assert xyz(answer["camera_position"]) == pytest.approx(at, abs=1e-6)
    rpc.close()


def test_things_that_are_added_meanwhile_do_not_mix_up_a_picture(server: Running) -> None:
    rpc = Rpc(server.port)
    rpc("simSetSegmentationObjectID", "ground.*", 20, True)
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "")
    ids = []
    for k in range(4):
        pictures = [rpc.send("simGetImages", [ASKED], "", False) for _ in range(3)]
        spawned = rpc.send("simSpawnObject", f"Box{k}", "Cube", pose(20.0, k, -1.0), vector(1, 1, 1), False, False)
        for number in pictures:
            (answer,) = rpc.wait(number)
            pixels = np.frombuffer(answer["image_data_uint8"], np.uint8).reshape(24, 32, 3)[..., ::-1]
            ids.append(bool((pixels[0, 0] == AIRSIM_PALETTE[20]).all()))
        assert rpc.wait(spawned) == f"Box{k}"
    # the vehicle falls meanwhile; the boxes stand where it does not look
    assert all(ids), "the corner shows the ground in every picture"
    rpc.close()


def test_a_renderer_that_dies_is_told_and_flight_goes_on(server: Running, painter: HeldPainter) -> None:
    """The last one: the server has no pictures afterwards."""
    rpc, other = Rpc(server.port), Rpc(server.port)
    rpc("simGetImages", [ASKED], "", False)
    painter.hold()
    os.kill(painter.process_id, signal.SIGSTOP)  # so that it has not answered before it dies
    picture = rpc.send("simGetImages", [ASKED], "", False)
    assert painter.asked.wait(PATIENCE_S)
    os.kill(painter.process_id, signal.SIGKILL)
    painter.go.set()
    with pytest.raises(RpcError, match="simGetImages: the renderer process ended by signal 9"):
        rpc.wait(picture)
    before = now_s(other)
    until(lambda: now_s(other) > before + 0.5)
    rpc.close()
    other.close()
