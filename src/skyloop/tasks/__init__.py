"""Missions: pilots that fly a vehicle through setpoints and requests."""
