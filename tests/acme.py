"""Two plugins in a folder, as an installer leaves them: `examples/plugin`, and the one of docs/how-to/plugin.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "plugin.md"
BLOCK = re.compile(r"^```\w+\n(?:#|//) (acme/\S+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def installed(folder: Path, name: str, value: str) -> None:
    """What an installer writes about a distribution with one plugin."""
    about = folder / f"skyloop_{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: skyloop-{name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[skyloop.plugins]\n{name} = {value}\n")


def install_acme(folder: Path) -> None:
    shutil.copytree(ROOT / "examples" / "plugin" / "src", folder, dirs_exist_ok=True)
    installed(folder, "beacon", "skyloop_beacon.plugin:PLUGIN")
    for name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    installed(folder, "acme", "acme.plugin:PLUGIN")


def environment(*folders: Path) -> dict[str, str]:
    """With these folders on the Python path, beside what is there."""
    paths = [*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}


def python(folders: tuple[Path, ...], *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=cwd, env=environment(*folders), capture_output=True, text=True, check=False, timeout=300
    )
