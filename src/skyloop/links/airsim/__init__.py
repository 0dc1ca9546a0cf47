"""AirSim's RPC server: the calls of `airsim` and `cosysairsim` clients, answered from a running simulation."""
