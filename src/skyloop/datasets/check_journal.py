"""Checks a journal: complete records, stamps on their grids, no missing or double samples, labels as in the masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.journal import HEAD, GroupReader, is_complete
from skyloop.recording.recording import Recording
from skyloop_client.codec import decode_message
from skyloop_client.errors import CodecError
from skyloop_client.messages import ImageTruth, Message
from skyloop_client.streams import Rate, StreamInfo

MOST_NAMED = 5
"""Samples that are listed one by one. Further ones are only counted."""

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    """One line for people."""
    where: str
    """A file of the dataset, or a stream."""
    severity: Severity = "error"
    """error: the dataset is wrong; warning: it is shorter than planned, but sound."""

    def __str__(self) -> str:
        return f"{self.severity}: {self.where}: {self.what}"


@dataclass(slots=True)
class Journal:
    """The result of one pass over the journal."""

    findings: list[Finding] = field(default_factory=list)
    complete: bool = False
    """Every planned group exists and is sound."""
    broken: bool = False
    """A group that is marked as complete cannot be read to its end."""
    sound_groups: int = 0
    """Number of complete and readable groups from the first on."""
    samples: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    """By stream, in those groups: index, t_ns, arrival_ns in the order written."""


def named(what: str, items: Sequence[str]) -> str:
    """The first few items, and the number of further ones."""
    more = f" and {len(items) - MOST_NAMED} more" if len(items) > MOST_NAMED else ""
    return f"{what}: {', '.join(items[:MOST_NAMED])}{more}"


def check_journal(recording: Recording) -> Journal:
    """One pass over everything. Streams are checked over the sound groups from the first on."""
    journal = Journal()
    sound, masks = True, _Labels(recording)
    for group in range(recording.n_groups):
        path = recording.group_path(group)
        where = path.relative_to(recording.folder).as_posix()
        if not is_complete(path):
            sound = False
            state = "is not complete" if path.exists() else "is missing"
            what = f"group {group + 1} of {recording.n_groups} {state}; `skyloop record --resume` records it"
            journal.findings.append(Finding(what, where, "warning"))
            continue
        reader = _JournalReader(path)
        of_group: dict[str, list[tuple[int, int, int]]] = {}
        for message in reader.messages():
            of_group.setdefault(message.stream, []).append((message.index, message.t_ns, message.arrival_ns))
            if isinstance(message.data, ImageTruth):
                journal.findings += masks.check(message)
        if reader.fault:
            sound, journal.broken = False, True
            journal.findings.append(Finding(f"{reader.fault}; `skyloop record --resume` flies the group again", where))
        if sound:
            journal.sound_groups += 1
            for stream, samples in of_group.items():
                journal.samples.setdefault(stream, []).extend(samples)
    journal.complete = sound
    if journal.sound_groups:
        journal.findings += _check_streams(recording, journal)
    return journal


class _JournalReader:
    """Reads and decodes a group. It reports where and why the group ends early."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fault = ""

    def messages(self) -> Iterator[Message]:
        reader = GroupReader(self._path)
        for number, (body, end) in enumerate(reader.records()):
            try:
                yield decode_message(body)
            except CodecError as error:
                at = end - len(body) - HEAD.size
                self.fault = f"record {number} at byte {at} cannot be decoded ({error})"
                return
        self.fault = reader.fault


def _check_streams(recording: Recording, journal: Journal) -> list[Finding]:
    window = frames_window(recording, journal)
    findings = []
    for stream in journal.samples:
        if stream not in recording.infos:
            findings.append(Finding("is in the journal but not in recording.json", stream))
    for stream, info in recording.infos.items():
        samples = journal.samples.get(stream, [])
        if any(later[2] < earlier[2] for earlier, later in pairwise(samples)):
            findings.append(Finding("samples are not in the order of their arrival", stream))
        if info.rate is not None:
            severity: Severity = "warning" if _has_faults(recording, stream) else "error"
            findings += _check_stamps(stream, info, samples, window, severity)
    return findings


