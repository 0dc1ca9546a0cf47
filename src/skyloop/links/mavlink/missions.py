"""The mission protocol: upload and download of missions, fences and rally points. `plans` flies them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from skyloop.links.mavlink.dialect import MavMessage, Send, field_of, mavlink, sender_of
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME, FRAMES_GLOBAL
from skyloop_client.errors import SetpointError

MISSION, FENCE, RALLY = mavlink.MAV_MISSION_TYPE_MISSION, mavlink.MAV_MISSION_TYPE_FENCE, mavlink.MAV_MISSION_TYPE_RALLY
KINDS = (MISSION, FENCE, RALLY)
MOST_ITEMS = 1000
RETRY_S = 0.5
"""Wall s before an item is requested again."""
MOST_RETRIES = 10

FLOWN = (
    mavlink.MAV_CMD_NAV_WAYPOINT, mavlink.MAV_CMD_NAV_LOITER_UNLIM, mavlink.MAV_CMD_NAV_LOITER_TIME,
    mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH, mavlink.MAV_CMD_NAV_LAND, mavlink.MAV_CMD_NAV_TAKEOFF,
    mavlink.MAV_CMD_NAV_DELAY, mavlink.MAV_CMD_DO_CHANGE_SPEED, mavlink.MAV_CMD_DO_JUMP,
)  # fmt: skip
"""Mission items with an effect."""
PASSED_OVER = (
    mavlink.MAV_CMD_DO_MOUNT_CONTROL, mavlink.MAV_CMD_DO_MOUNT_CONFIGURE, mavlink.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW,
    mavlink.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, mavlink.MAV_CMD_IMAGE_START_CAPTURE,
    mavlink.MAV_CMD_IMAGE_STOP_CAPTURE, mavlink.MAV_CMD_VIDEO_START_CAPTURE, mavlink.MAV_CMD_VIDEO_STOP_CAPTURE,
    mavlink.MAV_CMD_SET_CAMERA_MODE, mavlink.MAV_CMD_DO_SET_CAM_TRIGG_DIST, mavlink.MAV_CMD_DO_SET_ROI_LOCATION,
    mavlink.MAV_CMD_DO_SET_ROI_NONE, mavlink.MAV_CMD_DO_SET_ROI, mavlink.MAV_CMD_DO_LAND_START,
    mavlink.MAV_CMD_SET_CAMERA_ZOOM, mavlink.MAV_CMD_SET_CAMERA_FOCUS, mavlink.MAV_CMD_DO_DIGICAM_CONTROL,
    mavlink.MAV_CMD_DO_SET_ROI_WPNEXT_OFFSET, mavlink.MAV_CMD_DO_SET_CAM_TRIGG_INTERVAL,
    mavlink.MAV_CMD_DO_TRIGGER_CONTROL, mavlink.MAV_CMD_DO_SET_SERVO, mavlink.MAV_CMD_DO_SET_ACTUATOR,
    mavlink.MAV_CMD_DO_GRIPPER,
)  # fmt: skip
"""Items for a payload that the vehicle may lack. They are accepted, reported and skipped."""
CIRCLES = (mavlink.MAV_CMD_NAV_FENCE_CIRCLE_INCLUSION, mavlink.MAV_CMD_NAV_FENCE_CIRCLE_EXCLUSION)
POLYGONS = (mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION, mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_EXCLUSION)
FENCES = (*CIRCLES, *POLYGONS)
INCLUSIONS = (CIRCLES[0], POLYGONS[0])
WITH_POSITION = (
    mavlink.MAV_CMD_NAV_WAYPOINT, mavlink.MAV_CMD_NAV_LOITER_UNLIM, mavlink.MAV_CMD_NAV_LOITER_TIME,
    mavlink.MAV_CMD_NAV_LAND, mavlink.MAV_CMD_NAV_TAKEOFF,
)  # fmt: skip
"""Items that have a position."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a plan, as in MISSION_ITEM_INT."""

    frame: int
    command: int
    params: tuple[float, float, float, float]
    x: int
    """10⁻⁷ degrees of latitude."""
    y: int
    """10⁻⁷ degrees of longitude."""
    z: float
    """m, in `frame`."""
    autocontinue: int = 1

    @property
    def has_position(self) -> bool:
        """False if both are 0 or PX4's invalid value, which mean the current position."""
        return (self.x, self.y) not in ((0, 0), (2147483647, 2147483647), (-2147483648, -2147483648))


