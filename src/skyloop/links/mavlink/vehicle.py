"""The built-in autopilot as one MAVLink vehicle: incoming messages go to its modes, missions and parameters."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from skyloop.links.mavlink.command_context import Commanded, Handler
from skyloop.links.mavlink.dialect import MavMessage, Send, field_of, mavlink, sender_of
from skyloop.links.mavlink.failures import FAILURE_COMMANDS
from skyloop.links.mavlink.flight_commands import FLIGHT_COMMANDS
from skyloop.links.mavlink.incoming_command import DENIED, UNSUPPORTED, command_from
from skyloop.links.mavlink.listener import ClientChannel
from skyloop.links.mavlink.message_commands import MESSAGE_COMMANDS, PAYLOAD_COMMANDS, request_stream
from skyloop.links.mavlink.missions import FENCE, MISSION, Item, MissionProtocol
from skyloop.links.mavlink.modes import Modes
from skyloop.links.mavlink.parameters import Parameters
from skyloop.links.mavlink.payload import Payload
from skyloop.links.mavlink.run_folder import FileServer, FlightLogs
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.telemetry import Telemetry
from skyloop.links.mavlink.telemetry_table import BUILDERS, DEFAULTS_NS
from skyloop.links.mavlink.wire import (
    mode_named,
    setpoint_from_attitude,
    setpoint_from_global,
    setpoint_from_local,
    velocity_from_sticks,
)
from skyloop_client.errors import SetpointError
from skyloop_client.streams import NS_PER_S

NO_RTK = "RTK corrections are not used"
NO_VISION = "positions from outside are not used; the scenario says what the vehicle flies on (state)"
ABSENT = {
    "PLAY_TUNE": "there is no buzzer",
    "GPS_RTCM_DATA": NO_RTK,
    "GPS_INJECT_DATA": NO_RTK,
    "RC_CHANNELS_OVERRIDE": "there is no radio control; steer with MANUAL_CONTROL",
    "LOG_ERASE": "logs are not erased; they are in the run folder",
    "SETUP_SIGNING": "MAVLink signing is not supported",
    "SET_ACTUATOR_CONTROL_TARGET": "actuators cannot be set; give attitudes or rates with SET_ATTITUDE_TARGET",
    "VISION_POSITION_ESTIMATE": NO_VISION,
    "ODOMETRY": NO_VISION,
    "ATT_POS_MOCAP": NO_VISION,
}
"""What is said, by message."""
QUIET_NS = 30 * NS_PER_S
"""Simulated ns before the same is said again, because some of these come many times a second."""
NO_SHELL = b"skyloop has no shell\n"
SHELL_DATA = 70
"""Bytes of data in SERIAL_CONTROL."""


class AbsentServices:
    """Refuses what one vehicle cannot do. It runs in the simulation's thread."""

    def __init__(self, system: System, say: Callable[[int, str], None]) -> None:
        self._system = system
        self._say = say
        self._quiet_until_ns: dict[str, int] = {}

    def take(self, message: MavMessage, send: Send) -> bool:
        """Returns True if the message asks for such a service."""
        kind = message.get_type()
        if kind == "SERIAL_CONTROL":
            self._answer_shell(message, send)
        elif kind in ABSENT:
            text, now = ABSENT[kind], self._system.now_ns
            if now >= self._quiet_until_ns.get(text, 0):
                self._quiet_until_ns[text] = now + QUIET_NS
                self._say(mavlink.MAV_SEVERITY_WARNING, f"{kind}: {text}")
        else:
            return False
        return True

    def restart(self) -> None:
        """Time has jumped."""
        self._quiet_until_ns.clear()

    @staticmethod
    def _answer_shell(message: MavMessage, send: Send) -> None:
        """A console shows the answer where a shell would print. Consoles also poll with nothing typed."""
        if message.flags & mavlink.SERIAL_CONTROL_FLAG_RESPOND and message.count:
            data = list(NO_SHELL.ljust(SHELL_DATA, b"\0"))
            reply = mavlink.SERIAL_CONTROL_FLAG_REPLY
            send(mavlink.MAVLink_serial_control_message(message.device, reply, 0, 0, len(NO_SHELL), data))


# ---- the vehicle


