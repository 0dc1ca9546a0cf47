"""`skyloop view`: shows a dataset in the Rerun viewer, with everything on the timeline `sim_time`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat
from skyloop.recording.radar_pictures import volts_picture
from skyloop.recording.recording import Recording, open_recording
from skyloop_client.errors import DatasetError, SetupError
from skyloop_client.messages import (
    Array,
    BarometerSample,
    CameraImage,
    DepthImage,
    Event,
    GnssFix,
    ImageTruth,
    ImuSample,
    LidarScan,
    MagnetometerSample,
    Message,
    RadarScan,
    VehicleState,
)

TIMELINE = "sim_time"
TRACK = "world/track"
JPEG_QUALITY = 85
TRACK_COLOURS = ([31, 119, 180], [224, 142, 27], [42, 157, 92], [209, 73, 91])
"""Colours of the vehicles in turn."""
AXIS_COLOURS = [[214, 72, 72], [74, 170, 90], [70, 120, 220]]
CURVES: dict[str, tuple[tuple[str, ...], tuple[str, ...] | str]] = {
    "ImuSample": (("angular_velocity", "specific_force"), "xyz"),
    "GnssFix": (("velocity",), ("east", "north", "up")),
    "MagnetometerSample": (("microtesla",), "xyz"),
}
"""For records with curves of three axes: their path below the sensor, and the names of the axes."""


def view(folder: Path, save: Path | None = None) -> int:
    """Open the viewer, or write its content to a file. Returns the number of logged messages."""
    recording = open_recording(folder)
    if not recording.complete_groups():
        raise DatasetError(f"'{folder}' holds no complete group of frames to view; `skyloop record --resume` first")
    rr = _rerun()
    name = str(recording.facts.get("scenario", {}).get("name", folder.name))
    # a fixed id, so that the same dataset is the same recording
    stream = rr.RecordingStream("skyloop", recording_id=f"{name}-{recording.facts['seed']}", send_properties=False)
    try:
        if save is None:
            stream.spawn(default_blueprint=_blueprint(recording))
        else:
            save.parent.mkdir(parents=True, exist_ok=True)
            stream.save(save, default_blueprint=_blueprint(recording))
    except (OSError, RuntimeError) as error:
        where = "start the viewer" if save is None else f"write '{save}'"
        hint = "; on a machine without a screen use --save FILE.rrd" if save is None else ""
        raise DatasetError(f"cannot {where}: {error}{hint}") from None
    stream.set_log_time_enabled(False)
    stream.set_log_tick_enabled(False)
    count = _Logger(recording, rr, stream).log_all()
    stream.flush()
    stream.disconnect()
    return count


def _rerun() -> Any:
    try:
        import rerun
    except ImportError:
        raise SetupError("`skyloop view` needs the Rerun SDK: pip install 'skyloop[view]'") from None
    return rerun


def entity_of(recording: Recording, stream: str) -> str:
    """The path of a stream in the viewer's tree."""
    info = recording.infos[stream]
    sensor = recording.sensor_name(stream)
    if not info.vehicle:
        return f"observers/{stream.split('/')[-1]}/image" if info.message == "CameraImage" else f"plots/{stream}"
    body = f"world/{info.vehicle}"
    if info.message in ("CameraImage", "ImageTruth", "DepthImage"):
        return f"{body}/{sensor}/image"
    if info.message == "LidarScan":
        return f"{body}/{sensor}"
    if info.message == "VehicleState":
        return body
    return f"{plots_of(recording, stream)}/{sensor}"


def plots_of(recording: Recording, stream: str) -> str:
    """The path of the curves of a stream's vehicle."""
    return f"plots/{recording.infos[stream].vehicle}" if len(recording.vehicles) > 1 else "plots"


