"""People and cars: their shapes, and motions that are pure functions of simulated time."""
