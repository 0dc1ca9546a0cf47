"""The verbs of detection: train a detector, and run it on images."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from skyloop.cli.console import Json, err, next_folder, out
from skyloop.cli.datasets import names
from skyloop.cli.logs import Verbs, is_quiet
from skyloop_client.errors import DatasetError, Interrupted, unknown_name

app = Verbs()

TRAINED = ("people",)
MakeData = Annotated[
    bool, typer.Option("--make-data", help="Make the dataset instead of training; resumes if interrupted.")
]
OutFolder = Annotated[
    Path | None,
    typer.Option("--out", help="The folder. Default: runs/train-people-<n>, with --make-data datasets/people."),
]
Minutes = Annotated[float | None, typer.Option(help="Limit of wall time; fewer epochs are planned if they do not fit.")]


@app.command()
def train(
    what: Annotated[str, typer.Argument(metavar="people", help="What to find: people, or your own classes.")],
    *,
    make_data: MakeData = False,
    data: Annotated[Path, typer.Option(help="A dataset in COCO or VOC with train and val.")] = Path("datasets/people"),
    out_: OutFolder = None,
    images: Annotated[int, typer.Option(help="With --make-data: the images of train, val and test.")] = 20_000,
    workers: Annotated[int, typer.Option(help="With --make-data: the processes; 0 is one per core.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    epochs: Annotated[int, typer.Option(help="The maximum number of epochs.")] = 120,
    minutes: Minutes = None,
    batch: Annotated[int, typer.Option(help="Images of 320 x 240 in one step.")] = 64,
    rate: Annotated[float, typer.Option(help="The highest learning rate, for a batch of 64.")] = 2e-3,
    classes: Annotated[str, typer.Option(help="The classes to find, e.g. person,car. Default: all.")] = "",
    seed: Annotated[int, typer.Option(help="The seed of weights, order and augmentation.")] = 1,
    start: Annotated[str, typer.Option(help="Weights to start from: people, the shipped ones, or a file.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training in --out.")] = False,
    json_: Json = False,
) -> None:
    """Train a detector on a dataset, and write it as safetensors and as ONNX with 32, 16 and 8 bits.

    Examples: `skyloop train people --make-data` · `skyloop train people --data my/coco --classes person --device cuda`
    """
    if what not in TRAINED:
        raise unknown_name("training", what, TRAINED)
    if workers < 0:
        raise DatasetError(f"--workers {workers}: give 1 or more, or 0 for one per core")
    if make_data:
        _make_data(out_ or Path("datasets/people"), images, workers or os.cpu_count() or 1, json_)
        return
    from skyloop_detect.commands.train import torch_device, train_detector

    torch_device(device)
    from skyloop_detect.training import TrainingOptions, TrainingProgress

    folder = _training_folder(out_, resume)
    options = TrainingOptions(epochs=epochs, batch=batch, rate=rate, seed=seed, minutes=minutes, start=start)
    with _bars(json_) as bar:
        loading = bar.add_task("loading", total=None, label="images")
        training = bar.add_task("training", total=None, label="", visible=False)

        def load(done: int, of: int) -> None:
            bar.update(loading, completed=done, total=of)

        def show(at: TrainingProgress) -> None:
            text = f"epoch {min(at.epoch + 1, at.epochs)}/{at.epochs}, loss {at.loss:.3f}, AP50 {at.ap50:.3f}"
            bar.update(training, completed=at.epoch + at.share, total=at.epochs, label=text, visible=True)

        summary = train_detector(
            data, folder, options, device=device, classes=names(classes), loading=load, progress=show
        )
    print(json.dumps(summary, indent=2) if json_ else summary_text(summary))


def _training_folder(given: Path | None, resume: bool) -> Path:
    from skyloop.recording.run_folder import make_empty_folder

    if resume:
        if given is None or not (given / "state.json").is_file():
            raise DatasetError("--resume needs --out: the folder of the interrupted training")
        return given
    folder = given or next_folder("train-people")
    make_empty_folder(folder)
    return folder


def _make_data(folder: Path, images: int, workers: int, json_: bool) -> None:
    from skyloop_detect.training_data.people_set import make_people, plan_people

    plan = plan_people(folder, images)
    total = sum(entry["images"] for entry in plan["places"])
    try:
        with _bars(json_) as bar:
            task = bar.add_task("making images", total=total, label="")
            summary = make_people(
                folder, workers, lambda done, rate: bar.update(task, completed=done, label=f"{rate:.1f}/s")
            )
    except Interrupted as interruption:
        raise Interrupted(f"{interruption}; the same command continues") from None
    if json_:
        print(json.dumps(summary, indent=2))
        return
    made, seconds = summary["images_made_now"], summary["wall_s"]
    out.print(f"{folder}: {summary['images']} images, {made} of them made now in {seconds:.0f} s")
    out.print(f"  train with: skyloop train people --data {folder}", highlight=False)


@contextmanager
def _bars(quiet: bool) -> Iterator[Progress]:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total} {task.fields[label]}"),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=quiet or is_quiet() or not err.is_terminal,
    )
    with bar:
        yield bar


def summary_text(summary: dict[str, Any]) -> str:
    sizes = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in summary["sizes"].items())
    first = summary["classes"][0]
    tests = "".join(f"\n  {key} {scores[first]:.3f}" for key, scores in summary["test"].items() if first in scores)
    return (
        f"{summary['folder']}: AP50 {summary['val_ap50']:.3f} of '{first}' on the validation images\n"
        f"  {summary['epochs']} epochs in {summary['wall_s']:.0f} s ({summary['seconds_per_epoch']:.1f} s each) on "
        f"{summary['device']}\n  {sizes}{tests}"
    )


@app.command()
def detect(
    source: Annotated[Path, typer.Argument(metavar="FILE|FOLDER|DATASET", help="An image, images, or COCO or VOC.")],
    *,
    out_: Annotated[
        Path | None, typer.Option("--out", help="The folder; it must be new or empty. Default: runs/detect-<n>.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="people, people-fp16, or a file. Default: people.")
    ] = None,
    runtime: Annotated[str, typer.Option(help="auto, openvino, onnxruntime, tensorrt or torch.")] = "auto",
    score: Annotated[float, typer.Option(help="The minimum score of a box, 0 to 1.")] = 0.35,
    classes: Annotated[str, typer.Option(help="Only these classes, e.g. person,car. Default: all.")] = "",
    split: Annotated[str, typer.Option(help="The split of a dataset: train, val or test.")] = "test",
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Write the images with their boxes.")] = True,
    threads: Annotated[int, typer.Option(help="Threads of the runtime.")] = 1,
    json_: Json = False,
) -> None:
    """Find people and objects in images: draw boxes, write COCO results, and score them where there are labels.

    Examples: `skyloop detect photo.jpg` · `skyloop detect datasets/people --model runs/train-people-1/people.onnx`
    """
    from skyloop.recording.run_folder import make_empty_folder
    from skyloop_detect.commands.detect import detect_in
    from skyloop_detect.detector import load_detector

    if not source.exists():
        raise DatasetError(f"'{source}' does not exist; give an image, a folder of images, or a dataset")
    detector = load_detector(model, runtime, least_score=score, threads=threads)
    folder = out_ or next_folder("detect")
    make_empty_folder(folder)
    with _bars(json_) as bar:
        task = bar.add_task("looking", total=None, label="images")

        def progress(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        summary = detect_in(source, folder, detector, only=names(classes), split=split, draw=draw, progress=progress)
    if json_:
        print(json.dumps(summary, indent=2))
        return
    out.print(f"{summary['objects']} objects in {summary['images']} images ({summary['runtime']})")
    for name, ap50 in summary.get("ap50", {}).items():
        out.print(f"  {name}: AP50 {ap50:.3f}")
    out.print(f"files: {folder}", highlight=False)