def frames_window(recording: Recording, journal: Journal) -> tuple[int, int]:
    """From the first frame to the end of the last complete group. Everything that arrived in it was recorded."""
    rate = Rate.from_hz(recording.facts["rate_hz"])
    first = min(samples[0][2] for samples in journal.samples.values())
    # frames are on the grid of their rate; the extra nanosecond is for rates without whole periods
    start_ns = rate.due_ns(rate.count_until(first + 2) - 1)
    frames = min(journal.sound_groups * recording.facts["group_frames"], recording.facts["frames"])
    return start_ns, start_ns + rate.due_ns(frames)


def _check_stamps(
    stream: str, info: StreamInfo, samples: list[tuple[int, int, int]], window: tuple[int, int], severity: Severity
) -> list[Finding]:
    assert info.rate is not None
    due_ns = info.rate.due_ns
    first = info.rate.count_until(window[0] - info.latency_ns)
    end = info.rate.count_until(window[1] - info.latency_ns)
    findings = []
    if not samples:
        return [Finding(f"all {end - first} samples are missing", stream, severity)] if end > first else []
    seen: set[int] = set()
    twice, off, back = [], [], []
    before = -1
    for index, t_ns, _ in samples:
        sample = f"{index} at {t_ns} ns"
        if index in seen:
            twice.append(sample)
        elif t_ns <= before:
            back.append(sample)
        if t_ns != due_ns(index):
            off.append(f"{sample} instead of {due_ns(index)} ns")
        seen.add(index)
        before = max(before, t_ns)
    missing = [f"{index} at {due_ns(index)} ns" for index in range(first, end) if index not in seen]
    for what, items, how_bad in (
        ("samples are missing", missing, severity),
        ("samples are there twice", twice, "error"),
        ("stamps go backwards", back, "error"),
        (f"stamps are off the {info.rate.hz:g} Hz grid", off, "error"),
    ):
        if items:
            findings.append(Finding(named(f"{len(items)} {what}", items), stream, how_bad))
    return findings


def _has_faults(recording: Recording, stream: str) -> bool:
    """Whether the sensor is configured to drop or delay samples."""
    sensor, owner = recording.sensor_name(stream), recording.infos[stream].vehicle
    for vehicle in recording.facts.get("scenario", {}).get("vehicles", []):
        if vehicle.get("name", recording.vehicle) == owner:
            return bool(vehicle.get("sensors", {}).get(sensor, {}).get("faults"))
    return False


class _Labels:
    """Boxes are inside the image and match the instance mask."""

    def __init__(self, recording: Recording) -> None:
        self._sizes = {
            stream: (info.details.get("width"), info.details.get("height")) for stream, info in recording.infos.items()
        }

    def check(self, message: Message) -> list[Finding]:
        truth: ImageTruth = message.data
        findings = []
        width, height = self._sizes.get(message.stream, (None, None))
        boxes = None if truth.instances is None else boxes_of(truth.instances)
        where = f"{message.stream} {message.index} at {message.t_ns} ns"
        for label in truth.labels:
            left, top, right, bottom = label.box_px
            thing = f"label of {label.class_name} '{label.name}' (instance {label.instance})"
            if left < 0 or top < 0 or left > right or top > bottom:
                findings.append(Finding(f"{thing}: box {label.box_px} is no box", where))
            elif width is not None and height is not None and (right >= width or bottom >= height):
                findings.append(Finding(f"{thing}: box {label.box_px} leaves the {width}×{height} image", where))
            elif boxes is not None and boxes.get(label.instance) != (*label.box_px, label.visible_px):
                *box, visible = boxes.get(label.instance, (0, 0, -1, -1, 0))
                what = f"box {label.box_px} with {label.visible_px} px, but the mask has {tuple(box)} with {visible} px"
                findings.append(Finding(f"{thing}: {what}", where))
        return findings


def boxes_of(instances: NDArray[np.int32]) -> dict[int, tuple[int, int, int, int, int]]:
    """By instance: first column, first row, last column, last row, pixels; except the sky."""
    from scipy.ndimage import find_objects

    counts = np.bincount(instances.ravel())
    out = {}
    for number, window in enumerate(find_objects(instances), start=1):
        if window is not None:
            rows, columns = window
            out[number] = (columns.start, rows.start, columns.stop - 1, rows.stop - 1, int(counts[number]))
    return out
