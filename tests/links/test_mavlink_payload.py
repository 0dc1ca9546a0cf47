"""Cameras and gimbals over MAVLink: what they say of themselves, the pictures they take, where they look."""

from __future__ import annotations

import io
import math
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mavlink_setup import PLAIN
from PIL import Image
from pymavlink.dialects.v20 import common as mavlink
from test_mavlink_flight import ARM, START, TAKEOFF, WAYPOINT, Flight, Listener
from test_mavlink_port import take_off

import skyloop
from skyloop.core.frames import rotate
from skyloop.links.mavlink.vehicle import MavlinkVehicle
from skyloop.links.mavlink.video import VideoServer
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkError

pytestmark = pytest.mark.renders

CAMERA, AUTOPILOT = 100, 1
REQUEST, MODE, CAPTURE, STOP = 512, 530, 2000, 2001
PITCHYAW, CONFIGURE, LOOK_AT, LOOK_AHEAD = 1000, 1001, 195, 197
SMALL = {"kind": "camera", "rate_hz": 10, "width": 64, "height": 48}
SENSORS = {
    "front": {**SMALL, "gimbal": "roll-pitch", "truth": ["depth"]},
    "down": {**SMALL, "mount": {"rotation_deg": [0, 90, 0]}},
}


class Station(Listener):
    """A ground station that knows which component spoke."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: dict[tuple[int, str], list[Any]] = {}

    def send(self, message: Any, component: int = AUTOPILOT) -> None:
        super().send(message, component)
        self.arrived.setdefault((component, message.get_type()), []).append(message)

    def ask(self, vehicle: MavlinkVehicle, component: int, number: int, *params: float) -> int:
        filled = [*params, *[0.0] * (7 - len(params))]
        self.say(vehicle, mavlink.MAVLink_command_long_message(1, component, number, 0, *filled))
        return int(self.arrived[component, "COMMAND_ACK"][-1].result)


class Photographed(Flight):
    def __init__(self, simulation: Simulation, folder: Path) -> None:
        self.station = Station()
        super().__init__(simulation, folder, self.station)

    def ask(self, component: int, number: int, *params: float) -> int:
        return self.station.ask(self.vehicle, component, number, *params)

    def reported(self, component: int, kind: str) -> Any:
        """The last message of a kind, waited for."""
        self.until(lambda: (component, kind) in self.station.arrived, longest=10.0)
        return self.station.arrived[component, kind][-1]

    def looks(self) -> Any:
        """Pitch upwards and heading of the first camera's next picture, in degrees, from its truth."""
        self.simulation.run_for(0.25)
        ahead = rotate(self.simulation.latest("truth/drone/front").quat_wxyz, np.array([0.0, 0.0, 1.0]))
        return math.degrees(math.asin(ahead[2])), math.degrees(math.atan2(ahead[0], ahead[1])) % 360.0


@pytest.fixture(scope="module")
def begun() -> Iterator[tuple[Simulation, Any]]:
    """A simulation, because a renderer takes seconds to start, and how it was at its beginning."""
    vehicle = {**PLAIN["vehicles"][0], "sensors": SENSORS}  # type: ignore[index]
    with skyloop.build(skyloop.make_scenario({**PLAIN, "vehicles": [vehicle]})) as simulation:
        simulation.run_for(0.2)
        yield simulation, simulation.snapshot()


@pytest.fixture
def flown(begun: tuple[Simulation, Any], tmp_path: Path) -> Iterator[Photographed]:
    simulation, start = begun
    simulation.restore(start)
    built = Photographed(simulation, tmp_path)
    yield built
    built.vehicle.log.close()


def test_each_camera_is_a_component_that_tells_what_it_is(flown: Photographed) -> None:
    flown.until(lambda: (CAMERA + 1, "HEARTBEAT") in flown.station.arrived)
    assert flown.reported(CAMERA, "HEARTBEAT").type == mavlink.MAV_TYPE_CAMERA
    for kind in ("CAMERA_INFORMATION", "CAMERA_SETTINGS", "STORAGE_INFORMATION", "CAMERA_CAPTURE_STATUS"):
        assert flown.ask(CAMERA, REQUEST, getattr(mavlink, f"MAVLINK_MSG_ID_{kind}")) == 0
        assert flown.reported(CAMERA, kind)
    first = flown.reported(CAMERA, "CAMERA_INFORMATION")
    assert (first.resolution_h, first.resolution_v, first.gimbal_device_id) == (64, 48, 1)
    assert first.flags & mavlink.CAMERA_CAP_FLAGS_CAPTURE_IMAGE
    assert not first.flags & mavlink.CAMERA_CAP_FLAGS_HAS_VIDEO_STREAM  # nobody serves it here
    assert flown.ask(CAMERA + 1, 521) == 0  # the old way
    assert flown.reported(CAMERA + 1, "CAMERA_INFORMATION").gimbal_device_id == 0
    assert flown.ask(CAMERA, REQUEST, mavlink.MAVLINK_MSG_ID_VIDEO_STREAM_INFORMATION) == 3
    assert flown.ask(CAMERA, MODE, 0, 1) == 0 and flown.reported(CAMERA, "CAMERA_SETTINGS").mode_id == 1
    assert flown.ask(CAMERA, MODE, 0, 9) == 2
    assert flown.ask(CAMERA, 2500) == 3  # video is not recorded
    assert flown.reported(CAMERA, "CAMERA_CAPTURE_STATUS").image_count == 0


