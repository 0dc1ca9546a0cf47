"""The extended Kalman filter, and what it needs to run in a flight."""
