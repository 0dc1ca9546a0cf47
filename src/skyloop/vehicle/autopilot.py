"""Flight modes above the controller: arming, take-off, landing, return to home, and the failsafes.

The autopilot runs at a fixed rate between physics steps. Its only output is the vehicle's row of inputs. It uses the
same state as the controller, never the hidden truth, with one exception: it notices a crash.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from skyloop.core.frames import yaw_from_quat
from skyloop.vehicle.airframe import Limits
from skyloop.vehicle.autopilot_memory import AutopilotMemory
from skyloop.vehicle.crash_watch import has_fallen, how_it_lies
from skyloop.vehicle.failsafes import Failsafes, doubt
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_records import SET_DESCEND, SET_IDLE, SET_POSITION
from skyloop.vehicle.landing_site import MOVE_OVER_SPEED, MOVED_WITHIN, STILL, landing_site
from skyloop.vehicle.setpoints import check_setpoint, needs_refreshing, setpoint_in, write_setpoint
from skyloop_client.errors import SetpointError
from skyloop_client.messages import (
    Arm,
    Array,
    Disarm,
    Estimate,
    Event,
    EventKind,
    Goal,
    GoHome,
    Hover,
    Land,
    Position,
    Request,
    Setpoint,
    TakeOff,
    VehicleState,
    VehicleStatus,
    Velocity,
)  # fmt: skip
from skyloop_client.streams import NS_PER_S


class Autopilot:
    """The flight modes of one vehicle."""

    def __init__(self, fleet: Fleet, index: int, *, limits: Limits, failsafes: Failsafes, on_estimate: bool) -> None:
        self.fleet = fleet
        self.index = index
        self.limits = limits
        self.failsafes = failsafes
        self.on_estimate = on_estimate
        self.memory = AutopilotMemory()
        self.estimate: Estimate | None = None
        self._events: list[Event] = []
        self.refusal = ""  # why the last `send` was refused
        self.take_record()
        self._row["on_estimate"] = on_estimate
        params = fleet.params[index]
        # a vehicle with a low acceleration limit cannot take a quarter of its weight off its legs
        gravity = float(params["gravity"])
        self._unloaded_thrust = float(params["mass"]) * (gravity - min(0.25 * gravity, 0.5 * limits.acceleration))
        self._n_rotors = int(params["n_rotors"])

    def take_record(self) -> None:
        self._row = self.fleet.inputs[self.index]

    def feed_estimate(self, estimate: Estimate) -> None:
        if self.estimate is not None and estimate.t_ns < self.estimate.t_ns:
            return  # late estimates may overtake each other
        self.estimate = estimate
        if estimate.valid:
            self.memory.estimate_ns = estimate.t_ns
        self.fleet.feed_estimate(self.index, estimate)

    def send(self, item: Setpoint | Request, t_ns: int, by: str = "") -> None:
        """Carries out a setpoint or request, or publishes why it is refused. `by` is in command from then on."""
        memory = self.memory
        self.refusal = ""
        if not isinstance(item, Setpoint | Request):
            hint = f"; write {item.__name__}(...)" if isinstance(item, type) else ""
            raise SetpointError(f"{item!r} is neither a setpoint nor a request of skyloop_client.messages{hint}")
        match item:
            case Arm():
                self._arm(t_ns)
            case Disarm():
                self._disarm(t_ns, "asked to")
            case _ if not memory.armed:
                self.refuse(t_ns, f"{type(item).__name__} while disarmed; send Arm first")
                return
            case _ if memory.failsafe in ("battery low", "estimate lost"):
                self.refuse(t_ns, f"{type(item).__name__} during the failsafe '{memory.failsafe}'")
                return
            case TakeOff():
                self._take_off(item, t_ns)
            case Land():
                self._land(t_ns)
            case Hover():
                self._hover(t_ns)
            case GoHome():
                self._go_home(t_ns)
            case _:
                self._follow(item, t_ns)
        self.claim(by)

    def claim(self, by: str) -> None:
        """`by` is in command from now on. It replaces the commander before it and ends a release."""
        self.memory.take_commander(by)

    def release(self, t_ns: int, hover: float, then: str) -> None:
        """No client is in command now: it hovers for `hover` s, then lands or goes home, unless a client claims it."""
        memory = self.memory
        memory.commander = ""
        if not memory.armed or memory.landed or memory.failsafe in ("battery low", "estimate lost"):
            return
        if memory.mode not in ("hover", "land", "takeoff"):
            self._hover(t_ns)
        memory.release_ns, memory.release_then = t_ns + round(hover * NS_PER_S), then
        self.tell(t_ns, EventKind.RELEASED, f"no client commands it: hovering {hover:g} s, then {then}")

    def state(self, t_ns: int) -> VehicleState | Estimate:
        """The state the vehicle flies on: its estimate, or the truth."""
        if not self.on_estimate:
            return self.fleet.state(self.index, t_ns)
        return Estimate.unknown(t_ns) if self.estimate is None else self.estimate

    # ---- at each tick

    def tick(self, t_ns: int) -> list[Event]:
        memory = self.memory
        state = self.state(t_ns)
        if not memory.armed and self.fleet.states[self.index]["step"] > 0:
            memory.landed = self.touches()
        self._watch_crash(t_ns, has_fallen(self.fleet.states[self.index], memory, t_ns))
        if memory.armed:
            self._watch_estimate(t_ns)
            self._watch_battery(t_ns)
            self._watch_setpoint(t_ns)
            self._watch_release(t_ns)
            if memory.mode == "takeoff" and memory.hold is not None:
                if abs(state.position[2] - memory.hold[2]) < 0.2 and abs(state.velocity_world[2]) < 0.4:
                    memory.mode = "hover"
                    self.tell(t_ns, EventKind.TOOK_OFF, f"{memory.above_home(memory.hold):.1f} m above home")
            elif memory.mode in ("goal", "home"):
                self._watch_arrival(state, t_ns)
            elif memory.mode == "land":
                self._watch_landing(state, t_ns)
        events, self._events = self._events, []
        return events

    def present_setpoint(self, t_ns: int) -> Setpoint | None:
        """The setpoint to follow now, for controllers outside the kernel; None while disarmed or idle."""
        memory = self.memory
        if not memory.armed or memory.mode == "idle":
            return None
        return setpoint_in(self._row) if memory.setpoint is None else memory.setpoint

    def status(self, t_ns: int) -> VehicleStatus:
        memory = self.memory
        return VehicleStatus(t_ns, memory.mode, memory.armed, memory.landed, memory.failsafe)

    def snapshot(self) -> tuple[object, ...]:
        return copy.deepcopy(self.memory), self.estimate, list(self._events), self.limits, self.failsafes

    def restore(self, saved: Any) -> None:
        memory, self.estimate, events, self.limits, self.failsafes = saved
        self.memory, self._events = copy.deepcopy(memory), list(events)

    # ---- requests

    def _arm(self, t_ns: int) -> None:
        memory = self.memory
        if memory.armed:
            return
        if self.on_estimate and (self.estimate is None or not self.estimate.valid or self._estimate_is_stale(t_ns)):
            self.refuse(t_ns, f"Arm before the estimate is valid{doubt(self.estimate)}; wait for it")
            return
        if self._charge() < self.failsafes.battery_low and self.failsafes.battery_action != "none":
            self.refuse(t_ns, f"Arm with the battery at {self._charge():.0%}")
            return
        memory.armed, memory.mode, memory.failsafe, memory.fallen = True, "idle", "", False
        memory.take_home(np.array(self.state(t_ns).position))
        self._row["armed"] = 1
        self._row["kind"] = SET_IDLE
        self.tell(t_ns, EventKind.ARMED, "motors idle")

    def _disarm(self, t_ns: int, why: str) -> None:
        memory = self.memory
        if not memory.armed:
            return
        memory.armed, memory.mode, memory.setpoint, memory.release_ns = False, "disarmed", None, -1
        self._row["armed"] = 0
        self._row["kind"] = SET_IDLE
        self.tell(t_ns, EventKind.DISARMED, why)

    def _take_off(self, request: TakeOff, t_ns: int) -> None:
        if not isinstance(request.altitude, int | float) or not 0 < request.altitude < np.inf:
            raise SetpointError(f"TakeOff.altitude is {request.altitude!r}; give a positive height in metres")
        state = self.state(t_ns)
        self._hold(state.position + np.array([0.0, 0.0, request.altitude]), float(yaw_from_quat(state.quat_wxyz)), t_ns)
        self.memory.mode = "takeoff"

    def _hover(self, t_ns: int) -> None:
        """Stops at the point where the vehicle can come to rest from its present speed."""
        state = self.state(t_ns)
        self._hold(state.position + 0.5 * state.velocity_world, float(yaw_from_quat(state.quat_wxyz)), t_ns)
        self.memory.mode = "hover"

    def _land(self, t_ns: int) -> None:
        memory = self.memory
        if memory.mode == "land":
            return
        state = self.state(t_ns)
        place = memory.landing_place(state.position + 0.5 * state.velocity_world)
        site = landing_site(self.fleet, self.index, place, state.position, self.failsafes.landing_search)
        if site.why:
            self.tell(t_ns, EventKind.BLOCKED, site.why)
        self._hold(site.position, float(yaw_from_quat(state.quat_wxyz)), t_ns)
        memory.mode, memory.moves_over = "land", site.moved
        if site.moved:
            self._row["speed_limit"] = MOVE_OVER_SPEED
        else:
            self._descend(t_ns)

    def _descend(self, t_ns: int) -> None:
        memory = self.memory
        assert memory.hold is not None
        memory.land_start_ns, memory.land_from, memory.moves_over = t_ns, float(memory.hold[2]), False
        memory.since_ns.clear()
        self._row["velocity"] = (0.0, 0.0, -self.failsafes.descent_speed)

    def _go_home(self, t_ns: int) -> None:
        memory = self.memory
        assert memory.home is not None
        state = self.state(t_ns)
        height = max(float(state.position[2]), float(memory.home[2]) + self.failsafes.home_altitude)
        self._hold(np.array([memory.home[0], memory.home[1], height]), float(yaw_from_quat(state.quat_wxyz)), t_ns)
        self._row["speed_limit"] = memory.goal_speed = self.limits.cruise_speed
        memory.mode = "home"

    def _hold(self, position: Array, yaw: float, t_ns: int) -> None:
        memory = self.memory
        write_setpoint(self._row, Position(position, yaw), t_ns)
        memory.hold, memory.hold_yaw, memory.setpoint, memory.landed = position, yaw, None, False

    def _follow(self, setpoint: Setpoint, t_ns: int) -> None:
        check_setpoint(setpoint, self._n_rotors)
        memory = self.memory
        memory.mode, memory.landed, memory.failsafe = "setpoint", False, ""
        memory.setpoint, memory.setpoint_ns = setpoint, t_ns
        write_setpoint(self._row, setpoint, t_ns)
        if isinstance(setpoint, Position | Goal):
            memory.hold, memory.hold_yaw = np.array(setpoint.position), setpoint.yaw
        if isinstance(setpoint, Goal):
            memory.mode = "goal"
            memory.goal_speed = self.limits.cruise_speed if setpoint.speed is None else setpoint.speed
            self._row["speed_limit"] = memory.goal_speed

    # ---- watching

    def _watch_crash(self, t_ns: int, lies: str) -> None:
        """Switches the motors off when it lies, as a real vehicle can measure. `lies`: how; empty: it stands."""
        if lies:
            self.memory.landed = self.memory.fallen = True
            self.tell(t_ns, EventKind.CRASH, f"{lies}, motors off")
            self._disarm(t_ns, "crashed")

    def _watch_estimate(self, t_ns: int) -> None:
        memory = self.memory
        if not self.on_estimate or not memory.armed:
            return
        lost = self._estimate_is_stale(t_ns)
        if lost and memory.failsafe != "estimate lost":
            self._enter_failsafe(t_ns, "estimate lost", f"descending level{doubt(self.estimate)}")
            memory.interrupted, memory.setpoint = memory.mode, None
            memory.mode, memory.land_start_ns = "land", t_ns
            memory.since_ns.pop("landed", None)
            # level and without a turn: a yaw setpoint cannot be followed without an estimate
            write_setpoint(self._row, Velocity(np.array([0.0, 0.0, -self.failsafes.descent_speed])), t_ns)
            self._row["kind"] = SET_DESCEND
        elif not lost and memory.failsafe == "estimate lost":
            memory.failsafe = ""
            self.tell(t_ns, EventKind.FAILSAFE_OVER, "the estimate is back", "estimate lost")
            self._resume(memory.interrupted, t_ns)

    def _resume(self, mode: str, t_ns: int) -> None:
        """Continues a mode that ends by itself. Setpoints must be sent again, so it hovers until they are."""
        memory = self.memory
        if mode in ("takeoff", "goal", "home") and memory.hold is not None:
            write_setpoint(self._row, Position(memory.hold, memory.hold_yaw), t_ns)
            if mode != "takeoff":
                self._row["speed_limit"] = memory.goal_speed
            memory.mode = mode
            return
        self._hover(t_ns)
        if mode == "land":
            self._land(t_ns)

    def _watch_battery(self, t_ns: int) -> None:
        memory = self.memory
        if memory.landed or memory.failsafe or self._charge() > self.failsafes.battery_low:
            return
        if self.failsafes.battery_action == "none":
            return
        text = f"{self._charge():.0%} left, going to {self.failsafes.battery_action}"
        self._enter_failsafe(t_ns, "battery low", text)
        if self.failsafes.battery_action == "home":
            self._go_home(t_ns)
        else:
            self._land(t_ns)

    def _watch_setpoint(self, t_ns: int) -> None:
        memory = self.memory
        moving = memory.mode == "setpoint" and memory.setpoint is not None and needs_refreshing(memory.setpoint)
        hovering = memory.mode == "hover" and memory.failsafe == "setpoint lost"
        if moving and t_ns - memory.setpoint_ns > self.failsafes.setpoint_timeout * NS_PER_S:
            self._enter_failsafe(t_ns, "setpoint lost", "hovering")
            self._hover(t_ns)
        elif hovering and t_ns - memory.failsafe_ns > self.failsafes.setpoint_land_after * NS_PER_S:
            self.tell(t_ns, EventKind.FAILSAFE, "setpoint lost: landing", "setpoint lost")
            self._land(t_ns)

    def _watch_release(self, t_ns: int) -> None:
        memory = self.memory
        if not 0 <= memory.release_ns <= t_ns:
            return
        memory.release_ns = -1
        goes, act = ("going home", self._go_home) if memory.release_then == "home" else ("landing", self._land)
        self.tell(t_ns, EventKind.RELEASED, f"no client has taken command: {goes}")
        act(t_ns)

    def _watch_arrival(self, state: VehicleState | Estimate, t_ns: int) -> None:
        memory = self.memory
        assert memory.hold is not None
        if memory.held_ns("stuck", self.touches(), t_ns) > 3 * NS_PER_S:
            self.tell(t_ns, EventKind.BLOCKED, "stands on something short of the goal, landing there")
            self._land(t_ns)
            return
        near = float(np.linalg.norm(state.position - memory.hold)) < 0.5
        if near and float(np.linalg.norm(state.velocity_world)) < 0.5:
            if memory.mode == "home":
                self.tell(t_ns, EventKind.ARRIVED, "home")
                self._land(t_ns)
            else:
                memory.mode = "hover"
                self.tell(t_ns, EventKind.ARRIVED, "at the goal")

    def _watch_landing(self, state: VehicleState | Estimate, t_ns: int) -> None:
        """The vehicle has landed when it no longer sinks although the controller has reduced the thrust, or when it has
        stood still on something for a while, be it tilted."""
        memory, row = self.memory, self._row
        if memory.moves_over and row["kind"] == SET_POSITION:
            if memory.hold is not None and np.hypot(*(state.position - memory.hold)[:2]) < MOVED_WITHIN:
                self._descend(t_ns)
            return
        since = (t_ns - memory.land_start_ns) / NS_PER_S
        if row["kind"] == SET_POSITION:
            row["position"][2] = memory.land_from - self.failsafes.descent_speed * since
            row["t"] = t_ns / NS_PER_S
        still = abs(state.velocity_world[2]) < 0.3
        unloaded = float(self.fleet.states[self.index]["thrust_wanted"]) < self._unloaded_thrust
        if self.on_estimate and self._estimate_is_stale(t_ns):
            # without an estimate, only the legs can tell
            still = unloaded = self.touches()
        turning, moving = np.linalg.norm(state.angular_velocity_body), np.linalg.norm(state.velocity_world)
        rests = memory.held_ns("at rest", self.touches() and bool(max(turning, moving) < STILL), t_ns) > 2 * NS_PER_S
        if memory.held_ns("landed", rests or (still and unloaded and since >= 0.5), t_ns) > 0.3 * NS_PER_S:
            self._watch_crash(t_ns, how_it_lies(self.fleet.states[self.index]))
            if memory.armed:
                memory.landed = True
                self.tell(t_ns, EventKind.LANDED, "touched down")
                self._disarm(t_ns, "landed")

    def touches(self) -> bool:
        return any(self.fleet.states[self.index][part] for part in ("legs_down", "body_down"))

    def _estimate_is_stale(self, t_ns: int) -> bool:
        return t_ns - self.memory.estimate_ns > self.failsafes.estimate_timeout * NS_PER_S

    def _enter_failsafe(self, t_ns: int, name: str, text: str) -> None:
        self.memory.failsafe, self.memory.failsafe_ns = name, t_ns
        self.tell(t_ns, EventKind.FAILSAFE, f"{name}: {text}", name)

    def _charge(self) -> float:
        return self.fleet.battery(self.index, 0).state_of_charge

    def refuse(self, t_ns: int, text: str) -> None:
        """Publishes each reason once until another event occurs, so that a pilot cannot flood the stream."""
        self.refusal = text
        if text not in self.memory.refused:
            refused = self.memory.refused
            self.tell(t_ns, EventKind.REFUSED, text)
            self.memory.refused = (*refused, text)

    def tell(self, t_ns: int, kind: EventKind, text: str, failsafe: str = "") -> None:
        """Publish an event at the next tick."""
        self.memory.refused = ()
        self._events.append(Event(t_ns, kind, text, failsafe=failsafe))
