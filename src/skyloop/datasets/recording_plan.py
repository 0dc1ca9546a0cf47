"""What is to be recorded, as it is in plan.json, and which frame and which group of it an instant belongs to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from skyloop.core.files import write_whole
from skyloop.core.validation import validated
from skyloop.recording.journal import is_complete
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import DatasetError, ScenarioError
from skyloop_client.regular_files import read_text
from skyloop_client.streams import NS_PER_S, Rate

PLAN = "plan.json"
LONGEST_START_S = 120.0
"""Simulated seconds that a pilot may take to begin its trajectory."""


class RecordingPlan(BaseModel):
    """The content of plan.json."""

    model_config = ConfigDict(frozen=True)

    vehicle: str
    """The first one's name."""
    seed: int
    frames: int
    rate_hz: int | float
    group_frames: int
    """Frames per file of the journal."""
    n_groups: int
    formats: tuple[str, ...]
    store: bool = True
    """Otherwise samples are measured and then discarded."""
    whole_flight: bool = False
    """Frames begin with the first instant, on the ground, and not with the pilot's trajectory."""
    split: str
    versions: dict[str, str | None]
    scenario: dict[str, Any]
    """With every default."""

    @staticmethod
    def read(folder: Path) -> RecordingPlan:
        path = folder / PLAN
        try:
            data = json.loads(read_text(path))
            return validated(RecordingPlan, data, PLAN)
        except FileNotFoundError:
            raise DatasetError(f"'{folder}' holds no recording to resume; record without --resume") from None
        except (OSError, ValueError, ScenarioError) as error:
            raise DatasetError(f"'{path}' cannot be read: {error}; record again") from None

    def write(self, folder: Path) -> None:
        write_whole(folder / PLAN, json.dumps(self.model_dump(mode="json"), indent=1) + "\n")

    def make_scenario(self) -> Scenario:
        return make_scenario(self.scenario, place=PLAN)

    @property
    def n_vehicles(self) -> int:
        return len(self.scenario["vehicles"])


class RecordedFrames:
    """The frames of a plan, once it is known when the first one begins."""

    def __init__(self, folder: Path, plan: RecordingPlan) -> None:
        self._folder = folder
        self._frames = plan.frames
        self._per_group = plan.group_frames
        self.rate = Rate.from_hz(plan.rate_hz)
        self.start_ns: int | None = 0 if plan.whole_flight else None
        """When the first frame is; None: not known yet."""
        self._present = (-1, 0, 0)
        """The current frame, and its begin and end."""
        self.missing = [group for group in range(plan.n_groups) if not is_complete(self.path(group))]
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
