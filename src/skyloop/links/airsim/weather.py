"""AirSim's methods for weather and the time of day."""

from __future__ import annotations

import datetime

from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import number_of
from skyloop_client.errors import LinkError
from skyloop_client.streams import NS_PER_S

PARAMETERS = ("Rain", "Roadwetness", "Snow", "RoadSnow", "MapleLeaf", "RoadLeaf", "Dust", "Fog", "Enabled")
RAIN_MM_H, SNOW_MM_H, DUST_MG_M3 = 50.0, 8.0, 150.0
"""Values at a parameter of 1. AirSim gives no units."""
CLEAR_M, THICKEST_M = 30_000.0, 20.0
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
