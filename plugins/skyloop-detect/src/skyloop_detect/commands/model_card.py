"""The card that a training leaves beside its weights: what it was trained on, how well it does, what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TITLES = {
    "ap50_person": "places not trained on",
    "ap50_new_world": "worlds not trained on",
    "ap50_bad_weather": "fog, rain and dusk",
}
LIMITS = (
    "It has seen rendered images only, and no pretrained weights were used. On photographs expect it to do worse.",
    "People stand or walk. Nobody sits, lies, rides or carries anything large.",
    "It was trained at 320 x 240 and 640 x 480 px, on people from 8 px high up to three quarters of the image.",
    "A score is how well a box fits, not how likely it is that somebody is there.",
    "It is made for tests in simulation. Nobody's safety may depend on it.",
)


def model_card(summary: dict[str, Any], data: Path) -> str:
    """Markdown, from the summary of a training and the plan of its dataset."""
    lines = [
        "# Model card",
        "",
        f"Finds: {', '.join(summary['classes'])}. SSDLite on a MobileNetV2 with a feature pyramid.",
    ]
    lines += ["", "## Data", "", *_data(summary, data), "", "## Training", ""]
    options = summary["options"]
    lines += [
        f"- {summary['epochs']} epochs, seed {options['seed']}, batch {options['batch']}, rate {options['rate']:g}; "
        f"{summary['seconds_per_epoch']:.1f} s per epoch on {summary['device']}, torch {summary['torch']}",
        *([f"- begun with the weights of `{options['start']}`"] if options["start"] else []),
        f"- best AP50 of '{summary['classes'][0]}' on the validation images: {summary['val_ap50']:.3f}",
    ]
    lines += ["", "## Figures", "", *_figures(summary), "", "## Files", ""]
    lines += [f"- `{name}`: {size / 1e6:.2f} MB" for name, size in summary["sizes"].items()]
    return "\n".join([*lines, "", "## Limits", "", *(f"- {limit}" for limit in LIMITS), ""])


def _data(summary: dict[str, Any], data: Path) -> list[str]:
    counts = summary["images"]
    lines = [f"- {counts['train']} images to train on, {counts['val']} looked at in validations"]
    plan = data / "plan.json"
    if not plan.is_file():
        return lines
    places = json.loads(plan.read_text(encoding="utf-8"))["places"]
    for split in ("train", "val", "test"):
        mine = [entry for entry in places if entry["split"] == split and not entry["part"]]
        seeds = sorted(int(entry["seed"]) for entry in mine)
        worlds = ", ".join(sorted({str(entry["world"]) for entry in mine}))
        lines.append(
            f"- {split}: {len(mine)} world seeds from {seeds[0]} to {seeds[-1]} of {worlds}"
            if mine
            else f"- {split}: none"
        )
    return lines


def _figures(summary: dict[str, Any]) -> list[str]:
    if not summary["test"]:
        return ["The dataset has no test split."]
    lines = ["AP50 with torch; objects at least 16 px high and at most half hidden.", ""]
    lines += [f"| | {' | '.join(TITLES[key] for key in summary['test'])} |"]
    lines += ["|---|" + "---:|" * len(summary["test"])]
    for name in summary["classes"]:
        cells = [f"{scores[name]:.3f}" if name in scores else "" for scores in summary["test"].values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines
