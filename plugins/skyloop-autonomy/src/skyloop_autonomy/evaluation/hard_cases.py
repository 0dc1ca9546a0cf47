"""Hard cases for localisation: what each does to the sensors, and how far the estimate is off during it and after.

Troubles of sensors are put on one recorded flight. What changes the pictures themselves is a flight of its own."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skyloop import Scenario
from skyloop.core.frames import Transform, quat_from_euler, quat_multiply
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.random_key import stream_key
from skyloop.sensors.camera import Camera
from skyloop.sensors.faults import Fault, add_error, apply_faults
from skyloop.sensors.imu import Imu
from skyloop.sim.assembly import load_airframe
from skyloop_autonomy.evaluation.estimate_log import errors_from_start
from skyloop_autonomy.evaluation.localising import Localised, MessageSource, localise
from skyloop_autonomy.evaluation.trajectory_error import absolute_errors, together
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, VioFlight, checked_flight
from skyloop_autonomy.vio import CameraModel, StereoCalibration
from skyloop_client.messages import Array, CameraImage, Message
from skyloop_client.messages.samples import LUMA
from skyloop_client.streams import NS_PER_S

Faults = Mapping[str, Sequence[Fault]]
"""By stream."""


class _RecordedCamera:
    """How a bias or a spike changes the pixels of an image, without the camera that took it."""

    fault_fields = Camera.fault_fields

    @staticmethod
    def disturbed(sample: CameraImage, field: str, error: Array) -> CameraImage:
        change = error @ LUMA if sample.colour.ndim == 2 else error
        return CameraImage(sample.t_ns, np.clip(np.rint(sample.colour + change), 0.0, 255.0).astype(np.uint8))


class _RecordedImu:
    """The same for the numbers of an IMU."""

    fault_fields = Imu.fault_fields
    disturbed = staticmethod(add_error)


def _sensor_of(message: Message) -> type[_RecordedCamera | _RecordedImu]:
    return _RecordedCamera if isinstance(message.data, CameraImage) else _RecordedImu


def with_faults(messages: Iterable[Message], faults: Faults, seed: int = 1) -> Iterator[Message]:
    """The messages in order of arrival, with the faults of their streams."""
    held: dict[str, object] = {}
    late: list[tuple[int, int, Message]] = []
    for number, message in enumerate(messages):
        while late and late[0][0] <= message.arrival_ns:
            yield heapq.heappop(late)[2]
        mine = faults.get(message.stream)
        if not mine:
            yield message
            continue
        random = KeyedRandom(np.uint64(stream_key(seed, message.stream)), message.index)
        sample, extra, held[message.stream] = apply_faults(
            mine, _sensor_of(message), message.data, held.get(message.stream), random
        )
        if sample is None:
            continue
        changed = replace(message, data=sample, arrival_ns=message.arrival_ns + round(extra * NS_PER_S))
        if extra > 0.0:
            heapq.heappush(late, (changed.arrival_ns, number, changed))
        else:
            yield changed
    while late:
        yield heapq.heappop(late)[2]


SEED = 1
SHORT = FLIGHTS["room"].changed(length=30.0)
"""The flight on which sensors fail: some 50 s in the room."""
TROUBLE_S = 20.0
"""Simulated s at which sensors begin to fail, on the way."""
AFTER_S = 5.0
"""Simulated s after the trouble at which the error is looked at again."""
BLACK = -255.0
CAMERAS = ("cam0", "cam1")
COLUMNS = {
    "way_m": ".1f", "ape_m": ".3f", "ape_deg": ".2f", "largest_m": ".3f", "lost_s": ".2f", "recovered_s": ".2f",
    "added_m": ".3f",
}  # fmt: skip
"""Of the table, with their format."""


@dataclass(frozen=True)
class HardCase:
    """One hard case."""

    about: str
    faults: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By sensor, as a scenario states them."""
    lasts: float = 0.0
    """s of trouble from TROUBLE_S on; 0: all of the flight."""
    calibration: Callable[[StereoCalibration], StereoCalibration] | None = None
    """What is wrong in what the estimator is given."""
    flight: VioFlight | None = None
    """A flight of its own; None: the recorded one."""
    changes: Callable[[], dict[str, Any]] = dict
    """What is changed in the scenario of that flight."""


def _both(kind: str, lasts: float, **more: Any) -> dict[str, list[dict[str, Any]]]:
    """The same fault of both cameras."""
    fault = {"kind": kind, "start": TROUBLE_S, "end": TROUBLE_S + lasts, **more}
    return {camera: [fault] for camera in CAMERAS}


