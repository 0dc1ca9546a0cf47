"""The verbs for datasets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from skyloop.cli.console import AllowCode, Cockpit, Json, Quality, data_only, err, next_folder, out, tell_cockpit
from skyloop.cli.logs import Verbs, is_quiet
from skyloop_client.errors import DatasetError, Interrupted

if TYPE_CHECKING:
    from skyloop.recording.run_folder import Summary

app = Verbs()

Dataset = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `skyloop record` made.")]


Altitude = Annotated[
    float | None, typer.Option(help="The height of the flight, m. The default depends on the world; park: 4.")
]
Look = Annotated[
    float | None,
    typer.Option(help="The pitch of camera and radar, degrees below the horizon. Default: 0; park: 15."),
]
People = Annotated[
    int | None, typer.Option(help="The number of people in park, urban or warehouse. Default: the world's; park: 40.")
]
Seeds = Annotated[
    str | None,
    typer.Option(metavar="SEEDS", help="Record one flight per seed into one dataset, e.g. 1..5 or 3,9."),
]
OneSeed = Annotated[int | None, typer.Option(help="The seed of world, noise and wind. Default: 1, or the scenario's.")]
OutFolder = Annotated[
    Path | None, typer.Option("--out", help="The folder; it must be new or empty. Default: datasets/<world>-<n>.")
]
OwnScenario = Annotated[
    str | None, typer.Option(help="A scenario of your own, instead of the standard vehicle and sensors.")
]
Sensors = Annotated[str, typer.Option(help="all, or some of rgb,stereo,depth,lidar,radar,imu,gps,baro,mag.")]
Formats = Annotated[
    str, typer.Option(help="Some of asl,voc,coco,yolo,kitti,tum,mcap,csv; none keeps the journal only.")
]
Split = Annotated[str, typer.Option(help="How frames are split for training: blocks of the flight, or random.")]
Workers = Annotated[int, typer.Option(help="The number of processes that share the work; 0 is one per core.")]
WholeFlight = Annotated[
    bool, typer.Option("--whole-flight", help="Record from the ground on, not from the start of the trajectory.")
]
Randomise = Annotated[str, typer.Option(help="What the seed varies: some of sun,weather,textures,colours,people.")]


def names(text: str) -> tuple[str, ...]:
    """The names in a text with commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def image_size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise DatasetError(f"--size {text}: give WIDTHxHEIGHT in pixels, e.g. 640x480")
    return int(width), int(height)


@app.command(opens_code=True)
def record(
    *,
    out_: OutFolder = None,
    world: Annotated[
        str, typer.Option(help="A world of `skyloop list`, or a .glb, .gltf, .obj, .sdf or .world file.")
    ] = "park",
    scenario: OwnScenario = None,
    frames: Annotated[int, typer.Option(help="The number of frames, of each seed.")] = 500,
    rate: Annotated[float, typer.Option(help="Frames per simulated second.")] = 20.0,
    trajectory: Annotated[str, typer.Option(help="square, circle, lemniscate, or a .csv of x,y,z rows.")] = "square",
    speed: Annotated[float, typer.Option(help="The speed of the flight, m/s.")] = 3.0,
    altitude: Altitude = None,
    look: Look = None,
    people: People = None,
    size: Annotated[str, typer.Option(help="Width and height of all images, px.")] = "640x480",
    quality: Quality = "low",
    sensors: Sensors = "all",
    formats: Formats = "asl",
    split: Split = "blocks",
    whole_flight: WholeFlight = False,
    workers: Workers = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted recording.")] = False,
    seed: OneSeed = None,
    seeds: Seeds = None,
    randomise: Randomise = "",
    report_: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html into the dataset.")] = True,
    json_: Json = False,
) -> None:
    """Fly, sample every sensor on one clock, and write a dataset that other tools open.

    Examples: `skyloop record --seeds 1..5 --formats coco --out data/park` · `skyloop record --out data/park --resume`
    """
    from skyloop.datasets.rig import SENSORS, RecordOptions, to_train_on

    if resume and out_ is None:
        raise DatasetError("--resume needs --out: name the folder of the recording to continue")
    if workers < 0:
        raise DatasetError(f"--workers {workers}: give 1 or more, or 0 for one per core")
    folder = out_ or next_folder(Path(scenario or world).stem, Path("datasets"))
    if not resume:
        options = RecordOptions(
            world, frames, rate, trajectory, speed, quality, tuple(SENSORS) if sensors == "all" else names(sensors),
            1 if seed is None else seed, names(randomise), size=image_size(size),
            **to_train_on(world, altitude=altitude, look_deg=look, people=people),
        )  # fmt: skip
        wanted = () if formats == "none" else names(formats)
        _plan(options, folder, scenario, seed, seeds, formats=wanted, split=split, whole_flight=whole_flight)
    summary = _fly(folder, workers or os.cpu_count() or 1, quiet=json_)
    if report_:
        _write_report(folder)
    print(json.dumps(summary, indent=2) if json_ else told(summary, report_))


