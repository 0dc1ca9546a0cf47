"""Vehicles: rigid body, rotors, drag, contact, battery, controllers, and the fleet that holds them all."""