def test_pictures_are_kept_and_told_of(flown: Photographed, tmp_path: Path) -> None:
    assert flown.ask(CAMERA, CAPTURE, 0, 0, 1) == 0
    flown.until(lambda: (CAMERA, "CAMERA_IMAGE_CAPTURED") in flown.station.arrived, longest=1.0)
    reported = flown.reported(CAMERA, "CAMERA_IMAGE_CAPTURED")
    path = tmp_path / reported.file_url
    assert (reported.image_index, reported.capture_result, path.name) == (0, 1, "00001.png")
    np.testing.assert_array_equal(np.array(Image.open(path)), flown.simulation.latest("drone/front").colour)
    # three more, half a second apart
    assert flown.ask(CAMERA, CAPTURE, 0, 0.5, 3) == 0
    began = flown.simulation.now
    flown.until(lambda: len(flown.station.arrived[CAMERA, "CAMERA_IMAGE_CAPTURED"]) == 4)
    assert flown.simulation.now - began == pytest.approx(1.1, abs=0.15)
    # and until it is told to stop
    assert flown.ask(CAMERA, CAPTURE, 0, 0.2, 0) == 0
    flown.until(lambda: len(flown.station.arrived[CAMERA, "CAMERA_IMAGE_CAPTURED"]) == 8)
    assert flown.ask(CAMERA, STOP) == 0
    flown.simulation.run_for(1.0)
    assert len(list(path.parent.iterdir())) == 8
    assert flown.ask(CAMERA, REQUEST, mavlink.MAVLINK_MSG_ID_CAMERA_IMAGE_CAPTURED, 2) == 0
    assert flown.reported(CAMERA, "CAMERA_IMAGE_CAPTURED").image_index == 2
    assert flown.ask(CAMERA, REQUEST, mavlink.MAVLINK_MSG_ID_CAMERA_IMAGE_CAPTURED, 77) == 2
    # a command to the autopilot is for the first camera
    assert flown.ask(AUTOPILOT, CAPTURE, 0, 0, 1) == 0
    flown.until(lambda: len(list(path.parent.iterdir())) == 9)


def test_without_a_folder_no_picture_is_promised(flown: Photographed) -> None:
    bare = MavlinkVehicle(flown.system)
    assert not bare.payload.cameras[CAMERA]._information().flags & mavlink.CAMERA_CAP_FLAGS_CAPTURE_IMAGE
    assert flown.station.ask(bare, CAMERA, CAPTURE, 0, 0, 1) == 2


def test_a_gimbal_turns_its_camera(flown: Photographed) -> None:
    assert flown.looks() == pytest.approx((0.0, 60.0), abs=0.1)
    for kind in ("GIMBAL_MANAGER_INFORMATION", "GIMBAL_DEVICE_INFORMATION", "GIMBAL_MANAGER_STATUS"):
        assert flown.ask(AUTOPILOT, REQUEST, getattr(mavlink, f"MAVLINK_MSG_ID_{kind}")) == 0
        assert flown.reported(AUTOPILOT, kind).gimbal_device_id == 1
    assert flown.ask(AUTOPILOT, PITCHYAW, -30, 20, math.nan, math.nan, 0, 0, 1) == 0
    assert flown.looks() == pytest.approx((-30.0, 80.0), abs=0.1)
    # locked: 90° is east, whatever the vehicle's heading
    assert flown.ask(AUTOPILOT, PITCHYAW, -90, 90, math.nan, math.nan, 16, 0, 0) == 0
    assert flown.looks()[0] == pytest.approx(-90.0, abs=0.1)
    assert flown.ask(AUTOPILOT, PITCHYAW, -10, 90, math.nan, math.nan, 16, 0, 0) == 0
    assert flown.looks() == pytest.approx((-10.0, 90.0), abs=0.1)
    flown.until(lambda: flown.reported(AUTOPILOT, "GIMBAL_DEVICE_ATTITUDE_STATUS").flags & 16)
    w, x, y, z = flown.reported(AUTOPILOT, "GIMBAL_DEVICE_ATTITUDE_STATUS").q
    assert math.degrees(math.asin(2 * (w * y - z * x))) == pytest.approx(-10.0, abs=0.1)
    assert math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) == pytest.approx(90.0, abs=0.1)
    # 5 degrees a second upwards, by message
    flown.station.say(
        flown.vehicle,
        mavlink.MAVLink_gimbal_manager_set_pitchyaw_message(1, 1, 16, 1, math.nan, math.nan, math.radians(5), 0.0),
    )
    began = flown.simulation.now
    flown.until(lambda: flown.simulation.now >= began + 2.0)
    assert flown.looks()[0] == pytest.approx(0.0, abs=0.3)


