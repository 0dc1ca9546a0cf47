"""A vehicle, a blue board and time kept with the SUT's: enough of a simulator to fly the C++ example's tasks."""

from __future__ import annotations

import math
import socket
from typing import Any

import cv2
import numpy as np
from small_server import message, read

STEP_NS, STEP_S = 5_000_000, 0.005
LAG_S, TILT_S = 0.4, 0.1
"""Time constants of the velocity and of the acceleration; critically damped, and smooth enough for 20 samples per s."""
G = 9.81
WIDTH, HEIGHT, FX = 320, 240, 190.0
BOARD = 0.5
"""m, its side."""


def info(name: str, kind: str, **details: Any) -> dict[str, Any]:
    mount = {"position": [0.0, 0.0, 0.0], "quat_wxyz": [1.0, 0.0, 0.0, 0.0]}
    return {
        "name": f"drone/{name}", "message": kind, "rate": [20, 1], "vehicle": "drone", "latency_ns": 0, "mount": mount,
        "details": details,
    }  # fmt: skip


class SmallFlight:
    """Serves one pilot as mode sync does: ST goes to ET, then on to the samples that are asked for."""

    def __init__(self, board: tuple[float, float], board_yaw: float, image_period_s: float = 0.05) -> None:
        self.board, self.board_yaw = np.array(board), board_yaw
        self.periods = {"front": round(image_period_s / STEP_S), "imu": 10, "range": 20}
        self.steps, self.armed = 0, False
        self.climbed = False
        self.tilt = 0.0
        """rad, of the camera about its axis."""
        self.position, self.velocity, self.acceleration, self.yaw = np.zeros(2), np.zeros(2), np.zeros(2), 0.0
        self.setpoint: dict[str, Any] = {"velocity": [0, 0, 0], "frame": "body", "yaw_rate": 0.0}
        self.given = dict.fromkeys(self.periods, -1)
        self.newest: dict[str, Any] = {}
        self.sent: list[dict[str, Any]] = []
        self.answered_ns = self.computed_ns = 0

    def serve(self, connection: socket.socket, _: int) -> None:
        assert (read(connection) or {})["type"] == "hello"
        lens = {"fx": FX, "fy": FX, "cx": (WIDTH - 1) / 2, "cy": (HEIGHT - 1) / 2, "model": "pinhole"}
        streams = [info("front", "CameraImage", **lens), info("imu", "ImuSample"), info("range", "RangeSample")]
        hello = {
            "type": "hello",
            "protocol": 1,
            "vehicle": "drone",
            "t_ns": 0,
            "streams": {s["name"]: s for s in streams},
        }
        connection.sendall(message(hello))
        while (question := read(connection)) is not None and question["type"] == "ask":
            connection.sendall(message(self.answer(question)))

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        self.computed_ns += question["et_ns"] - self.answered_ns
        self._pass_to(question["et_ns"])
        for item in question["send"]:
            self.sent.append(item)
            self.armed |= item["@"] == "Arm"
            if item["@"] == "Velocity":
                self.setpoint = item
        self._pass_to(question["until_ns"] or 0)
        while any(self.newest.get(name, (-1,))[0] <= self.given[name] for name in question["fresh"]):
            self._step()
        messages = {}
        for name in question["want"]:
            index, t_ns, make = self.newest.get(name, (-1, 0, None))
            if index > self.given[name]:
                messages[f"drone/{name}"] = [index, t_ns, t_ns, make()]
                self.given[name] = index
        t_ns = self.answered_ns = max(self.steps * STEP_NS, question["et_ns"])
        state = {
            "@": "VehicleState", "t_ns": t_ns, "position": np.array([*self.position, 1.5 if self.climbed else 0.0]),
            "velocity_world": np.array([*self.velocity, 0.0]),
            "quat_wxyz": np.array([math.cos(self.yaw / 2), 0.0, 0.0, math.sin(self.yaw / 2)]),
            "angular_velocity_body": np.array([0.0, 0.0, self.setpoint["yaw_rate"]]),
        }  # fmt: skip
        self.climbed = self.armed
        status = {"@": "VehicleStatus", "mode": "hover" if self.armed else "disarmed", "armed": self.armed}
        status["landed"] = not self.armed
        return {
            "type": "reply", "number": question["number"], "t_ns": t_ns, "state": state, "status": status,
            "messages": messages, "refused": [], "events": [],
        }  # fmt: skip

    def _pass_to(self, t_ns: int) -> None:
        while self.steps * STEP_NS < t_ns:
            self._step()

    def _step(self) -> None:
        forward, left, _ = self.setpoint["velocity"]
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        wanted = np.array([c * forward - s * left, s * forward + c * left])
        jerk = ((wanted - self.velocity) / LAG_S - self.acceleration) / TILT_S
        self.position = self.position + STEP_S * self.velocity + 0.5 * STEP_S**2 * self.acceleration
        self.velocity = self.velocity + STEP_S * self.acceleration
        self.acceleration = self.acceleration + STEP_S * jerk
        self.yaw += STEP_S * self.setpoint["yaw_rate"]
        self.steps += 1
        for name, period in self.periods.items():
            if self.steps % period == 0:
                t_ns, pose = self.steps * STEP_NS, (self.position, self.yaw)
                record = self._imu(t_ns) if name == "imu" else None
                makes: dict[str, Any] = {
                    "front": lambda t=t_ns, at=pose: {"@": "CameraImage", "t_ns": t, "colour": self.picture(*at)},
                    "imu": lambda found=record: found,
                    "range": lambda t=t_ns: {
                        "@": "RangeSample",
                        "t_ns": t,
                        "distance": 3.0,
                        "min_range": 0,
                        "max_range": 9,
                    },
                }
                self.newest[name] = (self.steps // period, t_ns, makes[name])

    def _imu(self, t_ns: int) -> dict[str, Any]:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        east, north = self.acceleration
        force = np.array([c * east + s * north, -s * east + c * north, G])
        return {"@": "ImuSample", "t_ns": t_ns, "angular_velocity": np.zeros(3), "specific_force": force}

    def picture(self, position: Any, yaw: float) -> Any:
        """A dull wall and the board, its middle as high as the camera, which is rolled by `tilt`."""
        image = np.full((HEIGHT, WIDTH, 3), (150, 140, 130), np.uint8)
        along = np.array([math.cos(self.board_yaw), math.sin(self.board_yaw)])
        corners = []
        for side, up in ((-1, 1), (1, 1), (1, -1), (-1, -1)):
            east, north = self.board + 0.5 * BOARD * side * along - position
            depth = math.cos(yaw) * east + math.sin(yaw) * north
            if depth < 0.1:
                return image
            leftward = -math.sin(yaw) * east + math.cos(yaw) * north
            right, down = -FX * leftward / depth, -FX * 0.5 * BOARD * up / depth
            c, s = math.cos(self.tilt), math.sin(self.tilt)
            u, v = (WIDTH - 1) / 2 + c * right - s * down, (HEIGHT - 1) / 2 + s * right + c * down
            corners.append((round(16 * u), round(16 * v)))
        cv2.fillConvexPoly(image, np.array(corners, np.int32), (10, 20, 230), shift=4)
        return image
