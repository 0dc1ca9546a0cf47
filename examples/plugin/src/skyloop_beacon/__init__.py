"""A plugin of skyloop with a sensor, a world and a verb."""
