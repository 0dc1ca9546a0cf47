"""People found in images, as section V-C of airloop: accuracy, speed by runtime, time of training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.campaigns.pools import local_pool
from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Result
from skyloop.reproductions.detection_loop import loop_jobs, loop_results
from skyloop.reproductions.detection_plots import draw_curves, draw_failures
from skyloop.reproductions.detection_protocol import (
    AIM_8_BITS,
    AIM_PER_S,
    AIM_VS_TORCH,
    AIMS,
    PAPER,
    PARTS,
    PLAIN,
    QUICK,
    SHOWN,
    WAYS,
    Protocol,
)
from skyloop.reproductions.detection_scores import score_part, speed
from skyloop.reproductions.detection_training import training_results
from skyloop.reproductions.missing_runs import Job, all_runs, folder_of_runs
from skyloop.reproductions.result_files import write_results
from skyloop_detect.detector import load_detector
from skyloop_detect.training_data.people_set import make_people, plan_tests

Runs = dict[str, dict[str, Any]]


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """Make the test images, look at them in every way, time it. A folder with some of it is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    load_detector(WAYS[SHOWN][0])
    with folder_of_runs(folder, chosen.plain()) as place:
        data = place / "data"
        plan_tests(data, chosen.per_part, chosen.per_place)
        made = make_people(data, usable_cores())
        told(f"{made['images']} images, {made['images_made_now']} of them made now")
        scores = all_runs(score_jobs(chosen, place), local_pool(usable_cores()), told, _score_in_words)
        # one after the other, so that none waits for a core
        speeds = all_runs(speed_jobs(chosen, place), local_pool(1), told, _speed_in_words)
        flown = all_runs(
            loop_jobs(chosen, place), local_pool(1), told, lambda run: f"{run['per_second']:.1f} frames per second"
        )
        results = results_of(chosen, scores, speeds) + loop_results(flown) + training_results(chosen, data)
        if folder is not None:
            write_results(folder, results)
            curves = {part: scores[job_name("score", part, SHOWN)] for part in PARTS}
            draw_curves(curves, folder / "detection-curves.png")
            draw_failures(curves, folder / "detection-failures.png")
    return results


def job_name(kind: str, part: str, way: str) -> str:
    """Of one run; a name of a file too."""
    return f"{kind}-{part}-{way}".replace(" ", "_").replace(",", "")


def score_jobs(protocol: Protocol, place: Path) -> list[Job]:
    jobs = []
    for part, where in PARTS.items():
        for way in protocol.ways:
            name = job_name("score", part, way)
            arguments = (str(place / "data" / where), *WAYS[way])
            jobs.append(Job(name, place / "runs" / f"{name}.json", score_part, arguments))
    return jobs


def speed_jobs(protocol: Protocol, place: Path) -> list[Job]:
    jobs = []
    for way in protocol.ways:
        name = job_name("speed", "all", way)
        arguments = (str(place / "data"), *WAYS[way], protocol.speed_images, protocol.speed_looks)
        jobs.append(Job(name, place / "runs" / f"{name}.json", speed, arguments))
    return jobs


def results_of(protocol: Protocol, scores: Runs, speeds: Runs) -> list[Result]:
    out = []
    for part in PARTS:
        for way in protocol.ways:
            run = scores[job_name("score", part, way)]
            about = {"aim": AIMS[part], "images": run["images"], **(_details(run) if way == SHOWN else {})}
            cell = f"{part}: {way}"
            out.append(
                Result(
                    PAPER,
                    "accuracy",
                    cell,
                    None,
                    run["ap50"]["person"],
                    "AP50",
                    run["objects"]["person"],
                    conditions=about,
                )
            )
        if PLAIN in protocol.ways:
            whole, coarse = (scores[job_name("score", part, way)]["ap50"]["person"] for way in (PLAIN, SHOWN))
            about = {"aim": AIM_8_BITS}
            out.append(
                Result(PAPER, "accuracy", f"{part}: lost by 8 bits", None, whole - coarse, "AP50", conditions=about)
            )
    for way in protocol.ways:
        run = speeds[job_name("speed", "all", way)]
        about = {"aim": AIM_PER_S} if way != "torch, 32 bits" else {}
        out.append(
            Result(
                PAPER,
                "Table 8",
                f"detection alone: {way}",
                None,
                run["images_per_s"],
                "1/s",
                run["looks"],
                conditions=about,
            )
        )
    if "torch, 32 bits" in protocol.ways:
        fast, slow = (speeds[job_name("speed", "all", way)]["images_per_s"] for way in (SHOWN, "torch, 32 bits"))
        about = {"aim": AIM_VS_TORCH}
        out.append(Result(PAPER, "Table 8", "optimised against torch", 8.29 / 4.31, fast / slow, "", conditions=about))
    return out


def _details(run: dict[str, Any]) -> dict[str, Any]:
    return {"classes": run["ap50"], "objects": run["objects"], "recall": run["recall"]}


def _score_in_words(run: dict[str, Any]) -> str:
    return f"AP50 {run['ap50']['person']:.3f} of {run['objects']['person']} persons in {run['images']} images"


def _speed_in_words(run: dict[str, Any]) -> str:
    return f"{run['images_per_s']:.1f} images per second"
