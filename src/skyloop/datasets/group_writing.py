"""Writes groups of a journal one after the other, from where each was cut off, and reports their frames."""

from __future__ import annotations

from skyloop.datasets.recorded_frames import RecordedFrames
from skyloop.datasets.worker_profile import WorkerProfile
from skyloop.datasets.worker_reports import tell
from skyloop.recording.journal import GroupWriter, is_whole
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message


class GroupWriting:
    def __init__(self, frames: RecordedFrames, stores: bool, stages: WorkerProfile) -> None:
        self._frames, self._stores, self._stages = frames, stores, stages
        self._missing = set(frames.missing)
        self._group: int | None = None
        self._writer: GroupWriter | None = None
        self._counted: int | None = None

    def turn_to(self, group: int | None) -> None:
        """What follows belongs to this group; the one before is complete."""
        if group == self._group:
            return
        if self._group in self._missing:
            if self._writer is not None:
                self._writer.finish()
            tell(group=self._group)
        self._group, self._writer = group, None
        if group in self._missing and self._stores:
            self._writer = GroupWriter(self._frames.path(group))

    def lacks(self, group: int | None, arrival_ns: int) -> bool:
        """Whether messages that arrive at an instant of this or a later group are to be written."""
        if group not in self._missing:
            return False
        return group != self._group or self._writer is None or arrival_ns >= self._writer.from_ns

    def append(self, message: Message) -> None:
        if self._writer is not None:
            self._stages.timed("journal", self._writer.append, message)
        self.count(message.arrival_ns)

    def append_record(self, record: bytes, arrival_ns: int) -> None:
        if self._writer is not None:
            self._stages.timed("journal", self._writer.append_record, record)
        self.count(arrival_ns)

    def count(self, arrival_ns: int) -> None:
        """Report a frame with its first message."""
        frame = self._frames.at(arrival_ns)
        if frame is not None and frame != self._counted:
            self._counted = frame
            tell(frame=frame + 1)

    def check_complete(self) -> None:
        """Raise an error if a group that was missing was left unfinished."""
        for group in self._frames.missing:
            if self._stores and not is_whole(self._frames.path(group)):
                raise DatasetError(f"group {group} of '{self._frames.path(group).parents[1]}' was left unfinished")
