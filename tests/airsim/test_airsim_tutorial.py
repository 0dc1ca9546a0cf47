"""docs/tutorials/airsim-script.md: its script flies, unchanged, with AirSim's own client, on its settings."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from airsim_clients import client_python
from airsim_rpc import running
from PIL import Image

from skyloop.links.airsim.settings import read_settings

pytestmark = pytest.mark.renders

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "airsim-script.md").read_text(encoding="utf-8")


@pytest.mark.slow("the flight of the tutorial in full")
def test_the_script_flies(tmp_path: Path) -> None:
    """On a server in this process, with the arguments of the page; another test starts the command."""
    python = client_python("airsim")
    for title, text in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL):
        (tmp_path / title).write_text(text, encoding="utf-8")
    serve, script = (block.strip() for block in re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    assert serve == "skyloop serve --settings settings.json --world park"
    # a quick world instead of the page's
    read = read_settings((tmp_path / "settings.json").read_text(), world="blocks")
    with running(read.scenario, replace(read.options, quality="low"), 5.0) as server:
        file = tmp_path / script.split()[1]
        file.write_text(file.read_text().replace("MultirotorClient()", f"MultirotorClient(port={server.port})"))
        done = subprocess.run([python, "-W", "ignore", file], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    assert "same instant: True" in done.stdout
    north, east, down = map(float, re.search(r"at (\S+) (\S+) (\S+)", done.stdout).groups())
    assert (north, east, down) == pytest.approx((8.0, 6.0, -6.0), abs=0.5)
    with Image.open(tmp_path / "scene.png") as picture:
        assert picture.size == (640, 360)