def _plan(options: Any, folder: Path, scenario: str | None, seed: int | None, seeds: str | None, **terms: Any) -> None:
    """Record the standard rig or a user's scenario, with one seed or several."""
    from skyloop.campaigns.seeds import seeds_from
    from skyloop.datasets.recording_run import plan_recording
    from skyloop.datasets.rig import rig_scenario
    from skyloop.datasets.seed_set import plan_seeds
    from skyloop.sim.scenario import load_scenario

    if seed is not None and seeds is not None:
        raise DatasetError("--seed and --seeds: give one of the two")
    planned = load_scenario(scenario, {} if seed is None else {"seed": seed}) if scenario else rig_scenario(options)
    terms = {"frames": options.frames, "rate_hz": options.rate_hz, **terms}
    if seeds is None:
        plan_recording(planned, folder, **terms)
    else:
        plan_seeds(planned, seeds_from(seeds), folder, **terms)


def _fly(folder: Path, workers: int, *, quiet: bool) -> Summary:
    from skyloop.datasets.recording_plan import RecordingPlan
    from skyloop.datasets.recording_run import record
    from skyloop.datasets.seed_set import is_seed_set, read_seeds, record_seeds

    bar = Progress(
        TextColumn("recording"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} frames, {task.fields[fps]:.1f}/s"),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=quiet or is_quiet() or not err.is_terminal,
    )
    with goes_on_with_resume(folder), bar:
        several = is_seed_set(folder)
        if several:
            plan = read_seeds(folder)
            total = plan.frames * len(plan.seeds)
        else:
            total = RecordingPlan.read(folder).frames
        task = bar.add_task("", total=total, fps=0.0)

        def show(done: int, fps: float) -> None:
            bar.update(task, completed=done, fps=fps)

        return record_seeds(folder, workers, show) if several else record(folder, workers, show)


def _write_report(folder: Path) -> None:
    from skyloop.datasets.any_dataset import write_report

    write_report(folder)


@contextmanager
def goes_on_with_resume(folder: Path) -> Iterator[None]:
    """After Ctrl-C, print how to continue the recording if there is one."""
    try:
        yield
    except Interrupted as interruption:
        if not folder.exists():
            raise
        raise Interrupted(f"{interruption}; `skyloop record --resume --out {folder}` continues") from None


def told(summary: Summary, with_report: bool) -> str:
    """A summary in a few lines."""
    seeds = f" of {summary['seeds']} seeds" if "seeds" in summary else ""
    lines = [
        f"{summary['frames']} frames{seeds}, {summary['journal_bytes'] / 1e6:.0f} MB in the journal; "
        f"{summary['frames_flown_now']} recorded now in {summary['flight_s']:.1f} s, {summary['fps']:.1f} per second, "
        f"after {summary['start_s']:.1f} s of preparation"
    ]
    for name, seconds in summary["formats_s"].items():
        lines.append(f"  {name}: {seconds:.1f} s")
    holds = " (report.html shows what is in it)" if with_report else ""
    return "\n".join([*lines, f"dataset: {summary['folder']}{holds}"])


