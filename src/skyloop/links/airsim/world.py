"""AirSim's methods for objects, lines of sight, voxels, wind, weather and the time of day."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import enu_from_ned
from skyloop.links.airsim.segmentation import Segmentation
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import (
    Map,
    geo_point,
    geo_point_of,
    matches,
    must_be_ned,
    names_of,
    number_of,
    pattern_of,
    pose,
    shown_name,
    vector,
    vector_of,
)
from skyloop.links.airsim.wire import Floats
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

MOST_VOXELS = 2e7
MOST_VEHICLES = 64
MOST_OBJECTS = 1000
"""Most objects that clients may spawn."""
STRONGEST_WIND, STRONGEST_PUSH = 150.0, 1e4
"""m/s and N."""
CLEAR_M = 0.05
"""A ray that ends less than this many m before a point has reached it."""
NOWHERE = pose([float("nan")] * 3, [float("nan")] * 4)


class WorldMethods:
    def __init__(self, server: ServerState, segmentation: Segmentation) -> None:
        self._server, self._segmentation = server, segmentation
        self._spawned = 0

    def _number(self, name: str) -> int | None:
        """Instance number of an object, or of a vehicle, whose name in the scenario may differ."""
        vehicle, things = self._server.vehicles.get(str(name)), self._server.editor.things()
        if vehicle is not None:
            return things.get(vehicle.options.vehicle)
        known = {name: number for own, number in reversed(things.items()) for name in names_of(own)}
        return known.get(str(name))

    def _matching(self, expression: object) -> dict[str, int]:
        """Instance numbers by the names that clients see. The expression may match those or the world's own names."""
        pattern, things = pattern_of(expression), self._server.editor.things()
        return {shown_name(own): number for own, number in things.items() if matches(pattern, own)}

    # ---- objects

    def simListSceneObjects(self, name_regex: str = ".*") -> list[str]:
        return list(self._matching(name_regex))

    def simListSceneObjectsTags(self, name_regex: str = ".*") -> list[list[str]]:
        """Name and class of each."""
        editor = self._server.editor
        return [[name, editor.class_of(number)] for name, number in self._matching(name_regex).items()]

    def simGetObjectPose(self, object_name: str, ned: bool = True) -> Map:
        """In the world's NED axes. NaN if there is no such object."""
        number = self._number(object_name)
        must_be_ned(ned)
        return NOWHERE if number is None else self._server.world.pose(*self._server.editor.place_of(number)[:2])

    def simSetObjectPose(self, object_name: str, pose: Map, teleport: bool = True) -> bool:
        """False if there is no such object, or if it cannot be moved, like ground, people and cars."""
        number = self._number(object_name)
        if number is None:
            return False
        position = self._server.world.world_pose(pose)
        for vehicle in self._server.vehicles.values():
            if object_name in (vehicle.name, vehicle.options.vehicle):
                self._server.editor.put(vehicle.index, *position)
                return True
        return self._server.editor.put_thing(number, *position)

    def simGetObjectScale(self, object_name: str) -> Map:
        number = self._number(object_name)
        return vector([np.nan] * 3 if number is None else self._server.editor.place_of(number)[2])

    def simSetObjectScale(self, object_name: str, scale_vector: Map) -> bool:
        number = self._number(object_name)
        return number is not None and self._server.editor.put_thing(number, None, None, _scale_of(scale_vector))

    def simAddVehicle(self, vehicle_name: str, vehicle_type: str, pose: Map, pawn_path: str = "") -> bool:
        """Only type simpleflight, with airframe and sensors of the first vehicle. The pose is in world NED axes."""
        name, kind = str(vehicle_name), str(vehicle_type).lower()
        if kind != "simpleflight":
            raise LinkError(f"vehicle_type is '{vehicle_type}'; give simpleflight")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,60}", name):
            raise LinkError(f"'{name}' is no name for a vehicle; begin with a letter, then letters, digits, _ or -")
        if name in self._server.editor.things() or name in self._server.vehicles or name in ("truth", "observer"):
            return False
        if len(self._server.vehicles) >= MOST_VEHICLES:
            raise LinkError(f"there are {MOST_VEHICLES} vehicles already")
        self._server.add_vehicle(name, *self._server.world.world_pose(pose))
        return True

    def simListAssets(self) -> list[str]:
        return self._server.editor.shapes()

    def simSpawnObject(
        self, object_name: str, asset_name: str, pose: Map, scale: Map, physics_enabled: bool = False,
        is_blueprint: bool = False,
    ) -> str:  # fmt: skip
        """A copy of a shape of simListAssets. It is static, with or without physics. Returns its name."""
        position, size = self._server.world.world_pose(pose), _scale_of(scale)
        self._spawned += 1
        if self._spawned > MOST_OBJECTS:
            raise LinkError(f"{MOST_OBJECTS} objects were spawned already")
        name, known = str(object_name) or str(asset_name), self._server.editor.things()
        free = name
        for k in range(1, len(known) + 2):
            if free not in known:
                break
            free = f"{name}_{k}"
        self._server.editor.add_thing(free, str(asset_name), *position, size)
        self._segmentation.ids_changed()
        return free

    def simDestroyObject(self, object_name: str) -> bool:
        number = self._number(object_name)
        return number is not None and self._server.editor.remove_thing(number)

    def simGetMeshPositionVertexBuffers(self) -> list[Map]:
        """Of all objects but the ground: triangles and their vertices, in NED axes about the object's position."""
        editor, answer = self._server.editor, []
        for name, number in editor.things().items():
            mesh = editor.mesh_of(number)
            if mesh is None:
                continue
            position, quat, scale = editor.place_of(number)
            own = self._server.world.pose(position, quat)
            # the object's own axes change from FLU to FRD
            vertices = mesh.positions * scale * [1.0, -1.0, -1.0]
            answer.append({
                **own, "vertices": Floats(vertices), "indices": mesh.faces.ravel().tolist(), "name": shown_name(name),
            })  # fmt: skip
        return answer

    # ---- extent, sight

    def simGetWorldExtents(self) -> list[Map]:
        """Two opposite corners of a box around all objects."""
        editor = self._server.editor
        corners = np.concatenate([editor.box_of(number) for number in editor.things().values()])
        frame = self._server.local_frame
        return [geo_point(frame.geodetic_from_enu(end(corners, axis=0))) for end in (np.min, np.max)]

    def simTestLineOfSightToPoint(self, point: Map, vehicle_name: str = "") -> bool:
        vehicle = self._server.vehicle(vehicle_name)
        return self._sees(vehicle.truth.position, self._world(point), vehicle.index)

    def simTestLineOfSightBetweenPoints(self, point1: Map, point2: Map) -> bool:
        return self._sees(self._world(point1), self._world(point2), None)

    def _world(self, point: Map) -> Array:
        return self._server.local_frame.enu_from_geodetic(geo_point_of(point))

    def _sees(self, eye: Array, target: Array, vehicle: int | None) -> bool:
        way = target - eye
        length = float(np.linalg.norm(way))
        if length < CLEAR_M:
            return True
        hits = self._server.editor.cast([eye], [way / length], length, vehicle)
        return bool(hits.distance[0] > length - CLEAR_M)

    def simCreateVoxelGrid(self, position: Map, x: int, y: int, z: int, res: float, of: str) -> bool:
        """Writes a binvox file. Only clients on the server's machine may call this, and it replaces no other file."""
        if not self._server.caller.name.startswith("127."):
            raise LinkError("files are written for clients on the server's own machine only")
        size, voxel = np.array([number_of(side) for side in (x, y, z)]), number_of(res, "res")
        if not (voxel > 0.0 and (size > 0.0).all() and np.prod(size / voxel) <= MOST_VOXELS):
            raise LinkError(
                f"a grid of {size.tolist()} m in voxels of {voxel:g} m; give at most {MOST_VOXELS:g} voxels"
            )
        centre = vector_of(position, "position")
        corners = np.array(
            [self._server.world.world(centre - 0.5 * size), self._server.world.world(centre + 0.5 * size)]
        )
        taken = self._server.editor.occupied(corners.min(axis=0), corners.max(axis=0), voxel)
        # from east, north, up to north, east, down
        path = Path(str(of))
        if path.suffix != ".binvox" or (path.exists() and not path.is_file()):
            raise LinkError(f"'{of}' is no file for a grid; name one that ends with .binvox")
        try:
            path.write_bytes(binvox(taken.transpose(1, 0, 2)[:, :, ::-1], size))
        except OSError as error:
            raise LinkError(f"cannot write '{of}': {error.strerror}") from None
        return True

    # ---- wind, pushes

    def simSetWind(self, wind: Map) -> None:
        """m/s, NED, in the direction of the flow."""
        self._server.editor.set_wind(enu_from_ned(vector_of(wind, "wind", STRONGEST_WIND)))

    def simSetExtForce(self, ext_force: Map) -> None:
        """N, NED, on every flying vehicle until the next call."""
        force = enu_from_ned(vector_of(ext_force, "ext_force", STRONGEST_PUSH))
        for vehicle in self._server.vehicles.values():
            if vehicle.options.flies:
                self._server.editor.push(vehicle.index, force)