def item_from(message: MavMessage) -> Item:
    """From MISSION_ITEM_INT, or from the deprecated MISSION_ITEM in degrees."""
    params = (message.param1, message.param2, message.param3, message.param4)
    x, y = message.x, message.y
    if message.get_type() == "MISSION_ITEM":
        x, y = (round(value * E7) if abs(value) < 214.0 else 0 for value in (x, y))
    return Item(message.frame, message.command, params, x, y, message.z, message.autocontinue)


def fault(item: Item, kind: int, count: int) -> tuple[int, str]:
    """MAV_MISSION_ACCEPTED, or the error number and text for an item of a plan with `count` items."""
    known = FENCES if kind == FENCE else (*FLOWN, *PASSED_OVER)
    if kind != RALLY and item.command not in known:
        return int(mavlink.MAV_MISSION_UNSUPPORTED), f"command {item.command} is none that can be flown"
    # as in PX4, a circle of radius 0 is kept and means no circle
    if kind == FENCE and not 0.0 <= item.params[0] < 1e6:
        what = "radius" if item.command in CIRCLES else "number of corners"
        return int(mavlink.MAV_MISSION_INVALID_PARAM1), f"a fence cannot have a {what} of {item.params[0]:g}"
    if kind == MISSION and item.command == mavlink.MAV_CMD_DO_JUMP and not 0 <= item.params[0] < count:
        return int(mavlink.MAV_MISSION_INVALID_PARAM1), f"it jumps to item {item.params[0]:g} of {count}"
    if item.command == mavlink.MAV_CMD_DO_CHANGE_SPEED and not 0.1 <= item.params[1] <= 30.0:
        return int(mavlink.MAV_MISSION_INVALID_PARAM2), f"a speed of {item.params[1]:g} m/s; give 0.1 to 30"
    if item.command in WITH_POSITION or kind != MISSION:
        if item.frame not in FRAMES_GLOBAL + FRAMES_ABOVE_HOME:
            return int(mavlink.MAV_MISSION_UNSUPPORTED_FRAME), f"frame {item.frame}; give GLOBAL or GLOBAL_RELATIVE_ALT"
        if not (abs(item.x) <= 90 * E7 and abs(item.y) <= 180 * E7) and item.has_position:
            return int(mavlink.MAV_MISSION_INVALID_PARAM5_X), f"{item.x / E7}, {item.y / E7} is no place on Earth"
        if not math.isfinite(item.z) or abs(item.z) > 1e5:
            return int(mavlink.MAV_MISSION_INVALID_PARAM7), f"an altitude of {item.z:g} m"
    return int(mavlink.MAV_MISSION_ACCEPTED), ""


@dataclass
class _Upload:
    send: Send
    peer: tuple[int, int]
    kind: int
    count: int
    items: list[Item] = field(default_factory=list)
    asked: float = 0.0
    retries: int = 0


