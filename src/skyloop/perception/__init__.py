"""Perception: processing that turns sensor data into measurements of the surroundings."""
