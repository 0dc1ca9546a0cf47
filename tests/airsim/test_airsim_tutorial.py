"""docs/tutorials/airsim-script.md: its script flies, unchanged, with AirSim's own client, on its settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from airsim_clients import client_python
from PIL import Image

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "airsim-script.md").read_text(encoding="utf-8")


def test_the_script_flies(tmp_path: Path) -> None:
    python = client_python("airsim")
    for title, text in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL):
        # any free port, and a scene of a quick world; the rest is as on the page
        (tmp_path / title).write_text(text, encoding="utf-8")
    serve, script = (block.strip() for block in re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    words = serve.replace("--world park", "--world blocks").split()
    program = Path(sys.executable).parent / words[0]
    with subprocess.Popen(
        [program, *words[1:], "--port", "0", "--speed", "3"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            port = next(found[1] for line in server.stderr if (found := re.search(r"connect to 127.0.0.1:(\d+)", line)))
            file = tmp_path / script.split()[1]
            file.write_text(file.read_text().replace("MultirotorClient()", f"MultirotorClient(port={port})"))
            done = subprocess.run(
                [python, "-W", "ignore", file], cwd=tmp_path, capture_output=True, text=True, timeout=120
            )
            assert done.returncode == 0, done.stderr
        finally:
            server.terminate()
    assert "same instant: True" in done.stdout
    north, east, down = map(float, re.search(r"at (\S+) (\S+) (\S+)", done.stdout).groups())
    assert (north, east, down) == pytest.approx((8.0, 6.0, -6.0), abs=0.5)
    with Image.open(tmp_path / "scene.png") as picture:
        assert picture.size == (640, 360)
