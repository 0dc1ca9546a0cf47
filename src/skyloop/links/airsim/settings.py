"""Reads AirSim's settings.json as AirSim does. The result is plain scenario data and the options of the server.

An unknown key gives a warning with the nearest known key. AirSim's keys without an effect here are ignored."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from skyloop.links.airsim.options import (
    DEFAULT_CAMERAS,
    IMAGE_TYPES,
    AirSimOptions,
    CameraOptions,
    Capture,
    GimbalOptions,
    RecordedCamera,
    RecordingOptions,
    VehicleOptions,
)
from skyloop.links.airsim.pixels import NOISE_KEYS, ImageEffects, Noise
from skyloop.links.airsim.settings_reader import (
    ANNOTATION,
    CAMERA,
    CAPTURE,
    GIMBAL,
    NOISE,
    POINT,
    RECORDING,
    ROOT,
    SEGMENTATION,
    TIME_OF_DAY,
    VECTOR,
    VEHICLE,
    Keys,
    SettingsReader,
)
from skyloop.links.airsim.settings_vehicles import DEFAULT_SENSORS, foreign_autopilot, sensor_settings
from skyloop.links.airsim.wire import Dialect
from skyloop_client.errors import ScenarioError, nearest_name

FLYING = ("SimpleFlight", "PX4Multirotor", "ArduCopter")
"""Vehicle types that become a multirotor. The built-in controller flies the first type."""
LIT = (0, 10)
"""Image types with exposure, gamma and motion blur: Scene and Lighting."""
LIT_KEYS = ("AutoExposureBias", "AutoExposureCompensation", "MotionBlurAmount")
NOISED = (0, 5, 6, 7, 10)
"""Image types with noise. As in AirSim, depth and flow stay exact."""
USUAL = asdict(Noise())
WIDTH_M, HEIGHT_M, APART_M = 0.8, 0.3, 2.0
"""The size of a vehicle with its propellers, and the distance at which two start that were given one place."""
MODES = ("Multirotor", "ComputerVision", "Car", "")


@dataclass(slots=True)
class Read:
    """The content of a settings.json."""

    scenario: Keys
    """Plain data as in a scenario file."""
    options: AirSimOptions
    host: str
    port: int
    clock_speed: float
    warnings: list[str] = field(default_factory=list)


def read_settings(
    text: str = "", source: str = "settings.json", *, world: str | None = None, airframe: str = "airsim-quad"
) -> Read:
    """Read the text of a settings.json. An empty one gives one drone called SimpleFlight, as in AirSim."""
    reader = SettingsReader(text, source)
    root = reader.part(reader.root, ROOT, "")
    mode = str(root.get("SimMode", "Multirotor"))
    if mode not in MODES:
        raise ScenarioError(f"{source}: SimMode '{mode}'; {nearest_name(mode, MODES)}")
    if mode == "Car":
        raise ScenarioError(f"{source}: SimMode Car; skyloop flies multirotors, write Multirotor or ComputerVision")
    vehicles, options = _vehicles(reader, root, mode, airframe)
    home = reader.part(root.get("OriginGeopoint"), POINT, "OriginGeopoint")
    wind = reader.part(root.get("Wind"), VECTOR, "Wind")
    north, east, down = reader.numbers(wind, "X Y Z", "Wind")
    scenario: Keys = {
        "name": "airsim",
        "world": level_of("blocks" if world is None else world),
        "vehicles": vehicles,
        "earth": {
            "latitude_deg": reader.number(home, "Latitude", 47.641468, "OriginGeopoint"),
            "longitude_deg": reader.number(home, "Longitude", -122.140165, "OriginGeopoint"),
            "altitude": reader.number(home, "Altitude", 122.0, "OriginGeopoint"),
        },
        "wind": {"kind": "constant", "velocity": [east, north, -down]},
    }
    server = AirSimOptions(
        vehicles=options,
        external_cameras=_cameras(reader, root, root.get("ExternalCameras") or {}, "ExternalCameras"),
        settings=text or "{}",
        recording=_recording(reader, root.get("Recording")),
        time_of_day=_time_of_day(reader, root.get("TimeOfDay")),
        annotation_layers=_layers(reader, root.get("Annotation")),
        labels_all=_labels_all(reader, root.get("SegmentationSettings")),
        # Cosys-AirSim's settings have version 2, AirSim's 1.2
        dialect=Dialect.COSYS if reader.number(root, "SettingsVersion", 1.2, "root") >= 2.0 else Dialect.AIRSIM,
    )
    speed = reader.number(root, "ClockSpeed", 1.0, "root")
    port = int(reader.number(root, "ApiServerPort", 41451, "root"))
    return Read(scenario, server, str(root.get("LocalHostIp") or "127.0.0.1"), port, speed, reader.all_warnings())


def level_of(world: str) -> Keys | str:
    """A world as clients see it: blocks has what scripts for Unreal's Blocks look for."""
    return {"name": world, "options": {"landmarks": True}} if world == "blocks" else world


