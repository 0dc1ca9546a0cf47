"""The verbs of MAVLink and of flying by hand, without flying."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import skyloop.run
from skyloop.cli.mavlink import app
from skyloop.links.manual_control import GamepadConfig
from skyloop.links.mavlink.link import MavlinkConfig
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import LinkError, ScenarioError

SUMMARY: dict[str, Any] = {
    "scenario": "hover", "seed": 1, "simulated_s": 1.0, "wall_s": 1.0, "real_time_factor": 1.0, "success": True,
    "messages": {}, "vehicles": {}, "links": {"mavlink": {"vehicles": [{"system_id": 1, "messages_received": 12}]}},
}  # fmt: skip


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []

    def record(scenario: Scenario, folder: Path, progress: Any = None, links: Any = (), **told: Any) -> dict[str, Any]:
        calls.append((scenario, folder, links))
        return SUMMARY

    monkeypatch.setattr(skyloop.run, "run_scenario", record)
    return calls


def test_options_reach_the_link(called: list[tuple[Any, ...]], tmp_path: Path) -> None:
    command = ["mavlink", "hover", "--port-offset", "100", "--listen", "0.0.0.0", "--remote", "10.0.0.7"]
    result = CliRunner().invoke(app, [*command, "--pace", "2", "--until-landed", "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    scenario, folder, links = called[0]
    assert scenario.name == "hover" and folder == tmp_path / "run" and scenario.duration == 3600.0
    assert links == [MavlinkConfig(host="0.0.0.0", remote="10.0.0.7", port_offset=100, until_landed=True, pace=2.0)]
    assert "12 messages received" in result.output


def test_offsets_beyond_the_ports_are_refused(called: list[tuple[Any, ...]]) -> None:
    result = CliRunner().invoke(app, ["mavlink", "hover", "--port-offset", "60000"])
    assert isinstance(result.exception, LinkError) and not called


def test_flying_by_hand_needs_one_device(called: list[tuple[Any, ...]], tmp_path: Path) -> None:
    for wrong in ([], ["--keyboard", "--gamepad"]):
        assert isinstance(CliRunner().invoke(app, ["fly", *wrong]).exception, LinkError)
    result = CliRunner().invoke(app, ["fly", "square", "--gamepad", "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert called[0][0].name == "square" and [type(link) for link in called[0][2]] == [GamepadConfig]


def test_home_by_name(called: list[tuple[Any, ...]], tmp_path: Path) -> None:
    command = ["mavlink", "hover", "--home", "px4-zurich", "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert called[0][0].earth.latitude_deg == 47.397742 and called[0][0].earth.altitude == 488.0
    wrong = CliRunner().invoke(app, ["mavlink", "hover", "--home", "zurich"])
    assert isinstance(wrong.exception, ScenarioError) and "px4-zurich" in str(wrong.exception)