@app.command()
def export(
    folder: Dataset,
    to: Annotated[str, typer.Option("--to", help="Some of asl,voc,coco,yolo,kitti,tum,mcap,csv.")],
    allow_code: AllowCode = False,
) -> None:
    """Write further formats from a dataset's journal.

    Examples: `skyloop export data/park --to voc,mcap`
    """
    from skyloop.datasets.any_dataset import export_formats as write

    with data_only(allow_code):
        written = write(folder, names(to))
    for name, (seconds, outputs) in written.items():
        print(f"{name}: {', '.join(map(str, outputs))}, {seconds:.1f} s")


@app.command()
def replay(
    folder: Dataset,
    speed: Annotated[float, typer.Option(help="Times real time; 0 is as fast as possible.")] = 1.0,
    cockpit: Cockpit = None,
    allow_code: AllowCode = False,
    json_: Json = False,
) -> None:
    """Publish a recording, or a EuRoC sequence, on a bus as if it were live, and count the messages.

    With --cockpit a page plays it instead, with a timeline, until Ctrl-C; this also works with run folders.

    Examples: `skyloop replay data/park` · `skyloop replay MH_01_easy --speed 0` · `skyloop replay data/park --cockpit`
    """
    from skyloop.datasets.any_dataset import one_seed
    from skyloop.recording.replay import replay_at as play

    if not 0.0 <= speed < 1e6:
        raise DatasetError(f"--speed {speed:g}: give 0 or a positive number")
    if cockpit is not None:
        from skyloop.cockpit.cockpit_beside import CockpitConfig
        from skyloop.cockpit.player import play_folder
        from skyloop.core.validation import validated

        host, port = validated(CockpitConfig, {"address": cockpit}, "--cockpit").address
        with data_only(allow_code):
            play_folder(one_seed(folder), speed, host, port, opened=tell_cockpit)
        return
    counts = play(one_seed(folder), speed)
    if json_:
        print(json.dumps(counts, indent=2))
    else:
        print("\n".join(f"{count:7d}  {stream}" for stream, count in counts.items()))


@app.command()
def check(
    folder: Dataset,
    repair_: Annotated[
        bool, typer.Option("--repair", help="First repair from the journal what can be repaired, and list it.")
    ] = False,
    json_: Json = False,
) -> None:
    """List the defects of a dataset; exit code 1 if there is an error.

    Examples: `skyloop check datasets/park` · `skyloop check datasets/park --repair`
    """
    from skyloop.datasets.any_dataset import check as find
    from skyloop.datasets.any_dataset import repair

    done = repair(folder) if repair_ else []
    findings = find(folder)
    errors = sum(finding.severity == "error" for finding in findings)
    if json_:
        told = [{"severity": f.severity, "where": f.where, "what": f.what} for f in findings]
        print(json.dumps({"done": done, "findings": told}, indent=2))
    else:
        for line in done:
            out.print(f"repair: {line}", markup=False, highlight=False)
        for finding in findings:
            out.print(str(finding), markup=False, highlight=False, style="red" if finding.severity == "error" else None)
        warnings = len(findings) - errors
        counts = [f"{n} {word}{'s' * (n > 1)}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
        out.print(f"{folder}: {', '.join(counts) or 'no defects'}", markup=False, highlight=False)
    if errors:
        raise typer.Exit(1)


@app.command()
def report(folder: Dataset) -> None:
    """Write DIR/report.html: images, flight, rates and gaps, labels, noise and provenance in one file.

    Examples: `skyloop report datasets/park`
    """
    from skyloop.datasets.any_dataset import write_report

    path = write_report(folder)
    out.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, opens in any browser", markup=False, highlight=False)


@app.command()
def view(
    folder: Dataset,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE.rrd", help="Write a file instead of opening the viewer.")
    ] = None,
) -> None:
    """Show a dataset in the Rerun viewer, on one timeline (needs the extra `view`).

    Examples: `skyloop view datasets/park` · `skyloop view datasets/park --save park.rrd`
    """
    from skyloop.datasets.any_dataset import one_seed
    from skyloop.datasets.viewing import view as show

    count = show(one_seed(folder), save)
    out.print(f"{count} messages " + ("sent to the viewer" if save is None else f"in {save}"), markup=False)
