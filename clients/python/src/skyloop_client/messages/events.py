"""Events of a vehicle or its link: one kind each, with typed fields."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skyloop_client.messages.states import Array


class EventKind(StrEnum):
    """What happened. The value is the word in files, on links and for people."""

    # the vehicle
    ARMED = "armed"
    DISARMED = "disarmed"
    TOOK_OFF = "took off"
    ARRIVED = "arrived"
    LANDED = "landed"
    BLOCKED = "blocked"
    """It stands on something before its goal."""
    REFUSED = "refused"
    """A setpoint or request could not be obeyed."""
    FAILSAFE = "failsafe"
    FAILSAFE_OVER = "failsafe over"
    CONTACT = "contact"
    """It touched something; `Event.contact` says what, where and how hard."""
    CRASH = "crash"
    """It hit something too hard, or lies on its side: the motors are off."""
    FAULT = "fault"
    """A rotor, a sensor or the battery fails from now on, as the scenario or a link wants it."""
    FAULT_OVER = "fault over"
    RELEASED = "released"
    """It has no commander any more: it hovers, then lands."""

    # its link
    CONNECTED = "connected"
    LEFT = "left"
    ENDED = "ended"
    HUNG = "hung"
    RESTARTED = "restarted"
    RESET = "reset"
    LOCKSTEP = "lockstep"
    DEADLINE_MISSED = "deadline missed"
    SLEPT = "slept"
    FELL_BEHIND = "fell behind"
    """It did not fetch its messages in time, and some were dropped."""
    LOST = "lost"
    RELIEVED = "relieved"
    """Another commander has the vehicle now."""
    MISSION = "mission"
    FENCE = "fence"

    OTHER = "other"
    """A kind this version does not know, from a newer peer or recording."""

    @classmethod
    def _missing_(cls, value: object) -> EventKind:
        return cls.OTHER


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """A touch of something solid."""

    part: str
    """Of the vehicle: legs, body or rotor."""
    instance: int
    """Instance number of the touched object. 0 is the ground's height field."""
    name: str
    """Its name."""
    position: Array
    """(3,) m, world, where they touched."""
    normal: Array
    """(3,) unit, world, away from the touched object."""
    speed: float
    """m/s of the contact point relative to the touched object."""
    closing: float
    """m/s, the part of `speed` along the normal."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something that happened: a contact, a failsafe, a refusal, an arrival."""

    t_ns: int
    """The instant it happened."""
    kind: EventKind
    """What happened."""
    text: str
    """One line for people."""
    contact: Contact | None = None
    """The touched object, for kind `contact` and for a `crash` into something."""
    failsafe: str = ""
    """The failsafe that began or ended, for kinds `failsafe` and `failsafe over`."""

    def __post_init__(self) -> None:
        # a record from a link or a file has the plain word
        object.__setattr__(self, "kind", EventKind(self.kind))
