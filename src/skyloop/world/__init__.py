"""The world around the vehicles: earth, air, wind, ground, and the things that stand and move on it."""