def _layers(reader: SettingsReader, value: object) -> tuple[str, ...]:
    given = value or []
    if not isinstance(given, list):
        raise ScenarioError(f"{reader.source}: Annotation must be a list of layers")
    layers = [reader.part(layer, ANNOTATION, f"Annotation[{k}]") for k, layer in enumerate(given)]
    return tuple(str(layer.get("Name", "")) for layer in layers)


def _labels_all(reader: SettingsReader, value: object) -> bool:
    own = reader.part(value, SEGMENTATION, "SegmentationSettings")
    return str(own.get("InitMethod") or "CommonObjectsRandomIDs") != "None"


def _vehicles(
    reader: SettingsReader, root: Keys, mode: str, airframe: str
) -> tuple[list[Keys], dict[str, VehicleOptions]]:
    sees_only = mode == "ComputerVision"
    given = root.get("Vehicles") or {("ComputerVision" if sees_only else "SimpleFlight"): {}}
    if not isinstance(given, dict):
        raise ScenarioError(f"{reader.source}: Vehicles must be a map of names to vehicles")
    scenario = list[Keys]()
    options = dict[str, VehicleOptions]()
    kinds = list[str]()
    for name, value in given.items():
        where = f"Vehicles.{name}"
        vehicle = reader.part(value, VEHICLE, where)
        if vehicle.get("AutoCreate", True) is False:
            continue
        kind = str(vehicle.get("VehicleType", "ComputerVision" if sees_only else "SimpleFlight")).strip()
        kind = next((own for own in (*FLYING, "ComputerVision") if own.lower() == kind.lower()), kind)
        if kind not in (*FLYING, "ComputerVision"):
            known = (*FLYING, "ComputerVision")
            raise ScenarioError(f"{reader.source}: {where}.VehicleType '{kind}'; {nearest_name(kind, known)}")
        kinds.append(kind)
        own, streams = _vehicle(reader, root, vehicle, where, kind == "ComputerVision")
        if kind != "ComputerVision":
            _move_aside(reader, own["position"], [other["position"] for other in scenario], where)
        slug = unique(name, [entry["name"] for entry in scenario], r"[^A-Za-z0-9_-]", "Drone")
        scenario.append({"name": slug, "airframe": airframe, **own})
        autopilot = foreign_autopilot(reader, vehicle, kind, kinds.count(kind) - 1, where)
        options[name] = replace(streams, vehicle=slug, external_autopilot=autopilot)
    if not scenario:
        raise ScenarioError(f"{reader.source}: none of the vehicles is to be created; leave AutoCreate out of one")
    return scenario, options


def _move_aside(reader: SettingsReader, position: list[float], taken: list[list[float]], where: str) -> None:
    """Moves a vehicle east until it overlaps no other one. AirSim's settings often give several the same place, and
    Unreal then puts them side by side."""
    moved = 0
    while any(_overlap(position, other) for other in taken):
        position[0] += APART_M
        moved += 1
    if moved:
        reader.warnings.append(
            f"{reader.source}: {where} is where another vehicle starts; it starts {moved * APART_M:g} m east of there. "
            "Give it an X or a Y of its own"
        )


def _overlap(position: list[float], other: list[float]) -> bool:
    """Positions without a height stand on the ground."""
    gaps = [abs(a - b) for a, b in zip([*position, 0.0][:3], [*other, 0.0][:3], strict=True)]
    return max(gaps[:2]) < WIDTH_M and gaps[2] < HEIGHT_M


