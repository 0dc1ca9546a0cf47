"""Two formats small enough to break by hand: one that grows, one that is written at the end."""

from __future__ import annotations

from skyloop.core.files import RowFile, write_whole
from skyloop.recording.formats.registry import Format
from skyloop.recording.recording import Recording
from skyloop_client.messages import Message

YAML = "sensor_type: {}\nrate_hz: {}\nT_BS:\n  data: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]\n"
TINY = {
    "asl": Format("tiny_formats:TinyAsl", "mav0", True, "rows and files"),
    "voc": Format("tiny_formats:TinyVoc", "voc", False, "all at the end"),
}


class TinyAsl:
    """rgb0 with files, imu0 with rows; goes on after the last whole group of rgb0's rows."""

    def __init__(self, recording: Recording) -> None:
        root = recording.folder / "mav0"
        for name, rate in (("rgb0", 10), ("imu0", 200)):
            write_whole(root / name / "sensor.yaml", YAML.format(name[:-1], rate))
        self._images, self._imu = (RowFile(root / name / "data.csv", "#timestamp") for name in ("rgb0", "imu0"))
        self._data = root / "rgb0" / "data"
        self._data.mkdir(exist_ok=True)
        rows = len((root / "rgb0" / "data.csv").read_text().splitlines()) - 1
        self.first_group = rows // recording.facts["group_frames"]
        if rows == recording.facts["frames"]:
            self.first_group = recording.n_groups
        else:
            self._images.keep(self.first_group * recording.facts["group_frames"])
            self._imu.keep(self.first_group * recording.facts["group_frames"] * 20)

    def add(self, messages: list[Message]) -> None:
        for message in messages:
            if message.stream == "drone/rgb0":
                write_whole(self._data / f"{message.t_ns}.raw", message.data.colour.tobytes())
                self._images.append([f"{message.t_ns},{message.t_ns}.raw"])
            if message.stream == "drone/imu0":
                self._imu.append([f"{message.t_ns},0,0,0"])

    def finish(self) -> None:
        self._images.close()
        self._imu.close()


class TinyVoc:
    def __init__(self, recording: Recording) -> None:
        self.first_group = 0
        self._folder = recording.formats_folder / "voc"
        self._count = 0

    def add(self, messages: list[Message]) -> None:
        for message in messages:
            if message.stream == "truth/drone/rgb0":
                self._count += 1
                boxes = [label.box_px for label in message.data.labels]
                write_whole(self._folder / f"{message.t_ns}.txt", f"{self._folder.parent.name} {boxes}\n")

    def finish(self) -> None:
        write_whole(self._folder / "list.txt", f"{self._count}\n")
