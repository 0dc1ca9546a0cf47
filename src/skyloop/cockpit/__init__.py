"""The cockpit: a page in a browser that shows a simulation and steers it."""
