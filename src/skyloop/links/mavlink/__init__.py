"""The built-in autopilot as a MAVLink vehicle, for ground stations, MAVSDK and pymavlink."""
