"""Planning: a way over the map, and motions along it that keep clear of what is seen."""
