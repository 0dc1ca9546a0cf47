"""AirSim's session methods: versions, pause, exact time steps, reset, settings, and recording to a table and images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from skyloop.links.airsim.calls import Reply
from skyloop.links.airsim.images import ImageTaker
from skyloop.links.airsim.options import RecordedCamera
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map, geo_point, number_of
from skyloop.links.airsim.wire import Dialect
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.streams import NS_PER_S

SERVER_VERSION = 4
"""Version of Cosys-AirSim, the newest dialect. Older clients ask for at least 1."""
MIN_CLIENT_VERSION = 1
LONGEST_NAME = 100
FRAMES_PER_S = 60
"""Frame rate for simContinueForFrames. Skyloop renders on request, so here a frame is a span of time."""


class SessionMethods:
    def __init__(self, server: ServerState, load_level: Callable[[str], None]) -> None:
        """`load_level` builds the world of a name, or raises what forbids it."""
        self._server, self._load_level = server, load_level

    def ping(self) -> bool:
        return True

    def getServerVersion(self) -> int:
        return SERVER_VERSION

    def getMinRequiredClientVersion(self) -> int:
        return MIN_CLIENT_VERSION

    def getSettingsString(self) -> str:
        return self._server.options.settings

    def listVehicles(self) -> list[str]:
        return list(self._server.vehicles)

    def getHomeGeoPoint(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        return geo_point(self._server.local_frame.geodetic_from_enu(vehicle.start.position))

    def reset(self) -> None:
        """Every vehicle returns to its initial state. Time and everything else continue."""
        for vehicle in self._server.vehicles.values():
            vehicle.begin_again()
        self._server.forget_forces()

    def simLoadLevel(self, reply: Reply, level_name: str) -> None:
        """Everything begins again in another world, and the answer comes then. If it cannot, nothing changes."""
        self._load_level(str(level_name)[:LONGEST_NAME])
        self._server.level_asked.append(reply)

    # ---- time

    def simPause(self, is_paused: bool) -> None:
        self._server.time.pause(bool(is_paused))

    def simIsPaused(self) -> bool:
        return self._server.time.is_paused

    def simContinueForTime(self, reply: Reply, seconds: float) -> None:
        """The answer comes when simulated time has paused again, exactly so many seconds later."""
        self._server.time.continue_for(round(_positive(seconds) * NS_PER_S), reply)

    def simContinueForFrames(self, reply: Reply, frames: int) -> None:
        self._server.time.continue_for(int(_positive(frames)) * NS_PER_S // FRAMES_PER_S, reply)

    def simPrintLogMessage(self, message: str, message_param: str = "", severity: int = 0) -> None:
        self._server.note(f"{message}{message_param}")


def _positive(value: object) -> float:
    number = number_of(value)
    if not 0.0 < number <= 1e6:
        raise LinkError(f"{value} is out of range; give more than 0")
    return number


# ---- recording


COLUMNS = ("VehicleName", "TimeStamp", "POS_X", "POS_Y", "POS_Z", "Q_W", "Q_X", "Q_Y", "Q_Z", "ImageFile")
MOVED_M = 1e-3
ENDINGS = {True: "png", False: "ppm"}


class AirSimRecording:
    def __init__(self, server: ServerState, images: ImageTaker) -> None:
        self._server, self._images = server, images
        self._table: IO[str] | None = None
        self._next_ns = 0
        self._before: dict[str, NDArray[np.float64]] = {}
        server.every_tick.append(self._tick)
        if server.options.recording.enabled:
            self.startRecording()

    def startRecording(self) -> None:
        if self._table is not None:
            return
        self._folder = self._new_folder()
        (self._folder / "images").mkdir(parents=True)
        self._table = (self._folder / "airsim_rec.txt").open("w", encoding="utf-8")
        self._table.write("\t".join(COLUMNS) + "\n")
        self._next_ns = self._server.now_ns
        self._before.clear()
        self._server.note(f"recording to {self._folder}")

    def stopRecording(self) -> None:
        if self._table is not None:
            self._table.close()
            self._table = None

    def isRecording(self) -> bool:
        return self._table is not None

    def _new_folder(self) -> Path:
        parent = self._server.options.recording.folder or Path("airsim-recordings")
        for number in range(1, 10_000):
            folder = parent / f"{number:04d}"
            if not folder.exists():
                return folder
        raise LinkError(f"'{parent}' is full; move recordings away")

    def _tick(self, t_ns: int) -> None:
        if self._table is None or t_ns < self._next_ns:
            return
        try:
            self._record(self._table, t_ns)
        except (OSError, SkyloopError) as error:
            self._end(str(error))

    def _end(self, why: str) -> None:
        self.stopRecording()
        self._server.note(f"recording ends: {why}")

    def _record(self, table: IO[str], t_ns: int) -> None:
        options = self._server.options.recording
        self._next_ns = t_ns + round(options.interval * NS_PER_S)
        for name, vehicle in self._server.vehicles.items():
            position = np.array(vehicle.truth.position)
            if options.on_move and np.linalg.norm(position - self._before.get(name, np.full(3, np.inf))) < MOVED_M:
                continue
            self._before[name] = position
            files = [self._save(camera, name, t_ns) for camera in options.cameras if (camera.vehicle or name) == name]
            pose = vehicle.axes.pose(vehicle.truth.position, vehicle.truth.quat_wxyz)
            numbers = [*pose["position"].values(), *pose["orientation"].values()]
            row = [name, str(t_ns // 1_000_000), *(f"{number:.6g}" for number in numbers), ";".join(files)]
            table.write("\t".join(row) + "\n")

    def _save(self, camera: RecordedCamera, vehicle: str, t_ns: int) -> str:
        """Return the file name. The image may be written later."""
        request = {
            "camera_name": camera.camera, "image_type": camera.image_type, "pixels_as_float": camera.as_float,
            "compress": camera.compress,
        }  # fmt: skip
        ending = "pfm" if camera.as_float else ENDINGS[camera.compress]
        name = f"img_{vehicle}_{camera.camera}_{camera.image_type}_{t_ns}.{ending}"
        waiting = RecordedImage(self._folder / "images" / name, camera, self._end)
        self._images.answer([request], vehicle, False, Dialect.AIRSIM, waiting)
        return name


class RecordedImage:
    """A file that waits for its image."""

    def __init__(self, path: Path, camera: RecordedCamera, end: Callable[[str], None]) -> None:
        self._path, self._camera, self._end = path, camera, end

    def give_what(self, make: Callable[[], list[Map]]) -> None:
        try:
            self._path.write_bytes(_file_of(make()[0], self._camera))
        except (OSError, SkyloopError) as error:
            self._end(str(error))

    def fail(self, why: str) -> None:
        self._end(why)


def _file_of(answer: Map, camera: RecordedCamera) -> bytes:
    """PFM, PNG or PPM."""
    size = f"{answer['width']} {answer['height']}"
    if camera.as_float:
        rows = answer["image_data_float"].values.reshape(answer["height"], -1)
        # PFM starts with the bottom row
        return f"Pf\n{size}\n-1.0\n".encode() + bytes(rows[::-1].astype("<f4").tobytes())
    if camera.compress:
        return bytes(answer["image_data_uint8"])
    pixels = np.frombuffer(answer["image_data_uint8"], np.uint8).reshape(-1, 3)
    return f"P6\n{size}\n255\n".encode() + pixels[:, ::-1].tobytes()