COMMANDS: dict[int, Handler] = {**FLIGHT_COMMANDS, **MESSAGE_COMMANDS, **FAILURE_COMMANDS, **PAYLOAD_COMMANDS}
"""All supported commands by number. Others are answered with UNSUPPORTED."""
COMPONENT = mavlink.MAV_COMP_ID_AUTOPILOT1
TEXT_LENGTH = 50
PARAMETERS_PER_TICK = 5
"""Parameters per tick in answer to a list request. The limit keeps the client's buffer from overflowing."""
ALIVE_S = 3.0
"""Wall s for which a UDP client counts as present after its last message."""
MOST_PASSED_ON = 50
"""Status texts of clients per simulated s that other clients get."""
STICK_YAW_RATE = 1.0
"""rad/s at full deflection."""

UNDERSTOOD = (
    "HEARTBEAT", "COMMAND_LONG", "COMMAND_INT", "SET_MODE", "PARAM_REQUEST_LIST", "PARAM_REQUEST_READ", "PARAM_SET",
    "MISSION_COUNT", "MISSION_ITEM_INT", "MISSION_ITEM", "MISSION_REQUEST_LIST", "MISSION_REQUEST_INT",
    "MISSION_REQUEST", "MISSION_CLEAR_ALL", "MISSION_ACK", "MISSION_SET_CURRENT", "SET_POSITION_TARGET_LOCAL_NED",
    "SET_POSITION_TARGET_GLOBAL_INT", "SET_ATTITUDE_TARGET", "MANUAL_CONTROL", "GIMBAL_MANAGER_SET_PITCHYAW",
    "GIMBAL_MANAGER_SET_ATTITUDE", "FOLLOW_TARGET", "REQUEST_DATA_STREAM", "LOG_REQUEST_LIST", "LOG_REQUEST_DATA",
    "LOG_REQUEST_END", "FILE_TRANSFER_PROTOCOL", "STATUSTEXT", "TIMESYNC", "PING",
)  # fmt: skip
"""Messages from clients; docs/how-to/mavlink.md says what they are for."""


