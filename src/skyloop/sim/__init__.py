"""The simulation itself: a scenario is assembled into one `Simulation`, whose `step()` is the whole spine."""