def _scale_of(value: object) -> Array:
    scale = vector_of(value, "scale", 1e3)
    if not (scale > 0.0).all():
        raise LinkError("a scale must be above 0 on every axis")
    return scale


def binvox(taken: NDArray[np.bool_], size: Array) -> bytes:
    """(nx, ny, nz) voxels. In the file y runs fastest, then z, then x, in runs of at most 255."""
    nx, ny, nz = taken.shape
    half = " ".join(f"{-0.5 * side:g}" for side in size)
    head = f"#binvox 1\ndim {nx} {nz} {ny}\ntranslate {half}\nscale {1.0 / size[0]:g}\ndata\n"
    flat = taken.transpose(0, 2, 1).ravel()
    starts = np.flatnonzero(np.diff(flat, prepend=~flat[:1]))
    body = bytearray()
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(flat)], strict=True):
        value, left = int(flat[start]), end - start
        while left:
            body += bytes((value, min(left, 255)))
            left -= min(left, 255)
    return head.encode() + bytes(body)


# ---- weather, time of day


PARAMETERS = ("Rain", "Roadwetness", "Snow", "RoadSnow", "MapleLeaf", "RoadLeaf", "Dust", "Fog", "Enabled")
RAIN_MM_H, SNOW_MM_H, DUST_MG_M3 = 50.0, 8.0, 150.0
"""Values at a parameter of 1. AirSim gives no units."""
CLEAR_AIR_M, THICKEST_M = 30_000.0, 20.0
"""Visibility without fog and with full fog."""


