"""PX4, ArduPilot and Betaflight as the autopilot of a simulated vehicle: sensors out, motors in."""
