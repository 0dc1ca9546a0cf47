"""Checks whether recorded samples scatter around the truth as configured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from skyloop.core.frames import GeoPoint, LocalFrame, rotate, rotate_inverse
from skyloop.recording.recording import Recording
from skyloop.world.earth import Earth, EarthConfig
from skyloop_client.messages import Array, DepthImage, GnssFix, ImageTruth, ImuBias, ImuSample, Message, VehicleState

SIGMAS = 4.0
"""Allowed distance of a measured scatter from the configured one, in its own standard errors."""
SLACK = 0.02
"""Additional allowed share, for rounding and because truth is linear between physics steps."""
DEPTH_EDGES = (0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0)
"""m, of the bins of distance."""
MOST_TOLERANCE = 0.5
"""Beyond which a measured noise says nothing."""
LEAST_PIXELS = 200
"""A bin with fewer pixels is not checked."""


@dataclass(frozen=True, slots=True)
class NoiseRow:
    stream: str
    quantity: str
    low: float
    """Smallest configured value. Equal to `high` if there is only one."""
    high: float
    measured: float
    unit: str
    n: int
    """Number of values it was measured from."""
    tolerance: float
    """Share by which `measured` may be outside."""

    @property
    def is_judged(self) -> bool:
        """Whether there are samples enough to say anything."""
        return self.tolerance <= MOST_TOLERANCE

    @property
    def holds(self) -> bool:
        return self.low * (1.0 - self.tolerance) <= self.measured <= self.high * (1.0 + self.tolerance)


class NoiseCheck:
    """Gets every message once. Compares at instants where sample and truth have the same stamp."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._states: dict[str, dict[int, VehicleState]] = {}
        """By vehicle and stamp."""
        self._imu: dict[str, dict[int, ImuSample]] = {}
        self._bias: dict[str, dict[int, ImuBias]] = {}
        self._fixes: dict[str, list[GnssFix]] = {}
        self._truth: dict[str, tuple[int, str, NDArray[np.float32]]] = {}
        """By vehicle: stamp, stream and depth of the last truth."""
        self._depth: dict[str, _DepthBins] = {}
        self._pending: dict[str, DepthImage] = {}

    def add(self, message: Message) -> None:
        data, stream = message.data, message.stream
        vehicle = vehicle_of(stream)
        if isinstance(data, VehicleState) and stream == f"truth/{vehicle}":
            self._states.setdefault(vehicle, {})[data.t_ns] = data
        elif isinstance(data, ImuSample):
            self._imu.setdefault(stream, {})[data.t_ns] = data
        elif type(data).__name__ == "ImuBias":
            self._bias.setdefault(stream.removeprefix("truth/"), {})[data.t_ns] = data
        elif isinstance(data, GnssFix) and data.fix_type == 3:
            self._fixes.setdefault(stream, []).append(data)
        elif isinstance(data, ImageTruth) and data.depth is not None:
            self._truth[vehicle] = data.t_ns, stream, data.depth
            for other in [name for name, image in self._pending.items() if image.t_ns == data.t_ns]:
                if vehicle_of(other) == vehicle:
                    self._compare_depth(other, self._pending.pop(other))
        elif isinstance(data, DepthImage):
            if vehicle in self._truth and self._truth[vehicle][0] == data.t_ns:
                self._compare_depth(stream, data)
            else:
                self._pending[stream] = data

    def rows(self) -> list[NoiseRow]:
        out = []
        for stream in self._imu:
            out += self._imu_rows(stream)
        for stream in self._fixes:
            out += self._gnss_rows(stream)
        for bins in self._depth.values():
            out += bins.rows()
        return out

    def _imu_rows(self, stream: str) -> list[NoiseRow]:
        """A sample minus truth and true bias is white, apart from the rounding to digits."""
        info = self._recording.infos[stream]
        samples, biases, states = self._imu[stream], self._bias.get(stream, {}), self._states.get(info.vehicle, {})
        stamps = [t_ns for t_ns in samples if t_ns in states and t_ns in biases]
        if len(stamps) < 10 or info.rate is None:
            return []
        up = np.array([0.0, 0.0, Earth(_earth(self._recording)).gravity])
        left: dict[str, list[Array]] = {"gyro": [], "accel": []}
        for t_ns in stamps:
            state, sample, bias = states[t_ns], samples[t_ns], biases[t_ns]
            w, arm = state.angular_velocity_body, info.mount.position
            swing = np.cross(state.angular_acceleration_body, arm) + np.cross(w, np.cross(w, arm))
            force = rotate_inverse(state.quat_wxyz, state.acceleration_world + up) + swing
            left["gyro"].append(sample.angular_velocity - bias.gyro_bias - rotate_inverse(info.mount.quat_wxyz, w))
            left["accel"].append(sample.specific_force - bias.accel_bias - rotate_inverse(info.mount.quat_wxyz, force))
        out = []
        for name, unit in (("gyro", "(rad/s)/√Hz"), ("accel", "(m/s²)/√Hz")):
            density = info.details.get(f"{name}_noise_density")
            if density:
                values = np.concatenate(left[name])
                white = max(float(np.mean(values**2)) - info.details.get(f"{name}_lsb", 0.0) ** 2 / 12.0, 0.0)
                measured = math.sqrt(white / info.rate.hz)
                out.append(_row(stream, f"{name} noise density", density, measured, unit, len(values)))
        return out

    def _gnss_rows(self, stream: str) -> list[NoiseRow]:
        """Errors vary over minutes, so a short flight can only check their change from fix to fix."""
        info = self._recording.infos[stream]
        states = self._states.get(info.vehicle, {})
        fixes = [fix for fix in self._fixes[stream] if fix.t_ns in states]
        if len(fixes) < 6 or info.rate is None:
            return []
        earth = _earth(self._recording)
        local_frame = LocalFrame(GeoPoint(earth.latitude_deg, earth.longitude_deg, earth.altitude))
        errors = []
        for fix in fixes:
            state = states[fix.t_ns]
            at = state.position + rotate(state.quat_wxyz, info.mount.position)
            geodetic = [fix.latitude_deg, fix.longitude_deg, fix.altitude]
            errors.append(local_frame.enu_from_geodetic_array(geodetic) - at)
        neighbours = np.diff([fix.t_ns for fix in fixes]) < 1.5e9 * info.rate.period_s
        changes = np.diff(np.array(errors), axis=0)[neighbours]
        details = info.details
        decay = math.exp(-info.rate.period_s / details["position_tau"])
        out = []
        for k, (name, values) in enumerate((("horizontal", changes[:, :2].ravel()), ("vertical", changes[:, 2]))):
            white, walk = details["position_white_sd"][k], details["position_sd"][k]
            sd = math.sqrt(2.0 * white**2 + 2.0 * walk**2 * (1.0 - decay))
            if sd > 0.0 and len(values) > 3:
                measured = math.sqrt(float(np.mean(values**2)))
                out.append(
                    _row(stream, f"{name} change of the error between fixes, sd", sd, measured, "m", len(values))
                )
        return out

    def _compare_depth(self, stream: str, image: DepthImage) -> None:
        """Only if the depth camera has the same lens and pose as the camera with the truth."""
        _, source, truth = self._truth[vehicle_of(stream)]
        ours, theirs = self._recording.infos[stream], self._recording.infos[source]
        same = all(ours.details.get(name) == theirs.details.get(name) for name in ("fx", "fy", "cx", "cy"))
        same &= np.array_equal(ours.mount.position, theirs.mount.position)
        same &= np.array_equal(ours.mount.quat_wxyz, theirs.mount.quat_wxyz)
        if same and image.depth.shape == truth.shape and not theirs.details.get("distortion"):
            self._depth.setdefault(stream, _DepthBins(stream, ours.details)).add(image.depth, truth)


