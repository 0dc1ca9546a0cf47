"""Named home positions of other simulators, so that scripts written for those run here unchanged."""

from __future__ import annotations

from skyloop.core.frames import GeoPoint
from skyloop_client.errors import ScenarioError, nearest_name

HOMES = {
    # AirSim's Blocks, and the default of every scenario
    "airsim-redmond": GeoPoint(47.641468, -122.140165, 122.0),
    # PX4's simulators, and the examples of MAVSDK
    "px4-zurich": GeoPoint(47.397742, 8.545594, 488.0),
    # ArduPilot's sim_vehicle.py: the model airfield at Canberra
    "ardupilot-canberra": GeoPoint(-35.363261, 149.165230, 584.0),
}


def home_from(text: str) -> GeoPoint:
    """Reads a name of `HOMES`, or "latitude,longitude" in degrees, with an altitude in m if it is not 0."""
    if text in HOMES:
        return HOMES[text]
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ScenarioError(f"no home named '{text}'; {nearest_name(text, HOMES)}, or give LAT,LON,ALT") from None
    if len(numbers) not in (2, 3):
        raise ScenarioError(f"home '{text}' has {len(numbers)} numbers; give LAT,LON or LAT,LON,ALT")
    latitude_deg, longitude_deg, altitude = [*numbers, 0.0][:3]
    if not (abs(latitude_deg) <= 90.0 and abs(longitude_deg) <= 180.0):
        raise ScenarioError(f"home '{text}' is no place on Earth; give degrees, the latitude first")
    return GeoPoint(latitude_deg, longitude_deg, altitude)
