"""Sensors: each is one pure `measure`; mounts, faults and noise are added around it once, for all."""
