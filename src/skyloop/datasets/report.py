"""`skyloop report`: writes one HTML file with the content of a dataset and the result of its checks."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import yaml
from numpy.typing import NDArray

from skyloop.core.files import write_whole
from skyloop.datasets.check_journal import Finding, named
from skyloop.datasets.check_noise import NoiseCheck, NoiseRow
from skyloop.datasets.checking import check
from skyloop.datasets.export import finished_formats
from skyloop.datasets.recording_plan import PLAN, RecordingPlan
from skyloop.datasets.report_html import (
    HtmlCell,
    boxed,
    class_colours,
    figure,
    jpeg,
    key_of,
    page,
    plot,
    png,
    section,
    table,
    verdict,
)
from skyloop.datasets.report_labels import LEAST_SHARE, Found, labels_section
from skyloop.recording.picture_legends import id_picture
from skyloop.recording.recording import Recording, open_recording
from skyloop.recording.stream_pictures import LIDAR_REACH, PAINTERS, scan_picture
from skyloop.sensors.radar.processing.processor import RadarProcessor
from skyloop_client.errors import DatasetError, SkyloopError
from skyloop_client.messages import CameraImage, Event, ImageTruth, Label, LidarScan, Message, RadarScan, VehicleState
from skyloop_client.streams import NS_PER_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "report.html"
SHEET, SHEET_PX = 12, 360
"""Number of images in the contact sheet, and their width."""
MOST_FINDINGS = 40
NOTES = {
    "DepthImage /depth": "Depth is on a logarithmic scale: 0.3 m is red, 60 m and beyond dark blue, black no value.",
    "/normals": "Normals: east is red, north green, up blue.",
    "LidarScan": "LiDAR is seen from above, forward up, rings 10 m apart; low is blue, high is yellow.",
    "RadarScan": "Radar is after its clutter is removed: range upwards, receding to the right, bright is strong.",
}
"""Explanations of pictures, by record or by kind of truth."""
TRACKS = ("-", "--", ":", "-.")
"""Lines of the vehicles in turn."""


@dataclass(slots=True)
class _Survey:
    """The data collected in one pass over the journal."""

    stamps: dict[str, list[int]] = field(default_factory=dict)
    tracks: dict[str, list[tuple[float, ...]]] = field(default_factory=dict)
    """By vehicle: s, then m east, north, up, then m/s."""
    sheet: list[tuple[str, int, NDArray[np.uint8], tuple[Label, ...]]] = field(default_factory=list)
    """Camera, stamp, colour, labels."""
    labels: list[Found] = field(default_factory=list)
    pixels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(256, np.int64))
    """Number of pixels of each semantic class."""
    samples: dict[str, Message] = field(default_factory=dict)
    """By stream with a picture: the sample nearest the middle."""
    radar: dict[str, list[RadarScan]] = field(default_factory=dict)
    """By stream: the last bursts up to the middle, because the clutter filter needs several."""
    noise: list[NoiseRow] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    """What vehicles flew into, one line each."""


def write_report(folder: Path) -> Path:
    """Write `report.html` into a dataset. The same dataset gives the same bytes."""
    recording = open_recording(folder)
    survey = _survey(recording)
    if not survey.stamps:
        raise DatasetError(
            f"'{folder}' holds no complete group of frames to report on; `skyloop record --resume` first"
        )
    facts = recording.facts
    scenario = facts.get("scenario", {})
    world = scenario.get("world", {}).get("name") or scenario.get("world", {}).get("file") or "?"
    cameras = [stream for stream in recording.streams_of("CameraImage") if recording.infos[stream].vehicle]
    frames = max((len(survey.stamps.get(stream, ())) for stream in cameras), default=0)
    lead = f"{frames or facts['frames']} frames at {facts['rate_hz']:g} Hz in the world '{world}', seed {facts['seed']}"
    if recording.complete_groups() < recording.n_groups:
        lead += f"; {recording.complete_groups()} of {recording.n_groups} groups are recorded"
    sections = [
        _findings(check(folder), survey),
        _sheet(survey),
        _one_instant(recording, survey),
        _flight(survey),
        _streams(recording, survey),
        labels_section(survey.labels, survey.pixels, recording.classes),
        _noise(survey.noise),
        _provenance(recording),
    ]
    path = folder / NAME
    write_whole(path, page(f"Dataset {scenario.get('name', folder.name)}", lead, [part for part in sections if part]))
    return path


def _survey(recording: Recording) -> _Survey:
    survey, noise = _Survey(), NoiseCheck(recording)
    cameras = _sheet_cameras(recording)
    stamps: dict[str, list[int]] = {camera: [] for camera in cameras}
    for message in recording.messages(cameras):
        stamps[message.stream].append(message.t_ns)
    middle = next((taken[len(taken) // 2] for taken in stamps.values() if taken), 0)
    chosen = set()
    for camera, taken in stamps.items():
        count = min(max(SHEET // len(cameras), 4), len(taken))
        chosen |= {(camera, taken[round(k)]) for k in np.linspace(0, len(taken) - 1, count)}
    images: dict[tuple[str, int], NDArray[np.uint8]] = {}
    labels: dict[tuple[str, int], tuple[Label, ...]] = {}
    for message in recording.messages():
        survey.stamps.setdefault(message.stream, []).append(message.t_ns)
        noise.add(message)
        data = message.data
        if isinstance(data, VehicleState) and message.stream.startswith("truth/"):
            speed = float(np.linalg.norm(data.velocity_world))
            track = survey.tracks.setdefault(message.stream.removeprefix("truth/"), [])
            track.append((message.t_ns / NS_PER_S, *data.position.tolist(), speed))
        if isinstance(data, Event) and data.contact is not None and data.contact.name != "ground":
            survey.hits.append(f"{message.stream.split('/')[0]} at {data.t_ns / NS_PER_S:.2f} s: {data.text}")
        image_key = message.stream.removeprefix("truth/"), message.t_ns
        if isinstance(data, ImageTruth):
            survey.labels += [(image_key, label) for label in data.labels]
            if data.classes is not None:
                survey.pixels += np.bincount(data.classes.ravel(), minlength=256)
            if image_key in chosen:
                labels[image_key] = data.labels
        if image_key in chosen and isinstance(data, CameraImage):
            images[image_key] = data.colour
        if message.t_ns <= middle and type(data).__name__ in PAINTERS:
            survey.samples[message.stream] = message
            if isinstance(data, RadarScan):
                survey.radar.setdefault(message.stream, []).append(data)
                del survey.radar[message.stream][:-10]
    image_keys = sorted(images, key=lambda image_key: (cameras.index(image_key[0]), image_key[1]))
    survey.sheet = [(*image_key, images[image_key], labels.get(image_key, ())) for image_key in image_keys]
    survey.noise = noise.rows()
    return survey


def _sheet_cameras(recording: Recording) -> list[str]:
    """For each vehicle the first camera with recorded truth, otherwise the first."""
    out = []
    for vehicle in recording.vehicles:
        cameras = [name for name in recording.streams_of("CameraImage") if recording.infos[name].vehicle == vehicle]
        known = [camera for camera in cameras if f"truth/{camera}" in recording.infos]
        out += (known or cameras)[:1]
    return out


def _findings(findings: list[Finding], survey: _Survey) -> str:
    off = [f"{row.stream}, {row.quantity}" for row in survey.noise if row.is_judged and not row.holds]
    warnings = ""
    if off:
        what = html.escape(named(f"{len(off)} measured noises are not as configured (see Noise)", off))
        warnings = f'<p><span class="bad">{what}</span></p>'
    if survey.hits:
        what = html.escape(named(f"the flight touched things {len(survey.hits)} times", survey.hits))
        warnings += f'<p><span class="warn">{what}</span></p>'
    if not findings:
        sound = verdict(True, "Nothing is wrong")
        return section("Check", f"<p>{sound} with the journal, the formats or the hashes.</p>{warnings}")
    kinds = {"error": "bad", "warning": "warn"}
    rows = [
        (HtmlCell(f'<span class="{kinds[finding.severity]}">{finding.severity}</span>'), finding.where, finding.what)
        for finding in findings[:MOST_FINDINGS]
    ]
    more = f"and {len(findings) - MOST_FINDINGS} more; see skyloop check" if len(findings) > MOST_FINDINGS else ""
    return section("Check", table(("", "where", "what"), rows) + warnings, more)


def _sheet(survey: _Survey) -> str:
    if not survey.sheet:
        return ""
    colours = class_colours(label.class_name for _, label in survey.labels)
    tiles = []
    for camera, t_ns, image, labels in survey.sheet:
        count = f", {len(labels)} labelled" if labels else ""
        caption = f"{camera}, {t_ns / NS_PER_S:.2f} s{count}"
        tiles.append(figure(jpeg(boxed(image, labels, colours, SHEET_PX)), caption))
    return section("Images", f'<div class="grid">{"".join(tiles)}</div>' + key_of(colours))


def _one_instant(recording: Recording, survey: _Survey) -> str:
    """The pictures of all sensors at the middle of the flight."""
    tiles, shown = [], set[str]()
    for stream in recording.infos:
        message = survey.samples.get(stream)
        if message is None:
            continue
        pictures = PAINTERS[type(message.data).__name__](message.data)
        if isinstance(message.data, RadarScan):
            pictures = _radar_pictures(recording, survey, stream) or pictures
        if isinstance(message.data, LidarScan):
            pictures = {"": _closer(message.data)}
        shown |= {type(message.data).__name__, *pictures}
        for suffix, picture in pictures.items():
            photo = isinstance(message.data, CameraImage) or suffix == "/normals"
            tiles.append(
                figure((jpeg if photo else png)(picture), f"{stream}{suffix}, {message.t_ns / NS_PER_S:.2f} s")
            )
    if not tiles:
        return ""
    note = " ".join(text for kinds, text in NOTES.items() if shown & set(kinds.split()))
    body = f'<div class="grid">{"".join(tiles)}</div>{_classes_key(recording, survey)}'
    return section("One instant, every sensor", body, note)


def _classes_key(recording: Recording, survey: _Survey) -> str:
    """Colours of the classes that appear in the class pictures."""
    truths = [message.data.classes for message in survey.samples.values() if isinstance(message.data, ImageTruth)]
    counts = sum((np.bincount(each.ravel(), minlength=256) for each in truths if each is not None), np.zeros(256, int))
    seen = [k for k in np.flatnonzero(counts > LEAST_SHARE * counts.sum()).tolist() if k < len(recording.classes)]
    tints = id_picture(np.array(seen, int)).tolist() if seen else []
    return key_of({recording.classes[k]: f"rgb({r},{g},{b})" for k, (r, g, b) in zip(seen, tints, strict=True)})


def _radar_pictures(recording: Recording, survey: _Survey, stream: str) -> dict[str, object]:
    try:
        processor = RadarProcessor(recording.infos[stream].details)
        for scan in survey.radar[stream]:
            image, _ = processor.process(scan)
    except (SkyloopError, KeyError, ValueError):
        # a user-defined radar may not fit our processing
        return {}
    return {" as range over speed": PAINTERS["RangeDopplerImage"](image)[""]}


def _closer(scan: LidarScan) -> NDArray[np.uint8]:
    """The middle of a scan's picture with its points, enlarged up to three times, with visible dots."""
    points = np.array(scan.points)
    if len(points):
        low, high = np.quantile(points[:, 2], (0.02, 0.98))
        # mapped to the picture's range of heights, without its darkest colours
        points[:, 2] = np.interp(points[:, 2], [low, max(high, low + 1.0)], [-4.0, 8.0])
    plain = scan_picture(points)
    shifts = [(down, right) for down in (0, 1) for right in (0, 1)]
    picture: NDArray[np.uint8] = np.maximum.reduce([np.roll(plain, shift, (0, 1)) for shift in shifts])
    middle = picture.shape[0] // 2
    away = np.hypot(scan.points[:, 0], scan.points[:, 1]) if len(scan.points) else np.array([LIDAR_REACH])
    half = int(np.clip(1.1 * np.quantile(away, 0.98) / LIDAR_REACH, 1 / 3, 1.0) * middle)
    times = max(1, middle // half)
    near = picture[middle - half : middle + half, middle - half : middle + half]
    return near.repeat(times, axis=0).repeat(times, axis=1)


def _flight(survey: _Survey) -> str:
    tracks = {name: np.array(track).T for name, track in survey.tracks.items() if len(track) > 1}
    if not tracks:
        return ""
    notes = []
    for name, (t, *position, _) in tracks.items():
        flown = float(np.linalg.norm(np.diff(position, axis=1), axis=0).sum())
        notes.append(f"{name + ': ' if len(tracks) > 1 else ''}{flown:.1f} m in {t[-1] - t[0]:.2f} s.")

    last = name

    def draw(above: Axes, height: Axes) -> None:
        for k, (name, (t, east, north, up, speed)) in enumerate(tracks.items()):
            of, line = (f" of {name}", TRACKS[k % len(TRACKS)]) if len(tracks) > 1 else ("", "-")
            above.plot(east, north, line, color="#1f77b4", label=name if of else None)
            above.plot(east[0], north[0], "o", color="#2a9d5c", label="first" if name == last else None)
            above.plot(east[-1], north[-1], "s", color="#d1495b", label="last" if name == last else None)
            height.plot(t, up, line, color="#1f77b4", label=f"height{of}, m")
            height.plot(t, speed, line, color="#e08e1b", label=f"speed{of}, m/s")
        above.set_aspect("equal", adjustable="datalim")
        above.set(title="from above", xlabel="east, m", ylabel="north, m")
        above.legend(loc="best", frameon=False)
        height.set(title="height and speed", xlabel="simulated time, s", ylim=(0.0, None))
        height.legend(loc="best", frameon=False)

    return section("Flight", plot(draw, (10.6, 3.6), widths=(1.0, 1.4)), " ".join(notes))


def _streams(recording: Recording, survey: _Survey) -> str:
    rows = []
    for stream, info in recording.infos.items():
        stamps = survey.stamps.get(stream, [])
        wanted = info.rate.hz if info.rate is not None else "–"
        steps = np.diff(stamps)
        measured = (len(stamps) - 1) * NS_PER_S / (stamps[-1] - stamps[0]) if len(set(stamps)) > 1 else "–"
        gaps: int | str = int((steps > 1.5e9 * info.rate.period_s).sum()) if info.rate is not None else "–"
        longest = float(steps.max() / 1e6) if len(steps) else "–"
        rows.append((stream, info.message, wanted, measured, len(stamps), gaps, longest, info.latency_ns / 1e6))
    head = ("stream", "record", "Hz wanted", "Hz measured", "samples", "gaps", "longest step, ms", "latency, ms")
    note = "A gap is a step of more than one and a half periods."
    return section("Streams", table(head, rows), f"{note} {_image_sizes(recording)}".strip())


def _image_sizes(recording: Recording) -> str:
    """A word of warning where cameras of a vehicle have images of different sizes."""
    sizes: dict[str, str] = {}
    for stream in (*recording.streams_of("CameraImage"), *recording.streams_of("DepthImage")):
        details = recording.infos[stream].details
        if recording.infos[stream].vehicle and "width" in details:
            sizes[stream] = f"{details['width']}×{details['height']}"
    if len(set(sizes.values())) < 2:
        return ""
    listed = ", ".join(f"{stream} {size}" for stream, size in sizes.items())
    return f"Images have different sizes ({listed} px): a pixel of one is not the same pixel of another."


def _noise(rows: list[NoiseRow]) -> str:
    if not rows:
        return ""
    shown = []
    for row in rows:
        configured = f"{row.low:.4g}" if row.low == row.high else f"{row.low:.3g} to {row.high:.3g}"
        said = verdict(row.holds) if row.is_judged else HtmlCell("too few to say")
        shown.append(
            (
                row.stream,
                row.quantity,
                configured,
                f"{row.measured:.4g}",
                row.unit,
                row.n,
                f"±{row.tolerance:.0%}",
                said,
            )
        )
    note = (
        "Samples against the truth at the same instants; four standard errors are allowed. Configured depth noise "
        "depends on the surface, which is not recorded, so the span over all materials is given."
    )
    return section(
        "Noise", table(("stream", "quantity", "configured", "measured", "unit", "n", "allowed", ""), shown), note
    )


def _provenance(recording: Recording) -> str:
    facts, folder = recording.facts, recording.folder
    marks = finished_formats(folder)
    planned = RecordingPlan.read(folder).formats if (folder / PLAN).exists() else ()
    rows = [
        ("scenario", facts.get("scenario", {}).get("name", "")),
        ("seed", str(facts["seed"])),
        ("vehicle" if len(recording.vehicles) == 1 else "vehicles", ", ".join(recording.vehicles)),
        (
            "frames",
            f"{facts['frames']} at {facts['rate_hz']:g} Hz, in {recording.n_groups} groups of {facts['group_frames']}",
        ),
        ("formats planned", ", ".join(planned) or "none"),
        ("formats finished", ", ".join(sorted(marks)) or "none"),
        ("versions", ", ".join(f"{name} {version}" for name, version in facts.get("versions", {}).items())),
    ]
    resolved = html.escape(yaml.safe_dump(facts.get("scenario", {}), sort_keys=False))
    details = f"<details><summary>the scenario, every default filled in</summary><pre>{resolved}</pre></details>"
    return section("Provenance", table(("", ""), rows) + details)
