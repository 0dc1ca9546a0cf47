"""`check` names exactly what was broken by hand, and `repair` brings back the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from handmade import label, messages_of, write_group
from tiny_formats import TINY, TinyVoc

import skyloop.datasets.export
from skyloop.datasets.check_journal import boxes_of
from skyloop.datasets.checking import check, repair
from skyloop.datasets.export import Exporter, export, finished_formats
from skyloop.recording.formats import registry
from skyloop.recording.recording import Recording, read_manifest, write_manifest
from skyloop_client.errors import DatasetError


@pytest.fixture
def dataset(made: Recording, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """Whole, with both tiny formats and a manifest."""
    for module in (registry, skyloop.datasets.export):
        monkeypatch.setattr(module, "FORMATS", TINY)
    Exporter(made.folder, ("asl", "voc")).finish()
    write_manifest(made.folder)
    return made


def said(folder: Path) -> list[str]:
    return [str(finding) for finding in check(folder)]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_whole_dataset_has_nothing_wrong_and_repair_leaves_it_alone(dataset: Recording) -> None:
    before = content(dataset.folder)
    assert said(dataset.folder) == []
    assert repair(dataset.folder) == []
    assert content(dataset.folder) == before
    manifest = read_manifest(dataset.folder)
    assert manifest is not None and manifest.complete and manifest.groups == 3
    assert set(manifest.files) == set(before) - {"manifest.json", ".formats.json"}
    assert finished_formats(dataset.folder) == {"asl": 3, "voc": 3}


def test_samples_that_are_missing_twice_or_off_are_named(made: Recording) -> None:
    messages = messages_of(1)
    of_imu = [message for message in messages if message.stream == "drone/imu0"]
    gone, again, shifted = of_imu[3], of_imu[7], of_imu[20]
    changed = []
    for message in messages:
        if message is gone:
            continue
        changed.append(replace(message, t_ns=message.t_ns + 5) if message is shifted else message)
        if message is again:
            changed.append(message)
    write_group(made, 1, changed)
    lines = [line for line in said(made.folder) if "drone/imu0" in line]
    assert lines == [
        f"error: drone/imu0: 1 samples are missing: {gone.index} at {gone.t_ns} ns",
        f"error: drone/imu0: 1 samples are there twice: {again.index} at {again.t_ns} ns",
        f"error: drone/imu0: 1 stamps are off the 200 Hz grid: {shifted.index} at {shifted.t_ns + 5} ns "
        f"instead of {shifted.t_ns} ns",
    ]


def test_a_stream_that_is_not_there_is_named_and_events_may_be_absent(made: Recording) -> None:
    for group in range(3):
        write_group(made, group, [message for message in messages_of(group) if message.stream != "truth/drone"])
    lines = [line for line in said(made.folder) if "manifest" not in line]
    assert lines == ["error: truth/drone: all 50 samples are missing"]


def test_a_broken_record_is_found_by_its_byte(made: Recording) -> None:
    path = made.group_path(1)
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    (line,) = [line for line in said(made.folder) if "group-000001" in line]
    assert line.startswith("error: journal/group-000001.bin: record ")
    assert "is broken; `skyloop record --resume`" in line
    at = int(line.split("at byte ")[1].split()[0])
    assert at <= 5000


def test_labels_must_be_those_of_the_mask_and_inside_the_image(made: Recording) -> None:
    wrong = [label((3, 4, 9, 11)), label((3, 4, 24, 11)), label(visible=47)]
    messages = messages_of(0)
    for k, message in enumerate(messages):
        if message.stream == "truth/drone/rgb0" and wrong:
            messages[k] = replace(message, data=replace(message.data, labels=(wrong.pop(0),)))
    write_group(made, 0, messages)
    lines = [line for line in said(made.folder) if "label" in line]
    assert len(lines) == 3
    assert "truth/drone/rgb0 20 at 2000000000 ns" in lines[0]
    assert "box (3, 4, 9, 11) with 48 px, but the mask has (3, 4, 8, 11) with 48 px" in lines[0]
    assert "box (3, 4, 24, 11) leaves the 24×16 image" in lines[1]
    assert "with 47 px, but the mask has (3, 4, 8, 11) with 48 px" in lines[2]


def test_boxes_of_a_mask_match_a_search_of_every_thing() -> None:
    instances = np.random.default_rng(3).integers(0, 6, (11, 17)).astype(np.int32) * 3
    for number, box in boxes_of(instances).items():
        rows, columns = np.nonzero(instances == number)
        assert box == (columns.min(), rows.min(), columns.max(), rows.max(), len(rows))
    assert set(boxes_of(instances)) == set(np.unique(instances).tolist()) - {0}


def test_files_that_changed_are_told_and_written_again(dataset: Recording) -> None:
    before = content(dataset.folder)
    (dataset.folder / "voc" / "2000000000.txt").write_text("dataset []\n")
    (dataset.folder / "voc" / "list.txt").unlink()
    changed = dataset.folder / "mav0" / "rgb0" / "data" / "2100000000.raw"
    changed.write_bytes(bytes(len(changed.read_bytes())))
    lines = "\n".join(said(dataset.folder))
    assert "error: voc/2000000000.txt: has 11 bytes" in lines
    assert "error: voc/list.txt: is listed in the manifest but missing" in lines
    assert "error: mav0/rgb0/data/2100000000.raw: has other content" in lines
    assert repair(dataset.folder) == [
        "asl was written again from the journal: 1 of its files are not as the manifest says",
        "voc was written again from the journal: 2 of its files are not as the manifest says",
    ]
    assert content(dataset.folder) == before
    assert repair(dataset.folder) == []


def test_rows_and_files_of_asl_belong_together(dataset: Recording) -> None:
    before = content(dataset.folder)
    rgb = dataset.folder / "mav0" / "rgb0"
    (rgb / "data" / "2200000000.raw").unlink()
    (rgb / "data" / "1.raw").write_bytes(b"x")
    imu = dataset.folder / "mav0" / "imu0" / "data.csv"
    rows = imu.read_text().splitlines()
    del rows[5]
    rows[9], rows[10] = rows[10], rows[9]
    imu.write_text("\n".join(rows) + "\n")
    (dataset.folder / "mav0" / "imu0" / "sensor.yaml").write_text("sensor_type: [")
    lines = "\n".join(said(dataset.folder))
    assert "mav0/rgb0/data.csv: 1 rows have no file in data/: 2200000000.raw" in lines
    assert "mav0/rgb0/data: 1 files have no row in data.csv: 1.raw" in lines
    assert "mav0/imu0/data.csv: 1 samples of drone/imu0 have no row: 2020000000 ns" in lines
    assert "mav0/imu0/data.csv: 1 stamps do not rise: 2045000000 ns after 2050000000 ns" in lines
    assert "mav0/imu0/sensor.yaml: cannot be read" in lines
    assert "removed from mav0/rgb0/data 1 files without a row: 1.raw" in repair(dataset.folder)
    assert content(dataset.folder) == before


def test_what_a_kill_leaves_becomes_a_shorter_dataset_and_resumes_to_the_same_bytes(dataset: Recording) -> None:
    whole = content(dataset.folder)
    folder = dataset.folder
    (folder / "manifest.json").unlink()
    (folder / ".formats.json").unlink()
    write_group(dataset, 2, messages_of(2)[:30], finish=False)
    images = (folder / "mav0" / "rgb0" / "data.csv").read_text().splitlines()
    (folder / "mav0" / "rgb0" / "data.csv").write_text("\n".join(images[:7]) + "\n")
    for name in images[9:]:
        (folder / "mav0" / "rgb0" / "data" / name.split(",")[1]).unlink()
    imu = (folder / "mav0" / "imu0" / "data.csv").read_text().splitlines()
    (folder / "mav0" / "imu0" / "data.csv").write_text("\n".join(imu[:120]) + "\n")
    (folder / "mav0" / "rgb0" / "data" / "2900000000.raw.partial").write_bytes(b"half")
    for path in (folder / "voc").iterdir():
        path.unlink()
    findings = check(folder)
    assert [finding.where for finding in findings if finding.severity == "error"] == ["voc"]
    assert any("group 3 of 3 is not complete" in finding.what for finding in findings)
    assert any(finding.where.endswith(".partial") for finding in findings)
    repair(folder)
    manifest = read_manifest(folder)
    assert manifest is not None and not manifest.complete and manifest.groups == 2
    assert {finding.severity for finding in check(folder)} == {"warning"}
    assert all("group" in finding.what for finding in check(folder))
    shorter = content(folder)
    assert repair(folder) == [] and content(folder) == shorter
    assert len((folder / "mav0" / "rgb0" / "data.csv").read_text().splitlines()) == 1 + 8
    write_group(dataset, 2, messages_of(2))
    Exporter(folder, ("asl", "voc")).finish()
    write_manifest(folder)
    assert content(folder) == whole


def test_a_rebuild_that_was_killed_leaves_no_trace(dataset: Recording) -> None:
    before = content(dataset.folder)
    (dataset.folder / "voc").rename(dataset.folder / "voc.old.partial")
    aside = dataset.folder / "rebuild.partial" / "dataset" / "voc"
    aside.mkdir(parents=True)
    (aside / "half.txt").write_text("half")
    (aside.parent / "journal").symlink_to((dataset.folder / "journal").resolve())
    repair(dataset.folder)
    assert content(dataset.folder) == before
    assert not (dataset.folder / "rebuild.partial").exists()


def test_repair_gives_nothing_up_when_the_journal_is_gone_or_changed(dataset: Recording) -> None:
    (dataset.folder / "voc" / "list.txt").unlink()
    dataset.group_path(1).unlink()
    before = content(dataset.folder)
    done = repair(dataset.folder)
    assert any("voc was left as it is" in line and "the journal is not what it was" in line for line in done)
    after = content(dataset.folder)
    after.pop("manifest.json"), before.pop("manifest.json")
    assert after == before
    assert repair(dataset.folder) == [line for line in done if "left as it is" in line]
    assert any("group-000001.bin: is listed in the manifest but missing" in line for line in said(dataset.folder))


def test_a_new_manifest_does_not_bless_a_changed_recording(dataset: Recording) -> None:
    path = dataset.folder / "recording.json"
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))
    repair(dataset.folder)
    assert any("recording.json: has other content" in line for line in said(dataset.folder))


def test_missing_samples_of_a_sensor_with_faults_are_only_a_warning(made: Recording) -> None:
    data = json.loads((made.folder / "recording.json").read_text())
    data["scenario"]["vehicles"] = [{"name": "drone", "sensors": {"imu0": {"faults": [{"kind": "dropout"}]}}}]
    (made.folder / "recording.json").write_text(json.dumps(data))
    messages = [message for message in messages_of(1) if message.stream != "drone/imu0"]
    write_group(made, 1, messages)
    (finding,) = [finding for finding in check(made.folder) if finding.where == "drone/imu0"]
    assert finding.severity == "warning" and finding.what.startswith("80 samples are missing: 480 at")


def test_before_the_first_message_and_without_any(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"formats": ["asl"]}')
    assert [str(finding) for finding in check(tmp_path)] == [
        "warning: recording.json: is missing: nothing was recorded yet; `skyloop record --resume`"
    ]
    (tmp_path / "recording.json.partial").write_text("{")
    assert repair(tmp_path) == ["removed recording.json.partial"]
    (tmp_path / "plan.json").unlink()
    with pytest.raises(DatasetError, match="holds no recording"):
        check(tmp_path)


def test_the_verb_tells_and_its_exit_code_says_whether_anything_is_wrong(
    made: Recording, capsys: pytest.CaptureFixture[str]
) -> None:
    from skyloop.cli import app

    def run(*words: str) -> tuple[int, str]:
        code = app(["check", str(made.folder), *words], standalone_mode=False)
        return code or 0, capsys.readouterr().out

    write_manifest(made.folder)
    code, text = run()
    assert code == 0 and "no defects" in text
    write_group(made, 1, [message for message in messages_of(1) if message.index != 24])
    code, text = run("--json")
    findings = json.loads(text)["findings"]
    assert code == 1
    assert {
        "severity": "error",
        "where": "drone/rgb0",
        "what": "1 samples are missing: 24 at 2400000000 ns",
    } in findings


def test_no_manifest_vouches_for_a_broken_group(made: Recording) -> None:
    """Not even where there was none before to compare with."""
    path = made.group_path(1)
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    manifest = write_manifest(made.folder)
    assert (manifest.complete, manifest.groups) == (False, 1)
    assert "journal/group-000001.bin" not in manifest.files
    assert {"journal/group-000000.bin", "journal/group-000002.bin"} < set(manifest.files)


def test_a_broken_group_is_not_exported_as_a_short_one(dataset: Recording) -> None:
    path = dataset.group_path(1)
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=r"group-000001\.bin.*record \d+ at byte \d+ is broken.*--resume"):
        export(dataset.folder, ("voc",))


def killed_in_finish(writer: type, folder: Path, formats: tuple[str, ...]) -> None:
    """Export in a child process that is killed when the writer has all groups but is not finished."""
    child = os.fork()
    if child == 0:
        writer.finish = lambda self: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[attr-defined]
        export(folder, formats)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_a_killed_export_leaves_a_whole_folder_or_none(dataset: Recording) -> None:
    folder = dataset.folder
    before = content(folder / "voc")
    killed_in_finish(TinyVoc, folder, ("voc",))
    assert content(folder / "voc") == before, "the old folder is kept until the new one is whole"
    assert [str(finding) for finding in check(folder) if finding.severity == "error"] == []
    shutil.rmtree(folder / "voc")
    killed_in_finish(TinyVoc, folder, ("voc",))
    assert not (folder / "voc").exists()
    assert any((folder / "voc.partial" / "voc").iterdir()), "the child was killed before it wrote anything"
    export(folder, ("voc",))
    assert content(folder / "voc") == before
    assert said(folder) == [] and not (folder / "voc.partial").exists()


def test_an_export_that_fails_leaves_no_folder(dataset: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: TinyVoc) -> None:
        raise DatasetError("no space left")

    shutil.rmtree(dataset.folder / "voc")
    monkeypatch.setattr(TinyVoc, "finish", fail)
    with pytest.raises(DatasetError, match="no space left"):
        export(dataset.folder, ("voc",))
    assert not (dataset.folder / "voc").exists() and not (dataset.folder / "voc.partial").exists()
