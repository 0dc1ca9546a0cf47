"""docs/how-to/foxglove.md: its commands run, shortened, with somebody who looks on; its topics and numbers are true."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from foxglove_client import Viewer

import skyloop.run
from skyloop.cli import console, main
from skyloop.links.foxglove.link import FoxgloveLink
from skyloop.links.mavlink.link import MavlinkConfig

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "foxglove.md").read_text(encoding="utf-8")
(BLOCK,) = re.findall(r"^```bash\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
PILOT = re.findall(
    r"^```python\n(.*?)^```", (DOCS / "explanations" / "loop.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)[0]
SHORTENED = {
    "run": ["--set", "duration=0.3", "--set", "world=flat"],
    "loop": ["--set", "duration=0.3"],
    "serve": ["--lasts", "0.6", "--port", "0"],
    "mavlink": ["--duration", "0.3"],
    "fly": ["--duration", "0.3"],
}


@pytest.mark.parametrize("command", BLOCK.splitlines())
@pytest.mark.renders
def test_commands_let_somebody_look_on(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    viewers: list[Viewer] = []
    attach = FoxgloveLink.attach

    def attached(stream: FoxgloveLink, *arguments: Any) -> None:
        attach(stream, *arguments)
        viewers.append(Viewer(stream.url))
        viewers[0].subscribe()

    def on_free_ports(**options: Any) -> MavlinkConfig:
        return MavlinkConfig(**{**options, "port_offset": None})

    monkeypatch.chdir(tmp_path)
    Path("my_pilot.py").write_text(PILOT, encoding="utf-8")
    monkeypatch.setattr(skyloop.run, "plot_flight", lambda *_: None)  # it takes longer than these flights
    monkeypatch.setattr(FoxgloveLink, "attach", attached)
    monkeypatch.setitem(console.PLACES, "--foxglove", "127.0.0.1:0")
    monkeypatch.setattr("skyloop.links.mavlink.link.MavlinkConfig", on_free_ports)
    monkeypatch.setattr("skyloop.links.manual_control.reading_keys", lambda link: nullcontext())
    words = command.replace("9000", "0").split()
    monkeypatch.setattr(sys, "argv", words + SHORTENED[words[1]])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert not stop.value.code, said
    assert "Foxglove may connect to ws://127.0.0.1:" in said
    (viewer,) = viewers
    assert viewer.until(lambda: viewer.closed), "the flight is over"
    assert viewer.on("/tf") and any(one.topic.endswith("/battery") for one in viewer.received)
    viewer.close()
