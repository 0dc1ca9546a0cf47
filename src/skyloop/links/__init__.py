"""Connections between a running simulation and other software: our own loop, AirSim, MAVLink, autopilots, Foxglove."""