def _longer_lens(calibration: StereoCalibration) -> StereoCalibration:
    """Focal lengths 1 % too long."""

    def longer(lens: CameraModel) -> CameraModel:
        return replace(lens, fx=1.01 * lens.fx, fy=1.01 * lens.fy)

    return replace(
        calibration,
        left=longer(calibration.left),
        right=None if calibration.right is None else longer(calibration.right),
    )


def _turned_rig(calibration: StereoCalibration) -> StereoCalibration:
    """Both cameras turned on the body by half a degree about the forward, left and up axes' diagonal."""
    half = math.radians(0.5) / math.sqrt(3.0)
    turn = quat_from_euler(half, half, half)

    def turned(mount: Transform) -> Transform:
        return Transform(mount.position, quat_multiply(turn, mount.quat_wxyz))

    return replace(
        calibration,
        body_from_left=turned(calibration.body_from_left),
        body_from_right=turned(calibration.body_from_right),
    )


def _quick_turns() -> dict[str, Any]:
    """The airframe with a yaw rate that its own limits do not allow."""
    data = load_airframe("iris-d435").model_dump(mode="json")
    data["limits"]["rates_deg"] = [180.0, 180.0, 90.0]
    return {"vehicles.drone.airframe": data}


def _cameras(**settings: Any) -> dict[str, Any]:
    return {f"vehicles.drone.sensors.{camera}.{name}": value for camera in CAMERAS for name, value in settings.items()}


NOISE = {"full_well": 10000.0, "read_noise": 3.0}
"""Of both cameras: so that a plain wall is not an image of equal pixels."""
WHITE_WALL = (3.0, -9.85, 0.0, 4.6)
"""x, y, direction and length of a plain wall in front of the southern one. Cameras 1.1 m away see 2.1 m of it."""
ALONG_THE_WALL = VioFlight(
    "room",
    {
        "kind": "legs", "speed": 1.0, "acceleration": 1.5, "turn_rate": 0.5, "yaw": -0.5 * math.pi,
        "points": [
            [x, y, 1.5]
            for x, y in ((0.0, 0.0), (0.1, -2.5), (-0.6, -5.5), (-0.6, -8.6), (6.6, -8.6), (-0.6, -8.6), (-0.6, -5.5),
                         (0.1, -2.5), (0.0, 0.0))
        ],
    },
)  # fmt: skip
"""Always looking south: to the wall, along it to both sides, and back."""
DUSK = {
    "exposure_time": 0.015, "blur_samples": 2, "readout_time": 0.02, "readout_bands": 3, "full_well": 8000.0,
    "read_noise": 6.0,
}  # fmt: skip
"""Of both cameras: motion blur, a rolling shutter and noise."""
CASES = {
    "nothing": HardCase("no trouble, to compare with"),
    "lights out": HardCase("both images black for 1 s", _both("bias", 1.0, value=BLACK), 1.0),
    "lens covered": HardCase("both images black for 2 s", _both("bias", 2.0, value=BLACK), 2.0),
    "one camera dead": HardCase("no right image from 20 s on", {CAMERAS[1]: [{"kind": "off", "start": TROUBLE_S}]}),
    "left camera dead": HardCase("no left image from 20 s on", {CAMERAS[0]: [{"kind": "off", "start": TROUBLE_S}]}),
    "IMU gap": HardCase(
        "no IMU sample for 0.2 s", {"imu0": [{"kind": "off", "start": TROUBLE_S, "end": TROUBLE_S + 0.2}]}, 0.2
    ),
    "late camera": HardCase(
        "images arrive 20 ms late", {camera: [{"kind": "delay", "delay": 0.02}] for camera in CAMERAS}
    ),
    "lens 1 % wrong": HardCase("focal lengths told 1 % too long", calibration=_longer_lens),
    "mount 0.5° wrong": HardCase("mounts of both cameras told 0.5° off", calibration=_turned_rig),
    "white wall": HardCase(
        "a plain white wall fills both images twice for 2.5 s",
        flight=ALONG_THE_WALL,
        changes=lambda: {"world": {"name": "room", "options": {"white_wall": WHITE_WALL}}, **_cameras(**NOISE)},
    ),
    "60°/s turns": HardCase("turns of 60°/s", flight=SHORT.changed(turn_rate=math.radians(60.0)), changes=_quick_turns),
    "3 m/s": HardCase(
        "3 m/s in the corridor",
        flight=FLIGHTS["corridor"].changed(length=60.0, speed=3.0, acceleration=2.0),
    ),
    "dusk": HardCase(
        "dusk, 15 ms of blur, rolling shutter of 20 ms, noise",
        flight=SHORT,
        changes=lambda: {"weather.time_of_day": 19.4, **_cameras(**DUSK)},
    ),
    "rain": HardCase("rain of 20 mm/h", flight=SHORT, changes=lambda: {"weather.rain": 20.0, "weather.clouds": 0.9}),
    "people": HardCase(
        "park with 60 people, 2.4 m high",
        flight=VioFlight(
            "park",
            {
                "length": 40.0,
                "altitude": 2.4,
                "speed": 1.0,
                "space": {"area": [[-30.0, -30.0], [30.0, 30.0]], "heights": [2.0, 2.9], "clearance": 0.8, "cell": 0.2},
            },
            takeoff_altitude=2.4,
        ),
        changes=lambda: {"world": {"name": "park", "options": {"people": 60}}},
    ),
}


