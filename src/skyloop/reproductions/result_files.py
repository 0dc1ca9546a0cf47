"""The results of a reproduction as JSON and CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from skyloop.core.results import Result


def write_results(folder: Path, results: list[Result]) -> None:
    plain = [result.plain() for result in results]
    (folder / "results.json").write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(plain[0]))
        writer.writeheader()
        for row in plain:
            writer.writerow({**row, "conditions": json.dumps(row["conditions"], ensure_ascii=False)})