def _vehicle(
    reader: SettingsReader, root: Keys, vehicle: Keys, where: str, sees_only: bool
) -> tuple[Keys, VehicleOptions]:
    """The vehicle as scenario data and as options."""
    north, east, down = reader.numbers(vehicle, "X Y Z", where)
    yaw = reader.number(vehicle, "Yaw", 0.0, where)
    # a vehicle starts a little above the ground; a ComputerVision one hangs a metre above it
    height = -down if -down >= (1.0 if sees_only else 0.5) else 0.0
    at = [east, north, *([height] if height else [1.0] if sees_only else [])]
    sensors = {} if sees_only else dict(root.get("DefaultSensors") or DEFAULT_SENSORS)
    sensors.update(vehicle.get("Sensors") or {})
    built, names = sensor_settings(reader, sensors, f"{where}.Sensors")
    cameras = {
        **_cameras(reader, root, {name: {} for name in DEFAULT_CAMERAS}, where, DEFAULT_CAMERAS),
        **_cameras(reader, root, vehicle.get("Cameras") or {}, f"{where}.Cameras", DEFAULT_CAMERAS),
    }
    own = {"position": at, "yaw_deg": 90.0 - yaw, "sensors": built, "battery": False}
    options = VehicleOptions(
        "", cameras, names, flies=not sees_only,
        is_armed=str(vehicle.get("DefaultVehicleState") or "Armed") == "Armed",
        collides=bool(vehicle.get("EnableCollisions", True)),
        is_traced=bool(vehicle.get("EnableTrace", False)), height=height,
    )  # fmt: skip
    return own, options


def unique(name: str, taken: list[str], bad: str, stem: str) -> str:
    """A valid scenario name that is not taken yet."""
    slug = re.sub(bad, "_", name)
    slug = slug if re.match(r"[A-Za-z]", slug) else f"{stem}{slug}"
    free, k = slug, 1
    while free in taken:
        k += 1
        free = f"{slug}_{k}"
    return free


def _cameras(
    reader: SettingsReader, root: Keys, given: object, where: str, known: dict[str, CameraOptions] | None = None
) -> dict[str, CameraOptions]:
    if not isinstance(given, dict):
        raise ScenarioError(f"{reader.source}: {where} must be a map of names to cameras")
    defaults = reader.part(root.get("CameraDefaults"), CAMERA, "CameraDefaults")
    cameras = {}
    for name, value in given.items():
        at = f"{where}.{name}"
        own = reader.part(value, CAMERA, at)
        stock = (known or {}).get(name, CameraOptions())
        position = _triple(reader, {**defaults, **own}, ("X", "Y", "Z"), stock.position, at)
        angles = _triple(reader, {**defaults, **own}, ("Roll", "Pitch", "Yaw"), stock.rotation_deg, at)
        captures = {**_captures(reader, defaults, "CameraDefaults"), **_captures(reader, own, at)}
        noises = {**_noises(reader, defaults, "CameraDefaults"), **_noises(reader, own, at)}
        for kind, noise in noises.items():
            capture = captures.get(kind, Capture())
            captures[kind] = replace(capture, look=replace(capture.look, noise=noise))
        gimbal = reader.part(own.get("Gimbal", defaults.get("Gimbal")), GIMBAL, f"{at}.Gimbal")
        cameras[name] = CameraOptions(position, angles, captures, _gimbal(reader, gimbal, at))
    return cameras


def _triple(
    reader: SettingsReader, data: Keys, keys: tuple[str, str, str], usual: tuple[float, float, float], at: str
) -> tuple[float, float, float]:
    x, y, z = (reader.number(data, key, default, at) for key, default in zip(keys, usual, strict=True))
    return x, y, z


def _captures(reader: SettingsReader, camera: Keys, where: str) -> dict[int, Capture]:
    captures = {}
    for k, value in enumerate(camera.get("CaptureSettings") or []):
        at = f"{where}.CaptureSettings[{k}]"
        own = reader.part(value, CAPTURE, at)
        kind = own.get("ImageType", 0)
        if not isinstance(kind, int) or not -1 <= kind < len(IMAGE_TYPES):
            raise ScenarioError(f"{reader.source}: {at}.ImageType is {kind!r}; give 0 to {len(IMAGE_TYPES) - 1}")
        if str(own.get("ProjectionMode", "perspective")).lower() not in ("perspective", ""):
            reader.warnings.append(f"{reader.source}: {at}.ProjectionMode: all views are perspective ones here")
        width, height = (int(reader.number(own, key, size, at)) for key, size in (("Width", 256), ("Height", 144)))
        if not (8 <= width <= 8192 and 8 <= height <= 8192):
            raise ScenarioError(f"{reader.source}: {at} is {width} by {height} pixels; give 8 to 8192")
        fov = reader.number(own, "FOV_Degrees", 90.0, at)
        if not 1.0 <= fov <= 170.0:
            raise ScenarioError(f"{reader.source}: {at}.FOV_Degrees is {fov:g}; give 1 to 170")
        if kind >= 0:
            captures[kind] = Capture(width, height, fov, _look(reader, own, kind, at))
    return captures


