"""People and cars: shapes, and motions that are pure functions of simulated time."""
