"""The world around the vehicles: earth, air, wind, ground, and the objects that stand and move on it."""
