"""Other people's software connected to a running simulation: our own loop, AirSim, MAVLink, autopilots, Foxglove."""
