"""CSV tables: points and tracks of each radar, and the truth of every person.

    <radar>_points.csv   one row for each point that was found in a burst, in the radar's axes (forward, left, up)
    <radar>_tracks.csv   one row for each track at each burst, in the same axes
    people.csv           one row for each person of the world at each image, seen or not, in world axes

Points and tracks come from the journal if the flight had them. Otherwise they are computed from the recorded bursts.
People move as a function of seed and time, so the world is built again for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from skyloop.core.files import write_whole
from skyloop.recording.formats.label_images import emptied
from skyloop.recording.formats.registry import Format, NothingForFormat
from skyloop.recording.recording import Recording
from skyloop.sensors.labels import box_in_space
from skyloop.sensors.radar.processing.processor import RadarProcessor
from skyloop.sim.scenario import make_scenario
from skyloop.world.model import Model
from skyloop.world.semantics import CLASS_ID
from skyloop.world.world import build_world
from skyloop_client.messages import ImageTruth, Label, Message, RadarDetections, RadarScan

FORMAT = Format(
    "skyloop.datasets.tables:CsvTables",
    "csv",
    False,
    "CSV: radar points and tracks, truth of each person",
    one_vehicle=True,
)
POINTS = ("t_ns", "x", "y", "z", "range", "speed", "azimuth", "elevation", "snr_db")
TRACKS = ("t_ns", "track", "x", "y", "z", "vx", "vy", "vz")
PEOPLE = (
    "t_ns", "instance", "name", "x", "y", "z", "vx", "vy", "vz", "length", "width", "height", "yaw",
    "in_image", "left", "top", "right", "bottom", "occlusion", "truncation",
)  # fmt: skip
NOT_SEEN = ("0", "", "", "", "", "", "")


class CsvTables:
    """Of one vehicle."""

    first_group = 0

    def __init__(self, recording: Recording) -> None:
        mine = {name: info for name, info in recording.infos.items() if info.vehicle == recording.vehicle}
        found = {recording.sensor_name(name) for name in mine if mine[name].message == "RadarDetections"}
        self._sensor_name = recording.sensor_name
        self._processors = {
            name: RadarProcessor(info.details)
            for name, info in mine.items()
            if info.message == "RadarScan" and recording.sensor_name(name) not in found
        }
        self._detections = {name for name, info in mine.items() if info.message == "RadarDetections"}
        self._images = next((name for name, info in mine.items() if info.message == "ImageTruth"), None)
        self._people = None if self._images is None else People.of(recording)
        if not (self._processors or self._detections or self._people):
            raise NothingForFormat(
                f"'{recording.folder}' has neither a radar nor people in front of a camera with truth"
            )
        self._folder = emptied(recording, "csv")
        self._rows: dict[str, list[str]] = {}
        for name in (*self._processors, *self._detections):
            self._table(f"{recording.sensor_name(name)}_points", POINTS)
            self._table(f"{recording.sensor_name(name)}_tracks", TRACKS)
        if self._people:
            self._table("people", PEOPLE)

    def _table(self, name: str, columns: Iterable[str]) -> None:
        self._rows.setdefault(name, [",".join(columns)])

    def add(self, messages: list[Message]) -> None:
        for message in messages:
            data = message.data
            if message.stream in self._processors and isinstance(data, RadarScan):
                self._add_radar(message.stream, self._processors[message.stream].process(data)[1])
            elif message.stream in self._detections and isinstance(data, RadarDetections):
                self._add_radar(message.stream, data)
            elif message.stream == self._images and self._people and isinstance(data, ImageTruth):
                self._rows["people"] += self._people.rows(data.t_ns, {label.instance: label for label in data.labels})

    def _add_radar(self, stream: str, found: RadarDetections) -> None:
        sensor = self._sensor_name(stream)
        columns = (*found.points.T, found.ranges, found.speeds, found.azimuths, found.elevations, found.snr_db)
        self._rows[f"{sensor}_points"] += [_line(found.t_ns, *numbers) for numbers in zip(*columns, strict=True)]
        tracks = zip(found.track_ids.tolist(), found.track_positions, found.track_velocities, strict=True)
        self._rows[f"{sensor}_tracks"] += [_line(found.t_ns, number, *at, *speed) for number, at, speed in tracks]

    def finish(self) -> None:
        for name, rows in self._rows.items():
            write_whole(self._folder / f"{name}.csv", "\n".join(rows) + "\n")


class People:
    """Positions of all people, visible or not."""

    def __init__(self, model: Model, numbers: list[int]) -> None:
        self._model, self._numbers = model, numbers

    @classmethod
    def of(cls, recording: Recording) -> People | None:
        """None if the world has no people."""
        scenario = make_scenario(recording.facts["scenario"], place=str(recording.folder / "recording.json"))
        folder = None if scenario.folder is None else Path(scenario.folder)
        model = build_world(scenario.world, scenario.seed, folder).model
        model.freeze()
        numbers = [number for number, thing in enumerate(model.objects) if thing.class_id == CLASS_ID["person"]]
        return cls(model, numbers) if numbers else None

    def rows(self, t_ns: int, seen: dict[int, Label]) -> Iterator[str]:
        """Rows of one instant. `seen` are the labels of the image."""
        model, motion = self._model, self._model.motion(t_ns)
        poses = np.concatenate([model.standing_poses, motion.poses])
        for number in self._numbers:
            rows = model.objects[number].rows
            centre, size, yaw = box_in_space(model, rows, [poses[row] for row in rows])
            # from the pelvis, because the box swings with the limbs
            walks = rows[0] >= model.n_standing
            velocity = motion.velocities[rows[0] - model.n_standing] if walks else np.zeros(3)
            label = seen.get(number)
            visibility: tuple[object, ...] = NOT_SEEN
            if label is not None:
                visibility = (1, *label.box_px, label.occlusion, label.truncation)
            yield _line(t_ns, number, model.objects[number].name, *centre, *velocity, *size, yaw, *visibility)


def _line(*cells: object) -> str:
    return ",".join(f"{float(cell):.6g}" if isinstance(cell, float | np.floating) else str(cell) for cell in cells)
