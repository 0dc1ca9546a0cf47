"""Reads a sequence in the ASL layout (EuRoC's or a similar one) as messages: `mav0/` with cameras, IMUs, ground truth.

The body is EuRoC's: its axes are those of imu0 rather than forward, left, up. The world's z is up. A mount still has
the sensor's x forward, as everywhere in skyloop. leica0 and vicon0 are left out, because the ground truth is made from
them."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA, quat_conjugate, quat_from_matrix, quat_multiply, quat_normalised
from skyloop_client.errors import DatasetError, ScenarioError
from skyloop_client.messages import Array, CameraImage, ImuBias, ImuSample, Message, VehicleState
from skyloop_client.regular_files import checked, opened_text, read_text
from skyloop_client.streams import Mount, Rate, StreamInfo

LENS_MODELS = {"radial-tangential": "brown-conrady", "equidistant": "fisheye", "none": "pinhole"}
"""skyloop's names for ASL's lens models."""
TRUTH = "state_groundtruth_estimate0"
VEHICLE = "drone"
IMU_NOISE = {
    "gyroscope_noise_density": "gyro_noise_density",
    "gyroscope_random_walk": "gyro_random_walk",
    "accelerometer_noise_density": "accel_noise_density",
    "accelerometer_random_walk": "accel_random_walk",
}
"""skyloop's names for ASL's noise values."""


@dataclass(frozen=True, slots=True)
class AslTable:
    """A folder's data.csv and the records that its rows become."""

    csv: Path
    cells: int
    """Number of cells after the stamp. Further cells are ignored."""
    records: Callable[[Path, int, int, list[str]], list[tuple[str, object]]]
    """From csv, line, stamp and cells to streams and records."""
    streams: tuple[str, ...]
    """Those that `records` gives."""

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Stamp, line number from 1, the other cells."""
        for t_ns, _, line, cells in _rows(0, self):
            yield t_ns, line, cells


@dataclass(slots=True)
class EurocSequence:
    folder: Path
    """The folder mav0."""
    infos: dict[str, StreamInfo] = field(default_factory=dict)
    tables: list[AslTable] = field(default_factory=list)

    def messages(self) -> Iterator[Message]:
        """In the order of their stamps. Files are read when they are needed."""
        indices = dict.fromkeys(self.infos, 0)
        for t_ns, rank, line, cells in heapq.merge(*(_rows(rank, table) for rank, table in enumerate(self.tables))):
            table = self.tables[rank]
            for stream, record in table.records(table.csv, line, t_ns, cells):
                yield Message(stream, indices[stream], t_ns, t_ns, record)
                indices[stream] += 1


def is_euroc(folder: Path) -> bool:
    """Whether this is a sequence's folder, or its mav0 (or another vehicle's mav1)."""
    return _mav0(folder) is not None


def open_euroc(folder: Path) -> EurocSequence:
    mav0 = _mav0(folder)
    if mav0 is None:
        raise DatasetError(f"'{folder}' holds no EuRoC sequence: mav0/ is missing; give the folder that holds mav0")
    sequence = EurocSequence(mav0)
    for path in sorted(path for path in mav0.iterdir() if path.is_dir()):
        if re.fullmatch(r"imu\d+", path.name):
            _add_imu(sequence, path)
        elif path.name == TRUTH:
            _add_truth(sequence, path)
        elif re.fullmatch(r"(cam|rgb)\d+", path.name):
            _add_camera(sequence, path)
    if not sequence.infos:
        raise DatasetError(f"'{mav0}' holds neither cam0, imu0 nor {TRUTH}; give a EuRoC sequence")
    # at one instant the smallest records come first, as in a live run
    sequence.tables.sort(key=lambda table: (table.csv.parent.name.startswith(("cam", "rgb")), table.csv))
    return sequence


def _mav0(folder: Path) -> Path | None:
    if (folder / "mav0").is_dir():
        return folder / "mav0"
    return folder if re.fullmatch(r"mav\d+", folder.name) and folder.is_dir() else None


def _add_imu(sequence: EurocSequence, path: Path) -> None:
    stream, settings = f"{VEHICLE}/{path.name}", _settings(path)
    try:
        details = {ours: float(settings.data[theirs]) for theirs, ours in IMU_NOISE.items() if theirs in settings.data}
    except (TypeError, ValueError) as error:
        raise DatasetError(f"'{path / 'sensor.yaml'}' misstates a noise: {error}") from None
    mount = Mount(settings.position, settings.quat_wxyz)
    sequence.infos[stream] = StreamInfo(stream, "ImuSample", settings.rate, VEHICLE, 0, mount, details)

    def records(csv: Path, line: int, t_ns: int, cells: list[str]) -> list[tuple[str, object]]:
        values = _numbers(csv, line, cells)
        return [(stream, ImuSample(t_ns, values[0:3], values[3:6]))]

    sequence.tables.append(AslTable(_data(path), 6, records, (stream,)))


def _add_truth(sequence: EurocSequence, path: Path) -> None:
    settings = _settings(path) if (path / "sensor.yaml").exists() else None
    rate = settings.rate if settings else None
    state_stream, bias_stream = f"truth/{VEHICLE}", f"truth/{VEHICLE}/imu0"
    for stream, record in ((state_stream, "VehicleState"), (bias_stream, "ImuBias")):
        sequence.infos[stream] = StreamInfo(stream, record, rate, VEHICLE)
    unknown, none = np.full(3, math.nan), np.zeros(0)

    def records(csv: Path, line: int, t_ns: int, cells: list[str]) -> list[tuple[str, object]]:
        values = _numbers(csv, line, cells)
        if not values[3:7].any():
            raise DatasetError(f"'{csv}' line {line}: the quaternion is zero")
        position, quat, velocity = values[0:3], quat_normalised(values[3:7]), values[7:10]
        # EuRoC has no angular rates, accelerations, rotors or wind
        state = VehicleState(t_ns, position, velocity, quat, unknown, unknown, unknown, none, none, unknown)
        return [(state_stream, state), (bias_stream, ImuBias(t_ns, values[10:13], values[13:16]))]

    sequence.tables.append(AslTable(_data(path), 16, records, (state_stream, bias_stream)))


def _add_camera(sequence: EurocSequence, path: Path) -> None:
    stream, settings = f"{VEHICLE}/{path.name}", _settings(path)
    try:
        width, height = (int(number) for number in settings.data["resolution"])
        fx, fy, cx, cy = (float(number) for number in settings.data["intrinsics"])
        distortion = [float(number) for number in settings.data.get("distortion_coefficients", ())]
        model = LENS_MODELS[str(settings.data.get("distortion_model", "none")).lower()]
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"'{path / 'sensor.yaml'}' lacks or misstates resolution, intrinsics or distortion: {error}"
        ) from None
    lens = {"width": width, "height": height, "fx": fx, "fy": fy, "cx": cx, "cy": cy}
    details = {**lens, "model": model, "distortion": distortion}
    mount = Mount(settings.position, quat_multiply(settings.quat_wxyz, quat_conjugate(SENSOR_FROM_CAMERA)))
    sequence.infos[stream] = StreamInfo(stream, "CameraImage", settings.rate, VEHICLE, 0, mount, details)

    def records(csv: Path, line: int, t_ns: int, cells: list[str]) -> list[tuple[str, object]]:
        return [(stream, CameraImage(t_ns, _picture(csv, line, cells[0], (height, width))))]

    sequence.tables.append(AslTable(_data(path), 1, records, (stream,)))


@dataclass(frozen=True, slots=True)
class AslSettings:
    """The content of a sensor.yaml."""

    data: dict[str, Any]
    position: Array
    quat_wxyz: Array
    """body_from_sensor as in the file. For a camera the sensor axes are its optical axes."""
    rate: Rate | None


def read_sensor_yaml(path: Path) -> Any:
    """Also reads YAML by OpenCV, whose first line %YAML:1.0 is not a valid directive and whose matrices have a tag."""
    lines = [line for line in read_text(path, "utf-8-sig").splitlines() if not line.startswith("%")]
    return yaml.safe_load("\n".join(lines).replace("!!opencv-matrix", ""))


def _settings(path: Path) -> AslSettings:
    file = path / "sensor.yaml"
    try:
        data = read_sensor_yaml(file)
        matrix = np.array(data["T_BS"]["data"] if "T_BS" in data else np.eye(4), float).reshape(4, 4)
        rotation = matrix[:3, :3]
        if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3) or np.linalg.det(rotation) < 0.0:
            raise ValueError("T_BS does not rotate")
        rate = Rate.from_hz(data["rate_hz"]) if data.get("rate_hz") else None
    except FileNotFoundError:
        raise DatasetError(f"'{file}' is missing") from None
    except (OSError, yaml.YAMLError, ScenarioError, KeyError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise DatasetError(f"'{file}' cannot be read: {type(error).__name__}: {reason}") from None
    return AslSettings(data, matrix[:3, 3].copy(), quat_from_matrix(rotation), rate)


def _data(path: Path) -> Path:
    csv = path / "data.csv"
    if not csv.is_file():
        raise DatasetError(f"'{csv}' is missing")
    return csv


def _rows(rank: int, table: AslTable) -> Iterator[tuple[int, int, int, list[str]]]:
    """Stamp, rank, line number from 1, the other cells."""
    csv, before = table.csv, -1
    try:
        with opened_text(csv) as file:
            for line, text in enumerate(file, 1):
                if not text.strip() or text.startswith("#"):
                    continue
                stamp, *others = (cell.strip() for cell in text.split(","))
                if not stamp.isdecimal():
                    raise DatasetError(f"'{csv}' line {line}: '{stamp[:40]}' is not a stamp in ns")
                if len(others) < table.cells:
                    raise DatasetError(f"'{csv}' line {line}: {len(others) + 1} cells, not {table.cells + 1}")
                if int(stamp) <= before:
                    raise DatasetError(f"'{csv}' line {line}: stamp {stamp} does not come after {before}")
                before = int(stamp)
                yield before, rank, line, others[: table.cells]
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"'{csv}' cannot be read: {error}") from None


def _numbers(csv: Path, line: int, cells: list[str]) -> Array:
    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError as error:
        raise DatasetError(f"'{csv}' line {line}: {error}") from None
    if not np.isfinite(values).all():
        raise DatasetError(f"'{csv}' line {line}: a number is not finite")
    return values


def _picture(csv: Path, line: int, name: str, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """(height, width, 3), from a grey or colour file."""
    from PIL import Image

    path = csv.parent / "data" / name
    try:
        with Image.open(checked(path)) as image:
            pixels = np.asarray(image.convert("RGB"))
    except FileNotFoundError:
        raise DatasetError(f"'{csv}' line {line}: '{path}' is missing") from None
    except (OSError, SyntaxError, ValueError) as error:
        raise DatasetError(f"'{csv}' line {line}: '{path}' is not a readable image: {error}") from None
    if pixels.shape[:2] != shape:
        raise DatasetError(
            f"'{csv}' line {line}: '{path}' has {pixels.shape[1]} by {pixels.shape[0]} pixels, "
            f"sensor.yaml says {shape[1]} by {shape[0]}"
        )
    return pixels
