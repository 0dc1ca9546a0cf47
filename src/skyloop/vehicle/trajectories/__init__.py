"""Trajectories as functions of time."""
