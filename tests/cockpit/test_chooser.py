"""Scenarios from a page: faults are told at their line, and no page chooses what code this machine runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cockpit_rig import CockpitRig, opened, until
from skyloop.cockpit.jobs import Jobs
from skyloop.cockpit.scenario_edits import changed, check, scenario_from_page
from skyloop_client.errors import LinkError, ScenarioError, SkyloopError

GOOD = "name: small\nvehicles:\n  - name: drone\n    sensors:\n      imu: {kind: imu}\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD.replace("kind: imu", "kind: imu, rate: 3"), 5, "unknown key 'rate'"),
        (GOOD.replace("vehicles:", "vehicels:"), None, "vehicels"),
        (GOOD.replace("name: small", "name: [small"), 2, "not YAML"),
        (GOOD + "duration: long\n", 6, "duration"),
        ("!!python/object/apply:os.system [true]\n", 1, "not YAML"),
    ],
)
def test_a_fault_is_told_with_its_line(text: str, line: int | None, words: str) -> None:
    told = check(text)
    assert not told["ok"] and words in told["error"]
    assert line is None or told["line"] == line


def test_a_right_scenario_is_right() -> None:
    told = check(GOOD)
    fields = told.pop("fields")
    assert told == {"ok": True, "name": "small", "duration": 30.0, "vehicles": 1}
    assert fields["world"] == "flat" and fields["seed"] == 1 and fields["sensors"] == {"imu": "imu"}


TEXT = """# mine
name: small
world: room   # of E2ES
vehicles:
  - name: drone
    # eyes
    sensors:
      imu: {kind: imu}
      cam: {kind: camera, rate_hz: 5}

    pilot: {kind: hover}
duration: 5
"""


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"world": "park"}, ["world: park   # of E2ES"]),
        ({"seed": 7}, ["duration: 5", "seed: 7"]),
        ({"weather": {"rain": 10, "clouds": 1}}, ["duration: 5", "weather: {rain: 10, clouds: 1}"]),
        ({"vehicles.0.airframe": "iris-d435"}, ["    pilot: {kind: hover}", "    airframe: iris-d435"]),
        ({"vehicles.0.sensors.cam.quality": "high"}, ["      cam: {kind: camera, rate_hz: 5, quality: high}"]),
        ({"vehicles.0.sensors.gnss": {"kind": "gnss"}}, ["      cam: {kind: camera, rate_hz: 5}", "      gnss: {kind"]),
        ({"vehicles.0.sensors.cam": None}, ["      imu: {kind: imu}", ""]),
        ({"vehicles.0.sensors.cam": None, "vehicles.0.sensors.imu": None}, ["    sensors:", "      {}"]),
        ({"vehicles.0.sensors": None}, ["    # eyes", ""]),
        ({"vehicles.0.pilot": None}, ["", "duration: 5"]),
    ],
)  # fmt: skip
def test_pickers_change_the_text_and_nothing_else(changes: dict[str, Any], lines: list[str]) -> None:
    text = changed(TEXT, changes)
    assert check(text)["ok"], text
    assert "\n".join(lines) in text and "# mine" in text
    kept = [line for line in TEXT.splitlines() if line in text.splitlines()]
    assert len(kept) >= len(TEXT.splitlines()) - 3


def test_a_text_that_cannot_be_changed_is_told_in_one_line() -> None:
    for text in ("name: [a", "just words", "- a\n- b\n"):
        with pytest.raises(ScenarioError, match=r"^scenario: [^\n]*$"):
            changed(text, {"seed": 1})
    with pytest.raises(ScenarioError, match="cannot be added"):
        changed("world: room\n", {"world.name.x": 1})


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("{kind: imu}", "{kind: 'os:system'}"),
        GOOD.replace("{kind: imu}", "{kind: '/tmp/x.py:Evil'}"),
        GOOD + "folder: /etc\n",
        GOOD + "world: {file: /etc/passwd.glb}\n",
    ],
)
def test_a_page_names_no_code_and_no_files(text: str) -> None:
    with pytest.raises(ScenarioError, match="command line"):
        scenario_from_page(text)


@pytest.mark.processes
def test_the_page_starts_and_stops_flights(rig: CockpitRig) -> None:
    rig.fly()
    viewer = rig.viewer()
    assert "hover" in rig.get("/api/catalogue")["scenarios"]
    assert "no scenario" in viewer.call("/api/flight/start", {"scenario": "hoover"})["detail"]
    assert rig.call("/api/flight/start", {"scenario": "hover"})["status"] == 400
    assert rig.call("/api/scenario/change", {"text": GOOD, "changes": {"seed": 4}})["text"].endswith("seed: 4\n")
    assert viewer.call("/api/flight/start", {"text": GOOD, "changes": {"seed": 9}})["scenario"] == "small"
    until(lambda: rig.get("/api/about").get("seed") == 9)
    run = rig.run
    viewer.call("/api/flight/stop", {})
    until(lambda: (run / "summary.json").exists())
    listed = {folder["name"]: folder for folder in rig.get("/api/runs")}
    assert listed[run.name]["playable"] and listed[run.name]["kind"] == "run"
    assert rig.get(f"/api/runs/{run.name}/files/summary.json")["seed"] == 9
    paths = rig.get("/api/openapi.json")["paths"]
    assert {"/api/time", "/api/flight/start", "/api/snapshots/back", "/api/vehicles/{vehicle}/orders/{order}"} <= set(
        paths
    )
    viewer.close()


SAYS = "import sys, time; print('at work on', *sys.argv[1:], flush=True); sys.exit(sys.argv[2] == 'radar')"


@pytest.mark.processes
def test_jobs_are_watched_and_leave_what_they_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes are real, only what runs in them is short; the slow suite runs the real ones."""
    monkeypatch.setattr("skyloop.cockpit.jobs.ENTRY", SAYS)
    told: list[dict[str, Any]] = []
    jobs = Jobs({"reproductions": {"drag": "", "radar": ""}, "worlds": {"park": ""}}, tmp_path, told.append)
    with pytest.raises(SkyloopError, match="drag"):
        jobs.start("reproduce", "drug", quick=True)
    names = [jobs.start("reproduce", "radar", quick=True)["folder"], jobs.start("record", "park", quick=True)["folder"]]
    until(lambda: [job["state"] for job in jobs.plain()] == ["ended with 1", "done"])
    assert names == ["reproduce-radar-001", "record-park-001"]
    assert (tmp_path / names[0] / "output.txt").read_text().startswith("at work on reproduce radar --quick --out")
    assert {job["number"] for job in told} == {1, 2} and any(job["state"] == "running" for job in told)
    monkeypatch.setattr("skyloop.cockpit.jobs.ENTRY", "import time; time.sleep(600)")
    for _ in range(2):
        jobs.start("record", "park", quick=True)
    with pytest.raises(LinkError, match="2 jobs run"):
        jobs.start("record", "park", quick=True)
    jobs.close()
    assert all(job["state"] != "running" for job in jobs.plain())


