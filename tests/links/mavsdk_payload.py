"""What MAVSDK asks of cameras, gimbals, orbits, follow-me, failures, logs and files; prints what it saw as JSON."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from mavsdk.plugins.action import Action, OrbitYawBehavior
from mavsdk.plugins.camera import Camera, Mode
from mavsdk.plugins.failure import Failure, FailureType, FailureUnit
from mavsdk.plugins.follow_me import Config, FollowMe, FollowMeError, TargetLocation
from mavsdk.plugins.ftp import Ftp
from mavsdk.plugins.gimbal import ControlMode, Gimbal, GimbalMode, SendMode
from mavsdk.plugins.log_files import LogFiles
from mavsdk.plugins.mission import Mission, MissionError, MissionItem, MissionPlan
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import Telemetry
from mavsdk_flight import PATIENCE_S, connected, found, place, take_off, until


def camera(system: Any) -> None:
    plugin = Camera(system)
    until(lambda: bool(plugin.camera_list().cameras), "a camera")
    first = plugin.camera_list().cameras[0]
    found["camera"] = [first.vendor_name, first.horizontal_resolution_px, first.vertical_resolution_px]
    taken: list[Any] = []
    plugin.subscribe_capture_info(lambda info, _: taken.append(info))
    plugin.set_mode(first.component_id, Mode.PHOTO)
    plugin.take_photo(first.component_id)
    until(lambda: bool(taken), "a picture")
    found["picture"] = [taken[0].index, taken[0].is_success, taken[0].file_url]
    until(lambda: plugin.get_video_stream_info(first.component_id).settings.uri != "", "a video stream")
    found["video"] = plugin.get_video_stream_info(first.component_id).settings.uri


def gimbal(system: Any) -> None:
    plugin = Gimbal(system)
    until(lambda: bool(plugin.gimbal_list().gimbals), "a gimbal")
    number = plugin.gimbal_list().gimbals[0].gimbal_id
    plugin.take_control(number, ControlMode.PRIMARY)
    plugin.set_angles(number, 0.0, -60.0, 25.0, GimbalMode.YAW_FOLLOW, SendMode.ONCE)
    until(lambda: abs(plugin.get_attitude(number).euler_angle_forward.pitch_deg + 60.0) < 1.0, "turned")
    found["gimbal_yaw"] = plugin.get_attitude(number).euler_angle_forward.yaw_deg
    plugin.release_control(number)


def orbit(action: Action, telemetry: Telemetry) -> None:
    home = telemetry.home()
    action.do_orbit(
        6.0, 2.0, OrbitYawBehavior.HOLD_FRONT_TO_CIRCLE_CENTER, home.latitude_deg, home.longitude_deg,
        home.absolute_altitude_m + 5.0,
    )  # fmt: skip
    until(lambda: abs((place(telemetry)[0] ** 2 + place(telemetry)[1] ** 2) ** 0.5 - 6.0) < 0.5, "on the circle")
    start = place(telemetry)
    until(lambda: place(telemetry)[0] * start[0] + place(telemetry)[1] * start[1] < 0.0, "a quarter round")
    found["orbit_height"] = -place(telemetry)[2]


def follow(system: Any, telemetry: Telemetry) -> None:
    home, plugin = telemetry.home(), FollowMe(system)
    above_target = Config.FollowAltitudeMode.TARGET_GPS
    plugin.set_config(Config(8.0, 4.0, 0.1, above_target, 5.0, 180.0))
    plugin.start()
    target = TargetLocation(home.latitude_deg + 2e-4, home.longitude_deg, home.absolute_altitude_m, 0.0, 0.0, 0.0)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and abs(place(telemetry)[0] - (22.2 - 4.0)) > 2.0:
        # MAVSDK takes the camera's heartbeat for the vehicle's: as it shows no mode, the mode seems to have ended
        with suppress(FollowMeError):
            plugin.set_target_location(target)
        time.sleep(0.1)
    found["follow"] = [telemetry.flight_mode().name, place(telemetry)]
    plugin.stop()


def files(system: Any, folder: Path) -> None:
    logs = LogFiles(system)
    entries = logs.get_entries()
    done: list[Any] = []
    logs.download_log_file_async(entries[0], str(folder / "log.ulg"), lambda result, *_: done.append(result))
    until(lambda: any(result.name == "SUCCESS" for result in done), "a log")
    found["log"] = [len(entries), (folder / "log.ulg").stat().st_size, entries[0].size_bytes]
    ftp = Ftp(system)
    found["files"] = sorted(entry.name for entry in getattr(ftp.list_directory("/"), "entries", []))
    done.clear()
    (folder / "got").mkdir()
    ftp.download_async("/log/drone-001.ulg", str(folder / "got"), True, lambda result, *_: done.append(result))
    until(lambda: any(result.name == "SUCCESS" for result in done), "a file")
    found["same"] = (folder / "got" / "drone-001.ulg").read_bytes() == (folder / "log.ulg").read_bytes()


def main(address: str, folder: str) -> None:
    system = connected(address)
    telemetry, action = Telemetry(system), Action(system)
    until(telemetry.health_all_ok, "healthy")
    try:
        Mission(system).upload_mission(MissionPlan([MissionItem(47.39804, 8.54557, 25.0, 10.0, True)]))
    except MissionError as error:
        found["far"] = str(error)
    camera(system)
    gimbal(system)
    take_off(action, telemetry)
    orbit(action, telemetry)
    follow(system, telemetry)
    Param(system).set_param_int("SYS_FAILURE_EN", 1)
    Failure(system).inject(FailureUnit.SENSOR_GPS, FailureType.OFF, 0)
    until(lambda: telemetry.gps_info().fix_type.name in ("NO_GPS", "NO_FIX"), "without a fix")
    found["fix"] = telemetry.gps_info().fix_type.name
    action.return_to_launch()
    until(lambda: not telemetry.armed(), "disarmed")
    found["end"] = place(telemetry)
    files(system, Path(folder))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
    print(json.dumps(found))
