"""Estimators, maps, planners and trackers that fly in the simulator."""
