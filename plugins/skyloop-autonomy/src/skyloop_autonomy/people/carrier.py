"""Where the vehicle that carries the sensors was, and how well it knows that."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from skyloop.core.frames import matrix_from_quat, slerp
from skyloop_client.messages import Array, Estimate, VehicleState

KEPT_NS = 2_000_000_000
"""How far back poses are known; older measurements are not used."""
MOST_AHEAD_NS = 100_000_000
"""How far beyond the newest estimate the vehicle is taken to fly straight on."""


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """The vehicle at one instant."""

    t_ns: int
    position: Array
    """(3,) m, world."""
    velocity: Array
    """(3,) m/s, world."""
    quat_wxyz: Array
    world_from_body: Array
    """(3, 3)."""
    angular_velocity_body: Array
    position_sd: Array
    velocity_sd: Array
    attitude_sd: Array
    """(3,) rad, of a rotation vector in world axes."""

    @staticmethod
    def of(state: Estimate | VehicleState) -> Carrier:
        """Of a VehicleState, which is the truth, all sigmas are 0."""
        sigmas = (np.zeros(3),) * 3
        if isinstance(state, Estimate):
            sigmas = state.position_sd, state.velocity_sd, state.attitude_sd
        return Carrier(
            state.t_ns, state.position, state.velocity_world, state.quat_wxyz, matrix_from_quat(state.quat_wxyz),
            state.angular_velocity_body, *sigmas,
        )  # fmt: skip


class CarrierHistory:
    """The newest two seconds of a vehicle's states."""

    def __init__(self) -> None:
        self._stamps: list[int] = []
        self._kept: list[Carrier] = []

    def add(self, state: Estimate | VehicleState) -> None:
        """Invalid estimates, and those older than the newest, are left out."""
        if isinstance(state, Estimate) and not state.valid:
            return
        if self._stamps and state.t_ns <= self._stamps[-1]:
            return
        self._stamps.append(state.t_ns)
        self._kept.append(Carrier.of(state))
        old = bisect_left(self._stamps, state.t_ns - KEPT_NS)
        # one by one would move the whole list each time
        if old > 50:
            del self._stamps[:old], self._kept[:old]

    def at(self, t_ns: int) -> Carrier | None:
        """Between two states it is interpolated; None where nothing is known."""
        if not self._stamps or t_ns < self._stamps[0] or t_ns > self._stamps[-1] + MOST_AHEAD_NS:
            return None
        i = bisect_left(self._stamps, t_ns)
        if i == len(self._stamps):
            last = self._kept[-1]
            ahead = (t_ns - last.t_ns) * 1e-9
            return _moved(last, t_ns, last.position + ahead * last.velocity, last.velocity, last.quat_wxyz)
        after = self._kept[i]
        if after.t_ns == t_ns:
            return after
        before = self._kept[i - 1]
        share = (t_ns - before.t_ns) / (after.t_ns - before.t_ns)
        position = before.position + share * (after.position - before.position)
        velocity = before.velocity + share * (after.velocity - before.velocity)
        return _moved(before, t_ns, position, velocity, slerp(before.quat_wxyz, after.quat_wxyz, share))


def _moved(carrier: Carrier, t_ns: int, position: Array, velocity: Array, quat: Array) -> Carrier:
    return Carrier(
        t_ns, position, velocity, quat, matrix_from_quat(quat), carrier.angular_velocity_body,
        carrier.position_sd, carrier.velocity_sd, carrier.attitude_sd,
    )  # fmt: skip