def test_a_gimbal_follows_a_place_and_is_in_one_hand(flown: Photographed) -> None:
    take_off(flown)
    east = flown.system.geography.global_int([20.0, 0.0, 0.0])
    assert flown.ask(AUTOPILOT, CONFIGURE, -2, -2, -1, -1, 0, 0, 1) == 0
    status = flown.reported(AUTOPILOT, "GIMBAL_MANAGER_STATUS")
    assert (status.primary_control_sysid, status.primary_control_compid) == (255, 190)
    flown.station.say(
        flown.vehicle, mavlink.MAVLink_command_int_message(1, 1, 0, LOOK_AT, 0, 0, 0, 0, 0, 0, *east[:2], east[2])
    )
    flown.until(lambda: flown.simulation.now > 8.0)
    place = flown.simulation.truth().position
    pitch, heading = flown.looks()
    assert pitch == pytest.approx(-math.degrees(math.atan2(place[2], 20.0 - place[0])), abs=1.0)
    assert heading == pytest.approx(90.0, abs=1.0)
    flown.vehicle.payload.gimbals.devices[0].primary = (7, 1)
    assert flown.ask(AUTOPILOT, PITCHYAW, 0, 0, 0, 0, 0, 0, 1) == 2
    assert "control of system 7" in "".join(flown.texts)
    assert flown.ask(AUTOPILOT, CONFIGURE, -3, -3, -1, -1, 0, 0, 1) == 0
    assert flown.ask(AUTOPILOT, LOOK_AHEAD) == 0
    pitch, yaw = flown.looks()
    assert pitch == pytest.approx(0.0, abs=0.5) and yaw == pytest.approx(60.0, abs=2.0)


def test_where_it_looks_is_in_a_snapshot(flown: Photographed) -> None:
    flown.ask(AUTOPILOT, PITCHYAW, -40, 0, math.nan, math.nan, 0, 0, 1)
    saved = flown.simulation.snapshot()
    flown.ask(AUTOPILOT, PITCHYAW, 15, 0, math.nan, math.nan, 0, 0, 1)
    assert flown.looks()[0] == pytest.approx(15.0, abs=0.1)
    flown.simulation.restore(saved)
    assert flown.looks()[0] == pytest.approx(-40.0, abs=0.1)


def test_a_mission_turns_the_gimbal_and_takes_pictures(flown: Photographed, tmp_path: Path) -> None:
    flown.upload(
        (TAKEOFF, (0, 0, 3.0), ()),
        (205, (0.0, 0.0, 2.0), (-45.0, 0.0, 0.0)),  # DO_MOUNT_CONTROL, with 2 as its mode
        (CAPTURE, None, (0, 0, 1)),
        (WAYPOINT, (5.0, 0, 3.0), (0, 1.0)),
        (93, None, (1.0,)),
    )
    flown.command(ARM, 1)
    flown.command(START)
    flown.until(lambda: flown.vehicle.modes.flight.complete)
    assert flown.looks()[0] == pytest.approx(-45.0, abs=1.0)
    assert len(list((tmp_path / "captures").rglob("*.png"))) == 1
    assert not any("passed over" in text for text in flown.texts)


def test_pictures_can_be_watched(flown: Photographed) -> None:
    server = VideoServer("127.0.0.1", 0, ["drone/front"], flown.simulation.bus)
    try:
        flown.vehicle.payload.cameras[CAMERA].video_uri = server.uri("drone/front")
        assert flown.ask(CAMERA, REQUEST, mavlink.MAVLINK_MSG_ID_VIDEO_STREAM_INFORMATION) == 0
        reported = flown.reported(CAMERA, "VIDEO_STREAM_INFORMATION")
        assert (reported.resolution_h, reported.resolution_v, reported.framerate, reported.hfov) == (64, 48, 10.0, 90)
        with urllib.request.urlopen(reported.uri, timeout=10) as watched:
            for _ in range(3):
                flown.simulation.run_for(0.1)
                head: dict[str, str] = {}
                while (line := watched.readline().strip()) != b"" or not head:
                    name, _, value = line.decode().partition(": ")
                    head[name] = value
                picture = Image.open(io.BytesIO(watched.read(int(head["Content-Length"]))))
                assert picture.size == (64, 48)
        for address, status in ((server.uri("drone/none"), "404"), (reported.uri.partition("?")[0], "401")):
            with pytest.raises(urllib.error.HTTPError, match=status):
                urllib.request.urlopen(address, timeout=10)
        with pytest.raises(LinkError, match="for video"):
            VideoServer("127.0.0.1", server.port, [], flown.simulation.bus)
    finally:
        server.close()
