"""AirSim's methods that return sensor data, truth and the vehicle's state, and set its controller's gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from skyloop.core.frames import frd_from_flu, ned_from_enu, quat_multiply, quat_ned_frd_from_enu_flu, rotate
from skyloop.links.airsim.options import SensorOptions
from skyloop.links.airsim.segmentation import Segmentation
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import (
    Map,
    body_pose,
    geo_point,
    mount_of,
    number_of,
    quaternion,
    shown_name,
    vector,
)
from skyloop.links.airsim.vehicle import VehicleSide
from skyloop.links.airsim.wire import Dialect, Floats
from skyloop_client.errors import LinkError, unknown_name
from skyloop_client.messages import Array
from skyloop_client.streams import StreamInfo

Gains = Sequence[float]
GAUSS_PER_TESLA = 1e4
QNH_HPA = 1013.25
WAVEFORM = ("lower_frequency", "bandwidth", "chirp_duration", "chirp_repetition", "d_max", "v_max")
"""Numbers of a radar that come with its data: Hz, s, m, m/s."""
CLEARANCE_M = 0.4
"""m kept from an obstacle when a vehicle is moved to a new pose."""


class Sensors:
    def __init__(self, server: ServerState, segmentation: Segmentation) -> None:
        self._server, self._segmentation = server, segmentation

    def _read(self, kind: str, name: str, vehicle_name: str) -> tuple[VehicleSide, SensorOptions, StreamInfo, Any]:
        """The vehicle, the sensor, its stream and its latest sample."""
        vehicle = self._server.vehicle(vehicle_name)
        known = {key: options for key, options in vehicle.options.sensors.items() if options.kind == kind}
        if not known:
            raise LinkError(f"'{vehicle.name}' has no sensor of this kind; add one under Sensors in settings.json")
        if name and name not in known:
            raise unknown_name(kind, str(name), known)
        options = known[name] if name else next(iter(known.values()))
        stream = f"{vehicle.options.vehicle}/{options.stream}{'/raw' if kind == 'radar' else ''}"
        sample = self._server.port.bus.latest(stream)
        if sample is None:
            # the first sample has not arrived yet
            sample = self._server.port.glance(stream)
        return vehicle, options, self._server.port.bus.infos[stream], sample

    def getImuData(self, imu_name: str = "", vehicle_name: str = "") -> Map:
        vehicle, _, _, sample = self._read("imu", imu_name, vehicle_name)
        return {
            "time_stamp": sample.t_ns,
            "orientation": quaternion(quat_ned_frd_from_enu_flu(vehicle.truth.quat_wxyz)),
            "angular_velocity": vector(frd_from_flu(sample.angular_velocity)),
            "linear_acceleration": vector(frd_from_flu(sample.specific_force)),
        }

    def getBarometerData(self, barometer_name: str = "", vehicle_name: str = "") -> Map:
        _, _, _, sample = self._read("barometer", barometer_name, vehicle_name)
        return {
            "time_stamp": sample.t_ns, "altitude": sample.altitude, "pressure": sample.pressure, "qnh": QNH_HPA,
        }  # fmt: skip

    def getMagnetometerData(self, magnetometer_name: str = "", vehicle_name: str = "") -> Map:
        _, _, _, sample = self._read("magnetometer", magnetometer_name, vehicle_name)
        return {
            "time_stamp": sample.t_ns,
            "magnetic_field_body": vector(GAUSS_PER_TESLA * frd_from_flu(sample.field_tesla)),
            "magnetic_field_covariance": [0.0] * 9,
        }

    def getGpsData(self, gps_name: str = "", vehicle_name: str = "") -> Map:
        _, _, _, sample = self._read("gnss", gps_name, vehicle_name)
        position = {"latitude": sample.latitude_deg, "longitude": sample.longitude_deg, "altitude": sample.altitude}
        return {
            "time_stamp": sample.t_ns,
            "gnss": {
                "geo_point": position,
                "eph": sample.horizontal_sd,
                "epv": sample.vertical_sd,
                "velocity": vector(ned_from_enu(sample.velocity_enu)),
                "fix_type": sample.fix_type,
                "time_utc": sample.t_ns // 1000,
            },
            "is_valid": sample.fix_type > 0,
        }

    def getDistanceSensorData(self, distance_sensor_name: str = "", vehicle_name: str = "") -> Map:
        _, _, info, sample = self._read("rangefinder", distance_sensor_name, vehicle_name)
        far = sample.max_range
        return {
            "time_stamp": sample.t_ns,
            "distance": far if math.isnan(sample.distance) else max(sample.distance, sample.min_range),
            "min_distance": sample.min_range,
            "max_distance": far,
            "relative_pose": _mounted(info),
        }

    def getLidarData(self, lidar_name: str = "", vehicle_name: str = "") -> Map:
        vehicle, options, info, scan = self._read("lidar", lidar_name, vehicle_name)
        truth = self._server.scan_truth.get(info.name, vehicle.truth)
        position = truth.position + rotate(truth.quat_wxyz, info.mount.position)
        quat = quat_multiply(truth.quat_wxyz, info.mount.quat_wxyz)
        cosys = self._server.dialect is Dialect.COSYS
        if options.local_frame or cosys:
            points = frd_from_flu(scan.points.astype(np.float64))
        else:
            points = vehicle.axes.ned(rotate(quat, scan.points.astype(np.float64)) + position)
        ids = self._segmentation.ids(self._server.dialect)[scan.instances]
        names = [shown_name(self._server.editor.name_of(number)) for number in scan.instances.tolist()]
        return {
            "time_stamp": scan.t_ns,
            "point_cloud": Floats(points),
            "pose": _mounted(info) if cosys else vehicle.axes.pose(position, quat),
            "segmentation": ids.tolist(),
            "groundtruth": names,
        }

    def getGPULidarData(self, lidar_name: str = "", vehicle_name: str = "") -> Map:
        """Cosys-AirSim only: x, y, z, segmentation colour and intensity of each point, in the sensor's axes."""
        _, _, info, scan = self._read("gpu lidar", lidar_name, vehicle_name)
        red, green, blue = self._segmentation.colours(Dialect.COSYS)[scan.instances].T.astype(np.int64)
        rows = np.empty((len(scan.points), 5))
        rows[:, :3] = frd_from_flu(scan.points.astype(np.float64))
        rows[:, 3], rows[:, 4] = (red << 16) + (green << 8) + blue, scan.intensities
        return {
            "time_stamp": scan.t_ns,
            "point_cloud": Floats(rows),
            "pose": _mounted(info),
        }

    def getRadarData(self, radar_name: str = "", vehicle_name: str = "") -> Map:
        """Not in AirSim: a burst as the converter gives it, and the points found in it, in the sensor's axes."""
        _, _, info, scan = self._read("radar", radar_name, vehicle_name)
        found = self._server.port.bus.latest(f"{info.name.removesuffix('raw')}detections")
        is_of_this = found is not None and found.t_ns == scan.t_ns
        n_rx, n_chirps, n_samples = scan.volts.shape
        return {
            "time_stamp": scan.t_ns,
            "n_rx": n_rx, "n_chirps": n_chirps, "n_samples": n_samples,
            "volts": Floats(scan.volts),
            **{name: info.details[name] for name in WAVEFORM},
            "pose": _mounted(info),
            "point_cloud": Floats(frd_from_flu(found.points.astype(np.float64)) if is_of_this else ()),
            "speeds": Floats(found.speeds if is_of_this else ()),
            "snr_db": Floats(found.snr_db if is_of_this else ()),
        }  # fmt: skip

    def simSetGPULidarPose(self, lidar_name: str, pose: Map, vehicle_name: str = "") -> None:
        self._remount("gpu lidar", lidar_name, pose, vehicle_name)

    def simSetLidarPose(self, lidar_name: str, pose: Map, vehicle_name: str = "") -> None:
        self._remount("lidar", lidar_name, pose, vehicle_name)

    def simSetDistanceSensorPose(self, distance_sensor_name: str, pose: Map, vehicle_name: str = "") -> None:
        self._remount("rangefinder", distance_sensor_name, pose, vehicle_name)

    def _remount(self, kind: str, name: str, pose: Map, vehicle_name: str) -> None:
        _, _, info, _ = self._read(kind, name, vehicle_name)
        position, quat = mount_of(pose)
        self._server.port.remount(info.name, position, quat)

    # ---- truth

    def simGetGroundTruthKinematics(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        return vehicle.axes.kinematics(vehicle.truth)

    def simGetPhysicsRawKinematics(self, vehicle_name: str = "") -> Map:
        return self.simGetGroundTruthKinematics(vehicle_name)

    def getComputerVisionState(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        return {"kinematics_estimated": vehicle.axes.kinematics(vehicle.truth), "timestamp": vehicle.now_ns}

    def simGetGroundTruthEnvironment(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        point = self._server.local_frame.geodetic_from_enu(vehicle.truth.position)
        pressure, temperature, density = self._server.editor.air_at(point.altitude)
        return {
            "position": vector(vehicle.axes.ned(vehicle.truth.position)),
            "geo_point": geo_point(point),
            "gravity": vector([0.0, 0.0, self._server.editor.gravity]),
            "air_pressure": pressure,
            "temperature": temperature,
            "air_density": density,
        }

    def simGetCollisionInfo(self, vehicle_name: str = "") -> Map:
        return self._server.vehicle(vehicle_name).collision(forget=True)

    def simGetVehiclePose(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        return vehicle.axes.pose(vehicle.truth.position, vehicle.truth.quat_wxyz)

    def simSetVehiclePose(self, pose: Map, ignore_collision: bool = True, vehicle_name: str = "") -> None:
        """The vehicle is at rest there; in the air it hovers. NaN keeps the current position or attitude.

        With ignore_collision False it stops before the first obstacle on the straight line to the new position."""
        vehicle = self._server.vehicle(vehicle_name)
        truth = vehicle.truth
        position, quat = vehicle.axes.world_pose_from(pose, truth.position, truth.quat_wxyz)
        if not ignore_collision:
            position = self._on_the_way(vehicle, position)
        self._server.editor.put(vehicle.index, position, quat)
        vehicle.cancel()
        vehicle.hover()

    def _on_the_way(self, vehicle: VehicleSide, goal: Array) -> Array:
        here = np.array(vehicle.truth.position)
        way = goal - here
        length = float(np.linalg.norm(way))
        if length < 1e-6:
            return goal
        hit = float(self._server.editor.cast([here], [way / length], length, vehicle.index).distance[0])
        return goal if not hit < length else here + way * (max(hit - CLEARANCE_M, 0.0) / length)

    def simSetKinematics(self, state: Map, ignore_collision: bool = True, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        truth = vehicle.truth
        motion = vehicle.axes.world_motion(state, truth.position, truth.quat_wxyz)
        self._server.editor.put(vehicle.index, *motion)

    def simSetPhysicsRawKinematics(self, state: Map, vehicle_name: str = "") -> None:
        self.simSetKinematics(state, True, vehicle_name)


def _mounted(info: StreamInfo) -> Map:
    """The pose of a sensor on its vehicle, FRD in FRD."""
    return body_pose(info.mount.position, info.mount.quat_wxyz)


# ---- state and gains of a multirotor


NO_STICKS = {
    "timestamp": 0, "pitch": 0.0, "roll": 0.0, "throttle": 0.0, "yaw": 0.0, "left_z": 0.0, "right_z": 0.0,
    "switches": 0, "vendor_id": "", "is_initialized": False, "is_valid": False,
}  # fmt: skip


class MultirotorState:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def getMultirotorState(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        state = vehicle.port.belief
        return {
            "collision": vehicle.collision(forget=False),
            "kinematics_estimated": vehicle.axes.kinematics(state),
            "gps_location": geo_point(self._server.local_frame.geodetic_from_enu(state.position)),
            "timestamp": vehicle.now_ns,
            "landed_state": 1 if vehicle.port.is_flying else 0,
            "rc_data": vehicle.remote or NO_STICKS,
            "ready": True,
            "ready_message": "",
            "can_arm": True,
        }

    def getRotorStates(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        truth, ratio = vehicle.truth, vehicle.port.geometry.torque_ratio
        rotors = [
            {"thrust": float(thrust), "torque_scaler": float(-spin * ratio * thrust), "speed": float(speed)}
            for thrust, speed, spin in zip(
                truth.rotor_thrusts, truth.rotor_speeds, vehicle.port.geometry.rotor_spins, strict=True
            )
        ]
        return {"timestamp": truth.t_ns, "rotors": rotors}

    def setAngleRateControllerGains(self, kp: Gains, ki: Gains, kd: Gains, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"rate_p": kp}, ki, kd)

    def setAngleLevelControllerGains(self, kp: Gains, ki: Gains, kd: Gains, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"attitude_p": kp}, ki, kd)

    def setVelocityControllerGains(self, kp: Gains, ki: Gains, kd: Gains, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"velocity_p": kp, "velocity_i": ki}, [0.0], kd)

    def setPositionControllerGains(self, kp: Gains, ki: Gains, kd: Gains, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"position_p": kp}, ki, kd)

    def _set_gains(self, vehicle_name: str, gains: dict[str, Gains], ki: Gains, kd: Gains) -> None:
        vehicle = self._server.vehicle(vehicle_name)
        if any(number_of(gain) for gain in [*ki, *kd]):
            raise LinkError("SimpleFlight's cascade has an integral part for velocities only and no derivative part")
        for name, values in gains.items():
            if len(values) != 3:
                raise LinkError(f"{len(values)} gains; give one for each of three axes")
            vehicle.port.set_gain(name, np.array([number_of(value) for value in values]))