def _look(reader: SettingsReader, own: Keys, kind: int, at: str) -> ImageEffects:
    if kind not in LIT:
        for key in LIT_KEYS:
            if own.get(key):
                reader.idle(f"{key} of ImageType {kind}")
        return ImageEffects()
    gamma = reader.number(own, "TargetGamma", 1.0, at)
    darkest = reader.number(own, "AutoExposureMinBrightness", 0.0, at)
    look = ImageEffects(
        gamma=gamma,
        bias=reader.number(own, "AutoExposureBias", reader.number(own, "AutoExposureCompensation", 0.0, at), at),
        darkest=darkest,
        brightest=max(reader.number(own, "AutoExposureMaxBrightness", 1.0, at), darkest),
        speed=reader.number(own, "AutoExposureSpeed", 100.0, at),
        blur=reader.number(own, "MotionBlurAmount", 0.0, at),
    )
    if not (0.1 <= gamma <= 10.0 and abs(look.bias) <= 16.0 and 0.0 <= look.blur <= 10.0 and look.speed >= 0.0):
        raise ScenarioError(
            f"{reader.source}: {at}: give a TargetGamma of 0.1 to 10, an AutoExposureBias within ±16, "
            "a MotionBlurAmount of 0 to 10 and an AutoExposureSpeed of at least 0"
        )
    return look


def _noises(reader: SettingsReader, camera: Keys, where: str) -> dict[int, Noise | None]:
    """By image type. None where noise is off."""
    noises: dict[int, Noise | None] = {}
    for k, value in enumerate(camera.get("NoiseSettings") or []):
        at = f"{where}.NoiseSettings[{k}]"
        own = reader.part(value, NOISE, at)
        kind, is_on = own.get("ImageType", 0), bool(own.get("Enabled", False))
        if is_on and kind not in NOISED:
            reader.idle(f"NoiseSettings of ImageType {kind}")
        elif kind in NOISED:
            numbers = {name: reader.number(own, key, USUAL[name], at) for key, name in NOISE_KEYS.items()}
            noises[kind] = Noise(**numbers) if is_on else None
    return noises


def _gimbal(reader: SettingsReader, gimbal: Keys, where: str) -> GimbalOptions:
    angle: Callable[[str], float | None] = lambda key: (  # noqa: E731
        reader.number(gimbal, key, 0.0, f"{where}.Gimbal") if gimbal.get(key) is not None else None
    )
    share = reader.number(gimbal, "Stabilization", 0.0, f"{where}.Gimbal")
    return GimbalOptions(share, angle("Roll"), angle("Pitch"), angle("Yaw"))


def _recording(reader: SettingsReader, value: object) -> RecordingOptions:
    own = reader.part(value, RECORDING, "Recording")
    folder = own.get("Folder")
    cameras = tuple(
        RecordedCamera(
            str(camera.get("CameraName", "front_center")), int(camera.get("ImageType", 0)),
            bool(camera.get("PixelsAsFloat", False)), bool(camera.get("Compress", True)),
            str(camera.get("VehicleName", "")),
        )
        for camera in own.get("Cameras") or []
    )  # fmt: skip
    return RecordingOptions(
        Path(folder) if folder else None,
        max(reader.number(own, "RecordInterval", 0.05, "Recording"), 0.02),
        bool(own.get("RecordOnMove", False)),
        bool(own.get("Enabled", False)),
        cameras or (RecordedCamera(),),
    )


def _time_of_day(reader: SettingsReader, value: object) -> Keys:
    own = reader.part(value, TIME_OF_DAY, "TimeOfDay")
    if not own.get("Enabled", False):
        return {}
    return {
        "is_enabled": True,
        "start_datetime": str(own.get("StartDateTime", "")),
        "is_start_datetime_dst": bool(own.get("StartDateTimeDst", False)),
        "celestial_clock_speed": reader.number(own, "CelestialClockSpeed", 1.0, "TimeOfDay"),
        "update_interval_secs": reader.number(own, "UpdateIntervalSecs", 60.0, "TimeOfDay"),
        "move_sun": bool(own.get("MoveSun", True)),
    }
