"""Which measurement is whose, and who is there: several EKFs, gating, assignment, birth, confirmation, death."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import chdtri

from skyloop.core.tracking import constant_velocity, kalman_gain
from skyloop_autonomy.people.carrier import Carrier
from skyloop_autonomy.people.config import PersonModel, TrackerConfig
from skyloop_autonomy.people.sightings import HEIGHT, POSITION, VELOCITY, N, Sighting
from skyloop_client.messages import Array

LEAST_HEIGHT = 0.8
"""m, so that a bad box turns nobody upside down."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A person's state and its covariance; see `sightings` for what the seven numbers are."""

    state: Array
    covariance: Array


def wandering(seconds: float, person: PersonModel, velocity_sd: Array) -> Array:
    """(7, 7) what `seconds` add to the covariance: the person's own changes of mind, and how badly the vehicle knows
    its own velocity."""
    dt = abs(seconds)
    push = np.array([person.acceleration_sd, person.acceleration_sd, person.climb_acceleration_sd]) ** 2
    noise = np.zeros((N, N))
    noise[POSITION, POSITION] = np.diag(push * dt**3 / 3.0 + (velocity_sd * dt) ** 2)
    noise[VELOCITY, VELOCITY] = np.diag(push * dt)
    noise[POSITION, VELOCITY] = noise[VELOCITY, POSITION] = np.sign(seconds) * np.diag(push * dt**2 / 2.0)
    return noise


def flown(start: Carrier, end: Carrier) -> Array:
    """(3,) m that the vehicle believes to have flown, from its velocities: its position jumps with every fix."""
    return 0.5 * (start.velocity + end.velocity) * ((end.t_ns - start.t_ns) * 1e-9)


def predicted(belief: Belief, start: Carrier, end: Carrier, person: PersonModel) -> Belief:
    """The belief at the instant of `end`, not before that of `start`."""
    seconds = (end.t_ns - start.t_ns) * 1e-9
    step = constant_velocity(seconds, N)
    state = step @ belief.state
    state[POSITION] -= flown(start, end)
    spread = step @ belief.covariance @ step.T + wandering(seconds, person, end.velocity_sd)
    return Belief(state, spread)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """How a sighting fits to a belief."""

    off: Array
    """(m,) the innovation."""
    slopes: Array
    """(m, 7) with the state now, even if the sighting is older."""
    covariance: Array
    """(m, m) of the innovation."""

    @property
    def distance(self) -> float:
        """Squared, in sigmas."""
        return float(self.off @ np.linalg.solve(self.covariance, self.off))

    @property
    def cost(self) -> float:
        """-2 ln of the likelihood, less a constant: a vague belief must not win against a sure one."""
        return self.distance + float(np.linalg.slogdet(self.covariance)[1])


def fit(belief: Belief, now: Carrier, sighting: Sighting, person: PersonModel) -> Fit | None:
    """Of a sighting at `now` or before it. None if the person cannot have been measured.

    An older one is compared with where the person was then. What the person may have done since is added to its noise:
    nothing has to be undone, and a box that comes late counts less.
    """
    then = sighting.carrier
    seconds = (then.t_ns - now.t_ns) * 1e-9
    state, back = belief.state, np.eye(N)
    late = np.zeros((N, N))
    if seconds:
        back = constant_velocity(seconds, N)
        state = back @ state
        state[POSITION] += flown(then, now)
        late = wandering(seconds, person, now.velocity_sd)
    if not sighting.possible(state):
        return None
    off, slopes, noise = sighting.innovation(state)
    noise = noise + slopes @ late @ slopes.T
    slopes = slopes @ back
    return Fit(off, slopes, slopes @ belief.covariance @ slopes.T + noise)


def updated(belief: Belief, how: Fit) -> Belief:
    gain = kalman_gain(how.covariance, how.slopes, belief.covariance)
    state = belief.state + gain @ how.off
    state[HEIGHT] = max(state[HEIGHT], LEAST_HEIGHT)
    spread = belief.covariance - gain @ how.covariance @ gain.T
    return Belief(state, 0.5 * (spread + spread.T))


NOT_CONFIRMED = -1
SAME_COURSE = 0.7
"""m/s: two that are near to each other and whose velocities differ by less are one person."""
UNTHINKABLE = 1e6
"""The cost of a pair outside the gate."""


@dataclass(slots=True, eq=False)
class PersonTrack:
    """A person, or what may become one."""

    belief: Belief
    evidence: float
    hit_ns: int
    """When it was measured last."""
    number: int = NOT_CONFIRMED
    """That it keeps; -1 before it is confirmed."""

    @property
    def confirmed(self) -> bool:
        return self.number != NOT_CONFIRMED


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A measurement, and the person that begins with it if it is nobody's."""

    sighting: Sighting
    newcomer: Belief | None


