"""Navigation: trajectories, and the localisation of a vehicle."""