class MissionProtocol:
    """The plans of one vehicle, and their uploads and downloads. Only one client may upload at a time."""

    def __init__(self, take_plan: Callable[[int, list[Item]], None]) -> None:
        """`take_plan` applies a new plan, or refuses it with a SetpointError and keeps the old one."""
        self.plans: dict[int, list[Item]] = {kind: [] for kind in KINDS}
        self._take_plan = take_plan
        self._upload: _Upload | None = None
        self._last: tuple[tuple[int, int], int, int] | None = None
        """Peer, kind and number of the item that ended the last upload. It comes again if our answer was lost."""

    def take(self, message: MavMessage, send: Send) -> bool:
        """Returns True if the message belongs to this protocol."""
        kind = field_of(message, "mission_type", MISSION)
        match message.get_type():
            case "MISSION_COUNT":
                self._begin(message, kind, send)
            case "MISSION_ITEM_INT" | "MISSION_ITEM":
                self._item(message, kind, send)
            case "MISSION_REQUEST_LIST":
                if kind in KINDS:
                    send(mavlink.MAVLink_mission_count_message(*sender_of(message), len(self.plans[kind]), kind))
                else:
                    send(_ack(message, mavlink.MAV_MISSION_UNSUPPORTED, kind))
            case "MISSION_REQUEST_INT" | "MISSION_REQUEST":
                self._give(message, kind, send)
            case "MISSION_CLEAR_ALL":
                self._clear(message, kind, send)
            case "MISSION_ACK":
                pass
            case _:
                return False
        return True

    def tick(self) -> None:
        """Request missing items again."""
        upload = self._upload
        if upload is None or time.monotonic() - upload.asked < RETRY_S:
            return
        upload.retries += 1
        if upload.retries > MOST_RETRIES:
            self._upload = None
            upload.send(
                mavlink.MAVLink_mission_ack_message(*upload.peer, mavlink.MAV_MISSION_OPERATION_CANCELLED, upload.kind)
            )
        else:
            self._ask(upload)

    def _begin(self, message: MavMessage, kind: int, send: Send) -> None:
        if kind not in KINDS:
            send(_ack(message, mavlink.MAV_MISSION_UNSUPPORTED, kind))
        elif message.count > MOST_ITEMS:
            send(_ack(message, mavlink.MAV_MISSION_NO_SPACE, kind))
        elif self._upload is not None and self._upload.peer != sender_of(message):
            send(_ack(message, mavlink.MAV_MISSION_DENIED, kind))
        elif message.count == 0:
            self._store(kind, [])
            send(_ack(message, mavlink.MAV_MISSION_ACCEPTED, kind))
        else:
            self._last = None
            self._upload = _Upload(send, sender_of(message), kind, message.count)
            self._ask(self._upload)

    def _ask(self, upload: _Upload) -> None:
        upload.asked = time.monotonic()
        upload.send(mavlink.MAVLink_mission_request_int_message(*upload.peer, len(upload.items), upload.kind))

    def _item(self, message: MavMessage, kind: int, send: Send) -> None:
        upload = self._upload
        if upload is None or upload.peer != sender_of(message) or upload.kind != kind:
            again = self._last == (sender_of(message), kind, message.seq)
            send(_ack(message, mavlink.MAV_MISSION_ACCEPTED if again else mavlink.MAV_MISSION_ERROR, kind))
            return
        if message.seq != len(upload.items):
            return  # a duplicate, or too early; the retry requests the right one
        item = item_from(message)
        wrong, why = fault(item, kind, upload.count)
        if wrong != mavlink.MAV_MISSION_ACCEPTED:
            self._upload = None
            send(_ack(message, wrong, kind))
            raise SetpointError(f"item {message.seq} refused: {why}")
        upload.items.append(item)
        upload.retries = 0
        if len(upload.items) < upload.count:
            self._ask(upload)
            return
        self._upload = None
        try:
            self._store(kind, upload.items)
        except SetpointError:
            send(_ack(message, mavlink.MAV_MISSION_INVALID, kind))
            raise
        self._last = (sender_of(message), kind, message.seq)
        send(_ack(message, mavlink.MAV_MISSION_ACCEPTED, kind))

    def _store(self, kind: int, items: list[Item]) -> None:
        self._take_plan(kind, items)
        self.plans[kind] = items

    def _give(self, message: MavMessage, kind: int, send: Send) -> None:
        plan = self.plans.get(kind, [])
        if message.seq >= len(plan):
            send(_ack(message, mavlink.MAV_MISSION_INVALID_SEQUENCE, kind))
            return
        item = plan[message.seq]
        head = (*sender_of(message), message.seq, item.frame, item.command, 0, item.autocontinue, *item.params)
        if message.get_type() == "MISSION_REQUEST":
            send(mavlink.MAVLink_mission_item_message(*head, item.x / E7, item.y / E7, item.z, kind))
        else:
            send(mavlink.MAVLink_mission_item_int_message(*head, item.x, item.y, item.z, kind))

    def _clear(self, message: MavMessage, kind: int, send: Send) -> None:
        for each in KINDS if kind == mavlink.MAV_MISSION_TYPE_ALL else (kind,):
            if each not in KINDS:
                send(_ack(message, mavlink.MAV_MISSION_UNSUPPORTED, kind))
                return
            self._store(each, [])
        send(_ack(message, mavlink.MAV_MISSION_ACCEPTED, kind))


def _ack(message: MavMessage, result: int, kind: int) -> MavMessage:
    return mavlink.MAVLink_mission_ack_message(*sender_of(message), result, kind)