class WeatherMethods:
    def __init__(self, server: ServerState) -> None:
        self._server = server
        self._is_enabled = False
        self._set = dict.fromkeys(PARAMETERS, 0.0)
        self._given = server.editor.weather
        """The weather without AirSim's changes."""
        self._moves: tuple[datetime.datetime, float, float, int] | None = None
        """Start and speed of the day's clock, the interval of its updates, and when it was set."""
        self._updated_ns = 0
        server.every_tick.append(self._tick)

    def simEnableWeather(self, enable: bool) -> None:
        self._is_enabled = bool(enable)
        self._apply()

    def simSetWeatherParameter(self, param: int, val: float) -> None:
        if isinstance(param, bool) or not isinstance(param, int) or not 0 <= param < len(PARAMETERS):
            raise LinkError(f"there is no weather parameter {param!r}; give 0 to {len(PARAMETERS) - 1}")
        name, value = PARAMETERS[param], min(max(number_of(val, "val"), 0.0), 1.0)
        if name == "Enabled":
            self.simEnableWeather(value > 0.0)
            return
        self._set[name] = value
        self._apply()

    def _apply(self) -> None:
        on = {name: value if self._is_enabled else 0.0 for name, value in self._set.items()}
        given = self._given
        clear = max(given.visibility, THICKEST_M)
        self._server.editor.set_weather(
            rain=given.rain + RAIN_MM_H * on["Rain"],
            # the only ground cover here comes from falling snow and leaves, so RoadSnow and RoadLeaf make them fall
            snow=given.snow + SNOW_MM_H * max(on["Snow"], on["RoadSnow"]),
            wetness=max(given.wetness, on["Roadwetness"]),
            leaves=max(given.leaves, on["MapleLeaf"], on["RoadLeaf"]),
            dust=given.dust + DUST_MG_M3 * on["Dust"],
            visibility=clear * (THICKEST_M / clear) ** on["Fog"],
        )

    def simSetTimeOfDay(
        self, is_enabled: bool, start_datetime: str = "", is_start_datetime_dst: bool = False,
        celestial_clock_speed: float = 1.0, update_interval_secs: float = 60.0, move_sun: bool = True,
    ) -> None:  # fmt: skip
        """The clock is local solar time. Daylight saving time is one hour ahead."""
        self._moves = None
        if not is_enabled:
            self._show_hour(self._given.time_of_day, self._given.day_of_year)
            return
        start = datetime.datetime(2026, 6, 21, 10, 30)
        if start_datetime:
            try:
                start = datetime.datetime.strptime(str(start_datetime), "%Y-%m-%d %H:%M:%S")
            except ValueError:
                raise LinkError(f"'{start_datetime}' is no time; write YYYY-MM-DD hh:mm:ss") from None
        if is_start_datetime_dst:
            start -= datetime.timedelta(hours=1)
        speed, interval = number_of(celestial_clock_speed), max(number_of(update_interval_secs), 0.02)
        self._show(start)
        if move_sun:
            self._updated_ns = self._server.now_ns
            self._moves = (start, speed, interval, self._server.now_ns)

    def _tick(self, t_ns: int) -> None:
        if self._moves is None:
            return
        start, speed, interval, set_ns = self._moves
        if t_ns - self._updated_ns >= interval * NS_PER_S:
            self._updated_ns = t_ns
            try:
                moment = start + datetime.timedelta(seconds=speed * (t_ns - set_ns) / NS_PER_S)
            except OverflowError:
                # beyond the range of datetime
                self._moves = None
                return
            self._show(moment)

    def _show(self, moment: datetime.datetime) -> None:
        hour = moment.hour + moment.minute / 60.0 + moment.second / 3600.0
        self._show_hour(hour, min(moment.timetuple().tm_yday, 366))

    def _show_hour(self, hour: float, day: int) -> None:
        self._server.editor.set_weather(time_of_day=hour, day_of_year=day)
