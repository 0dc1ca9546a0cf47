"""PX4Multirotor and ArduCopter vehicles of settings.json: where the user's autopilot connects."""

from __future__ import annotations

from typing import Any

from skyloop.links.airsim.options import ForeignAutopilot
from skyloop.links.airsim.settings_reader import Reader
from skyloop.links.autopilots import ardupilot, px4
from skyloop.links.autopilots.serial_line import BAUD
from skyloop_client.errors import ScenarioError

KINDS = {"PX4Multirotor": "px4", "ArduCopter": "ardupilot"}


def foreign_autopilot(
    reader: Reader, vehicle: dict[str, Any], kind: str, number: int, where: str
) -> ForeignAutopilot | None:
    """None for the built-in controller. `number` counts the earlier vehicles of the same kind."""
    if kind not in KINDS:
        return None
    host, lockstep = str(vehicle.get("LocalHostIp") or "127.0.0.1"), bool(vehicle.get("LockStep", True))
    if kind == "ArduCopter":
        usual = ardupilot.PORT + ardupilot.PORTS_APART * number
        port = _port(reader, vehicle, "ControlPort", usual, where)
        return ForeignAutopilot("ardupilot", host, port, lockstep=lockstep)
    if vehicle.get("Parameters"):
        reader.warnings.append(
            f"{reader.place}: {where}.Parameters are PX4's own; set them there, e.g. PX4_PARAM_NAME=value"
        )
    if vehicle.get("UseSerial", False):
        device = str(vehicle.get("SerialPort") or "*")
        if device == "*":
            raise ScenarioError(f"{reader.place}: {where}.SerialPort: name the board's device, e.g. /dev/ttyACM0")
        baud = int(reader.number(vehicle, "SerialBaudRate", BAUD, where))
        return ForeignAutopilot("px4-serial", device=device, baud=baud, lockstep=False)
    if vehicle.get("UseTcp", True) is False:
        reader.warnings.append(f"{reader.place}: {where}.UseTcp is false; PX4 is awaited on TCP all the same")
    port = _port(reader, vehicle, "TcpPort", px4.PORT + number, where)
    return ForeignAutopilot("px4", host, port, lockstep=lockstep)


def _port(reader: Reader, vehicle: dict[str, Any], key: str, usual: int, where: str) -> int:
    port = reader.number(vehicle, key, usual, where)
    if not (0 <= port < 65536 and port == int(port)):
        raise ScenarioError(f"{reader.place}: {where}.{key} is {port:g}; give a port, or 0 for any free one")
    return int(port)
