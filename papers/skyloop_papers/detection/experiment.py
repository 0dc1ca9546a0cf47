"""People found in images, as section V-C of airloop: accuracy, speed by runtime, time of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skyloop.campaigns.pools import local_pool
from skyloop.core.machine_info import usable_cores
from skyloop.core.system_packages import has_screen
from skyloop_detect.detector import LEAST_SCORE, load_detector
from skyloop_detect.scoring import LEAST_PX, MOST_HIDDEN, OVERLAP
from skyloop_detect.training_data.people_set import IMAGES, NEW_WORLDS, WORLDS, make_people, places_of, plan_tests
from skyloop_papers.detection.loop import AGAINST, LOOP, RUNTIMES, in_the_loop, loop_cells
from skyloop_papers.detection.pictures import draw_curves, draw_failures
from skyloop_papers.detection.scores import score_part, speed
from skyloop_papers.detection.training import training_cells, training_times
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.runs import Job, Progress, Run, RunWorkers, all_runs
from skyloop_papers.tables import Cells, Figures, Form, by_table, lines, paragraph, shown, table

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
    fresh_per_part: int = 400
    """Test images of other places, drawn on 19 November 2026 and scored once, with the shipped model."""
    fresh_shift: int = 3_000_000
    """Of their world seeds, which nobody had used."""
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


QUICK = DetectionPlan(10, 5, 0, 0, (SHOWN,), 4, 20, 1, 1.0)


SCORED = "AP50 {ap50[person]:.3f} of {objects[person]} persons in {images} images"
FAST, IN_THE_LOOP = "{images_per_s:.1f} images per second", "{per_second_of_all:.1f} frames per second"
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
        data, fresh = folder / "data", folder / "fresh"
        plan_tests(data, plan.per_part, plan.per_place)
        if plan.fresh_per_part:
            plan_tests(fresh, plan.fresh_per_part, plan.per_place, plan.fresh_shift)
        for where in [data, fresh] if plan.fresh_per_part else [data]:
            images = make_people(where, usable_cores())
            progress(f"{where.name}: {images['images']} images, {images['images_made_now']} of them made now")
        runs = all_runs(score_jobs(plan, folder), local_pool(usable_cores()), progress, SCORED.format_map)
        # one after the other, so that none waits for a core
        runs |= all_runs(speed_jobs(plan, folder), local_pool(1), progress, FAST.format_map)
        runs |= all_runs(loop_jobs(plan, folder), local_pool(1), progress, IN_THE_LOOP.format_map)
        return runs | {TRAINING: training_times(data, plan.training_steps)}

    def judge(self, plan: DetectionPlan, runs: dict[str, Run]) -> list[Cell]:
        cells = []
        for part in PARTS:
            cells += _part(part, plan, runs)
        cells += [fresh_cell(part, runs[job_name("score", f"fresh {part}", SHOWN)]) for part in fresh_parts(plan)]
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
        return {
            "fresh": _fresh(found["drawn anew"]),
            "accuracy": by.by_figure("AP50 of persons", ACCURACY, list(PARTS)),
            "classes": _classes(by),
            "conditions": _conditions(by),
            "speed": _speed(found["Table 8"]),
            "training": lines(found["Table 7"], TIMES, right=2),
        }

    def plan_page(self) -> dict[str, str]:
        p, rows = DetectionPlan(), []
        for images, shift, what in ((p.fresh_per_part, p.fresh_shift, ", drawn anew"), (p.per_part, 0, "")):
            for name, part in PARTS.items():
                tests = [entry for entry in places_of(part, IMAGES, shift) if entry["split"] == "test"]
                tests = tests[: images // p.per_place]
                worlds = ", ".join(dict.fromkeys(entry["world"] for entry in tests))
                seeds = f"{len(tests)} from {tests[0]['seed']} to {tests[-1]['seed']}"
                rows.append([name + what, worlds, seeds, str(images), f"≥ {AIMS[name]:.2f}"])
        ways = [[name, model, runtime] for name, (model, runtime) in WAYS.items()]
        return {
            "images": table(["part", "worlds", "world seeds", "images", "aim, AP50"], rows),
            "ways": table(["", "model", "runtime"], ways),
        }


EXPERIMENT = DetectionExperiment()


def score_jobs(plan: DetectionPlan, folder: Path) -> list[Job]:
    jobs = [
        Job.of(folder, job_name("score", part, way), score_part, str(folder / "data" / where), *WAYS[way])
        for part, where in PARTS.items()
        for way in plan.ways
    ]
    return jobs + [
        Job.of(
            folder, job_name("score", f"fresh {part}", SHOWN), score_part, str(folder / "fresh" / where), *WAYS[SHOWN]
        )
        for part, where in fresh_parts(plan).items()
    ]


def fresh_parts(plan: DetectionPlan) -> dict[str, str]:
    return PARTS if plan.fresh_per_part else {}


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


def fresh_cell(part: str, run: Run) -> Cell:
    """AP50 of persons in places that were drawn anew."""
    ap50, persons = run["ap50"]["person"], run["objects"]["person"]
    about = {"aim": AIMS[part], "images": run["images"]}
    return Cell("drawn anew", part, "", None, ap50, "AP50", persons, None, about)


# ---- the page


FRESH: dict[str, Form] = {
    "part": "{row}", "aim, AP50 of persons": "≥ {aim:.2f}", "here": ".3f",
    "persons that count, in so many images": "{n} in {images}",
    "aim": lambda cell: "met" if cell.ours >= cell.conditions["aim"] else "missed",
}  # fmt: skip
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


def _fresh(found: Sequence[Cell]) -> str:
    made = "Images made and scored at commit `{commit}`, {date}, on {machine}."
    said = {shown(cell, made) for cell in found} - {""}
    return lines(found, FRESH) + "".join(f"\n{paragraph(each)}" for each in said)


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
