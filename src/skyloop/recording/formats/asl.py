"""ASL, the format of EuRoC: a folder per vehicle, a folder per sensor, valid after every group of frames.

Files are written first, then their rows, and last `mav0/.groups` with the number of completed groups and rows. So a
killed writer leaves a valid, shorter dataset. A writer that resumes cuts off rows that are not counted."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import yaml

from skyloop.core.files import RowFile, write_whole
from skyloop.core.frames import Transform, quat_multiply, rotate
from skyloop.recording.formats.asl_sensors import AslChannel, channels_of, pose_block, rate_hz
from skyloop.recording.formats.camera_poses import imu_mount
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.recording import Recording
from skyloop_client.messages import Array, ImuBias, Message, VehicleState
from skyloop_client.regular_files import read_bytes, read_text

THREADS = 2
"""Threads that encode files. zlib and the disk work in parallel."""
STATE_FOLDER = "state_groundtruth_estimate0"
STATE_HEADER = "#timestamp [ns]," + ",".join(
    f"{symbol}_{axis} [{unit}]"
    for symbol, axes, unit in (
        ("p_RS_R", "xyz", "m"), ("q_RS", "wxyz", ""), ("v_RS_R", "xyz", "m s^-1"), ("b_w_RS_S", "xyz", "rad s^-1"),
        ("b_a_RS_S", "xyz", "m s^-2"),
    )
    for axis in axes
)  # fmt: skip


@dataclass(slots=True)
class AslVehicle:
    """One vehicle. The body B of its dataset is its first IMU."""

    folder: str
    body: Transform
    """vehicle_from_B."""
    biases: dict[int, ImuBias] = field(default_factory=dict)
    """IMU biases by stamp: those of this group and the last one before it."""

    def take(self, biases: list[Message]) -> None:
        last = max(self.biases, default=None)
        self.biases = {} if last is None else {last: self.biases[last]}
        self.biases |= {message.t_ns: message.data for message in biases}

    def state_rows(self, states: list[Message]) -> list[str]:
        """17 columns: the motion of B and the last known biases of its IMU, or zero without an IMU."""
        stamps = sorted(self.biases)
        rows = []
        for message in states:
            state: VehicleState = message.data
            bias = np.zeros(6)
            if stamps:
                known = self.biases[stamps[max(bisect_right(stamps, message.t_ns) - 1, 0)]]
                bias = np.concatenate([known.gyro_bias, known.accel_bias])
            lever = np.cross(state.angular_velocity_body, self.body.position)
            numbers: list[Array] = [
                state.position + rotate(state.quat_wxyz, self.body.position),
                quat_multiply(state.quat_wxyz, self.body.quat_wxyz),
                state.velocity_world + rotate(state.quat_wxyz, lever),
                bias,
            ]
            rows.append(row_text(message.t_ns, np.concatenate(numbers).tolist()))
        return rows


class Asl:
    def __init__(self, recording: Recording) -> None:
        self._folder = recording.folder
        folders = FORMATS["asl"].outputs(len(recording.vehicles))
        self._vehicles = {
            name: AslVehicle(folder, imu_mount(recording, name))
            for name, folder in zip(recording.vehicles, folders, strict=True)
        }
        self._channels: dict[str, list[tuple[str, AslChannel]]] = {}
        """By stream: a folder's path in the dataset, and its content."""
        self._biases: dict[str, AslVehicle] = {}
        self._states: dict[str, tuple[AslVehicle, str]] = {}
        self._rows: dict[str, RowFile] = {}
        self._groups = self._folder / "mav0" / ".groups"
        self.first_group, self._counts = self._remembered()
        self._done = self.first_group
        for name, vehicle in self._vehicles.items():
            self._set_up(recording, vehicle, name)
        if self.first_group:
            self._take_biases(recording.group(self.first_group - 1))

    def _remembered(self) -> tuple[int, dict[str, int]]:
        """Completed groups and rows. None if some of the rows are missing."""
        try:
            data = json.loads(read_text(self._groups))
            groups, rows = int(data["groups"]), {str(folder): int(n) for folder, n in data["rows"].items()}
            whole = all(read_bytes(self._folder / name / "data.csv").count(b"\n") > n for name, n in rows.items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0, {}
        return (groups, rows) if whole else (0, {})

    def _set_up(self, recording: Recording, vehicle: AslVehicle, name: str) -> None:
        airframe = next(v.get("airframe") for v in recording.facts["scenario"]["vehicles"] if v["name"] == name)
        comment = (
            f"skyloop vehicle {name} ({airframe}); B is its first IMU, without one its own body; R is east, north, up"
        )
        write_whole(self._folder / vehicle.folder / "body.yaml", f"comment: {json.dumps(comment)}\n")
        imu = next((i.name for i in recording.infos.values() if i.message == "ImuSample" and i.vehicle == name), None)
        if imu is not None:
            self._biases[f"truth/{imu}"] = vehicle
        for stream, info in recording.infos.items():
            if info.vehicle != name:
                continue
            sensor = stream.removeprefix("truth/").removeprefix(f"{name}/").split("/")[0]
            for channel in channels_of(info, sensor, vehicle.body, recording.classes):
                self._channels.setdefault(stream, []).append((f"{vehicle.folder}/{channel.folder}", channel))
                if not channel.optional:
                    self._open(f"{vehicle.folder}/{channel.folder}", channel)
        truth = recording.infos.get(f"truth/{name}")
        if truth is not None:
            about = {"sensor_type": "visual-inertial", "comment": f"skyloop {truth.name}: exact",
                     "T_BS": pose_block(Transform.identity()), "rate_hz": rate_hz(truth)}  # fmt: skip
            folder = f"{vehicle.folder}/{STATE_FOLDER}"
            self._states[truth.name] = vehicle, folder
            self._open(folder, AslChannel(STATE_FOLDER, STATE_HEADER, about))

    def _open(self, folder: str, channel: AslChannel) -> None:
        path = self._folder / folder / "data.csv"
        write_whole(path.with_name("sensor.yaml"), yaml_text(channel.about))
        if not path.exists():
            write_whole(path, channel.header + "\n")
        self._rows[folder] = RowFile(path, channel.header)
        self._rows[folder].keep(self._counts.setdefault(folder, 0))

    def add(self, messages: list[Message]) -> None:
        """Write one group: its files, then its rows, then the mark that it is complete."""
        self._take_biases(messages)
        files: list[tuple[str, AslChannel, Message]] = []
        lines: dict[str, list[str]] = {}
        for message in messages:
            for folder, channel in self._channels.get(message.stream, ()):
                if channel.row is not None:
                    lines.setdefault(folder, []).append(row_text(message.t_ns, channel.row(message.data)))
                else:
                    files.append((folder, channel, message))
        with ThreadPoolExecutor(THREADS) as pool:
            written = pool.map(lambda file: self._write_file(*file), files)
            for (folder, channel, message), there in zip(files, written, strict=True):
                if there:
                    if folder not in self._rows:
                        self._open(folder, channel)
                    lines.setdefault(folder, []).append(f"{message.t_ns},{message.t_ns}.{channel.extension}")
        for stream, (vehicle, folder) in self._states.items():
            lines[folder] = vehicle.state_rows([message for message in messages if message.stream == stream])
        for folder, rows in sorted(lines.items()):
            self._rows[folder].append(rows)
            self._counts[folder] += len(rows)
        self._done += 1
        write_whole(self._groups, json.dumps({"groups": self._done, "rows": self._counts}, sort_keys=True) + "\n")

    def _take_biases(self, messages: list[Message]) -> None:
        for stream, vehicle in self._biases.items():
            vehicle.take([message for message in messages if message.stream == stream])

    def _write_file(self, folder: str, channel: AslChannel, message: Message) -> bool:
        assert channel.content is not None
        content = channel.content(message.data)
        if content is not None:
            write_whole(self._folder / folder / "data" / f"{message.t_ns}.{channel.extension}", content)
        return content is not None

    def finish(self) -> None:
        for rows in self._rows.values():
            rows.close()


def row_text(t_ns: int, numbers: Sequence[Any]) -> str:
    """Floats get enough digits to be read back exactly."""
    return ",".join([str(t_ns), *(str(n) if isinstance(n, int) else repr(float(n)) for n in numbers)])


def yaml_text(data: dict[str, object]) -> str:
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)
