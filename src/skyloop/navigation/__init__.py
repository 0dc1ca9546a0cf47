"""Where to fly and where we are: trajectories, and later localisation, mapping and planning."""
