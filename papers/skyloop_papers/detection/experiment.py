"""People found in images, as section V-C of airloop: accuracy, speed by runtime, time of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.campaigns.pools import local_pool
from skyloop.core.machine_info import usable_cores
from skyloop.core.system_packages import has_screen
from skyloop_detect.detector import LEAST_SCORE, load_detector
from skyloop_detect.scoring import LEAST_PX, MOST_HIDDEN, OVERLAP
from skyloop_detect.training_data.people_set import IMAGES, NEW_WORLDS, WORLDS, make_people, places_of, plan_tests
from skyloop_papers.detection.loop import AGAINST, LOOP, RUNTIMES, in_the_loop, loop_cells
from skyloop_papers.detection.scores import score_part, speed
from skyloop_papers.detection.training import training_cells, training_times
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.plots import figure
from skyloop_papers.runs import Job, Progress, Run, RunWorkers, all_runs
from skyloop_papers.tables import Cells, Figures, Form, by_table, lines, paragraph, table

PARTS = {"held-out seeds": "", "new world": "new-world", "bad weather": "bad-weather"}
"""By name: the folders of the people dataset whose test split it is."""
AIMS = {"held-out seeds": 0.90, "new world": 0.80, "bad weather": 0.60}
AIM_8_BITS, AIM_PER_S, AIM_VS_TORCH = 0.02, 100.0, 3.0
FILES = {"people": "people-int8.onnx", "people-fp16": "people-fp16.onnx", "people-torch": "people.safetensors"}
"""By the names of models, their files when the results were measured."""
WAYS = {
    "torch, 32 bits": ("people-torch", "torch"),
    "onnxruntime, 16-bit weights": ("people-fp16", "onnxruntime"),
    "onnxruntime, 8 bits": ("people", "onnxruntime"),
    "OpenVINO, 16-bit weights": ("people-fp16", "openvino"),
    "OpenVINO, 8 bits": ("people", "openvino"),
}
"""By name: the model and the runtime."""
SHOWN = "OpenVINO, 8 bits"
"""Whose curves, classes and misses are shown: the default of `load_detector`."""
PLAIN = "OpenVINO, 16-bit weights"
"""With which 8 bits are compared."""


@dataclass(frozen=True, slots=True)
class DetectionPlan(ExperimentPlan):
    """What is looked at. The quick form is a few images and two runtimes."""

    per_part: int = 800
    per_place: int = 20
    ways: tuple[str, ...] = tuple(WAYS)
    speed_images: int = 50
    speed_looks: int = 300
    training_steps: int = 3
    """Steps of a training that are timed on this machine's processor."""
    loop_seconds: float = 10.0
    """Simulated s of each flight of Table 8, with the detector in the loop."""

    def plain(self) -> dict[str, Any]:
        fixed = {
            "overlap": OVERLAP,
            "least_px": LEAST_PX,
            "most_hidden": MOST_HIDDEN,
            "least_score": LEAST_SCORE,
            "worlds": list(WORLDS),
            "new_worlds": list(NEW_WORLDS),
            "of_a_dataset_of": IMAGES,
            "ways_with": {name: [FILES[model], runtime] for name, (model, runtime) in WAYS.items()},
        }
        return {**asdict(self), **fixed}


QUICK = DetectionPlan(10, 5, (SHOWN,), 4, 20, 1, 1.0)


SCORED = "AP50 {ap50[person]:.3f} of {objects[person]} persons in {images} images"
FAST, IN_THE_LOOP = "{images_per_s:.1f} images per second", "{per_second:.1f} frames per second"
TORCH, ALONE = "torch, 32 bits", "detection alone"
LOST = "lost by 8 bits"
TRAINING = "training"


def job_name(kind: str, part: str, way: str) -> str:
    """Of one run; a name of a file too."""
    return f"{kind}-{part}-{way}".replace(" ", "_").replace(",", "")