@pytest.mark.slow("a whole reproduction")
@pytest.mark.needs("chromium")
def test_a_reproduction_is_started_and_watched(browser: Any, rig: CockpitRig) -> None:
    rig.fly()
    page = opened(browser, rig)
    page.click("#tab-studio")
    until(lambda: page.locator("#job-name option").count() > 0)
    page.select_option("#job-kind", "reproduce")
    page.select_option("#job-name", "drag")
    page.click("#job-start")
    until(lambda: "running" in page.locator(".jobs summary").first.inner_text())
    until(lambda: "done" in page.locator(".jobs summary").first.inner_text(), 600.0)
    until(lambda: "reproduce-drag-001" in page.locator(".runs").inner_text())
    assert "measured" in (rig.folder / "reproduce-drag-001" / "output.txt").read_text()
    assert page.faults == []
    page.close()


@pytest.mark.slow("records a dataset and runs a benchmark")
@pytest.mark.renders
def test_a_dataset_is_recorded_and_played(rig: CockpitRig) -> None:
    rig.fly()
    viewer = rig.viewer()
    assert "no world" in viewer.call("/api/jobs", {"kind": "record", "name": "moon"})["detail"]
    job = viewer.call("/api/jobs", {"kind": "record", "name": "blocks"})
    bench = viewer.call("/api/jobs", {"kind": "bench", "name": "physics"})
    assert "2 jobs run" in viewer.call("/api/jobs", {"kind": "bench", "name": "physics"})["detail"]
    until(lambda: all(each["state"] == "done" for each in rig.get("/api/jobs")), 600.0)
    listed = {folder["name"]: folder for folder in rig.get("/api/runs")}
    assert listed[job["folder"]]["kind"] == "dataset" and "report.html" in listed[job["folder"]]["files"]
    assert "output.txt" in listed[bench["folder"]]["files"]
    # the first viewer has not read for a minute, and was sent away
    watcher = rig.viewer()
    started = watcher.call("/api/player/start", {"run": job["folder"], "root": listed[job["folder"]]["root"]})
    assert started == {"run": job["folder"]}, started
    until(lambda: rig.get("/api/about").get("live") is False)
    cameras = [info["name"] for info in rig.get("/api/about")["streams"] if info["message"] == "CameraImage"]
    watcher.socket.send(json.dumps({"want": cameras[:1]}))
    assert watcher.next("rec", s=cameras[0])["v"] == "jpeg"
    watcher.close()