def case_changes(name: str) -> dict[str, Any]:
    """What a case changes in the scenario of its flight, with the faults of its sensors."""
    case = CASES[name]
    faults = {f"vehicles.drone.sensors.{sensor}.faults": faults for sensor, faults in case.faults.items()}
    return {**case.changes(), **faults}


def case_scenario(name: str, seed: int = SEED) -> Scenario:
    """The scenario of a case, whose way is free; also of those cases that can be put on a recording."""
    return checked_flight(CASES[name].flight or SHORT, seed, case_changes(name))[0]


def on_recording(name: str, source: MessageSource, messages: Iterable[Message]) -> Localised:
    """A case without a flight of its own on the messages of one flight."""
    case = CASES[name]
    vehicle = source.infos[source.streams.imu].vehicle
    faults = {f"{vehicle}/{sensor}": [Fault(**one) for one in some] for sensor, some in case.faults.items()}
    calibration = source.calibration if case.calibration is None else case.calibration(source.calibration)
    return localise(source, with_faults(messages, faults), calibration=calibration)


def case_scores(name: str, localised: Localised) -> dict[str, Any]:
    """Errors and recovery of one case, as plain numbers."""
    case, estimates = CASES[name], localised.estimates
    out: dict[str, Any] = {"about": case.about, "finite": estimates.is_finite}
    if not estimates.valid.any():
        return {**out, "ape_m": math.inf, "lost_s": float(estimates.seconds[-1]), "recovered_s": math.inf}
    truth, track = together(localised.truths.track, estimates.track)
    absolute = absolute_errors(truth, track)
    found = errors_from_start(localised.truths, estimates)
    off = np.linalg.norm(found.errors[:, :3], axis=1)
    out |= {
        "way_m": truth.length,
        "ape_m": absolute.translation_rmse,
        "ape_deg": math.degrees(absolute.rotation_rmse),
        "largest_m": float(off.max()),
        "end_m": float(off[-1]),
        "lost_s": lost_seconds(localised),
    }
    if case.lasts > 0.0:
        before, after = TROUBLE_S, TROUBLE_S + case.lasts
        step = np.interp(after + AFTER_S, found.seconds, off) - np.interp(before, found.seconds, off)
        out |= {"added_m": float(step), "recovered_s": recovered_after(localised, after)}
    return out


def lost_seconds(localised: Localised) -> float:
    """s without a valid estimate, after the first one."""
    estimates = localised.estimates
    first = int(np.argmax(estimates.valid))
    steps = np.diff(estimates.seconds[first:], append=estimates.seconds[-1])
    return float(steps[~estimates.valid[first:]].sum())


def recovered_after(localised: Localised, after: float) -> float:
    """s from the end of the trouble until the estimate is valid; infinite if it never is again."""
    estimates = localised.estimates
    later = estimates.seconds >= after
    valid = later & estimates.valid
    return float(estimates.seconds[np.argmax(valid)] - after) if valid.any() else math.inf


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Markdown: a line per case."""
    lines = [
        "| case | what | way, m | APE, m | APE, deg | largest, m | lost, s | back after, s | added, m |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        numbers = [_cell(row, key, form) for key, form in COLUMNS.items()]
        lines.append(f"| {name} | {row['about']} | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def _cell(row: dict[str, Any], key: str, form: str) -> str:
    value = row.get(key)
    return "" if value is None else ("never" if math.isinf(value) else format(value, form))