class MavlinkVehicle:
    """All parts of one vehicle. It runs in the simulation's thread."""

    def __init__(self, system: System, folder: Path | None = None) -> None:
        """`folder` is where recordings are saved."""
        self.system = system
        self.channels: list[ClientChannel] = []
        self.payload = Payload(system, folder, self.broadcast)
        self.modes = Modes(system, self._reached, self.payload.do)
        self.parameters = Parameters(system)
        self.missions = MissionProtocol(self._take_plan)
        self.files = FileServer(folder)
        self.log = FlightLogs(system, folder)
        self.telemetry = Telemetry(
            system, self.modes, has_files=folder is not None, has_gimbals=bool(self.payload.gimbals.devices)
        )
        self._commanded = Commanded(system, self.modes, self.payload, self.send_now)
        self.received = 0
        """Number of messages for this vehicle."""
        self._heard = -ALIVE_S
        """Wall s when the last message of a UDP client came."""
        self._shows_life = False
        """A client uses TCP or sends heartbeats, so that its absence can be noticed."""
        self._lists: list[tuple[ClientChannel, list[MavMessage]]] = []
        self._text_number = 0
        self._last_refusal = ("", 0)
        self._passed_on = (-1, 0)
        """The simulated second of the last text of a client, and how many texts there were in it."""
        self._absent = AbsentServices(system, self.say)
        self._handlers = self._handlers_by_kind()
        system.on_text = self.say

    # ---- outgoing

    def broadcast(self, message: MavMessage, component: int = COMPONENT) -> None:
        for channel in self.channels:
            channel.send(message, component)

    def say(self, severity: int, text: str) -> None:
        """Send a status text, in several parts if it is long."""
        self.log.note(severity, text)
        data = text.encode("utf-8", "replace")[:250]
        parts = [data[k : k + TEXT_LENGTH] for k in range(0, len(data), TEXT_LENGTH)] or [b""]
        self._text_number = self._text_number % 65535 + 1
        number = self._text_number if len(parts) > 1 else 0
        for k, part in enumerate(parts):
            self.broadcast(mavlink.MAVLink_statustext_message(severity, part, number, k))

    def send_now(self, number: int, channel: ClientChannel | None = None) -> bool:
        """Send one telemetry message. False if there is no data."""
        message = BUILDERS[number](self.telemetry)
        if message is None:
            return False
        for each in self.channels if channel is None else [channel]:
            each.send(message)
        return True

    def _reached(self, number: int) -> None:
        self.broadcast(mavlink.MAVLink_mission_item_reached_message(number))
        self.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)

    # ---- at each tick

    def tick(self) -> None:
        self.modes.tick(has_client=self._has_client)
        self.missions.tick()
        self.payload.tick()
        self.files.tick()
        self.log.tick(self.modes.shown)
        now = self.system.now_ns
        for channel in self.channels:
            for number in BUILDERS:
                interval = channel.intervals.get(number, DEFAULTS_NS.get(number, -1))
                due = channel.due.get(number, 0)
                if interval < 0 or now < due:
                    continue
                # stay on the grid of its interval, unless that is long past
                channel.due[number] = due + interval if due + interval > now else now + interval
                self.send_now(number, channel)
        for channel, values in self._lists:
            for value in values[:PARAMETERS_PER_TICK]:
                channel.send(value)
            del values[:PARAMETERS_PER_TICK]
        self._lists = [(channel, values) for channel, values in self._lists if values and channel in self.channels]

    @property
    def _has_client(self) -> bool:
        """Whether a client is present. Scripts without heartbeats count as present, because they may be silent."""
        connected = any(channel.is_tcp for channel in self.channels)
        self._shows_life |= connected
        return connected or not self._shows_life or time.monotonic() - self._heard < ALIVE_S

    def restart(self) -> None:
        """Time has jumped: all messages are due, and the current flight has ended."""
        self.modes.restart()
        self.payload.restart()
        self.log.close()
        self._absent.restart()
        for channel in self.channels:
            channel.due.clear()

    # ---- incoming

    def take(self, message: MavMessage, channel: ClientChannel) -> None:
        """Handle a message for this vehicle. Invalid ones are answered, reported or ignored, and never raise."""
        target = field_of(message, "target_system", field_of(message, "target"))
        # companions are components of the vehicle's own system
        own = sender_of(message) == (self.system.system_id, COMPONENT)
        if target not in (0, self.system.system_id) or own:
            return
        kind, component = message.get_type(), field_of(message, "target_component")
        camera = self.payload.cameras.get(component)
        if component not in (0, COMPONENT) and (camera is None or kind not in ("COMMAND_LONG", "COMMAND_INT")):
            return
        if kind in UNDERSTOOD:
            self.received += 1
            if not channel.is_tcp:
                self._heard = time.monotonic()
        try:
            self._take(kind, message, channel)
        except (SetpointError, ValueError, OverflowError) as error:
            self._refuse(f"{kind}: {error}")

    def _refuse(self, text: str) -> None:
        """Report at most once a second, because a client that repeats itself must not flood the link."""
        now = self.system.now_ns
        if text != self._last_refusal[0] or now - self._last_refusal[1] > 1_000_000_000:
            self._last_refusal = (text, now)
            self.say(mavlink.MAV_SEVERITY_ERROR, text)

    def _take(self, kind: str, message: MavMessage, channel: ClientChannel) -> None:
        if any(part.take(message, channel.send) for part in (self.missions, self.log, self._absent)):
            return
        if kind in self._handlers:
            self._handlers[kind](message, channel)

    def _handlers_by_kind(self) -> dict[str, Callable[[MavMessage, ClientChannel], None]]:
        """Of the messages that no protocol of several messages takes."""
        system, modes = self.system, self.modes
        return {
            "HEARTBEAT": lambda message, channel: self._show_life(),
            "COMMAND_LONG": self._command,
            "COMMAND_INT": self._command,
            "SET_POSITION_TARGET_LOCAL_NED": lambda message, channel: modes.follow(
                setpoint_from_local(message, system.geography)
            ),
            "SET_POSITION_TARGET_GLOBAL_INT": lambda message, channel: modes.follow(
                setpoint_from_global(message, system.geography, system.home_altitude)
            ),
            "SET_ATTITUDE_TARGET": lambda message, channel: modes.follow(
                setpoint_from_attitude(message, system.port.geometry.max_thrust)
            ),
            "MANUAL_CONTROL": lambda message, channel: modes.steer(
                velocity_from_sticks(message, system.port.limits.cruise_speed, system.port.limits.climb, STICK_YAW_RATE)
            ),
            "GIMBAL_MANAGER_SET_PITCHYAW": lambda message, channel: self.payload.gimbals.take(message),
            "GIMBAL_MANAGER_SET_ATTITUDE": lambda message, channel: self.payload.gimbals.take(message),
            "FOLLOW_TARGET": lambda message, channel: modes.see_target(message),
            "PARAM_REQUEST_LIST": lambda message, channel: self._list_parameters(channel),
            "PARAM_REQUEST_READ": lambda message, channel: channel.send(self.parameters.read(message)),
            "PARAM_SET": lambda message, channel: self.broadcast(self.parameters.put(message)),
            "MISSION_SET_CURRENT": lambda message, channel: self._go_on_with(message.seq),
            "SET_MODE": lambda message, channel: self._set_mode(message),
            "REQUEST_DATA_STREAM": request_stream,
            "FILE_TRANSFER_PROTOCOL": lambda message, channel: self.files.take(message, channel.send),
            "STATUSTEXT": self._pass_on,
            "TIMESYNC": self._answer_timesync,
            "PING": self._answer_ping,
        }

    def _show_life(self) -> None:
        self._shows_life = True

    def _list_parameters(self, channel: ClientChannel) -> None:
        self._lists = [entry for entry in self._lists if entry[0] is not channel]
        self._lists.append((channel, self.parameters.all_values()))

    def _go_on_with(self, item: int) -> None:
        if item < len(self.modes.flight.items):
            self.modes.flight.jump_to(item)
        self.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)

    def _answer_timesync(self, message: MavMessage, channel: ClientChannel) -> None:
        if message.tc1 == 0:
            channel.send(mavlink.MAVLink_timesync_message(self.system.now_ns, message.ts1))

    @staticmethod
    def _answer_ping(message: MavMessage, channel: ClientChannel) -> None:
        if message.target_system == 0:
            channel.send(mavlink.MAVLink_ping_message(message.time_usec, message.seq, *sender_of(message)))

    def _pass_on(self, message: MavMessage, origin: ClientChannel) -> None:
        """A text of one client to all others, as from its sender. A client that floods must not fill their links."""
        second, count = self.system.now_ns // NS_PER_S, 0
        if second == self._passed_on[0]:
            count = self._passed_on[1]
        self._passed_on = (second, count + 1)
        for channel in self.channels if count < MOST_PASSED_ON else []:
            if channel is not origin:
                channel.pass_on(message)

    def _set_mode(self, message: MavMessage) -> None:
        mode = mode_named(message.custom_mode >> 16 & 255, message.custom_mode >> 24 & 255)
        if mode is None or not message.base_mode & mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED:
            raise SetpointError(f"no custom mode {message.custom_mode:#x} here")
        self.modes.choose(mode)

    def _command(self, message: MavMessage, channel: ClientChannel) -> None:
        camera = self.payload.cameras.get(message.target_component)
        component = COMPONENT if camera is None else camera.component
        command, handler = command_from(message, channel), COMMANDS.get(message.command)
        result, why, mode = UNSUPPORTED, "", self.modes.shown
        try:
            if camera is not None:
                result = camera.command(command, lambda answer: channel.send(answer, component))
            elif handler is not None:
                result = handler(self._commanded, command)
        except (SetpointError, ValueError, OverflowError) as error:
            result, why = DENIED, str(error)
        if self.modes.shown != mode:
            # before the answer: MAVSDK refuses calls that need the new mode until a heartbeat shows it
            self.send_now(mavlink.MAVLINK_MSG_ID_HEARTBEAT)
        channel.send(mavlink.MAVLink_command_ack_message(message.command, result, 0, 0, *command.peer), component)
        if why:
            self._refuse(why)

    def _take_plan(self, kind: int, plan: list[Item]) -> None:
        if kind == MISSION:
            self.modes.load_mission(plan)
            self.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
        elif kind == FENCE:
            self.modes.fence.load(plan)
