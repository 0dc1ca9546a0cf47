"""What surrounds the vehicles: earth, air, wind and ground."""