def vehicle_of(stream: str) -> str:
    return stream.removeprefix("truth/").split("/")[0]


class _DepthBins:
    """Scatter of depth over distance, beside sigma(d) = s·exp(g·d) + b·(d − c)², least and most growing material."""

    def __init__(self, stream: str, details: Mapping[str, Any]) -> None:
        self._stream, self._details = stream, details
        n = len(DEPTH_EDGES) - 1
        self._count, self._squares = np.zeros(n, np.int64), np.zeros(n)
        self._low, self._high = np.zeros(n), np.zeros(n)
        self._in_range = self._zeros = 0
        self._out_of_range = 0.0
        """Pixels that noise may carry out of the range, of the material whose noise grows most."""
        growth = list(details.get("noise_growth_per_m", {"plain": 0.0}).values())
        self._growth = (min(growth), max(growth))

    def add(self, depth: NDArray[np.float32], truth: NDArray[np.float32]) -> None:
        d = self._details
        # near the limits of the range, the noise itself decides which pixels have a value
        sure = np.isfinite(truth) & (truth > d["min_range"] + 0.05) & (truth < 0.8 * d["max_range"])
        self._in_range += int(sure.sum())
        self._zeros += int((sure & (depth == 0.0)).sum())
        far = truth[sure].astype(float)
        sigma = self._sigma(self._growth[1], far)
        if d["noise_scale"] > 0.0:
            out = ndtr((d["min_range"] - far) / sigma) + ndtr((far - d["max_range"]) / sigma)
            self._out_of_range += float(out.sum())
        seen = sure & (depth > 0.0)
        at = truth[seen].astype(float)
        bins = np.digitize(at, DEPTH_EDGES) - 1
        n = len(self._count)
        inside = (bins >= 0) & (bins < n)
        bins, at, off = bins[inside], at[inside], (depth[seen].astype(float) - truth[seen])[inside]
        self._count += np.bincount(bins, minlength=n)
        self._squares += np.bincount(bins, off**2, n)
        for total, growth in zip((self._low, self._high), self._growth, strict=True):
            total += np.bincount(bins, self._sigma(growth, at) ** 2, n)

    def _sigma(self, growth: float, depth: Array) -> Array:
        d = self._details
        at = np.minimum(depth, d.get("noise_frozen_beyond", np.inf))
        square = d.get("noise_square", 0.0) * np.maximum(at - d.get("noise_nearest", 0.0), 0.0) ** 2
        return np.asarray(d["noise_scale"] * np.exp(growth * at) + square)

    def rows(self) -> list[NoiseRow]:
        out = []
        for k, count in enumerate(self._count.tolist()):
            if count >= LEAST_PIXELS and self._details["noise_scale"] > 0.0:
                low, high, measured = (math.sqrt(total[k] / count) for total in (self._low, self._high, self._squares))
                name = f"depth sd, {DEPTH_EDGES[k]:g} to {DEPTH_EDGES[k + 1]:g} m"
                tolerance = SIGMAS / math.sqrt(2.0 * count) + SLACK
                out.append(NoiseRow(self._stream, name, low, high, measured, "m", count, tolerance))
        share = self._details.get("zero_share", 0.0)
        if share > 0.0 and self._in_range >= LEAST_PIXELS:
            measured = self._zeros / self._in_range
            # a pixel has no value by chance, or because noise carried it out of the range
            most = share + (1.0 - share) * self._out_of_range / self._in_range
            tolerance = SIGMAS * math.sqrt((1.0 - share) / (share * self._in_range)) + SLACK
            name = "pixels without a value"
            out.append(NoiseRow(self._stream, name, share, most, measured, "share", self._in_range, tolerance))
        return out


def _row(stream: str, quantity: str, configured: float, measured: float, unit: str, n: int) -> NoiseRow:
    tolerance = SIGMAS / math.sqrt(2.0 * n) + SLACK
    return NoiseRow(stream, quantity, configured, configured, measured, unit, n, tolerance)


def _earth(recording: Recording) -> EarthConfig:
    return EarthConfig(**recording.facts.get("scenario", {}).get("earth", {}))
