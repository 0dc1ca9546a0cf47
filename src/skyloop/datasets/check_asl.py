"""Checks an ASL folder (mav0; mav1 for a second vehicle): rows match files, and stamps match the journal."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from skyloop.core.files import PARTIAL
from skyloop.datasets.check_journal import Finding, Journal, Severity, named
from skyloop.recording.asl_reader import read_sensor_yaml
from skyloop.recording.recording import Recording
from skyloop_client.regular_files import read_text
from skyloop_client.streams import Rate


@dataclass(slots=True)
class AslSensor:
    """One sensor folder of mav0 on disk."""

    folder: Path
    stamps: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """Files named by the rows. Empty if the rows hold the values themselves."""
    bad_rows: list[str] = field(default_factory=list)

    @property
    def has_files(self) -> bool:
        return (self.folder / "data").is_dir()

    def orphans(self) -> list[Path]:
        """Files that no row names."""
        if not self.has_files:
            return []
        rows = set(self.files)
        return [path for path in sorted((self.folder / "data").iterdir()) if path.name not in rows]


def asl_sensors(mav0: Path) -> list[AslSensor]:
    return [read_sensor(path) for path in sorted(mav0.iterdir()) if path.is_dir() and not path.name.endswith(PARTIAL)]


def read_sensor(folder: Path) -> AslSensor:
    sensor = AslSensor(folder)
    path = folder / "data.csv"
    if not path.is_file():
        return sensor
    text = read_text(path, errors="replace")
    if not text.endswith("\n"):
        sensor.bad_rows.append(f"the last line is cut off after '{text.splitlines()[-1][:30] if text else ''}'")
        text = text[: text.rfind("\n") + 1]
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        if not row or row[0].startswith("#"):
            continue
        try:
            sensor.stamps.append(int(row[0]))
        except ValueError:
            sensor.bad_rows.append(f"line {number} begins with '{row[0][:30]}', not with a stamp")
            continue
        if sensor.has_files:
            if len(row) < 2:
                sensor.bad_rows.append(f"line {number} names no file")
            else:
                sensor.files.append(row[1].strip())
    return sensor


def check_asl(
    mav0: Path, recording: Recording | None, journal: Journal, marked: bool, vehicle: str = ""
) -> list[Finding]:
    """The folder of one vehicle of a recording, or of a sequence without a recording.

    With `marked` it must hold every complete group. Otherwise it may lag behind the journal, but not contradict it."""
    lag: Severity = "error" if marked else "warning"
    findings = []
    sensors = asl_sensors(mav0)
    if not sensors:
        return [Finding("holds no sensor", mav0.name, lag)]
    for sensor in sensors:
        where = sensor.folder.relative_to(mav0.parent).as_posix()
        if not (sensor.folder / "data.csv").is_file():
            if recording is None and (sensor.folder / "data.ply").is_file():
                continue  # EuRoC's pointcloud0: a scan of the room
            findings.append(Finding("data.csv is missing", where, lag))
            continue
        findings += [Finding(row, f"{where}/data.csv") for row in sensor.bad_rows]
        findings += _check_files(sensor, where, lag)
        findings += _check_order(sensor, where)
        rate, trouble = _rate_of(sensor.folder / "sensor.yaml")
        if trouble:
            findings.append(Finding(trouble, f"{where}/sensor.yaml"))
        stream = _stream_of(sensor, recording, journal, vehicle)
        if stream is not None:
            findings += _against_journal(sensor, where, stream, journal, lag)
        elif rate is not None:
            findings += _check_rate(sensor, where, rate)
    return findings


def _check_files(sensor: AslSensor, where: str, lag: Severity) -> list[Finding]:
    findings = []
    lost = [name for name in sensor.files if not (sensor.folder / "data" / name).is_file()]
    empty = [name for name in sensor.files if name not in lost and not (sensor.folder / "data" / name).stat().st_size]
    orphans = [path.name for path in sensor.orphans() if not path.name.endswith(PARTIAL)]
    if lost:
        findings.append(Finding(named(f"{len(lost)} rows have no file in data/", lost), f"{where}/data.csv"))
    if empty:
        findings.append(Finding(named(f"{len(empty)} files are empty", empty), f"{where}/data"))
    if orphans:
        findings.append(Finding(named(f"{len(orphans)} files have no row in data.csv", orphans), f"{where}/data", lag))
    return findings


def _check_order(sensor: AslSensor, where: str) -> list[Finding]:
    bad = [f"{later} ns after {earlier} ns" for earlier, later in pairwise(sensor.stamps) if later <= earlier]
    return [Finding(named(f"{len(bad)} stamps do not rise", bad), f"{where}/data.csv")] if bad else []


def _rate_of(path: Path) -> tuple[Rate | None, str]:
    """The rate in sensor.yaml, and the faults of that file."""
    try:
        data: Any = read_sensor_yaml(path)
    except FileNotFoundError:
        return None, "is missing"
    except (OSError, ValueError, yaml.YAMLError) as error:
        return None, f"cannot be read: {' '.join(str(error).split())}"
    if not isinstance(data, dict) or "sensor_type" not in data:
        return None, "does not say sensor_type"
    pose = data.get("T_BS")
    if pose is not None and not (isinstance(pose, dict) and len(pose.get("data", ())) == 16):
        return None, "T_BS is not a matrix of 16 numbers"
    rate = data.get("rate_hz")
    if rate is None:
        return None, ""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not rate > 0:
        return None, f"rate_hz is {rate}, not a positive number"
    return Rate.from_hz(rate), ""


def _stream_of(sensor: AslSensor, recording: Recording | None, journal: Journal, vehicle: str) -> str | None:
    """The stream from which a folder was written: one of its sensor, or the one with the most common stamps."""
    if recording is None or not journal.samples or not sensor.stamps:
        return None
    of_vehicle = [
        name for name in journal.samples if name in recording.infos and recording.infos[name].vehicle == vehicle
    ]
    own = [name for name in of_vehicle if recording.sensor_name(name) == sensor.folder.name]
    rows = set(sensor.stamps)

    def shared(stream: str) -> tuple[int, int, bool]:
        stamps = {t_ns for _, t_ns, _ in journal.samples[stream]}
        return len(rows & stamps), -len(stamps), stream.startswith("truth/") != bool(own)

    return max(own or of_vehicle, key=shared, default=None)


def _against_journal(sensor: AslSensor, where: str, stream: str, journal: Journal, lag: Severity) -> list[Finding]:
    expected = sorted({t_ns for _, t_ns, _ in journal.samples[stream]})
    known, rows = set(expected), set(sensor.stamps)
    strange = [f"{t_ns} ns" for t_ns in sensor.stamps if t_ns not in known and t_ns <= expected[-1]]
    beyond = sum(t_ns > expected[-1] for t_ns in sensor.stamps)
    missing = [t_ns for t_ns in expected if t_ns not in rows]
    last = max(sensor.stamps)
    inside = [f"{t_ns} ns" for t_ns in missing if t_ns < last]
    behind = sum(t_ns > last for t_ns in missing)
    findings = []
    file = f"{where}/data.csv"
    if strange:
        findings.append(Finding(named(f"{len(strange)} rows are not in the journal's {stream}", strange), file))
    if beyond:
        what = f"{beyond} rows go beyond the journal's {stream}, which ends at {expected[-1]} ns"
        findings.append(Finding(what, file, "error" if journal.complete else "warning"))
    if inside:
        findings.append(Finding(named(f"{len(inside)} samples of {stream} have no row", inside), file))
    if behind:
        what = f"ends at {last} ns, {behind} samples before the journal's {stream}"
        findings.append(Finding(what, file, lag))
    return findings


def _check_rate(sensor: AslSensor, where: str, rate: Rate) -> list[Finding]:
    """Without a journal: samples are one period apart within 5 %, because real sequences jitter."""
    period_ns = 1e9 * rate.period_s
    gaps = [
        f"{(later - earlier) / 1e6:.1f} ms after {earlier} ns"
        for earlier, later in pairwise(sensor.stamps)
        if later > earlier and abs(later - earlier - period_ns) > 0.05 * period_ns + 1
    ]
    what = f"{len(gaps)} intervals are not the {period_ns / 1e6:.1f} ms of {rate.hz:g} Hz"
    return [Finding(named(what, gaps), f"{where}/data.csv", "warning")] if gaps else []
