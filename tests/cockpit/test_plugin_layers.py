"""The page in a browser has the layer and the tab of a plugin: the one on docs/how-to/plugin.md."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acme import environment, install_acme
from cockpit_rig import until

pytestmark = [pytest.mark.processes, pytest.mark.flights, pytest.mark.needs("chromium")]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a cockpit in a process of its own, in which the plugin is installed."""
    install_acme(tmp_path / "site")
    command = [sys.executable, "-u", "-m", "skyloop", "cockpit", "acme-hop", "--port", "0", "--set", "duration=3600"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path / "site"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = ""
        while (found := re.search(r"http://[\d.]+:\d+/\S+", said)) is None:
            line = process.stdout.readline()
            assert line, said
            said += line
        yield found[0]
        process.terminate()


def test_a_layer_and_a_tab_of_a_plugin(address: str, browser: Any) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector("#tab-beacons")
    until(lambda: page.evaluate("cockpit.seen.view.contents().layers.some(layer => layer.kind === 'beacons')"))
    page.click("#tab-beacons")
    until(lambda: page.locator("#panel-beacons").inner_text().endswith(" m"))
    assert page.evaluate("cockpit.seen.view.pixelsOf('beacons')") > 100
    page.click(".layers summary")
    page.uncheck("#layer-beacons")
    assert not page.evaluate("cockpit.seen.view.contents().layers.find(layer => layer.kind === 'beacons').visible")
    assert not faults
