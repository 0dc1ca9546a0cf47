"""The errors skyloop raises on purpose. Anything else is a bug.

SkyloopError
├── ScenarioError      a scenario, airframe or option cannot be used as written
├── UnknownNameError   a stream, vehicle, scenario, bench... of that name does not exist
├── SetpointError      a setpoint or request cannot be obeyed (NaN, wrong shape, wrong rotor count)
├── PluginError        a plugin, or something that it brings, cannot be loaded
├── PartError          a user's code (sensor, pilot, estimator, wind) failed or returned an unusable value
├── StreamError        a record cannot be published: its name, its numbers, its size, how often it comes
├── RunFolderError     a run folder cannot be created or would be overwritten
├── DatasetError       a dataset cannot be written, read, or is not what it should be
├── CodecError         bytes are not a record of skyloop, or a value cannot be encoded
├── LinkError          a link cannot be opened, is refused, or the other side breaks the protocol
│   └── LinkEnded      the flight is over, or the other side is gone
├── TaskError          a task cannot continue: its anchor is not visible, or the vehicle does not follow its commands
├── Interrupted        Ctrl-C, handled between two steps
├── RendererError      the renderer process cannot start, cannot paint, or has died
└── SetupError         this machine lacks something; the message says how to get it
    └── MissingExtra   a Python package of an extra is not installed; also an ImportError
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SkyloopError(Exception):
    """A known problem. The message says what happened, where, and what to do."""


class ScenarioError(SkyloopError):
    """A scenario, airframe or option cannot be used as written."""


class UnknownNameError(SkyloopError):
    """The name does not exist. The message suggests the nearest one."""


class SetpointError(SkyloopError):
    """A setpoint or request cannot be obeyed."""


class PluginError(SkyloopError):
    """A plugin, or something that it brings, cannot be loaded."""


class PartError(SkyloopError):
    """A user's code failed or returned an unusable value. The message says which part, when and where."""


class StreamError(SkyloopError):
    """A record cannot be published on a user's stream. The message says why."""


class RunFolderError(SkyloopError):
    """A run folder cannot be created or would be overwritten."""


class DatasetError(SkyloopError):
    """A dataset cannot be written, read, or is not what it should be."""


class CodecError(SkyloopError):
    """The bytes are not a record of skyloop, or a value cannot be encoded."""


class LinkError(SkyloopError):
    """A link cannot be opened, is refused, or the other side breaks the protocol."""


class LinkEnded(LinkError):
    """The flight is over, or the other side is gone."""


class TaskError(SkyloopError):
    """A task cannot continue: its anchor is not visible, or the vehicle does not follow its commands."""


class Interrupted(SkyloopError):
    """Ctrl-C, handled between two steps so that the flown part is kept."""


class RendererError(SkyloopError):
    """The renderer process cannot start, cannot render, or has died."""


class SetupError(SkyloopError):
    """This machine lacks something skyloop needs."""


class MissingExtra(SetupError, ImportError):
    """A Python package of an extra is not installed. `except ImportError` also catches it."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """A hint to append to a message: ``did you mean 'iris'?`` or the list of known names."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{close[0]}'?"
    return "known: " + ", ".join(names) if names else "there are none"


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name, with the nearest known one."""
    return UnknownNameError(f"no {what} named '{name}'; {nearest_name(name, known)}")
