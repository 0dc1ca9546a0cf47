"""Which frame and which group of a recording an instant belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyloop.recording.journal import is_whole
from skyloop_client.errors import DatasetError
from skyloop_client.streams import NS_PER_S, Rate

LONGEST_START_S = 120.0
"""Simulated seconds that a pilot may take to begin its trajectory."""


class RecordedFrames:
    """The frames of a plan, once it is known when the first one begins."""

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        self._folder = folder
        self._frames: int = plan["frames"]
        self._per_group: int = plan["group_frames"]
        self.rate = Rate.from_hz(plan["rate_hz"])
        self.start_ns: int | None = 0 if plan.get("whole_flight", False) else None
        """When the first frame is; None: not known yet."""
        self._present = (-1, 0, 0)
        """The current frame, and its begin and end."""
        self.missing = [group for group in range(plan["n_groups"]) if not is_whole(self.path(group))]
        """Groups to be written, in ascending order."""

    def path(self, group: int) -> Path:
        return self._folder / "journal" / f"group-{group:06d}.bin"

    def begin_if(self, have_begun: bool, t_ns: int) -> bool:
        """The first frame follows the instant at which the pilots have begun. Returns whether it is this one."""
        if self.start_ns is not None:
            return False
        if have_begun:
            # frames are at the cameras' own instants
            self.start_ns = self.rate.due_ns(self.rate.count_until(t_ns + 1))
            return True
        if t_ns > LONGEST_START_S * NS_PER_S:
            raise DatasetError(f"the pilot did not begin its trajectory within {LONGEST_START_S:g} s; check its start")
        return False

    def at(self, t_ns: int) -> int | None:
        """The frame of an instant, counted from 0; None outside the recording."""
        if self.start_ns is None or t_ns < self.start_ns:
            return None
        # most messages belong to the same frame as the one before
        frame, begins, ends = self._present
        if not begins <= t_ns < ends:
            frame = self.rate.count_until(t_ns - self.start_ns + 1) - 1
            begins, ends = (self.start_ns + self.rate.due_ns(number) for number in (frame, frame + 1))
            self._present = frame, begins, ends
        return frame if frame < self._frames else None

    def group_at(self, t_ns: int) -> int | None:
        """The group of an instant; None outside the recording."""
        frame = self.at(t_ns)
        return None if frame is None else frame // self._per_group

    def end_ns(self) -> int | None:
        """When the last group that is to be written ends; None: not known yet."""
        if not self.missing:
            return 0
        if self.start_ns is None:
            return None
        return self.start_ns + self.rate.due_ns(min((self.missing[-1] + 1) * self._per_group, self._frames))
