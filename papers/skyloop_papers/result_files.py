"""The results of a reproduction as JSON and CSV, and intermediate results from which a long one continues."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from skyloop.core.files import write_whole
from skyloop.core.results import Result
from skyloop_client.errors import RunFolderError


def write_results(folder: Path, results: list[Result]) -> None:
    plain = [result.plain() for result in results]
    (folder / "results.json").write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(plain[0]))
        writer.writeheader()
        for row in plain:
            writer.writerow({**row, "conditions": json.dumps(row["conditions"], ensure_ascii=False)})


def begin_or_go_on(folder: Path, protocol: dict[str, Any]) -> None:
    """A folder belongs to one protocol. Results under another protocol are refused."""
    path, text = folder / "protocol.json", json.dumps(protocol, indent=1) + "\n"
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise RunFolderError(f"{folder} was made under another protocol ({path.name}); give another --out")
    path.write_text(text, encoding="utf-8")


def keep(path: Path, measured: Any) -> None:
    """The file is complete or absent. An interrupted measurement is repeated."""
    write_whole(path, json.dumps(measured) + "\n")