class DetectionExperiment(Experiment[DetectionPlan, dict[str, Run]]):
    paper = "airloop"
    plans = DetectionPlan(), QUICK
    rules = (
        Rule("more", "the engine has most of a frame here, so a faster network gains less", column=f"{AGAINST}.*"),
        Rule("speed", "Jetson Nano", table="Table 8"),
    )
    pictures = ("detection-curves.png", "detection-failures.png")
    not_run_by_run = "it measures times of this machine"

    def fly(self, plan: DetectionPlan, folder: Path, progress: Progress, workers: RunWorkers) -> dict[str, Run]:
        """Make the test images, look at them in every way, time it."""
        load_detector(WAYS[SHOWN][0])
        data = folder / "data"
        plan_tests(data, plan.per_part, plan.per_place)
        images = make_people(data, usable_cores())
        progress(f"{images['images']} images, {images['images_made_now']} of them made now")
        runs = all_runs(score_jobs(plan, folder), local_pool(usable_cores()), progress, SCORED.format_map)
        # one after the other, so that none waits for a core
        runs |= all_runs(
            speed_jobs(plan, folder), local_pool(1), progress, "{images_per_s:.1f} images per second".format_map
        )
        runs |= all_runs(
            loop_jobs(plan, folder), local_pool(1), progress, "{per_second:.1f} frames per second".format_map
        )
        return runs | {TRAINING: training_times(data, plan.training_steps)}

    def judge(self, plan: DetectionPlan, runs: dict[str, Run]) -> list[Cell]:
        cells = []
        for part in PARTS:
            cells += _part(part, plan, runs)
        speeds = {way: runs[job_name("speed", "all", way)] for way in plan.ways}
        for way, run in speeds.items():
            about = {"aim": AIM_PER_S} if way != TORCH else {}
            cells.append(Cell("Table 8", ALONE, way, None, run["images_per_s"], "1/s", run["looks"], None, about))
        if TORCH in speeds:
            times, about = speeds[SHOWN]["images_per_s"] / speeds[TORCH]["images_per_s"], {"aim": AIM_VS_TORCH}
            cells.append(Cell("Table 8", ALONE, AGAINST, None, times, "times", conditions=about))
        cells += loop_cells([run for name, run in runs.items() if name.startswith("loop-")])
        return cells + training_cells(runs[TRAINING])

    def write(self, folder: Path, plan: DetectionPlan, runs: dict[str, Run], cells: Sequence[Cell]) -> None:
        curves = {part: runs[job_name("score", part, SHOWN)] for part in PARTS}
        draw_curves(curves, folder / "detection-curves.png")
        draw_failures(curves, folder / "detection-failures.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        by = Cells(found["accuracy"])
        aims = {f"{part}, aim ≥ {aim:.2f}": part for part, aim in AIMS.items()}
        return {
            "accuracy": by.by_figure("AP50 of persons", ACCURACY, aims),
            "classes": _classes(by),
            "conditions": _conditions(by),
            "speed": _speed(found["Table 8"]),
            "training": lines(found["Table 7"], TIMES, right=2),
        }

    def plan_page(self) -> dict[str, str]:
        p, rows = DetectionPlan(), []
        for name, part in PARTS.items():
            tests = [entry for entry in places_of(part, IMAGES) if entry["split"] == "test"][
                : p.per_part // p.per_place
            ]
            worlds = ", ".join(dict.fromkeys(entry["world"] for entry in tests))
            seeds = [entry["seed"] for entry in tests]
            rows.append(
                [name, worlds, f"{len(seeds)} from {seeds[0]} to {seeds[-1]}", str(p.per_part), f"≥ {AIMS[name]:.2f}"]
            )
        ways = [[name, model, runtime] for name, (model, runtime) in WAYS.items()]
        return {
            "images": table(["part", "worlds", "world seeds", "images", "aim, AP50"], rows),
            "ways": table(["", "model", "runtime"], ways),
        }


EXPERIMENT = DetectionExperiment()


def score_jobs(plan: DetectionPlan, folder: Path) -> list[Job]:
    return [
        Job.of(folder, job_name("score", part, way), score_part, str(folder / "data" / where), *WAYS[way])
        for part, where in PARTS.items()
        for way in plan.ways
    ]


def speed_jobs(plan: DetectionPlan, folder: Path) -> list[Job]:
    how = (plan.speed_images, plan.speed_looks)
    return [
        Job.of(folder, job_name("speed", "all", way), speed, str(folder / "data"), *WAYS[way], *how)
        for way in plan.ways
    ]


def loop_jobs(plan: DetectionPlan, folder: Path) -> list[Job]:
    """The four cells; those with a window only where there can be one. The quick form has one cell."""
    ways = list(RUNTIMES) if TORCH in plan.ways else ["optimised"]
    windows = (True, False) if has_screen() and len(ways) > 1 else (False,)
    return [
        Job.of(folder, f"loop-{way}-{'window' if window else 'no-window'}", in_the_loop, way, window, plan.loop_seconds)
        for way in ways
        for window in windows
    ]


def _part(part: str, plan: DetectionPlan, runs: dict[str, Run]) -> list[Cell]:
    """AP50 of persons in one part of the test images, by model and runtime."""
    cells, ap50 = [], {}
    for way in plan.ways:
        run = runs[job_name("score", part, way)]
        details = {"classes": run["ap50"], "objects": run["objects"], "recall": run["recall"]} if way == SHOWN else {}
        about = {"aim": AIMS[part], "images": run["images"], **details}
        ap50[way] = run["ap50"]["person"]
        cells.append(Cell("accuracy", part, way, None, ap50[way], "AP50", run["objects"]["person"], None, about))
    if PLAIN in ap50:
        lost = ap50[PLAIN] - ap50[SHOWN]
        cells.append(Cell("accuracy", part, LOST, None, lost, "AP50", conditions={"aim": AIM_8_BITS}))
    return cells


# ---- the page


ACCURACY: Figures = {
    **{way: (way, ".3f") for way in WAYS},
    "lost by 8 bits on OpenVINO, aim ≤ 0.02": (LOST, ".3f"),
    "persons that count, in so many images": (SHOWN, "{n} in {images}"),
}
SPEED: dict[str, Form] = {
    "": "{name}", "paper": "{published:.2f}", "aim": "≥ {aim:g}", "here": ".3g",
    " ": "{unit}", "detector alone in it": "{detector_per_second:.3g}",
}  # fmt: skip
TIMES: dict[str, Form] = {"": "{column}", "device": "{device}", "time per epoch, s": ",.1f"}


def _speed(found: Sequence[Cell]) -> str:
    loop = Cells(cell for cell in found if cell.row == LOOP)
    times = [cell for (_, column), cell in loop.items() if column.startswith(AGAINST)]
    both = zip(*((cell.published or 0.0, cell.ours) for cell in times), strict=True)
    paper, here = (f"{min(each):.2f} to {max(each):.2f}" for each in both)
    slow = [cell for (_, column), cell in loop.items() if column.startswith("torch")]
    shares = [cell.ours / cell.conditions["detector_per_second"] for cell in slow]
    text = paragraph(
        f"With the optimised network the loop is {here} times as fast as with torch, in the paper {paper} times:",
        f"{', '.join(dict.fromkeys(cell.verdict for cell in times))}. With torch the detector's process computes for",
        f"{min(shares):.0%} to {max(shares):.0%} of a frame's time. The rest is the way between them and the engine,",
        "which flies and draws on the same two cores, without a GPU; the paper's engine has a laptop with a GPU of its",
        "own. A faster network therefore gains less here.",
    )
    return f"{lines(found, SPEED)}\n{text}"


def _classes(cells: Cells) -> str:
    shown = [cells[part, SHOWN].conditions for part in PARTS]
    names = list(shown[0]["classes"])
    rows = [
        [name, *(f"{c['classes'][name]:.3f} of {c['objects'][name]}" if name in c["classes"] else "" for c in shown)]
        for name in names
    ]
    return table(["AP50", *PARTS], rows, right=1)


def _conditions(cells: Cells) -> str:
    """The share of persons that was found, by what the images are like."""
    shown = [cells[part, SHOWN].conditions["recall"] for part in PARTS]
    names = sorted({name for recall in shown for name in recall}, key=_order)
    rows = []
    for name in names:
        found = [recall.get(name) for recall in shown]
        rows.append([name, *("" if f is None else f"{f[1] / f[0]:.0%} of {f[0]}" for f in found)])
    return table(["", *PARTS], rows, right=1)


def _order(name: str) -> tuple[str, float, str]:
    """By topic, then by the first number."""
    topic, _, rest = name.partition(" ")
    number = rest.split()[0].rstrip("%")
    return topic, float(number) if number.isdecimal() else 0.0, rest


# ---- pictures: precision–recall curves, and what was missed or wrongly found

COLOURS = ("#1f6f8b", "#c4572a", "#6a8f3c")
TILE, LINE = 200, 18
"""px of a cut-out, and of the line above a row of them."""


def draw_curves(runs: dict[str, Run], path: Path) -> None:
    """One curve per part of the test images, with its average precision."""
    with figure(path, (7.0, 4.6), dpi=110) as drawn:
        axes = drawn.subplots()
        for (part, run), colour in zip(runs.items(), COLOURS, strict=False):
            label = f"{part}: AP50 {run['ap50']['person']:.3f}, {run['objects']['person']} persons"
            axes.plot(np.linspace(0.0, 1.0, 101), run["precisions"], color=colour, label=label)
        axes.set(xlabel="recall", ylabel="precision", xlim=(0.0, 1.0), ylim=(0.0, 1.02))
        axes.set_title("Persons at least 16 px high, at most half hidden")
        axes.legend(loc="lower left")


def draw_failures(runs: dict[str, Run], path: Path) -> None:
    """For each part a row of persons that were missed, tallest first, and one of boxes around nobody, surest first."""
    from PIL import Image, ImageDraw

    rows = [
        (part, kind, [entry for entry in run["failures"] if entry["kind"] == kind])
        for part, run in runs.items()
        for kind in ("missed", "nobody")
    ]
    most = max((len(entries) for _, _, entries in rows), default=0)
    sheet = Image.new("RGB", (TILE * max(most, 1), (TILE + LINE) * len(rows)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, (part, kind, entries) in enumerate(rows):
        top = row * (TILE + LINE)
        pen.text((4, top + 3), f"{part}: {'persons not found' if kind == 'missed' else 'nobody there'}", fill="black")
        for column, entry in enumerate(entries):
            sheet.paste(_cut_out(entry), (column * TILE, top + LINE))
    sheet.save(path)


def _cut_out(entry: Run) -> Any:
    """The box with as much again around it, and what is said of it."""
    from PIL import Image, ImageDraw

    left, top, right, bottom = entry["box"]
    half = max(right - left, bottom - top, 24.0)
    x, y = 0.5 * (left + right), 0.5 * (top + bottom)
    with Image.open(entry["image"]) as image:
        part = image.convert("RGB").crop((round(x - half), round(y - half), round(x + half), round(y + half)))
    scale = (TILE - 2) / part.width
    part = part.resize((TILE - 2, TILE - 2), Image.Resampling.NEAREST)
    pen = ImageDraw.Draw(part)
    corners = [(edge - middle + half) * scale for edge, middle in ((left, x), (top, y), (right, x), (bottom, y))]
    pen.rectangle(corners, outline="#40e040" if entry["kind"] == "missed" else "#ffd228")
    said = f"{entry['rank']:.0f} px" if entry["kind"] == "missed" else f"score {entry['rank']:.2f}"
    if entry["hidden"] >= 0.05:
        said += f", {entry['hidden']:.0%} hidden"
    for line, text in enumerate((entry["about"], said)):
        pen.text((4, 3 + 12 * line), text, fill="white", stroke_width=1, stroke_fill="black")
    return part
