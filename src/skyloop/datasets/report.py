"""`skyloop report`: one HTML file that shows what a dataset holds and whether it is what it should be."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from skyloop.datasets.check_journal import Finding
from skyloop.datasets.checking import check
from skyloop.datasets.export import whole_formats
from skyloop.datasets.noise_check import NoiseCheck, NoiseRow
from skyloop.datasets.report_parts import (
    Cell,
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
from skyloop.errors import DatasetError, SkyloopError
from skyloop.messages import CameraImage, ImageTruth, Label, LidarScan, Message, RadarScan, VehicleState
from skyloop.perception.radar_processing.processor import RadarProcessor
from skyloop.recording.files import write_whole
from skyloop.recording.pictures import LIDAR_REACH, PAINTERS
from skyloop.recording.recording import Recording, open_recording
from skyloop.streams import NS_PER_S

NAME = "report.html"
SHEET, SHEET_PX = 12, 360
"""Images of the contact sheet, and their width."""
MOST_FINDINGS = 40
MOST_TOLERANCE = 0.5
"""Beyond which a measured noise says nothing."""


@dataclass(slots=True)
class _Survey:
    """What one reading of the journal gathers."""

    stamps: dict[str, list[int]] = field(default_factory=dict)
    track: list[tuple[float, ...]] = field(default_factory=list)
    """s, then m east, north, up, then m/s."""
    sheet: list[tuple[int, NDArray[np.uint8], tuple[Label, ...]]] = field(default_factory=list)
    labels: list[tuple[int, Label]] = field(default_factory=list)
    """With the stamp of their image."""
    pixels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(256, np.int64))
    """Of each semantic class."""
    samples: dict[str, Message] = field(default_factory=dict)
    """By stream: the one nearest the middle, of those one can look at."""
    radar: dict[str, list[RadarScan]] = field(default_factory=dict)
    """By stream: the last bursts up to the middle, as clutter needs some to be known."""
    noise: list[NoiseRow] = field(default_factory=list)


def write_report(folder: Path) -> Path:
    """`report.html` in a dataset; the same dataset gives the same bytes."""
    recording = open_recording(folder)
    survey = _survey(recording)
    if not survey.stamps:
        raise DatasetError(f"'{folder}' holds no whole group of frames to report on; `skyloop record --resume` first")
    facts = recording.facts
    scenario = facts.get("scenario", {})
    world = scenario.get("world", {}).get("name") or scenario.get("world", {}).get("file") or "?"
    cameras = recording.streams_of("CameraImage")
    frames = max((len(survey.stamps.get(stream, ())) for stream in cameras), default=0)
    lead = f"{frames or facts['frames']} frames at {facts['rate_hz']:g} Hz in the world '{world}', seed {facts['seed']}"
    if recording.whole_groups() < recording.n_groups:
        lead += f"; {recording.whole_groups()} of {recording.n_groups} groups are recorded"
    sections = [
        _findings(check(folder)),
        _sheet(survey),
        _one_instant(recording, survey),
        _flight(survey),
        _streams(recording, survey),
        _labels(recording, survey),
        _noise(survey.noise),
        _provenance(recording),
    ]
    path = folder / NAME
    write_whole(path, page(f"Dataset {scenario.get('name', folder.name)}", lead, [part for part in sections if part]))
    return path


def _survey(recording: Recording) -> _Survey:
    survey, noise = _Survey(), NoiseCheck(recording)
    camera, truth = _camera_with_truth(recording)
    stamps = [message.t_ns for message in recording.messages({camera})] if camera else []
    chosen = {stamps[round(k)] for k in np.linspace(0, len(stamps) - 1, min(SHEET, len(stamps)))} if stamps else set()
    middle = stamps[len(stamps) // 2] if stamps else 0
    images: dict[int, NDArray[np.uint8]] = {}
    labels: dict[int, tuple[Label, ...]] = {}
    for message in recording.messages():
        survey.stamps.setdefault(message.stream, []).append(message.t_ns)
        noise.add(message)
        data = message.data
        if isinstance(data, VehicleState) and message.stream == f"truth/{recording.vehicle}":
            speed = float(np.linalg.norm(data.velocity_world))
            survey.track.append((message.t_ns / NS_PER_S, *data.position.tolist(), speed))
        if isinstance(data, ImageTruth):
            survey.labels += [(message.t_ns, label) for label in data.labels]
            if data.classes is not None:
                survey.pixels += np.bincount(data.classes.ravel(), minlength=256)
        if message.t_ns in chosen and message.stream in (camera, truth):
            if isinstance(data, CameraImage):
                images[message.t_ns] = data.colour
            else:
                labels[message.t_ns] = data.labels
        if message.t_ns <= middle and type(data).__name__ in PAINTERS:
            survey.samples[message.stream] = message
            if isinstance(data, RadarScan):
                survey.radar.setdefault(message.stream, []).append(data)
                del survey.radar[message.stream][:-10]
    survey.sheet = [(t_ns, images[t_ns], labels.get(t_ns, ())) for t_ns in sorted(images)]
    survey.noise = noise.rows()
    return survey


def _camera_with_truth(recording: Recording) -> tuple[str, str]:
    """The camera whose truth has labels; otherwise the first."""
    cameras = recording.streams_of("CameraImage")
    for camera in cameras:
        if f"truth/{camera}" in recording.infos:
            return camera, f"truth/{camera}"
    return (cameras[0] if cameras else ""), ""


def _findings(findings: list[Finding]) -> str:
    if not findings:
        return section(
            "Check", f"<p>{verdict(True, 'Nothing is wrong')} with the journal, the formats or the hashes.</p>"
        )
    kinds = {"error": "bad", "warning": "warn"}
    rows = [
        (Cell(f'<span class="{kinds[finding.severity]}">{finding.severity}</span>'), finding.where, finding.what)
        for finding in findings[:MOST_FINDINGS]
    ]
    more = f"and {len(findings) - MOST_FINDINGS} more; see skyloop check" if len(findings) > MOST_FINDINGS else ""
    return section("Check", table(("", "where", "what"), rows), more)


def _sheet(survey: _Survey) -> str:
    if not survey.sheet:
        return ""
    colours = class_colours(label.class_name for _, label in survey.labels)
    tiles = []
    for t_ns, image, labels in survey.sheet:
        count = f", {len(labels)} labelled" if labels else ""
        tiles.append(figure(jpeg(boxed(image, labels, colours, SHEET_PX)), f"{t_ns / NS_PER_S:.2f} s{count}"))
    return section("Images", f'<div class="grid">{"".join(tiles)}</div>' + (key_of(colours) if colours else ""))


def _one_instant(recording: Recording, survey: _Survey) -> str:
    """What every sensor one can look at showed at the middle."""
    tiles = []
    for stream in recording.infos:
        message = survey.samples.get(stream)
        if message is None:
            continue
        pictures = PAINTERS[type(message.data).__name__](message.data)
        if isinstance(message.data, RadarScan):
            pictures = _radar_pictures(recording, survey, stream) or pictures
        if isinstance(message.data, LidarScan):
            pictures = {"": _closer(pictures[""], message.data)}
        for suffix, picture in pictures.items():
            photo = isinstance(message.data, CameraImage) or suffix == "/normals"
            tiles.append(
                figure((jpeg if photo else png)(picture), f"{stream}{suffix}, {message.t_ns / NS_PER_S:.2f} s")
            )
    if not tiles:
        return ""
    note = (
        "Depth: near is red, far is blue, black has no value. LiDAR from above, forward up, rings 10 m apart, colour "
        "is height. Radar after its clutter is removed: nearest below, receding to the right, bright is strong."
    )
    return section("One instant, every sensor", f'<div class="grid">{"".join(tiles)}</div>', note)


def _radar_pictures(recording: Recording, survey: _Survey, stream: str) -> dict[str, Any]:
    try:
        processor = RadarProcessor(recording.infos[stream].details)
        for scan in survey.radar[stream]:
            image, _ = processor.process(scan)
    except (SkyloopError, KeyError, ValueError):
        # a radar of one's own need not fit our processing
        return {}
    return {" as range over speed": PAINTERS["RangeDopplerImage"](image)[""]}


def _closer(picture: NDArray[np.uint8], scan: LidarScan) -> NDArray[np.uint8]:
    """The middle of a scan's picture, where its points are, three times as large at most."""
    middle = picture.shape[0] // 2
    away = np.hypot(scan.points[:, 0], scan.points[:, 1]) if len(scan.points) else np.array([LIDAR_REACH])
    half = int(np.clip(1.1 * np.quantile(away, 0.98) / LIDAR_REACH, 1 / 3, 1.0) * middle)
    times = max(1, middle // half)
    near = picture[middle - half : middle + half, middle - half : middle + half]
    return near.repeat(times, axis=0).repeat(times, axis=1)


def _flight(survey: _Survey) -> str:
    if len(survey.track) < 2:
        return ""
    t, east, north, up, speed = np.array(survey.track).T
    flown = float(np.linalg.norm(np.diff([east, north, up], axis=1), axis=0).sum())

    def draw(above: Any, height: Any) -> None:
        above.plot(east, north, color="#1f77b4")
        above.plot(east[0], north[0], "o", color="#2a9d5c", label="first")
        above.plot(east[-1], north[-1], "s", color="#d1495b", label="last")
        above.set_aspect("equal", adjustable="datalim")
        above.set(title="from above", xlabel="east, m", ylabel="north, m")
        above.legend(loc="best", frameon=False)
        height.plot(t, up, color="#1f77b4", label="height, m")
        height.plot(t, speed, color="#e08e1b", label="speed, m/s")
        height.set(title="height and speed", xlabel="simulated time, s", ylim=(0.0, None))
        height.legend(loc="best", frameon=False)

    return section("Flight", plot(draw, (10.6, 3.6), widths=(1.0, 1.4)), f"{flown:.1f} m in {t[-1] - t[0]:.2f} s.")


def _streams(recording: Recording, survey: _Survey) -> str:
    rows = []
    for stream, info in recording.infos.items():
        stamps = survey.stamps.get(stream, [])
        wanted = info.rate.hz if info.rate is not None else "–"
        steps = np.diff(stamps)
        measured = (len(stamps) - 1) * NS_PER_S / (stamps[-1] - stamps[0]) if len(stamps) > 1 else "–"
        gaps: Any = int((steps > 1.5e9 * info.rate.period_s).sum()) if info.rate is not None else "–"
        longest = float(steps.max() / 1e6) if len(steps) else "–"
        rows.append((stream, info.message, wanted, measured, len(stamps), gaps, longest, info.latency_ns / 1e6))
    head = ("stream", "record", "Hz wanted", "Hz measured", "samples", "gaps", "longest step, ms", "latency, ms")
    return section("Streams", table(head, rows), "A gap is a step of more than one and a half periods.")


def _labels(recording: Recording, survey: _Survey) -> str:
    parts = []
    if survey.labels:
        colours = class_colours(label.class_name for _, label in survey.labels)
        rows = [
            _class_row(name, [(t, label) for t, label in survey.labels if label.class_name == name]) for name in colours
        ]
        head = (
            "class", "labels", "things", "images", "median width, px", "median height, px", "median distance, m",
            "over half hidden", "cut by the edge",
        )  # fmt: skip
        parts += [
            table(head, rows),
            plot(lambda *axes: _draw_labels(axes, survey, colours), columns=3, size=(10.6, 2.8)),
        ]
    total = int(survey.pixels.sum())
    if total:
        classes = recording.classes
        order = np.argsort(-survey.pixels, kind="stable")
        shares = [
            f"{classes[k] if k < len(classes) else k} {survey.pixels[k] / total:.1%}"
            for k in order.tolist()
            if survey.pixels[k] > 0.0005 * total
        ]
        parts.append(f"<p>Pixels by class: {html.escape(', '.join(shares))}.</p>")
    elif not survey.labels:
        return ""
    return section("Labels", "\n".join(parts) if survey.labels else "<p>No labelled things.</p>" + "".join(parts))


def _class_row(name: str, found: list[tuple[int, Label]]) -> tuple[Any, ...]:
    boxes = np.array([label.box_px for _, label in found])
    return (
        name,
        len(found),
        len({label.instance for _, label in found}),
        len({t_ns for t_ns, _ in found}),
        float(np.median(boxes[:, 2] - boxes[:, 0] + 1)),
        float(np.median(boxes[:, 3] - boxes[:, 1] + 1)),
        round(float(np.median([label.distance for _, label in found])), 1),
        sum(label.occlusion > 0.5 for _, label in found),
        sum(label.truncation > 0.0 for _, label in found),
    )


def _draw_labels(axes: Any, survey: _Survey, colours: dict[str, str]) -> None:
    sizes, occlusions, sides = axes
    for name, colour in colours.items():
        labels = [label for _, label in survey.labels if label.class_name == name]
        boxes = np.array([label.box_px for label in labels])
        sizes.plot(
            boxes[:, 2] - boxes[:, 0] + 1, boxes[:, 3] - boxes[:, 1] + 1, ".", color=colour, ms=4, alpha=0.6, label=name
        )
    kinds = [[label for _, label in survey.labels if label.class_name == name] for name in colours]
    stack = {"stacked": True, "color": list(colours.values()), "rwidth": 0.9}
    occlusions.hist([[label.occlusion for label in labels] for labels in kinds], bins=np.linspace(0, 1, 11), **stack)
    farthest = max(label.distance for _, label in survey.labels)
    sides.hist([[label.distance for label in labels] for labels in kinds], bins=np.linspace(0, farthest, 13), **stack)
    sizes.set(title="box sizes", xlabel="width, px", ylabel="height, px", xlim=(0, None), ylim=(0, None))
    occlusions.set(title="occlusion", xlabel="share hidden", ylabel="labels", xlim=(0, 1))
    sides.set(title="distance", xlabel="m", ylabel="labels")
    handles, names = sizes.get_legend_handles_labels()
    occlusions.legend(handles, names, loc="upper right", frameon=False)


def _noise(rows: list[NoiseRow]) -> str:
    if not rows:
        return ""
    shown = []
    for row in rows:
        configured = f"{row.low:.4g}" if row.low == row.high else f"{row.low:.3g} to {row.high:.3g}"
        said = Cell("too few to say") if row.tolerance > MOST_TOLERANCE else verdict(row.holds)
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
    marks = whole_formats(folder)
    plan = {}
    if (folder / "plan.json").exists():
        plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    rows = [
        ("scenario", facts.get("scenario", {}).get("name", "")),
        ("seed", str(facts["seed"])),
        ("vehicle", recording.vehicle),
        (
            "frames",
            f"{facts['frames']} at {facts['rate_hz']:g} Hz, in {recording.n_groups} groups of {facts['group_frames']}",
        ),
        ("formats planned", ", ".join(plan.get("formats", [])) or "none"),
        ("formats finished", ", ".join(sorted(marks)) or "none"),
        ("versions", ", ".join(f"{name} {version}" for name, version in facts.get("versions", {}).items())),
    ]
    resolved = html.escape(yaml.safe_dump(facts.get("scenario", {}), sort_keys=False))
    details = f"<details><summary>the scenario, every default filled in</summary><pre>{resolved}</pre></details>"
    return section("Provenance", table(("", ""), rows) + details)
