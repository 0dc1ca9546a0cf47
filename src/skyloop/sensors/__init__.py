"""Sensors. Each sensor is one pure function `measure`; mounts, faults and noise are added around it, alike for all."""
