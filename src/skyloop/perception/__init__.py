"""What can be read from sensor data."""