@dataclass(frozen=True, slots=True, eq=False)
class SensorReading:
    """All measurements of one sensor at one instant."""

    candidates: Sequence[Candidate]
    sees: Callable[[Belief], bool]
    """Whether somebody there should have been measured."""
    hit: float
    miss: float
    """What is added to and taken from the evidence."""


class PersonTracker:
    """Remembers everything in plain attributes: a deep copy is a snapshot."""

    def __init__(self, config: TrackerConfig) -> None:
        self.config = config
        self.tracks: list[PersonTrack] = []
        self.now: Carrier | None = None
        """The vehicle at the newest instant that anything was measured."""
        self._next_number = 0

    def advance(self, carrier: Carrier) -> None:
        """Let time pass up to the instant of a carrier; nothing happens if that is over already."""
        now = self.now
        if now is not None and carrier.t_ns <= now.t_ns:
            return
        for track in self.tracks if now is not None else ():
            assert now is not None
            track.belief = predicted(track.belief, now, carrier, self.config.person)
        self.now = carrier

    def take(self, look: SensorReading, carrier: Carrier) -> list[PersonTrack | None]:
        """Use what a sensor measured at the instant of `carrier`, which may be a little late. Returns, for each
        candidate, whose it is."""
        self.advance(carrier)
        owners: list[PersonTrack | None] = [None] * len(look.candidates)
        hit: set[int] = set()
        for i, k, how in self._pairs(look.candidates):
            track = self.tracks[i]
            track.belief = updated(track.belief, how)
            track.evidence = min(track.evidence + look.hit, self.config.evidence.most)
            track.hit_ns = max(track.hit_ns, carrier.t_ns)
            owners[k] = track
            hit.add(i)
        for i, track in enumerate(self.tracks):
            if i not in hit and look.sees(track.belief):
                track.evidence -= look.miss
        for k, candidate in enumerate(look.candidates):
            if owners[k] is None:
                owners[k] = self._born(candidate, look, carrier)
        self._confirm_and_forget()
        return [owner if owner is not None and owner in self.tracks else None for owner in owners]

    def _pairs(self, candidates: Sequence[Candidate]) -> list[tuple[int, int, Fit]]:
        """(track, candidate, fit): the assignment with the greatest likelihood; who fits to nobody is left out."""
        if not candidates or not self.tracks or self.now is None:
            return []
        costs = np.full((len(self.tracks), len(candidates)), UNTHINKABLE)
        fits: dict[tuple[int, int], Fit] = {}
        for i, track in enumerate(self.tracks):
            for k, candidate in enumerate(candidates):
                how = fit(track.belief, self.now, candidate.sighting, self.config.person)
                if how is not None and how.distance <= chdtri(len(how.off), 1.0 - self.config.gate):
                    fits[i, k] = how
                    # somebody who is believed in goes before a newcomer
                    costs[i, k] = how.cost - (10.0 if track.confirmed else 0.0)
        rows, columns = linear_sum_assignment(costs)
        return [(i, k, fits[i, k]) for i, k in zip(rows.tolist(), columns.tolist(), strict=True) if (i, k) in fits]

    def _born(self, candidate: Candidate, look: SensorReading, carrier: Carrier) -> PersonTrack | None:
        if candidate.newcomer is None or self.now is None:
            return None
        belief = candidate.newcomer
        if carrier.t_ns < self.now.t_ns:
            belief = predicted(belief, carrier, self.now, self.config.person)
        position = belief.state[POSITION][:2]
        for track in self.tracks:
            if np.hypot(*(track.belief.state[POSITION][:2] - position)) < self.config.apart:
                return None
        self.tracks.append(PersonTrack(belief, look.hit, carrier.t_ns))
        return self.tracks[-1]

    def _confirm_and_forget(self) -> None:
        config, now = self.config, self.now
        assert now is not None
        kept = []
        for track in self.tracks:
            longest = config.forget if track.confirmed else config.forget_new
            spread = np.trace(track.belief.covariance[:2, :2])
            if track.evidence > 0.0 and (now.t_ns - track.hit_ns) * 1e-9 <= longest and spread <= config.lost_sd**2:
                kept.append(track)
        # the stronger first, so that of two that are one the weaker goes
        order = sorted(range(len(kept)), key=lambda i: (not kept[i].confirmed, -kept[i].evidence, kept[i].number, i))
        stay: list[int] = []
        for i in order:
            if not any(self._are_one(kept[i], kept[j]) for j in stay):
                stay.append(i)
        self.tracks = [kept[i] for i in sorted(stay)]
        for track in self.tracks:
            if not track.confirmed and track.evidence >= config.evidence.confirmed:
                track.number = self._next_number
                self._next_number += 1

    def _are_one(self, one: PersonTrack, other: PersonTrack) -> bool:
        away = one.belief.state - other.belief.state
        near = float(np.hypot(*away[POSITION][:2])) < self.config.apart
        return near and float(np.hypot(*away[VELOCITY][:2])) < SAME_COURSE
