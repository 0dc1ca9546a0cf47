"""All vehicles of a simulation, advanced together by one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_rotvec, quat_from_yaw, quat_multiply, rotate, yaw_from_quat
from skyloop.vehicle.collision import Collisions
from skyloop.vehicle.fleet_kernels import STATE_SIZE, advance, read_state
from skyloop.vehicle.kernel_records import DRAG_BOX, DRAG_LINEAR, INPUT, MAX_HITS, PARAMS, SET_IDLE, STATE, Records
from skyloop.world.ground import Ground
from skyloop.world.solid_grids import MOVING, cast_segment
from skyloop.world.solids import Solids
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import (
    ActuatorState,
    Array,
    BatteryState,
    Contact,
    Estimate,
    Event,
    EventKind,
    VehicleState,
)
from skyloop_client.streams import NS_PER_S, Rate

INTERVAL_S = 0.01
"""s. The poses of movers are read on this grid of simulated time and interpolated. They are never read at events, so
that a sensor cannot change the flight."""
NOTHING_MOVES = np.zeros(0, MOVING)
MOST_FREE_STEPS = 64
MOST_STEP_UP = 0.3
"""m, the greatest height above the ground of an object that a vehicle is placed on."""
MOST_ABOVE = 1.0
"""m above a vehicle in which an object is in the way of its take-off."""
ABOVE = 5e-6
"""m above a solid object at which a vehicle is placed, because triangles are float32."""
PARTS = (("legs", "hit"), ("body", "hits"), ("rotor", "hits"))


def derive(params: Records, dt: float) -> None:
    """Computes the numbers that follow from others and from the step."""
    params["inverse_mass"] = 1.0 / params["mass"]
    params["inverse_inertia"] = 1.0 / params["inertia"]
    for way in ("up", "down"):
        params[f"half_step_decay_{way}"] = np.exp(-0.5 * dt / params[f"tau_{way}"])
    parasitic = params["parasitic"].sum(axis=1) > 0.0
    params["has_frame_drag"] = parasitic | np.isin(params["drag_model"], (DRAG_LINEAR, DRAG_BOX))


class Fleet:
    """The state of all vehicles, and the methods that advance it. Index i is the i-th vehicle of the scenario."""

    def __init__(self, params: Sequence[Records], rate: Rate, ground: Ground, solids: Solids | None = None) -> None:
        """Without `solids` vehicles meet the ground only, and fly through each other."""
        self.params = np.concatenate(params) if params else np.zeros(0, PARAMS)
        self.states = np.zeros(len(self.params), STATE)
        self.inputs = np.zeros(len(self.params), INPUT)
        derive(self.params, rate.period_s)
        self.n_rotors: list[int] = self.params["n_rotors"].tolist()
        self.rate = rate
        self.ground = ground
        self.names: list[str] = []
        """The vehicles' names by index, for messages."""
        self._per_interval = max(1, round(INTERVAL_S / rate.period_s))
        self._steps = 0
        self._read: dict[int, VehicleState] = {}
        self.states["motion"][:, 6] = 1.0
        self.inputs["kind"] = SET_IDLE
        self.inputs["speed_limit"] = 1e9
        self.inputs["estimate"][:, 6] = 1.0
        for i in range(len(self.params)):
            self.states[i]["voltage"] = self.params[i]["voltage_full"]
            self.place(i, np.zeros(3), 0.0)
        self.solids: Solids | None = None
        self._collisions: Collisions | None = None
        if solids is not None and len(self.params):
            self.attach(solids)

    def attach(self, solids: Solids) -> None:
        """Makes the vehicles collide with solid objects. Those of `solids` are this fleet's, in order, or none."""
        self.solids = solids
        period = self.rate.period_s
        self._collisions = Collisions(self.states, self.params, solids.arrays, period, self._per_interval * period)
        for i, radius in enumerate(solids.hull_radii):
            params = self.params[i]
            params["hull_radius"] = max(params["hull_radius"], radius + np.linalg.norm(params["centre_of_mass"]))

    def place(self, i: int, position: Array, yaw: float) -> None:
        """Puts vehicle i at rest at a point and heading; its step count stays."""
        self._read.clear()
        quat = quat_from_yaw(yaw)
        state = self.states[i]
        state["motion"][:] = 0.0
        state["motion"][0:3] = position + rotate(quat, self.params[i]["centre_of_mass"])
        state["motion"][6:10] = quat
        state["motion_before"] = state["motion"]
        for field in ("acceleration", "angular_acceleration", "rotor_speed"):
            state[field] = state[f"{field}_before"] = 0.0
        state["command"] = 0.0
        state["anchored"] = state["n_touches"] = state["impact_end"] = 0
        state["yaw_target"] = yaw

    def add(self, like: int, start: np.void) -> int:
        """Adds a vehicle built as `like`, in the state `start`. Views of the old arrays become invalid."""
        asked = np.zeros(1, INPUT)
        asked["kind"], asked["speed_limit"], asked["wind_mean"] = SET_IDLE, 1e9, self.inputs[like]["wind_mean"]
        asked["estimate"][:, 6] = 1.0
        self.params = np.concatenate([self.params, self.params[like : like + 1]])
        self.states = np.concatenate([self.states, np.array([start], STATE)])
        self.inputs = np.concatenate([self.inputs, asked])
        self.states[-1]["step"] = self._steps
        self.n_rotors.append(self.n_rotors[like])
        return len(self.states) - 1

    def put(self, i: int, position: Array, quat: Array, velocity: Array, rates: Array) -> None:
        """Moves vehicle i in flight: velocity in world axes, rates in body axes. Rotors and controller continue."""
        self._read.clear()
        state, arm = self.states[i], self.params[i]["centre_of_mass"]
        motion = state["motion"]
        motion[0:3] = position + rotate(quat, arm)
        motion[3:6] = velocity + rotate(quat, np.cross(rates, arm))
        motion[6:10], motion[10:13] = quat, rates
        state["motion_before"] = motion
        state["anchored"] = state["n_touches"] = state["impact_end"] = 0
        state["yaw_target"] = yaw_from_quat(quat)

    def begin_again(self, i: int, start: np.void) -> None:
        """Sets vehicle i back to the record `start`, at the present time. Its touches so far are kept."""
        state = self.states[i]
        kept = {name: state[name].copy() for name in ("step", *(n for n in STATE.names or () if "hit" in n))}
        self.states[i] = start
        for name, value in kept.items():
            state[name] = value
        self._read.clear()

    def step_up(self, i: int) -> None:
        """Lifts a vehicle from the ground onto an object that lies under its legs: a path, a kerb, a pavement."""
        assert self.solids is not None
        params, motion = self.params[i], self.states[i]["motion"]
        legs = motion[:3] + rotate(motion[6:10], params["contact_position"][params["contact_is_leg"] > 0.0])
        shares = [cast_segment(self.solids.arrays, 0, (x, y, z + MOST_STEP_UP), (x, y, z))[0] for x, y, z in legs]
        if min(shares) <= 1.0:
            motion[2] += (1.0 - min(shares)) * MOST_STEP_UP + ABOVE
            self.states[i]["motion_before"] = motion
            self._read.clear()

    def in_the_way(self, i: int) -> str | None:
        """The name of the nearest object within a metre above a vehicle's points of contact, if there is one.

        A vehicle that is inside an object has its upper side above it."""
        assert self.solids is not None
        motion = self.states[i]["motion"]
        # records have room for more points than a vehicle has; the others are its middle
        points = motion[:3] + rotate(motion[6:10], self.params[i]["contact_position"])
        # what it stands on is not above it
        points[:, 2] += 2.0 * ABOVE
        over = [self.solids.above(point, MOST_ABOVE) for point in points]
        return min((one for one in over if one is not None), default=(0.0, None))[1]

    def set_charge(self, i: int, state_of_charge: float) -> None:
        params, state = self.params[i], self.states[i]
        state["charge_used"] = (1.0 - state_of_charge) * params["capacity"]
        state["voltage"] = params["voltage_empty"] + state_of_charge * (
            params["voltage_full"] - params["voltage_empty"]
        )

    def advance_to(self, t_ns: int) -> None:
        """Advances the physics, on its own grid, to the first step at or after `t_ns`."""
        until = self.rate.count_until(t_ns)
        if until <= self._steps:
            return
        if self._collisions is None:
            ground = self.ground.kernel_arguments
            self._check(advance(self.states, self.inputs, self.params, self.rate.period_s, until, ground))
        else:
            self._advance_among(self._collisions, until)
        self._steps = until

    def _advance_among(self, collisions: Collisions, until: int) -> None:
        """Advances among solid objects, whose movers are read at the beginning of each interval."""
        assert self.solids is not None
        ground = self.ground.kernel_arguments
        steps, parts, end, per = self._steps, NOTHING_MOVES, until, self._per_interval
        while steps < until:
            interval = steps // per
            if self.solids.movers and (steps == self._steps or steps == interval * per):
                end = min(until, (interval + 1) * per)
                parts = self._parts_near(self.solids, interval)
            free = collisions.free_steps(parts, min(end - steps, MOST_FREE_STEPS))
            if free:
                self._check(advance(self.states, self.inputs, self.params, self.rate.period_s, steps + free, ground))
                steps += free
            else:
                steps, lost = collisions.advance(self.inputs, parts, (steps, end, per), ground)
                self._check(lost)

    def _check(self, lost: int) -> None:
        """Raises an error if a motion has diverged, so that none of it is published."""
        if lost < 0:
            return
        state = self.states[lost]
        name = f"'{self.names[lost]}'" if lost < len(self.names) else f"vehicle {lost}"
        place, velocity = (", ".join(f"{x:.3g}" for x in state["motion"][k : k + 3]) for k in (0, 3))
        raise ScenarioError(
            f"{name} at {state['step'] * self.rate.period_s:.3f} s: its motion has run away (position {place} m, "
            f"velocity {velocity} m/s); make wind, forces, gains or what the pilot asks for smaller"
        )

    def _parts_near(self, solids: Solids, interval: int) -> Records:
        """The parts of movers that a vehicle may meet in an interval, even if a collision gives it 30 m/s more."""
        period = self._per_interval * self.rate.period_s
        motion = self.states["motion"]
        velocity = motion[:, 3:6]
        speed = np.sqrt(np.einsum("ni,ni->n", velocity, velocity))
        reach = self.params["hull_radius"] + period * (speed + 30.0)
        return solids.moving(interval, period, motion[:, :3], reach)

    def state(self, i: int, t_ns: int) -> VehicleState:
        """The exact state at an instant within the last physics step. It is computed once per instant."""
        cached = self._read.get(i)
        if cached is not None and cached.t_ns == t_ns:
            return cached
        fraction = 1.0
        if self._steps > 0:
            before, after = self.rate.due_ns(self._steps - 1), self.rate.due_ns(self._steps)
            fraction = (t_ns - before) / (after - before)
        n = self.n_rotors[i]
        out = np.empty(STATE_SIZE + 2 * n)
        first_thrust = STATE_SIZE + n
        read_state(self.states, self.params, i, self.rate.period_s, fraction, out)
        out.flags.writeable = False  # every caller at this instant gets the same record
        speeds, thrusts = out[STATE_SIZE:first_thrust], out[first_thrust:]
        state = self._read[i] = VehicleState(
            t_ns, out[0:3], out[3:6], out[6:10], out[10:13], out[13:16], out[16:19], speeds, thrusts, out[19:22]
        )
        return state

    def show(self, states: Sequence[VehicleState]) -> None:
        """Makes `state` answer with these, which another process has flown, at their instant."""
        self._read = dict(enumerate(states))

    def battery(self, i: int, t_ns: int) -> BatteryState:
        state, params = self.states[i], self.params[i]
        charge = 1.0 - state["charge_used"] / params["capacity"] if params["has_battery"] else 1.0
        return BatteryState(
            t_ns, float(state["voltage"]), float(state["current"]), max(0.0, float(charge)), float(state["energy_used"])
        )

    def actuators(self, i: int, t_ns: int) -> ActuatorState:
        n = self.n_rotors[i]
        state = self.states[i]
        return ActuatorState(t_ns, state["command"][:n].copy(), state["rotor_speed"][:n].copy())

    def touches(self, i: int, known: int) -> tuple[int, list[Event]]:
        """The touches of vehicle i after the first `known`, and how many there are now; only the last few are kept."""
        row, events = self.states[i], []
        count = int(row["n_hits"])
        for k in range(max(known, count - MAX_HITS), count):
            at = k % MAX_HITS
            hit_row, place = int(row["hit_row"][at]), row["hit_place"][at]
            number, name = (0, "ground") if self.solids is None else self.solids.instance(hit_row, place)
            part, verb = PARTS[row["hit_part"][at]]
            speed, closing = float(row["hit_speed"][at]), float(row["hit_closing"][at])
            contact = Contact(part, number, name, place.copy(), row["hit_normal"][at].copy(), speed, closing)
            t_ns, what = int(row["hit_ns"][at]), f"{part} {verb} {name}"
            events.append(Event(t_ns, EventKind.CONTACT, f"{what} at {speed:.2f} m/s", contact))
            if row["hit_crash"][at]:
                events.append(Event(t_ns, EventKind.CRASH, f"{what} at {closing:.2f} m/s, rotors stopped", contact))
        return count, events

    def feed_estimate(self, i: int, estimate: Estimate) -> None:
        """Sets the estimate that the controller flies on from now, when its state source is not truth."""
        row = self.inputs[i]
        row["estimate_t"] = estimate.t_ns / NS_PER_S
        memory = row["estimate"]
        memory[0:3] = estimate.position
        memory[3:6] = estimate.velocity_world
        memory[6:10] = estimate.quat_wxyz
        memory[10:13] = estimate.angular_velocity_body

    def snapshot(self) -> tuple[Records, ...]:
        """Everything that changes, the parameters too, because links may change limits, gains and forces in flight."""
        return self.states.copy(), self.inputs.copy(), self.params.copy()

    def restore(self, saved: tuple[Records, ...]) -> None:
        self.states[:], self.inputs[:], self.params[:] = saved
        self._steps = int(self.states["step"].max(initial=0))
        self._read.clear()


class VehicleMover:
    """Its pose is exact at the present instant and extrapolated a little before and after it."""

    n_rows = 1

    def __init__(self, fleet: Fleet, index: int, now_ns: Callable[[], int]) -> None:
        self._fleet, self._index, self._now_ns = fleet, index, now_ns

    def poses(self, t: float) -> Array:
        state = self._fleet.state(self._index, self._now_ns())
        dt = t - state.t_ns / NS_PER_S
        turn = quat_from_rotvec((state.angular_velocity_body + 0.5 * dt * state.angular_acceleration_body) * dt)
        pose = np.empty((1, 3, 4))
        pose[0, :, :3] = matrix_from_quat(quat_multiply(state.quat_wxyz, turn))
        pose[0, :, 3] = state.position + (state.velocity_world + 0.5 * dt * state.acceleration_world) * dt
        return pose
