"""The EKF of one person: constant velocity over ground, in the vehicle's moving frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyloop_autonomy.people.carrier import Carrier
from skyloop_autonomy.people.config import PersonModel
from skyloop_autonomy.people.sightings import HEIGHT, POSITION, VELOCITY, N, Sighting
from skyloop_client.messages import Array

LEAST_HEIGHT = 0.8
"""m, so that a bad box turns nobody upside down."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A person's state and its covariance; see `sightings` for what the seven numbers are."""

    state: Array
    covariance: Array


def transition(seconds: float) -> Array:
    step = np.eye(N)
    step[POSITION, VELOCITY] = seconds * np.eye(3)
    return step


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
    step = transition(seconds)
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
        back = transition(seconds)
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
    gain = np.linalg.solve(how.covariance, how.slopes @ belief.covariance).T
    state = belief.state + gain @ how.off
    state[HEIGHT] = max(state[HEIGHT], LEAST_HEIGHT)
    spread = belief.covariance - gain @ how.covariance @ gain.T
    return Belief(state, 0.5 * (spread + spread.T))