class _Logger:
    """Has one method per record type. Records without one are left out."""

    def __init__(self, recording: Recording, rr: Any, stream: Any) -> None:
        self._recording, self._rr, self._stream = recording, rr, stream
        self._plots = ""
        """Path of the curves of the current message's vehicle."""
        self._ways: dict[type, Callable[[str, Any], None]] = {
            VehicleState: self._state, CameraImage: self._image, ImageTruth: self._truth, DepthImage: self._depth,
            LidarScan: self._scan, RadarScan: self._radar, ImuSample: self._imu, GnssFix: self._fix,
            BarometerSample: self._barometer, MagnetometerSample: self._magnetometer, Event: self._event,
        }  # fmt: skip

    def log_all(self) -> int:
        self._log_fixed()
        count = 0
        for message in self._recording.messages():
            count += self._log(message)
        return count

    def _log_fixed(self) -> None:
        """Log what does not change: axes, classes, track, mounts, lenses."""
        rr, recording = self._rr, self._recording
        self._put("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        classes = [(number, name) for number, name in enumerate(recording.classes)]
        self._put("world", rr.AnnotationContext(classes), static=True)
        tracks: dict[str, list[Array]] = {}
        for message in recording.messages({f"truth/{vehicle}" for vehicle in recording.vehicles}):
            tracks.setdefault(message.stream, []).append(message.data.position)
        if tracks:
            colours = [TRACK_COLOURS[k % len(TRACK_COLOURS)] for k in range(len(tracks))]
            strips = [np.array(track) for track in tracks.values()]
            self._put(TRACK, rr.LineStrips3D(strips, colors=colours), static=True)
        for name, info in recording.infos.items():
            entity = entity_of(recording, name)
            parts, axes = CURVES.get(info.message, ((), ""))
            for part in parts:
                self._put(f"{entity}/{part}", rr.SeriesLines(names=list(axes), colors=AXIS_COLOURS), static=True)
            if name.startswith("truth/") or not entity.startswith("world/") or info.message == "VehicleState":
                continue
            turn = matrix_from_quat(info.mount.quat_wxyz)
            if entity.endswith("/image"):
                turn = turn @ matrix_from_quat(SENSOR_FROM_CAMERA)
                d = info.details
                lens = rr.Pinhole(
                    focal_length=[d["fx"], d["fy"]],
                    principal_point=[d["cx"] + 0.5, d["cy"] + 0.5],
                    resolution=[d["width"], d["height"]],
                    camera_xyz=rr.ViewCoordinates.RDF,
                    image_plane_distance=0.5,
                )
                self._put(entity, lens, static=True)
            transform = rr.Transform3D(translation=info.mount.position, mat3x3=turn)
            self._put(entity.removesuffix("/image"), transform, static=True)

    def _log(self, message: Message) -> int:
        way = self._ways.get(type(message.data))
        if way is None:
            return 0
        self._stream.set_time(TIMELINE, duration=np.timedelta64(message.t_ns, "ns"))
        self._plots = plots_of(self._recording, message.stream)
        way(entity_of(self._recording, message.stream), message.data)
        return 1

    def _put(self, entity: str, what: object, static: bool = False) -> None:
        self._stream.log(entity, what, static=static)

    def _state(self, entity: str, state: VehicleState) -> None:
        rr = self._rr
        self._put(
            entity, rr.Transform3D(translation=np.array(state.position), mat3x3=matrix_from_quat(state.quat_wxyz))
        )
        self._put(f"{self._plots}/height", rr.Scalars(float(state.position[2])))
        self._put(f"{self._plots}/speed", rr.Scalars(float(np.linalg.norm(state.velocity_world))))

    def _image(self, entity: str, image: CameraImage) -> None:
        self._put(entity, self._rr.Image(np.array(image.colour)).compress(jpeg_quality=JPEG_QUALITY))

    def _truth(self, entity: str, truth: ImageTruth) -> None:
        rr = self._rr
        if truth.classes is not None:
            self._put(f"{entity}/classes", rr.SegmentationImage(np.array(truth.classes)))
        if truth.depth is not None:
            metres = np.where(np.isfinite(truth.depth), truth.depth, 0.0).astype(np.float32)
            self._put(f"{entity}/true_depth", rr.DepthImage(metres, meter=1.0))
        boxes = np.array([label.box_px for label in truth.labels], float).reshape(-1, 4)
        # our last pixels are inside the box, Rerun's corners are edges
        boxes[:, 2:] += 1.0
        numbers = [self._recording.classes.index(label.class_name) for label in truth.labels]
        names = [label.name for label in truth.labels]
        kind = rr.Box2DFormat.XYXY
        self._put(f"{entity}/boxes", rr.Boxes2D(array=boxes, array_format=kind, class_ids=numbers, labels=names))
        sizes = np.array([label.size for label in truth.labels], float).reshape(-1, 3)
        centres = np.array([label.centre for label in truth.labels], float).reshape(-1, 3)
        turns = [rr.RotationAxisAngle([0.0, 0.0, 1.0], rr.Angle(rad=label.yaw)) for label in truth.labels]
        solid = rr.Boxes3D(half_sizes=0.5 * sizes, centers=centres, rotation_axis_angles=turns, class_ids=numbers)
        self._put(f"world/labels/{entity.removeprefix('world/')}", solid)

    def _depth(self, entity: str, image: DepthImage) -> None:
        self._put(entity, self._rr.DepthImage(np.array(image.depth), meter=1.0))

    def _scan(self, entity: str, scan: LidarScan) -> None:
        # copied, because decoded arrays may be unaligned, which Arrow refuses
        points = np.array(scan.points)
        self._put(entity, self._rr.Points3D(points, class_ids=scan.classes.astype(np.uint16), radii=0.03))

    def _radar(self, entity: str, scan: RadarScan) -> None:
        self._put(f"{entity}/volts", self._rr.Image(volts_picture(scan.volts)).compress(jpeg_quality=JPEG_QUALITY))

    def _imu(self, entity: str, sample: ImuSample) -> None:
        self._put(f"{entity}/angular_velocity", self._rr.Scalars(1.0 * sample.angular_velocity))
        self._put(f"{entity}/specific_force", self._rr.Scalars(1.0 * sample.specific_force))

    def _fix(self, entity: str, fix: GnssFix) -> None:
        if fix.fix_type:
            self._put(
                f"map/{entity}", self._rr.GeoPoints(lat_lon=[[fix.latitude_deg, fix.longitude_deg]], radii=[-6.0])
            )
        self._put(f"{entity}/altitude", self._rr.Scalars(fix.altitude))
        self._put(f"{entity}/velocity", self._rr.Scalars(1.0 * fix.velocity_enu))

    def _barometer(self, entity: str, sample: BarometerSample) -> None:
        self._put(f"{entity}/altitude", self._rr.Scalars(1.0 * sample.altitude))

    def _magnetometer(self, entity: str, sample: MagnetometerSample) -> None:
        self._put(f"{entity}/microtesla", self._rr.Scalars(1e6 * sample.field_tesla))

    def _event(self, entity: str, event: Event) -> None:
        self._put("events", self._rr.TextLog(f"{event.kind}: {event.text}"))


def _blueprint(recording: Recording) -> Any:
    """World and cameras side by side, plots below."""
    import rerun.blueprint as rrb

    images = [entity_of(recording, name) for name in recording.infos if entity_of(recording, name).endswith("/image")]
    several = len(recording.vehicles) > 1
    pictures = []
    for entity in dict.fromkeys(images):
        name = " ".join(entity.split("/")[1 if several else -2 : -1])
        # entities below an image would be drawn over it
        plain = ["$origin/**", "- $origin/classes", "- $origin/true_depth"]
        pictures.append(rrb.Spatial2DView(origin=entity, contents=plain, name=name))
        if images.count(entity) > 1:
            classes = ["$origin/classes", "$origin/boxes"]
            pictures.append(rrb.Spatial2DView(origin=entity, contents=classes, name=f"{name}, classes"))
    heights = ["plots/height"] if not several else [f"plots/{vehicle}/height" for vehicle in recording.vehicles]
    plots = [rrb.TimeSeriesView(origin="plots", contents=heights, name="height, m")]
    for record, part, name in (
        ("ImuSample", "angular_velocity", "rad/s"),
        ("ImuSample", "specific_force", "m/s²"),
        ("GnssFix", "velocity", "m/s"),
    ):
        for stream in recording.streams_of(record):
            origin = f"{entity_of(recording, stream)}/{part}"
            plots.append(rrb.TimeSeriesView(origin=origin, name=f"{origin.split('/', 1)[1].rsplit('/', 1)[0]}, {name}"))
    # true depth reaches the horizon, which would make everything else too small to see
    near = ["$origin/**", *(f"- /{entity}/true_depth" for entity in dict.fromkeys(images))]
    world = rrb.Spatial3DView(origin="world", contents=near, name="world")
    top = rrb.Horizontal(world, rrb.Grid(*pictures), column_shares=[3, 2]) if pictures else world
    return rrb.Blueprint(rrb.Vertical(top, rrb.Horizontal(*plots), row_shares=[3, 1]), collapse_panels=True)
